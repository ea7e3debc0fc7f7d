//! What is said of a session that amends another one: what has changed since, and every attempt that went before.

use std::fmt::Write as _;

use super::words;
use crate::analysis::state::{RunState, State, Status};
use crate::vocab::stat;
use crate::vocab::text::neutral;
use crate::vocab::unit::{Quantity, short};

/// What has changed since a session, a line each.
#[must_use]
pub fn changed_since(session: &str, changes: &[String]) -> String {
    let session = neutral(session);
    if changes.is_empty() {
        return format!("nothing that is known of has changed since {session}\n");
    }
    let lines: Vec<String> =
        changes.iter().map(|change| format!("changed since {session}: {}", neutral(change))).collect();
    lines.join("\n") + "\n"
}

/// The runs as they came out in the sessions before, a line each, with what becomes of them now.
#[must_use]
pub fn attempts(state: &State) -> String {
    let mut text = String::new();
    for run in &state.runs {
        let node = if state.nodes.len() > 1 { format!("{:<8} ", neutral(&run.node.0)) } else { String::new() };
        let attempts = state.attempts(&run.node, &run.name);
        for (number, attempt) in attempts
            .iter()
            .enumerate()
            .filter(|(_, attempt)| attempt.run.earlier || !std::ptr::eq(attempt.state, state))
        {
            let counts = if run.earlier && number + 1 == attempts.len() { "counts" } else { "repeated" };
            let (number, session, how) = (number + 1, neutral(attempt.state.name()), ended(attempt.run));
            let _ = writeln!(text, "  {node}{:<16} attempt {number} in {session}: {how}; {counts}", run.name);
        }
    }
    text
}

/// How a run ended and what it came to.
fn ended(run: &RunState) -> String {
    let how = match &run.status {
        Status::Waiting => "not run".to_owned(),
        Status::Running => "not finished".to_owned(),
        Status::Ended(outcome) => neutral(&words::outcome(outcome, Some(run))),
    };
    let median = run.main_figure().and_then(|(name, unit)| {
        let values: Vec<f64> = run.figure(name).iter().map(|(value, ..)| *value).collect();
        Some(format!(", {name} {}", short(Quantity::new(stat::median(&values)?, unit))))
    });
    how + &median.unwrap_or_default()
}
