//! What was completed within a window, and how long it took.

use hdrhistogram::Histogram;

use super::access::{Access, Kind};
use super::cost::{Cost, Spent};
use crate::agent::kernel::KernelError;

/// The longest latency that is told apart, in nanoseconds: an hour. Longer ones count as an hour, and are counted.
const LONGEST: u64 = 3_600_000_000_000;

/// Operations of one direction.
pub(super) struct Side {
    pub(super) operations: u64,
    pub(super) bytes: u64,
    /// In nanoseconds.
    pub(super) latency: Histogram<u64>,
    /// Operations that took longer than the histogram reaches.
    pub(super) clamped: u64,
}

/// The account of a thread, or of several.
pub(super) struct Tally {
    /// Of a load that does one thing, all of it.
    pub(super) main: Side,
    /// The writes of a load that reads as well.
    pub(super) writes: Option<Side>,
    /// Flushes between the writes.
    pub(super) syncs: Option<Side>,
    /// The last completion, in nanoseconds of `CLOCK_BOOTTIME`; 0 without any.
    pub(super) last: u64,
    /// CPU time that all load threads took within the window, in nanoseconds.
    pub(super) cpu: u64,
    /// What the busiest of them had.
    pub(super) busiest: Spent,
}

impl Side {
    pub(super) fn new() -> Result<Self, KernelError> {
        let latency = Histogram::new_with_bounds(1, LONGEST, 3);
        let latency = latency.map_err(|e| KernelError::Broken(format!("no histogram: {e}")))?;
        Ok(Self { operations: 0, bytes: 0, latency, clamped: 0 })
    }

    fn count(&mut self, bytes: u64, took: u64) {
        self.operations += 1;
        self.bytes += bytes;
        self.clamped += u64::from(took > LONGEST);
        self.latency.saturating_record(took);
    }

    pub(super) fn merge(&mut self, other: &Self) -> Result<(), KernelError> {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.clamped += other.clamped;
        self.latency.add(&other.latency).map_err(|e| KernelError::Broken(format!("cannot merge latencies: {e}")))
    }
}

impl Tally {
    /// An empty account with a place for what such accesses do.
    pub(super) fn new(access: Access) -> Result<Self, KernelError> {
        let side = |wanted: bool| wanted.then(Side::new).transpose();
        let syncs = side(access.fsync_every > 0 || access.fdatasync_every > 0)?;
        Ok(Self {
            main: Side::new()?,
            writes: side(access.is_mixed())?,
            syncs,
            last: 0,
            cpu: 0,
            busiest: Spent::default(),
        })
    }

    /// Takes in an operation that was completed at `now`.
    pub(super) fn count(&mut self, kind: Kind, bytes: u64, took: u64, now: u64) {
        self.last = self.last.max(now);
        let side = match kind {
            Kind::Sync | Kind::DataSync => self.syncs.as_mut(),
            Kind::Write => self.writes.as_mut().or(Some(&mut self.main)),
            Kind::Read | Kind::Fetch => Some(&mut self.main),
        };
        if let Some(side) = side {
            side.count(bytes, took);
        }
    }

    /// Takes in what the one thread of this account took.
    pub(super) fn took(&mut self, cost: &Cost) {
        self.busiest = cost.spent();
        self.cpu = self.busiest.cpu;
    }

    pub(super) fn merge(&mut self, other: &Self) -> Result<(), KernelError> {
        self.main.merge(&other.main)?;
        for (own, other) in [(&mut self.writes, &other.writes), (&mut self.syncs, &other.syncs)] {
            if let (Some(own), Some(other)) = (own, other) {
                own.merge(other)?;
            }
        }
        self.last = self.last.max(other.last);
        self.cpu += other.cpu;
        self.busiest = self.busiest.busier(other.busiest);
        Ok(())
    }
}
