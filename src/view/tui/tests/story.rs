//! Sessions told record by record, as a runner would tell them.

use std::collections::BTreeMap;

use crate::analysis::state::State;
use crate::vocab::event::{
    Described, Event, MeterSpec, Opening, Outcome, Phase, Progress, Record, Sample, SampleKind, Start,
};
use crate::vocab::figure::Figure;
use crate::vocab::finding::{Cause, Evidence, Finding, Kind, Resource, Severity};
use crate::vocab::latency::{Buckets, bucket};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;
use crate::vocab::node::FORMAT;
use crate::vocab::node::{Build, Conditions, DiskItem, Fact, Inventory};
use crate::vocab::plan::{Basis, Check, Limit, Load, Plan, Run};
use crate::vocab::survey::{Needs, Survey};
use crate::vocab::unit::{Quantity, Unit};
use crate::vocab::verdict::{Decision, Line, Verdict};

/// When the session opens, in milliseconds since boot.
const OPENED: u64 = 5_000_000;

/// What the node's counters stand at, and how fast they move.
#[derive(Clone, Copy, Default)]
pub(super) struct HostLoad {
    pub(super) write: f64,
    pub(super) busy: f64,
    pub(super) iowait: f64,
    pub(super) await_ms: f64,
    pub(super) queue: f64,
}

pub(super) struct Story {
    pub(super) records: Vec<Record>,
    pub(super) node: NodeName,
    now: u64,
    counters: BTreeMap<&'static str, f64>,
    done: u64,
    noise: u64,
}

const FIELDS: &[(&str, &str, &str, SampleKind)] = &[
    ("cpu", "", "user", SampleKind::Counter),
    ("cpu", "", "system", SampleKind::Counter),
    ("cpu", "", "idle", SampleKind::Counter),
    ("cpu", "", "iowait", SampleKind::Counter),
    ("cpu", "", "steal", SampleKind::Counter),
    ("disk", "vda", "reads", SampleKind::Counter),
    ("disk", "vda", "writes", SampleKind::Counter),
    ("disk", "vda", "read_sectors", SampleKind::Counter),
    ("disk", "vda", "write_sectors", SampleKind::Counter),
    ("disk", "vda", "read_ms", SampleKind::Counter),
    ("disk", "vda", "write_ms", SampleKind::Counter),
    ("disk", "vda", "queue_ms", SampleKind::Counter),
    ("disk", "vda", "busy_ms", SampleKind::Counter),
    ("memory", "", "dirty", SampleKind::Gauge),
    ("memory", "", "available", SampleKind::Gauge),
    ("pressure", "io", "full_us", SampleKind::Counter),
];

fn run(name: &str, kernel: &str, iterations: u32) -> Run {
    let kernel: Load = ron::from_str(kernel).unwrap();
    Run { iterations, seed: 1, ..Run::new(name, kernel) }
}

fn check(of: &str, at_least: Limit) -> Check {
    Check { at_least: Some(at_least), ..Check::new(of) }
}

pub(super) fn plan() -> Plan {
    let disk = |pattern: &str| {
        format!("Disk((pattern: {pattern}, block: \"1MiB\", depth: 32, size: \"8GiB\", time: \"60 s\"))")
    };
    let mut roofs = BTreeMap::new();
    roofs.insert("cpu".to_owned(), Quantity::new(70.0, Unit::Gflops));
    Plan {
        name: "standard".to_owned(),
        title: "Baseline standard".to_owned(),
        about: String::new(),
        smoke: false,
        runs: vec![
            run("cpu-float", "Linpack(())", 3),
            run("memory", "Stream(())", 3),
            run("disk-write", &disk("Write"), 3),
            run("disk-read", &disk("Read"), 3),
        ],
        checks: vec![
            check("cpu-float.gflops", Limit::OfRoof(0.75, Basis::Nominal)),
            check("disk-write.mb_per_s", Limit::Absolute(Quantity::new(60.0, Unit::MegabytesPerSecond))),
        ],
        roofs,
        references: BTreeMap::new(),
        ordered: None,
    }
}

fn inventory(host: &str) -> Inventory {
    Inventory {
        host: host.to_owned(),
        serial: Fact::Is("7K2X9Q1".to_owned()),
        product: Fact::Is("Acme R640".to_owned()),
        cpu: "Xeon Gold 6130".to_owned(),
        cpus: 8,
        usable_cpus: 8,
        memory: 64 << 30,
        kernel: "6.8.0".to_owned(),
        system: "Debian 12".to_owned(),
        virtualisation: Fact::NotPresent,
        disks: vec![DiskItem { name: "vda".into(), model: Fact::NotPresent, size: 1 << 40, ..DiskItem::default() }],
        ..Inventory::default()
    }
}

impl Story {
    pub(super) fn new(host: &str) -> Self {
        let node: NodeName = host.into();
        let counters = BTreeMap::new();
        let mut story = Self { records: vec![], node, now: OPENED, counters, done: 0, noise: 7 };
        story.open(host);
        story
    }

    fn open(&mut self, host: &str) {
        let build = Build { version: "0.1.0".to_owned(), format: FORMAT };
        let opening = Opening {
            format: FORMAT,
            session: "node07-standard-20260301T112903".to_owned(),
            plan: plan(),
            build: build.clone(),
            started: "2026-03-01T11:29:03Z".to_owned(),
            nodes: vec![self.node.clone()],
            amends: None,
        };
        self.put(NodeName::default(), Event::SessionOpened(Box::new(opening)));
        let inventory = Box::new(inventory(host));
        self.say(Event::NodeJoined { build, inventory, conditions: Conditions::default() });
        let needs = |run: &str, seconds| Needs {
            run: run.into(),
            memory: 1 << 30,
            disk: 0,
            writes: 0,
            time: Span::seconds(seconds),
            loads: true,
            impossible: None,
            open: None,
            file: None,
        };
        self.say(Event::Surveyed(Box::new(Survey {
            targets: vec![],
            needs: vec![needs("cpu-float", 60), needs("memory", 60), needs("disk-write", 180), needs("disk-read", 180)],
            memory_available: 60 << 30,
            memory: Some(64 << 30),
            controller_cache: None,
            raid_controllers: vec![],
            cpus: 8,
            cpus_online: Some(8),
            cpu_quota: None,
            load: 0.1,
            busy_percent: 0.0,
            root: true,
            page: 4096,
            held_by: None,
            neighbours: vec![],
        })));
        let described = FIELDS.iter().enumerate().map(|(id, (source, device, field, kind))| Described {
            id: id as u32,
            source: (*source).to_owned(),
            device: (*device).to_owned(),
            field: (*field).to_owned(),
            kind: *kind,
            unit: Unit::Count,
        });
        self.say(Event::Described(described.collect()));
    }

    pub(super) fn put(&mut self, node: NodeName, event: Event) {
        let seq = self.records.len() as u64;
        self.records.push(Record { seq, at: Moment(self.now * 1_000), node, event });
    }

    pub(super) fn say(&mut self, event: Event) {
        self.put(self.node.clone(), event);
    }

    pub(super) fn at(&self) -> Moment {
        Moment(self.now * 1_000)
    }

    fn jitter(&mut self) -> f64 {
        self.noise = self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.noise >> 40) as f64 / f64::from(1u32 << 24) - 0.5
    }

    pub(super) fn begin(&mut self, name: &str, meter: &str, unit: Unit, labels: &[(&str, &str)]) {
        self.done = 0;
        self.say(Event::RunStarted(Box::new(Start {
            run: name.into(),
            iterations: 3,
            meters: vec![MeterSpec::new(meter, unit, true)],
            roofs: vec![],
            labels: labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            command: String::new(),
            deadline: Span::seconds(600),
        })));
        self.phase(name, 1, Phase::Measure);
    }

    pub(super) fn phase(&mut self, name: &str, iteration: u32, phase: Phase) {
        self.say(Event::Phase { run: name.into(), iteration, phase });
    }

    /// Lets so many tenths of a second pass at a rate (in the meter's unit) and a load of the host.
    pub(super) fn pass(&mut self, name: &str, tenths: u64, rate: (f64, Unit), load: HostLoad) {
        for _ in 0..tenths {
            self.now += 100;
            let noisy = rate.0 * (1.0 + 0.06 * self.jitter());
            self.done += (noisy * rate.1.things() / 10.0) as u64;
            let latency = self.now.is_multiple_of(1_000).then(|| {
                let ns = |ms: f64| bucket((ms * 1e6) as u64) as u16;
                Buckets(vec![(ns(load.await_ms.max(0.1)), 990), (ns(load.await_ms.max(0.1) * 3.0), 10)])
            });
            self.say(Event::Progress(Progress {
                run: name.into(),
                done: vec![self.done],
                in_flight: 32,
                oldest: Some(Span::milliseconds(load.await_ms as u64)),
                latency,
                prepared: None,
            }));
            if self.now.is_multiple_of(1_000) {
                self.sample(load);
            }
            self.put(NodeName::default(), Event::Tick);
        }
    }

    fn sample(&mut self, load: HostLoad) {
        let operations = load.write.max(0.1);
        let jitter = 1.0 + 0.1 * self.jitter();
        let moved = [
            ("user", 8.0 * load.busy),
            ("system", 0.08),
            ("idle", 8.0 * (1.0 - load.busy - load.iowait) - 0.08),
            ("iowait", 8.0 * load.iowait * jitter),
            ("writes", operations),
            ("write_sectors", load.write * jitter * 1e6 / 512.0),
            ("write_ms", operations * load.await_ms * jitter),
            ("queue_ms", load.queue * 1_000.0 * jitter),
            ("busy_ms", (load.queue * 1_000.0).min(1_000.0)),
            ("full_us", load.iowait * 9e5),
        ];
        for (field, by) in moved {
            *self.counters.entry(field).or_default() += by;
        }
        self.counters.insert("dirty", 2e6 * jitter);
        self.counters.insert("available", 6e10);
        let value = |field: &str| self.counters.get(field).copied().unwrap_or(0.0);
        let values = FIELDS.iter().enumerate().map(|(id, (_, _, field, _))| Sample(id as u32, value(field))).collect();
        self.say(Event::Sampled { of: vec![], values });
    }

    pub(super) fn figure(&mut self, name: &str, iteration: u32, figure: Figure) {
        self.say(Event::IterationEnded { run: name.into(), iteration, figures: vec![figure], latency: None });
        if iteration < 3 {
            self.phase(name, iteration + 1, Phase::Measure);
        }
    }

    pub(super) fn end(&mut self, name: &str, outcome: Outcome) {
        self.say(Event::RunEnded { run: name.into(), outcome });
    }

    pub(super) fn state(&self) -> State {
        let mut state = State::default();
        self.records.iter().for_each(|r| state.apply(r));
        state
    }
}

const BUSY: HostLoad = HostLoad { write: 0.1, busy: 0.97, iowait: 0.0, await_ms: 0.4, queue: 0.0 };
pub(super) const WRITING: HostLoad = HostLoad { write: 104.0, busy: 0.05, iowait: 0.04, await_ms: 8.0, queue: 31.0 };
const FALLEN: HostLoad = HostLoad { write: 1.1, busy: 0.02, iowait: 0.38, await_ms: 480.0, queue: 32.0 };

const MB: Unit = Unit::MegabytesPerSecond;

/// Two runs are done and the third is healthy so far.
pub(super) fn running(host: &str) -> Story {
    let mut story = Story::new(host);
    story.begin("cpu-float", "gflops", Unit::Gflops, &[("engine", "blocked LU"), ("threads", "8")]);
    for iteration in 1..=3 {
        story.pass("cpu-float", 150, (58.1, Unit::Gflops), BUSY);
        story.figure("cpu-float", iteration, Figure::new("gflops", 57.6 + f64::from(iteration) / 4.0, Unit::Gflops));
    }
    story.end("cpu-float", Outcome::Sound);
    story.begin("memory", "mb_per_s", MB, &[("threads", "8")]);
    for iteration in 1..=3 {
        story.pass("memory", 100, (48_200.0, MB), BUSY);
        story.figure("memory", iteration, Figure::new("mb_per_s", 48_200.0, MB));
    }
    story.end("memory", Outcome::Sound);
    let labels = [("device", "vda"), ("file_system", "ext4"), ("io", "direct"), ("depth", "32"), ("block", "1MiB")];
    story.begin("disk-write", "mb_per_s", MB, &labels);
    story.pass("disk-write", 120, (104.0, MB), WRITING);
    story.figure("disk-write", 1, Figure::new("mb_per_s", 104.2, MB));
    story.pass("disk-write", 60, (104.0, MB), WRITING);
    story
}

pub(super) fn collapse(story: &Story, onset: Moment) -> Finding {
    let evidence = |counter: &str, before, after, unit| Evidence {
        counter: counter.to_owned(),
        before: Quantity::new(before, unit),
        after: Quantity::new(after, unit),
    };
    Finding {
        id: 1,
        kind: Kind::Collapse,
        severity: Severity::Fail,
        run: Some("disk-write".into()),
        iteration: 2,
        onset,
        said: story.at(),
        closed: None,
        from: Some(Quantity::new(104.0, MB)),
        to: Some(Quantity::new(1.1, MB)),
        work_before: Some(Quantity::new(1.87e9, Unit::Bytes)),
        lost: None,
        again: 0,
        held_by: vec![Resource::Disk],
        causes: vec![Cause {
            what: "the controller writes through".to_owned(),
            proof: Some("w_await 8 ms to 480 ms, r_await unchanged".to_owned()),
            check: "storcli64 /c0/vall show".to_owned(),
        }],
        evidence: vec![
            evidence("vda await", 8.0, 480.0, Unit::Milliseconds),
            evidence("cpu iowait", 4.0, 38.0, Unit::Percent),
        ],
        sentence: "COLLAPSE: fell 99 % from 104 MB/s to 1.1 MB/s at 01:33 after 1.87 GB; vda await 8 ms to 480 ms (x60), cpu iowait 4 % to 38 %: storage side".to_owned(),
    }
}

/// The third run has collapsed a while ago.
pub(super) fn collapsed(host: &str) -> Story {
    let mut story = running(host);
    let onset = story.at();
    story.pass("disk-write", 12, (1.1, MB), FALLEN);
    let found = collapse(&story, onset);
    story.say(Event::Found(found));
    story.pass("disk-write", 60, (1.1, MB), FALLEN);
    story.figure("disk-write", 2, Figure::new("mb_per_s", 48.0, MB));
    story.say(Event::Noted("battery of the controller was replaced last week".to_owned()));
    story.pass("disk-write", 100, (1.1, MB), FALLEN);
    story
}

fn line(decision: Decision, of: &str, [comparison, measured, limit, margin]: [&str; 4], reason: &str) -> Line {
    Line {
        decision,
        comparison: comparison.to_owned(),
        measured: measured.to_owned(),
        limit: limit.to_owned(),
        margin: margin.to_owned(),
        reason: reason.to_owned(),
        ..Line::open("", of)
    }
}

/// The session is over, with a verdict of all three kinds.
pub(super) fn ended(host: &str) -> Story {
    let mut story = collapsed(host);
    story.figure("disk-write", 3, Figure::new("mb_per_s", 1.1, MB));
    story.end("disk-write", Outcome::Sound);
    story.end("disk-read", Outcome::Stopped);
    let lines = vec![
        line(
            Decision::Pass,
            "cpu-float.gflops",
            ["mean of 3 at least", "58.1 GFLOPS", "52.5 GFLOPS", "+10.7 %"],
            "every iteration holds",
        ),
        line(
            Decision::Fail,
            "disk-write.mb_per_s",
            ["mean of 3 at least", "51.1 MB/s", "60 MB/s", "-14.8 %"],
            "below the floor, COLLAPSE in iteration 2",
        ),
        line(
            Decision::NotProven,
            "disk-read.mb_per_s",
            ["mean of 3 at least", "", "60 MB/s", ""],
            "the run was stopped",
        ),
    ];
    let verdict = Verdict { decision: Decision::Fail, smoke: false, lines, preface: vec![] };
    story.put(NodeName::default(), Event::SessionClosed { verdict });
    story
}

/// A session with a run that waits, and nothing else.
pub(super) fn opened(host: &str) -> Story {
    let mut story = Story::new(host);
    story.put(NodeName::default(), Event::Tick);
    story
}
