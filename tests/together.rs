//! Runs at the same time: each has its worker, its deadline and its end, and what befalls one is said of it alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

mod common;

use std::collections::BTreeMap;

use common::{PATIENCE, Place, children, ends, fold, is_closed, plan, send, synthetic};
use proptest::prelude::*;
use rustix::process::Signal;
use shakedown::analysis::detect::redetect;
use shakedown::analysis::state::{State, Status};
use shakedown::vocab::event::{Event, Outcome, Phase, Record};
use shakedown::vocab::finding::Kind;
use shakedown::vocab::order::Command;

const LOAD: &str = ", together: \"load\"";

fn outcomes(records: &[Record]) -> BTreeMap<String, Outcome> {
    ends(records).into_iter().collect()
}

/// The places of the records that begin and end a run.
fn places(records: &[Record], run: &str) -> (usize, usize) {
    let place = |wanted: fn(&Event) -> bool| {
        let of = |r: &Record| wanted(&r.event) && r.event.run().is_some_and(|name| &*name.0 == run);
        records.iter().position(of).unwrap()
    };
    (place(|e| matches!(e, Event::RunStarted(_))), place(|e| matches!(e, Event::RunEnded { .. })))
}

#[test]
fn runs_of_a_group_go_on_at_the_same_time_and_the_next_one_waits_for_all() {
    let place = Place::new();
    let runs = [
        synthetic("short", "300 ms", "Level", LOAD),
        synthetic("long", "900 ms", "Level", LOAD),
        synthetic("after", "200 ms", "Level", ""),
    ];
    let (finished, records) = place.session("group", &plan(&runs, ""), &[]).finish(PATIENCE);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    let (short, long, after) = (places(&records, "short"), places(&records, "long"), places(&records, "after"));
    assert!(short.0 < long.1 && long.0 < short.1, "both were under way: {short:?} {long:?}");
    assert!(after.0 > short.1 && after.0 > long.1, "{after:?}");
    let state = fold(&records);
    assert!(state.runs.iter().all(|run| run.status == Status::Ended(Outcome::Sound)));
}

#[test]
fn a_killed_worker_breaks_its_run_alone() {
    let place = Place::new();
    let runs = [
        synthetic("one", "60 s", "Level", LOAD),
        synthetic("two", "1500 ms", "Level", LOAD),
        synthetic("three", "200 ms", "Level", ""),
    ];
    let mut session = place.session("killed", &plan(&runs, ""), &[]);
    session.wait_for_work("one");
    session.wait_for_work("two");
    let agent = session.agents()[0];
    let workers = children(agent, "worker");
    assert_eq!(workers.len(), 2);
    // Workers are started in the plan's order.
    send(*workers.iter().min().unwrap(), Signal::KILL);
    let (finished, records) = session.finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}", finished.out);
    let outcomes = outcomes(&records);
    assert!(matches!(&outcomes["one"], Outcome::Broken(why) if why.contains("signal 9")), "{outcomes:?}");
    assert_eq!((&outcomes["two"], &outcomes["three"]), (&Outcome::Sound, &Outcome::Sound));
}

#[test]
fn a_stop_of_the_run_ends_all_that_are_under_way_and_the_next_goes_on() {
    let place = Place::new();
    let runs = [
        synthetic("one", "60 s", "Level", LOAD),
        synthetic("two", "60 s", "Level", LOAD),
        synthetic("three", "200 ms", "Level", ""),
    ];
    let mut session = place.session("stopped", &plan(&runs, ""), &[]);
    session.wait_for_work("one");
    session.wait_for_work("two");
    let socket = std::fs::read_dir(place.path("run/shakedown")).unwrap().next().unwrap().unwrap().path();
    let mut viewer = std::os::unix::net::UnixStream::connect(socket).unwrap();
    let line = format!("{}\n", serde_json::to_string(&Command::StopRun).unwrap());
    std::io::Write::write_all(&mut viewer, line.as_bytes()).unwrap();
    let (_, records) = session.finish(PATIENCE);
    let outcomes = outcomes(&records);
    assert_eq!((&outcomes["one"], &outcomes["two"]), (&Outcome::Stopped, &Outcome::Stopped));
    assert_eq!(outcomes["three"], Outcome::Sound);
}

#[test]
fn a_signal_stops_all_of_a_group_and_what_is_deaf_is_left_behind() {
    let place = Place::new();
    let runs = [
        synthetic("one", "60 s", "Level", LOAD),
        synthetic("deaf", "60 s", "Hang(after: \"100 ms\")", LOAD),
        synthetic("deaf-too", "60 s", "Hang(after: \"100 ms\")", LOAD),
    ];
    let mut session = place.session("signal", &plan(&runs, ""), &[]);
    session.wait_for_work("one");
    session.wait_until_hung("deaf");
    session.wait_until_hung("deaf-too");
    send(session.started.pid(), Signal::INT);
    let (finished, records) = session.finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}", finished.out);
    let outcomes = outcomes(&records);
    assert_eq!((&outcomes["deaf"], &outcomes["deaf-too"]), (&Outcome::Stuck, &Outcome::Stuck));
    assert_eq!(outcomes["one"], Outcome::Stopped);
    assert!(is_closed(&records));
    place.is_deserted(PATIENCE);
}

#[test]
fn a_deadline_is_of_one_run() {
    let place = Place::new();
    let hang = format!("{LOAD}, deadline: \"1 s\"");
    let runs = [
        synthetic("hung", "60 s", "Hang(after: \"200 ms\")", &hang),
        synthetic("sound", "2500 ms", "Level", LOAD),
        synthetic("after", "200 ms", "Level", ""),
    ];
    let (finished, records) = place.session("deadline", &plan(&runs, ""), &[]).finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}", finished.out);
    let outcomes = outcomes(&records);
    let expected = [("after", Outcome::Sound), ("hung", Outcome::Stuck), ("sound", Outcome::Sound)];
    assert_eq!(outcomes, expected.map(|(name, outcome)| (name.to_owned(), outcome)).into());
}

#[test]
fn a_killed_agent_breaks_all_of_a_group_and_the_next_runs_go_on() {
    let place = Place::new();
    let runs = [
        synthetic("one", "60 s", "Level", LOAD),
        synthetic("two", "60 s", "Level", LOAD),
        synthetic("three", "200 ms", "Level", ""),
    ];
    let mut session = place.session("agent", &plan(&runs, ""), &[]);
    session.wait_for_work("one");
    session.wait_for_work("two");
    send(session.agents()[0], Signal::KILL);
    let (_, records) = session.finish(PATIENCE);
    let state = fold(&records);
    let broken = |run: usize| matches!(&state.runs[run].status, Status::Ended(Outcome::Broken(_)));
    assert!(broken(0) && broken(1), "{:?}", state.runs);
    assert_eq!(state.runs[2].status, Status::Ended(Outcome::Sound));
}

#[test]
fn a_run_goes_on_for_its_time_and_rests_in_it() {
    let place = Place::new();
    let more = ", lasting: \"1500 ms\", rest: (after: \"500 ms\", lasting: \"200 ms\")";
    let (finished, records) =
        place.session("lasting", &plan(&[synthetic("r", "100 ms", "Level", more)], ""), &[]).finish(PATIENCE);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    let state = fold(&records);
    assert!(state.runs[0].done.len() > 1, "{}", finished.out);
    let rests = records.iter().filter(|r| matches!(r.event, Event::Phase { phase: Phase::Cool, .. })).count();
    assert!(rests >= 1, "{}", finished.out);
    assert!(finished.out.contains("r                1  mb_per_s"), "{}", finished.out);
}

/// Two runs at the same time, one of which collapses.
fn collapsing() -> (String, Vec<Record>) {
    let place = Place::new();
    let runs = [
        synthetic("falls", "2 s", "Collapse(after: \"80MB\", to: \"1 MB/s\")", LOAD),
        synthetic("keeps", "2 s", "Level", LOAD),
    ];
    let checks = "(of: \"falls\", no_findings: [Collapse]), (of: \"keeps\", no_findings: [Collapse])";
    let (finished, records) = place.session("collapse", &plan(&runs, checks), &[]).finish(PATIENCE);
    (finished.out, records)
}

#[test]
fn a_collapse_of_one_is_said_of_it_alone_and_again_by_todays_detectors() {
    let (out, records) = collapsing();
    let state = fold(&records);
    let of = |state: &State| -> Vec<(String, Kind)> {
        state.findings.values().map(|f| (f.run.as_ref().map_or(String::new(), ToString::to_string), f.kind)).collect()
    };
    let collapses: Vec<_> = of(&state).into_iter().filter(|(_, kind)| *kind == Kind::Collapse).collect();
    assert_eq!(collapses, [("falls".to_owned(), Kind::Collapse)], "{out}");
    assert_eq!(of(&redetect(&records)), of(&state));
    let verdict = state.verdict.unwrap();
    let line = |of: &str| verdict.lines.iter().find(|l| l.of == of && l.comparison.starts_with("no ")).unwrap();
    assert_eq!(line("falls").decision, shakedown::vocab::verdict::Decision::Fail);
    assert_eq!(line("keeps").decision, shakedown::vocab::verdict::Decision::Pass);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// Records of two runs may come in any order between each other: what is said of each run is the same.
    #[test]
    fn two_runs_fold_to_the_same_however_they_are_interleaved(picks in prop::collection::vec(any::<bool>(), 400)) {
        let (left, right) = (told("left", 100), told("right", 40));
        let mut state = State::default();
        let mut seq = 1;
        let mut apply = |state: &mut State, event: &(u64, Event)| {
            let node = if matches!(event.1, Event::SessionOpened(_)) { "" } else { "n" };
            state.apply(&Record { seq, at: shakedown::vocab::moment::Moment(event.0), node: node.into(), event: event.1.clone() });
            seq += 1;
        };
        apply(&mut state, &(0, opening()));
        let (mut l, mut r) = (left.iter().peekable(), right.iter().peekable());
        let mut picks = picks.into_iter();
        while l.peek().is_some() || r.peek().is_some() {
            let first = picks.next().unwrap_or(true);
            let next = if first { l.next().or_else(|| r.next()) } else { r.next().or_else(|| l.next()) };
            apply(&mut state, next.unwrap());
        }
        for (run, events) in state.runs.iter().zip([&left, &right]) {
            let mut alone = State::default();
            apply(&mut alone, &(0, opening()));
            events.iter().for_each(|event| apply(&mut alone, event));
            let expected = alone.runs.iter().find(|other| other.name == run.name).unwrap();
            prop_assert_eq!(&run.status, &expected.status);
            prop_assert_eq!(&run.meters, &expected.meters);
            prop_assert_eq!(run.figure("mb_per_s").len(), 1);
        }
    }
}

fn opening() -> Event {
    use shakedown::vocab::event::Opening;
    use shakedown::vocab::node::{Build, FORMAT};
    let text = plan(&[synthetic("left", "1 s", "Level", LOAD), synthetic("right", "1 s", "Level", LOAD)], "");
    let plan = shakedown::vocab::ronfile::parse("p", &text).unwrap();
    let (session, started) = ("s".to_owned(), "2026-01-01T00:00:00Z".to_owned());
    Event::SessionOpened(Box::new(Opening {
        format: FORMAT,
        session,
        plan,
        build: Build::this(),
        started,
        nodes: vec!["n".into()],
        amends: None,
    }))
}

/// What a worker says of a run at so many MB/s, with the times of its readings.
fn told(run: &str, mb_per_s: u64) -> Vec<(u64, Event)> {
    use shakedown::vocab::event::{MeterSpec, Progress, Start};
    use shakedown::vocab::figure::Figure;
    use shakedown::vocab::moment::Span;
    use shakedown::vocab::unit::Unit;
    let unit = Unit::MegabytesPerSecond;
    let start = Start {
        run: run.into(),
        iterations: 1,
        meters: vec![MeterSpec::new("mb_per_s", unit, true)],
        roofs: vec![],
        labels: [].into(),
        command: String::new(),
        deadline: Span::seconds(60),
    };
    let mut events = vec![
        (1_000, Event::RunStarted(Box::new(start))),
        (2_000, Event::Phase { run: run.into(), iteration: 1, phase: Phase::Measure }),
    ];
    events.extend((1..=50).map(|reading| {
        let done = vec![reading * mb_per_s * 100_000];
        let progress = Progress { run: run.into(), done, in_flight: 1, oldest: None, latency: None, prepared: None };
        (2_000 + reading * 100_000, Event::Progress(progress))
    }));
    let figures = vec![Figure::new("mb_per_s", mb_per_s as f64, unit)];
    events.push((6_000_000, Event::IterationEnded { run: run.into(), iteration: 1, figures, latency: None }));
    events.push((6_001_000, Event::RunEnded { run: run.into(), outcome: Outcome::Sound }));
    events
}
