//! A node whose counters a test tells, reading by reading, and what the fold made of them.

use shakedown::analysis::state::{Host, State};
use shakedown::vocab::event::{Described, Event, Record, Sample, SampleKind};
use shakedown::vocab::moment::Moment;
use shakedown::vocab::node::{Build, Conditions, Inventory};
use shakedown::vocab::unit::Unit;

/// Where a counter of 32 bits begins again.
pub(crate) const WRAP: f64 = 4_294_967_296.0;

/// A node of which nothing is known.
const INVENTORY: &str = r#"{"host":"n","serial":"NotPresent","product":"NotPresent","cpu":"","cpus":1,"usable_cpus":1,"memory":0,
    "kernel":"","system":"","virtualisation":"NotPresent","disks":[],"nics":[]}"#;

pub(crate) struct Told {
    state: State,
    described: Vec<Described>,
    values: Vec<f64>,
    seconds: f64,
    seq: u64,
}

impl Told {
    /// Fields as `source/device field`, counters of 64 bits unless `32` or `gauge` follows.
    pub(crate) fn new(fields: &[&str]) -> Self {
        let described = fields.iter().enumerate().map(|(id, field)| {
            let words: Vec<&str> = field.split(' ').collect();
            let (source, device) = words[0].split_once('/').unwrap();
            let kind = match words.get(2) {
                Some(&"32") => SampleKind::Counter32,
                Some(&"gauge") => SampleKind::Gauge,
                _ => SampleKind::Counter,
            };
            Described {
                id: id as u32,
                source: source.to_owned(),
                device: device.to_owned(),
                field: words[1].to_owned(),
                kind,
                unit: Unit::Count,
            }
        });
        let mut told = Self {
            state: State::default(),
            described: described.collect(),
            values: vec![0.0; fields.len()],
            seconds: 0.0,
            seq: 0,
        };
        told.say(Event::Described(told.described.clone()));
        told
    }

    fn say(&mut self, event: Event) {
        self.seq += 1;
        let at = Moment((self.seconds * 1e6).round() as u64);
        self.state.apply(&Record { seq: self.seq, at, node: "n".into(), event });
    }

    /// The next full reading, one second later; values that did not change are left out, as the sampler leaves them out.
    pub(crate) fn second(&mut self, values: &[f64]) {
        self.at(self.seconds + 1.0, &[], values);
    }

    /// A full reading one second later in which each field is so much more.
    pub(crate) fn step(&mut self, by: &[f64]) {
        let values: Vec<f64> = self.values.iter().zip(by).map(|(value, by)| value + by).collect();
        self.second(&values);
    }

    pub(crate) fn sleep(&mut self, seconds: f64) {
        self.seconds += seconds;
    }

    /// A reading of the named (all when none is) at a time.
    pub(crate) fn at(&mut self, seconds: f64, of: &[&str], values: &[f64]) {
        self.seconds = seconds;
        let first = self.seq == 1;
        let changed = |(place, value): (usize, &f64)| {
            let known = std::mem::replace(&mut self.values[place], *value);
            (first || known != *value).then_some(Sample(self.described[place].id, *value))
        };
        let values = values.iter().enumerate().filter_map(changed).collect();
        self.say(Event::Sampled { of: of.iter().map(|o| (*o).to_owned()).collect(), values });
    }

    /// Describes everything under numbers from `first` on.
    pub(crate) fn describe_anew(&mut self, first: u32) {
        for (id, described) in (first..).zip(&mut self.described) {
            described.id = id;
        }
        self.values.fill(f64::NAN);
        self.say(Event::Described(self.described.clone()));
    }

    /// The agent starts again, with other numbers.
    pub(crate) fn rejoin(&mut self, first: u32) {
        let inventory: Inventory = serde_json::from_str(INVENTORY).unwrap();
        let (build, conditions) = (Build::this(), Conditions::default());
        self.say(Event::NodeJoined { build, inventory: Box::new(inventory), conditions });
        let values = self.values.clone();
        self.describe_anew(first);
        self.values = values;
    }

    pub(crate) fn host(&self) -> &Host {
        &self.state.nodes[&"n".into()].host
    }

    /// The readings of a row: second and value.
    pub(crate) fn points(&self, device: &str, row: &str) -> Vec<(u64, f64)> {
        let Some(series) = self.host().row(device, row) else { return Vec::new() };
        let points = series.between(Moment(0), Moment(u64::MAX));
        points.iter().map(|p| (p.at.0 / 1_000_000, (p.value * 1e9).round() / 1e9)).collect()
    }

    pub(crate) fn remarks(&self) -> Vec<&str> {
        self.state.remarks.iter().map(|r| r.text.as_str()).collect()
    }
}
