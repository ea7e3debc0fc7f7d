//! The samplers: what the host says of itself. One file a source and one line in [`all`].
//!
//! Every sampler reads below a root path, so that a machine can be faked, keeps what it can between readings, and puts raw
//! values: counters as the kernel counts them, gauges as they stand. A file that is missing is no error, only no samples. [`Pace`]
//! decides which sources are read when; a source that may wait for hardware is read aside, in a thread.

mod aer;
mod aside;
mod cgroup;
mod clock;
mod cpu;
mod disk;
mod edac;
mod interrupts;
mod known;
mod link;
mod md;
mod memory;
mod net;
mod numa;
mod nvme;
mod own;
mod pace;
mod pressure;
mod sink;
mod softnet;
mod tcp;
mod thermal;

use std::io;
use std::path::Path;

pub use pace::Pace;
pub use sink::{Note, Reading, Sink};

/// One source of host counters.
pub trait Sampler: Send {
    /// The name of the source in the record: `cpu`, `disk`.
    fn source(&self) -> &'static str;

    /// Puts one reading of every device and field into the sink. An error means that nothing was read.
    fn sample(&mut self, into: &mut Sink) -> io::Result<()>;

    /// Full readings from one of this source to the next, at the least: what changes slowly need not be read every second.
    fn every(&self) -> u32 {
        1
    }
}

/// Every sampler of this node, below `root`.
#[must_use]
pub fn all(root: &Path) -> Vec<Box<dyn Sampler>> {
    vec![
        Box::new(cpu::Sampler::new(root)),
        Box::new(disk::Sampler::new(root)),
        Box::new(net::Sampler::new(root)),
        Box::new(memory::Sampler::new(root)),
        Box::new(pressure::Sampler::new(root)),
        Box::new(tcp::Sampler::new(root)),
        Box::new(softnet::Sampler::new(root)),
        Box::new(cgroup::Sampler::new(root)),
        Box::new(interrupts::Sampler::new(root)),
        Box::new(numa::Sampler::new(root)),
        Box::new(md::Sampler::new(root)),
        Box::new(edac::Sampler::new(root)),
        Box::new(aer::Sampler::new(root)),
        Box::new(aside::Sampler::new(clock::Sampler::new(root))),
        Box::new(aside::Sampler::new(link::Sampler::new(root))),
        Box::new(aside::Sampler::new(thermal::Sampler::new(root))),
        Box::new(aside::Sampler::new(nvme::Sampler::new(root))),
        Box::new(own::Sampler),
    ]
}
