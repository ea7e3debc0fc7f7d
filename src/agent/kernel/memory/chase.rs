//! Latency of memory: each load takes its address from the one before, so that none can begin early.
//!
//! The links are one random cycle through all lines of the area (Sattolo 1986), which no prefetcher foresees. Huge pages are asked
//! for, since with small ones most loads would wait for the TLB as well; the label and a remark say what became of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::LINE;
use crate::agent::kernel::area::{self, Area};
use crate::agent::kernel::pages::{self, Pages};
use crate::agent::kernel::threads::{Gate, each};
use crate::agent::kernel::{self, Description, KernelError, Measured, Stop, Takes};
use crate::agent::meter::{Lane, Lanes, Meter};
use crate::agent::resources::Resources;
use crate::vocab::event::{MeterSpec, Phase};
use crate::vocab::figure::Figure;
use crate::vocab::moment::Span;
use crate::vocab::plan::MemoryLatency;
use crate::vocab::random::below;
use crate::vocab::size::ByteSize;
use crate::vocab::unit::Unit;

/// Words of a node, the first of which is the place of the next node's first word.
const NODE: usize = LINE as usize / size_of::<u64>();

/// Loads between two additions to the meter, and looks at the stop: some 10 ms of slow memory.
const BATCH: usize = 1 << 16;

/// What a load takes in a slow memory in small pages, for the guess at how long a round goes on after the time is up.
const SLOW_NANOSECONDS: u64 = 200;

/// Goes from link to link.
pub(in crate::agent::kernel) struct Kernel {
    load: MemoryLatency,
    seed: u64,
    nodes: usize,
    why: String,
    fits_in: String,
    memory: u64,
    cpu: usize,
    links: Option<Pages>,
}

impl Kernel {
    pub(in crate::agent::kernel) fn new(
        load: &MemoryLatency,
        seed: u64,
        node: &Resources,
    ) -> Result<Self, KernelError> {
        let Area { bytes, why } = area::choose(load.area, node);
        let (nodes, cpu) = ((bytes / LINE) as usize, node.cpus.first().copied().unwrap_or_default());
        if nodes < 2 {
            let area = ByteSize(bytes);
            return Err(KernelError::Unavailable(format!("an area of {area} has no two lines of {LINE} B")));
        }
        let fits_in = area::fits_in(node, &[cpu], nodes as u64 * LINE);
        Ok(Self { load: load.clone(), seed, nodes, why, fits_in, memory: node.memory, cpu, links: None })
    }

    fn area(&self) -> u64 {
        self.nodes as u64 * LINE
    }

    /// Goes round until the time is up; how often, and how long that took.
    fn rounds(&self, links: &[u64], lane: &Lane, stop: &Stop) -> Result<(u64, Duration), KernelError> {
        let (start, time) = (Instant::now(), Duration::from(self.load.time));
        // In a small area a round is over in less than it takes to read the clock.
        let (once, mut rounds) = (BATCH.div_ceil(self.nodes) as u64, 0);
        loop {
            self.go_round(once, links, lane, stop)?;
            rounds += once;
            if start.elapsed() >= time {
                return Ok((rounds, start.elapsed()));
            }
        }
    }

    /// As many loads as there are nodes, so often. The last one must lead back to the start, and in each round no other may: there is
    /// no shorter cycle then; and by the sum of their places, which are all different then, they must have been the nodes and no words
    /// between.
    fn go_round(&self, rounds: u64, links: &[u64], lane: &Lane, stop: &Stop) -> Result<(), KernelError> {
        let (mut way, mut left) = (Way::default(), self.nodes * rounds as usize);
        while left > 0 {
            stop.check()?;
            let batch = left.min(BATCH);
            if !way.follow(links, batch) {
                return Err(self.corrupt(&format!("one leads to {}, outside", way.at)));
            }
            lane.add(0, batch as u64);
            left -= batch;
        }
        let nodes = self.nodes as u64;
        let sum = (NODE as u64 / 2).wrapping_mul(nodes).wrapping_mul(nodes - 1).wrapping_mul(rounds);
        if way == (Way { at: 0, sum, starts: rounds }) {
            return Ok(());
        }
        Err(self.corrupt("a round did not pass all of them once"))
    }

    fn corrupt(&self, what: &str) -> KernelError {
        KernelError::Corrupt(format!("the links through {} nodes are not those made: {what}", self.nodes))
    }
}

/// How far it has come.
#[derive(Default, PartialEq, Eq)]
struct Way {
    at: u64,
    /// Of all places so far.
    sum: u64,
    /// How often it was at the start again.
    starts: u64,
}

impl Way {
    /// So many loads on; false, and where it was to go, where a link leads outside.
    fn follow(&mut self, links: &[u64], loads: usize) -> bool {
        let Self { mut at, mut sum, mut starts } = *self;
        for _ in 0..loads {
            let Some(next) = links.get(at as usize) else {
                self.at = at;
                return false;
            };
            at = *next;
            sum = sum.wrapping_add(at);
            starts += u64::from(at == 0);
        }
        *self = Self { at, sum, starts };
        true
    }
}

/// Makes the first word of each node lead to another's, in one random cycle through all of them.
fn link(words: &mut [u64], mut seed: u64, stop: &Stop) {
    for (at, node) in words.chunks_mut(NODE).enumerate() {
        node[0] = (at * NODE) as u64;
    }
    for last in (1..words.len() / NODE).rev() {
        words.swap(last * NODE, below(&mut seed, last as u64) as usize * NODE);
        if last % BATCH == 0 && stop.asked() {
            return;
        }
    }
}

impl kernel::Kernel for Kernel {
    fn takes(&self) -> Takes {
        // The time is up somewhere in a round, which goes on to its end.
        let round = Duration::from_nanos(self.nodes as u64 * SLOW_NANOSECONDS);
        let time = Span::from(Duration::from(self.load.time) + round);
        Takes { memory: self.area(), time, loads: true, ..Takes::default() }
    }

    fn describe(&self) -> Description {
        let labels = [
            ("threads", "1".to_owned()),
            ("cpu", self.cpu.to_string()),
            ("area", ByteSize(self.area()).to_string()),
            ("area_because", self.why.clone()),
            ("fits_in", self.fits_in.clone()),
            ("pages", pages::policy(true)),
        ];
        Description {
            meters: vec![MeterSpec::new("loads_per_s", Unit::PerSecond, true)],
            lanes: Lanes { threads: 1, depth: 0, timed: false },
            labels: labels.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<BTreeMap<_, _>>(),
            command: format!("taskset -c {} lat_mem_rd -t {} {LINE}", self.cpu, self.area().div_ceil(1 << 20)),
            cpus: vec![self.cpu],
            bound: None,
        }
    }

    fn prepare(&mut self, meter: &Meter, stop: &Stop) -> Result<(), KernelError> {
        let (bytes, seed) = (self.area() as usize, self.seed);
        let made = each(&[self.cpu], &Gate::new(1), vec![()], |_, ()| {
            let mut pages = Pages::new(bytes, LINE as usize, true)?;
            link(pages.write(), seed, stop);
            Some(pages)
        })?;
        let made = made.into_iter().next().flatten();
        self.links = Some(made.ok_or_else(|| area::refused(self.area(), self.memory))?);
        meter.note(format!("memory latency: {}", pages::granted(self.area())));
        stop.check()
    }

    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError> {
        let links = self.links.as_ref().ok_or_else(|| KernelError::Broken("not prepared".to_owned()))?;
        meter.phase(Phase::Measure);
        let chase = |_, ()| self.rounds(links.read(), meter.lane(0), stop);
        let chased = each(&[self.cpu], &Gate::new(1), vec![()], chase)?;
        stop.check()?;
        let (rounds, took) = chased.into_iter().next().unwrap_or(Err(KernelError::Stopped))?;
        let loads = (rounds * self.nodes as u64) as f64;
        let figures = vec![
            Figure::new("loads_per_s", loads / took.as_secs_f64(), Unit::PerSecond),
            Figure::new("ns_per_load", took.as_secs_f64() * 1e9 / loads, Unit::Nanoseconds),
        ];
        Ok(Measured { figures, latency: None })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::kernel::Kernel as _;
    use super::*;
    use crate::agent::voice::Voice;

    fn kernel(nodes: u64) -> (Kernel, Meter) {
        let load = MemoryLatency { area: Some(ByteSize(nodes * LINE)), time: Span::milliseconds(5) };
        let mut kernel = Kernel::new(&load, 5, &Resources::faked()).unwrap();
        let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
        kernel.prepare(&meter, &Stop::default()).unwrap();
        (kernel, meter)
    }

    #[test]
    fn loads_are_counted_in_whole_rounds() {
        let (mut kernel, meter) = kernel(1000);
        let measured = kernel.iterate(&meter, &Stop::default()).unwrap();
        let [loads, ns] = &measured.figures[..] else { panic!("{measured:?}") };
        assert!((loads.value * ns.value / 1e9 - 1.0).abs() < 1e-9 && ns.value > 0.1);
        assert!(meter.read(crate::clock::now(), false).done[0].is_multiple_of(1000));
        assert_eq!(kernel.describe().labels["fits_in"], "unknown");
    }

    proptest! {
        #[test]
        fn links_are_one_cycle_and_any_changed_bit_of_them_is_found(
            nodes in 2_u64..200, at: prop::sample::Index, bit in 0_u32..64,
        ) {
            let (mut kernel, meter) = kernel(nodes);
            let stop = Stop::default();
            prop_assert!(kernel.iterate(&meter, &stop).is_ok());
            kernel.links.as_mut().unwrap().write::<u64>()[at.index(nodes as usize) * NODE] ^= 1 << bit;
            prop_assert!(matches!(kernel.iterate(&meter, &stop), Err(KernelError::Corrupt(_))));
        }
    }

    #[test]
    fn a_stop_refused_memory_and_an_area_without_links_are_said() {
        let (mut kernel, meter) = kernel(1000);
        let stop = Stop::default();
        stop.ask();
        assert_eq!(kernel.iterate(&meter, &stop), Err(KernelError::Stopped));
        let of = |bytes| {
            Kernel::new(
                &MemoryLatency { area: Some(ByteSize(bytes)), ..MemoryLatency::default() },
                5,
                &Resources::faked(),
            )
        };
        assert_eq!(of(100).err().unwrap().to_string(), "an area of 100B has no two lines of 64 B");
        let refused = of(1 << 50).unwrap().prepare(&meter, &Stop::default());
        assert_eq!(refused.unwrap_err().to_string(), "needs 1073741824 MiB, can have 1024 MiB");
    }
}
