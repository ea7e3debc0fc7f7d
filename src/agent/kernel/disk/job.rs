//! What an engine is to do, and the account of what it did; the same for both engines.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use hdrhistogram::Histogram;
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use super::cost::{Cost, Window};
use super::file::Target;
use crate::agent::kernel::random::split_mix;
use crate::agent::kernel::{KernelError, Stop};
use crate::agent::meter::{Lane, Meter};
use crate::vocab::moment::Moment;

/// The longest latency that is told apart: an hour, in nanoseconds.
const LONGEST: u64 = 3_600_000_000_000;

/// Order and direction of the accesses, and their size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) write: bool,
    pub(super) random: bool,
    /// Bytes of one operation.
    pub(super) block: usize,
    /// Operations in flight.
    pub(super) depth: usize,
}

impl Access {
    /// The numbers of the meters of bytes and of operations; the first is on the chart: operations where accesses are random.
    pub(super) fn meters(self) -> (usize, usize) {
        if self.random { (1, 0) } else { (0, 1) }
    }
}

/// Accesses to a part of a file: one pass over it, or until a window ends.
pub(super) struct Job<'a> {
    pub(super) target: &'a Target,
    pub(super) access: Access,
    /// Bytes of the file that are accessed.
    pub(super) part: std::ops::Range<u64>,
    pub(super) seed: u64,
    pub(super) window: Option<Window>,
    /// None while a file is laid out, which is not counted.
    pub(super) meter: Option<&'a Meter>,
    pub(super) stop: &'a Stop,
    pub(super) progress: Progress,
}

/// What the threads of a job share.
#[derive(Default)]
pub(super) struct Progress {
    next: AtomicU64,
    bytes: AtomicU64,
    failed: AtomicBool,
}

/// An operation under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operation {
    pub(super) offset: u64,
    pub(super) length: usize,
    /// Bytes of it that earlier, short transfers have done.
    pub(super) done: usize,
    started: u64,
}

/// Where an operation is shown: the lane of its thread, and its slot there.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) thread: usize,
    pub(super) slot: usize,
}

/// What was completed within the window.
pub(super) struct Tally {
    pub(super) operations: u64,
    pub(super) bytes: u64,
    /// In nanoseconds.
    pub(super) latency: Histogram<u64>,
    /// CPU time that the load threads took within the window, in nanoseconds: of all, and of the one that took most.
    pub(super) cpu: (u64, u64),
}

/// Now, in nanoseconds of the clock that moments are made of.
pub(super) fn nanoseconds() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Progress {
    /// Progress of a job that goes on where others have done so many bytes.
    pub(super) fn after(bytes: u64) -> Self {
        Self { bytes: AtomicU64::new(bytes), ..Self::default() }
    }
}

impl Tally {
    pub(super) fn new() -> Result<Self, KernelError> {
        let latency = Histogram::new_with_bounds(1, LONGEST, 3);
        let latency = latency.map_err(|e| KernelError::Broken(format!("no histogram: {e}")))?;
        Ok(Self { operations: 0, bytes: 0, latency, cpu: (0, 0) })
    }

    /// Takes in what the one thread of this account took.
    pub(super) fn took(&mut self, cost: &Cost) {
        self.cpu = (cost.nanoseconds(), cost.nanoseconds());
    }

    pub(super) fn merge(&mut self, other: &Self) -> Result<(), KernelError> {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.cpu = (self.cpu.0 + other.cpu.0, self.cpu.1.max(other.cpu.1));
        self.latency.add(&other.latency).map_err(|e| KernelError::Broken(format!("cannot merge latencies: {e}")))
    }
}

impl Job<'_> {
    /// The next operation, none when the job is over, stopped or has failed.
    pub(super) fn next(&self, random: &mut u64) -> Option<Operation> {
        let over = self.window.is_some_and(|w| nanoseconds() >= w.end);
        if over || self.stop.asked() || self.progress.failed.load(Relaxed) {
            return None;
        }
        let block = self.access.block as u64;
        let blocks = (self.part.end - self.part.start).div_ceil(block).max(1);
        let number = if self.access.random {
            // The high half of a product is uniform enough: the bias is blocks / 2⁶⁴.
            ((u128::from(split_mix(random)) * u128::from(blocks)) >> 64) as u64
        } else {
            self.progress.next.fetch_add(1, Relaxed)
        };
        if self.window.is_none() && number >= blocks {
            return None;
        }
        let offset = self.part.start + number % blocks * block;
        Some(Operation { offset, length: block.min(self.part.end - offset) as usize, done: 0, started: 0 })
    }

    fn lane(&self, place: Place) -> Option<&Lane> {
        self.meter.map(|meter| meter.lane(place.thread))
    }

    /// To be called right before the operation goes to the kernel.
    pub(super) fn begin(&self, operation: &mut Operation, place: Place) {
        operation.started = nanoseconds();
        if let Some(lane) = self.lane(place) {
            lane.begin(place.slot, Moment(operation.started / 1000));
        }
    }

    /// To be called for a transfer of so many bytes at `now`; true when the operation is complete.
    pub(super) fn transferred(
        &self,
        operation: &mut Operation,
        bytes: usize,
        (place, now): (Place, u64),
        tally: &mut Tally,
    ) -> bool {
        operation.done += bytes;
        self.progress.bytes.fetch_add(bytes as u64, Relaxed);
        if let Some(lane) = self.lane(place) {
            lane.add(self.access.meters().0, bytes as u64);
        }
        if operation.done < operation.length {
            return false;
        }
        let took = now.saturating_sub(operation.started);
        if let Some(lane) = self.lane(place) {
            lane.end(place.slot);
            lane.add(self.access.meters().1, 1);
            lane.took(took);
        }
        if self.window.is_some_and(|w| (w.begin..w.end).contains(&now)) {
            tally.operations += 1;
            tally.bytes += operation.length as u64;
            tally.latency.saturating_record(took);
        }
        true
    }

    /// To be called for an operation that failed; no other starts after it.
    pub(super) fn failed(&self, operation: &Operation, errno: Errno, place: Place) -> KernelError {
        self.progress.failed.store(true, Relaxed);
        if let Some(lane) = self.lane(place) {
            lane.end(place.slot);
        }
        let offset = operation.offset + operation.done as u64;
        self.target.meaning(errno, &format!("at offset {offset} after {} bytes", self.bytes()))
    }

    /// Bytes transferred so far, within the window and out of it.
    pub(super) fn bytes(&self) -> u64 {
        self.progress.bytes.load(Relaxed)
    }
}
