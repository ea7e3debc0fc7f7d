//! Series that a seed repeats, with labels that say what is to be found in them:
//! `level x shape x (1 + noise)`, a fault or two on top, and counters that fit the cause.
#![allow(dead_code, reason = "each user takes its part of this")]

pub(crate) mod fault;
pub(crate) mod random;
pub(crate) mod sets;

use std::fmt::Write as _;
use std::path::Path;

use fault::{Fault, Label, What};
use random::Random;
use shakedown::analysis::trace::{About, Trace};
use shakedown::vocab::finding::Resource;
use shakedown::vocab::moment::Moment;
use shakedown::vocab::unit::Unit;

/// How samples scatter about the level. `cv` is a coefficient of variation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noise {
    /// Not at all.
    None,
    /// Normally, each by itself.
    Gauss { cv: f64 },
    /// Normally, each resembling the one before by `rho`.
    Autocorrelated { rho: f64, cv: f64 },
    /// As Student's t with three degrees of freedom.
    Heavy { cv: f64 },
    /// One in thirty is 40 % lower.
    Dips { cv: f64 },
    /// One in ten is 15 % lower.
    Bimodal { cv: f64 },
    /// In steps of this share of the level.
    Quantised { cv: f64, step: f64 },
}

/// How the level itself goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// It stays.
    Level,
    /// It comes up exponentially; the time constant in samples.
    Ramp { tau: f64 },
    /// It goes up and down by this share with the time of day.
    Daily { by: f64 },
}

/// When samples come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    /// The share that does not come at all.
    pub(crate) missing: f64,
    /// How much of the time between two samples one may be early or late.
    pub(crate) jitter: f64,
}

/// What a series is made of.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) seed: u64,
    /// Samples a second.
    pub(crate) hertz: f64,
    pub(crate) samples: usize,
    pub(crate) level: f64,
    pub(crate) noise: Noise,
    pub(crate) shape: Shape,
    pub(crate) timing: Timing,
    pub(crate) faults: Vec<Fault>,
    pub(crate) unit: Unit,
    pub(crate) reference: Option<f64>,
    pub(crate) floor: Option<f64>,
    /// Whether it says that an operation is waiting.
    pub(crate) says_in_flight: bool,
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Seconds since the beginning.
    pub(crate) t: f64,
    /// In the unit of the recipe, since the sample before.
    pub(crate) value: f64,
    pub(crate) in_flight: Option<bool>,
}

impl Sample {
    /// Its time on a clock that starts with the series.
    pub(crate) fn at(self) -> Moment {
        Moment((self.t * 1e6).round().max(0.0) as u64)
    }
}

impl Recipe {
    /// What a detector is told beside the samples.
    pub(crate) fn about(&self) -> About {
        let lower_is_better = self.unit.lower_is_better();
        About { unit: self.unit, lower_is_better, reference: self.reference, floor: self.floor }
    }

    /// Its samples, one by one.
    pub(crate) fn play(&self) -> Play<'_> {
        let mut random = Random::new(self.seed);
        let drift = random.normal();
        Play { recipe: self, random, i: 0, drift }
    }

    /// The time between two samples, in seconds.
    pub(crate) fn tick(&self) -> f64 {
        1.0 / self.hertz
    }

    /// What is to be found in it.
    pub(crate) fn labels(&self) -> Vec<Label> {
        self.faults.iter().flat_map(|fault| fault.labels(self.tick())).collect()
    }

    /// Plays it into the detectors, counters included.
    pub(crate) fn trace(&self) -> Trace {
        let mut trace = Trace::new(self.about());
        let mut second = 0.0;
        for sample in self.play() {
            if sample.t >= second {
                second = sample.t.floor() + 1.0;
                self.counters(sample.t).into_iter().for_each(|(name, value)| trace.counter(name, sample.at(), value));
            }
            trace.read(sample.at(), sample.value, sample.in_flight);
        }
        trace.end();
        trace
    }

    /// The host's counters at a time: quiet, and from the onset of a fault with a cause on, loud.
    fn counters(&self, t: f64) -> Vec<(&'static str, f64)> {
        let caused = self.faults.iter().find(|fault| fault.resource.is_some());
        let Some(Fault { resource: Some(resource), at, until, .. }) = caused else { return Vec::new() };
        let is_on = t > *at as f64 * self.tick() && until.is_none_or(|until| t <= until as f64 * self.tick());
        let when = |on: f64, off: f64| if is_on { on } else { off };
        match resource {
            Resource::Steal => vec![("cpu steal", when(35.0, 0.5)), ("cpu busy", 98.0)],
            Resource::Memory => vec![("memory swap", when(40.0, 0.0)), ("pressure/memory full", when(35.0, 0.0))],
            Resource::NetworkPath => vec![("tcp retransmitted", when(4.0, 0.01)), ("cpu busy", when(5.0, 30.0))],
            _ => vec![
                ("disk/vda util", when(100.0, 60.0)),
                ("disk/vda await", when(480.0, 8.0)),
                ("disk/vda queue", when(31.0, 2.0)),
                ("cpu busy", when(4.0, 30.0)),
            ],
        }
    }

    /// Writes `NAME.csv` and `NAME.json`: the series with its counters, and what is to be found in it.
    pub(crate) fn emit(&self, directory: &Path, name: &str) -> std::io::Result<()> {
        std::fs::create_dir_all(directory)?;
        let names: Vec<&str> = self.counters(0.0).into_iter().map(|(name, _)| name).collect();
        let mut csv = format!("{}\n", [&["t_s", "value", "in_flight"], &names[..]].concat().join(","));
        for sample in self.play() {
            let waiting = sample.in_flight.map_or(String::new(), |waits| u8::from(waits).to_string());
            let _ = write!(csv, "{:.6},{},{waiting}", sample.t, sample.value);
            self.counters(sample.t).into_iter().for_each(|(_, value)| csv.push_str(&format!(",{value}")));
            csv.push('\n');
        }
        std::fs::write(directory.join(format!("{name}.csv")), csv)?;
        let label = serde_json::json!({
            "seed": self.seed, "hertz": self.hertz, "unit": self.unit, "reference": self.reference,
            "floor": self.floor, "labels": self.labels(), "recipe": format!("{self:?}"),
        });
        std::fs::write(directory.join(format!("{name}.json")), format!("{label:#}\n"))
    }
}

/// A series being played.
#[derive(Debug)]
pub(crate) struct Play<'a> {
    recipe: &'a Recipe,
    random: Random,
    i: usize,
    /// The state of noise that resembles itself, in standard deviations.
    drift: f64,
}

impl Play<'_> {
    fn noisy(&mut self, level: f64) -> f64 {
        let random = &mut self.random;
        let factor = match self.recipe.noise {
            Noise::None => 1.0,
            Noise::Gauss { cv } => 1.0 + cv * random.normal(),
            Noise::Autocorrelated { rho, cv } => {
                self.drift = rho * self.drift + (1.0 - rho * rho).sqrt() * random.normal();
                1.0 + cv * self.drift
            }
            Noise::Heavy { cv } => 1.0 + cv * random.heavy(),
            Noise::Dips { cv } => (1.0 + cv * random.normal()) * if random.chance(1.0 / 30.0) { 0.6 } else { 1.0 },
            Noise::Bimodal { cv } => (1.0 + cv * random.normal()) * if random.chance(0.1) { 0.85 } else { 1.0 },
            Noise::Quantised { cv, step } => ((1.0 + cv * random.normal()) / step).round() * step,
        };
        // What is healthy always goes on, however long the tail.
        level * factor.max(0.01)
    }

    fn level(&self) -> f64 {
        let recipe = self.recipe;
        match recipe.shape {
            Shape::Level => recipe.level,
            Shape::Ramp { tau } => recipe.level * (1.0 - 0.9 * (-(self.i as f64) / tau).exp()),
            Shape::Daily { by } => {
                let day = self.i as f64 / recipe.hertz / 86_400.0;
                recipe.level * (1.0 + by * (std::f64::consts::TAU * day).sin())
            }
        }
    }
}

impl Iterator for Play<'_> {
    type Item = Sample;

    fn next(&mut self) -> Option<Sample> {
        let recipe = self.recipe;
        loop {
            if self.i >= recipe.samples {
                return None;
            }
            let level = self.level();
            let mut value = self.noisy(level);
            for fault in &recipe.faults {
                value = fault.applied(self.i, value, level, &mut self.random);
            }
            if recipe.unit.lower_is_better() {
                value = inverted(value, level, &recipe.faults);
            }
            let i = self.i;
            self.i += 1;
            if recipe.timing.missing > 0.0 && self.random.chance(recipe.timing.missing) {
                continue;
            }
            let jitter = recipe.timing.jitter;
            let late = if jitter > 0.0 { self.random.between(-jitter, jitter) } else { 0.0 };
            let t = ((i + 1) as f64 + late) / recipe.hertz;
            return Some(Sample { t, value, in_flight: recipe.says_in_flight.then_some(true) });
        }
    }
}

/// Where less is better, a fall is a rise: a rate of a third is three times the latency. Spikes are latencies already.
fn inverted(value: f64, level: f64, faults: &[Fault]) -> f64 {
    let falls = faults.iter().any(|f| matches!(f.what, What::Fall { .. } | What::Drift { .. }));
    if falls && value > 0.0 { level * level / value } else { value }
}
