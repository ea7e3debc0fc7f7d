//! The series of a session's runs: which meter is watched, by which rules, and how what they say becomes a finding.

use super::rule::{About, Reading, Saying};
use super::track::Track;
use super::{Change, Detector};
use crate::analysis::attribution::{Attribution, Scene, attribute};
use crate::analysis::signal::Window;
use crate::analysis::state::{RunState, State};
use crate::vocab::event::{Event, Phase, Progress, Record};
use crate::vocab::figure::Figure;
use crate::vocab::finding::{Finding, Kind};
use crate::vocab::latency::Buckets;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::{NodeName, RunName};
use crate::vocab::plan::Limit;
use crate::vocab::unit::{Quantity, Unit, short};

/// After so long the counters, which are read once a second, have told of the time since an onset.
const COUNTED: Span = Span::milliseconds(2_200);

/// Watches every run.
#[derive(Debug, Default)]
pub(super) struct Live {
    runs: Vec<Watched>,
}

/// A run that is watched.
#[derive(Debug)]
struct Watched {
    node: NodeName,
    run: RunName,
    /// The meter on the chart, while the node is under load; or, where no meter keeps level, the figure of each iteration.
    rate: Track,
    /// The place of that meter; none when figures are watched.
    meter: Option<usize>,
    /// The slowest operation of each second.
    latency: Track,
    slowest: Option<(Moment, Buckets)>,
    last: Vec<u64>,
    figured: Moment,
    /// What was said before the counters could tell anything of the time since its onset.
    early: Vec<(bool, Saying)>,
}

impl Detector for Live {
    fn observe(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        if let Event::NodeLost { .. } = record.event {
            return self.lose(record, state, out);
        }
        let Some(name) = record.event.run() else { return };
        let Some(run) = state.run(&record.node, name) else { return };
        let watched = self.watched(record, run, state);
        match &record.event {
            // What hangs as the counted time ends goes on hanging: Drain is no new beginning for the timers.
            Event::Phase { phase: Phase::Drain, .. } => {}
            Event::Phase { .. } => {
                watched.rate.pause(record.at);
                watched.latency.pause(record.at);
            }
            Event::Progress(progress) => watched.read(record.at, progress, run),
            Event::IterationEnded { figures, .. } => watched.figure(record.at, figures, run),
            Event::RunEnded { .. } => watched.end(record.at),
            _ => return,
        }
        watched.tell(run, state, out);
    }
}

impl Live {
    fn watched(&mut self, record: &Record, run: &RunState, state: &State) -> &mut Watched {
        let known = self.runs.iter().position(|w| w.node == record.node && w.run == run.name);
        let place = known.unwrap_or_else(|| {
            self.runs.push(Watched::new(run, state, record.at));
            self.runs.len() - 1
        });
        // A run that is taken up again is another series; before its start nothing was known of its meters.
        if matches!(record.event, Event::RunStarted(_)) {
            self.runs[place] = Watched::new(run, state, record.at);
        }
        &mut self.runs[place]
    }

    /// The node's agent is gone, and with it every run that was under way.
    fn lose(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        for watched in self.runs.iter_mut().filter(|w| w.node == record.node) {
            if let Some(run) = state.run(&record.node, &watched.run) {
                watched.end(record.at);
                watched.tell(run, state, out);
            }
        }
    }
}

impl Watched {
    fn new(run: &RunState, state: &State, at: Moment) -> Self {
        let meter = run.meters.iter().position(|m| m.spec.level);
        let unit = meter.and_then(|i| run.meters.get(i)).map(|m| m.spec.unit);
        let unit = unit.or(run.main_figure().map(|(_, unit)| unit)).unwrap_or(Unit::Count);
        let floor = floor_of(run, state);
        let about = About { unit, lower_is_better: false, reference: floor, floor };
        let latency = About { unit: Unit::Milliseconds, lower_is_better: true, reference: None, floor: None };
        Self {
            node: run.node.clone(),
            run: run.name.clone(),
            rate: Track::new(about),
            meter,
            latency: Track::of_latency(latency),
            slowest: None,
            last: Vec::new(),
            figured: at,
            early: Vec::new(),
        }
    }

    fn read(&mut self, at: Moment, progress: &Progress, run: &RunState) {
        let phase = run.phase.map(|(phase, _)| phase);
        // In Drain only operations that are still in flight tell anything; laying out a file is no part of it.
        let drains = phase == Some(Phase::Drain) && progress.in_flight > 0;
        if !drains && !matches!(phase, Some(Phase::Measure | Phase::Ramp)) {
            return;
        }
        let moved = progress.done != self.last;
        if moved {
            self.last.clone_from(&progress.done);
        }
        let done = progress.done.get(self.meter.unwrap_or(0)).copied().unwrap_or(0) as f64;
        let in_flight = progress.in_flight;
        self.rate.reading(&Reading { at, moved, in_flight, oldest: progress.oldest, done });
        if phase != Some(Phase::Measure) {
            return;
        }
        if self.meter.is_some() {
            let counter = run.meters.iter().position(|m| m.spec.unit == Unit::Iops);
            let operations = counter.and_then(|i| progress.done.get(i)).copied();
            self.rate.done(at, done, operations);
        }
        if let Some(latency) = &progress.latency {
            self.slow(at, latency);
        }
    }

    /// The slowest operation since the latencies before.
    fn slow(&mut self, at: Moment, latency: &Buckets) {
        if let Some((from, before)) = &self.slowest
            && let Some(ns) = latency.quantile_since(before, 1.0)
        {
            let level = 1e6 / (ns.max(1) as f64);
            self.latency.window(&Window { from: *from, to: at, level, done_before: 0.0 });
        }
        self.slowest = Some((at, latency.clone()));
    }

    /// The figure of an iteration, where no meter keeps level within one.
    fn figure(&mut self, at: Moment, figures: &[Figure], run: &RunState) {
        let Some((name, unit)) = run.main_figure().filter(|_| self.meter.is_none()) else { return };
        let Some(figure) = figures.iter().find(|f| f.name == name) else { return };
        let work = run.meters.first().map_or(0.0, |m| m.total as f64);
        if figure.value.is_finite() && figure.unit == unit {
            self.rate.window(&Window { from: self.figured, to: at, level: figure.value, done_before: work });
        }
        self.figured = at;
    }

    fn end(&mut self, at: Moment) {
        self.rate.end(at);
        self.latency.end(at);
    }

    fn tell(&mut self, run: &RunState, state: &State, out: &mut Vec<Change>) {
        let now = state.node_now(&run.node);
        if self.early.first().is_some_and(|(_, saying)| now.since(saying.onset) >= COUNTED) {
            let (of_latency, saying) = self.early.remove(0);
            self.say(&saying, of_latency, run, state, out);
        }
        for of_latency in [false, true] {
            let track = if of_latency { &mut self.latency } else { &mut self.rate };
            if !track.has_said() {
                continue;
            }
            for saying in track.take().collect::<Vec<_>>() {
                self.early.retain(|(latency, early)| {
                    *latency != of_latency || saying.was.unwrap_or(saying.kind) != early.kind
                });
                self.say(&saying, of_latency, run, state, out);
                if saying.closed.is_none() && now.since(saying.onset) < COUNTED {
                    self.early.push((of_latency, Saying { was: None, ..saying }));
                }
            }
        }
    }

    fn say(&self, saying: &Saying, of_latency: bool, run: &RunState, state: &State, out: &mut Vec<Change>) {
        let (track, name) = if of_latency { (&self.latency, " latency") } else { (&self.rate, "") };
        let finding = finding(saying, track.about(), run, state);
        out.push(Change { was: saying.was, key: format!("{}{name}", run.name), ..Change::of(run, finding) });
    }
}

/// The floor that the plan's own checks set for this run's figure: what it is held against, and below which a fall is a fault.
fn floor_of(run: &RunState, state: &State) -> Option<f64> {
    let (figure, _) = run.main_figure()?;
    let of = format!("{}.{figure}", run.name);
    let checks = &state.opening.as_ref()?.plan.checks;
    checks.iter().filter(|c| c.of == of).find_map(|c| match &c.at_least {
        Some(Limit::Absolute(quantity)) => Some(quantity.value),
        _ => None,
    })
}

fn finding(saying: &Saying, about: &About, run: &RunState, state: &State) -> Finding {
    let mut finding = bare(saying, about);
    finding.run = Some(run.name.clone());
    finding.iteration = run.iteration;
    let at = state.clock(&run.node, finding.onset).to_string();
    let scene = Scene::of_run(state, run, &finding);
    explain(saying, &mut finding, scene.as_ref(), &at);
    finding
}

/// Fills in what a finding's scene tells about it, and its sentence.
pub(in crate::analysis) fn explain(saying: &Saying, finding: &mut Finding, scene: Option<&Scene<'_>>, at: &str) {
    let Attribution { held_by, evidence, causes, words, .. } = scene.map(attribute).unwrap_or_default();
    finding.sentence = sentence(saying, finding, at, &words);
    (finding.held_by, finding.evidence, finding.causes) = (held_by, evidence, causes);
}

/// A finding without its place and its evidence.
pub(in crate::analysis) fn bare(saying: &Saying, about: &About) -> Finding {
    let quantity = |level: Option<f64>| level.map(|level| Quantity::new(about.value(level), about.unit));
    let work = |things: Option<f64>| things.map(|things| Quantity::new(things, about.unit.counted()));
    let mut finding = Finding::new(saying.kind, saying.severity, saying.onset, saying.said);
    finding.closed = saying.closed;
    (finding.from, finding.to) = (quantity(saying.from), quantity(saying.to));
    (finding.work_before, finding.lost) = (work(saying.work_before), work(saying.lost));
    finding
}

/// `COLLAPSE: fell 99 % from 104 MB/s to 1.1 MB/s at 12.3 s, after 1.07 GB (said 0.3 s later); vda await 8 to 480 ms, …`
fn sentence(saying: &Saying, finding: &Finding, at: &str, evidence: &str) -> String {
    let work = finding.work_before.filter(|work| work.value > 0.0);
    let work = work.map(|work| format!(", after {}", short(work))).unwrap_or_default();
    let later = finding.said.since(finding.onset);
    let mut text = format!("{}: {} at {at}{work} (said {later} later)", finding.kind, saying.what);
    // What is no fault needs no explanation.
    let explains = !matches!(finding.kind, Kind::Recovery | Kind::Cap);
    let evidence = if explains { evidence } else { "" };
    for part in [&saying.note, evidence, &saying.end].into_iter().filter(|part| !part.is_empty()) {
        text.push_str("; ");
        text.push_str(part);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;
    use crate::vocab::event::Outcome;

    #[test]
    fn a_hang_that_begins_as_the_counted_time_ends_is_a_stall_all_the_same() {
        let hung = Scenario::measuring(vec![]).work(100.0, 60).work(0.0, 5).phase(Phase::Drain).work(0.0, 60);
        let stalls = hung.found(Kind::Stall);
        assert_eq!(stalls.len(), 1, "{:?}", hung.findings());
        // The last completion was 0.5 s before the phase.
        let told = hung.records.iter().find(|r| matches!(r.event, Event::Phase { phase: Phase::Drain, .. })).unwrap();
        assert!(stalls[0].onset < told.at && stalls[0].closed.is_none(), "{:?}", stalls[0]);
        let over = hung.finish(Outcome::Stuck);
        assert!(over.found(Kind::Stall)[0].closed.is_some());
    }

    #[test]
    fn a_flush_with_nothing_in_flight_and_a_layout_are_no_stall() {
        let flush = Scenario::measuring(vec![]).work(100.0, 60).phase(Phase::Drain).work(100.0, 2).idle(60);
        assert!(flush.found(Kind::Stall).is_empty(), "{:?}", flush.findings());
        let layout = Scenario::measuring(vec![]).work(100.0, 60).phase(Phase::Prepare).work(0.0, 60);
        assert!(layout.found(Kind::Stall).is_empty(), "{:?}", layout.findings());
    }
}
