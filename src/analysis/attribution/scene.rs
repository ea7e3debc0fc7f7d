//! Where a finding stands: plain data, so that it can be made of a session as well as of columns of a file.

use std::collections::BTreeMap;

use crate::analysis::series::Series;
use crate::analysis::state::{ROWS, RunState, State};
use crate::vocab::event::Phase;
use crate::vocab::finding::{Finding, Kind};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::node::{Conditions, Inventory};
use crate::vocab::plan::Load;
use crate::vocab::unit::Unit;

/// One derived host series with its place.
#[derive(Clone, Copy, Debug)]
pub struct Counter<'a> {
    /// Source and device: `disk/vda`, `cpu/`.
    pub key: &'a str,
    /// The row's name: `util`.
    pub name: &'a str,
    /// The row's unit.
    pub unit: Unit,
    /// Whether it only says more closely what another row of its device says; evidence does not name it.
    pub detail: bool,
    /// The readings, on the node's clock.
    pub series: &'a Series,
}

/// The other runs of the plan that share the node with a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beside {
    /// It has the node for itself.
    #[default]
    Nobody,
    /// They go on, as they did before.
    Others,
    /// One of them began or ended its load at the onset.
    Turning,
}

/// A level is read ten times a second, and falls a moment after what takes it away has begun.
const AFTER: Span = Span::milliseconds(1_500);
/// An onset is found to one reading, and a phase is told when it has begun.
const AHEAD: Span = Span::milliseconds(300);

/// Where a finding stands.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// Every derived series of the node.
    pub counters: Vec<Counter<'a>>,
    /// The run's own block device by its kernel name, if it has one.
    pub device: Option<&'a str>,
    /// What runs.
    pub load: Option<&'a Load>,
    /// What the node is.
    pub inventory: Option<&'a Inventory>,
    /// Its settings as they are now.
    pub conditions: Option<&'a Conditions>,
    /// The finding's kind.
    pub kind: Kind,
    /// The unit of `from` and `to`.
    pub unit: Unit,
    /// Since when, on the node's clock.
    pub onset: Moment,
    /// Up to when readings count: now, or when the finding was over.
    pub now: Moment,
    /// Since when the load has been what it was at the onset: readings from before it are of something else. None when not known.
    pub began: Option<Moment>,
    /// The level before, in `unit`.
    pub from: Option<f64>,
    /// The level since, in `unit`.
    pub to: Option<f64>,
    /// Work done in the run before the onset, in the things that `unit` counts.
    pub work_before: Option<f64>,
    /// What the worker says really runs: `path`, `engine`, `depth`, `device`.
    pub labels: Option<&'a BTreeMap<String, String>>,
    /// Who else of the plan is at work on the node.
    pub beside: Beside,
}

impl<'a> Scene<'a> {
    /// A finding of a run, whose kind, times, levels and work are filled in; none for a run of a node that is not known.
    #[must_use]
    pub fn of_run(state: &'a State, run: &'a RunState, finding: &Finding) -> Option<Self> {
        let node = state.nodes.get(&run.node)?;
        let measured = run.phase.filter(|(phase, since)| *phase == Phase::Measure && *since <= finding.onset);
        let level = finding.from.or(finding.to);
        let main = run.main_figure().map(|(_, unit)| unit);
        Some(Self {
            counters: node
                .host
                .devices
                .iter()
                .flat_map(|(key, device)| {
                    device.rows.iter().filter_map(move |(index, series)| {
                        let row = ROWS.get(*index)?;
                        Some(Counter { key, name: row.name, unit: row.unit, detail: row.detail, series })
                    })
                })
                .collect(),
            device: run.device(),
            load: Some(&run.load),
            inventory: node.inventory.as_ref(),
            conditions: Some(&node.conditions),
            kind: finding.kind,
            unit: level.map(|q| q.unit).or(main).unwrap_or(Unit::Count),
            onset: finding.onset,
            now: finding.closed.unwrap_or_else(|| state.node_now(&run.node)),
            began: measured.map(|(_, since)| since),
            from: finding.from.map(|q| q.value),
            to: finding.to.map(|q| q.value),
            work_before: finding.work_before.map(|q| q.value),
            labels: run.start.as_ref().map(|start| &start.labels),
            beside: beside(state, run, finding.onset),
        })
    }

    /// What the worker says of this.
    pub(super) fn label(&self, name: &str) -> Option<&'a str> {
        self.labels?.get(name).map(String::as_str)
    }

    /// A setting of the node.
    pub(super) fn condition(&self, name: &str) -> Option<&'a str> {
        self.conditions?.0.get(name).map(String::as_str)
    }

    /// The settings whose names begin and end so, with their values.
    pub(super) fn conditions_like(&self, begin: &str, end: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let all = self.conditions.into_iter().flat_map(|c| c.0.iter());
        let (begin, end) = (begin.to_owned(), end.to_owned());
        all.filter(move |(name, _)| name.starts_with(&begin) && name.ends_with(&end))
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// What the other runs of the group did at an onset.
fn beside(state: &State, run: &RunState, onset: Moment) -> Beside {
    let (from, to) = (onset - AFTER, onset + AHEAD);
    let here = |other: &&RunState| {
        other.started.is_some_and(|started| started <= to) && other.ended.is_none_or(|ended| ended >= from)
    };
    let others: Vec<&RunState> = state.companions(run).filter(here).collect();
    let turns = |other: &&RunState| {
        let loads = other.phases.iter().map(|(_, phase, at)| (phase.loads(), *at));
        let ends = other.ended.map(|at| (false, at));
        let mut before = false;
        loads.chain(ends).any(|(loads, at)| {
            let turned = std::mem::replace(&mut before, loads) != loads;
            turned && (from..=to).contains(&at)
        })
    };
    match (others.is_empty(), others.iter().any(turns)) {
        (true, _) => Beside::Nobody,
        (false, false) => Beside::Others,
        (false, true) => Beside::Turning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;
    use crate::vocab::event::{Described, Event, Sample, SampleKind};
    use crate::vocab::finding::Severity;
    use crate::vocab::unit::Quantity;

    #[test]
    fn a_scene_of_a_run_has_the_node_s_counters_and_the_finding_s_levels() {
        let mut told = Scenario::measuring(vec![]).work(100.0, 10);
        let described = |id, field: &str| Described {
            id,
            source: "cpu".into(),
            device: String::new(),
            field: field.into(),
            kind: SampleKind::Counter,
            unit: Unit::Seconds,
        };
        told.put("n", Event::Described(vec![described(0, "user"), described(1, "idle")]));
        for second in 0..2 {
            let values = vec![Sample(0, f64::from(second)), Sample(1, 10.0 + f64::from(second))];
            told.put("n", Event::Sampled { of: vec![], values });
            told = told.work(100.0, 10);
        }
        let state = &told.state;
        let mut finding = Finding::new(Kind::Collapse, Severity::Warn, state.now, state.now);
        finding.from = Some(Quantity::new(100.0, Unit::MegabytesPerSecond));
        let scene = Scene::of_run(state, &state.runs[0], &finding).unwrap();
        assert!(scene.counters.iter().any(|c| c.key == "cpu/" && c.name == "busy" && c.series.last().is_some()));
        assert_eq!((scene.from, scene.to, scene.unit), (Some(100.0), None, Unit::MegabytesPerSecond));
        assert_eq!((scene.began, scene.device), (Some(Moment(1_000_000)), None));
        let early = Finding::new(Kind::Stall, Severity::Warn, Moment(500_000), state.now);
        let scene = Scene::of_run(state, &state.runs[0], &early).unwrap();
        assert_eq!((scene.began, scene.unit), (None, Unit::MegabytesPerSecond), "what was measured began later");
    }

    #[test]
    fn what_the_other_runs_of_a_group_do_is_known() {
        let mut state = Scenario::measuring(vec![]).work(100.0, 600).state;
        let onset = Moment(30_000_000);
        let seen = |state: &State| beside(state, &state.runs[0], onset);
        assert_eq!(seen(&state), Beside::Nobody);
        let mut other = state.runs[0].clone();
        other.name = "other".into();
        other.phases = [(1, Phase::Prepare, Moment(5_000_000)), (1, Phase::Measure, Moment(8_000_000))].into();
        state.runs.push(other);
        assert_eq!(seen(&state), Beside::Nobody, "one after the other");
        state.runs.iter_mut().for_each(|run| run.together = Some("load".to_owned()));
        assert_eq!(seen(&state), Beside::Others);
        // From one phase under load to the next nothing changes for its neighbours.
        state.runs[1].phases.push_back((1, Phase::Drain, onset));
        assert_eq!(seen(&state), Beside::Others);
        state.runs[1].phases.push_back((1, Phase::Verify, onset - Span::seconds(1)));
        assert_eq!(seen(&state), Beside::Turning);
        state.runs[1].phases.pop_back();
        state.runs[1].ended = Some(onset + Span::milliseconds(200));
        assert_eq!(seen(&state), Beside::Turning);
        state.runs[1].ended = Some(onset - Span::seconds(9));
        assert_eq!(seen(&state), Beside::Nobody, "long over");
    }
}
