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

    /// A full reading of the sources whose turn it is. Names those that were read, and no name stands for all of them; nothing when none
    /// was.
    pub fn read_due(&mut self, into: &mut Sink) -> Option<Vec<String>> {
        let reading = self.reading;
        self.reading = self.reading.wrapping_add(1);
        self.read(into, |place, paced| paced.read == 0 || (reading + place).is_multiple_of(paced.every))
    }

    /// A full reading of all sources, whatever they take.
    pub fn read_all(&mut self, into: &mut Sink) -> Option<Vec<String>> {
        self.read(into, |_, _| true)
    }

    fn read(&mut self, into: &mut Sink, due: impl Fn(u32, &Paced) -> bool) -> Option<Vec<String>> {
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
        let all = read.len() == self.paced.len();
        (!read.is_empty()).then(|| if all { Vec::new() } else { read })
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

    struct Fake(&'static str, u32);

    impl Sampler for Fake {
        fn source(&self) -> &'static str {
            self.0
        }

        fn sample(&mut self, into: &mut Sink) -> std::io::Result<()> {
            self.1 += 1;
            into.put("x", &[("n", Counter, Unit::Count, f64::from(self.1))]);
            Ok(())
        }
    }

    fn pace(fakes: &[&'static str]) -> Pace {
        Pace::new(fakes.iter().map(|name| -> Box<dyn Sampler> { Box::new(Fake(name, 0)) }).collect())
    }

    /// How often each source is read in so many readings, were these what they cost in milliseconds.
    fn count(costs: &[(&'static str, u64)], readings: u32) -> Vec<u32> {
        let mut pace = pace(&costs.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        let mut sink = Sink::default();
        let mut counts = vec![0; costs.len()];
        for _ in 0..readings {
            let read = pace.read_due(&mut sink);
            for ((name, ms), (count, paced)) in costs.iter().zip(counts.iter_mut().zip(&mut pace.paced)) {
                *count += u32::from(read.as_ref().is_some_and(|r| r.is_empty() || r.iter().any(|r| r == name)));
                paced.costs = [Duration::from_millis(*ms); REMEMBERED];
            }
            pace.adapt();
        }
        counts
    }

    #[test]
    fn cheap_sources_are_read_each_time_and_then_none_is_named() {
        let mut sink = Sink::default();
        let mut pace = pace(&["a", "b"]);
        assert_eq!([pace.read_due(&mut sink), pace.read_due(&mut sink)], [Some(vec![]), Some(vec![])]);
        assert_eq!(sink.take().1.len(), 4);
    }

    #[test]
    fn a_dear_source_takes_turns_and_the_dearest_the_rarest() {
        // The first reading is timed by the clock of a machine that may be busy, so each count may be one off.
        let is = |got: &[u32], wanted: &[u32]| {
            let near = got.len() == wanted.len() && got.iter().zip(wanted).all(|(a, b)| a.abs_diff(*b) <= 1);
            assert!(near, "{got:?} is not about {wanted:?}");
        };
        is(&count(&[("cpu", 4), ("a", 4), ("b", 40), ("c", 0)], 64), &[64, 33, 5, 64]);
        // Within the budget.
        is(&count(&[("cpu", 4), ("a", 1)], 64), &[64, 64]);
        // Even the core keeps it.
        is(&count(&[("cpu", 14), ("disk", 3)], 64), &[32, 64]);
        // And there is an end to it.
        is(&count(&[("a", 60_000)], 128), &[2]);
    }

    #[test]
    fn a_reading_that_was_interrupted_once_costs_no_more() {
        let mut pace = pace(&["a"]);
        pace.paced[0].costs = [3, 90, 1, 3].map(Duration::from_millis);
        pace.paced[0].read = 9;
        pace.adapt();
        assert_eq!(pace.paced[0].every, 1);
    }

    #[test]
    fn one_device_is_read_from_its_source_alone() {
        let mut sink = Sink::default();
        let mut pace = pace(&["a", "b"]);
        pace.read_device(&mut sink, "b/x");
        pace.read_device(&mut sink, "b/y");
        pace.read_device(&mut sink, "nonsense");
        let (described, _) = sink.take();
        assert_eq!(described.len(), 1);
        assert_eq!(described[0].source, "b");
    }
}
