//! Copy, scale, add and triad over arrays that no cache holds: a variant of STREAM, with its way of counting bytes, of taking the
//! best pass, and of checking the result.
//!
//! With ordinary stores, the default, the figures are STREAM's. Non-temporal stores in huge pages show what memory can give, and are
//! another measure: they save the read of each line that is overwritten, which STREAM does not count, and most misses of the TLB.

mod operation;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::area::{self, Area};
use super::pages::{self, Pages};
use super::threads::{Gate, choose, each};
use super::{Description, KernelError, Measured, Stop, Takes};
use crate::agent::meter::{Lane, Lanes, Meter};
use crate::agent::resources::Resources;
use crate::vocab::event::{MeterSpec, Phase};
use crate::vocab::figure::Figure;
use crate::vocab::moment::Span;
use crate::vocab::plan::{Stores, Stream};
use crate::vocab::size::ByteSize;
use crate::vocab::unit::Unit;
use operation::{Operation, SCALAR};

/// The values every element has before the first pass.
const FRESH: [f64; 3] = [1.0, 2.0, 0.0];

/// Elements between two additions to the meter and looks at the stop: 1 MiB where 16 bytes an element are counted.
const CHUNK: usize = 1 << 16;

/// Passes of an iteration go on at least this long.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// STREAM's own number of passes, the first of which it does not count either.
const LEAST_PASSES: usize = 10;

/// A pass makes values 15 times larger; so many still fit an f64.
const MOST_PASSES: usize = 200;

/// Average relative error that STREAM allows an array of f64.
const TOLERANCE: f64 = 1e-13;

/// Moves memory.
pub(super) struct Kernel {
    array: u64,
    why: String,
    stores: Stores,
    memory: u64,
    cpus: Vec<usize>,
    slices: Vec<Slices>,
}

/// One thread's part of the three arrays.
struct Slices([Pages; 3]);

/// When one thread began and ended each operation of each pass.
type Times = Vec<[(Instant, Instant); 4]>;

/// What the threads of an iteration share.
struct Team<'a> {
    gate: Gate,
    again: AtomicBool,
    start: Instant,
    stores: Stores,
    stop: &'a Stop,
}

impl Kernel {
    pub(super) fn new(load: &Stream, node: &Resources) -> Result<Self, KernelError> {
        let cpus = choose(&node.cpus, load.threads.or(Some(node.cpu_threads())))?;
        if let Some(why) = operation::refusal(load.stores) {
            return Err(KernelError::Unavailable(why));
        }
        let Area { bytes: array, why } = area::choose(load.array, node);
        if array / 8 < cpus.len() as u64 {
            return Err(KernelError::Unavailable(format!(
                "an array of {array} B is nothing for {} threads",
                cpus.len()
            )));
        }
        let array = array / 8 * 8;
        Ok(Self { array, why, stores: load.stores, memory: node.memory, cpus, slices: Vec::new() })
    }

    /// Elements of one thread's slice; the first threads take what is left over.
    fn elements(&self, thread: usize) -> usize {
        let (all, threads) = ((self.array / 8) as usize, self.cpus.len());
        all / threads + usize::from(thread < all % threads)
    }

    /// The best pass and the median one of each operation, and the most traffic that memory had; the first pass finds cold caches
    /// and does not count.
    fn figures(&self, times: &[Times]) -> Vec<Figure> {
        let passes = times.iter().map(Vec::len).min().unwrap_or(0);
        let (mut figures, mut bus) = (Vec::new(), 0.0_f64);
        let mut put = |name: String, value| figures.push(Figure::new(&name, value, Unit::MegabytesPerSecond));
        for (op, operation) in Operation::ALL.into_iter().enumerate() {
            let mut seconds: Vec<f64> = (1..passes).filter_map(|pass| took(times, pass, op)).collect();
            seconds.sort_by(f64::total_cmp);
            let [Some(best), Some(median)] = [seconds.first(), seconds.get(seconds.len() / 2)] else { continue };
            let rate = |bytes: u64, seconds: &f64| (bytes * (self.array / 8)) as f64 / seconds / 1e6;
            put(format!("{}_mb_per_s", operation.name()), rate(operation.counted(), best));
            put(format!("{}_median_mb_per_s", operation.name()), rate(operation.counted(), median));
            bus = bus.max(rate(operation.moved(self.stores), best));
        }
        // Reckoned, not counted by the memory controller: a CPU that turns some of its stores into ones without a read first
        // (Intel's SpecI2M, since Ice Lake) moves up to a third less.
        put("bus_mb_per_s".to_owned(), bus);
        figures
    }

    fn needs(&self) -> u64 {
        self.array.saturating_mul(3)
    }

    fn stores_label(&self) -> &'static str {
        match self.stores {
            Stores::Regular => "stores regular",
            Stores::NonTemporal => "stores non-temporal, huge pages; not comparable with STREAM's regular stores",
        }
    }
}

impl super::Kernel for Kernel {
    fn takes(&self) -> Takes {
        Takes { memory: self.needs(), time: Span::seconds(1), loads: true, ..Takes::default() }
    }

    fn describe(&self) -> Description {
        let labels = [
            ("threads", self.cpus.len().to_string()),
            ("array", ByteSize(self.array).to_string()),
            ("array_because", self.why.clone()),
            ("stores", self.stores_label().to_owned()),
            ("pages", pages::policy(self.stores == Stores::NonTemporal)),
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
                "OMP_NUM_THREADS={} OMP_PROC_BIND=true stream_c.exe  # N={}{}",
                self.cpus.len(),
                self.array / 8,
                if self.stores == Stores::NonTemporal { "; it has regular stores, and is not comparable" } else { "" }
            ),
            cpus: self.cpus.clone(),
            bound: Some(super::Ceiling::Memory),
        }
    }

    fn prepare(&mut self, meter: &Meter, stop: &Stop) -> Result<(), KernelError> {
        let sizes: Vec<usize> = (0..self.cpus.len()).map(|t| self.elements(t)).collect();
        let (gate, huge) = (Gate::new(sizes.len()), self.stores == Stores::NonTemporal);
        let slices = each(&self.cpus, &gate, sizes, |_, elements| Slices::new(elements, huge, stop))?;
        let slices = slices.into_iter().collect::<Option<Vec<_>>>();
        self.slices = slices.ok_or_else(|| area::refused(self.needs(), self.memory))?;
        if huge {
            meter.note(format!("stores non-temporal: {}", pages::granted(self.needs())));
        }
        stop.check()
    }

    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError> {
        meter.phase(Phase::Ramp);
        let parts: Vec<&mut Slices> = self.slices.iter_mut().collect();
        each(&self.cpus, &Gate::new(parts.len()), parts, |_, slices| slices.refresh(stop))?;
        stop.check()?;
        meter.phase(Phase::Measure);
        let parts: Vec<&mut Slices> = self.slices.iter_mut().collect();
        let (gate, again, start) = (Gate::new(parts.len()), AtomicBool::new(true), Instant::now());
        let team = Team { gate, again, start, stores: self.stores, stop };
        let times = each(&self.cpus, &team.gate, parts, |i, slices| passes(i, slices, meter.lane(i), &team))?;
        stop.check()?;
        meter.phase(Phase::Verify);
        let passes = times.iter().map(Vec::len).min().unwrap_or(0);
        let parts: Vec<&Slices> = self.slices.iter().collect();
        let verify = |i: usize, slices: &Slices| slices.verify(passes, self.cpus[i], stop);
        let checked = each(&self.cpus, &Gate::new(parts.len()), parts, verify)?;
        checked.into_iter().collect::<Result<Vec<()>, _>>()?;
        stop.check()?;
        Ok(Measured { figures: self.figures(&times), latency: None })
    }
}

impl Slices {
    /// Touches all of its memory, so that the pages lie near the CPU it is called on; none when memory is refused.
    fn new(elements: usize, huge: bool, stop: &Stop) -> Option<Self> {
        let array = || Pages::new(elements.checked_mul(size_of::<f64>())?, 64, huge);
        let mut new = Self([array()?, array()?, array()?]);
        new.refresh(stop);
        Some(new)
    }

    fn refresh(&mut self, stop: &Stop) {
        for (array, value) in self.arrays().into_iter().zip(FRESH) {
            array.chunks_mut(CHUNK).take_while(|_| !stop.asked()).for_each(|chunk| chunk.fill(value));
        }
    }

    fn arrays(&mut self) -> [&mut [f64]; 3] {
        self.0.each_mut().map(Pages::write)
    }

    /// Holds every element against the values that so many passes must give.
    fn verify(&self, passes: usize, cpu: usize, stop: &Stop) -> Result<(), KernelError> {
        for (name, (array, value)) in "abc".chars().zip(self.0.iter().zip(expected(passes))) {
            let array = array.read::<f64>();
            let off = |chunk: &[f64]| chunk.iter().map(|x| (x - value).abs()).sum::<f64>();
            let error: f64 = array.chunks(CHUNK).take_while(|_| !stop.asked()).map(off).sum();
            let relative = error / array.len().max(1) as f64 / if value == 0.0 { 1.0 } else { value.abs() };
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
    let [a, b, c] = slices.arrays();
    while times.len() < MOST_PASSES {
        let mut pass = [(team.start, team.start); 4];
        for (slot, operation) in pass.iter_mut().zip(Operation::ALL) {
            if !team.gate.pass() {
                return times;
            }
            let start = Instant::now();
            for ((a, b), c) in a.chunks_mut(CHUNK).zip(b.chunks_mut(CHUNK)).zip(c.chunks_mut(CHUNK)) {
                operation.run(team.stores, a, b, c);
                lane.add(0, operation.counted() * a.len() as u64);
                if team.stop.asked() {
                    team.gate.destroy();
                    return times;
                }
            }
            *slot = (start, Instant::now());
        }
        times.push(pass);
        if thread == 0 {
            let again = times.len() < LEAST_PASSES || team.start.elapsed() < LONG_ENOUGH;
            team.again.store(again, Relaxed);
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

    fn small(elements: u64, stores: Stores) -> Kernel {
        let load = Stream { array: Some(ByteSize(elements * 8)), threads: Some(2), stores };
        Kernel::new(&load, &node()).unwrap()
    }

    fn ready(kernel: &mut Kernel) -> Meter {
        let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
        kernel.prepare(&meter, &Stop::default()).unwrap();
        meter
    }

    #[test]
    fn best_and_median_of_four_and_the_bytes_that_stream_counts() {
        for stores in [Stores::Regular, Stores::NonTemporal] {
            let mut kernel = small(100_001, stores);
            let meter = ready(&mut kernel);
            let measured = kernel.iterate(&meter, &Stop::default()).unwrap();
            let value = |name: &str| measured.figures.iter().find(|f| f.name == name).unwrap().value;
            for name in ["copy", "scale", "add", "triad"] {
                let [best, median] = ["", "median_"].map(|kind| value(&format!("{name}_{kind}mb_per_s")));
                assert!(best.is_finite() && best >= median && median > 1.0, "{name}: {best} {median}");
            }
            let more = if stores == Stores::Regular { [1.5, 4.0 / 3.0] } else { [1.0, 1.0] };
            let bus = (value("copy_mb_per_s").max(value("scale_mb_per_s")) * more[0])
                .max(value("add_mb_per_s").max(value("triad_mb_per_s")) * more[1]);
            assert!((value("bus_mb_per_s") / bus - 1.0).abs() < 1e-9);
            let done = meter.read(crate::clock::now(), false).done[0];
            assert!(done > 0 && done.is_multiple_of(100_001 * 80), "{done} is no whole number of passes");
        }
    }

    #[test]
    fn the_first_pass_does_not_count() {
        let kernel = small(1000, Stores::Regular);
        let at = Instant::now();
        let pass = |ms: u64| [(at, at + Duration::from_millis(ms)); 4];
        let figures =
            kernel.figures(&[vec![pass(1), pass(8), pass(2), pass(4)], vec![pass(1), pass(8), pass(2), pass(4)]]);
        let value = |name: &str| figures.iter().find(|f| f.name == name).unwrap().value;
        assert!((value("triad_mb_per_s") - 12.0).abs() < 1e-9 && (value("triad_median_mb_per_s") - 6.0).abs() < 1e-9);
        assert!((value("copy_mb_per_s") - 8.0).abs() < 1e-9 && (value("bus_mb_per_s") - 16.0).abs() < 1e-9);
    }

    #[test]
    fn every_iteration_verifies_and_a_changed_element_is_found() {
        let (mut kernel, on) = (small(1000, Stores::NonTemporal), Stop::default());
        let meter = ready(&mut kernel);
        kernel.iterate(&meter, &on).unwrap();
        kernel.iterate(&meter, &on).unwrap();
        let mut slices = Slices::new(1000, false, &on).unwrap();
        assert_eq!(slices.verify(0, 0, &on), Ok(()));
        slices.arrays()[1][437] += 1e-9;
        let found = slices.verify(0, 3, &on);
        assert!(matches!(found, Err(KernelError::Corrupt(why)) if why.starts_with("array b of CPU 3")));
        slices.arrays()[1][437] = f64::NAN;
        assert!(slices.verify(0, 0, &on).is_err());
        slices.refresh(&on);
        assert!(slices.verify(0, 0, &on).is_ok() && slices.verify(1, 0, &on).is_err());
    }

    #[test]
    fn what_is_expected_is_what_the_operations_do() {
        let (mut slices, on) = (Slices::new(67, false, &Stop::default()).unwrap(), Stop::default());
        let [a, b, c] = slices.arrays();
        Operation::ALL.iter().for_each(|operation| operation.run(Stores::Regular, a, b, c));
        assert_eq!(slices.verify(1, 0, &on), Ok(()));
        assert_eq!(expected(1), [15.0, 3.0, 4.0]);
        assert!(expected(MOST_PASSES)[0].is_finite());
    }

    #[test]
    fn what_is_not_comparable_says_so() {
        let [usual, past] = [Stores::Regular, Stores::NonTemporal].map(|stores| small(1000, stores).describe());
        assert_eq!(usual.labels["stores"], "stores regular");
        assert!(usual.labels["pages"].starts_with("as the kernel gives them") && !usual.command.contains("not"));
        assert!(past.labels["stores"].starts_with("stores non-temporal, huge pages; not comparable"));
        assert!(past.labels["pages"].starts_with("huge pages asked for") && past.command.ends_with("not comparable"));
    }

    #[test]
    fn refused_memory_and_a_stop_are_said() {
        let mut kernel = small(1 << 50, Stores::Regular);
        let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
        let refused = kernel.prepare(&meter, &Stop::default());
        assert!(matches!(refused, Err(KernelError::Unavailable(why)) if why.starts_with("needs")));
        let mut kernel = small(10_000, Stores::Regular);
        let meter = ready(&mut kernel);
        let stop = Stop::default();
        stop.ask();
        assert_eq!(kernel.iterate(&meter, &stop), Err(KernelError::Stopped));
    }
}
