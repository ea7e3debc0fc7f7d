//! The kernels: what makes a node work. One file (or folder) a kernel, one variant of its parameters in `vocab::plan`, and one
//! line in [`build`].
//!
//! A kernel allocates nothing and loads nothing before `prepare`, checks its own result in every iteration, asks `stop` at
//! least ten times a second, and cleans up in `Drop`.

mod area;
mod disk;
mod gemm;
mod integer;
mod linpack;
mod memory;
mod pages;
mod random;
pub mod signals;
mod stream;
mod synthetic;
pub(super) mod threads;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use thiserror::Error;

use super::meter::{Lanes, Meter};
use super::resources::Resources;
use crate::vocab::event::{MeterSpec, Outcome};
use crate::vocab::figure::Figure;
use crate::vocab::moment::Span;
use crate::vocab::plan::{Load, Run};

/// What every kernel does.
pub trait Kernel: Send {
    /// What the whole run would take from this node; asked by the preflight, so it loads nothing.
    fn takes(&self) -> Takes;

    /// What it counts and how it is made, once it is known which engine will run.
    fn describe(&self) -> Description;

    /// Allocates, lays out files, warms up.
    fn prepare(&mut self, meter: &Meter, stop: &Stop) -> Result<(), KernelError>;

    /// One iteration: says its phases on the meter, measures, verifies, and returns the official figures.
    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError>;
}

/// What a run takes from the node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Takes {
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of disk while it runs.
    pub disk: u64,
    /// Bytes that one iteration may write.
    pub writes: u64,
    /// Likely length of one iteration.
    pub time: Span,
    /// Whether it loads the node.
    pub loads: bool,
}

/// What a healthy node lets a kernel run against; the roof of that is told with the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ceiling {
    /// Floating-point operations of double precision.
    FloatingPoint,
    /// What the memory bus moves.
    Memory,
}

/// What a kernel counts, and what really runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its meters; the first is the one shown on the chart.
    pub meters: Vec<MeterSpec>,
    /// Its working threads.
    pub lanes: Lanes,
    /// Engine, threads, sizes, device: by name.
    pub labels: BTreeMap<String, String>,
    /// The command line of a well-known tool for the same work; empty when there is none.
    pub command: String,
    /// The CPU that each of its threads is pinned to; none where the scheduler places them.
    pub cpus: Vec<usize>,
    /// What bounds it, where that has a roof.
    pub bound: Option<Ceiling>,
}

/// The result of an iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The official figures.
    pub figures: Vec<Figure>,
    /// The latencies as `HdrHistogram` V2 in base64, where operations were timed.
    pub latency: Option<String>,
}

/// Why a kernel did not return figures.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum KernelError {
    /// This node cannot do such a run: no such engine, not enough memory, no `O_DIRECT`.
    #[error("{0}")]
    Unavailable(String),
    /// A wrong result, or an error where a healthy node gives none.
    #[error("{0}")]
    Corrupt(String),
    /// Nothing is shown about the node.
    #[error("{0}")]
    Broken(String),
    /// On request.
    #[error("stopped")]
    Stopped,
}

impl From<KernelError> for Outcome {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::Unavailable(why) => Self::Unavailable(why),
            KernelError::Corrupt(why) => Self::Corrupt(why),
            KernelError::Broken(why) => Self::Broken(why),
            KernelError::Stopped => Self::Stopped,
        }
    }
}

/// A request to stop, seen by every thread of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks every holder to stop.
    pub fn ask(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether a stop was asked for.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// `Err(Stopped)` once a stop was asked for; for `?` between steps.
    pub fn check(&self) -> Result<(), KernelError> {
        if self.asked() { Err(KernelError::Stopped) } else { Ok(()) }
    }
}

/// The registry: the kernel of a run, ready to be asked what it takes.
///
/// # Errors
/// [`KernelError::Unavailable`] when this node cannot do it at all.
pub fn build(run: &Run, target: &Path, node: &Resources) -> Result<Box<dyn Kernel>, KernelError> {
    Ok(match &run.kernel {
        Load::Linpack(load) => Box::new(linpack::Kernel::new(load, run.seed, node)?),
        Load::Gemm(load) => Box::new(gemm::Kernel::new(load, run.seed, node)?),
        Load::Stream(load) => Box::new(stream::Kernel::new(load, node)?),
        Load::Memory(load) => Box::new(memory::Kernel::new(load, run.seed, node)?),
        Load::MemoryLatency(load) => Box::new(memory::chase::Kernel::new(load, run.seed, node)?),
        Load::Integer(load) => Box::new(integer::Kernel::new(load, node)?),
        Load::Disk(load) => disk::fitted::build(load, run, target, node)?,
        Load::Synthetic(load) => Box::new(synthetic::Kernel::new(load, run.seed)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::voice::Voice;
    use crate::vocab::official;
    use crate::vocab::plan::{Disk, Pattern};

    #[test]
    fn every_figure_that_a_kernel_gives_is_an_official_one() {
        let plan = r#"[
            {"Linpack": {"size": {"N": 60}, "threads": 1}},
            {"Gemm": {"size": {"N": 60}, "threads": 1, "time": "1 ms"}},
            {"Stream": {"array": "1MiB", "threads": 1}},
            {"Memory": {"operation": "Read", "access": "Sequential", "block": "64KiB", "area": "1MiB", "time": "1 ms", "threads": 1}},
            {"MemoryLatency": {"area": "1MiB", "time": "1 ms"}},
            {"Integer": {"limit": 100, "time": "1 ms", "threads": 1}},
            {"Synthetic": {"rate": "100 IOPS", "time": "150 ms"}}
        ]"#;
        let mut loads: Vec<Load> = serde_json::from_str(plan).unwrap();
        for pattern in [Pattern::Read, Pattern::Write, Pattern::Mixed { reads: 50, random: true }, Pattern::Copy] {
            let (block, size) = ("4KiB".parse().unwrap(), "1MiB".parse::<crate::vocab::size::ByteSize>().unwrap());
            let disk = Disk::new(pattern, block, size, Span::milliseconds(20));
            loads.push(Load::Disk(Disk {
                direct: Some(false),
                fsync_every: if pattern.writes() { 16 } else { 0 },
                verify: pattern == Pattern::Write,
                ..disk
            }));
        }
        let (target, node) = (tempfile::tempdir().unwrap(), Resources::here(Path::new("/")));
        for load in loads {
            let run = Run::new("r", load);
            let mut kernel = build(&run, target.path(), &node).unwrap();
            let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
            kernel.prepare(&meter, &Stop::default()).unwrap();
            let known = official::figures(&run.kernel);
            for figure in kernel.iterate(&meter, &Stop::default()).unwrap().figures {
                assert!(known.contains(&(figure.name.clone(), figure.unit)), "{} in {:?}", figure.name, run.kernel);
            }
        }
    }
}
