//! The words and marks that every view uses for the same thing.

use std::fmt::Write as _;

use crate::analysis::preflight::{Preflight, Weight};
use crate::analysis::state::State;
use crate::vocab::event::Outcome;
use crate::vocab::plan::Plan;
use crate::vocab::text::neutral;
use crate::vocab::unit::{Quantity, Unit, short};
use crate::vocab::verdict::Decision;

/// The sign of a decision; ASCII, so that it is the same on every terminal.
#[must_use]
pub fn mark(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "+",
        Decision::NotProven => "?",
        Decision::Fail => "x",
    }
}

/// How a run ended, in words.
#[must_use]
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Sound => "sound".to_owned(),
        Outcome::Corrupt(why) => format!("CORRUPT: {why}"),
        Outcome::Broken(why) => format!("BROKEN: {why}"),
        Outcome::Unavailable(why) => format!("NOT POSSIBLE HERE: {why}"),
        Outcome::Stuck => "STUCK: it did not end and did not heed a stop; it was left behind".to_owned(),
        Outcome::Stopped => "stopped on request".to_owned(),
    }
}

/// The findings of a session, one line each, with the time of the onset and of the saying since the beginning.
#[must_use]
pub fn findings(state: &State) -> String {
    let mut text = String::new();
    for finding in state.findings.values() {
        let node = state.found_on.get(&finding.id).cloned().unwrap_or_default();
        let (onset, said) = (state.clock(&node, finding.onset), state.clock(&node, finding.said));
        let severity = format!("{:?}", finding.severity).to_uppercase();
        let _ = writeln!(text, "{severity:<5} since {onset}, said at {said}: {}", neutral(&finding.sentence));
    }
    text
}

/// What a plan would do to its nodes, and what speaks against it.
#[must_use]
pub fn plan(plan: &Plan, preflight: &Preflight) -> String {
    let mut text = format!("{}: {}\n{}\n\n", neutral(&plan.name), neutral(&plan.title), neutral(&plan.about));
    for run in &plan.runs {
        let kernel = serde_json::to_string(&run.kernel).unwrap_or_default();
        let target = run.target.as_ref().map(|t| t.display().to_string()).unwrap_or_default();
        let _ =
            writeln!(text, "  {:<18} x {:<3} {}  in {}", run.name, run.iterations, neutral(&kernel), neutral(&target));
    }
    text.push('\n');
    text.push_str(&self::preflight(preflight));
    text
}

/// What a session takes from its nodes and what speaks against it, a line each.
#[must_use]
pub fn preflight(preflight: &Preflight) -> String {
    let bytes = |n: u64| short(Quantity::new(n as f64, Unit::Bytes));
    let mut text = String::new();
    let (time, memory, disk, writes) =
        (preflight.time, bytes(preflight.memory), bytes(preflight.disk), bytes(preflight.writes));
    let _ = writeln!(text, "about {time}; up to {memory} of memory, {disk} of disk, {writes} written");
    for remark in &preflight.remarks {
        let weight = match remark.weight {
            Weight::Note => "note",
            Weight::Ask => "careful",
            Weight::Refuse => "refused",
        };
        let _ = writeln!(text, "{weight}: {}", neutral(&remark.text));
    }
    text
}
