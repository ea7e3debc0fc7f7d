//! Where a finding stands: plain data, so that it can be made of a session as well as of columns of a file.

use std::collections::BTreeMap;

use crate::analysis::series::Series;
use crate::analysis::state::{ROWS, RunState, State};
use crate::vocab::event::Phase;
use crate::vocab::finding::{Finding, Kind};
use crate::vocab::moment::Moment;
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
}
