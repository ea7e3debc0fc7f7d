//! CACHED: the figure is that of memory and not of the medium. What proves it are the counters of the device itself: the run did
//! more than twice of what the device was asked for. Where there are no counters, nothing is said. A controller's cache lies behind
//! those counters: of it the size of the file tells, where the size of the cache is known.

use std::collections::HashMap;

use super::{Change, Detector};
use crate::analysis::state::{Node, RunState, State};
use crate::vocab::event::{Event, Phase, Record};
use crate::vocab::finding::{Cause, Finding, Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::{NodeName, RunName};
use crate::vocab::plan::{CONTROLLER_CACHE, Disk, Pattern, TIMES_CACHE};
use crate::vocab::size::ByteSize;
use crate::vocab::unit::{Quantity, Unit, short};

/// When the device moved less than this share of what the run did, most of it was the cache's. Metadata, read-ahead and other users
/// only make the device do more.
const SHARE: f64 = 0.5;
/// Devices are read once a second at least, so over less than this their rates are not known well enough.
const SHORTEST: Span = Span::seconds(1);
/// A file that was gone through so often while it fits in memory so often was read from memory, for the most part.
const PASSES: u64 = 2;
/// Bytes of a sector, on every device (`Documentation/admin-guide/iostats.rst`).
const SECTOR: f64 = 512.0;

/// Watches the runs that read, and those that write through the page cache.
#[derive(Default)]
pub(super) struct Cached {
    runs: HashMap<(NodeName, RunName), Watched>,
}

#[derive(Default)]
struct Watched {
    from: Option<Mark>,
    to: Option<Mark>,
    open: Option<(Finding, f64)>,
}

/// What had been done at a moment, by the run and by the devices.
#[derive(Clone)]
struct Mark {
    at: Moment,
    bytes: u64,
    own: Option<(Moment, f64)>,
    /// Of all physical disks together, and how many these are.
    all: Option<(usize, Moment, f64)>,
}

/// What was found of an iteration.
struct Proof {
    /// The part of the run's work that the device did.
    share: f64,
    words: String,
}

impl Detector for Cached {
    fn observe(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        // Ten times a second, and nothing in it for this.
        if matches!(record.event, Event::Progress(_)) {
            return;
        }
        let Some(run) = record.event.run().and_then(|name| state.run(&record.node, name)) else { return };
        let (Some(load), Some(node)) = (&run.disk(), state.nodes.get(&run.node)) else { return };
        let watched = self.runs.entry((run.node.clone(), run.name.clone())).or_default();
        match &record.event {
            Event::Phase { phase, .. } if *phase == begins(load) => {
                (watched.from, watched.to) = (Mark::of(record.at, run, node, load), None);
            }
            Event::Phase { phase: Phase::Drain, .. } if !counts_the_flush(load) => {
                watched.to = Mark::of(record.at, run, node, load);
            }
            Event::IterationEnded { iteration, .. } => {
                let to = watched.to.take().or_else(|| Mark::of(record.at, run, node, load));
                let Some((from, to)) = watched.from.take().zip(to) else { return };
                let proof = prove(&from, &to, (run, node, load)).or_else(|| behind_a_controller(run, load));
                if let Some(proof) = proof {
                    watched.say(proof, from.at, *iteration, (record.at, run), out);
                }
            }
            Event::RunEnded { .. } => {
                if let Some((mut finding, _)) = watched.open.take() {
                    finding.closed = Some(record.at);
                    out.push(Change::of(run, finding));
                }
            }
            _ => {}
        }
    }
}

fn writes(load: &Disk) -> bool {
    load.pattern.writes()
}

/// Whether the main figure is reckoned to the end of the flush, so that what the cache took is in it with the time that it cost:
/// MB/s of buffered writes. IOPS of random ones are those of the window alone.
fn counts_the_flush(load: &Disk) -> bool {
    matches!(load.pattern, Pattern::Write | Pattern::Copy) && !load.is_direct()
}

/// Where the time of the main figure begins.
fn begins(load: &Disk) -> Phase {
    if counts_the_flush(load) { Phase::Ramp } else { Phase::Measure }
}

impl Mark {
    /// None while the run has no meter of bytes.
    fn of(at: Moment, run: &RunState, node: &Node, load: &Disk) -> Option<Self> {
        let bytes = run.meters.iter().find(|m| m.spec.unit == Unit::MegabytesPerSecond)?.total;
        let field = if writes(load) { "write_sectors" } else { "read_sectors" };
        let reading = |name: &str| {
            let key = format!("disk/{name}");
            let device = node.host.devices.get(&key).filter(|device| device.gone.is_none())?;
            Some((device.at, node.host.raw(&key, field)?))
        };
        let own = run.device().and_then(reading);
        let leaves: Option<Vec<(Moment, f64)>> = node.host.total_of("disk").into_iter().map(reading).collect();
        let all = leaves.filter(|all| !all.is_empty()).map(|all| {
            let latest = all.iter().map(|(at, _)| *at).max().unwrap_or_default();
            (all.len(), latest, all.iter().map(|(_, sectors)| sectors).sum())
        });
        Some(Self { at, bytes, own, all })
    }

    /// What the run did a second from here to there, in bytes.
    fn rate(&self, to: &Self) -> Option<f64> {
        let seconds = to.at.since(self.at).as_seconds();
        (seconds > 0.0).then(|| to.bytes.saturating_sub(self.bytes) as f64 / seconds)
    }

    /// The same of the device, or of all disks when these did more: a file may lie on several.
    fn device_rate(&self, to: &Self) -> Option<f64> {
        let rate = |from: (Moment, f64), to: (Moment, f64)| {
            let span = to.0.since(from.0);
            // A counter that fell was reset, and what it gained is not known.
            (span >= SHORTEST && to.1 >= from.1).then(|| (to.1 - from.1) * SECTOR / span.as_seconds())
        };
        let own = rate(self.own?, to.own?)?;
        let all = self.all.zip(to.all).filter(|(a, b)| a.0 == b.0).and_then(|(a, b)| rate((a.1, a.2), (b.1, b.2)));
        Some(all.map_or(own, |all| all.max(own)))
    }
}

fn prove(from: &Mark, to: &Mark, (run, node, load): (&RunState, &Node, &Disk)) -> Option<Proof> {
    // What is read and what is written are one count in a mixed load, and two in a device.
    if writes(load) && load.is_direct() || matches!(load.pattern, Pattern::Mixed { .. }) {
        return None;
    }
    let print = |rate: f64| short(Quantity::new(rate / 1e6, Unit::MegabytesPerSecond));
    let rate = from.rate(to).filter(|rate| *rate > 0.0)?;
    let verb = if writes(load) { "wrote" } else { "read" };
    if let (Some(device), Some(on_device)) = (run.device(), from.device_rate(to)) {
        let share = on_device / rate;
        let (rate, on_device) = (print(rate), print(on_device));
        let words = format!("{verb} {rate} while {device} {verb} {on_device}");
        return (share < SHARE).then_some(Proof { share, words });
    }
    if writes(load) || load.is_direct() || from.own.is_some() {
        return None;
    }
    let (bytes, size) = (to.bytes.saturating_sub(from.bytes), files(load));
    let memory = node.inventory.as_ref().map(|i| i.memory)?;
    let held = size.saturating_mul(PASSES) <= memory && bytes >= size.saturating_mul(PASSES);
    let (passes, memory) = (bytes / size, short(Quantity::new(memory as f64, Unit::Bytes)));
    let words = format!("read its file of {} {passes} times at {}, in a memory of {memory}", load.size, print(rate));
    held.then(|| Proof { share: 1.0 / passes.max(1) as f64, words })
}

/// Bytes of all files of a load.
fn files(load: &Disk) -> u64 {
    load.size.0.saturating_mul(u64::from(load.jobs)).max(1)
}

/// A file that lies in the cache of its RAID controller for more than a quarter proves nothing of the disks behind.
fn behind_a_controller(run: &RunState, load: &Disk) -> Option<Proof> {
    let told = run.start.as_ref()?.labels.get(CONTROLLER_CACHE)?;
    let cache: ByteSize = told.parse().ok()?;
    let (size, least) = (files(load), cache.0.saturating_mul(TIMES_CACHE));
    let words = format!(
        "used a file of {}, less than {TIMES_CACHE} times the {cache} of cache in the disk controller",
        ByteSize(size)
    );
    (size < least).then(|| Proof { share: size as f64 / least as f64, words })
}

impl Watched {
    /// Says it once a run, and again when a later iteration was worse.
    fn say(
        &mut self,
        proof: Proof,
        since: Moment,
        iteration: u32,
        (at, run): (Moment, &RunState),
        out: &mut Vec<Change>,
    ) {
        if self.open.as_ref().is_some_and(|(_, before)| proof.share >= *before) {
            return;
        }
        let mut finding = match self.open.take() {
            Some((finding, _)) => finding,
            None => Finding { iteration, ..Finding::new(Kind::Cached, Severity::Warn, since, at) },
        };
        finding.run = Some(run.name.clone());
        let words = proof.words;
        finding.sentence = format!(
            "CACHED: {} {words} in iteration {iteration}: the figure is that of a cache and not of the medium",
            run.name
        );
        finding.causes = vec![Cause {
            what: "memory stood in for the device".to_owned(),
            proof: Some(words),
            check: "the same with direct: true, with a file of more than twice the memory, and of more than four times the controller's cache"
                .to_owned(),
        }];
        out.push(Change::of(run, finding.clone()));
        self.open = Some((finding, proof.share));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::{Scenario, disk};
    use crate::vocab::event::Outcome;
    use crate::vocab::plan::Load;

    /// An iteration of 4 s in which the run does so many MB/s and the device so many.
    fn told(load: Load, run: f64, device: f64) -> Scenario {
        Scenario::loading(load, vec![])
            .device(device, run, 10)
            .phase(Phase::Measure)
            .device(device, run, 40)
            .iteration(vec![])
    }

    #[test]
    fn reads_that_the_device_did_not_serve_are_those_of_a_cache() {
        for direct in [false, true] {
            let told = told(disk(Pattern::Read, direct), 2000.0, 12.0);
            let [finding] = told.found(Kind::Cached)[..] else { panic!("{:?}", told.found(Kind::Cached)) };
            assert_eq!((finding.kind, finding.severity, finding.closed), (Kind::Cached, Severity::Warn, None));
            assert!(finding.sentence.contains("read 2000 MB/s while vda read 12 MB/s"), "{}", finding.sentence);
            assert!(told.finish(Outcome::Sound).found(Kind::Cached)[0].closed.is_some());
        }
    }

    #[test]
    fn its_twins_are_served_by_the_device() {
        for direct in [false, true] {
            assert!(told(disk(Pattern::Read, direct), 200.0, 200.0).found(Kind::Cached).is_empty());
            assert!(told(disk(Pattern::RandomRead, direct), 200.0, 130.0).found(Kind::Cached).is_empty());
        }
    }

    #[test]
    fn without_counters_nothing_is_said_unless_the_file_was_read_again_from_memory() {
        let unsampled = |direct| {
            let told = Scenario::loading(disk(Pattern::Read, direct), vec![]);
            told.phase(Phase::Measure).work(2000.0, 40).iteration(vec![])
        };
        assert!(unsampled(true).found(Kind::Cached).is_empty());
        assert!(unsampled(false).found(Kind::Cached).is_empty(), "how large the memory is, is not known");
        let known = |mb_per_s: f64| {
            let told = Scenario::loading(disk(Pattern::Read, false), vec![]).join("a");
            told.phase(Phase::Measure).work(mb_per_s, 40).iteration(vec![])
        };
        assert!(
            known(2000.0).found(Kind::Cached)[0].sentence.contains("7 times"),
            "{}",
            known(2000.0).found(Kind::Cached)[0].sentence
        );
        assert!(known(400.0).found(Kind::Cached).is_empty(), "one pass and a half");
    }

    #[test]
    fn random_writes_into_the_page_cache_are_found_and_direct_ones_are_not() {
        assert_eq!(told(disk(Pattern::RandomWrite, false), 900.0, 100.0).found(Kind::Cached).len(), 1);
        assert!(told(disk(Pattern::RandomWrite, false), 900.0, 800.0).found(Kind::Cached).is_empty());
        assert!(told(disk(Pattern::RandomWrite, true), 900.0, 100.0).found(Kind::Cached).is_empty());
    }

    #[test]
    fn writes_whose_figure_counts_the_flush_are_held_against_the_whole_of_it() {
        // 400 MB are taken in within a second, and are on the device after three more.
        let flushed = |device: f64| {
            let told = Scenario::loading(disk(Pattern::Write, false), vec![]).device(0.0, 0.0, 10).phase(Phase::Ramp);
            let told = told.phase(Phase::Measure).device(device, 400.0, 10).phase(Phase::Drain);
            told.device(device, 0.0, 30).iteration(vec![])
        };
        assert!(flushed(100.0).found(Kind::Cached).is_empty());
        assert_eq!(flushed(10.0).found(Kind::Cached).len(), 1);
    }

    #[test]
    fn a_file_that_a_controllers_cache_may_hold_proves_nothing_of_the_disks() {
        let told = |cache: &str| {
            let told = Scenario::labelled(disk(Pattern::Write, true), vec![], &[(CONTROLLER_CACHE, cache)]);
            told.device(100.0, 100.0, 10).phase(Phase::Measure).device(100.0, 100.0, 40).iteration(vec![])
        };
        let told_of = told("512MiB");
        let [finding] = told_of.found(Kind::Cached)[..] else { panic!("{:?}", told_of.found(Kind::Cached)) };
        assert!(
            finding.sentence.contains("used a file of 1GiB, less than 4 times the 512MiB of cache"),
            "{}",
            finding.sentence
        );
        assert!(told("256MiB").found(Kind::Cached).is_empty());
    }

    #[test]
    fn a_counter_that_was_reset_proves_nothing() {
        let told = Scenario::loading(disk(Pattern::Read, true), vec![]).device(200.0, 200.0, 30).phase(Phase::Measure);
        let told = told.work(200.0, 40).sample("disk/vda", "read_sectors", 5.0).iteration(vec![]);
        assert!(told.found(Kind::Cached).is_empty(), "{:?}", told.found(Kind::Cached));
    }
}
