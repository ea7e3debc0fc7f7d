//! The threads that work on one matrix, and how they divide it among themselves.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::micro::Family;
use crate::agent::kernel::threads::{Gate, each};
use crate::agent::kernel::{KernelError, Stop};
use crate::agent::meter::Meter;

/// Columns that a thread takes at most: with the depth of a product, half of a second cache of 1 MiB.
pub(in crate::agent::kernel) const BLOCK: usize = 240;

/// Rows between two looks at the stop and two counts of the meter: some milliseconds.
pub(in crate::agent::kernel) const ROWS: usize = 480;

/// Where the work is done, and who watches.
#[derive(Clone, Copy)]
pub(in crate::agent::kernel) struct Team<'a> {
    pub(in crate::agent::kernel) cpus: &'a [usize],
    pub(in crate::agent::kernel) family: Family,
    pub(in crate::agent::kernel) meter: &'a Meter,
    pub(in crate::agent::kernel) stop: &'a Stop,
}

impl Team<'_> {
    /// Lets every thread do its share; the first that fails frees the others from the gate.
    pub(in crate::agent::kernel) fn share(
        self,
        gate: &Gate,
        work: impl Fn(usize) -> Result<(), KernelError> + Sync,
    ) -> Result<(), KernelError> {
        let results = each(self.cpus, gate, vec![(); self.cpus.len()], |thread, ()| {
            let result = work(thread);
            if result.is_err() {
                gate.destroy();
            }
            result
        })?;
        results.into_iter().collect()
    }
}

/// Slivers of columns that the threads of a team take until there are no more.
#[derive(Debug, Default)]
pub(in crate::agent::kernel) struct Slivers(AtomicUsize);

impl Slivers {
    /// Some of `all` that nobody has taken: first `first` of them, then at most `most`, and fewer and fewer, so that the threads
    /// end together.
    pub(in crate::agent::kernel) fn take(
        &self,
        all: usize,
        first: usize,
        most: usize,
        threads: usize,
    ) -> Option<Range<usize>> {
        let mut taken = self.0.load(Relaxed);
        while taken < all {
            let fair = (all - taken).div_ceil(2 * threads).clamp(1, most);
            let end = if taken == 0 { first } else { taken + fair };
            match self.0.compare_exchange_weak(taken, end, Relaxed, Relaxed) {
                Ok(_) => return Some(taken..end),
                Err(now) => taken = now,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sliver_is_taken_once_and_the_last_ones_singly() {
        for (all, first, threads) in [(1, 1, 1), (334, 10, 2), (7, 3, 4)] {
            let slivers = Slivers::default();
            let parts: Vec<Range<usize>> = std::iter::from_fn(|| slivers.take(all, first, 10, threads)).collect();
            assert!(parts[0] == (0..first) && parts.last().unwrap().end == all);
            assert!(parts.windows(2).all(|p| p[0].end == p[1].start) && parts.iter().all(|p| p.len() <= 10));
            assert_eq!(parts.last().unwrap().len(), 1);
        }
    }
}
