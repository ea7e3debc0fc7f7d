//! COLLAPSE: the rate falls to half of its best lasting level or less.
//!
//! The fast rule: the median of the last three windows against the level ledger. It needs three healthy windows, and says
//! the fall within three windows of its onset. How bad it is shows once the low level has lasted.

use std::collections::{HashMap, VecDeque};

use super::windows::{Window, Windows};
use super::{Change, Detector};
use crate::analysis::attribution::{Scene, attribute, words};
use crate::analysis::state::{RunState, State, Status};
use crate::vocab::event::{Event, Phase, Record};
use crate::vocab::finding::{Finding, Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;
use crate::vocab::name::RunName;
use crate::vocab::plan::Limit;
use crate::vocab::stat;
use crate::vocab::unit::{Quantity, Unit, short};

/// Windows whose median is looked at; one or two outliers are no collapse.
const LOOK: usize = 3;
/// A fall to this share of the level, or below, is a collapse; smaller ones are steps.
const FALL: f64 = 0.5;
/// A level must last so many windows and so long before it may raise the ledger: a burst of one or two is no level.
const LASTING: (usize, Span) = (10, Span::seconds(3));
/// A low level is sustained after so long.
const SUSTAINED: Span = Span::seconds(5);
/// Back at this share of the level before, for [`LASTING`]'s time, it is over.
const RECOVERED: f64 = 0.9;
/// Windows kept.
const KEPT: usize = 64;

/// What any device gives that works at all, so that a fall below it is a fault without a contract: sequential 20 MB/s,
/// random 50 operations a second.
fn least_of_any_device(unit: Unit) -> Option<f64> {
    match unit {
        Unit::MegabytesPerSecond => Some(20.0),
        Unit::Iops => Some(50.0),
        _ => None,
    }
}

/// Watches the first level meter of every run.
#[derive(Default)]
pub(super) struct Collapse {
    runs: HashMap<(NodeName, RunName), Watched>,
}

#[derive(Default)]
struct Watched {
    windows: Windows,
    last: VecDeque<Window>,
    level: f64,
    block: Vec<Window>,
    open: Option<Open>,
}

struct Open {
    finding: Finding,
    low: Vec<f64>,
    sustained: bool,
}

impl Detector for Collapse {
    fn observe(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        let Some(name) = record.event.run() else { return };
        let Some(run) = state.run(&record.node, name) else { return };
        let Some(meter) = run.meters.iter().position(|m| m.spec.level) else { return };
        let watched = self.runs.entry((record.node.clone(), name.clone())).or_default();
        match &record.event {
            Event::Progress(progress) if matches!(run.phase, Some((Phase::Measure, _))) => {
                let operations =
                    run.meters.iter().position(|m| m.spec.unit == Unit::Iops).and_then(|i| progress.done.get(i));
                let done = progress.done.get(meter).copied().unwrap_or(0);
                if let Some(window) = watched.windows.push(record.at, done, operations.copied()) {
                    watched.take_in(window, run, state, out);
                }
            }
            Event::Phase { .. } => watched.windows.clear(),
            Event::RunEnded { .. } => watched.close(record.at, "to the end of the run", run, out),
            _ => {}
        }
    }
}

impl Watched {
    fn take_in(&mut self, window: Window, run: &RunState, state: &State, out: &mut Vec<Change>) {
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(window);
        if self.open.is_some() {
            return self.follow(window, run, state, out);
        }
        if self.has_fallen() {
            return self.say(window.to, run, state, out);
        }
        self.learn(window);
    }

    /// Whether the median of the last three windows is low, and work goes on at the low rate. Where nothing completes there
    /// is no rate to speak of: that is a stall, and a collapse once completions come again and stay low.
    fn has_fallen(&self) -> bool {
        let moves = |w: &&Window| w.per_second > 0.0;
        let (moving, low) = (self.low().filter(moves).count(), self.low().count());
        // The windows at both ends of a stall are partly healthy and so look low; they are two, and prove nothing.
        let enough = if moving < low { LOOK } else { LOOK / 2 + 1 };
        self.level > 0.0 && self.last.back().as_ref().is_some_and(moves) && moving >= enough
    }

    /// The latest windows back to the last one that was not low, latest first.
    fn low(&self) -> impl Iterator<Item = &Window> {
        self.last.iter().rev().take_while(|w| w.per_second <= FALL * self.level)
    }

    /// The ledger: the median of the first three windows, then the best block median that lasted.
    fn learn(&mut self, window: Window) {
        if self.level == 0.0 {
            self.level = self.recent_median(LOOK).unwrap_or(0.0);
        }
        self.block.push(window);
        if self.block.len() >= LASTING.0 && together(&self.block) >= LASTING.1 {
            let rates: Vec<f64> = self.block.drain(..).map(|w| w.per_second).collect();
            self.level = self.level.max(stat::median(&rates).unwrap_or(0.0));
        }
    }

    fn recent_median(&self, n: usize) -> Option<f64> {
        let rates: Vec<f64> = self.last.iter().rev().take(n).map(|w| w.per_second).collect();
        (rates.len() == n).then(|| stat::median(&rates)).flatten()
    }

    fn say(&mut self, now: Moment, run: &RunState, state: &State, out: &mut Vec<Change>) {
        let low: Vec<Window> = self.low().copied().collect();
        let Some(first) = low.last().or(self.last.back()).copied() else { return };
        let unit = run.meters.iter().find(|m| m.spec.level).map_or(Unit::Count, |m| m.spec.unit);
        let quantity = |things: f64| Some(Quantity::new(things / unit.things(), unit));
        let work = Quantity::new(first.done_before as f64, unit.counted());
        let finding = Finding {
            id: 0,
            kind: Kind::Collapse,
            severity: Severity::Warn,
            run: Some(run.name.clone()),
            iteration: run.iteration,
            onset: first.from,
            said: now,
            closed: None,
            from: quantity(self.level),
            to: quantity(self.recent_median(LOOK).unwrap_or(0.0)),
            work_before: Some(work),
            lost: None,
            again: 0,
            held_by: Vec::new(),
            causes: Vec::new(),
            evidence: Vec::new(),
            sentence: String::new(),
        };
        let mut open = Open { finding, low: low.iter().map(|w| w.per_second).collect(), sustained: false };
        open.restate(run, state);
        out.push(Change::of(run, open.finding.clone()));
        self.open = Some(open);
    }

    fn follow(&mut self, window: Window, run: &RunState, state: &State, out: &mut Vec<Change>) {
        let Some(open) = &mut self.open else { return };
        open.low.push(window.per_second);
        if open.low.len() > 4 * KEPT {
            open.low.drain(..KEPT);
        }
        let long = window.to.since(open.finding.onset);
        if !open.sustained && long >= SUSTAINED && open.low.len() >= LASTING.0.min(5) {
            open.sustained = true;
            open.settle_level(run, state);
            out.push(Change::of(run, open.finding.clone()));
        }
        let back = Moment(window.to.0.saturating_sub(LASTING.1.0));
        let since: Vec<&Window> = self.last.iter().filter(|w| w.from >= back).collect();
        let recovered = since.len() >= 3 && since.iter().all(|w| w.per_second >= RECOVERED * self.level);
        if recovered && together(since.iter().copied()).0.saturating_add(500_000) >= LASTING.1.0 {
            self.close(since[0].from, "then recovered", run, out);
        }
    }

    fn close(&mut self, at: Moment, how: &str, run: &RunState, out: &mut Vec<Change>) {
        let Some(mut open) = self.open.take() else { return };
        if !open.sustained && run.status == Status::Running {
            open.finding.severity = Severity::Info;
            open.finding.sentence = open.finding.sentence.replacen("COLLAPSE", "DIP", 1);
        }
        open.finding.closed = Some(at);
        open.finding.sentence.push_str(&format!("; {how}, after {}", at.since(open.finding.onset)));
        out.push(Change::of(run, open.finding));
        self.block.clear();
    }
}

impl Open {
    /// The low level has lasted: how low is it, and how bad is that?
    fn settle_level(&mut self, run: &RunState, state: &State) {
        let Some(to) = &mut self.finding.to else { return };
        to.value = stat::median(&self.low).unwrap_or(0.0) / to.unit.things();
        let least = floor_of(run, state).or(least_of_any_device(to.unit));
        self.finding.severity = match least {
            Some(least) if to.value < least => Severity::Fail,
            Some(_) => Severity::Info,
            None => Severity::Warn,
        };
        self.restate(run, state);
    }

    fn restate(&mut self, run: &RunState, state: &State) {
        let Some(scene) = Scene::of_run(state, run, &self.finding) else { return };
        let found = attribute(&scene);
        self.finding.sentence = sentence(&self.finding, run, state, &words(&found, &scene));
        (self.finding.evidence, self.finding.held_by, self.finding.causes) =
            (found.evidence, found.held_by, found.causes);
    }
}

/// How long windows are together.
fn together<'a>(windows: impl IntoIterator<Item = &'a Window>) -> Span {
    Span(windows.into_iter().fold(0, |sum, window| sum.saturating_add(window.length().0)))
}

/// The floor that the plan's own checks set for this run's figure.
fn floor_of(run: &RunState, state: &State) -> Option<f64> {
    let (figure, _) = run.main_figure()?;
    let of = format!("{}.{figure}", run.name);
    let checks = &state.opening.as_ref()?.plan.checks;
    checks.iter().filter(|c| c.of == of).find_map(|c| match c.at_least {
        Some(Limit::Absolute(quantity)) => Some(quantity.value),
        _ => None,
    })
}

/// `COLLAPSE: fell 99 % from 104 MB/s to 1.1 MB/s at 12.3 s, after 1.07 GB (said 0.3 s later); vda await 8 to 480 ms, …`
fn sentence(finding: &Finding, run: &RunState, state: &State, why: &str) -> String {
    let (Some(from), Some(to), Some(work)) = (finding.from, finding.to, finding.work_before) else {
        return String::new();
    };
    let fall = 100.0 * (1.0 - to.value / from.value.max(f64::MIN_POSITIVE));
    // What still goes on has not fallen by all of it.
    let fall = if fall > 99.5 && to.value > 0.0 { format!("{:.1}", fall.min(99.9)) } else { format!("{fall:.0}") };
    let at = state.clock(&run.node, finding.onset);
    let later = finding.said.since(finding.onset);
    let (from, to, work) = (short(from), short(to), short(work));
    format!("COLLAPSE: fell {fall} % from {from} to {to} at {at}, after {work} (said {later} later); {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;
    use crate::vocab::event::Outcome;

    #[test]
    fn a_fall_below_half_is_said_within_three_windows_with_onset_bytes_and_levels() {
        let told = Scenario::measuring(vec![]).work(100.0, 100).work(1.0, 3);
        let [finding] = told.findings()[..] else { panic!("{:?}", told.findings()) };
        assert_eq!((finding.kind, finding.severity), (Kind::Collapse, Severity::Warn));
        assert!(finding.said.since(finding.onset) <= Span::milliseconds(300));
        assert_eq!(finding.work_before.unwrap().value, 1e9);
        assert_eq!(finding.from.unwrap().value.round(), 100.0);
        assert!(finding.sentence.contains("fell 99 % from 100 MB/s to 1 MB/s"), "{}", finding.sentence);
    }

    #[test]
    fn standing_still_is_a_stall_and_a_collapse_only_when_it_goes_on_slowly() {
        let kinds = |told: &Scenario| told.findings().iter().map(|f| f.kind).collect::<Vec<_>>();
        // The reading in which it stops is low, too, since it is partly healthy.
        let stopped = || Scenario::measuring(vec![]).work(100.0, 30).work(5.0, 1).work(0.0, 25);
        assert_eq!(kinds(&stopped()), [Kind::Stall]);
        assert_eq!(kinds(&stopped().work(1.0, 10)), [Kind::Stall, Kind::Collapse]);
        assert_eq!(kinds(&stopped().work(5.0, 1).work(100.0, 30)), [Kind::Stall]);
    }

    #[test]
    fn its_twin_at_six_tenths_is_no_collapse() {
        assert!(Scenario::measuring(vec![]).work(100.0, 100).work(60.0, 100).findings().is_empty());
    }

    #[test]
    fn a_low_level_that_lasts_is_a_fail_and_one_above_any_floor_is_only_told() {
        let low = Scenario::measuring(vec![]).work(100.0, 50).work(1.0, 60);
        assert_eq!(low.findings()[0].severity, Severity::Fail);
        let settled = Scenario::measuring(vec![]).work(1000.0, 50).work(300.0, 60);
        assert_eq!(settled.findings()[0].severity, Severity::Info);
    }

    #[test]
    fn recovery_closes_it_and_a_short_one_was_a_dip() {
        let told = Scenario::measuring(vec![]).work(100.0, 50).work(1.0, 60).work(100.0, 40);
        let [finding] = told.findings()[..] else { panic!("{:?}", told.findings()) };
        assert_eq!((finding.severity, finding.closed.is_some()), (Severity::Fail, true));
        let dip = Scenario::measuring(vec![]).work(100.0, 50).work(1.0, 10).work(100.0, 40);
        assert_eq!(dip.findings()[0].severity, Severity::Info);
        assert!(dip.findings()[0].sentence.starts_with("DIP"));
    }

    #[test]
    fn three_healthy_windows_are_enough_and_fewer_are_not() {
        assert_eq!(Scenario::measuring(vec![]).work(100.0, 5).work(1.0, 4).findings().len(), 1);
        assert!(Scenario::measuring(vec![]).work(100.0, 1).work(1.0, 30).findings().is_empty());
    }

    #[test]
    fn an_end_while_low_says_how_long() {
        let told = Scenario::measuring(vec![]).work(100.0, 50).work(1.0, 60).end(50.0, Outcome::Sound);
        assert!(
            told.findings()[0].sentence.ends_with("to the end of the run, after 6.0 s"),
            "{}",
            told.findings()[0].sentence
        );
    }
}
