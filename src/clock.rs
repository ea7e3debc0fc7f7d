//! The clock that every record is stamped with. The one place that reads it, for the agent and the runner alike.

use rustix::time::{ClockId, clock_gettime};

use crate::vocab::moment::Moment;

/// Now, by `CLOCK_BOOTTIME`, which goes on during a suspend where `CLOCK_MONOTONIC` hides it.
#[must_use]
pub fn now() -> Moment {
    let time = clock_gettime(ClockId::Boottime);
    Moment(time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000)
}
