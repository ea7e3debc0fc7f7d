//! Threads pinned to CPUs, released together.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{Builder, ScopedJoinHandle};

use rustix::thread::{CpuSet, sched_setaffinity};

use super::KernelError;

/// Turns a waiting thread spins before it gives its CPU away; long enough for threads that finish within microseconds.
const SPINS: u32 = 4_000;

/// The most threads a kernel takes: more than the CPUs of any machine, and few enough that their stacks and counters are no load.
const MOST_THREADS: u32 = 4096;

/// A barrier that spins, so that a timed loop starts within a microsecond on all threads, and that can be broken.
#[derive(Debug)]
pub(in crate::agent) struct Gate {
    parties: usize,
    arrived: AtomicUsize,
    turn: AtomicUsize,
    broken: AtomicBool,
}

impl Gate {
    /// A gate that opens for so many threads.
    pub(in crate::agent) fn new(parties: usize) -> Self {
        Self { parties, arrived: AtomicUsize::new(0), turn: AtomicUsize::new(0), broken: AtomicBool::new(false) }
    }

    /// Waits for the others; false when the gate is broken and nothing more may be waited for.
    pub(in crate::agent) fn pass(&self) -> bool {
        let turn = self.turn.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            self.arrived.store(0, Ordering::Relaxed);
            self.turn.store(turn.wrapping_add(1), Ordering::Release);
        }
        let mut spins = 0;
        while self.turn.load(Ordering::Acquire) == turn {
            if self.broken.load(Ordering::Acquire) {
                return false;
            }
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        !self.broken.load(Ordering::Acquire)
    }

    /// Lets every thread that waits, or will wait, go away.
    pub(super) fn destroy(&self) {
        self.broken.store(true, Ordering::Release);
    }
}

/// Breaks the gate when its thread unwinds, so that the others do not wait for it.
struct Guard<'a>(&'a Gate);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.destroy();
        }
    }
}

/// Runs `work` on one thread a part, thread i on the i-th of `cpus` (round and round), and returns the results in order.
///
/// All threads exist and are pinned before the first begins; `gate` must be made for as many as there are parts, and the
/// work may pass it again. A thread that panics makes the whole [`KernelError::Broken`].
pub(in crate::agent) fn each<P: Send, T: Send>(
    cpus: &[usize],
    gate: &Gate,
    parts: Vec<P>,
    work: impl Fn(usize, P) -> T + Sync,
) -> Result<Vec<T>, KernelError> {
    let work = &work;
    std::thread::scope(|scope| {
        let mut running: Vec<ScopedJoinHandle<'_, Option<T>>> = Vec::with_capacity(parts.len());
        let mut failure = None;
        for (i, part) in parts.into_iter().enumerate() {
            let cpu = cpus.get(i % cpus.len().max(1)).copied();
            let body = move || {
                let _guard = Guard(gate);
                if let Some(cpu) = cpu {
                    pin(cpu);
                }
                gate.pass().then(|| work(i, part))
            };
            match Builder::new().name(format!("load-{i}")).spawn_scoped(scope, body) {
                Ok(handle) => running.push(handle),
                Err(error) => {
                    gate.destroy();
                    failure = Some(KernelError::Unavailable(format!("cannot start thread {i}: {error}")));
                    break;
                }
            }
        }
        let results = running
            .into_iter()
            .enumerate()
            .map(|(i, handle)| handle.join().map_err(|_| KernelError::Broken(format!("working thread {i} panicked"))));
        let results = results.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>()?;
        match failure {
            Some(failure) => Err(failure),
            None => Ok(results.into_iter().flatten().collect()),
        }
    })
}

/// The CPUs of `threads` threads: all of `cpus` when no number is asked for; more threads than CPUs share them.
pub(in crate::agent) fn choose(cpus: &[usize], threads: Option<u32>) -> Result<Vec<usize>, KernelError> {
    let threads = match threads {
        None => cpus.len(),
        Some(n @ 1..=MOST_THREADS) => n as usize,
        Some(0) => return Err(KernelError::Unavailable("threads 0: at least 1 is needed".to_owned())),
        Some(n) => {
            return Err(KernelError::Unavailable(format!("threads {n}: more than {MOST_THREADS} are not taken")));
        }
    };
    Ok(cpus.iter().copied().cycle().take(threads).collect())
}

/// Pins the calling thread. A CPU that went offline since is no reason to fail: the thread then runs where it may.
fn pin(cpu: usize) {
    if cpu < CpuSet::MAX_CPU {
        let mut set = CpuSet::new();
        set.set(cpu);
        let _ = sched_setaffinity(None, &set);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use rustix::thread::sched_getaffinity;

    use super::*;

    fn cpus() -> Vec<usize> {
        let set = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
    }

    #[test]
    fn each_thread_has_its_part_and_its_cpu() {
        let cpus = cpus();
        let parts = vec![10, 20, 30];
        let got = each(&cpus, &Gate::new(3), parts, |i, part| {
            let set = sched_getaffinity(None).unwrap();
            (i, part, set.count(), set.is_set(cpus[i % cpus.len()]))
        });
        assert_eq!(got.unwrap(), vec![(0, 10, 1, true), (1, 20, 1, true), (2, 30, 1, true)]);
    }

    #[test]
    fn a_gate_lets_nobody_ahead() {
        let (gate, total) = (Gate::new(4), AtomicUsize::new(0));
        let seen = each(&cpus(), &gate, vec![(); 4], |_, ()| {
            (1..=50).all(|round| {
                total.fetch_add(1, Relaxed);
                let whole = gate.pass() && total.load(Relaxed) == 4 * round;
                whole & gate.pass()
            })
        });
        assert_eq!(seen.unwrap(), vec![true; 4]);
    }

    #[test]
    fn a_panicking_thread_breaks_the_run_and_frees_the_others() {
        let gate = Gate::new(3);
        let got = each(&cpus(), &gate, vec![(); 3], |i, ()| {
            assert!(i != 1, "on purpose");
            gate.pass()
        });
        assert_eq!(got, Err(KernelError::Broken("working thread 1 panicked".to_owned())));
    }

    #[test]
    fn more_threads_than_cpus_share_them() {
        assert_eq!(choose(&[3, 5], Some(3)), Ok(vec![3, 5, 3]));
        assert_eq!(choose(&[3, 5], None), Ok(vec![3, 5]));
        assert_eq!(choose(&[3, 5], Some(MOST_THREADS)).map(|cpus| cpus.len()), Ok(4096));
    }

    #[test]
    fn a_number_of_threads_that_no_machine_has_is_refused() {
        let said = |n| choose(&[3, 5], Some(n)).unwrap_err().to_string();
        assert_eq!(said(u32::MAX), "threads 4294967295: more than 4096 are not taken");
        assert_eq!(said(0), "threads 0: at least 1 is needed");
    }
}
