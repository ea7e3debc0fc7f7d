//! Live and replayed are the same: what was found and judged while a session went on is found and judged again in its file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

mod common;

use common::{PATIENCE, Place, fold, plan, synthetic};
use shakedown::analysis::detect::redetect;
use shakedown::analysis::state::State;
use shakedown::analysis::verdict::judge;
use shakedown::vocab::event::{Event, Record};
use shakedown::vocab::finding::{Finding, Kind, Severity};
use shakedown::vocab::moment::{Moment, Span};

/// Three windows of a tenth of a second, and the reading that ends the last.
const COLLAPSE_SAID: Span = Span::milliseconds(400);
/// Two seconds, and three readings.
const STALL_SAID: Span = Span::milliseconds(2300);

const CHECKS: &str = "(of: \"r.mb_per_s\", at_least: Absolute(\"80 MB/s\"), decide: Point), (of: \"*\", no_findings: [Collapse, Stall, Silent])";

/// A session of one run, kept to its end, with everything that must hold of any session checked.
fn told(name: &str, run: String) -> (Vec<Record>, State) {
    let place = Place::new();
    let (finished, records) = place.session(name, &plan(&[run], CHECKS), &[]).finish(PATIENCE);
    let state = fold(&records);
    let again = redetect(&records);
    assert_eq!(state.findings, again.findings, "{name}: as recorded");
    assert_eq!(state.found_on, again.found_on, "{name}");
    let told = state.verdict.clone().expect("a verdict");
    let opening = state.opening.as_ref().unwrap();
    assert_eq!(judge(&opening.plan, &before_the_end(&records)), told, "{name}");
    assert_eq!(judge(&opening.plan, &again), told, "{name}");
    assert_eq!(finished.code, Some(i32::from(told.exit_code())), "{name}: {}", finished.out);
    let file = place.path(&format!("{name}.jsonl")).display().to_string();
    for more in [&[][..], &["--redetect"]] {
        let judged = place.run(&[&["judge", &file], more].concat());
        assert_eq!(judged.code, finished.code, "{name} {more:?}: {}", judged.out);
        assert!(judged.out.contains(&format!("VERDICT: {}\n", told.headline())), "{name}: {}", judged.out);
        assert!(!judged.out.contains("not as recorded"), "{name}: {}", judged.out);
    }
    (records, state)
}

fn before_the_end(records: &[Record]) -> State {
    fold(&records[..records.len() - 1])
}

/// The sayings of the findings of a kind, in order.
fn sayings(records: &[Record], kind: Kind) -> Vec<(Moment, Finding)> {
    let said = |r: &Record| match &r.event {
        Event::Found(finding) if finding.kind == kind => Some((r.at, finding.clone())),
        _ => None,
    };
    records.iter().filter_map(said).collect()
}

fn worst(state: &State) -> Option<Severity> {
    state.findings.values().map(|f| f.severity).max()
}

#[test]
fn a_level_rate_gives_no_finding() {
    let (_, state) = told("level", synthetic("r", "2500 ms", "Level", ""));
    assert_eq!(state.findings.len(), 0, "{:?}", state.findings);
    assert_eq!(state.verdict.unwrap().exit_code(), 0);
}

#[test]
fn a_level_rate_with_noise_gives_no_finding_that_needs_a_look() {
    let (_, state) = told("noisy", synthetic("r", "3 s", "Level, noise: 0.1", ""));
    assert!(worst(&state) < Some(Severity::Warn), "{:?}", state.findings);
}

#[test]
fn a_collapse_is_said_within_three_windows_and_with_its_bytes() {
    let shape = "Collapse(after: \"120MB\", to: \"1 MB/s\")";
    let (records, state) = told("collapse", synthetic("r", "7 s", shape, ""));
    let sayings = sayings(&records, Kind::Collapse);
    let (at, first) = sayings.first().expect("a collapse is found");
    assert!(at.since(first.onset) <= COLLAPSE_SAID, "said {} after its onset", at.since(first.onset));
    assert_eq!(*at, first.said, "the record of the saying bears its time");
    let work = first.work_before.unwrap().value;
    assert!((work / 120e6 - 1.0).abs() < 0.05, "after {work} bytes");
    let from = first.from.unwrap().value;
    assert!((from / 100.0 - 1.0).abs() < 0.05, "from {from} MB/s");
    let last = &state.findings[&first.id];
    assert_eq!((last.onset, last.said), (first.onset, first.said), "the onset stays where it was");
    assert!(last.severity >= Severity::Fail, "1 MB/s is below what any device gives: {:?}", last.severity);
    assert!((last.to.unwrap().value - 1.0).abs() < 0.2, "settled at {:?}", last.to);
    assert_eq!(state.findings.len(), 1, "one fault is said once: {:?}", state.findings);
    assert_eq!(state.verdict.unwrap().exit_code(), 1);
}

#[test]
fn a_stall_is_said_soon_and_closed_when_work_goes_on() {
    let shape = "Stall(after: \"600 ms\", lasting: \"2800 ms\")";
    let (records, state) = told("stall", synthetic("r", "4 s", shape, ""));
    let sayings = sayings(&records, Kind::Stall);
    let (at, first) = sayings.first().expect("a stall is found");
    assert!(at.since(first.onset) <= STALL_SAID, "said {} after its onset", at.since(first.onset));
    assert!(first.severity >= Severity::Warn && first.closed.is_none());
    let last = &state.findings[&first.id];
    let lasted = last.closed.expect("it is over").since(last.onset);
    assert!(lasted > Span::milliseconds(2600) && lasted < Span::milliseconds(3200), "it lasted {lasted}");
    assert_eq!(state.verdict.unwrap().exit_code(), 1);
}

#[test]
fn a_hang_is_a_stall_to_the_end_of_its_run() {
    let run = synthetic("r", "60 s", "Hang(after: \"500 ms\")", ", deadline: \"3500 ms\"");
    let (records, state) = told("hang", run);
    let sayings = sayings(&records, Kind::Stall);
    let (at, first) = sayings.first().expect("a stall is found");
    assert!(at.since(first.onset) <= STALL_SAID, "said {} after its onset", at.since(first.onset));
    assert!(state.findings[&first.id].closed.is_some(), "the end of the run closes it");
}

#[test]
fn a_drift_and_an_oscillation_are_the_same_live_and_again() {
    std::thread::scope(|scope| {
        scope.spawn(|| told("drift", synthetic("r", "3 s", "Drift(to: 0.3)", "")));
        scope.spawn(|| told("oscillate", synthetic("r", "3 s", "Oscillate(low: 0.3, period: \"1 s\")", "")));
    });
}

#[test]
fn two_nodes_have_findings_of_their_own() {
    let place = Place::new();
    let shape = "Collapse(after: \"80MB\", to: \"1 MB/s\")";
    let plan = plan(&[synthetic("r", "1500 ms", shape, "")], CHECKS);
    let (_, records) = place.session("both", &plan, &["--node", "a", "--node", "b"]).finish(PATIENCE);
    let (state, again) = (fold(&records), redetect(&records));
    assert_eq!((&state.findings, &state.found_on), (&again.findings, &again.found_on));
    let nodes: Vec<String> = state.found_on.values().map(ToString::to_string).collect();
    assert!(nodes.len() == 2 && nodes.contains(&"a".to_owned()) && nodes.contains(&"b".to_owned()), "{nodes:?}");
}
