//! HARDWARE: the machine itself counts an error, or was started anew.
//!
//! What speaks is a counter that rises between two readings of one session. One that stood high before, that is read for the
//! first time or that begins anew at zero says nothing. What was broken once stays so: the finding is never closed.

use std::collections::HashMap;

use super::{Change, Detector};
use crate::analysis::state::State;
use crate::vocab::event::{Event, Record};
use crate::vocab::finding::{Cause, Evidence, Finding, Kind, Severity};
use crate::vocab::moment::Moment;
use crate::vocab::name::NodeName;
use crate::vocab::node::Conditions;
use crate::vocab::unit::{Quantity, Unit, short};

/// A counter goes on rising for hours: after the first word the next is said when it has risen so many times as far.
const AGAIN: f64 = 2.0;

/// A counter of errors, and how much one of them weighs.
struct Counter {
    source: &'static str,
    field: &'static str,
    severity: Severity,
    /// What it counts, in words.
    what: &'static str,
    /// What to look at next.
    check: &'static str,
}

const fn counter([source, field]: [&'static str; 2], severity: Severity, [what, check]: [&'static str; 2]) -> Counter {
    Counter { source, field, severity, what, check }
}

/// Every counter that is watched, the counters of a source side by side. An error that the hardware has put right is a WARN from
/// the first one on: in a year more than nine modules of ten have none at all (Schroeder et al., SIGMETRICS 2009), so a test of
/// some hours that sees one has seen a weak part. An error that was not put right is a CRIT; for a CPU that was slowed down it is
/// for the detectors of rates to say whether it mattered.
const COUNTERS: &[Counter] = &[
    counter(["aer", "correctable"], Severity::Warn, ["corrected PCI Express errors", "lspci -vv; dmesg | grep -i aer"]),
    counter(["aer", "nonfatal"], Severity::Fail, ["PCI Express errors", "lspci -vv; dmesg | grep -i aer"]),
    counter(["aer", "fatal"], Severity::Crit, ["fatal PCI Express errors", "lspci -vv; dmesg | grep -i aer"]),
    counter(["edac", "corrected"], Severity::Warn, ["corrected memory errors", "ras-mc-ctl --errors; edac-util -v"]),
    counter(
        ["edac", "uncorrected"],
        Severity::Crit,
        ["uncorrected memory errors", "ras-mc-ctl --errors; edac-util -v"],
    ),
    counter(
        ["interrupts", "machine_checks"],
        Severity::Crit,
        ["machine checks", "dmesg | grep -i mce; ras-mc-ctl --errors"],
    ),
    counter(
        ["interrupts", "deferred_errors"],
        Severity::Crit,
        ["deferred machine checks", "dmesg | grep -i mce; ras-mc-ctl --errors"],
    ),
    counter(
        ["interrupts", "threshold_events"],
        Severity::Warn,
        ["machine checks over the threshold of corrected errors", "dmesg | grep -i mce; ras-mc-ctl --errors"],
    ),
    counter(["link", "rx_crc_errors"], Severity::Warn, ["damaged frames", "ethtool -S; cable, optics and switch port"]),
    counter(
        ["link", "carrier_changes"],
        Severity::Warn,
        ["changes of the carrier", "dmesg; cable, optics and switch port"],
    ),
    counter(["md", "degraded"], Severity::Fail, ["missing members", "cat /proc/mdstat; mdadm --detail"]),
    counter(["md", "failed"], Severity::Fail, ["failed members", "cat /proc/mdstat; mdadm --detail; smartctl -a"]),
    counter(["nvme", "live"], Severity::Fail, ["times that it did not answer", "dmesg | grep nvme; nvme smart-log"]),
    counter(["nvme", "resets"], Severity::Warn, ["controller resets", "dmesg | grep nvme; nvme error-log"]),
    counter(
        ["thermal", "core_throttles"],
        Severity::Info,
        ["slowdowns of cores for heat", "fans, air flow, heat sinks"],
    ),
    counter(
        ["thermal", "throttles"],
        Severity::Info,
        ["slowdowns of the package for heat", "fans, air flow, heat sinks"],
    ),
];

/// Where a counter stood.
struct Seen {
    first: f64,
    last: f64,
}

struct Open {
    finding: Finding,
    /// By how much it had risen when it was spoken of last.
    told: f64,
}

/// A counter of a device of a node.
type Place = (NodeName, String, &'static str);

/// Watches the counters of errors of every node, and whether the node was started anew.
#[derive(Default)]
pub(super) struct Hardware {
    seen: HashMap<Place, Seen>,
    open: HashMap<Place, Open>,
    boots: HashMap<NodeName, String>,
}

impl Detector for Hardware {
    fn observe(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        match &record.event {
            Event::Sampled { of, .. } if may_hold(of) => self.read(record, state, out),
            Event::NodeJoined { conditions, .. } => self.join(record, conditions, state, out),
            Event::RunEnded { .. } => self.sum_up(record, state, out),
            _ => {}
        }
    }
}

/// Whether a reading of these devices can hold a counter that is watched; the ten readings a second of the run's own disk cannot.
fn may_hold(of: &[String]) -> bool {
    let watched = |of: &String| of.split('/').next().is_some_and(|source| COUNTERS.iter().any(|c| c.source == source));
    of.is_empty() || of.iter().any(watched)
}

impl Hardware {
    fn read(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        let Some(host) = state.nodes.get(&record.node).map(|n| &n.host) else { return };
        let mut rises: Vec<(&'static Counter, Place)> = Vec::new();
        for counter in COUNTERS {
            for (name, device) in host.of_source(counter.source).filter(|(_, d)| d.at == record.at) {
                let key = format!("{}/{name}", counter.source);
                let value = host.raw(&key, counter.field).filter(|_| device.gone.is_none());
                let Some(value) = value.map(|v| if counter.field == "live" { 1.0 - v } else { v }) else { continue };
                let place = (record.node.clone(), key, counter.field);
                if self.take(&place, value) && is_whole(counter.source, name) {
                    rises.push((counter, place));
                }
            }
        }
        for (counter, place) in rises {
            self.rise(counter, &place, record.at, state, out);
        }
    }

    /// Takes in a reading; whether it is higher than the one before.
    fn take(&mut self, place: &Place, value: f64) -> bool {
        // A PCI device is read from its first error on, which is one when the node's sum was read before.
        let known =
            place.1.starts_with("aer/") && self.seen.contains_key(&(place.0.clone(), "aer/".to_owned(), place.2));
        let first = if known { 0.0 } else { value };
        let seen = self.seen.entry(place.clone()).or_insert(Seen { first, last: first });
        let rose = value > seen.last;
        if value < seen.last && !self.open.contains_key(place) {
            seen.first = value;
        }
        seen.last = value;
        rose
    }

    fn rise(&mut self, counter: &'static Counter, place: &Place, at: Moment, state: &State, out: &mut Vec<Change>) {
        let Some(Seen { first, last }) = self.seen.get(place) else { return };
        let (first, last) = (*first, *last);
        let parts = self.parts(place);
        let told = self.open.get(place).map_or(0.0, |open| open.told);
        let risen = last - first;
        if told > 0.0 && risen < AGAIN * told {
            return;
        }
        let run = state.running().find(|run| run.node == place.0);
        let open = self.open.entry(place.clone()).or_insert_with(|| {
            let mut finding = Finding::new(Kind::Hardware, counter.severity, at, at);
            finding.run = run.map(|run| run.name.clone());
            finding.iteration = run.map_or(0, |run| run.iteration);
            Open { finding, told: 0.0 }
        });
        open.told = risen;
        let since = state.clock(&place.0, open.finding.onset).to_string();
        put(&mut open.finding, counter, &place.1, (first, last), &format!("since {since}{parts}"));
        out.push(change(place, open.finding.clone()));
    }

    /// Which parts of a device the errors came from: modules of a memory controller, devices of the PCI bus.
    fn parts(&self, place: &Place) -> String {
        let stem = if place.1 == "aer/" { "aer/".to_owned() } else { format!("{}.", place.1) };
        let rose = |((node, key, field), seen): (&Place, &Seen)| {
            let name =
                key.strip_prefix(&stem).filter(|name| !name.is_empty() && *node == place.0 && *field == place.2)?;
            (seen.last > seen.first).then(|| format!("{name} +{}", count(seen.last - seen.first)))
        };
        let mut parts: Vec<String> = self.seen.iter().filter_map(rose).collect();
        parts.sort();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }

    /// A run is over: what has risen on its node since it was last spoken of is said once more.
    fn sum_up(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        let mut due: Vec<(&'static Counter, Place)> = Vec::new();
        for (place, open) in self.open.iter_mut().filter(|(place, _)| place.0 == record.node) {
            let risen = self.seen.get(place).map_or(0.0, |seen| seen.last - seen.first);
            if risen > open.told {
                open.told = f64::MIN_POSITIVE;
                let of = |c: &&Counter| place.1.starts_with(c.source) && c.field == place.2;
                due.extend(COUNTERS.iter().find(of).map(|counter| (counter, place.clone())));
            }
        }
        due.sort_by(|a, b| a.1.cmp(&b.1));
        for (counter, place) in due {
            self.rise(counter, &place, record.at, state, out);
        }
    }

    /// An agent has started: on another boot than before the node was restarted, and its counters begin anew.
    fn join(&mut self, record: &Record, conditions: &Conditions, state: &State, out: &mut Vec<Change>) {
        let Some(boot) = conditions.0.get("boot_id") else { return };
        let Some(before) = self.boots.insert(record.node.clone(), boot.clone()).filter(|before| before != boot) else {
            return;
        };
        self.seen.retain(|(node, ..), _| *node != record.node);
        self.open.retain(|(node, ..), _| *node != record.node);
        let mut finding = Finding::new(Kind::Hardware, Severity::Crit, record.at, record.at);
        // The node's clock began anew, and how far it is from the runner's is not known yet.
        let at = state.now.since(state.opened);
        finding.sentence = format!(
            "HARDWARE: {} was restarted in the session, noticed at {at}: boot_id {before} before, {boot} now",
            record.node
        );
        let check = "the node's own log: journalctl -b -1 -e; last -x; the management controller's event log";
        finding.causes = vec![cause("power loss, watchdog, kernel panic, or somebody restarted it", check, None)];
        out.push(Change { node: record.node.clone(), key: format!("boot {boot}"), was: None, finding });
    }
}

/// Whether a device stands for itself: neither a module of a controller nor a part of a sum, which are named with the whole.
fn is_whole(source: &str, name: &str) -> bool {
    match source {
        "aer" | "interrupts" => name.is_empty(),
        "edac" => !name.contains('.'),
        _ => true,
    }
}

fn put(finding: &mut Finding, counter: &Counter, key: &str, (first, last): (f64, f64), since: &str) {
    let quantity = |value| Quantity::new(value, Unit::Count);
    (finding.from, finding.to) = (Some(quantity(first)), Some(quantity(last)));
    let device = key.split_once('/').map_or("", |(_, name)| name);
    let label = format!("{} {}", if device.is_empty() { counter.source } else { device }, counter.field);
    let (before, after) = (count(first), count(last));
    finding.sentence = format!("HARDWARE: {} rose from {before} to {after} ({label}) {since}", counter.what);
    let proof = format!("{label} {before} to {after}");
    finding.causes = vec![cause(counter.what, counter.check, Some(proof))];
    finding.evidence = vec![Evidence { counter: label, before: quantity(first), after: quantity(last) }];
}

fn cause(what: &str, check: &str, proof: Option<String>) -> Cause {
    Cause { what: what.to_owned(), proof, check: check.to_owned() }
}

fn count(value: f64) -> String {
    short(Quantity::new(value, Unit::Count))
}

fn change(place: &Place, finding: Finding) -> Change {
    Change { node: place.0.clone(), key: format!("{} {}", place.1, place.2), was: None, finding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;

    /// A counter that is read as this, and then as that.
    fn told(device: &str, field: &str, values: &[f64]) -> Scenario {
        values
            .iter()
            .fold(Scenario::measuring(vec![]), |told, value| told.work(100.0, 40).sample(device, field, *value))
    }

    #[test]
    fn a_rising_counter_is_said_with_before_and_after_and_weighs_what_it_counts() {
        for (device, field, severity) in [
            ("edac/mc0", "corrected", Severity::Warn),
            ("edac/mc0", "uncorrected", Severity::Crit),
            ("interrupts/", "machine_checks", Severity::Crit),
            ("aer/", "fatal", Severity::Crit),
            ("aer/", "correctable", Severity::Warn),
            ("link/eth0", "rx_crc_errors", Severity::Warn),
            ("link/eth0", "carrier_changes", Severity::Warn),
            ("md/md0", "degraded", Severity::Fail),
            ("thermal/package0", "throttles", Severity::Info),
        ] {
            let told = told(device, field, &[3.0, 15.0]);
            let [finding] = told.found(Kind::Hardware)[..] else {
                panic!("{device} {field}: {:?}", told.found(Kind::Hardware))
            };
            assert_eq!((finding.kind, finding.severity, finding.closed), (Kind::Hardware, severity, None), "{field}");
            assert!(finding.sentence.contains("rose from 3 to 15"), "{}", finding.sentence);
            assert!(finding.sentence.contains("since 8.0 s"), "{}", finding.sentence);
            assert_eq!(finding.run, Some("r".into()));
        }
    }

    #[test]
    fn its_twins_stand_still_appear_or_begin_anew() {
        for values in [&[3.0, 3.0, 3.0][..], &[15.0], &[15.0, 0.0], &[15.0, 0.0, 0.0]] {
            assert!(told("edac/mc0", "corrected", values).found(Kind::Hardware).is_empty(), "{values:?}");
        }
        // Lost packets and bytes are no errors of the hardware.
        assert!(told("link/eth0", "rx_missed_errors", &[0.0, 500.0]).found(Kind::Hardware).is_empty());
        assert!(told("disk/vda", "reads", &[0.0, 500.0]).found(Kind::Hardware).is_empty());
    }

    #[test]
    fn the_module_is_named_and_one_error_is_one_finding() {
        let read = |told: Scenario, n: f64| {
            told.work(100.0, 40).samples(&[("edac/mc0", "corrected", n), ("edac/mc0.dimm3", "corrected", n)])
        };
        let told = read(read(Scenario::measuring(vec![]), 0.0), 12.0);
        let [finding] = told.found(Kind::Hardware)[..] else { panic!("{:?}", told.found(Kind::Hardware)) };
        assert!(finding.sentence.ends_with("(dimm3 +12)"), "{}", finding.sentence);
    }

    #[test]
    fn a_pci_device_that_shows_up_with_its_first_error_is_named() {
        let told = told("aer/", "correctable", &[0.0]);
        let told =
            told.work(100.0, 40).samples(&[("aer/", "correctable", 1.0), ("aer/0000:3b:00.0", "correctable", 1.0)]);
        let [finding] = told.found(Kind::Hardware)[..] else { panic!("{:?}", told.found(Kind::Hardware)) };
        assert!(finding.sentence.ends_with("(0000:3b:00.0 +1)"), "{}", finding.sentence);
    }

    #[test]
    fn a_counter_that_rises_for_ever_is_one_finding_and_few_words() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let told = told("link/eth0", "rx_crc_errors", &values).end(100.0, crate::vocab::event::Outcome::Sound);
        assert_eq!(told.found(Kind::Hardware).len(), 1);
        assert!(
            told.found(Kind::Hardware)[0].sentence.contains("from 0 to 99"),
            "{}",
            told.found(Kind::Hardware)[0].sentence
        );
        let ours = |r: &&Record| matches!(&r.event, Event::Found(f) if f.kind == Kind::Hardware);
        let words = told.records.iter().filter(ours).count();
        assert!((7..=9).contains(&words), "{words}");
    }

    #[test]
    fn another_boot_is_a_crit_and_another_agent_on_the_same_is_none() {
        let told = Scenario::measuring(vec![]).join("a1").work(100.0, 10).join("a1");
        assert!(told.found(Kind::Hardware).is_empty());
        let told = told.join("b2");
        let [finding] = told.found(Kind::Hardware)[..] else { panic!("{:?}", told.found(Kind::Hardware)) };
        assert_eq!((finding.kind, finding.severity), (Kind::Hardware, Severity::Crit));
        assert!(finding.sentence.contains("boot_id a1 before, b2 now"), "{}", finding.sentence);
    }
}
