//! Errors that the machine itself has counted, and restarts: where one stands, nothing is a PASS, whether a check asks for it or not.
//!
//! An error that was not put right, a device that is gone and a restart weigh FAIL or CRIT; what the hardware has put right is a WARN,
//! and for the checks to judge.

use crate::analysis::state::{RunState, State};
use crate::vocab::finding::{Finding, Kind, Severity};
use crate::vocab::verdict::{Decision, Line};

fn weighs(finding: &Finding) -> bool {
    finding.kind == Kind::Hardware && finding.severity >= Severity::Fail
}

/// A run's line about its soundness, with what its machine has counted meanwhile.
pub(super) fn weigh(mut line: Line, state: &State, run: &RunState) -> Line {
    if let Some(worst) = state.findings_of(run).filter(|finding| weighs(finding)).max_by_key(|finding| finding.severity)
    {
        line.decision = line.decision.max(Decision::NotProven);
        line.reason = format!("{}; {}", worst.sentence, line.reason);
    }
    line
}

/// What was counted while no run was under way, a line each node and session whose runs count. A repair does not undo what was found
/// before it on the machine that figures are of: these have to be measured again.
pub(super) fn between_runs(state: &State) -> Vec<Line> {
    let mut lines = Vec::new();
    for (age, session) in state.sessions().enumerate() {
        for node in session.nodes.keys() {
            let counts = |run: &RunState| run.node == *node && std::ptr::eq(state.home(run).0, session);
            let outside = |finding: &&Finding| {
                let run = finding.run.as_ref().and_then(|run| session.run(node, run));
                session.found_on.get(&finding.id) == Some(node) && run.is_none()
            };
            let found: Vec<&Finding> =
                session.findings.values().filter(|finding| weighs(finding)).filter(outside).collect();
            let Some(worst) = found.iter().max_by_key(|finding| finding.severity) else { continue };
            if age > 0 && !state.runs.iter().any(counts) {
                continue;
            }
            let again = if age > 0 {
                format!("; the runs that count as they came out in {} have to be repeated", session.name())
            } else {
                String::new()
            };
            lines.push(Line {
                comparison: "no error between the runs".to_owned(),
                measured: format!("{} found", found.len()),
                reason: format!("{}{again}", worst.sentence),
                ..Line::open(&node.0, "hardware")
            });
        }
    }
    lines
}
