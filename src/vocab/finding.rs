//! What an engineer would point at on the chart: what, since when, how bad, the evidence, the likely resource.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::moment::Moment;
use super::name::RunName;
use super::unit::Quantity;

/// The kinds of finding. A detector is one file and one line of the registry; its kind is a variant here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// The rate fell to half of its best lasting level or less.
    Collapse,
    /// Nothing completed for longer than a healthy gap while work was in flight.
    Stall,
    /// Nothing was heard from the node's agent; says nothing about the device.
    Silent,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Collapse => "COLLAPSE",
            Self::Stall => "STALL",
            Self::Silent => "SILENT",
        })
    }
}

/// How bad; rises only, until the finding is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// Worth knowing, speaks against nobody.
    Info,
    /// Needs a look.
    Warn,
    /// Below what any such device gives, or below the check's floor.
    Fail,
    /// The node is unusable for this work.
    Crit,
}

/// One counter that moved with the finding: medians before the onset and since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Device and counter as shown on the screen: `vda await`.
    pub counter: String,
    /// Median over the ten seconds before the onset.
    pub before: Quantity,
    /// Median since.
    pub after: Quantity,
}

/// A finding as said at one moment. Later sayings with the same `id` on the same node replace it; the record keeps them all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Counts up from 1 in a session.
    pub id: u32,
    /// What kind.
    pub kind: Kind,
    /// How bad, so far.
    pub severity: Severity,
    /// The run in which it happened; none for findings about the node as such.
    pub run: Option<RunName>,
    /// The iteration, from 1.
    pub iteration: u32,
    /// Since when, back-dated to the first affected reading, on the node's clock.
    pub onset: Moment,
    /// When it was first said.
    pub said: Moment,
    /// When it was over; none while open.
    pub closed: Option<Moment>,
    /// The level before.
    pub from: Option<Quantity>,
    /// The level since.
    pub to: Option<Quantity>,
    /// Work done in the run before the onset, such as `1.07 GB`.
    pub work_before: Option<Quantity>,
    /// The counters that moved most, largest change first.
    pub evidence: Vec<Evidence>,
    /// The whole of it in one sentence, evidence included.
    pub sentence: String,
}

impl Finding {
    /// Whether two sayings mean the same: kind, place, time and weight; words and evidence may be put better by a later build.
    #[must_use]
    pub fn means(&self, other: &Self) -> bool {
        let meaning = |f: &Self| (f.kind, f.run.clone(), f.severity, f.onset, f.said, f.closed);
        meaning(self) == meaning(other)
    }
}
