//! No work at all: plays a given behaviour on the meters, to test everything that watches them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Description, KernelError, Measured, Stop, Takes};
use crate::agent::meter::{Lanes, Meter};
use crate::clock::now;
use crate::vocab::event::{MeterSpec, Phase};
use crate::vocab::figure::Figure;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::official;
use crate::vocab::plan::{Shape, Synthetic};
use crate::vocab::random::normal;
use crate::vocab::size::ByteSize;
use crate::vocab::unit::{Quantity, Unit, short};

/// Between two additions to the meter; short against the 100 ms of a reading.
const TICK: Duration = Duration::from_millis(5);

/// How long one draw of the noise lasts: one reading of the meters.
const READING: Span = Span::milliseconds(100);

/// Memory is eaten in mouthfuls of this size.
const MOUTHFUL: usize = 16 << 20;

/// Plays a shape.
pub(super) struct Kernel {
    load: Synthetic,
    name: String,
    noise: Noise,
    /// Things done since the start of the run.
    done: f64,
    eaten: Vec<Vec<u8>>,
}

/// What an iteration keeps account of.
struct Play {
    start: Moment,
    last: Moment,
    /// Things that are done but not yet whole.
    part: f64,
    /// Whole things added to the meter.
    added: u64,
    /// The same, by an independent account.
    checksum: u64,
    stalled: bool,
}

/// A normal deviate, drawn anew for every reading.
struct Noise {
    state: u64,
    until: Moment,
    factor: f64,
}

impl Kernel {
    pub(super) fn new(load: &Synthetic, seed: u64) -> Result<Self, KernelError> {
        let name = official::played(load.rate.unit).ok_or_else(|| {
            let wanted = "expected one in MB/s, IOPS, GFLOPS, events/s or op/s";
            KernelError::Unavailable(format!("`{}` is no rate to play; {wanted}", load.rate))
        })?;
        if let Shape::Collapse { to, .. } = load.shape
            && to.unit != load.rate.unit
        {
            return Err(KernelError::Unavailable(format!("`{to}` and `{}` have different units", load.rate)));
        }
        let noise = Noise { state: seed, until: Moment(0), factor: 1.0 };
        Ok(Self { load: load.clone(), name, noise, done: 0.0, eaten: Vec::new() })
    }

    /// Things a second at `at`, since the start of the iteration, without noise.
    fn rate(&self, at: Span) -> f64 {
        let things = |rate: Quantity| rate.value * rate.unit.things();
        let healthy = things(self.load.rate);
        match &self.load.shape {
            Shape::Collapse { after, to } if self.done >= after.0 as f64 => things(*to),
            Shape::Stall { after, lasting } if (after.0..after.0 + lasting.0).contains(&at.0) => 0.0,
            Shape::Drift { to } => {
                healthy * (1.0 + (to - 1.0) * (at.as_seconds() / self.load.time.as_seconds()).min(1.0))
            }
            Shape::Oscillate { low, period } if at.0 % period.0.max(1) >= period.0 / 2 => healthy * low,
            _ => healthy,
        }
    }

    /// One tick's worth of work. The tick in which a collapse begins does the work before it only.
    fn work(&mut self, play: &mut Play, meter: &Meter, now: Moment) {
        let at = now.since(play.start);
        let rate = self.rate(at) * self.noise.factor(self.load.noise, now);
        let mut things = rate * now.since(play.last).as_seconds();
        if let Shape::Collapse { after, .. } = self.load.shape
            && self.done < after.0 as f64
        {
            things = things.min(after.0 as f64 - self.done);
        }
        play.last = now;
        self.done += things;
        play.part += things;
        let whole = play.part.floor();
        play.part -= whole;
        meter.lane(0).add(0, whole as u64);
        play.added += whole as u64;
        play.checksum = play.checksum.wrapping_sub(whole as u64);
        let stalled = matches!(self.load.shape, Shape::Stall { .. }) && rate == 0.0;
        if !stalled {
            meter.lane(0).end(0);
        }
        if !(stalled && play.stalled) {
            meter.lane(0).begin(0, now);
        }
        play.stalled = stalled;
    }

    /// What a shape does besides setting the rate.
    fn misbehave(&mut self, at: Span) -> Result<(), KernelError> {
        match self.load.shape {
            Shape::Fail { after } if at >= after => Err(KernelError::Broken("told to fail".to_owned())),
            Shape::Hang { after } if at >= after => loop {
                std::thread::sleep(Duration::from_secs(1));
            },
            Shape::EatMemory { upto } if self.mouthfuls() < upto.0 => self.eat(),
            _ => Ok(()),
        }
    }

    fn mouthfuls(&self) -> u64 {
        (self.eaten.len() * MOUTHFUL) as u64
    }

    fn eat(&mut self) -> Result<(), KernelError> {
        let mut mouthful = Vec::new();
        if mouthful.try_reserve_exact(MOUTHFUL).is_err() {
            return Err(KernelError::Broken(format!("memory was refused after {}", ByteSize(self.mouthfuls()))));
        }
        // Not zero, which could stay a page that nobody has touched.
        mouthful.resize(MOUTHFUL, 1);
        self.eaten.push(mouthful);
        Ok(())
    }

    fn play(&mut self, meter: &Meter, stop: &Stop) -> Result<Play, KernelError> {
        let start = now();
        let mut play = Play { start, last: start, part: 0.0, added: 0, checksum: 0, stalled: false };
        meter.lane(0).begin(0, start);
        loop {
            std::thread::sleep(TICK);
            stop.check()?;
            let now = now();
            let at = now.since(start);
            self.work(&mut play, meter, now);
            self.misbehave(at)?;
            if at >= self.load.time {
                return Ok(play);
            }
        }
    }
}

/// A shape as a person would say it.
fn words(shape: &Shape) -> String {
    match shape {
        Shape::Level => "level".to_owned(),
        Shape::Collapse { after, to } => {
            format!("falls to {to} after {}", short(Quantity::new(after.0 as f64, Unit::Bytes)))
        }
        Shape::Stall { after, lasting } => format!("stalls after {after} for {lasting}"),
        Shape::Drift { to } => format!("drifts to {} %", to * 100.0),
        Shape::Oscillate { low, period } => format!("swings to {} % every {period}", low * 100.0),
        Shape::Fail { after } => format!("fails after {after}"),
        Shape::Hang { after } => format!("hangs after {after}"),
        Shape::EatMemory { upto } => format!("eats memory up to {upto}"),
        Shape::Lie => "lies about its sum".to_owned(),
    }
}

impl super::Kernel for Kernel {
    /// Eaten memory is not announced: a runaway does not announce it either.
    fn takes(&self) -> Takes {
        Takes { time: self.load.time, ..Takes::default() }
    }

    fn describe(&self) -> Description {
        let labels = BTreeMap::from([
            ("engine".to_owned(), "none: no work is done".to_owned()),
            ("shape".to_owned(), words(&self.load.shape)),
        ]);
        Description {
            meters: vec![MeterSpec::new(&self.name, self.load.rate.unit, true)],
            lanes: Lanes { threads: 1, depth: 1, timed: false },
            labels,
            command: String::new(),
            cpus: Vec::new(),
            bound: None,
        }
    }

    fn prepare(&mut self, _: &Meter, stop: &Stop) -> Result<(), KernelError> {
        stop.check()
    }

    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError> {
        meter.phase(Phase::Measure);
        let played = self.play(meter, stop);
        meter.lane(0).end(0);
        let mut play = played?;
        meter.phase(Phase::Verify);
        if self.load.shape == Shape::Lie {
            play.checksum ^= 1;
        }
        verify(&play)?;
        let rate = play.added as f64 / play.last.since(play.start).as_seconds();
        let unit = self.load.rate.unit;
        Ok(Measured { figures: vec![Figure::new(&self.name, rate / unit.things(), unit)], latency: None })
    }
}

fn verify(play: &Play) -> Result<(), KernelError> {
    let expected = play.added.wrapping_neg();
    if play.checksum == expected {
        return Ok(());
    }
    Err(KernelError::Corrupt(format!("the checksum is {:016x}, where {expected:016x} is right", play.checksum)))
}

impl Noise {
    /// The factor of the reading that `now` lies in; never negative.
    fn factor(&mut self, deviation: f64, now: Moment) -> f64 {
        if deviation > 0.0 && now >= self.until {
            self.until = now + READING;
            self.factor = (1.0 + deviation * normal(&mut self.state)).max(0.0);
        }
        self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kernel as _;
    use super::*;
    use crate::agent::voice::Voice;

    fn kernel(rate: &str, milliseconds: u64, shape: Shape) -> (Kernel, Meter) {
        let time = Span::milliseconds(milliseconds);
        let load = Synthetic { rate: rate.parse().unwrap(), time, shape, noise: 0.0 };
        let kernel = Kernel::new(&load, 7).unwrap();
        let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
        (kernel, meter)
    }

    fn figure(rate: &str, shape: Shape) -> f64 {
        let (mut kernel, meter) = kernel(rate, 120, shape);
        kernel.iterate(&meter, &Stop::default()).unwrap().figures[0].value
    }

    #[test]
    fn each_shape_has_its_mean() {
        // Where others keep the CPUs busy a tick comes late, and an iteration of 120 ms has few.
        let near = |rate: &str, shape: Shape, wanted: f64| {
            let tries: Vec<f64> = (0..5).map(|_| figure(rate, shape.clone())).collect();
            assert!(tries.iter().any(|value| (value / wanted - 1.0).abs() < 0.25), "{tries:?}, not {wanted}");
        };
        near("100 MB/s", Shape::Level, 100.0);
        near("2 GFLOPS", Shape::Level, 2.0);
        near("100 MB/s", Shape::Drift { to: 0.5 }, 75.0);
        near("1000 IOPS", Shape::Oscillate { low: 0.5, period: Span::milliseconds(20) }, 750.0);
        near("1000 op/s", Shape::Stall { after: Span::milliseconds(30), lasting: Span::milliseconds(60) }, 500.0);
    }

    #[test]
    fn a_collapse_counts_the_work_of_the_whole_run() {
        let to = "1 MB/s".parse().unwrap();
        let (mut kernel, meter) = kernel("100 MB/s", 60, Shape::Collapse { after: ByteSize(6_600_000), to });
        let first = kernel.iterate(&meter, &Stop::default()).unwrap().figures[0].value;
        let second = kernel.iterate(&meter, &Stop::default()).unwrap().figures[0].value;
        assert!(first > 60.0 && second < 20.0, "{first}, then {second}");
        let done = meter.read(now(), false).done[0];
        assert!((6_600_000..6_900_000).contains(&done), "{done}");
    }

    #[test]
    fn a_stall_leaves_an_operation_in_flight() {
        let stall = Shape::Stall { after: Span::ZERO, lasting: Span::seconds(60) };
        let (mut kernel, meter) = kernel("1000 IOPS", 10_000, stall);
        let stop = Stop::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(80));
                let read = meter.read(now(), false);
                assert!(read.oldest.unwrap() > Span::milliseconds(50) && read.done[0] == 0, "{read:?}");
                stop.ask();
            });
            assert_eq!(kernel.iterate(&meter, &stop), Err(KernelError::Stopped));
        });
    }

    #[test]
    fn faults_are_what_they_say() {
        let outcome = |shape| {
            let (mut kernel, meter) = kernel("1 MB/s", 30, shape);
            kernel.iterate(&meter, &Stop::default())
        };
        assert_eq!(outcome(Shape::Fail { after: Span::ZERO }), Err(KernelError::Broken("told to fail".to_owned())));
        assert!(matches!(outcome(Shape::Lie), Err(KernelError::Corrupt(_))));
        assert!(outcome(Shape::EatMemory { upto: ByteSize(32 << 20) }).is_ok());
    }

    #[test]
    fn noise_has_its_deviation_and_its_seed() {
        let draw = |seed| {
            let mut noise = Noise { state: seed, until: Moment(0), factor: 1.0 };
            (0..2000).map(|i| noise.factor(0.05, Moment(i * READING.0 + 1))).collect::<Vec<f64>>()
        };
        let factors = draw(3);
        let mean = factors.iter().sum::<f64>() / 2000.0;
        let deviation = (factors.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / 2000.0).sqrt();
        assert!((mean - 1.0).abs() < 0.005 && (deviation - 0.05).abs() < 0.005, "{mean} {deviation}");
        assert!(draw(3) == factors && draw(4) != factors);
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        let load = |rate: &str, shape| Synthetic { rate: rate.parse().unwrap(), time: Span(1), shape, noise: 0.0 };
        assert!(Kernel::new(&load("5 %", Shape::Level), 1).is_err());
        let to = "3 IOPS".parse().unwrap();
        assert!(Kernel::new(&load("5 MB/s", Shape::Collapse { after: ByteSize(1), to }), 1).is_err());
    }
}
