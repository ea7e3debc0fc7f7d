//! The three-valued end of a session. What was not measured has not passed.

use std::fmt;

use serde::{Deserialize, Serialize};

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
    /// The limit, printed; empty when there is none.
    pub limit: String,
    /// How far on the good side (+) or the bad side (-) of the limit, printed; empty when there is none.
    pub margin: String,
    /// Why it came to this, in a sentence.
    pub reason: String,
    /// Numbers of the records that carry it.
    pub evidence: Vec<u64>,
}

/// The verdict of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The highest-ranking line, or NOT PROVEN when there is no line at all.
    pub decision: Decision,
    /// A smoke test's PASS is no acceptance, and is never printed as one.
    pub smoke: bool,
    /// Every comparison.
    pub lines: Vec<Line>,
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
