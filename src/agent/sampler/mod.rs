//! The samplers: what the host says of itself. One file a source and one line in [`all`].
//!
//! Every sampler reads below a root path, so that a machine can be faked, keeps what it can between readings, and puts raw
//! values: counters as the kernel counts them, gauges as they stand. A file that is missing is no error, only no samples.

mod cpu;
mod disk;
mod memory;
mod net;
mod pressure;

use std::collections::HashMap;
use std::io;
use std::path::Path;

use crate::vocab::event::{Described, Sample, SampleKind};
use crate::vocab::unit::Unit;

/// One source of host counters.
pub trait Sampler: Send {
    /// The name of the source in the record: `cpu`, `disk`.
    fn source(&self) -> &'static str;

    /// Puts one reading of every device and field into the sink.
    fn sample(&mut self, into: &mut Sink) -> io::Result<()>;
}

/// Every sampler of this node, below `root`.
#[must_use]
pub fn all(root: &Path) -> Vec<Box<dyn Sampler>> {
    vec![
        Box::new(cpu::Sampler::new(root)),
        Box::new(disk::Sampler::new(root)),
        Box::new(net::Sampler::new(root)),
        Box::new(memory::Sampler::new(root)),
        Box::new(pressure::Sampler::new(root)),
    ]
}

#[derive(Debug)]
struct Slot {
    field: &'static str,
    id: u32,
    last: f64,
}

/// Takes readings, gives each series a number, and leaves out what did not change.
#[derive(Debug, Default)]
pub struct Sink {
    source: &'static str,
    only: Option<Vec<String>>,
    known: HashMap<&'static str, HashMap<String, Vec<Slot>>>,
    all: Vec<Described>,
    described: Vec<Described>,
    samples: Vec<Sample>,
}

impl Sink {
    /// Names the source of what is put from now on, and the devices that are wanted (all when none are named).
    pub fn turn_to(&mut self, source: &'static str, only: Option<&[String]>) {
        self.source = source;
        self.only = only.map(<[String]>::to_vec);
    }

    /// Whether readings of this device are wanted now; a sampler may save itself the work.
    #[must_use]
    pub fn wants(&self, device: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|d| d == device))
    }

    /// Puts the readings of one device: field, kind, unit, value. Values that are no numbers are dropped.
    pub fn put(&mut self, device: &str, readings: &[(&'static str, SampleKind, Unit, f64)]) {
        if !self.wants(device) {
            return;
        }
        let devices = self.known.entry(self.source).or_default();
        if !devices.contains_key(device) {
            devices.insert(device.to_owned(), Vec::new());
        }
        let Some(slots) = devices.get_mut(device) else { return };
        for &(field, kind, unit, value) in readings.iter().filter(|r| r.3.is_finite()) {
            if let Some(slot) = slots.iter_mut().find(|s| std::ptr::eq(s.field, field) || s.field == field) {
                if slot.last != value {
                    slot.last = value;
                    self.samples.push(Sample(slot.id, value));
                }
                continue;
            }
            let id = self.all.len() as u32;
            let described = Described {
                id,
                source: self.source.to_owned(),
                device: device.to_owned(),
                field: field.to_owned(),
                kind,
                unit,
            };
            self.all.push(described.clone());
            self.described.push(described);
            self.samples.push(Sample(id, value));
            slots.push(Slot { field, id, last: value });
        }
    }

    /// Hands out the series that are new and the readings since the last call.
    pub fn take(&mut self) -> (Vec<Described>, Vec<Sample>) {
        (std::mem::take(&mut self.described), std::mem::take(&mut self.samples))
    }

    /// From here on every series is described and read in full once more, so that a damaged line costs no more than one run.
    pub fn start_over(&mut self) {
        self.described.clone_from(&self.all);
        for slot in self.known.values_mut().flat_map(HashMap::values_mut).flatten() {
            slot.last = f64::NAN;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SampleKind::{Counter, Gauge};

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
    fn a_fast_reading_takes_only_the_devices_that_are_wanted() {
        let mut sink = Sink::default();
        sink.turn_to("disk", Some(&["vdb".to_owned()]));
        sink.put("vda", &[("reads", Counter, Unit::Count, 5.0)]);
        assert_eq!(sink.take(), (vec![], vec![]));
    }
}
