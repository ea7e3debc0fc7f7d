//! Counters that a kernel's hot loop adds to and another thread reads.
//!
//! The hot loop pays one relaxed atomic add to a cache line of its own (and, for operations whose age matters, one store when
//! an operation starts and one when it ends). Nothing is computed here: rates are made in the fold, from the record's stamps.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::voice::Voice;
use crate::vocab::event::{Event, Phase, Prepared, Progress};
use crate::vocab::latency::{BUCKETS, Buckets, bucket};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::RunName;

/// How many meters a kernel may have.
pub const METERS: usize = 3;

/// The counters of one working thread. Aligned to two cache lines, since x86 fetches them in pairs.
#[repr(align(128))]
#[derive(Debug)]
pub struct Lane {
    done: [AtomicU64; METERS],
    started: Box<[AtomicU64]>,
    latency: Box<[AtomicU64]>,
}

impl Lane {
    fn new(depth: usize, timed: bool) -> Self {
        let zeros = |n| (0..n).map(|_| AtomicU64::new(0)).collect();
        Self { done: Default::default(), started: zeros(depth), latency: zeros(if timed { BUCKETS } else { 0 }) }
    }

    /// Counts `n` things done for the meter with this number.
    pub fn add(&self, meter: usize, n: u64) {
        self.done[meter].fetch_add(n, Relaxed);
    }

    /// An operation is in flight in `slot` since `at`.
    pub fn begin(&self, slot: usize, at: Moment) {
        self.started[slot].store(at.0.max(1), Relaxed);
    }

    /// The operation in `slot` has ended.
    pub fn end(&self, slot: usize) {
        self.started[slot].store(0, Relaxed);
    }

    /// Counts one operation that took `ns` nanoseconds.
    pub fn took(&self, ns: u64) {
        self.latency[bucket(ns)].fetch_add(1, Relaxed);
    }
}

/// How many lanes a kernel needs and what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Working threads.
    pub threads: usize,
    /// Operations that each may have in flight; 0 when their age is not tracked.
    pub depth: usize,
    /// Whether operations are timed.
    pub timed: bool,
}

/// The meters of a run.
#[derive(Debug)]
pub struct Meter {
    run: RunName,
    meters: usize,
    lanes: Vec<Lane>,
    iteration: AtomicU32,
    /// Bytes laid out so far, and in all.
    prepared: [AtomicU64; 2],
    voice: Voice,
}

impl Meter {
    /// Meters at zero.
    #[must_use]
    pub fn new(run: RunName, meters: usize, lanes: Lanes, voice: Voice) -> Self {
        let lane = |_| Lane::new(lanes.depth, lanes.timed);
        Self {
            run,
            meters: meters.min(METERS),
            lanes: (0..lanes.threads).map(lane).collect(),
            iteration: AtomicU32::new(0),
            prepared: Default::default(),
            voice,
        }
    }

    /// The lane of a working thread, counted from 0.
    #[must_use]
    pub fn lane(&self, thread: usize) -> &Lane {
        &self.lanes[thread]
    }

    /// The iteration under way, from 1; 0 before the first.
    #[must_use]
    pub fn iteration(&self) -> u32 {
        self.iteration.load(Relaxed)
    }

    /// Says that another iteration begins.
    pub fn next_iteration(&self) -> u32 {
        self.iteration.fetch_add(1, Relaxed) + 1
    }

    /// Says which phase the iteration is in from now on. A reading goes before it, so that no rate spans two phases.
    pub fn phase(&self, phase: Phase) {
        self.voice.say(Event::Progress(self.read(crate::clock::now(), true)));
        self.voice.say(Event::Phase { run: self.run.clone(), iteration: self.iteration(), phase });
    }

    /// So many bytes are to be laid out before the first iteration.
    pub fn prepare(&self, bytes: u64) {
        self.prepared[1].store(bytes, Relaxed);
    }

    /// So many more of them are.
    pub fn add_prepared(&self, bytes: u64) {
        self.prepared[0].fetch_add(bytes, Relaxed);
    }

    /// Leaves a remark in the record.
    pub fn note(&self, text: String) {
        self.voice.say(Event::Noted(text));
    }

    /// Reads every lane as it stands.
    #[must_use]
    pub fn read(&self, now: Moment, with_latency: bool) -> Progress {
        let done = (0..self.meters).map(|m| self.lanes.iter().map(|l| l.done[m].load(Relaxed)).sum()).collect();
        let started = || self.lanes.iter().flat_map(|l| l.started.iter()).map(|s| s.load(Relaxed)).filter(|s| *s > 0);
        let oldest = started().min().map(|s| now.since(Moment(s)));
        let latency = with_latency.then(|| self.latency()).filter(|b| !b.0.is_empty());
        Progress {
            run: self.run.clone(),
            done,
            in_flight: started().count() as u32,
            oldest: oldest.map(|o| o.max(Span(1))),
            latency,
            prepared: self.preparation(),
        }
    }

    /// How far the preparation is; none when there is nothing left of it.
    fn preparation(&self) -> Option<Prepared> {
        let [done, of] = [0, 1].map(|i: usize| self.prepared[i].load(Relaxed));
        (done < of).then_some(Prepared { done, of })
    }

    fn latency(&self) -> Buckets {
        let count = |b: usize| self.lanes.iter().filter_map(|l| l.latency.get(b)).map(|n| n.load(Relaxed)).sum::<u64>();
        Buckets((0..BUCKETS).map(|b| (b as u16, count(b))).filter(|(_, n)| *n > 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_add_up_and_the_oldest_operation_has_an_age() {
        let meter = Meter::new("r".into(), 2, Lanes { threads: 2, depth: 4, timed: true }, Voice::silent());
        meter.lane(0).add(0, 10);
        meter.lane(1).add(0, 5);
        meter.lane(1).add(1, 1);
        meter.lane(0).begin(2, Moment(1_000));
        meter.lane(1).begin(0, Moment(4_000));
        meter.lane(1).took(1 << 20);
        let read = meter.read(Moment(9_000), true);
        assert_eq!((read.done, read.in_flight, read.oldest), (vec![15, 1], 2, Some(Span(8_000))));
        assert_eq!(read.latency.unwrap().0, vec![(bucket(1 << 20) as u16, 1)]);
        meter.lane(0).end(2);
        meter.lane(1).end(0);
        assert_eq!(meter.read(Moment(9_000), false).oldest, None);
    }

    #[test]
    fn a_preparation_is_told_until_it_is_done() {
        let meter = Meter::new("r".into(), 1, Lanes { threads: 1, depth: 0, timed: false }, Voice::silent());
        let told = || meter.read(Moment(0), false).prepared;
        assert_eq!(told(), None);
        meter.prepare(100);
        meter.add_prepared(40);
        assert_eq!(told(), Some(Prepared { done: 40, of: 100 }));
        meter.add_prepared(60);
        assert_eq!(told(), None);
    }
}
