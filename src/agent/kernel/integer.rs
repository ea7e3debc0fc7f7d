//! Primes by trial division: the work of `sysbench cpu`, event for event.
#![allow(unsafe_code, reason = "the instructions of the compared tool, where a compiler would find faster ones")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::threads::{Gate, choose, each};
use super::{Description, KernelError, Measured, Stop, Takes};
use crate::agent::meter::{Lane, Lanes, Meter};
use crate::agent::resources::Resources;
use crate::vocab::event::{MeterSpec, Phase};
use crate::vocab::figure::Figure;
use crate::vocab::plan::Integer;
use crate::vocab::unit::Unit;

/// The largest limit taken; its sieve has 8 MiB, and one event takes an hour.
const LARGEST_LIMIT: u64 = 1 << 27;

/// Candidates tested between two looks at the stop; below a tenth of a second at the largest limit.
const BETWEEN_LOOKS: u64 = 256;

/// Searches primes until its time is up.
pub(super) struct Kernel {
    load: Integer,
    cpus: Vec<usize>,
    primes: u64,
}

/// What one thread has done.
struct Share {
    events: u64,
    wrong: Option<u64>,
    elapsed: Duration,
}

impl Kernel {
    pub(super) fn new(load: &Integer, node: &Resources) -> Result<Self, KernelError> {
        if !(3..=LARGEST_LIMIT).contains(&load.limit) {
            return Err(KernelError::Unavailable(format!("limit {} is not between 3 and {LARGEST_LIMIT}", load.limit)));
        }
        Ok(Self { load: load.clone(), cpus: choose(&node.cpus, load.threads.or(Some(node.cpu_threads())))?, primes: 0 })
    }

    fn share(&self, lane: &Lane, stop: &Stop) -> Share {
        let (start, time) = (Instant::now(), Duration::from(self.load.time));
        let mut share = Share { events: 0, wrong: None, elapsed: Duration::ZERO };
        while let Some(primes) = event(std::hint::black_box(self.load.limit), stop) {
            share.events += 1;
            lane.add(0, 1);
            if primes != self.primes {
                share.wrong.get_or_insert(primes);
            }
            share.elapsed = start.elapsed();
            if share.elapsed >= time {
                break;
            }
        }
        share
    }

    fn result(&self, shares: &[Share]) -> Result<Measured, KernelError> {
        if let Some((thread, wrong)) = shares.iter().enumerate().find_map(|(i, s)| s.wrong.map(|w| (i, w))) {
            return Err(KernelError::Corrupt(format!(
                "CPU {} found {wrong} primes up to {}, where there are {}",
                self.cpus[thread], self.load.limit, self.primes
            )));
        }
        // Each thread over its own time, since each ends with a whole event.
        let rate = shares.iter().map(|s| s.events as f64 / s.elapsed.as_secs_f64()).sum();
        Ok(Measured { figures: vec![Figure::new("events_per_s", rate, Unit::EventsPerSecond)], latency: None })
    }
}

impl super::Kernel for Kernel {
    fn takes(&self) -> Takes {
        Takes { memory: self.load.limit / 16, time: self.load.time, loads: true, ..Takes::default() }
    }

    fn describe(&self) -> Description {
        let (threads, limit) = (self.cpus.len(), self.load.limit);
        let labels = [("threads", threads.to_string()), ("limit", limit.to_string())];
        Description {
            meters: vec![MeterSpec::new("events_per_s", Unit::EventsPerSecond, true)],
            lanes: Lanes { threads, depth: 0, timed: false },
            labels: labels.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<BTreeMap<_, _>>(),
            command: format!(
                "sysbench cpu --threads={threads} --cpu-max-prime={limit} --time={} run",
                self.load.time.as_seconds().ceil()
            ),
            cpus: self.cpus.clone(),
            bound: None,
        }
    }

    fn prepare(&mut self, _: &Meter, stop: &Stop) -> Result<(), KernelError> {
        self.primes = sieve(self.load.limit)?;
        stop.check()
    }

    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError> {
        meter.phase(Phase::Measure);
        let gate = Gate::new(self.cpus.len());
        let shares = each(&self.cpus, &gate, vec![(); self.cpus.len()], |i, ()| self.share(meter.lane(i), stop))?;
        stop.check()?;
        meter.phase(Phase::Verify);
        self.result(&shares)
    }
}

/// One event: how many c in 3..=limit have no divisor in 2..=√c; none when stopped on the way.
fn event(limit: u64, stop: &Stop) -> Option<u64> {
    let mut primes = 0;
    for c in 3..=limit {
        if c % BETWEEN_LOOKS == 0 && stop.asked() {
            return None;
        }
        // Exact below 2⁵², and an instruction; `isqrt` costs as much as several of the divisions that are counted. By way of i64,
        // since from u64 there is no such instruction everywhere.
        let root = (c as i64 as f64).sqrt();
        // By 2 the tool's compiler looks at the lowest bit, and divides from 3 on; an event here is the same work.
        if c % 2 == 0 {
            continue;
        }
        primes += u64::from(first_divisor(c, root) as i64 as f64 > root);
    }
    Some(primes)
}

/// The first number from 3 on that divides, or that is larger than the root.
///
/// Instruction for instruction what the distributions' builds of sysbench 1.0.20 do for each divisor: it is converted and held
/// against the root as a double, and divides 64 bits whatever the operands. A compiler would compare whole numbers, and might divide
/// 32 bits where they are small enough: on Zen 4 some 4 % more events, of less work each.
#[cfg(target_arch = "x86_64")]
#[inline]
fn first_divisor(candidate: u64, root: f64) -> u64 {
    let mut divisor: u64 = 3;
    // SAFETY: only the named registers and the flags are written. The divisor is 3 or more and the high half of the dividend is 0,
    // so that the quotient fits and nothing traps; it ends when the divisor is above the root, at the latest.
    unsafe {
        std::arch::asm!(
            "2:",
            "pxor {number}, {number}",
            "cvtsi2sd {number}, {divisor}",
            "comisd {root}, {number}",
            "jb 3f",
            "mov rax, {candidate}",
            "xor edx, edx",
            "div {divisor}",
            "test rdx, rdx",
            "je 3f",
            "add {divisor}, 1",
            "jns 2b",
            "3:",
            number = out(xmm_reg) _,
            root = in(xmm_reg) root,
            candidate = in(reg) candidate,
            divisor = inout(reg) divisor,
            out("rax") _,
            out("rdx") _,
            options(pure, nomem, nostack)
        );
    }
    divisor
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn first_divisor(candidate: u64, root: f64) -> u64 {
    let mut divisor = 3;
    while divisor as f64 <= root && candidate % divisor != 0 {
        divisor += 1;
    }
    divisor
}

/// How many primes there are in 3..=limit, by a sieve over the odd numbers, a bit each.
fn sieve(limit: u64) -> Result<u64, KernelError> {
    let odds = usize::try_from(limit.div_ceil(2)).unwrap_or(usize::MAX);
    let mut crossed: Vec<u8> = Vec::new();
    if crossed.try_reserve_exact(odds / 8 + 1).is_err() {
        return Err(KernelError::Unavailable(format!("no {} MiB of memory for a sieve", odds >> 23)));
    }
    crossed.resize(odds / 8 + 1, 0);
    let mut primes = 0;
    // Number 2i + 1 stands at i.
    for i in 1..odds {
        if crossed[i / 8] & (1 << (i % 8)) != 0 {
            continue;
        }
        primes += 1;
        let prime = 2 * i + 1;
        for multiple in (prime.saturating_mul(prime) / 2..odds).step_by(prime) {
            crossed[multiple / 8] |= 1 << (multiple % 8);
        }
    }
    Ok(primes)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Kernel as _;
    use super::*;
    use crate::agent::voice::Voice;
    use crate::vocab::moment::Span;

    fn kernel(limit: u64) -> Kernel {
        let load = Integer { limit, time: Span::milliseconds(30), threads: Some(2) };
        Kernel::new(&load, &Resources::here(Path::new("/"))).unwrap()
    }

    #[test]
    fn an_event_counts_the_odd_primes() {
        for (limit, primes) in [(3, 1), (4, 1), (10, 3), (100, 24), (10_000, 1228)] {
            assert_eq!(event(limit, &Stop::default()), Some(primes), "event to {limit}");
            assert_eq!(sieve(limit), Ok(primes), "sieve to {limit}");
        }
    }

    #[test]
    fn the_first_divisor_is_found_or_passed() {
        for (candidate, first) in [(3, 3), (9, 3), (25, 5), (49, 7), (97, 10), (7 * 11, 7), (999_983, 1000)] {
            assert_eq!(first_divisor(candidate, (candidate as f64).sqrt()), first, "{candidate}");
        }
        assert_eq!(first_divisor(u64::from(u32::MAX) * 3, 1e6), 3);
        assert_eq!(first_divisor((1 << 40) - 1, 1e6), 3);
        assert_eq!(first_divisor(1_073_741_827 * 5, 1e6), 5);
    }

    #[test]
    fn a_wrong_count_is_found() {
        let mut kernel = kernel(1000);
        let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
        kernel.prepare(&meter, &Stop::default()).unwrap();
        let measured = kernel.iterate(&meter, &Stop::default()).unwrap();
        assert!(measured.figures[0].value > 100.0);
        assert!(meter.read(crate::clock::now(), false).done[0] > 2);
        kernel.primes += 1;
        let found = kernel.iterate(&meter, &Stop::default());
        assert!(
            matches!(found, Err(KernelError::Corrupt(why)) if why.contains("found 167 primes up to 1000, where there are 168"))
        );
    }

    #[test]
    fn a_stop_is_heeded_within_an_event() {
        let mut kernel = kernel(LARGEST_LIMIT);
        let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
        let stop = Stop::default();
        let start = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                stop.ask();
            });
            assert_eq!(kernel.iterate(&meter, &stop), Err(KernelError::Stopped));
        });
        assert!(start.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn a_limit_without_primes_is_refused() {
        let load = Integer { limit: 2, ..Integer::default() };
        assert!(Kernel::new(&load, &Resources::here(Path::new("/"))).is_err());
    }
}
