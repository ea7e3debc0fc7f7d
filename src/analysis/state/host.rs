//! A node's host counters, turned from raw readings into the derived rows.

use std::collections::BTreeMap;

use super::delta::{CPU_STATES, Delta, Field};
use super::rows::ROWS;
use crate::analysis::series::Series;
use crate::vocab::event::{Described, Sample};
use crate::vocab::moment::{Moment, Span};

/// Readings kept of a row as they came: four minutes at one a second.
const RECENT: usize = 240;

/// A reading of the node's CPU time, in seconds since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuSeconds {
    /// Of all CPUs, idle and stolen time included.
    pub all: f64,
    /// Given to others by the hypervisor.
    pub steal: f64,
}

/// A device and its rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    fields: Vec<Field>,
    before: Moment,
    /// The latest reading.
    pub at: Moment,
    /// Its derived series, by index into [`ROWS`].
    pub rows: BTreeMap<usize, Series>,
}

/// The counters of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    places: BTreeMap<u32, (String, usize)>,
    /// By `source/device`.
    pub devices: BTreeMap<String, Device>,
}

impl Host {
    /// Takes in the numbers that stand for series.
    pub(super) fn describe(&mut self, described: &[Described]) {
        for d in described {
            let key = format!("{}/{}", d.source, d.device);
            let device = self.devices.entry(key.clone()).or_default();
            let place = device.fields.iter().position(|f| f.name == d.field).unwrap_or_else(|| {
                device.fields.push(Field { name: d.field.clone(), kind: d.kind, before: None, now: None });
                device.fields.len() - 1
            });
            self.places.insert(d.id, (key, place));
        }
    }

    /// Takes in a reading of the devices `of` (all when empty).
    pub(super) fn sample(&mut self, at: Moment, of: &[String], values: &[Sample]) {
        let read: Vec<String> = if of.is_empty() { self.devices.keys().cloned().collect() } else { of.to_vec() };
        for key in &read {
            if let Some(device) = self.devices.get_mut(key) {
                device.before = device.at;
                device.at = at;
                device.fields.iter_mut().for_each(|f| f.before = f.now);
            }
        }
        for Sample(id, value) in values {
            let Some((key, place)) = self.places.get(id) else { continue };
            if let Some(field) = self.devices.get_mut(key).and_then(|d| d.fields.get_mut(*place)) {
                field.now = Some(*value);
            }
        }
        for key in &read {
            if let Some(device) = self.devices.get_mut(key) {
                device.derive(key);
            }
        }
    }

    /// The node's CPU time; none before it was read.
    #[must_use]
    pub fn cpu_seconds(&self) -> Option<CpuSeconds> {
        let fields = &self.devices.get("cpu/")?.fields;
        let value = |name: &str| fields.iter().find(|f| f.name == name).and_then(|f| f.now);
        value("idle")?;
        let all = CPU_STATES.iter().filter_map(|s| value(s)).sum();
        Some(CpuSeconds { all, steal: value("steal").unwrap_or(0.0) })
    }

    /// A derived series by its device (`disk/vda`) and row name.
    #[must_use]
    pub fn row(&self, device: &str, name: &str) -> Option<&Series> {
        let source = device.split('/').next()?;
        let index = ROWS.iter().position(|r| r.source == source && r.name == name)?;
        self.devices.get(device)?.rows.get(&index)
    }
}

impl Device {
    fn derive(&mut self, key: &str) {
        let source = key.split('/').next().unwrap_or_default();
        // A single CPU needs no more than its load: a machine with 480 of them would fill the memory otherwise.
        let one_cpu = source == "cpu" && key.len() > "cpu/".len();
        let delta = Delta { fields: &self.fields, seconds: self.at.since(self.before).as_seconds() };
        for (index, row) in ROWS.iter().enumerate().filter(|(_, r)| r.source == source) {
            if one_cpu && row.name != "busy" {
                continue;
            }
            if let Some(value) = (row.of)(&delta) {
                let capacity = if one_cpu { RECENT / 4 } else { RECENT };
                self.rows.entry(index).or_insert_with(|| Series::new(capacity, Span::seconds(1))).push(self.at, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::event::SampleKind;
    use crate::vocab::unit::Unit;

    fn described(id: u32, device: &str, field: &str, kind: SampleKind) -> Described {
        let (source, device) = device.split_once('/').unwrap();
        Described { id, source: source.into(), device: device.into(), field: field.into(), kind, unit: Unit::Count }
    }

    #[test]
    fn rates_are_over_the_time_between_the_readings_of_that_device() {
        let mut host = Host::default();
        host.describe(&[described(0, "disk/vda", "write_sectors", SampleKind::Counter)]);
        host.sample(Moment(1_000_000), &[], &[Sample(0, 1_000.0)]);
        assert!(host.row("disk/vda", "write").is_none(), "one reading makes no rate");
        host.sample(Moment(3_000_000), &["disk/vda".into()], &[Sample(0, 5_000.0)]);
        assert_eq!(host.row("disk/vda", "write").unwrap().last().unwrap().value, 4_000.0 * 512.0 / 1e6 / 2.0);
        host.sample(Moment(4_000_000), &[], &[]);
        assert_eq!(host.row("disk/vda", "write").unwrap().last().unwrap().value, 0.0, "left out means unchanged");
    }

    #[test]
    fn a_counter_that_goes_backward_is_a_gap_and_no_spike() {
        let mut host = Host::default();
        host.describe(&[described(0, "net/eth0", "rx_bytes", SampleKind::Counter)]);
        for (second, value) in [(1, 5e9), (2, 100.0), (3, 1_000_100.0)] {
            host.sample(Moment(second * 1_000_000), &[], &[Sample(0, value)]);
        }
        let row = host.row("net/eth0", "rx").unwrap();
        assert_eq!(row.between(Moment(0), Moment(u64::MAX)).len(), 1);
        assert_eq!(row.last().unwrap().value, 1.0);
    }

    #[test]
    fn cpu_shares_add_up_and_a_falling_iowait_takes_nothing() {
        let mut host = Host::default();
        let states = ["user", "idle", "iowait", "steal"];
        let each = states.iter().enumerate();
        host.describe(&each.map(|(i, s)| described(i as u32, "cpu/", s, SampleKind::Counter)).collect::<Vec<_>>());
        let put = |host: &mut Host, at, values: [f64; 4]| {
            let samples: Vec<Sample> = values.iter().enumerate().map(|(i, v)| Sample(i as u32, *v)).collect();
            host.sample(Moment(at), &[], &samples);
        };
        put(&mut host, 1_000_000, [10.0, 100.0, 5.0, 1.0]);
        put(&mut host, 2_000_000, [11.0, 100.5, 4.0, 1.5]);
        let last = |name| host.row("cpu/", name).unwrap().last().unwrap().value;
        assert_eq!((last("busy"), last("iowait"), last("steal")), (50.0, 0.0, 25.0));
    }
}
