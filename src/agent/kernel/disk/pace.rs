//! A limit on the rate of a load, for all its jobs together.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::vocab::unit::{Quantity, Unit};

/// How much of a rate that was missed may be caught up with, in nanoseconds; a device that hung for a second is not answered with
/// a second's work at once.
const SLACK: u64 = 50_000_000;

/// When the next operation may start.
#[derive(Debug)]
pub(super) struct Pace {
    free: AtomicU64,
    per_byte: f64,
    per_operation: f64,
}

impl Pace {
    /// The pace of a rate in MB/s or IOPS.
    pub(super) fn of(rate: Quantity) -> Result<Self, String> {
        let price = 1e9 / (rate.value * rate.unit.things());
        if !price.is_finite() || price <= 0.0 {
            return Err(format!("a rate of {rate} is no limit"));
        }
        let (per_byte, per_operation) = match rate.unit {
            Unit::MegabytesPerSecond => (price, 0.0),
            Unit::Iops => (0.0, price),
            _ => return Err(format!("a disk's rate is in MB/s or IOPS, not {rate}")),
        };
        Ok(Self { free: AtomicU64::new(0), per_byte, per_operation })
    }

    /// Takes the right to start an operation of so many bytes now, or says from when on it may be asked for again; both in
    /// nanoseconds of `CLOCK_BOOTTIME`.
    pub(super) fn take(&self, bytes: usize, now: u64) -> Result<(), u64> {
        let price = (bytes as f64).mul_add(self.per_byte, self.per_operation) as u64;
        let mut free = self.free.load(Relaxed);
        loop {
            if free > now {
                return Err(free);
            }
            let next = free.max(now.saturating_sub(SLACK)) + price;
            match self.free.compare_exchange_weak(free, next, Relaxed, Relaxed) {
                Ok(_) => return Ok(()),
                Err(other) => free = other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_kept_and_little_is_caught_up_with() {
        let pace = Pace::of("1000 IOPS".parse().unwrap()).unwrap();
        let start = 10_000_000_000;
        let mut now = start;
        let taken = (0..).take_while(|_| {
            while let Err(free) = pace.take(4096, now) {
                now = free;
            }
            now < start + 1_000_000_000
        });
        // A second, and the slack before it.
        assert_eq!(taken.count(), 1050);
        let bytes = Pace::of("1 MB/s".parse().unwrap()).unwrap();
        assert_eq!(bytes.take(1_000_000, start), Ok(()));
        assert_eq!(bytes.take(1, start), Err(start + 950_000_000));
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for text in ["0 MB/s", "-1 IOPS", "5 s"] {
            assert!(Pace::of(text.parse().unwrap()).is_err(), "{text}");
        }
    }
}
