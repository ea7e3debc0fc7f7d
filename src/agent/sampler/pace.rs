//! Which sources are read when: everything at each full reading, as long as that costs little; else the dear ones in turns.

use std::time::{Duration, Instant};

use super::{Sampler, Sink};

/// A source that takes longer goes into rotation, unless the rates of the screen are made of it.
const DEAR: Duration = Duration::from_millis(2);

/// What all sources together may take of a second.
const BUDGET: Duration = Duration::from_millis(10);

/// The longest rotation.
const RAREST: u32 = 64;

/// These are read every second as long as the budget allows.
const CORE: [&str; 4] = ["cpu", "disk", "net", "memory"];

/// Readings of which the least cost counts: on a busy node a reading is now and then interrupted.
const REMEMBERED: usize = 4;

struct Paced {
    sampler: Box<dyn Sampler>,
    costs: [Duration; REMEMBERED],
    read: usize,
    every: u32,
}

impl Paced {
    fn cost(&self) -> Duration {
        let known = self.costs.get(..self.read.min(REMEMBERED)).unwrap_or_default();
        known.iter().min().copied().unwrap_or_default()
    }

    fn per_second(&self) -> Duration {
        self.cost() / self.every
    }
}

/// Reads the samplers at a pace that the node can bear.
pub struct Pace {
    paced: Vec<Paced>,
    reading: u32,
}

impl Pace {
    /// A pace for these samplers.
    #[must_use]
    pub fn new(samplers: Vec<Box<dyn Sampler>>) -> Self {
        let paced = samplers.into_iter().map(|sampler| Paced {
            every: sampler.every().max(1),
            sampler,
            costs: [Duration::ZERO; REMEMBERED],
            read: 0,
        });
        Self { paced: paced.collect(), reading: 0 }
    }

    /// A full reading of the sources whose turn it is. Names those that were read; none when that was all of them.
    pub fn read_due(&mut self, into: &mut Sink) -> Vec<String> {
        let reading = self.reading;
        self.reading = self.reading.wrapping_add(1);
        self.read(into, |place, paced| paced.read == 0 || (reading + place).is_multiple_of(paced.every))
    }

    /// A full reading of all sources, whatever they take.
    pub fn read_all(&mut self, into: &mut Sink) -> Vec<String> {
        self.read(into, |_, _| true)
    }

    fn read(&mut self, into: &mut Sink, due: impl Fn(u32, &Paced) -> bool) -> Vec<String> {
        let mut read = Vec::new();
        for (place, paced) in self.paced.iter_mut().enumerate() {
            if !due(place as u32, paced) {
                continue;
            }
            let begun = Instant::now();
            into.turn_to(paced.sampler.source(), None);
            // A source that cannot be read now leaves a gap, which is what it is.
            if paced.sampler.sample(into).is_ok() {
                let took = begun.elapsed();
                into.finish(took);
                paced.costs[paced.read % REMEMBERED] = took;
                paced.read = paced.read.wrapping_add(1).max(1);
                read.push(paced.sampler.source().to_owned());
            }
        }
        self.adapt();
        if read.len() == self.paced.len() { Vec::new() } else { read }
    }

    /// A reading of one device (`disk/vda`).
    pub fn read_device(&mut self, into: &mut Sink, device: &str) {
        let Some((source, name)) = device.split_once('/') else { return };
        for paced in self.paced.iter_mut().filter(|paced| paced.sampler.source() == source) {
            into.turn_to(paced.sampler.source(), Some(name));
            let _ = paced.sampler.sample(into);
        }
    }

    /// Dear sources are read every other time; then the dearest half as often, and again, until all of them keep the budget.
    fn adapt(&mut self) {
        for paced in &mut self.paced {
            let dear = paced.cost() > DEAR && !CORE.contains(&paced.sampler.source());
            paced.every = paced.sampler.every().max(if dear { 2 } else { 1 });
        }
        while self.paced.iter().map(Paced::per_second).sum::<Duration>() > BUDGET {
            let some = self.paced.iter_mut().filter(|p| p.every < RAREST);
            let Some(dearest) = some.max_by_key(|p| p.per_second()) else { return };
            dearest.every *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::event::SampleKind::Counter;
    use crate::vocab::unit::Unit;

    struct Fake(&'static str, Duration, u32);

    impl Sampler for Fake {
        fn source(&self) -> &'static str {
            self.0
        }

        fn sample(&mut self, into: &mut Sink) -> std::io::Result<()> {
            std::thread::sleep(self.1);
            self.2 += 1;
            into.put("x", &[("n", Counter, Unit::Count, f64::from(self.2))]);
            Ok(())
        }
    }

    fn pace(fakes: &[(&'static str, u64)]) -> Pace {
        let fakes =
            fakes.iter().map(|(name, ms)| -> Box<dyn Sampler> { Box::new(Fake(name, Duration::from_millis(*ms), 0)) });
        Pace::new(fakes.collect())
    }

    /// How often each of the sources is read in so many readings.
    fn count(pace: &mut Pace, readings: u32) -> Vec<usize> {
        let mut sink = Sink::default();
        let names: Vec<&str> = pace.paced.iter().map(|p| p.sampler.source()).collect();
        let mut counts = vec![0; names.len()];
        for _ in 0..readings {
            let read = pace.read_due(&mut sink);
            for (count, name) in counts.iter_mut().zip(&names) {
                *count += usize::from(read.is_empty() || read.iter().any(|r| r == name));
            }
        }
        counts
    }

    #[test]
    fn cheap_sources_are_read_each_time_and_then_none_is_named() {
        let mut sink = Sink::default();
        let mut pace = pace(&[("a", 0), ("b", 0)]);
        assert!(pace.read_due(&mut sink).is_empty() && pace.read_due(&mut sink).is_empty());
        assert_eq!(sink.take().1.len(), 4);
    }

    #[test]
    fn a_dear_source_takes_turns_and_the_dearest_the_rarest() {
        let mut pace = pace(&[("cpu", 4), ("a", 4), ("b", 40), ("c", 0)]);
        let counts = count(&mut pace, 65);
        assert_eq!((counts[0], counts[3]), (65, 65), "the core and the cheap are read each time");
        assert!((20..=34).contains(&counts[1]), "{counts:?}");
        assert!(counts[2] <= 12 && counts[2] >= 3, "{counts:?}");
    }

    #[test]
    fn one_device_is_read_from_its_source_alone() {
        let mut sink = Sink::default();
        let mut pace = pace(&[("a", 0), ("b", 0)]);
        pace.read_device(&mut sink, "b/x");
        pace.read_device(&mut sink, "b/y");
        pace.read_device(&mut sink, "nonsense");
        let (described, _) = sink.take();
        assert_eq!(described.len(), 1);
        assert_eq!(described[0].source, "b");
    }
}
