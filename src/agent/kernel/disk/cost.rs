//! When a load counts, and what it costs: the CPU time of the threads that make it, by the kernel's own clock of each
//! (`clock_gettime(2)`), and how long they had to wait for a CPU (`Documentation/scheduler/sched-stats.rst`).

use rustix::time::{ClockId, clock_gettime};

/// The part of the time that counts, in nanoseconds of `CLOCK_BOOTTIME`; no operation starts after its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) begin: u64,
    pub(super) end: u64,
}

/// What a thread has had of the CPUs, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    /// On a CPU.
    pub(super) cpu: u64,
    /// Ready to run, while others had the CPU; none where the kernel does not count it.
    pub(super) waited: Option<u64>,
}

impl Spent {
    fn since(self, before: Self) -> Self {
        let waited = self.waited.zip(before.waited).map(|(now, before)| now.saturating_sub(before));
        Self { cpu: self.cpu.saturating_sub(before.cpu), waited }
    }

    /// How long it had something to do.
    fn wanted(self) -> u64 {
        self.cpu + self.waited.unwrap_or(0)
    }

    /// The one of two threads that had more to do.
    pub(super) fn busier(self, other: Self) -> Self {
        if other.wanted() > self.wanted() { other } else { self }
    }
}

/// What one load thread takes within the window. It looks at the clocks twice, and between that compares numbers.
pub(super) struct Cost {
    window: Option<Window>,
    clock: fn() -> Spent,
    begun: Option<Spent>,
    ended: Option<Spent>,
}

impl Cost {
    /// To be made in the thread itself.
    pub(super) fn new(window: Option<Window>) -> Self {
        Self { window, clock: spent_so_far, begun: None, ended: None }
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

    /// What it was within the window; to be called in the thread itself, at its end.
    pub(super) fn spent(&self) -> Spent {
        let Some(begun) = self.begun else { return Spent::default() };
        self.ended.unwrap_or_else(self.clock).since(begun)
    }
}

/// What the calling thread has had so far.
fn spent_so_far() -> Spent {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let cpu = time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Spent { cpu, waited: text.split_whitespace().nth(1).and_then(|waited| waited.parse().ok()) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    static CPU: AtomicU64 = AtomicU64::new(0);

    #[test]
    fn only_what_is_taken_within_the_window_counts() {
        let window = Some(Window { begin: 1_000, end: 2_000 });
        let clock = || Spent { cpu: CPU.load(Relaxed), waited: Some(CPU.load(Relaxed) / 10) };
        let mut cost = Cost { clock, ..Cost::new(window) };
        for (now, cpu) in [(500, 400), (1_100, 450), (1_900, 900), (2_050, 950), (2_900, 1_700)] {
            CPU.store(cpu, Relaxed);
            cost.look(now);
        }
        assert_eq!(cost.spent(), Spent { cpu: 500, waited: Some(50) });
        assert_eq!(Cost::new(None).spent(), Spent::default(), "a layout costs nothing that counts");
    }

    #[test]
    fn the_busier_thread_is_the_one_that_wanted_more() {
        let (starved, busy) = (Spent { cpu: 50, waited: Some(48) }, Spent { cpu: 90, waited: Some(1) });
        assert_eq!((starved.busier(busy), busy.busier(starved)), (starved, starved));
        assert_eq!(busy.busier(Spent { cpu: 95, waited: None }).cpu, 95);
    }

    #[test]
    fn a_thread_that_works_takes_time_and_one_that_waits_takes_none() {
        let window = Some(Window { begin: 0, end: u64::MAX });
        let (mut busy, mut idle) = (Cost::new(window), Cost::new(window));
        busy.look(1);
        let sum = (0..20_000_000_u64).fold(0_u64, |sum, n| std::hint::black_box(sum ^ n.wrapping_mul(31)));
        assert!(busy.spent().cpu > 1_000_000, "{sum}");
        idle.look(1);
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert!(idle.spent().cpu < 15_000_000);
    }
}
