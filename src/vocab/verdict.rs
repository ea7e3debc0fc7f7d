//! The three-valued end of a session. What was not measured has not passed.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::unit::Unit;

/// The outcome of one line or of all. Ordered by rank: FAIL outranks NOT PROVEN outranks PASS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Decision {
    /// Shown to hold.
    Pass,
    /// Neither shown to hold nor shown not to.
    NotProven,
    /// Shown not to hold.
    Fail,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "PASS",
            Self::NotProven => "NOT PROVEN",
            Self::Fail => "FAIL",
        })
    }
}

/// One comparison that was made, complete enough to be defended by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What it came to.
    pub decision: Decision,
    /// The node, where a session has more than one.
    pub node: String,
    /// What was compared: `cpu-float.residual`.
    pub of: String,
    /// The comparison in words: `max of 3 at most 16`.
    pub comparison: String,
    /// The measured value, printed; empty when there is none.
    pub measured: String,
    /// The interval of the measured value, and the share that it is of what the limit is a share of; empty when there is neither.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The limit, printed; empty when there is none.
    pub limit: String,
    /// How far on the good side (+) or the bad side (-) of the limit, printed; empty when there is none.
    pub margin: String,
    /// Why it came to this, in a sentence.
    pub reason: String,
    /// Numbers of the records that carry it.
    pub evidence: Vec<u64>,
    /// The class of use that it belongs to; empty for all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// Told only: what a contract says that "should" be. The verdict does not depend on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
    /// The same as numbers; none where nothing was compared, and in records from before there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Numbers>,
}

/// A comparison as numbers, all in one unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    /// Of all that follows.
    pub unit: Unit,
    /// What was measured.
    pub value: f64,
    /// The interval that the true value lies in with 95 %: lower and upper end; none where the value alone decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// What it was held against.
    pub limit: f64,
    /// How far the limit itself may be off to either side; 0 of what was not measured.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub limit_off_by: f64,
    /// Whether the good side is above the limit; else it is below.
    pub above_is_good: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl Line {
    /// A line that has nothing to say yet, and so proves nothing.
    #[must_use]
    pub fn open(node: &str, of: &str) -> Self {
        Self {
            decision: Decision::NotProven,
            node: node.to_owned(),
            of: of.to_owned(),
            comparison: String::new(),
            measured: String::new(),
            detail: String::new(),
            limit: String::new(),
            margin: String::new(),
            reason: String::new(),
            evidence: Vec::new(),
            section: String::new(),
            told: false,
            numbers: None,
        }
    }

    /// The node and the run that it is about the figures of; none where it is about what the node is.
    fn measures(&self) -> Option<(&str, &str)> {
        let run = self.of.split('.').next().unwrap_or_default();
        (run != "inventory").then_some((self.node.as_str(), run))
    }

    /// Its decision in words; in brackets where the verdict does not depend on it.
    #[must_use]
    pub fn word(&self) -> String {
        if self.told { format!("({})", self.decision) } else { self.decision.to_string() }
    }
}

/// What a line is of that is about every run's figures together.
pub const EVERY: &str = "every run";
/// What lines are of that bear on all figures.
const ALL: [&str; 3] = ["record", "node", "hardware"];

/// The verdict of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The highest-ranking line, or NOT PROVEN when there is no line at all.
    pub decision: Decision,
    /// A smoke test's PASS is no acceptance, and is never printed as one.
    pub smoke: bool,
    /// Every comparison.
    pub lines: Vec<Line>,
    /// What comes before the lines, a sentence each: which session this one amends, and what changed on its nodes since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preface: Vec<String>,
}

impl Verdict {
    /// The one line at the top: `PASS`, `FAIL`, `NOT PROVEN`, or for a smoke test that held `SMOKE OK, not an acceptance`.
    #[must_use]
    pub fn headline(&self) -> String {
        match (self.smoke, self.decision) {
            (true, Decision::Pass) => "SMOKE OK, not an acceptance".to_owned(),
            (true, other) => format!("SMOKE TEST: {other}"),
            (false, other) => other.to_string(),
        }
    }

    /// The classes of use in the order of their checks, and what each came to: its own lines, those of the runs that these are about, and
    /// what bears on every figure (the record, the node, its hardware).
    #[must_use]
    pub fn sections(&self) -> Vec<(&str, Decision)> {
        let mut names: Vec<&str> = Vec::new();
        for line in self.lines.iter().filter(|line| !line.section.is_empty()) {
            if !names.contains(&line.section.as_str()) {
                names.push(&line.section);
            }
        }
        let worst = |name: &str| {
            let own = || self.lines.iter().filter(|line| !line.told && line.section == name);
            let Some(worst) = own().map(|line| line.decision).max() else { return Decision::NotProven };
            let figures: BTreeSet<(&str, &str)> = own().filter_map(Line::measures).collect();
            let bears = |line: &&Line| {
                let of = (line.node.as_str(), line.of.as_str());
                let every = !of.1.contains('.') && figures.contains(&(of.0, EVERY));
                !line.told && line.section.is_empty() && (ALL.contains(&of.1) || every || figures.contains(&of))
            };
            let beside = self.lines.iter().filter(bears).map(|line| line.decision);
            if figures.is_empty() { worst } else { beside.fold(worst, Decision::max) }
        };
        names.into_iter().map(|name| (name, worst(name))).collect()
    }

    /// The process exit code: 0 PASS, 1 FAIL, 2 NOT PROVEN.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.decision {
            Decision::Pass => 0,
            Decision::Fail => 1,
            Decision::NotProven => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(of: &str, section: &str, decision: Decision) -> Line {
        Line { decision, section: section.to_owned(), ..Line::open("n", of) }
    }

    #[test]
    fn a_class_of_use_is_no_better_than_its_runs_and_its_node() {
        use Decision::{Fail, NotProven, Pass};
        let of = |beside: &[Line]| {
            let own = [
                line("a.f", "one", Pass),
                line("b.f", "two", Pass),
                line("every run.f", "three", Pass),
                line("inventory.cpu", "ordered", Pass),
                Line { told: true, ..line("a.f", "asked", Pass) },
            ];
            let lines = own.iter().chain(beside).cloned().collect();
            let verdict = Verdict { decision: Pass, smoke: false, lines, preface: vec![] };
            verdict.sections().into_iter().map(|(_, decision)| decision).collect::<Vec<_>>()
        };
        assert_eq!(of(&[]), [Pass, Pass, Pass, Pass, NotProven]);
        assert_eq!(of(&[line("a", "", NotProven)]), [NotProven, Pass, NotProven, Pass, NotProven], "its run");
        assert_eq!(of(&[line("b", "", Fail), line("b.g", "", Fail)]), [Pass, Fail, Fail, Pass, NotProven]);
        assert_eq!(of(&[line("b.g", "", Fail)]), [Pass, Pass, Pass, Pass, NotProven], "another figure");
        assert_eq!(of(&[Line { told: true, ..line("a", "", Fail) }]), of(&[]), "an earlier attempt");
        for of_all in ["record", "node", "hardware"] {
            let all = [NotProven, NotProven, NotProven, Pass, NotProven];
            assert_eq!(of(&[Line { node: "n".into(), ..line(of_all, "", NotProven) }]), all, "{of_all}");
        }
    }
}
