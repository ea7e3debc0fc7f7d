//! Events and records: the only currency between the rooms.
//!
//! Meters and host counters are recorded as raw, cumulative values with the moment of the reading; rates, shares and
//! percentiles are computed in the fold. `session/RECORD.md` describes every field with its unit, clock and wrap.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use super::figure::{Figure, Roof};
use super::finding::Finding;
use super::latency::Buckets;
use super::moment::{Moment, Span};
use super::name::NodeName;
use super::name::RunName;
use super::node::{Build, Change, Conditions, Inventory};
use super::order::Command;
use super::plan::Plan;
use super::survey::Survey;
use super::unit::Unit;
use super::verdict::Verdict;

/// One line of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Counts up by one; a gap is a loss.
    pub seq: u64,
    /// The node's own time of the reading.
    pub at: Moment,
    /// Whose reading; empty for the runner's own.
    pub node: NodeName,
    /// What.
    pub event: Event,
}

/// What a worker or an agent says, before the runner numbers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// The node's time of the reading.
    pub at: Moment,
    /// What.
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The first record of every session.
    SessionOpened(Box<Opening>),
    /// A record of the session that this one amends, as it stands there; all of them come right behind the opening.
    Earlier(Box<Record>),
    /// The runner's clock, ten times a second; lets time pass where nothing else does.
    Tick,
    /// A node's agent has started.
    NodeJoined {
        /// What the agent is built from.
        build: Build,
        /// The node.
        inventory: Box<Inventory>,
        /// Its settings at the start.
        conditions: Conditions,
    },
    /// A node's agent is gone; its run, if any, is broken.
    NodeLost {
        /// How.
        why: String,
    },
    /// One exchange of clocks: the node's time is `at`. Offset = `at` − (`sent` + `back`)/2, round trip = `back` − `sent`.
    Clock {
        /// The runner's time of asking.
        sent: Moment,
        /// The runner's time of the answer.
        back: Moment,
    },
    /// What the preflight learned of the node.
    Surveyed(Box<Survey>),
    /// A worker has taken up a run.
    RunStarted(Box<Start>),
    /// A run's iteration (from 1) enters a phase.
    Phase {
        /// The run.
        run: RunName,
        /// From 1; 0 before the first.
        iteration: u32,
        /// What is done from now on.
        phase: Phase,
    },
    /// A reading of a run's meters.
    Progress(Progress),
    /// The official figures of one iteration.
    IterationEnded {
        /// The run.
        run: RunName,
        /// From 1.
        iteration: u32,
        /// The numbers; what disturbed them is derived in the fold.
        figures: Vec<Figure>,
        /// Encoded latencies of the iteration: `HdrHistogram` V2, base64, in nanoseconds; merges with those of other iterations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        latency: Option<String>,
    },
    /// A run is over.
    RunEnded {
        /// The run.
        run: RunName,
        /// How.
        outcome: Outcome,
    },
    /// Host series by number, before their first sample and again at the start of each run.
    Described(Vec<Described>),
    /// A reading of host series.
    Sampled {
        /// What was read: a device as `source/device`, every device of a source as `source`; empty when all sources were.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        of: Vec<String>,
        /// The series that changed; one that was read and is left out stands where it stood.
        values: Vec<Sample>,
    },
    /// Settings of the node that changed.
    ConditionsChanged(Vec<Change>),
    /// A finding was made, changed or closed.
    Found(Finding),
    /// What a person asked of the session.
    Commanded(Command),
    /// A remark, by a person or by the program, for the reader of the session.
    Noted(String),
    /// So many events were dropped here, because the next room was not keeping up.
    Lost(u64),
    /// The last record of a session that came to its end.
    SessionClosed {
        /// The verdict on the records before this one.
        verdict: Verdict,
    },
}

impl Event {
    /// The run that it is about.
    #[must_use]
    pub fn run(&self) -> Option<&RunName> {
        match self {
            Self::RunStarted(start) => Some(&start.run),
            Self::Progress(progress) => Some(&progress.run),
            Self::Phase { run, .. } | Self::IterationEnded { run, .. } | Self::RunEnded { run, .. } => Some(run),
            _ => None,
        }
    }
}

/// How a session began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// The version of the records that follow.
    pub format: u32,
    /// Names the session: `host-preset-time`.
    pub session: String,
    /// What was asked.
    pub plan: Plan,
    /// Who writes.
    pub build: Build,
    /// Wall clock at the moment `at`, RFC 3339; every other wall-clock time is derived from it.
    pub started: String,
    /// The nodes, in order.
    pub nodes: Vec<NodeName>,
    /// The session that this one amends; its records follow as `Earlier`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amends: Option<Amends>,
}

/// Which session is amended, and by which runs. The whole plan stands in the opening; what is not repeated counts as it came out before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amends {
    /// Its name.
    pub session: String,
    /// The name of its file, without directories.
    pub file: String,
    /// Bytes of that file.
    pub bytes: u64,
    /// CRC-32C of these bytes, in the form of a line's own.
    pub crc: String,
    /// How many whole records are in it.
    pub records: u64,
    /// The runs that are done again.
    pub only: Vec<RunName>,
}

impl Amends {
    /// Of a plan's runs those that are done again, as a plan of its own.
    #[must_use]
    pub fn again(&self, plan: &Plan) -> Plan {
        let runs = plan.runs.iter().filter(|run| self.only.contains(&run.name)).cloned().collect();
        Plan { runs, ..plan.clone() }
    }
}

/// What a worker says when it takes up a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The run.
    pub run: RunName,
    /// How many iterations are to come.
    pub iterations: u32,
    /// Its meters, in the order of `Progress::done`.
    pub meters: Vec<MeterSpec>,
    /// What the figures are held against, as far as this node knows.
    pub roofs: Vec<Roof>,
    /// What really runs, by name: engine, threads, device, file system, direct or buffered.
    pub labels: BTreeMap<String, String>,
    /// The command line with which a well-known tool would do the same work; empty when there is none.
    pub command: String,
    /// When the run will be given up as Stuck.
    pub deadline: Span,
}

/// What one meter counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeterSpec {
    /// Name of its rate: `mb_per_s`.
    pub name: String,
    /// Unit of its rate; the counter counts the unit's things (bytes, operations).
    pub unit: Unit,
    /// Whether a healthy run keeps the live rate level; detectors of falls watch only these.
    pub level: bool,
    /// The official figure that it stands for, where that has another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
}

impl MeterSpec {
    /// A meter whose figure has its own name.
    #[must_use]
    pub fn new(name: &str, unit: Unit, level: bool) -> Self {
        Self { name: name.to_owned(), unit, level, figure: None }
    }
}

/// A reading of a run's meters; everything counts from the start of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The run.
    pub run: RunName,
    /// One counter a meter.
    pub done: Vec<u64>,
    /// Operations in flight at the reading.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_flight: u32,
    /// Age of the oldest of them: tells "0 MB/s for 9 s" from "idle".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest: Option<Span>,
    /// Latencies so far, once a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Buckets>,
    /// How far its preparation is, while it takes time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepared: Option<Prepared>,
}

/// How much of a preparation is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// Bytes laid out so far.
    pub done: u64,
    /// Bytes to be laid out in all.
    pub of: u64,
}

/// The parts of an iteration. Only Measure counts; Drain is watched as itself, so that laying out a file is no stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Allocating, laying out files.
    Prepare,
    /// Under load, not counted yet.
    Ramp,
    /// Counted.
    Measure,
    /// Flushing what was accepted.
    Drain,
    /// Checking the result.
    Verify,
    /// Resting.
    Cool,
}

impl Phase {
    /// Whether the node is under the run's load.
    #[must_use]
    pub fn loads(self) -> bool {
        matches!(self, Self::Ramp | Self::Measure | Self::Drain)
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Every iteration was done and its result verified.
    Sound,
    /// The node gave a wrong answer, or an error where a healthy one gives none.
    Corrupt(String),
    /// The worker did not live to the end; proves nothing about the node.
    Broken(String),
    /// This node cannot do such a run.
    Unavailable(String),
    /// Past its deadline, or deaf to a stop.
    Stuck,
    /// Ended on request.
    Stopped,
}

/// A host series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    /// Its number in `Sampled`, unique on the node for the life of the agent.
    pub id: u32,
    /// The sampler: `cpu`, `disk`, `net`; `session/RECORD.md` lists them.
    pub source: String,
    /// The device: `3`, `vda`, `eth0`; empty for the whole node.
    pub device: String,
    /// The field, by the kernel's own name: `read_sectors`.
    pub field: String,
    /// How its values add up.
    pub kind: SampleKind,
    /// The unit of its values (of a counter: of the thing counted).
    pub unit: Unit,
}

/// How the values of a host series add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SampleKind {
    /// Cumulative; only differences mean something.
    Counter,
    /// A counter that the kernel keeps in 32 bits: a fall from near 2³² to near 0 is a wrap and no reset.
    Counter32,
    /// The value itself means something.
    Gauge,
}

/// One reading: number of the series, value. Written `[3,1200]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample(pub u32, #[serde(serialize_with = "shortest")] pub f64);

/// Writes whole numbers without a fraction; the reader takes both.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn shortest<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    if value.fract() == 0.0 && value.abs() < 9e15 { to.serialize_i64(*value as i64) } else { to.serialize_f64(*value) }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}
