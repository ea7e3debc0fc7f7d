//! Sessions made by hand for the tests of this room: a rate over time, played as a worker would say it.

use super::detect::Arbiter;
use super::state::State;
use crate::vocab::event::{Event, MeterSpec, Opening, Outcome, Phase, Progress, Record, Start};
use crate::vocab::figure::Figure;
use crate::vocab::finding::Finding;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;
use crate::vocab::node::Build;
use crate::vocab::node::FORMAT;
use crate::vocab::plan::{Check, Load, Plan, Run, Synthetic};
use crate::vocab::unit::Unit;

/// A session of one run on one node, being told.
pub(crate) struct Scenario {
    pub(crate) state: State,
    pub(crate) records: Vec<Record>,
    arbiter: Arbiter,
    at: Moment,
    done: u64,
    stuck_since: Option<Moment>,
}

impl Scenario {
    /// A session with these checks whose run `r` has come to its first Measure phase.
    pub(crate) fn measuring(checks: Vec<Check>) -> Self {
        let kernel = Load::Synthetic(Synthetic {
            rate: "100 MB/s".parse().unwrap(),
            time: Span::seconds(10),
            shape: crate::vocab::plan::Shape::Level,
            noise: 0.0,
        });
        let run = Run { name: "r".into(), kernel, iterations: 1, target: None, deadline: None, seed: 1 };
        let plan = Plan {
            name: "p".to_owned(),
            title: "t".to_owned(),
            about: String::new(),
            smoke: false,
            runs: vec![run],
            checks,
            roofs: [("cpu".to_owned(), "200 MB/s".parse().unwrap())].into(),
        };
        let opening = Opening {
            format: FORMAT,
            session: "s".to_owned(),
            plan,
            build: Build::this(),
            started: "2026-01-01T00:00:00Z".to_owned(),
            nodes: vec!["n".into()],
        };
        let start = Start {
            run: "r".into(),
            iterations: 1,
            meters: vec![MeterSpec::new("mb_per_s", Unit::MegabytesPerSecond, true)],
            roofs: vec![],
            labels: std::collections::BTreeMap::new(),
            command: String::new(),
            deadline: Span::seconds(60),
        };
        let mut scenario = Self {
            state: State::default(),
            records: Vec::new(),
            arbiter: Arbiter::default(),
            at: Moment(1_000_000),
            done: 0,
            stuck_since: None,
        };
        scenario.put("", Event::SessionOpened(Box::new(opening)));
        scenario.put("n", Event::RunStarted(Box::new(start)));
        scenario.put("n", Event::Phase { run: "r".into(), iteration: 1, phase: Phase::Measure });
        scenario
    }

    pub(crate) fn put(&mut self, node: &str, event: Event) {
        let record = Record { seq: self.records.len() as u64 + 1, at: self.at, node: node.into(), event };
        self.state.apply(&record);
        let found = self.arbiter.observe(&record, &self.state);
        self.records.push(record);
        for (node, finding) in found {
            let record = Record { seq: self.records.len() as u64 + 1, at: self.at, node, event: Event::Found(finding) };
            self.state.apply(&record);
            self.records.push(record);
        }
    }

    /// The worker goes on at this rate for so many tenths of a second.
    pub(crate) fn work(mut self, mb_per_s: f64, tenths: u32) -> Self {
        for _ in 0..tenths {
            self.at = self.at + Span::milliseconds(100);
            self.done += (mb_per_s * 1e5) as u64;
            if mb_per_s > 0.0 {
                self.stuck_since = Some(self.at);
            }
            let oldest = self.stuck_since.map(|s| Span(self.at.since(s).0.max(1)));
            let progress = Progress { run: "r".into(), done: vec![self.done], in_flight: 1, oldest, latency: None };
            self.put("n", Event::Progress(progress));
        }
        self
    }

    /// Nothing is in flight, and nothing completes.
    pub(crate) fn idle(mut self, tenths: u32) -> Self {
        for _ in 0..tenths {
            self.at = self.at + Span::milliseconds(100);
            let progress =
                Progress { run: "r".into(), done: vec![self.done], in_flight: 0, oldest: None, latency: None };
            self.put("n", Event::Progress(progress));
        }
        self
    }

    /// Only the runner's clock goes on.
    pub(crate) fn silence(mut self, tenths: u32) -> Self {
        for _ in 0..tenths {
            self.at = self.at + Span::milliseconds(100);
            self.put("", Event::Tick);
        }
        self
    }

    /// The run gives a figure and comes to its end.
    pub(crate) fn end(mut self, mb_per_s: f64, outcome: Outcome) -> Self {
        let figures = vec![Figure::new("mb_per_s", mb_per_s, Unit::MegabytesPerSecond)];
        self.put("n", Event::IterationEnded { run: "r".into(), iteration: 1, figures, latency: None });
        self.put("n", Event::RunEnded { run: "r".into(), outcome });
        self
    }

    /// The findings as they stand, oldest first.
    pub(crate) fn findings(&self) -> Vec<&Finding> {
        self.state.findings.values().collect()
    }

    /// The node of the run.
    pub(crate) fn node() -> NodeName {
        "n".into()
    }
}
