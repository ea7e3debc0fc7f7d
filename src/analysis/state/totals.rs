//! What is made of several devices: the totals of disks and NICs, the clocks of all CPUs, and the order of the busy ones.
//!
//! A total is of physical leaves only: a partition, a logical volume and an array count what their disks count again, a bond or a
//! bridge what its NICs do.

use super::delta::{Field, Step};
use super::device::Device;
use super::host::Host;
use super::sum::Sum;
use crate::vocab::event::SampleKind;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::stat;

/// The sources that have a total and an order.
const SUMMED: [&str; 2] = ["disk", "net"];
/// Over how long activity is averaged.
const RECENTLY: Span = Span::seconds(5);
/// A device moves up when it does so many times as much as the one before it.
const CLEARLY: f64 = 1.2;

impl Host {
    /// The devices that `disk/*` or `net/*` is the total of, by name.
    #[must_use]
    pub fn total_of(&self, source: &str) -> Vec<&str> {
        let there = self.of_source(source).filter(|(_, d)| d.gone.is_none());
        there.filter(|(name, device)| self.is_leaf(source, name, device)).map(|(name, _)| name).collect()
    }

    /// The disks or NICs, the most active first. The order changes only where one does clearly more than the one before it, so that
    /// a table in this order stands still while its figures move.
    #[must_use]
    pub fn by_activity(&self, source: &str) -> &[String] {
        self.ranks.get(source).map_or(&[], Vec::as_slice)
    }

    /// What a disk or NIC has moved in the last five seconds, in MB/s; an operation counts as a page of 4 KiB at least.
    #[must_use]
    pub fn activity(&self, source: &str, name: &str) -> f64 {
        let key = format!("{source}/{name}");
        let Some(device) = self.devices.get(&key) else { return 0.0 };
        let mean = |row| self.row(&key, row).and_then(|s| s.mean_since(device.at - RECENTLY)).unwrap_or(0.0);
        match source {
            "disk" => mean("read") + mean("write") + (mean("r/s") + mean("w/s")) * 0.004_096,
            _ => mean("rx") + mean("tx"),
        }
    }

    fn is_leaf(&self, source: &str, name: &str, device: &Device) -> bool {
        match source {
            "disk" => device.value("leaf").map_or_else(|| self.looks_physical(name), |leaf| leaf == 1.0),
            // In a container no interface is hardware, and there they are what there is.
            _ => is_hardware(name, device) || !self.of_source("net").any(|(name, device)| is_hardware(name, device)),
        }
    }

    /// Whether a disk of this name is one, as far as names tell: neither stacked, nor in memory, nor a part of another that is read too.
    fn looks_physical(&self, name: &str) -> bool {
        let stacked =
            ["dm-", "md", "loop", "ram", "zram", "nbd", "drbd", "bcache"].iter().any(|stem| name.starts_with(stem));
        !stacked && whole(name).is_none_or(|whole| !self.devices.contains_key(&format!("disk/{whole}")))
    }

    /// Adds what a device gained in the reading that it has just ended.
    pub(super) fn sum_up(&mut self, key: &str) {
        let Some((source, name)) = key.split_once('/') else { return };
        let Some(device) = self.devices.get(key).filter(|d| SUMMED.contains(&source) && d.reading.later) else {
            return;
        };
        if self.is_leaf(source, name, device) {
            let mut sum = self.sums.remove(source).unwrap_or_default();
            sum.add(device);
            self.sums.insert(source.to_owned(), sum);
        }
    }

    /// Makes the totals and the orders after a reading of these devices.
    pub(super) fn conclude(&mut self, read: &[String], at: Moment) {
        for source in SUMMED {
            if let Some(sum) = self.sums.remove(source) {
                self.total(source, sum, at);
            }
            self.rank(source);
        }
        if read.iter().any(|key| key.starts_with("clock/")) {
            self.clocks(at);
        }
    }

    fn total(&mut self, source: &str, sum: Sum, at: Moment) {
        let total = self.devices.entry(format!("{source}/*")).or_insert_with(|| Device::new(false));
        if !total.begin(at) {
            return;
        }
        let field = |(name, step): (String, Step)| Field { step, ..Field::new(&name, None, SampleKind::Counter) };
        total.fields = sum.steps.into_iter().map(field).collect();
        if !sum.broken && total.reading.gap.is_none() {
            total.derive(source, "*");
        }
    }

    fn rank(&mut self, source: &str) {
        let mut order = self.ranks.remove(source).unwrap_or_default();
        let there: Vec<&str> = self.of_source(source).filter(|(_, d)| d.gone.is_none()).map(|(name, _)| name).collect();
        order.retain(|name| there.binary_search(&name.as_str()).is_ok());
        let mut known: Vec<&str> = order.iter().map(String::as_str).collect();
        known.sort_unstable();
        let new: Vec<String> =
            there.iter().filter(|name| known.binary_search(name).is_err()).map(|n| (*n).to_owned()).collect();
        order.extend(new);
        let mut ranked: Vec<(f64, String)> = Vec::with_capacity(order.len());
        for name in order {
            let activity = self.activity(source, &name);
            let mut place = ranked.len();
            while place > 0 && activity > CLEARLY * ranked[place - 1].0 {
                place -= 1;
            }
            ranked.insert(place, (activity, name));
        }
        self.ranks.insert(source.to_owned(), ranked.into_iter().map(|(_, name)| name).collect());
    }

    /// The clocks of all CPUs that are there, as fields of `clock/`.
    fn clocks(&mut self, at: Moment) {
        let there = self.of_source("clock").filter(|(name, d)| !name.is_empty() && d.gone.is_none());
        let all: Vec<f64> = there.filter_map(|(_, d)| d.value("mhz")).collect();
        let Some((least, median)) = all.iter().copied().reduce(f64::min).zip(stat::median(&all)) else { return };
        let whole = self.devices.entry("clock/".to_owned()).or_insert_with(|| Device::new(false));
        if whole.begin(at) {
            let gauge = |name, value| Field { now: Some(value), ..Field::new(name, None, SampleKind::Gauge) };
            whole.fields = vec![gauge("least_mhz", least), gauge("median_mhz", median)];
            whole.derive("clock", "");
        }
    }
}

/// The disk that a partition of this name would be part of: `sda` of `sda1`, `nvme0n1` of `nvme0n1p2`.
fn whole(name: &str) -> Option<&str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbered = stem.strip_suffix('p').filter(|disk| disk.ends_with(|c: char| c.is_ascii_digit()));
    numbered.or(Some(stem)).filter(|stem| stem.len() < name.len() && !stem.is_empty())
}

fn is_hardware(name: &str, nic: &Device) -> bool {
    nic.value("virtual").map_or_else(|| !looks_virtual(name), |made_up| made_up == 0.0)
}

/// Whether an interface of this name stands on others, or on none, as far as names tell.
fn looks_virtual(name: &str) -> bool {
    const STEMS: [&str; 25] = [
        "lo", "bond", "team", "br", "veth", "vlan", "docker", "virbr", "vnet", "tun", "tap", "ifb", "dummy", "macv",
        "ipvlan", "vxlan", "cali", "cni", "flannel", "cilium", "ovs", "wg", "gre", "sit", "nlmon",
    ];
    name.contains(['.', ':', '@']) || STEMS.iter().any(|stem| name.starts_with(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_stands_on_others() {
        for name in ["bond0", "br0", "br-1a2b", "eth0.100", "eth0:1", "veth12", "docker0", "tap0", "lo", "vlan7"] {
            assert!(looks_virtual(name), "{name}");
        }
        for name in ["eth0", "eno1", "enp6s0", "ens3f0np0", "ib0", "wlan0", "usb0"] {
            assert!(!looks_virtual(name), "{name}");
        }
        let wholes = ["sda1", "nvme0n1p2", "mmcblk0p1", "nvme0n1", "sda", "md127p1"].map(whole);
        assert_eq!(wholes, [Some("sda"), Some("nvme0n1"), Some("mmcblk0"), Some("nvme0n"), None, Some("md127")]);
    }
}
