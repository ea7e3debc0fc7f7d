//! STALL: readings arrive, the counters stand still, and an operation is in flight. A timer, so it needs no baseline.

use std::collections::{HashMap, VecDeque};

use super::{Change, Detector};
use crate::analysis::attribution::{Scene, attribute, words};
use crate::analysis::state::{RunState, State};
use crate::vocab::event::{Event, Phase, Progress, Record};
use crate::vocab::finding::{Finding, Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;
use crate::vocab::name::RunName;
use crate::vocab::unit::{Quantity, Unit, short};

/// Standing still for less is no stall on any device.
const LEAST: Span = Span::seconds(2);
/// Nor is less than so many times the 99th percentile of this run's own pauses.
const TIMES_USUAL: u64 = 5;
/// From here on it is a FAIL, and then CRIT.
const GRADES: [(Span, Severity); 2] = [(Span::seconds(10), Severity::Fail), (Span::seconds(30), Severity::Crit)];
/// Pauses remembered.
const PAUSES: usize = 200;

/// Watches every run that tells what it has in flight.
#[derive(Default)]
pub(super) struct Stall {
    runs: HashMap<(NodeName, RunName), Watched>,
}

#[derive(Default)]
struct Watched {
    done: Vec<u64>,
    moved_at: Option<Moment>,
    pauses: VecDeque<u64>,
    open: Option<Finding>,
}

impl Detector for Stall {
    fn observe(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        let Some(name) = record.event.run() else { return };
        let Some(run) = state.run(&record.node, name) else { return };
        let watched = self.runs.entry((record.node.clone(), name.clone())).or_default();
        match &record.event {
            Event::Progress(progress) if matches!(run.phase, Some((Phase::Measure | Phase::Ramp, _))) => {
                watched.read(record.at, progress, run, state, out);
            }
            Event::RunEnded { .. } => {
                watched.close(record.at, "to the end of the run", run, out);
            }
            Event::Phase { .. } => watched.moved_at = Some(record.at),
            _ => {}
        }
    }
}

impl Watched {
    fn read(&mut self, at: Moment, progress: &Progress, run: &RunState, state: &State, out: &mut Vec<Change>) {
        let since = *self.moved_at.get_or_insert(at);
        if progress.done != self.done {
            self.done.clone_from(&progress.done);
            self.moved_at = Some(at);
            if self.open.is_some() {
                return self.close(at, "then completions came again", run, out);
            }
            if self.pauses.len() == PAUSES {
                self.pauses.pop_front();
            }
            self.pauses.push_back(at.since(since).0);
            return;
        }
        let still = at.since(since);
        if progress.in_flight == 0 || still < self.patience() {
            return;
        }
        let grade =
            GRADES.iter().rev().find(|(long, _)| still >= *long).map_or(Severity::Warn, |(_, severity)| *severity);
        if self.open.as_ref().is_none_or(|f| f.severity < grade) {
            self.say(at, since, grade, (progress, run, state), out);
        }
    }

    fn patience(&self) -> Span {
        let mut pauses: Vec<u64> = self.pauses.iter().copied().collect();
        pauses.sort_unstable();
        let usual = pauses.get((pauses.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0);
        LEAST.max(Span(usual.saturating_mul(TIMES_USUAL)))
    }

    fn say(
        &mut self,
        at: Moment,
        since: Moment,
        severity: Severity,
        seen: (&Progress, &RunState, &State),
        out: &mut Vec<Change>,
    ) {
        let (progress, run, state) = seen;
        let oldest = progress.oldest.unwrap_or_default();
        let unit = run.main_figure().map_or(Unit::Count, |(_, unit)| unit);
        let work = Quantity::new(self.done.first().copied().unwrap_or(0) as f64, unit.counted());
        let when = state.clock(&run.node, since);
        let said = self.open.as_ref().map_or(at, |f| f.said);
        let mut finding = Finding {
            id: 0,
            kind: Kind::Stall,
            severity,
            run: Some(run.name.clone()),
            iteration: run.iteration,
            onset: since,
            said,
            closed: None,
            from: None,
            to: Some(Quantity::new(0.0, unit)),
            work_before: Some(work),
            lost: None,
            again: 0,
            held_by: Vec::new(),
            causes: Vec::new(),
            evidence: Vec::new(),
            sentence: String::new(),
        };
        let scene = Scene::of_run(state, run, &finding);
        let found = scene.as_ref().map(attribute).unwrap_or_default();
        let why = scene.as_ref().map(|scene| words(&found, scene)).unwrap_or_default();
        finding.sentence = format!(
            "STALL: nothing completed for {} since {when}, after {}; {} in flight, the oldest for {oldest}; {why}",
            at.since(since),
            short(work),
            progress.in_flight,
        );
        (finding.evidence, finding.held_by, finding.causes) = (found.evidence, found.held_by, found.causes);
        out.push(Change::of(run, finding.clone()));
        self.open = Some(finding);
    }

    fn close(&mut self, at: Moment, how: &str, run: &RunState, out: &mut Vec<Change>) {
        let Some(mut finding) = self.open.take() else { return };
        finding.closed = Some(at);
        finding.sentence.push_str(&format!("; {how}, after {}", at.since(finding.onset)));
        out.push(Change::of(run, finding));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;

    fn kinds(told: &Scenario) -> Vec<(Kind, Severity)> {
        told.findings().iter().map(|f| (f.kind, f.severity)).collect()
    }

    #[test]
    fn nothing_for_two_seconds_is_a_stall_without_any_baseline() {
        let told = Scenario::measuring(vec![]).work(100.0, 1).work(0.0, 21);
        assert_eq!(kinds(&told), [(Kind::Stall, Severity::Warn)]);
        let finding = told.findings()[0];
        assert!(finding.said.since(finding.onset) <= Span::milliseconds(2_100));
        assert!(finding.sentence.contains("the oldest for 2.0 s"), "{}", finding.sentence);
    }

    #[test]
    fn its_twins_are_none_shorter_or_with_nothing_in_flight() {
        assert!(Scenario::measuring(vec![]).work(100.0, 1).work(0.0, 15).work(100.0, 9).findings().is_empty());
        assert!(Scenario::measuring(vec![]).work(100.0, 1).idle(60).findings().is_empty());
    }

    #[test]
    fn a_stall_long_after_a_collapse_is_one_of_its_own_and_one_at_its_beginning_is_not() {
        let late = Scenario::measuring(vec![]).work(100.0, 50).work(10.0, 100).work(0.0, 30);
        assert_eq!(kinds(&late).iter().map(|k| k.0).collect::<Vec<_>>(), [Kind::Collapse, Kind::Stall]);
        let early = Scenario::measuring(vec![]).work(100.0, 50).work(10.0, 5).work(0.0, 30);
        assert_eq!(kinds(&early).iter().map(|k| k.0).collect::<Vec<_>>(), [Kind::Collapse]);
    }

    #[test]
    fn severity_rises_with_time_and_the_first_completion_closes_it() {
        assert_eq!(kinds(&Scenario::measuring(vec![]).work(100.0, 1).work(0.0, 102)), [(Kind::Stall, Severity::Fail)]);
        let told = Scenario::measuring(vec![]).work(100.0, 1).work(0.0, 305).work(100.0, 1);
        assert_eq!(kinds(&told), [(Kind::Stall, Severity::Crit)]);
        assert!(told.findings()[0].closed.is_some());
    }
}
