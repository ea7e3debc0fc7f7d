//! What a session is asked to do: runs, the checks that judge them, and the roofs they are held against.
//!
//! A preset is a plan in RON; the plan that was really run stands in the first record of its session.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use super::check::{Basis, Check, Clause, Decide, Limit, Missed, Statistic, Step};
pub use super::disk::{Bound, CONTROLLER_CACHE, Content, Disk, EngineChoice, Layout, Pattern, TIMES_CACHE};
pub use super::memory::{Memory, MemoryAccess, MemoryLatency, MemoryOperation};
use super::moment::Span;
use super::name::RunName;
pub use super::ordered::Ordered;
pub use super::reference::{Profile, Reference};
pub use super::rest::Rest;
use super::size::{ByteSize, Order};
pub use super::steady::Steady;
use super::typed_span;
use super::unit::Quantity;

/// Everything one session does on each node, in order, and how it is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The preset's name; taken from the file's name, never typed inside it.
    #[serde(default)]
    pub name: String,
    /// One line for lists and headers.
    pub title: String,
    /// What the preset is for and what it cannot show, in a sentence or two.
    #[serde(default)]
    pub about: String,
    /// A smoke test proves that things work, not that a contract is met; its verdict says so.
    #[serde(default)]
    pub smoke: bool,
    /// The runs, in the order in which each node does them.
    pub runs: Vec<Run>,
    /// What must hold at the end.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// Nominal roofs by name (`cpu`, `memory`, …), from a contract or the preset.
    #[serde(default)]
    pub roofs: BTreeMap<String, Quantity>,
    /// Other machines that checks hold figures against, by the names that the checks use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub references: BTreeMap<String, Reference>,
    /// What the node is made of by the order, to be held against its inventory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<Box<Ordered>>,
}

impl Plan {
    /// The runs in the order in which a node does them, those that it does at the same time in one piece.
    pub fn groups(&self) -> impl Iterator<Item = &[Run]> {
        self.runs.chunk_by(|a, b| a.together.is_some() && a.together == b.together)
    }

    /// The runs that a node does at the same time as this one, itself among them; none when there is no such run.
    #[must_use]
    pub fn group_of(&self, name: &RunName) -> &[Run] {
        self.groups().find(|group| group.iter().any(|run| run.name == *name)).unwrap_or_default()
    }

    /// What is known of another machine.
    ///
    /// # Errors
    /// That it is not known, and what to give.
    pub fn reference(&self, name: &str) -> Result<Cow<'_, Profile>, String> {
        match self.references.get(name) {
            Some(Reference::Known(profile)) => Ok(Cow::Borrowed(profile)),
            Some(Reference::Figures(printed)) => Ok(Cow::Owned(Profile::from(printed.clone()))),
            Some(Reference::Session(path) | Reference::Baseline(path)) => {
                Err(format!("the reference `{name}` ({}) was not read", path.display()))
            }
            None => Err(format!("there is no reference `{name}`; give it with --reference {name}=FILE")),
        }
    }
}

/// One kernel with its parameters, repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Unique in the plan.
    pub name: RunName,
    /// What is run.
    pub kernel: Load,
    /// Neighbouring runs with the same word here begin at the same time; what follows them begins when all have ended. Their figures
    /// are those of the node under all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<String>,
    /// How often, or with `lasting` how often at least; the official figures are one set an iteration.
    #[serde(default = "one")]
    pub iterations: u32,
    /// Iterations are begun until so much time has passed since the first began.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "typed_span::option")]
    pub lasting: Option<Span>,
    /// Idle time between iterations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
    /// Ends the iterations before that number once their main figure is steady; a run that never is proves nothing.
    #[serde(default)]
    pub until_steady: Option<Steady>,
    /// Iterations that others disturbed, by stolen time or by the CPU quota, are done again, at most so many in all. All stay in the
    /// record; the figures are those of the undisturbed ones, once there are as many as were asked for.
    #[serde(default)]
    pub repeat_disturbed: u32,
    /// Directory in which a kernel that needs one puts its files, or a block device; the session's target when not given.
    #[serde(default)]
    pub target: Option<PathBuf>,
    /// The target is a block device that is read and never written.
    #[serde(default)]
    pub readonly: bool,
    /// The target is a block device whose data is destroyed: its serial number, or its path where it has none, as a person gave it
    /// on the command line for this session. No preset can say so.
    #[serde(default)]
    pub destroy: Option<String>,
    /// Bytes of the target's file system that are left free; see [`Run::leaves`] for when it is not given.
    #[serde(default)]
    pub reserve: Option<ByteSize>,
    /// After this long the run is Stuck; three times the expected time and a minute when not given.
    #[serde(default, with = "typed_span::option")]
    pub deadline: Option<Span>,
    /// The seed of everything random in the run, so that it can be repeated.
    #[serde(default = "seed")]
    pub seed: u64,
}

/// Free space that is left alone: this share of the file system, and at least [`RESERVE_BYTES`].
const RESERVE_SHARE: f64 = 0.05;
/// A root file system with less than 1 GiB free begins to fail in its own services.
const RESERVE_BYTES: u64 = 1 << 30;

/// Bytes that are left free on a file system of so many in all, where a plan does not say.
#[must_use]
pub fn usual_reserve(total: u64) -> u64 {
    RESERVE_BYTES.max((total as f64 * RESERVE_SHARE) as u64)
}

impl Run {
    /// A run of a kernel, with everything else as a plan that does not mention it.
    #[must_use]
    pub fn new(name: &str, kernel: Load) -> Self {
        Self {
            name: name.into(),
            kernel,
            together: None,
            iterations: one(),
            lasting: None,
            rest: None,
            until_steady: None,
            repeat_disturbed: 0,
            target: None,
            readonly: false,
            destroy: None,
            reserve: None,
            deadline: None,
            seed: seed(),
        }
    }

    /// Bytes that it leaves free on a file system of so many in all.
    #[must_use]
    pub fn leaves(&self, total: u64) -> u64 {
        self.reserve.map_or_else(|| usual_reserve(total), |reserve| reserve.0)
    }

    /// How many iterations it comes to at most, when each takes so long.
    #[must_use]
    pub fn expected(&self, each: Span) -> u64 {
        let work = self.lasting.map_or(Span::ZERO, |lasting| self.rest.map_or(lasting, |rest| rest.work_in(lasting)));
        u64::from(self.iterations).max(work.0.div_ceil(each.0.max(1)))
    }

    /// Whether its target is a block device itself, and no directory.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        self.readonly || self.destroy.is_some()
    }
}

/// The parameters of each kernel: one variant a kernel, read by the kernel's own file and nobody else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Load {
    /// Dense LU with partial pivoting and solve.
    Linpack(Linpack),
    /// Dense matrix multiplication.
    Gemm(Gemm),
    /// Copy, scale, add, triad over arrays that no cache holds.
    Stream(Stream),
    /// Reads or writes of blocks of memory.
    Memory(Memory),
    /// Loads that wait for each other.
    MemoryLatency(MemoryLatency),
    /// Primes by trial division.
    Integer(Integer),
    /// Reads or writes of a file.
    Disk(Disk),
    /// No work at all; plays a given behaviour, to test everything else.
    Synthetic(Synthetic),
}

impl Load {
    /// Whether it is meant to keep CPUs or memory busy, and nothing else.
    #[must_use]
    pub fn is_compute(&self) -> bool {
        match self {
            Self::Linpack(_)
            | Self::Gemm(_)
            | Self::Stream(_)
            | Self::Memory(_)
            | Self::MemoryLatency(_)
            | Self::Integer(_) => true,
            Self::Disk(_) | Self::Synthetic(_) => false,
        }
    }
}

impl Load {
    /// How long an iteration takes at least; none where that is the machine's to say.
    #[must_use]
    pub fn least_time(&self) -> Option<Span> {
        match self {
            Self::Linpack(_) | Self::Stream(_) => None,
            Self::Gemm(load) => Some(load.time),
            Self::Memory(load) => Some(load.time),
            Self::MemoryLatency(load) => Some(load.time),
            Self::Integer(load) => Some(load.time),
            Self::Synthetic(load) => Some(load.time),
            Self::Disk(load) => (load.bound == Bound::default()).then_some(load.time),
        }
    }
}

/// Parameters of `Linpack`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Linpack {
    /// Order of the matrix.
    pub size: Order,
    /// Threads; when not given, one on each physical core of the worker's affinity, at most its control group's quota of CPU time.
    pub threads: Option<u32>,
}

/// Parameters of `Gemm`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gemm {
    /// Order of the three matrices.
    pub size: Order,
    /// Threads; when not given, one on each physical core of the worker's affinity, at most its control group's quota of CPU time.
    pub threads: Option<u32>,
    /// Length of one iteration: multiplications are begun until so much time went into them, at least one.
    #[serde(with = "typed_span")]
    pub time: Span,
}

impl Default for Gemm {
    fn default() -> Self {
        Self { size: Order::Auto, threads: None, time: Span::seconds(5) }
    }
}

/// Parameters of `Stream`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stream {
    /// Bytes of each of the three arrays; four times the last-level caches, at least 64 MiB, when not given.
    pub array: Option<ByteSize>,
    /// Threads; all CPUs of the worker's affinity when not given.
    pub threads: Option<u32>,
    /// How results go to memory.
    pub stores: Stores,
}

/// How results go to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stores {
    /// Through the caches, in pages as the kernel gives them: what STREAM's figures are comparable with.
    #[default]
    Regular,
    /// Past the caches, in huge pages: more than STREAM shows, and not comparable with it.
    NonTemporal,
}

/// Parameters of `Integer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Integer {
    /// One event is the search for all primes up to here.
    pub limit: u64,
    /// Length of one iteration.
    #[serde(with = "typed_span")]
    pub time: Span,
    /// Threads; all CPUs of the worker's affinity when not given.
    pub threads: Option<u32>,
}

impl Default for Integer {
    fn default() -> Self {
        Self { limit: 10_000, time: Span::seconds(5), threads: None }
    }
}

/// Parameters of `Synthetic`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synthetic {
    /// The healthy rate.
    pub rate: Quantity,
    /// Length of one iteration.
    #[serde(with = "typed_span")]
    pub time: Span,
    /// What happens to the rate.
    #[serde(default)]
    pub shape: Shape,
    /// Standard deviation of each reading, as a share of the rate.
    #[serde(default)]
    pub noise: f64,
}

/// The behaviours a synthetic run can play.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Shape {
    /// The healthy rate to the end.
    #[default]
    Level,
    /// Falls to another rate once so much work is done, counted over the whole run.
    Collapse {
        /// Work before the fall.
        after: ByteSize,
        /// Rate after it.
        to: Quantity,
    },
    /// Stops completing for a while, with an operation in flight.
    Stall {
        /// When, in the iteration.
        #[serde(with = "typed_span")]
        after: Span,
        /// How long.
        #[serde(with = "typed_span")]
        lasting: Span,
    },
    /// Changes evenly to this share of the rate by the end of the iteration.
    Drift {
        /// 0.5 = half.
        to: f64,
    },
    /// Alternates between the rate and this share of it.
    Oscillate {
        /// 0.4 = two fifths.
        low: f64,
        /// A whole period.
        #[serde(with = "typed_span")]
        period: Span,
    },
    /// The kernel returns an error.
    Fail {
        /// When, in the iteration.
        #[serde(with = "typed_span")]
        after: Span,
    },
    /// The kernel stops for ever and heeds no request to stop.
    Hang {
        /// When, in the iteration.
        #[serde(with = "typed_span")]
        after: Span,
    },
    /// Allocates and touches memory until it is refused, killed, or has this much.
    EatMemory {
        /// Where it stops by itself.
        upto: ByteSize,
    },
    /// Computes a wrong sum, which its own verification must find.
    Lie,
}

fn one() -> u32 {
    1
}

fn seed() -> u64 {
    20_150_601
}
