//! The words and marks that every view uses for the same thing.

use std::fmt::Write as _;

use crate::analysis::preflight::{Preflight, Weight};
use crate::analysis::state::{RunState, State};
use crate::vocab::event::Outcome;
use crate::vocab::finding::{Cause, Finding, Severity};
use crate::vocab::moment::Span;
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

/// How a run ended, in words; `run` is what the fold knows of it.
#[must_use]
pub fn outcome(outcome: &Outcome, run: Option<&RunState>) -> String {
    match outcome {
        Outcome::Sound => "sound".to_owned(),
        Outcome::Corrupt(why) => format!("CORRUPT: {why}"),
        Outcome::Broken(why) => format!("BROKEN: {why}"),
        Outcome::Unavailable(why) => format!("NOT POSSIBLE HERE: {why}"),
        Outcome::Stuck => format!("STUCK: {}", run.map_or_else(|| "it did not end".to_owned(), RunState::stuck)),
        Outcome::Stopped => "stopped on request".to_owned(),
    }
}

/// What is behind a finding that needs a look, a line each: what held the work up, then what may be the cause and what to look at
/// next. A cause that no reading speaks for is only possible.
#[must_use]
pub fn reasons(finding: &Finding) -> Vec<String> {
    if finding.severity < Severity::Warn {
        return Vec::new();
    }
    let held: Vec<String> = finding.held_by.iter().map(ToString::to_string).collect();
    let held = (!held.is_empty()).then(|| format!("held by: {}", held.join(", ")));
    let cause = |cause: &Cause| match &cause.proof {
        Some(proof) => format!("likely: {} ({proof}) - check: {}", cause.what, cause.check),
        None => format!("possible: {} - check: {}", cause.what, cause.check),
    };
    held.into_iter().chain(finding.causes.iter().map(cause)).map(|line| neutral(&line)).collect()
}

/// The same, indented to stand below the finding's own line.
#[must_use]
pub fn reasons_below(finding: &Finding) -> String {
    reasons(finding).iter().fold(String::new(), |text, line| text + "       " + line + "\n")
}

/// The findings of a session, one line each with the time of the onset and of the saying since the beginning, and below it what is
/// behind it.
#[must_use]
pub fn findings(state: &State) -> String {
    let mut text = String::new();
    for finding in state.findings.values() {
        let node = state.found_on.get(&finding.id).cloned().unwrap_or_default();
        let (onset, said) = (state.clock(&node, finding.onset), state.clock(&node, finding.said));
        let _ = writeln!(text, "{}", finding_line(finding, onset, said));
        text.push_str(&reasons_below(finding));
    }
    text
}

/// A finding in a line, with the times of its onset and of its saying on the axis that is shown.
#[must_use]
pub fn finding_line(finding: &Finding, onset: Span, said: Span) -> String {
    format!("{:<5} since {onset}, said at {said}: {}", finding.severity, neutral(&finding.sentence))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::finding::{Kind, Resource};
    use crate::vocab::moment::Moment;

    #[test]
    fn what_is_behind_a_finding_stands_below_it_and_nothing_below_one_that_is_only_told() {
        let cause = |proof: Option<&str>| Cause {
            what: "the controller writes through".to_owned(),
            proof: proof.map(str::to_owned),
            check: "storcli64 /c0/vall show".to_owned(),
        };
        let mut finding = Finding::new(Kind::Collapse, Severity::Warn, Moment(0), Moment(0));
        (finding.id, finding.sentence) = (1, "COLLAPSE: fell".to_owned());
        finding.held_by = vec![Resource::Disk];
        finding.causes = vec![cause(Some("battery learning")), cause(None)];
        let mut state = State::default();
        state.findings.insert(1, finding.clone());
        let expected = "WARN  since 0 ms, said at 0 ms: COLLAPSE: fell\n       held by: disk\n       likely: the controller writes \
                        through (battery learning) - check: storcli64 /c0/vall show\n       possible: the controller writes through - \
                        check: storcli64 /c0/vall show\n";
        assert_eq!(findings(&state), expected);
        finding.severity = Severity::Info;
        assert!(reasons(&finding).is_empty());
    }
}
