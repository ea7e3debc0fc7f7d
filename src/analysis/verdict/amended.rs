//! What a verdict says of the attempts that went before: each is told, the last one counts, and nothing falls back to an earlier one.

use super::bench::Bench;
use super::{hardware, soundness};
use crate::analysis::amended::{self, Identity, look};
use crate::analysis::state::{Attempt, RunState, State};
use crate::vocab::event::Amends;
use crate::vocab::finding::Severity;
use crate::vocab::name::NodeName;
use crate::vocab::plan::Plan;
use crate::vocab::stat;
use crate::vocab::unit::{Quantity, short};
use crate::vocab::verdict::{Decision, Line};

/// A session with the one that it amends, as far down as that goes, the latest first.
fn links(state: &State) -> impl Iterator<Item = (&State, &Amends, &State)> {
    state.sessions().filter_map(|state| {
        let amends = state.opening.as_ref()?.amends.as_ref()?;
        Some((state, amends, state.earlier.as_deref()?))
    })
}

/// Which sessions are amended, and what has changed on their nodes since: the first that is to be read.
#[must_use]
pub fn preface(state: &State) -> Vec<String> {
    links(state).flat_map(|(now, amends, before)| link(now, amends, before)).collect()
}

fn link(now: &State, amends: &Amends, before: &State) -> Vec<String> {
    let mut lines = vec![opening(now, amends, before)];
    if before.verdict.is_none() {
        lines.push(format!("{} was not finished: its record ends without a verdict", amends.session));
    }
    for node in now.nodes.keys() {
        let of = if now.nodes.len() > 1 { format!(" on {node}") } else { String::new() };
        let Some(changes) = amended::since(before, now, node) else { continue };
        let since = &amends.session;
        if changes.is_empty() {
            lines.push(format!("nothing that is known of has changed{of} since {since}"));
        }
        lines.extend(changes.iter().map(|change| format!("changed{of} since {since}: {change}")));
    }
    lines
}

/// `amends S (file S.jsonl, 120 records): attempt 2 of disk-write; what is not repeated counts as it came out before`.
fn opening(now: &State, amends: &Amends, before: &State) -> String {
    let Some(node) = now.nodes.keys().next() else { return format!("amends {}", amends.session) };
    let attempt = |run| format!("attempt {} of {run}", now.attempts(node, run).len());
    let attempts: Vec<String> = amends.only.iter().map(attempt).collect();
    let started = before.opening.as_ref().map_or("", |opening| &opening.started);
    format!(
        "amends {} ({}, {} records, begun {started}): {}; what is not repeated counts as it came out before",
        amends.session,
        amends.file,
        amends.records,
        attempts.join(", ")
    )
}

/// The lines that go before those of the runs: whether it is the same machine, what the earlier records lack, every earlier attempt.
pub(super) fn lines(plan: &Plan, state: &State) -> Vec<Line> {
    let mut lines = Vec::new();
    for (now, amends, before) in links(state) {
        lines.extend(now.nodes.keys().map(|node| same_node(node, now, amends, before)));
        if before.lost > 0 {
            let why =
                format!("{} records of {} are missing, and what they held is not known", before.lost, amends.session);
            lines.push(super::gap(&why));
        }
    }
    for run in &state.runs {
        let attempts = state.attempts(&run.node, &run.name);
        let all = attempts.len();
        let before = attempts.iter().take(all.saturating_sub(1));
        lines.extend(before.enumerate().map(|(i, attempt)| earlier(plan, (i + 1, all), attempt)));
    }
    lines
}

fn same_node(node: &NodeName, now: &State, amends: &Amends, before: &State) -> Line {
    let mut line = Line { comparison: format!("the machine of {}", amends.session), ..Line::open(&node.0, "node") };
    let Some((before, now)) = look(before, node).zip(look(now, node)) else {
        line.reason = "its agent did not say what the node is, so nothing shows that it is the same machine".to_owned();
        return line;
    };
    match amended::identity(before.inventory, now.inventory) {
        Identity::Same(by) => {
            (line.decision, line.measured) = (Decision::Pass, by);
            line.reason = "the same machine".to_owned();
        }
        Identity::Other(how) => line.reason = format!("another machine: {how}"),
        Identity::Unknown(why) => {
            line.reason = format!("that it is the same machine cannot be shown ({why}); root can read both numbers");
        }
    }
    line
}

/// An attempt that another one followed: told, with what it came to by itself.
fn earlier(plan: &Plan, (number, all): (usize, usize), attempt: &Attempt<'_>) -> Line {
    let Attempt { state, run } = *attempt;
    let mut own = vec![hardware::weigh(soundness(run), state, run)];
    for check in &plan.checks {
        let (of, figure) = check.of.split_once('.').unwrap_or((&check.of, ""));
        if of == "*" || *of == *run.name.0 {
            own.extend(Bench { plan, state, node: &run.node, check }.lines_of(&[run], figure));
        }
    }
    let counted = own.iter().filter(|line| !line.told);
    let decision = counted.clone().map(|line| line.decision).max().unwrap_or(Decision::NotProven);
    let mut reasons: Vec<String> = Vec::new();
    let worst = counted.filter(|line| line.decision == decision && decision != Decision::Pass).map(|line| &line.reason);
    let found = state.findings_of(run).filter(|finding| finding.severity >= Severity::Warn).map(|f| &f.sentence);
    for reason in found.chain(worst) {
        if !reason.is_empty() && !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    if reasons.is_empty() {
        reasons.push("it held".to_owned());
    }
    Line {
        decision,
        comparison: format!("attempt {number} of {all}"),
        measured: measured(run),
        reason: format!("in {}: {}", state.name(), reasons.join("; ")),
        evidence: own.into_iter().flat_map(|line| line.evidence).collect(),
        told: true,
        ..Line::open(&run.node.0, &run.name.0)
    }
}

/// The median of the main figure.
fn measured(run: &RunState) -> String {
    let Some((name, unit)) = run.main_figure() else { return "nothing measured".to_owned() };
    let values: Vec<f64> = run.figure(name).iter().map(|(value, ..)| *value).collect();
    stat::median(&values).map_or_else(|| "nothing measured".to_owned(), |m| short(Quantity::new(m, unit)))
}

/// Which attempt a run's own line is about, where there are several or where it is of an earlier session.
pub(super) fn mark(mut line: Line, state: &State, run: &RunState) -> Line {
    let attempts = state.attempts(&run.node, &run.name).len();
    if run.earlier {
        line.comparison = format!("{}, in {}", line.comparison, state.home(run).0.name());
    } else if attempts > 1 {
        line.comparison = format!("attempt {attempts} of {attempts}, {}", line.comparison);
    }
    line
}
