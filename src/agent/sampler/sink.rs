//! Where readings go: each series gets a number, and what did not change is left out.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::vocab::event::{Described, Sample, SampleKind};
use crate::vocab::unit::Unit;

/// One field of a device: its name, how its values add up, their unit, the value.
pub type Reading = (&'static str, SampleKind, Unit, f64);

/// Devices of one source that are gone and still remembered; a host of containers makes and drops interfaces for ever.
const GONE_KEPT: usize = 512;

#[derive(Debug)]
struct Slot {
    field: &'static str,
    id: u32,
    last: f64,
}

/// A device of a source.
#[derive(Debug, Default)]
struct Device {
    identity: u64,
    seen: u32,
    gone: bool,
    slots: Vec<Slot>,
}

/// Readings as they were put, to be put again elsewhere.
#[derive(Debug, Default)]
pub(super) struct Tape(Vec<(String, u64, Vec<Reading>)>);

/// Takes readings, gives each series a number, and leaves out what did not change.
#[derive(Debug, Default)]
pub struct Sink {
    source: &'static str,
    only: Option<String>,
    turn: u32,
    in_part: bool,
    elsewhere: Option<Duration>,
    known: HashMap<&'static str, HashMap<String, Device>>,
    next: u32,
    all: BTreeMap<u32, Described>,
    described: Vec<Described>,
    samples: Vec<Sample>,
    notes: BTreeMap<&'static str, Note>,
    tape: Option<Tape>,
}

/// What a source's readings have cost and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Time that the latest reading took.
    pub took: Duration,
    /// Lines that could not be read, since the start.
    pub skipped: u64,
}

impl Sink {
    /// Names the source of what is put from now on, and the one device that is wanted (all when none is named).
    pub fn turn_to(&mut self, source: &'static str, only: Option<&str>) {
        self.source = source;
        self.only = only.map(str::to_owned);
        self.turn = self.turn.wrapping_add(1);
        (self.in_part, self.elsewhere) = (false, None);
    }

    /// Whether readings of this device are wanted now; a sampler may save itself the work.
    #[must_use]
    pub fn wants(&self, device: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == device)
    }

    /// Whether every device is wanted.
    #[must_use]
    pub fn wants_all(&self) -> bool {
        self.only.is_none()
    }

    /// This reading leaves devices out that are there: none counts as gone for not being put.
    pub fn in_part(&mut self) {
        self.in_part = true;
    }

    pub(super) fn is_in_part(&self) -> bool {
        self.in_part
    }

    /// The reading was made elsewhere, and took so long there.
    pub(super) fn took(&mut self, took: Duration) {
        self.elsewhere = Some(took);
    }

    /// A line was damaged or cut short and is left out; the devices that it may have named do not count as gone.
    pub fn skip(&mut self) {
        self.in_part = true;
        self.notes.entry(self.source).or_default().skipped += 1;
    }

    /// Puts the readings of one device. Values that are no numbers are dropped.
    pub fn put(&mut self, device: &str, readings: &[Reading]) {
        self.put_as(device, 0, readings);
    }

    /// Puts the readings of one device that is more than its name. When the name comes back with another identity it is another
    /// device: its series are described anew, under new numbers.
    pub fn put_as(&mut self, device: &str, identity: u64, readings: &[Reading]) {
        if !self.wants(device) {
            return;
        }
        if let Some(tape) = &mut self.tape {
            tape.0.push((device.to_owned(), identity, readings.to_vec()));
            return;
        }
        let mut known = self.take_device(device, identity);
        for reading in readings.iter().filter(|r| r.3.is_finite()) {
            self.put_one(device, &mut known.slots, reading);
        }
        if known.gone {
            self.put_one(device, &mut known.slots, &present(1.0));
        }
        (known.gone, known.seen) = (false, self.turn);
        self.give_back(device, known);
    }

    /// The device by this name out of the map, so that the sink is free meanwhile.
    fn take_device(&mut self, device: &str, identity: u64) -> Device {
        let place = self.known.get_mut(self.source).and_then(|devices| devices.get_mut(device));
        let mut known = place.map(std::mem::take).unwrap_or_default();
        if known.identity != identity {
            for slot in known.slots.drain(..) {
                self.all.remove(&slot.id);
            }
            known.identity = identity;
        }
        known
    }

    fn give_back(&mut self, device: &str, known: Device) {
        let devices = self.known.entry(self.source).or_default();
        match devices.get_mut(device) {
            Some(place) => *place = known,
            None => drop(devices.insert(device.to_owned(), known)),
        }
    }

    fn put_one(&mut self, device: &str, slots: &mut Vec<Slot>, &(field, kind, unit, value): &Reading) {
        if let Some(slot) = slots.iter_mut().find(|s| std::ptr::eq(s.field, field) || s.field == field) {
            if slot.last != value {
                slot.last = value;
                self.samples.push(Sample(slot.id, value));
            }
            return;
        }
        let id = self.next;
        self.next += 1;
        let (source, device, name) = (self.source.to_owned(), device.to_owned(), field.to_owned());
        let described = Described { id, source, device, field: name, kind, unit };
        self.described.push(described.clone());
        self.all.insert(id, described);
        self.samples.push(Sample(id, value));
        slots.push(Slot { field, id, last: value });
    }

    /// The source has put what it has, and took so long; a device it has put before and not now is gone, which is said once.
    pub fn finish(&mut self, took: Duration) {
        if self.only.is_some() {
            return;
        }
        self.notes.entry(self.source).or_default().took = self.elsewhere.unwrap_or(took);
        if self.in_part {
            return;
        }
        let Some(mut devices) = self.known.remove(self.source) else { return };
        let mut gone = 0;
        for (device, known) in &mut devices {
            if !known.gone && known.seen != self.turn {
                known.gone = true;
                self.put_one(device, &mut known.slots, &present(0.0));
            }
            gone += usize::from(known.gone);
        }
        if gone > GONE_KEPT {
            self.forget_gone(&mut devices);
        }
        self.known.insert(self.source, devices);
    }

    fn forget_gone(&mut self, devices: &mut HashMap<String, Device>) {
        devices.retain(|_, known| {
            if known.gone {
                known.slots.iter().for_each(|slot| drop(self.all.remove(&slot.id)));
            }
            !known.gone
        });
    }

    /// What the sources have cost and lost, by name.
    #[must_use]
    pub fn notes(&self) -> &BTreeMap<&'static str, Note> {
        &self.notes
    }

    /// Hands out the series that are new and the readings since the last call.
    pub fn take(&mut self) -> (Vec<Described>, Vec<Sample>) {
        (std::mem::take(&mut self.described), std::mem::take(&mut self.samples))
    }

    /// From here on every series is described and read in full once more, so that a damaged line costs no more than one run.
    pub fn start_over(&mut self) {
        let mut known = std::mem::take(&mut self.known);
        for devices in known.values_mut() {
            self.forget_gone(devices);
        }
        self.known = known;
        self.described = self.all.values().cloned().collect();
        for slot in self.known.values_mut().flat_map(HashMap::values_mut).flat_map(|known| &mut known.slots) {
            slot.last = f64::NAN;
        }
    }

    /// A sink that keeps what is put as it is.
    pub(super) fn taping(source: &'static str) -> Self {
        Self { source, tape: Some(Tape::default()), ..Self::default() }
    }

    /// What was taped, and the lines that were skipped, since the last call.
    pub(super) fn take_tape(&mut self) -> (Tape, u64) {
        self.in_part = false;
        let skipped = std::mem::take(&mut self.notes).values().map(|note| note.skipped).sum();
        (self.tape.replace(Tape::default()).unwrap_or_default(), skipped)
    }

    /// Puts what was taped.
    pub(super) fn play(&mut self, (tape, skipped): (Tape, u64)) {
        (0..skipped).for_each(|_| self.skip());
        for (device, identity, readings) in tape.0 {
            self.put_as(&device, identity, &readings);
        }
    }
}

/// Whether a device is there: said of those only that were away.
fn present(value: f64) -> Reading {
    ("present", SampleKind::Gauge, Unit::Count, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use SampleKind::{Counter, Gauge};

    fn reads(value: f64) -> [Reading; 1] {
        [("reads", Counter, Unit::Count, value)]
    }

    fn turn(sink: &mut Sink, put: &[(&str, u64, f64)]) -> (Vec<Described>, Vec<Sample>) {
        sink.turn_to("disk", None);
        put.iter().for_each(|(device, identity, value)| sink.put_as(device, *identity, &reads(*value)));
        sink.finish(Duration::from_millis(3));
        sink.take()
    }

    #[test]
    fn unchanged_fields_are_left_out_until_started_over() {
        let mut sink = Sink::default();
        sink.turn_to("disk", None);
        sink.put("vda", &[("reads", Counter, Unit::Count, 5.0), ("in_flight", Gauge, Unit::Count, 1.0)]);
        let (described, samples) = sink.take();
        assert_eq!((described.len(), samples), (2, vec![Sample(0, 5.0), Sample(1, 1.0)]));
        sink.put("vda", &[("reads", Counter, Unit::Count, 6.0), ("in_flight", Gauge, Unit::Count, 1.0)]);
        assert_eq!(sink.take(), (vec![], vec![Sample(0, 6.0)]));
        sink.start_over();
        sink.put("vda", &[("reads", Counter, Unit::Count, 6.0), ("in_flight", Gauge, Unit::Count, f64::NAN)]);
        let (described, samples) = sink.take();
        assert_eq!((described.len(), samples), (2, vec![Sample(0, 6.0)]));
    }

    #[test]
    fn a_fast_reading_takes_only_the_device_that_is_wanted_and_drops_no_other() {
        let mut sink = Sink::default();
        turn(&mut sink, &[("vda", 0, 5.0), ("vdb", 0, 5.0)]);
        sink.turn_to("disk", Some("vdb"));
        sink.put("vda", &reads(6.0));
        sink.finish(Duration::ZERO);
        assert_eq!(sink.take(), (vec![], vec![]));
        assert_eq!(sink.notes()["disk"].took, Duration::from_millis(3));
    }

    #[test]
    fn a_name_that_comes_back_as_another_device_has_new_series() {
        let mut sink = Sink::default();
        turn(&mut sink, &[("sda", 1, 5.0), ("sdb", 1, 5.0)]);
        let (described, samples) = turn(&mut sink, &[("sda", 2, 7.0), ("sdb", 1, 5.0)]);
        assert_eq!((described.len(), described[0].device.as_str(), samples), (1, "sda", vec![Sample(2, 7.0)]));
        sink.start_over();
        let (described, _) = turn(&mut sink, &[]);
        let ids: Vec<u32> = described.iter().filter(|d| d.field == "reads").map(|d| d.id).collect();
        assert_eq!(ids, [1, 2], "the old series is not described any more");
    }

    #[test]
    fn a_device_that_is_gone_is_said_so_once_and_comes_back() {
        let mut sink = Sink::default();
        turn(&mut sink, &[("sda", 1, 5.0), ("sdb", 1, 5.0)]);
        let (described, samples) = turn(&mut sink, &[("sda", 1, 5.0)]);
        assert_eq!((described[0].device.as_str(), described[0].field.as_str()), ("sdb", "present"));
        assert_eq!(samples, [Sample(2, 0.0)]);
        assert_eq!(turn(&mut sink, &[("sda", 1, 5.0)]), (vec![], vec![]));
        assert_eq!(turn(&mut sink, &[("sda", 1, 5.0), ("sdb", 1, 5.0)]), (vec![], vec![Sample(2, 1.0)]));
        turn(&mut sink, &[("sda", 1, 5.0)]);
        let (described, samples) = turn(&mut sink, &[("sda", 1, 5.0), ("sdb", 9, 1.0)]);
        assert_eq!(described.iter().map(|d| d.field.as_str()).collect::<Vec<_>>(), ["reads", "present"]);
        assert_eq!(samples, [Sample(3, 1.0), Sample(4, 1.0)]);
    }

    #[test]
    fn a_skipped_line_is_counted_and_makes_nobody_gone() {
        let mut sink = Sink::default();
        turn(&mut sink, &[("sda", 1, 5.0)]);
        sink.turn_to("disk", None);
        sink.skip();
        sink.finish(Duration::ZERO);
        assert_eq!(sink.take(), (vec![], vec![]));
        assert_eq!(sink.notes()["disk"].skipped, 1);
    }

    #[test]
    fn devices_that_come_and_go_for_ever_are_forgotten() {
        let mut sink = Sink::default();
        for n in 0..3000 {
            turn(&mut sink, &[(&format!("veth{n}"), n, 1.0)]);
        }
        assert!(sink.all.len() <= 2 * GONE_KEPT + 2 && sink.known["disk"].len() <= GONE_KEPT + 1);
    }
}
