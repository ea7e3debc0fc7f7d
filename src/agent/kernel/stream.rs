//! Copy, scale, add and triad over arrays that no cache holds: a variant of STREAM, with its way of counting bytes, of taking the best pass, and of checking the result.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::threads::{Gate, choose, each};
use super::{Description, KernelError, Measured, Stop, Takes};
use crate::agent::meter::{Lane, Lanes, Meter};
use crate::agent::resources::Resources;
use crate::vocab::event::{MeterSpec, Phase};
use crate::vocab::figure::Figure;
use crate::vocab::moment::Span;
use crate::vocab::plan::Stream;
use crate::vocab::size::ByteSize;
use crate::vocab::unit::Unit;

const SMALLEST_ARRAY: u64 = 64 << 20;
const SCALAR: f64 = 3.0;

/// The values every element has before the first pass.
const FRESH: [f64; 3] = [1.0, 2.0, 0.0];

/// Elements between two additions to the meter: 1 MiB where 16 bytes an element are counted.
const CHUNK: usize = 1 << 16;

/// Passes of an iteration go on at least this long.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// A pass makes values 15 times larger; so many still fit an f64.
const MOST_PASSES: usize = 200;

/// Average relative error that STREAM allows an array of f64.
const TOLERANCE: f64 = 1e-13;

/// The four operations: name of the figure, bytes counted an element, what is done to a chunk of a, b and c.
const OPERATIONS: [(&str, u64, Operation); 4] = [
    ("copy_mb_per_s", 16, |a, _, c| blocks(c, a, a, |a, _| a)),
    ("scale_mb_per_s", 16, |_, b, c| blocks(b, c, c, |c, _| SCALAR * c)),
    ("add_mb_per_s", 24, |a, b, c| blocks(c, a, b, |a, b| a + b)),
    ("triad_mb_per_s", 24, |a, b, c| blocks(a, b, c, |b, c| b + SCALAR * c)),
];

type Operation = fn(&mut [f64], &mut [f64], &mut [f64]);

/// Moves memory.
pub(super) struct Kernel {
    array: u64,
    why: String,
    memory: u64,
    cpus: Vec<usize>,
    slices: Vec<Slices>,
}

/// One thread's part of the three arrays.
#[derive(Default)]
struct Slices {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

/// When one thread began and ended each operation of each pass.
type Times = Vec<[(Instant, Instant); 4]>;

/// What the threads of an iteration share.
struct Team<'a> {
    gate: Gate,
    again: AtomicBool,
    start: Instant,
    stop: &'a Stop,
}

impl Kernel {
    pub(super) fn new(load: &Stream, node: &Resources) -> Result<Self, KernelError> {
        let cpus = choose(&node.cpus, load.threads);
        let (array, why) = match (load.array, node.caches) {
            (Some(ByteSize(bytes)), _) => (bytes, "as the plan says".to_owned()),
            (None, Some(caches)) if caches * 4 > SMALLEST_ARRAY => {
                (caches * 4, format!("4 x the last-level caches ({})", ByteSize(caches)))
            }
            (None, Some(caches)) => {
                (SMALLEST_ARRAY, format!("the least taken; 4 x the last-level caches ({}) is less", ByteSize(caches)))
            }
            (None, None) => (SMALLEST_ARRAY, "the least taken: the caches' sizes are unknown here".to_owned()),
        };
        if array / 8 < cpus.len() as u64 {
            return Err(KernelError::Unavailable(format!(
                "an array of {array} B is nothing for {} threads",
                cpus.len()
            )));
        }
        Ok(Self { array: array / 8 * 8, why, memory: node.memory, cpus, slices: Vec::new() })
    }

    /// Elements of one thread's slice; the first threads take what is left over.
    fn elements(&self, thread: usize) -> usize {
        let (all, threads) = ((self.array / 8) as usize, self.cpus.len());
        all / threads + usize::from(thread < all % threads)
    }

    fn figures(&self, times: &[Times]) -> Vec<Figure> {
        let passes = times.iter().map(Vec::len).min().unwrap_or(0);
        let figure = |(op, (name, bytes, _)): (usize, &(&str, u64, Operation))| {
            let seconds = (0..passes).filter_map(|pass| took(times, pass, op)).fold(f64::INFINITY, f64::min);
            Figure::new(name, (bytes * self.array / 8) as f64 / seconds / 1e6, Unit::MegabytesPerSecond)
        };
        OPERATIONS.iter().enumerate().map(figure).collect()
    }
}

impl super::Kernel for Kernel {
    fn takes(&self) -> Takes {
        Takes { memory: 3 * self.array, time: Span::seconds(1), loads: true, ..Takes::default() }
    }

    fn describe(&self) -> Description {
        let labels = [
            ("threads", self.cpus.len().to_string()),
            ("array", ByteSize(self.array).to_string()),
            ("array_because", self.why.clone()),
            ("note", "based on a variant of the STREAM benchmark code".to_owned()),
        ];
        Description {
            meters: vec![MeterSpec {
                name: "mb_per_s".to_owned(),
                unit: Unit::MegabytesPerSecond,
                // The four operations have rates of their own.
                level: false,
                figure: Some("triad_mb_per_s".to_owned()),
            }],
            lanes: Lanes { threads: self.cpus.len(), depth: 0, timed: false },
            labels: labels.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<BTreeMap<_, _>>(),
            command: format!(
                "OMP_NUM_THREADS={} OMP_PROC_BIND=true stream_c.exe  # N={}",
                self.cpus.len(),
                self.array / 8
            ),
            bound: Some(super::Ceiling::Memory),
        }
    }

    fn prepare(&mut self, _: &Meter, stop: &Stop) -> Result<(), KernelError> {
        let sizes: Vec<usize> = (0..self.cpus.len()).map(|t| self.elements(t)).collect();
        let gate = Gate::new(sizes.len());
        let slices = each(&self.cpus, &gate, sizes, |_, elements| Slices::new(elements, stop))?;
        self.slices = slices.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| {
            let mib = |bytes: u64| bytes >> 20;
            KernelError::Unavailable(format!("needs {} MiB, can have {} MiB", mib(3 * self.array), mib(self.memory)))
        })?;
        stop.check()
    }

    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError> {
        meter.phase(Phase::Ramp);
        let parts: Vec<&mut Slices> = self.slices.iter_mut().collect();
        each(&self.cpus, &Gate::new(parts.len()), parts, |_, slices| slices.refresh(stop))?;
        stop.check()?;
        meter.phase(Phase::Measure);
        let parts: Vec<&mut Slices> = self.slices.iter_mut().collect();
        let team = Team { gate: Gate::new(parts.len()), again: AtomicBool::new(true), start: Instant::now(), stop };
        let times = each(&self.cpus, &team.gate, parts, |i, slices| passes(i, slices, meter.lane(i), &team))?;
        stop.check()?;
        meter.phase(Phase::Verify);
        let passes = times.iter().map(Vec::len).min().unwrap_or(0);
        let parts: Vec<&Slices> = self.slices.iter().collect();
        let checked =
            each(&self.cpus, &Gate::new(parts.len()), parts, |i, slices| slices.verify(passes, self.cpus[i]))?;
        checked.into_iter().collect::<Result<Vec<()>, _>>()?;
        Ok(Measured { figures: self.figures(&times), latency: None })
    }
}

impl Slices {
    /// Touches all of its memory, so that the pages lie near the CPU it is called on; none when memory is refused.
    fn new(elements: usize, stop: &Stop) -> Option<Self> {
        let mut new = Self::default();
        for array in [&mut new.a, &mut new.b, &mut new.c] {
            array.try_reserve_exact(elements).ok()?;
        }
        for (array, value) in [&mut new.a, &mut new.b, &mut new.c].into_iter().zip(FRESH) {
            while array.len() < elements && !stop.asked() {
                array.resize((array.len() + CHUNK).min(elements), value);
            }
        }
        Some(new)
    }

    fn refresh(&mut self, stop: &Stop) {
        for (array, value) in [&mut self.a, &mut self.b, &mut self.c].into_iter().zip(FRESH) {
            array.chunks_mut(CHUNK).take_while(|_| !stop.asked()).for_each(|chunk| chunk.fill(value));
        }
    }

    /// Holds every element against the values that so many passes must give.
    fn verify(&self, passes: usize, cpu: usize) -> Result<(), KernelError> {
        let expected = expected(passes);
        for (name, (array, value)) in "abc".chars().zip([&self.a, &self.b, &self.c].into_iter().zip(expected)) {
            let error: f64 = array.iter().map(|x| (x - value).abs()).sum::<f64>() / array.len().max(1) as f64;
            let relative = error / if value == 0.0 { 1.0 } else { value.abs() };
            if relative.is_nan() || relative > TOLERANCE {
                return Err(KernelError::Corrupt(format!(
                    "array {name} of CPU {cpu} is off by {relative:.3e} on average after {passes} passes, over {TOLERANCE:e}"
                )));
            }
        }
        Ok(())
    }
}

/// Passes of one thread until thread 0 has had enough; incomplete when stopped.
fn passes(thread: usize, slices: &mut Slices, lane: &Lane, team: &Team<'_>) -> Times {
    let mut times = Times::new();
    while times.len() < MOST_PASSES {
        let mut pass = [(team.start, team.start); 4];
        for (slot, (_, bytes, operation)) in pass.iter_mut().zip(OPERATIONS) {
            if !team.gate.pass() {
                return times;
            }
            let start = Instant::now();
            let chunks = slices.a.chunks_mut(CHUNK).zip(slices.b.chunks_mut(CHUNK)).zip(slices.c.chunks_mut(CHUNK));
            for ((a, b), c) in chunks {
                operation(a, b, c);
                lane.add(0, bytes * a.len() as u64);
            }
            *slot = (start, Instant::now());
            if team.stop.asked() {
                team.gate.destroy();
            }
        }
        times.push(pass);
        if thread == 0 {
            team.again.store(team.start.elapsed() < LONG_ENOUGH, Relaxed);
        }
        // Nobody may read thread 0's decision before it is made, nor go on after it on an older one.
        if !team.gate.pass() || !team.again.load(Relaxed) {
            return times;
        }
    }
    times
}

/// Seconds that an operation of a pass took: from the first thread's begin to the last one's end.
fn took(times: &[Times], pass: usize, op: usize) -> Option<f64> {
    let begin = times.iter().filter_map(|t| t.get(pass)).map(|ops| ops[op].0).min()?;
    let end = times.iter().filter_map(|t| t.get(pass)).map(|ops| ops[op].1).max()?;
    Some((end - begin).as_secs_f64())
}

/// `to[i] = f(x[i], y[i])`, with ordinary stores.
///
/// Each 128 bytes are used up by an opaque reader: the loop is then neither elided nor turned into calls of `memcpy`, whose
/// stores past the caches would make copy another operation than the other three.
#[inline]
fn blocks(to: &mut [f64], x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) {
    const BLOCK: usize = 16;
    let rest = to.len() / BLOCK * BLOCK;
    for ((to, x), y) in to.chunks_exact_mut(BLOCK).zip(x.chunks_exact(BLOCK)).zip(y.chunks_exact(BLOCK)) {
        for i in 0..BLOCK {
            to[i] = f(x[i], y[i]);
        }
        black_box(to.as_mut_ptr());
    }
    for i in rest..to.len() {
        to[i] = f(x[i], y[i]);
    }
}

/// The values of a, b and c after so many passes, by the same arithmetic on single numbers.
fn expected(passes: usize) -> [f64; 3] {
    let [mut a, mut b, mut c] = FRESH;
    for _ in 0..passes {
        c = a;
        b = SCALAR * c;
        c = a + b;
        a = b + SCALAR * c;
    }
    [a, b, c]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Kernel as _;
    use super::*;
    use crate::agent::voice::Voice;

    fn node() -> Resources {
        Resources::here(Path::new("/"))
    }

    fn small(elements: u64) -> Kernel {
        let load = Stream { array: Some(ByteSize(elements * 8)), threads: Some(2) };
        Kernel::new(&load, &node()).unwrap()
    }

    fn ready(kernel: &mut Kernel) -> Meter {
        let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
        kernel.prepare(&meter, &Stop::default()).unwrap();
        meter
    }

    #[test]
    fn four_figures_and_the_bytes_that_stream_counts() {
        let mut kernel = small(100_001);
        let meter = ready(&mut kernel);
        let measured = kernel.iterate(&meter, &Stop::default()).unwrap();
        let names: Vec<&str> = measured.figures.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["copy_mb_per_s", "scale_mb_per_s", "add_mb_per_s", "triad_mb_per_s"]);
        assert!(measured.figures.iter().all(|f| f.value.is_finite() && f.value > 10.0));
        let done = meter.read(crate::clock::now(), false).done[0];
        assert!(done > 0 && done.is_multiple_of(100_001 * 80), "{done} is no whole number of passes");
    }

    #[test]
    fn every_iteration_verifies_and_a_changed_element_is_found() {
        let mut kernel = small(1000);
        let meter = ready(&mut kernel);
        kernel.iterate(&meter, &Stop::default()).unwrap();
        kernel.iterate(&meter, &Stop::default()).unwrap();
        let mut slices = Slices::new(1000, &Stop::default()).unwrap();
        assert_eq!(slices.verify(0, 0), Ok(()));
        slices.b[437] += 1e-9;
        assert!(matches!(slices.verify(0, 3), Err(KernelError::Corrupt(why)) if why.starts_with("array b of CPU 3")));
        slices.b[437] = f64::NAN;
        assert!(slices.verify(0, 0).is_err());
        slices.refresh(&Stop::default());
        assert!(slices.verify(0, 0).is_ok() && slices.verify(1, 0).is_err());
    }

    #[test]
    fn operations_reach_elements_behind_the_last_block() {
        let mut arrays = Slices::new(67, &Stop::default()).unwrap();
        for (_, _, operation) in OPERATIONS {
            operation(&mut arrays.a, &mut arrays.b, &mut arrays.c);
        }
        assert_eq!(arrays.verify(1, 0), Ok(()));
        assert_eq!(expected(1), [15.0, 3.0, 4.0]);
        assert!(expected(MOST_PASSES)[0].is_finite());
    }

    #[test]
    fn arrays_are_sized_by_the_caches_and_it_is_said() {
        let at = |caches| Kernel::new(&Stream::default(), &Resources { caches, ..node() }).unwrap();
        assert_eq!(at(Some(100 << 20)).array, 400 << 20);
        assert_eq!(at(Some(1 << 20)).array, 64 << 20);
        assert_eq!(at(None).array, 64 << 20);
        assert!(at(None).describe().labels["array_because"].contains("unknown"));
    }

    #[test]
    fn refused_memory_and_a_stop_are_said() {
        let mut kernel = small(1 << 50);
        let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
        let refused = kernel.prepare(&meter, &Stop::default());
        assert!(matches!(refused, Err(KernelError::Unavailable(why)) if why.starts_with("needs")));
        let mut kernel = small(10_000);
        let meter = ready(&mut kernel);
        let stop = Stop::default();
        stop.ask();
        assert_eq!(kernel.iterate(&meter, &stop), Err(KernelError::Stopped));
    }
}
