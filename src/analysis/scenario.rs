//! Sessions made by hand for the tests of this room: a rate over time, played as a worker would say it.

use std::collections::BTreeMap;

use super::detect::Arbiter;
use super::state::State;
use crate::vocab::event::{
    Described, Event, MeterSpec, Opening, Outcome, Phase, Progress, Record, Sample, SampleKind, Start,
};
use crate::vocab::figure::Figure;
use crate::vocab::finding::{Finding, Kind};
use crate::vocab::latency::{Buckets, bucket};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;
use crate::vocab::node::{Build, Change, Conditions, FORMAT, Inventory};
use crate::vocab::plan::{Check, Disk, Load, Pattern, Plan, Run, Synthetic};
use crate::vocab::size::ByteSize;
use crate::vocab::unit::Unit;

/// A session of one run on one node, being told.
pub(crate) struct Scenario {
    pub(crate) state: State,
    pub(crate) records: Vec<Record>,
    arbiter: Arbiter,
    at: Moment,
    done: u64,
    stuck_since: Option<Moment>,
    counters: BTreeMap<(String, String), f64>,
    iteration: u32,
    latencies: BTreeMap<u16, u64>,
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
        Self::loading(kernel, checks)
    }

    /// The same with this load, on the device `vda`.
    pub(crate) fn loading(kernel: Load, checks: Vec<Check>) -> Self {
        Self::labelled(kernel, checks, &[])
    }

    /// The same with more labels.
    pub(crate) fn labelled(kernel: Load, checks: Vec<Check>, more: &[(&str, &str)]) -> Self {
        let mut labels = labels(&kernel);
        labels.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let run = Run { seed: 1, ..Run::new("r", kernel) };
        let plan = Plan {
            name: "p".to_owned(),
            title: "t".to_owned(),
            about: String::new(),
            smoke: false,
            runs: vec![run],
            checks,
            roofs: [("cpu".to_owned(), "200 MB/s".parse().unwrap())].into(),
            references: BTreeMap::new(),
            ordered: None,
        };
        let opening = Opening {
            format: FORMAT,
            session: "s".to_owned(),
            plan,
            build: Build::this(),
            started: "2026-01-01T00:00:00Z".to_owned(),
            nodes: vec!["n".into()],
            amends: None,
        };
        let start = Start {
            run: "r".into(),
            iterations: 1,
            meters: vec![MeterSpec::new("mb_per_s", Unit::MegabytesPerSecond, true)],
            roofs: vec![],
            labels,
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
            counters: BTreeMap::new(),
            iteration: 1,
            latencies: BTreeMap::new(),
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
            let progress = Progress {
                run: "r".into(),
                done: vec![self.done],
                in_flight: 1,
                oldest,
                latency: None,
                prepared: None,
            };
            self.put("n", Event::Progress(progress));
        }
        self
    }

    /// Nothing is in flight, and nothing completes.
    pub(crate) fn idle(mut self, tenths: u32) -> Self {
        for _ in 0..tenths {
            self.at = self.at + Span::milliseconds(100);
            let progress = Progress {
                run: "r".into(),
                done: vec![self.done],
                in_flight: 0,
                oldest: None,
                latency: None,
                prepared: None,
            };
            self.put("n", Event::Progress(progress));
        }
        self
    }

    /// A second at 100 MB/s in which the slowest of a hundred operations takes so many milliseconds, the others 1 ms.
    pub(crate) fn slowest(mut self, ms: f64) -> Self {
        self = self.work(100.0, 9);
        self.at = self.at + Span::milliseconds(100);
        self.done += 10_000_000;
        for ms in std::iter::repeat_n(1.0, 99).chain([ms]) {
            *self.latencies.entry(bucket((ms * 1e6) as u64) as u16).or_default() += 1;
        }
        let latency = Some(Buckets(self.latencies.iter().map(|(b, n)| (*b, *n)).collect()));
        let progress =
            Progress { run: "r".into(), done: vec![self.done], in_flight: 1, oldest: None, latency, prepared: None };
        self.put("n", Event::Progress(progress));
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

/// What the host counts and how it is set.
impl Scenario {
    /// The findings of one kind as they stand, oldest first.
    pub(crate) fn found(&self, kind: Kind) -> Vec<&Finding> {
        self.findings().into_iter().filter(|f| f.kind == kind).collect()
    }

    /// A counter of a device (`disk/vda`) is read.
    pub(crate) fn sample(self, device: &str, field: &str, value: f64) -> Self {
        self.samples(&[(device, field, value)])
    }

    /// Several counters are read at once.
    pub(crate) fn samples(mut self, values: &[(&str, &str, f64)]) -> Self {
        for (device, field, value) in values {
            self.counters.insert(((*device).to_owned(), (*field).to_owned()), *value);
        }
        self.read_counters();
        self
    }

    fn read_counters(&mut self) {
        let described = |((device, field), _): (&(String, String), &f64)| {
            let (source, device) = device.split_once('/').unwrap();
            // Numbered by name, as others may come in between.
            let id =
                format!("{source}/{device} {field}").bytes().fold(7_u32, |id, b| id.wrapping_mul(31) + u32::from(b));
            Described {
                id,
                source: source.to_owned(),
                device: device.to_owned(),
                field: field.clone(),
                kind: SampleKind::Counter,
                unit: Unit::Count,
            }
        };
        let described: Vec<Described> = self.counters.iter().map(described).collect();
        let values = described.iter().zip(self.counters.values()).map(|(d, value)| Sample(d.id, *value)).collect();
        self.put("n", Event::Described(described));
        self.put("n", Event::Sampled { of: vec![], values });
    }

    /// The worker goes on at a rate, and `vda` reads and writes at another, for so many tenths of a second.
    pub(crate) fn device(mut self, device: f64, run: f64, tenths: u32) -> Self {
        for _ in 0..tenths {
            for field in ["read_sectors", "write_sectors"] {
                *self.counters.entry(("disk/vda".to_owned(), field.to_owned())).or_default() += device * 1e5 / 512.0;
            }
            self = self.work(run, 1);
            self.read_counters();
        }
        self
    }

    /// The worker is not heard; the agent reads its node once a second, and the runner's clock goes on.
    pub(crate) fn agent_alone(mut self, tenths: u32) -> Self {
        for tenth in 0..tenths {
            self.at = self.at + Span::milliseconds(100);
            if tenth % 10 == 0 {
                self.put("n", Event::Sampled { of: vec!["cpu".to_owned()], values: vec![] });
            }
            self.put("", Event::Tick);
        }
        self
    }

    /// Time passes in which nothing is recorded.
    pub(crate) fn pause(mut self, tenths: u64) -> Self {
        self.at = self.at + Span::milliseconds(100 * tenths);
        self
    }

    /// An agent starts, on this boot of a node with 16 GB of memory.
    pub(crate) fn join(mut self, boot: &str) -> Self {
        let inventory = Box::new(Inventory { memory: 16_000_000_000, ..Inventory::default() });
        let conditions = Conditions([("boot_id".to_owned(), boot.to_owned())].into());
        self.put("n", Event::NodeJoined { build: Build::this(), inventory, conditions });
        self
    }

    /// A setting of the node changes.
    pub(crate) fn setting(mut self, what: &str, before: Option<&str>, after: Option<&str>) -> Self {
        let (before, after) = (before.map(str::to_owned), after.map(str::to_owned));
        self.put("n", Event::ConditionsChanged(vec![Change { what: what.to_owned(), before, after }]));
        self
    }

    /// The run enters a phase.
    pub(crate) fn phase(mut self, phase: Phase) -> Self {
        self.put("n", Event::Phase { run: "r".into(), iteration: self.iteration, phase });
        self
    }

    /// An iteration gives these figures.
    pub(crate) fn iteration(mut self, figures: Vec<Figure>) -> Self {
        let iteration = self.iteration;
        self.put("n", Event::IterationEnded { run: "r".into(), iteration, figures, latency: None });
        self.iteration += 1;
        self
    }

    /// The run comes to its end.
    pub(crate) fn finish(mut self, outcome: Outcome) -> Self {
        self.put("n", Event::RunEnded { run: "r".into(), outcome });
        self
    }
}

/// A load of a file of 1 GiB.
pub(crate) fn disk(pattern: Pattern, direct: bool) -> Load {
    let (block, size) = (ByteSize(1 << 20), ByteSize(1 << 30));
    Load::Disk(Disk { depth: 8, direct: Some(direct), ..Disk::new(pattern, block, size, Span::seconds(4)) })
}

fn labels(load: &Load) -> BTreeMap<String, String> {
    let device = matches!(load, Load::Disk(_)).then(|| ("device".to_owned(), "vda".to_owned()));
    device.into_iter().collect()
}
