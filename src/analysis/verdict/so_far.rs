//! The verdict before the end: what is decided by now, and what is left.

use super::judge;
use crate::analysis::state::{RunState, State};
use crate::vocab::plan::Plan;
use crate::vocab::verdict::{Decision, Line, Verdict};

/// A verdict as far as it can be told.
#[derive(Clone, Debug, PartialEq)]
pub struct SoFar {
    /// Every line that the verdict will have; one that is open has the figures until now.
    pub verdict: Verdict,
    /// Whether nothing that may still come can change a line, line by line.
    pub settled: Vec<bool>,
}

impl SoFar {
    /// Lines that have come to this for good.
    #[must_use]
    pub fn count(&self, decision: Decision) -> usize {
        self.lines().filter(|(line, settled)| *settled && line.decision == decision).count()
    }

    /// Lines that are still open.
    #[must_use]
    pub fn left(&self) -> usize {
        self.settled.iter().filter(|settled| !**settled).count()
    }

    /// The lines, each with whether it is settled.
    pub fn lines(&self) -> impl Iterator<Item = (&Line, bool)> {
        self.verdict.lines.iter().zip(self.settled.iter().copied())
    }
}

impl Default for SoFar {
    fn default() -> Self {
        let verdict = Verdict { decision: Decision::NotProven, smoke: false, lines: Vec::new(), preface: Vec::new() };
        Self { verdict, settled: Vec::new() }
    }
}

/// Judges the runs that are over. A line is settled when each of its runs has ended, or when a finding that must not be was made; at
/// the end of the session the recorded verdict counts.
#[must_use]
pub fn so_far(plan: &Plan, state: &State) -> SoFar {
    if let Some(verdict) = &state.verdict {
        return SoFar { settled: vec![true; verdict.lines.len()], verdict: verdict.clone() };
    }
    let mut verdict = judge(plan, state);
    let settled: Vec<bool> = verdict.lines.iter().map(|line| is_settled(line, state)).collect();
    for (line, _) in verdict.lines.iter_mut().zip(&settled).filter(|(_, settled)| !**settled) {
        line.decision = Decision::NotProven;
        line.reason = if line.measured.is_empty() {
            "nothing is measured yet".to_owned()
        } else {
            format!("until now; decided when {} is over", name(line))
        };
    }
    SoFar { verdict, settled }
}

/// The run of a line, or `every run`.
fn name(line: &Line) -> &str {
    line.of.split('.').next().unwrap_or(&line.of)
}

fn is_settled(line: &Line, state: &State) -> bool {
    // A finding is never taken back.
    if line.numbers.is_none() && line.decision == Decision::Fail {
        return true;
    }
    let meant =
        |run: &&RunState| *run.node.0 == *line.node && (name(line) == "every run" || *run.name.0 == *name(line));
    state.runs.iter().filter(meant).all(RunState::is_over)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;
    use crate::vocab::check::{Check, Decide, Limit};
    use crate::vocab::event::Outcome;
    use crate::vocab::finding::Kind;

    fn told(tell: impl FnOnce(Scenario) -> Scenario) -> SoFar {
        let limit = Some(Limit::Absolute("80 MB/s".parse().unwrap()));
        let rate = Check { at_least: limit, decide: Some(Decide::Point), ..Check::new("r.mb_per_s") };
        let level = Check { no_findings: vec![Kind::Collapse], ..Check::new("r") };
        let told = tell(Scenario::measuring(vec![rate, level]));
        let plan = told.state.opening.as_ref().unwrap().plan.clone();
        so_far(&plan, &told.state)
    }

    fn counts(so_far: &SoFar) -> [usize; 4] {
        let count = |decision| so_far.count(decision);
        [count(Decision::Pass), count(Decision::Fail), count(Decision::NotProven), so_far.left()]
    }

    #[test]
    fn nothing_is_decided_before_a_run_is_over_but_a_finding_that_must_not_be() {
        assert_eq!(counts(&told(|s| s)), [0, 0, 0, 3]);
        assert_eq!(counts(&told(|s| s.work(100.0, 50))), [0, 0, 0, 3]);
        assert_eq!(counts(&told(|s| s.work(100.0, 50).work(1.0, 60))), [0, 1, 0, 2], "the collapse");
        assert_eq!(counts(&told(|s| s.work(100.0, 50).end(100.0, Outcome::Sound))), [3, 0, 0, 0]);
        assert_eq!(counts(&told(|s| s.work(50.0, 50).end(50.0, Outcome::Sound))), [2, 1, 0, 0]);
        assert_eq!(counts(&told(|s| s.work(100.0, 50).end(100.0, Outcome::Stopped))), [0, 0, 3, 0]);
    }

    #[test]
    fn numbers_stand_beside_the_words() {
        let so_far = told(|s| s.work(100.0, 50).end(100.0, Outcome::Sound));
        let numbers = so_far.verdict.lines[1].numbers.unwrap();
        assert_eq!((numbers.value, numbers.limit, numbers.interval), (100.0, 80.0, None));
        assert!(numbers.above_is_good);
    }
}
