//! When a load counts, and what it costs: the CPU time of the threads that make it, by the kernel's own clock of each (`clock_gettime(2)`).

use rustix::time::{ClockId, clock_gettime};

/// The part of the time that counts, in nanoseconds of `CLOCK_BOOTTIME`; no operation starts after its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) begin: u64,
    pub(super) end: u64,
}

/// The CPU time that one load thread takes within the window. It looks at the clock twice, and between that compares numbers.
pub(super) struct Cost {
    window: Option<Window>,
    clock: fn() -> u64,
    begun: Option<u64>,
    ended: Option<u64>,
}

impl Cost {
    /// To be made in the thread itself.
    pub(super) fn new(window: Option<Window>) -> Self {
        Self { window, clock: thread_time, begun: None, ended: None }
    }

    /// To be called after every completion, with its time. A thread that waits for the device takes no CPU time, so that a look that
    /// comes late misses none.
    pub(super) fn look(&mut self, now: u64) {
        let Some(window) = self.window else { return };
        if self.begun.is_none() && now >= window.begin {
            self.begun = Some((self.clock)());
        }
        if self.ended.is_none() && now >= window.end {
            self.ended = Some((self.clock)());
        }
    }

    /// CPU time within the window, in nanoseconds; to be called in the thread itself, at its end.
    pub(super) fn nanoseconds(&self) -> u64 {
        let Some(begun) = self.begun else { return 0 };
        self.ended.unwrap_or_else(self.clock).saturating_sub(begun)
    }
}

/// CPU time of the calling thread so far, in nanoseconds.
fn thread_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    static CPU: AtomicU64 = AtomicU64::new(0);

    #[test]
    fn only_what_is_taken_within_the_window_counts() {
        let window = Some(Window { begin: 1_000, end: 2_000 });
        let mut cost = Cost { clock: || CPU.load(Relaxed), ..Cost::new(window) };
        for (now, cpu) in [(500, 400), (1_100, 450), (1_900, 900), (2_050, 950), (2_900, 1_700)] {
            CPU.store(cpu, Relaxed);
            cost.look(now);
        }
        assert_eq!(cost.nanoseconds(), 500);
        assert_eq!(Cost::new(None).nanoseconds(), 0, "a layout costs nothing that counts");
    }

    #[test]
    fn a_thread_that_works_takes_time_and_one_that_waits_takes_none() {
        let window = Some(Window { begin: 0, end: u64::MAX });
        let (mut busy, mut idle) = (Cost::new(window), Cost::new(window));
        busy.look(1);
        let sum = (0..20_000_000_u64).fold(0_u64, |sum, n| std::hint::black_box(sum ^ n.wrapping_mul(31)));
        assert!(busy.nanoseconds() > 1_000_000, "{sum}");
        idle.look(1);
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert!(idle.nanoseconds() < 15_000_000);
    }
}
