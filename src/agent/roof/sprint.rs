//! Short windows of a loop on all CPUs of a run at once, of which the best counts: a neighbour or an interrupt spoils some of them.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::loops::{self, Width};
use crate::agent::kernel::threads::{Gate, each};
use crate::agent::kernel::{KernelError, Stop};

/// Windows of a loop, and the length of each.
pub(super) const WINDOWS: usize = 5;
pub(super) const WINDOW: Duration = Duration::from_millis(20);
/// No further window of a loop begins after so long: below a CPU quota a window takes as long as the quota's period.
const ENOUGH: Duration = Duration::from_millis(140);
/// Rounds between two looks at the time: some tens of microseconds.
const ROUNDS: u64 = 10_000;

/// Windows in which the clock is looked at, and their length: a core that was idle is at its clock within some milliseconds.
const LOOKS: usize = 15;
const LOOK: Duration = Duration::from_millis(1);
/// Turns of additions between two looks at the time: some tens of microseconds.
const TURNS: u64 = 500;

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sprint {
    /// Floating-point operations a second of all threads together, in 10⁹.
    pub(super) gflops: f64,
    /// The instruction set of the loop that gave most.
    pub(super) width: &'static str,
    /// The highest clock that was seen behind the windows, in MHz; none where no loop tells.
    pub(super) megahertz: Option<f64>,
}

/// Runs every loop that the CPU can do on these CPUs at once.
///
/// Where the run has a quota, the time is that which each thread had a CPU for, so that the result is that of whole CPUs.
pub(super) fn run(cpus: &[usize], by_cpu_time: bool, stop: &Stop) -> Result<Sprint, KernelError> {
    let mut best: Option<Sprint> = None;
    for width in loops::widths() {
        let gflops = fastest(cpus, &width, by_cpu_time, stop)?;
        stop.check()?;
        if best.as_ref().is_none_or(|best| best.gflops < gflops) {
            best = Some(Sprint { gflops, width: width.name, megahertz: None });
        }
    }
    let best = best.ok_or_else(|| KernelError::Unavailable("no loop of multiply-adds for this CPU".to_owned()))?;
    Ok(Sprint { megahertz: clock(cpus, stop)?, ..best })
}

/// The best window of a loop, in GFLOPS of all threads.
fn fastest(cpus: &[usize], width: &Width, by_cpu_time: bool, stop: &Stop) -> Result<f64, KernelError> {
    let (gate, begun, end) = (Gate::new(cpus.len()), Instant::now(), AtomicUsize::new(WINDOWS));
    let rates = each(cpus, &gate, vec![(); cpus.len()], |thread, ()| {
        let mut rates = Vec::with_capacity(WINDOWS);
        // Wide vectors need some microseconds before they run at their pace.
        (width.run)(ROUNDS);
        for window in 0..WINDOWS {
            if thread == 0 && begun.elapsed() > ENOUGH {
                end.store(window, Relaxed);
            }
            // By number, so that no thread goes away while another waits for it.
            if !gate.pass() || window >= end.load(Relaxed) {
                break;
            }
            rates.push(rate(width, by_cpu_time, stop));
        }
        rates
    })?;
    let windows = rates.iter().map(Vec::len).min().unwrap_or(0);
    Ok((0..windows).map(|window| rates.iter().map(|of| of[window]).sum()).fold(0.0, f64::max))
}

/// One window on one thread, in GFLOPS.
fn rate(width: &Width, by_cpu_time: bool, stop: &Stop) -> f64 {
    let (start, before, mut rounds) = (Instant::now(), cpu_time(), 0);
    while start.elapsed() < WINDOW && !stop.asked() {
        (width.run)(ROUNDS);
        rounds += ROUNDS;
    }
    let seconds = if by_cpu_time { cpu_time() - before } else { start.elapsed().as_secs_f64() };
    if seconds > 0.0 { (rounds * width.flops) as f64 / seconds / 1e9 } else { 0.0 }
}

/// Seconds that this thread has had a CPU for.
fn cpu_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The highest clock of any of the CPUs while all of them add, in MHz.
fn clock(cpus: &[usize], stop: &Stop) -> Result<Option<f64>, KernelError> {
    let looks = each(cpus, &Gate::new(cpus.len()), vec![(); cpus.len()], |_, ()| {
        let looks = (0..LOOKS).take_while(|_| !stop.asked()).filter_map(|_| look());
        looks.reduce(f64::max)
    })?;
    Ok(looks.into_iter().flatten().reduce(f64::max))
}

fn look() -> Option<f64> {
    let (start, mut turns) = (Instant::now(), 0);
    while start.elapsed() < LOOK {
        if !loops::adds(TURNS) {
            return None;
        }
        turns += TURNS;
    }
    Some((turns * loops::ADDS) as f64 / start.elapsed().as_secs_f64() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loop_counts_something_on_any_number_of_threads() {
        for by_cpu_time in [false, true] {
            let sprint = run(&[0, 0, 0], by_cpu_time, &Stop::default()).unwrap();
            assert!(sprint.gflops.is_finite() && sprint.gflops > 0.0, "{sprint:?}");
            assert!(loops::widths().iter().any(|width| width.name == sprint.width));
            assert_eq!(sprint.megahertz.is_some(), loops::adds(1));
        }
    }

    #[test]
    fn a_stop_is_heeded() {
        let stop = Stop::default();
        stop.ask();
        assert_eq!(run(&[0, 0], false, &stop), Err(KernelError::Stopped));
    }
}
