//! Record streams for property tests: plausible ones, as a session would write them, and records in no order at all.

use proptest::collection::vec;
use proptest::prelude::*;
use shakedown::vocab::event::{
    Amends, Described, Event, MeterSpec, Opening, Outcome, Phase, Progress, Record, Sample, SampleKind, Start,
};
use shakedown::vocab::figure::Figure;
use shakedown::vocab::finding::{Cause, Evidence, Finding, Kind, Resource, Severity};
use shakedown::vocab::latency::Buckets;
use shakedown::vocab::moment::{Moment, Span};
use shakedown::vocab::name::RunName;
use shakedown::vocab::node::{Build, Change, Conditions, FORMAT, Fact, Inventory};
use shakedown::vocab::order::Command;
use shakedown::vocab::plan::{Basis, Check, Limit, Load, Plan, Run, Shape, Stream, Synthetic};
use shakedown::vocab::size::ByteSize;
use shakedown::vocab::survey::{Needs, Survey};
use shakedown::vocab::unit::{Quantity, Unit};
use shakedown::vocab::verdict::{Decision, Line, Numbers, Verdict};

/// Any text, control characters, quotes and newlines included.
pub(crate) fn text() -> BoxedStrategy<String> {
    vec(any::<char>(), 0..8).prop_map(|chars| chars.into_iter().collect()).boxed()
}

/// Any number that is one.
fn finite() -> BoxedStrategy<f64> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    // Zero has no sign in a record.
    let any = (POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO).prop_map(|value| value + 0.0);
    prop_oneof![any, -1e6..1e6, (0_u32..1000).prop_map(f64::from)].boxed()
}

/// Any count, the largest included.
fn count() -> BoxedStrategy<u64> {
    prop_oneof![3 => 0_u64..1000, 1 => any::<u64>(), 1 => Just(u64::MAX)].boxed()
}

fn run_name() -> BoxedStrategy<RunName> {
    prop_oneof![8 => Just("r".into()), 4 => Just("s".into()), 1 => text().prop_map(|name| RunName(name.into()))].boxed()
}

fn unit() -> BoxedStrategy<Unit> {
    prop::sample::select(vec![
        Unit::Gflops,
        Unit::MegabytesPerSecond,
        Unit::Iops,
        Unit::OpsPerSecond,
        Unit::EventsPerSecond,
        Unit::PerSecond,
        Unit::Bytes,
        Unit::Seconds,
        Unit::Milliseconds,
        Unit::Microseconds,
        Unit::Nanoseconds,
        Unit::Percent,
        Unit::Megahertz,
        Unit::Celsius,
        Unit::Count,
        Unit::Ratio,
    ])
    .boxed()
}

fn quantity() -> BoxedStrategy<Quantity> {
    (finite(), unit()).prop_map(|(value, unit)| Quantity::new(value, unit)).boxed()
}

fn moment() -> BoxedStrategy<Moment> {
    count().prop_map(Moment).boxed()
}

fn outcome() -> BoxedStrategy<Outcome> {
    prop_oneof![
        4 => Just(Outcome::Sound),
        1 => text().prop_map(Outcome::Corrupt),
        1 => text().prop_map(Outcome::Broken),
        1 => text().prop_map(Outcome::Unavailable),
        1 => Just(Outcome::Stuck),
        1 => Just(Outcome::Stopped),
    ]
    .boxed()
}

fn phase() -> BoxedStrategy<Phase> {
    let rare = [Phase::Prepare, Phase::Ramp, Phase::Drain, Phase::Verify, Phase::Cool];
    prop_oneof![3 => Just(Phase::Measure), 1 => prop::sample::select(rare.to_vec())].boxed()
}

pub(crate) fn severity() -> BoxedStrategy<Severity> {
    prop::sample::select(vec![Severity::Info, Severity::Warn, Severity::Fail, Severity::Crit]).boxed()
}

fn finding() -> BoxedStrategy<Finding> {
    let kind = prop::sample::select(Kind::all().collect::<Vec<_>>());
    let place = (1_u32..6, kind, severity(), prop::option::of(run_name()), any::<u32>());
    let times = (moment(), moment(), prop::option::of(moment()));
    let levels = (prop::option::of(quantity()), prop::option::of(quantity()), prop::option::of(quantity()));
    let evidence =
        (text(), quantity(), quantity()).prop_map(|(counter, before, after)| Evidence { counter, before, after });
    let cause =
        (text(), prop::option::of(text()), text()).prop_map(|(what, proof, check)| Cause { what, proof, check });
    let held_by = vec(prop::sample::select(vec![Resource::Steal, Resource::Disk, Resource::Generator]), 0..3);
    let told = (held_by, vec(cause, 0..3), any::<u32>());
    (place, times, levels, vec(evidence, 0..3), told, text())
        .prop_map(|(place, times, levels, evidence, told, sentence)| {
            let (id, kind, severity, run, iteration) = place;
            let ((onset, said, closed), (from, to, work_before)) = (times, levels);
            let (held_by, causes, again) = told;
            let lost = from;
            Finding {
                id,
                kind,
                severity,
                run,
                iteration,
                onset,
                said,
                closed,
                from,
                to,
                work_before,
                lost,
                again,
                evidence,
                held_by,
                causes,
                sentence,
            }
        })
        .boxed()
}

fn verdict() -> BoxedStrategy<Verdict> {
    let decision = || prop::sample::select(vec![Decision::Pass, Decision::NotProven, Decision::Fail]);
    let words = (text(), text(), text(), text(), text(), text(), text());
    let line = (decision(), words, vec(count(), 0..3)).prop_map(|(decision, words, evidence)| {
        let (node, of, comparison, measured, limit, margin, reason) = words;
        let told = evidence.len() == 2;
        let (section, detail) = (reason.clone(), limit.clone());
        let numbers = told.then_some(Numbers {
            unit: Unit::Gflops,
            value: 1.5,
            interval: (!node.is_empty()).then_some((1.25, 1.75)),
            limit: 1.0,
            limit_off_by: if of.is_empty() { 0.0 } else { 0.5 },
            above_is_good: decision == Decision::Pass,
        });
        Line {
            decision,
            node,
            of,
            comparison,
            measured,
            detail,
            limit,
            margin,
            reason,
            evidence,
            section,
            told,
            numbers,
        }
    });
    (decision(), any::<bool>(), vec(line, 0..3))
        .prop_map(|(decision, smoke, lines)| Verdict { decision, smoke, lines, preface: vec![] })
        .boxed()
}

/// A plan whose checks look at everything that a finding or a figure can spoil.
pub(crate) fn a_plan() -> Plan {
    let synthetic = Synthetic {
        rate: Quantity::new(100.0, Unit::MegabytesPerSecond),
        time: Span::seconds(1),
        shape: Shape::Collapse { after: ByteSize(1 << 20), to: Quantity::new(1.0, Unit::MegabytesPerSecond) },
        noise: 0.1,
    };
    let run = |name: &str, kernel| Run {
        target: Some("/var/tmp".into()),
        deadline: Some(Span::milliseconds(1500)),
        seed: 7,
        ..Run::new(name, kernel)
    };
    let check =
        |of: &str, at_least, no_findings| Check { at_least, no_findings, why: "because".to_owned(), ..Check::new(of) };
    let floor = Limit::Absolute(Quantity::new(50.0, Unit::MegabytesPerSecond));
    Plan {
        name: "p".to_owned(),
        title: "t".to_owned(),
        about: String::new(),
        smoke: false,
        runs: vec![run("r", Load::Synthetic(synthetic)), run("s", Load::Stream(Stream::default()))],
        checks: vec![
            check("r.mb_per_s", Some(floor), vec![]),
            check("r.mb_per_s", Some(Limit::OfRoof(0.5, Basis::Nominal)), vec![]),
            check("*", None, vec![Kind::Collapse, Kind::Stall]),
            check("s", None, vec![Kind::Stall]),
        ],
        roofs: [("r".to_owned(), Quantity::new(80.0, Unit::MegabytesPerSecond))].into(),
        references: std::collections::BTreeMap::new(),
        ordered: None,
    }
}

fn opening(nodes: &[&str]) -> Event {
    Event::SessionOpened(Box::new(Opening {
        format: FORMAT,
        session: "n-p-t".to_owned(),
        plan: a_plan(),
        build: Build::this(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        nodes: nodes.iter().map(|name| (*name).into()).collect(),
        amends: None,
    }))
}

/// The opening of a session that repeats one of the two runs.
fn amending() -> Event {
    let mut event = opening(&["a", "b"]);
    if let Event::SessionOpened(opening) = &mut event {
        opening.amends = Some(Amends {
            session: "before".to_owned(),
            file: "before.jsonl".to_owned(),
            bytes: 1,
            crc: "00000000".to_owned(),
            records: 1,
            only: vec!["s".into()],
        });
    }
    event
}

/// A record of the session that is amended; some of these are amendments themselves.
fn earlier() -> BoxedStrategy<Event> {
    let wrapped = |event: BoxedStrategy<Event>| {
        (count(), moment(), event)
            .prop_map(|(seq, at, event)| Event::Earlier(Box::new(Record { seq, at, node: "a".into(), event })))
            .boxed()
    };
    let inner = prop_oneof![6 => event(), 2 => Just(opening(&["a"])), 1 => Just(amending()), 2 => wrapped(event())];
    wrapped(inner.boxed())
}

fn joined() -> BoxedStrategy<Event> {
    (text(), text(), any::<u32>(), any::<u64>())
        .prop_map(|(host, system, cpus, memory)| {
            let inventory = Inventory {
                serial: Fact::NeedsRoot,
                product: Fact::Is(host.clone()),
                cpu: system.clone(),
                cpus,
                usable_cpus: cpus,
                memory,
                kernel: host.clone(),
                virtualisation: Fact::NotPresent,
                host,
                system,
                ..Inventory::default()
            };
            Event::NodeJoined {
                build: Build::this(),
                inventory: Box::new(inventory),
                conditions: Conditions::default(),
            }
        })
        .boxed()
}

fn started() -> BoxedStrategy<Event> {
    let meter = (unit(), any::<bool>()).prop_map(|(unit, level)| MeterSpec::new("mb_per_s", unit, level));
    (run_name(), vec(meter, 0..3), text(), any::<u32>())
        .prop_map(|(run, meters, label, iterations)| {
            let labels = [("device".to_owned(), label.clone())].into();
            let deadline = Span::seconds(1);
            Event::RunStarted(Box::new(Start {
                run,
                iterations,
                meters,
                roofs: vec![],
                labels,
                command: label,
                deadline,
            }))
        })
        .boxed()
}

fn progress() -> BoxedStrategy<Event> {
    let buckets = prop::option::of(vec((any::<u16>(), count()), 0..3).prop_map(Buckets));
    (run_name(), vec(count(), 0..3), any::<u32>(), prop::option::of(count().prop_map(Span)), buckets)
        .prop_map(|(run, done, in_flight, oldest, latency)| {
            Event::Progress(Progress { run, done, in_flight, oldest, latency, prepared: None })
        })
        .boxed()
}

fn described() -> BoxedStrategy<Event> {
    let source = prop::sample::select(vec!["cpu", "disk", "net", "memory", "pressure", "clock", "self", "link", "x"]);
    let fields = vec![
        "user", "idle", "steal", "reads", "read_ms", "busy_ms", "queue_ms", "rx_bytes", "speed", "leaf", "mhz",
        "present", "dirty", "some_us",
    ];
    let kind = prop::sample::select(vec![SampleKind::Counter, SampleKind::Counter32, SampleKind::Gauge]);
    let one = (0_u32..12, source, prop_oneof![Just(String::new()), text()], prop::sample::select(fields), kind, unit());
    let one = one.prop_map(|(id, source, device, field, kind, unit)| Described {
        id,
        source: source.to_owned(),
        device,
        field: field.to_owned(),
        kind,
        unit,
    });
    vec(one, 0..6).prop_map(Event::Described).boxed()
}

fn sampled() -> BoxedStrategy<Event> {
    let of = prop_oneof![3 => Just(vec![]), 1 => vec(prop_oneof![Just("cpu/".to_owned()), Just("disk".to_owned()), text()], 0..2)];
    let values = vec((0_u32..12, finite()).prop_map(|(id, value)| Sample(id, value)), 0..8);
    (of, values).prop_map(|(of, values)| Event::Sampled { of, values }).boxed()
}

fn figures() -> BoxedStrategy<Event> {
    let figure = (finite(), unit()).prop_map(|(value, unit)| Figure::new("mb_per_s", value, unit));
    (run_name(), any::<u32>(), vec(figure, 0..3), prop::option::of(text()))
        .prop_map(|(run, iteration, figures, latency)| Event::IterationEnded { run, iteration, figures, latency })
        .boxed()
}

fn changed() -> BoxedStrategy<Event> {
    let change = (text(), prop::option::of(text()), prop::option::of(text()));
    let change = change.prop_map(|(what, before, after)| Change { what, before, after });
    vec(change, 0..3).prop_map(Event::ConditionsChanged).boxed()
}

fn commanded() -> BoxedStrategy<Event> {
    let command = prop_oneof![
        Just(Command::StopRun),
        Just(Command::StopSession),
        Just(Command::StopNow),
        text().prop_map(Command::Note)
    ];
    command.prop_map(Event::Commanded).boxed()
}

fn surveyed() -> BoxedStrategy<Event> {
    let needs = (run_name(), count(), any::<bool>(), prop::option::of(text()));
    let needs = needs.prop_map(|(run, n, loads, impossible)| Needs {
        run,
        memory: n,
        disk: n,
        writes: n,
        time: Span(n),
        loads,
        impossible,
        open: None,
        file: Some(n),
    });
    (vec(needs, 0..3), finite(), prop::option::of(text()))
        .prop_map(|(needs, load, held_by)| {
            Event::Surveyed(Box::new(Survey {
                targets: vec![],
                needs,
                memory_available: u64::MAX,
                memory: Some(1 << 40),
                controller_cache: None,
                raid_controllers: vec!["megaraid_sas at 0000:01:00.0".to_owned()],
                cpus: 1,
                cpus_online: Some(1),
                cpu_quota: None,
                load,
                busy_percent: load,
                root: true,
                page: 4096,
                held_by,
                neighbours: vec![],
            }))
        })
        .boxed()
}

/// Any event but the opening.
pub(crate) fn event() -> BoxedStrategy<Event> {
    prop_oneof![
        6 => progress(),
        3 => (run_name(), any::<u32>(), phase()).prop_map(|(run, iteration, phase)| Event::Phase { run, iteration, phase }),
        2 => Just(Event::Tick),
        2 => started(),
        2 => sampled(),
        1 => described(),
        2 => figures(),
        2 => (run_name(), outcome()).prop_map(|(run, outcome)| Event::RunEnded { run, outcome }),
        1 => joined(),
        1 => surveyed(),
        1 => text().prop_map(|why| Event::NodeLost { why }),
        1 => (moment(), moment()).prop_map(|(sent, back)| Event::Clock { sent, back }),
        1 => changed(),
        2 => finding().prop_map(Event::Found),
        1 => commanded(),
        1 => text().prop_map(Event::Noted),
        1 => count().prop_map(Event::Lost),
        1 => verdict().prop_map(|verdict| Event::SessionClosed { verdict }),
    ]
    .boxed()
}

/// A record of anybody at any time with any number.
pub(crate) fn any_record() -> BoxedStrategy<Record> {
    let node = prop_oneof![Just(String::new()), Just("a".to_owned()), Just("b".to_owned()), text()];
    let event = prop_oneof![20 => event(), 1 => Just(opening(&["a", "b"])), 1 => Just(amending()), 2 => earlier()];
    (count(), moment(), node, event)
        .prop_map(|(seq, at, node, event)| Record { seq, at, node: node.as_str().into(), event })
        .boxed()
}

/// Records in no order at all.
pub(crate) fn implausible() -> BoxedStrategy<Vec<Record>> {
    vec(any_record(), 0..40).boxed()
}

/// A session of one or two nodes whose numbers, times and counters only rise.
pub(crate) fn plausible() -> BoxedStrategy<Vec<Record>> {
    let step = (0_u64..400_000, 0_u64..30_000_000, any::<bool>(), event());
    (any::<bool>(), vec(step, 0..60))
        .prop_map(|(two, steps)| {
            let nodes: &[&str] = if two { &["a", "b"] } else { &["a"] };
            let first = Record { seq: 1, at: Moment(1_000_000), node: "".into(), event: opening(nodes) };
            let mut records = vec![first];
            let (mut at, mut total) = (1_000_000, 0);
            for (later, work, second, mut event) in steps {
                (at, total) = (at + later, total + work);
                if let Event::Progress(progress) = &mut event {
                    progress.done = vec![total; progress.done.len()];
                }
                let node = match event {
                    Event::Tick | Event::Commanded(_) | Event::SessionClosed { .. } => "",
                    _ if two && second => "b",
                    _ => "a",
                };
                records.push(Record { seq: records.len() as u64 + 1, at: Moment(at), node: node.into(), event });
            }
            records
        })
        .boxed()
}
