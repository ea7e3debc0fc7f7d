//! A node's host counters, turned from raw readings into the derived rows.

use std::collections::BTreeMap;

use super::delta::{CPU_STATES, Step};
use super::device::Device;
use super::rows::{ROWS, rows_of};
use super::sum::Sum;
use crate::analysis::series::Series;
use crate::vocab::event::{Described, Sample};
use crate::vocab::moment::{Moment, Span};

/// More devices of a source than this are a crowd, of which each keeps less.
const CROWD: usize = 16;

/// The links that there are, in MB/s: 1 Mb/s to 10 Tb/s.
const SLOWEST: f64 = 0.125;
const FASTEST: f64 = 1.25e6;

/// The node's CPU time, in seconds since the first reading. Only what was gained is in it: a counter that fell or was reset took nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuSeconds {
    /// Of all CPUs, idle and stolen time included.
    pub all: f64,
    /// Given to others by the hypervisor.
    pub steal: f64,
}

/// The counters of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    places: BTreeMap<u32, (String, usize)>,
    /// By `source/device`; `disk/*` and `net/*` are totals, see [`Host::total_of`].
    pub devices: BTreeMap<String, Device>,
    /// The latest reading of any device.
    pub at: Moment,
    pub(super) sums: BTreeMap<String, Sum>,
    pub(super) ranks: BTreeMap<String, Vec<String>>,
    cpu: Option<CpuSeconds>,
}

impl Host {
    /// Takes in the numbers that stand for series. A name that comes with other numbers is that of another device, which begins anew.
    pub(super) fn describe(&mut self, described: &[Described]) {
        for d in described {
            let key = format!("{}/{}", d.source, d.device);
            if is_made(&key) {
                continue;
            }
            if self.devices.get(&key).is_some_and(|device| device.is_another(d)) {
                self.places.retain(|_, (of, _)| *of != key);
                self.devices.remove(&key);
            }
            if !self.devices.contains_key(&key) {
                let crowd = d.source == "cpu" && !d.device.is_empty() || self.of_source(&d.source).count() >= CROWD;
                self.devices.insert(key.clone(), Device::new(crowd));
            }
            if let Some(device) = self.devices.get_mut(&key) {
                self.places.insert(d.id, (key, device.describe(d)));
            }
        }
    }

    /// An agent has started: its numbers mean what it will say, its counters are read anew. After a restart of the node, whose clock
    /// began again as well, nothing of before can be gone on with.
    pub(super) fn rejoin(&mut self, at: Moment) {
        self.places.clear();
        if at < self.at {
            *self = Self::default();
        }
        self.devices.values_mut().for_each(Device::seed_anew);
    }

    /// Takes in a reading of the devices `of` (all when empty; `disk` is every disk); gives what is to be remarked.
    pub(super) fn sample(&mut self, at: Moment, of: &[String], values: &[Sample]) -> Vec<String> {
        let silent = at.since(self.at);
        let full = of.len() != 1 || !of[0].contains('/');
        let mut read = self.read(of);
        read.retain(|key| self.devices.get_mut(key).is_some_and(|d| d.begin(at)));
        for Sample(id, value) in values {
            if let Some((key, place)) = self.places.get(id)
                && let Some(device) = self.devices.get_mut(key)
            {
                device.take(*place, *value);
            }
        }
        let mut remarks = Vec::new();
        let mut gap: Option<Span> = None;
        for key in &read {
            let wire = key.strip_prefix("net/").and_then(|nic| self.wire(nic));
            if let Some(device) = self.devices.get_mut(key) {
                device.wire(wire);
                if !full {
                    device.single_out();
                }
                device.settle(key, &mut remarks);
                gap = gap.max(device.reading.gap);
            }
            self.sum_up(key);
        }
        // A single device that was not read for a while was away; when nothing was read at all, it was the reader.
        if let Some(gap) = gap.filter(|gap| silent.0 >= gap.0) {
            remarks.push(format!("gap of {:.0} s: the node slept or the agent was stopped", gap.as_seconds()));
        }
        self.at = self.at.max(at);
        if read.iter().any(|key| key == "cpu/") {
            self.spend();
        }
        if full && !read.is_empty() {
            self.miss(&read, at);
            self.conclude(&read, at);
        }
        remarks
    }

    /// The keys of the devices that a reading is of, in order.
    fn read(&self, of: &[String]) -> Vec<String> {
        let all = self.devices.keys().filter(|key| !is_made(key));
        if of.is_empty() {
            return all.cloned().collect();
        }
        let mut names: Vec<&str> = of.iter().map(String::as_str).collect();
        names.sort_unstable();
        let named = |name: &str| names.binary_search(&name).is_ok();
        all.filter(|key| named(key) || key.split_once('/').is_some_and(|(source, _)| named(source))).cloned().collect()
    }

    /// Counts the devices that a reading of others of their source went by without.
    fn miss(&mut self, read: &[String], at: Moment) {
        let mut sources: Vec<&str> = read.iter().filter_map(|key| key.split('/').next()).collect();
        sources.dedup();
        let missed = |key: &String| {
            let source = key.split('/').next().unwrap_or_default();
            read.binary_search(key).is_err() && sources.contains(&source) && !is_made(key)
        };
        for (_, device) in self.devices.iter_mut().filter(|(key, _)| missed(key)) {
            device.miss(at);
        }
    }

    /// Adds up the CPU time of the latest reading.
    fn spend(&mut self) {
        let Some(device) = self.devices.get("cpu/").filter(|d| d.reading.later) else { return };
        let field = |name: &str| device.fields.iter().find(|f| f.name == name);
        if field("idle").and_then(|f| f.now).is_none() {
            return;
        }
        let gained = |name: &str| match field(name).map(|f| f.step) {
            Some(Step::By(gained)) => gained,
            _ => 0.0,
        };
        let before = self.cpu.unwrap_or_default();
        let all = before.all + CPU_STATES.iter().map(|s| gained(s)).sum::<f64>();
        self.cpu = Some(CpuSeconds { all, steal: before.steal + gained("steal") });
    }

    /// The node's CPU time; none before it was read.
    #[must_use]
    pub fn cpu_seconds(&self) -> Option<CpuSeconds> {
        self.cpu
    }

    /// The devices of a source by name, without its total.
    pub fn of_source(&self, source: &str) -> impl Iterator<Item = (&str, &Device)> {
        let from = format!("{source}/");
        let begins = from.clone();
        let range = self.devices.range(from..).take_while(move |(key, _)| key.starts_with(&begins));
        let skipped = source.len() + 1;
        range.map(move |(key, device)| (&key[skipped..], device)).filter(|(name, _)| *name != "*")
    }

    /// A derived series by its device (`disk/vda`) and row name.
    #[must_use]
    pub fn row(&self, device: &str, name: &str) -> Option<&Series> {
        let range = rows_of(device.split('/').next()?);
        let index = range.clone().zip(&ROWS[range]).find(|(_, r)| r.name == name)?.0;
        self.devices.get(device)?.rows.get(&index)
    }

    /// The value of a row at the latest reading of its device; none where that reading gave none.
    #[must_use]
    pub fn latest(&self, device: &str, name: &str) -> Option<f64> {
        let at = self.devices.get(device)?.at;
        self.row(device, name)?.last().filter(|p| p.at == at).map(|p| p.value)
    }

    /// The raw value of a field as it was read last.
    #[must_use]
    pub fn raw(&self, device: &str, field: &str) -> Option<f64> {
        self.devices.get(device)?.value(field)
    }

    /// What a NIC's link carries in bytes a second, by its driver: drivers that do not know say 0, -1 or 2³²−1.
    fn wire(&self, nic: &str) -> Option<f64> {
        let megabytes = self.raw(&format!("link/{nic}"), "speed")?;
        (SLOWEST..=FASTEST).contains(&megabytes).then_some(megabytes * 1e6)
    }

    /// The speed of a NIC's link in Mb/s; none where it is not known, or the NIC itself proves it wrong.
    #[must_use]
    pub fn link_speed(&self, nic: &str) -> Option<f64> {
        Some(self.devices.get(&format!("net/{nic}"))?.link()? * 8.0 / 1e6)
    }

    /// How old the latest reading of a device is at `now`, on the node's clock.
    #[must_use]
    pub fn age(&self, device: &str, now: Moment) -> Option<Span> {
        Some(now.since(self.devices.get(device)?.at))
    }
}

/// Whether this device is made here, of others.
fn is_made(key: &str) -> bool {
    key.ends_with("/*") || key == "clock/"
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
