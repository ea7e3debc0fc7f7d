//! What an engineer would point at on the chart: what, since when, how bad, the evidence, the likely resource.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::moment::Moment;
use super::name::RunName;
use super::unit::Quantity;

/// The kinds of finding. A detector is one file and one line of its registry; its kind is one line here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// The rate fell to half of its best lasting level or less.
    Collapse,
    /// Nothing completed for longer than a healthy gap while work was in flight.
    Stall,
    /// The rate fell to between a half and nine tenths of the level before, and stayed there.
    Step,
    /// What looked like a collapse and was over before it had lasted.
    Dip,
    /// The rate falls slowly and steadily.
    Drift,
    /// The rate swings so much that no single figure describes it.
    Oscillation,
    /// The rate is flatter than a resource that is not limited by a rule ever is.
    Cap,
    /// The rate is back at its level after a collapse or a stall.
    Recovery,
    /// Operations that took far longer than this run's slow ones do.
    Spike,
    /// The steady rate is below what it is held against.
    BelowBaseline,
    /// The hardware reported an error.
    Hardware,
    /// The figure is that of a cache and not of the medium.
    Cached,
    /// The side that makes the load was the limit.
    Generator,
    /// Nothing was heard from the node's agent; says nothing about the device.
    Silent,
    /// A setting that the figures depend on changed while they were measured.
    Conditions,
}

/// Every kind with the word that people read.
const NAMES: &[(Kind, &str)] = &[
    (Kind::Collapse, "COLLAPSE"),
    (Kind::Stall, "STALL"),
    (Kind::Step, "STEP"),
    (Kind::Dip, "DIP"),
    (Kind::Drift, "DRIFT"),
    (Kind::Oscillation, "OSCILLATION"),
    (Kind::Cap, "CAP"),
    (Kind::Recovery, "RECOVERY"),
    (Kind::Spike, "LATENCY SPIKE"),
    (Kind::BelowBaseline, "BELOW BASELINE"),
    (Kind::Hardware, "HARDWARE"),
    (Kind::Cached, "CACHED"),
    (Kind::Generator, "GENERATOR"),
    (Kind::Silent, "SILENT"),
    (Kind::Conditions, "CONDITIONS"),
];

impl Kind {
    /// Every kind there is.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(kind, _)| *kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(NAMES.iter().find(|(kind, _)| kind == self).map_or("", |(_, name)| name))
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

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Fail => "FAIL",
            Self::Crit => "CRIT",
        })
    }
}

/// What held the work up, as far as the node's own counters tell; the rules are those of `analysis/attribution`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Resource {
    /// The hypervisor gave the CPU's time to others.
    Steal,
    /// The clock fell because it was hot.
    Thermal,
    /// The clock fell, and it was not hot: a power limit.
    PowerCap,
    /// Memory ran short: swapping, reclaim.
    Memory,
    /// A limit of the control group.
    CgroupLimit,
    /// The network link was full.
    Nic,
    /// What lies between this node and the other: retransmissions.
    NetworkPath,
    /// The device was saturated.
    Disk,
    /// The device was held at a rate.
    DiskCap,
    /// The device completed nothing.
    DeviceHang,
    /// The kernel wrote back in bursts.
    Flush,
    /// The CPU was full, or one thread was.
    Cpu,
    /// The side that makes the load.
    Generator,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Steal => "CPU steal",
            Self::Thermal => "heat",
            Self::PowerCap => "power limit",
            Self::Memory => "memory",
            Self::CgroupLimit => "control group limit",
            Self::Nic => "network link",
            Self::NetworkPath => "network path",
            Self::Disk => "disk",
            Self::DiskCap => "rate-limited disk",
            Self::DeviceHang => "hanging device",
            Self::Flush => "write-back bursts",
            Self::Cpu => "CPU",
            Self::Generator => "load generator",
        })
    }
}

/// Something that may be behind a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// What: `the controller writes through (battery or learn cycle)`.
    pub what: String,
    /// The reading that speaks for it; none for one that is only possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// What to look at next.
    pub check: String,
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
    /// The work that was lost by it, against the level before; known once it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Quantity>,
    /// How often it came again within seconds of its end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub again: u32,
    /// The counters that moved most, largest change first.
    pub evidence: Vec<Evidence>,
    /// What held the work up, the surest first; empty when the counters do not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_by: Vec<Resource>,
    /// What may be behind it, likeliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The whole of it in one sentence, evidence included.
    pub sentence: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Finding {
    /// A finding that is open and of which no more is known; its number is given by the arbiter.
    #[must_use]
    pub fn new(kind: Kind, severity: Severity, onset: Moment, said: Moment) -> Self {
        Self {
            id: 0,
            kind,
            severity,
            run: None,
            iteration: 0,
            onset,
            said,
            closed: None,
            from: None,
            to: None,
            work_before: None,
            lost: None,
            again: 0,
            evidence: Vec::new(),
            held_by: Vec::new(),
            causes: Vec::new(),
            sentence: String::new(),
        }
    }

    /// Whether two sayings mean the same: kind, place, time and weight; words and evidence may be put better by a later build.
    #[must_use]
    pub fn means(&self, other: &Self) -> bool {
        let meaning = |f: &Self| (f.kind, f.run.clone(), f.severity, f.onset, f.said, f.closed);
        meaning(self) == meaning(other)
    }
}
