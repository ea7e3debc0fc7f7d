//! The recorded traces: what an engineer would point at in each is found, and nothing else. `tests/traces/EXPECTED.tsv` says what;
//! the columns are described in `tests/traces/README.md`. And the measure itself: a matcher that finds no fault in anything would
//! find none here either.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

mod common;
#[path = "generator/mod.rs"]
mod generator;
#[path = "common/recorded.rs"]
mod recorded;
#[path = "bench/detection/score.rs"]
mod score;

use common::Place;
use generator::fault::{Fault, What};
use generator::sets::{faults, healthy};
use recorded::{Row, Told};
use score::{Outcome, outcome, quantile, too_early};
use shakedown::vocab::finding::{Finding, Kind, Severity};
use shakedown::vocab::moment::Moment;
use shakedown::vocab::unit::Unit;

#[test]
fn every_trace_is_found_out() {
    let rows = recorded::rows();
    assert!(rows.len() >= 20, "{} rows", rows.len());
    let faults: Vec<String> = rows.iter().flat_map(|row| row.faults(&row.play())).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_program_finds_what_the_library_finds() {
    let place = Place::new();
    let mut differences = Vec::new();
    for row in recorded::rows() {
        let file = place.path("trace.csv");
        std::fs::write(&file, row.lines().join("\n") + "\n").unwrap();
        let unit = row.unit().symbol();
        let mut arguments = vec!["detect", file.to_str().unwrap(), "--value", &row.value, "--unit", unit, "--json"];
        if row.has_in_flight() {
            arguments.extend(["--in-flight", "inflight_ms"]);
        }
        let told = row.play();
        let finished = place.run(&arguments);
        let is_bad = told.iter().any(|f| f.severity >= Severity::Warn);
        assert_eq!(finished.code, Some(i32::from(is_bad)), "{}: {}", row.trace, finished.err);
        assert!(finished.err.lines().all(|line| line.contains("at the time of the row before")), "{}", finished.err);
        let objects: Vec<serde_json::Value> =
            finished.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let said: Vec<String> =
            objects.iter().map(|o| format!("{} {} {}", o["kind"], o["severity"], o["onset"])).collect();
        let meant =
            |f: &Told| format!("\"{}\" \"{}\" {:?}", f.kind, format!("{:?}", f.severity).to_uppercase(), f.onset);
        if said != told.iter().map(meant).collect::<Vec<_>>() {
            differences.push(format!("{}: {said:?}", row.trace));
        }
    }
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

#[test]
fn the_matcher_asks_for_the_required_and_refuses_what_is_not_allowed() {
    let told = |kind, severity, onset| Told { kind, severity, onset };
    let row = Row::parse("x\tmb_s\tSTALL|COLLAPSE\tSTEP,RECOVERY\t3-5\t");
    let stall = told(Kind::Stall, Severity::Fail, 4.0);
    assert!(row.faults(&[stall]).is_empty());
    assert_eq!(row.faults(&[]), ["x: no STALL or COLLAPSE with its onset in Some((3.0, 5.0))"]);
    assert_eq!(row.faults(&[told(Kind::Stall, Severity::Fail, 5.1)]).len(), 1, "too late");
    assert!(row.faults(&[stall, told(Kind::Step, Severity::Crit, 9.0)]).is_empty());
    assert!(row.faults(&[stall, told(Kind::Cap, Severity::Info, 9.0)]).is_empty(), "INFO is free");
    let other = row.faults(&[stall, told(Kind::Drift, Severity::Warn, 9.0)]);
    assert_eq!(other, ["x: Warn DRIFT at 9.00 s is not allowed"]);
    let quiet = Row::parse("x\tmb_s\t-\tOSCILLATION\t\tbursts: at most WARN");
    assert!(quiet.faults(&[]).is_empty());
    assert!(quiet.faults(&[told(Kind::Oscillation, Severity::Warn, 1.0)]).is_empty());
    assert_eq!(quiet.faults(&[told(Kind::Oscillation, Severity::Fail, 1.0)]).len(), 1);
    assert_eq!(quiet.faults(&[told(Kind::Collapse, Severity::Warn, 1.0)]).len(), 1);
}

fn found(kind: Kind, severity: Severity, onset: f64, said: f64) -> Finding {
    let moment = |seconds: f64| Moment((seconds * 1e6) as u64);
    Finding::new(kind, severity, moment(onset), moment(said))
}

#[test]
fn the_score_tells_hits_other_names_misses_and_false_alarms_apart() {
    let fall = Fault::new(What::Fall { to: 0.05, over: 1, back: 1.0 }, 100);
    let labels = fall.labels(0.1);
    let [label] = &labels[..] else { panic!("{labels:?}") };
    assert_eq!((label.kind, label.onset, label.wanted), (Kind::Collapse, 10.0, true));
    let of = |findings: &[Finding]| outcome(label, findings);
    let hit = of(&[found(Kind::Collapse, Severity::Warn, 10.1, 10.5)]);
    assert!(matches!(hit, Outcome::Hit { delay, as_kind: Kind::Collapse } if (delay - 0.5).abs() < 1e-9), "{hit:?}");
    assert_eq!(of(&[found(Kind::Collapse, Severity::Info, 10.1, 10.5)]), Outcome::Missed, "not bad enough");
    assert_eq!(of(&[found(Kind::Collapse, Severity::Warn, 12.2, 12.5)]), Outcome::Missed, "another time");
    assert_eq!(of(&[found(Kind::Step, Severity::Warn, 10.0, 10.5)]), Outcome::Other(Kind::Step));
    let early = [found(Kind::Step, Severity::Warn, 3.0, 4.0), found(Kind::Cap, Severity::Info, 3.0, 4.0)];
    assert_eq!(too_early(&labels, &early).len(), 1);
    let half = Fault::new(What::Fall { to: 0.5, over: 1, back: 1.0 }, 100).labels(0.1);
    assert!(matches!(outcome(&half[0], &[found(Kind::Step, Severity::Warn, 10.0, 11.0)]), Outcome::Hit { .. }));
    assert_eq!(quantile(&mut [3.0, 1.0, 2.0], 0.5), Some(2.0));
    assert_eq!((quantile(&mut [3.0, 1.0], 0.95), quantile(&mut [], 0.5)), (Some(3.0), None));
}

#[test]
fn a_seed_repeats_its_series_and_another_gives_others() {
    let values = |seed| {
        let cases = faults(seed, 1);
        cases
            .iter()
            .step_by(97)
            .flat_map(|case| case.recipe.play().take(50).map(|s| s.value.to_bits()))
            .collect::<Vec<_>>()
    };
    assert_eq!(values(3), values(3));
    assert_ne!(values(3), values(4));
}

#[test]
fn series_are_what_their_recipes_say() {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    for (name, recipe) in healthy(10.0, 20_000) {
        let values: Vec<f64> = recipe.play().skip(100).map(|s| s.value / recipe.level).collect();
        let mean = mean(&values);
        assert!((0.96..1.01).contains(&mean), "{name}: {mean}");
        assert!(values.iter().all(|v| v.is_finite() && *v > 0.0), "{name}");
        assert!(recipe.labels().is_empty());
    }
    for case in faults(1, 1) {
        let samples: Vec<_> = case.recipe.play().collect();
        assert!(samples.windows(2).all(|two| two[0].t < two[1].t), "{}: time goes on", case.group);
        let end = samples.len() as f64 * case.recipe.tick();
        assert!(case.recipe.labels().iter().all(|l| l.onset < end), "{}: {:?}", case.group, case.recipe.labels());
        for label in case.recipe.labels().iter().filter(|l| l.kind == Kind::Collapse && l.onset > 0.0) {
            let at = |from: f64, to: f64| {
                let here = samples.iter().filter(|s| s.t > from && s.t <= to).map(|s| s.value).collect::<Vec<_>>();
                mean(&here)
            };
            let after = label.end.unwrap_or(end);
            let (before, since) = (at(0.0, label.onset), at(label.visible, after));
            let is_worse = if case.recipe.unit == Unit::Milliseconds { since > before } else { since < before };
            assert!(is_worse, "{}: {before} and then {since}", case.group);
        }
    }
}
