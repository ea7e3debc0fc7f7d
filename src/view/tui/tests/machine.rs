//! Machines of any size, by the counters that their agent would read.

use crate::analysis::state::State;
use crate::vocab::event::{Described, Event, Record, Sample, SampleKind};
use crate::vocab::moment::Moment;
use crate::vocab::name::NodeName;
use crate::vocab::unit::Unit;

/// When the first reading is made, in seconds.
const FIRST: u64 = 1_000;

const MB: f64 = 1e6 / 512.0;

/// A node whose counters are told field by field.
pub(super) struct Machine {
    pub(super) state: State,
    described: Vec<Described>,
    values: Vec<f64>,
    rates: Vec<f64>,
    seconds: u64,
    seq: u64,
}

impl Machine {
    pub(super) fn new(state: State) -> Self {
        let seconds = (state.now.0 / 1_000_000 + 1).max(FIRST);
        Self { seq: state.seq, state, described: vec![], values: vec![], rates: vec![], seconds }
    }

    /// A node of so many CPUs, disks and NICs; a few of each are busy.
    pub(super) fn of_size(cpus: usize, disks: usize, nics: usize) -> Self {
        let mut machine = Self::new(State::default());
        machine.cpu("", 0.4 * cpus as f64, cpus as f64);
        for cpu in 0..cpus {
            let busy = [0.0, 0.02, 0.07, 0.4, 0.55, 0.81, 1.0][cpu * 5 % 7];
            machine.cpu(&cpu.to_string(), busy, 1.0);
        }
        for disk in 0..disks {
            machine.disk(&disk_name(disk), if disk % 25 == 1 { disk as f64 + 1.0 } else { 0.0 });
        }
        for nic in 0..nics {
            machine.nic(&format!("eth{nic}"), if nic % 12 == 3 { 10.0 * nic as f64 } else { 0.0 });
        }
        for (resource, some) in [("cpu", 120_000.0), ("memory", 0.0), ("io", 31_000.0)] {
            machine.counter("pressure", resource, "some_us", some);
            machine.counter("pressure", resource, "full_us", some / 4.0);
        }
        for (field, value) in
            [("total", 512e9), ("available", 377e9), ("dirty", 2e9), ("dirty_limit", 8e9), ("writeback", 4e6)]
        {
            machine.gauge("memory", "", field, value);
        }
        machine.counter("self", "", "cpu_seconds", 0.0042);
        machine
    }

    fn field(&mut self, key: (&str, &str, &str), kind: SampleKind, value: f64, rate: f64) {
        let (source, device, field) = key;
        self.described.push(Described {
            id: self.described.len() as u32,
            source: source.to_owned(),
            device: device.to_owned(),
            field: field.to_owned(),
            kind,
            unit: Unit::Count,
        });
        self.values.push(value);
        self.rates.push(rate);
    }

    fn counter(&mut self, source: &str, device: &str, field: &str, rate: f64) {
        self.field((source, device, field), SampleKind::Counter, 1e6, rate);
    }

    pub(super) fn gauge(&mut self, source: &str, device: &str, field: &str, value: f64) {
        self.field((source, device, field), SampleKind::Gauge, value, 0.0);
    }

    pub(super) fn cpu(&mut self, name: &str, busy: f64, of: f64) {
        for (field, rate) in
            [("user", 0.9 * busy), ("system", 0.1 * busy), ("idle", of - busy), ("iowait", 0.0), ("steal", 0.0)]
        {
            self.counter("cpu", name, field, rate);
        }
    }

    /// A disk that reads a third of what it writes, in requests of half a megabyte.
    pub(super) fn disk(&mut self, name: &str, mb: f64) {
        let fields = [
            ("reads", mb * 0.66),
            ("read_sectors", mb / 3.0 * MB),
            ("read_ms", mb * 2.0),
            ("writes", mb * 2.0),
            ("write_sectors", mb * MB),
            ("write_ms", mb * 9.0),
            ("busy_ms", (mb * 20.0).min(1_010.0)),
            ("queue_ms", mb * 11.0),
        ];
        fields.iter().for_each(|(field, rate)| self.counter("disk", name, field, *rate));
    }

    pub(super) fn nic(&mut self, name: &str, mb: f64) {
        for (field, rate) in [("rx_bytes", mb * 1e6), ("tx_bytes", mb * 1e5), ("rx_errors", 0.0), ("tx_errors", 0.0)] {
            self.counter("net", name, field, rate);
        }
        self.counter("net", name, "rx_drops", mb / 100.0);
        self.counter("net", name, "tx_drops", 0.0);
        self.gauge("link", name, "speed", 1_250.0);
    }

    /// A device that does not change any more from now on: an offline CPU.
    pub(super) fn stop(&mut self, source: &str, device: &str) {
        for (described, rate) in self.described.iter().zip(&mut self.rates) {
            if described.source == source && described.device == device {
                *rate = 0.0;
            }
        }
    }

    fn say(&mut self, node: &str, event: Event) {
        self.seq += 1;
        let at = Moment(self.seconds * 1_000_000);
        self.state.apply(&Record { seq: self.seq, at, node: NodeName(node.into()), event });
    }

    /// Lets so many seconds pass, with a reading of everything each.
    pub(super) fn pass(mut self, seconds: u64) -> Self {
        self.say("node07", Event::Described(self.described.clone()));
        for _ in 0..seconds {
            self.seconds += 1;
            let moved =
                self.values.iter_mut().zip(&self.rates).zip(&self.described).filter_map(|((value, rate), d)| {
                    *value += rate;
                    (*rate != 0.0 || d.kind == SampleKind::Gauge).then_some(Sample(d.id, *value))
                });
            let mut values: Vec<Sample> = moved.collect();
            if self.seq <= 2 {
                values = self.described.iter().zip(&self.values).map(|(d, value)| Sample(d.id, *value)).collect();
            }
            self.say("node07", Event::Sampled { of: vec![], values });
        }
        self
    }

    /// Lets so many seconds pass without a reading of anything.
    pub(super) fn hang(mut self, seconds: u64) -> Self {
        self.seconds += seconds;
        self.say("", Event::Tick);
        self
    }
}

/// `sda` to `sdz`, `sdaa` and on.
fn disk_name(number: usize) -> String {
    let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
    let first = (number >= 26).then(|| letter(number / 26 - 1));
    format!("sd{}{}", first.map_or_else(String::new, String::from), letter(number))
}
