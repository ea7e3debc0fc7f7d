//! The preset of the private cloud on the figures of the report that it comes from: sessions that are built to have them, 36 and 20
//! iterations with a spread of 0.1 %. And what the rule of the interval promises: a simulation, and properties.

use super::judge;
use crate::analysis::state::State;
use crate::vocab::check::{Check, Decide, Limit};
use crate::vocab::event::{Event, MeterSpec, Opening, Outcome, Record, Start};
use crate::vocab::figure::Figure;
use crate::vocab::finding::{Finding, Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::RunName;
use crate::vocab::node::{Build, FORMAT};
use crate::vocab::plan::Plan;
use crate::vocab::random::normal;
use crate::vocab::unit::{Quantity, Unit};
use crate::vocab::verdict::{Decision, Line, Verdict};

/// A run's figure, and its values.
type Told<'a> = (&'a str, &'a str, Unit, Vec<f64>);

fn session(plan: &Plan, told: &[Told<'_>]) -> State {
    let opening = Opening {
        format: FORMAT,
        session: "s".to_owned(),
        plan: plan.clone(),
        build: Build::this(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        nodes: vec!["n".into()],
        amends: None,
    };
    let mut events = vec![("", Event::SessionOpened(Box::new(opening)))];
    for (run, figure, unit, values) in told {
        let (run, name) = (RunName::from(*run), *figure);
        events.push(("n", Event::RunStarted(Box::new(start(&run, name, *unit, values.len())))));
        for (i, value) in values.iter().enumerate() {
            let figures = vec![Figure::new(name, *value, *unit)];
            events.push((
                "n",
                Event::IterationEnded { run: run.clone(), iteration: i as u32 + 1, figures, latency: None },
            ));
        }
        events.push(("n", Event::RunEnded { run, outcome: Outcome::Sound }));
    }
    let mut state = State::default();
    for (i, (node, event)) in events.into_iter().enumerate() {
        state.apply(&Record { seq: i as u64 + 1, at: Moment(i as u64 * 1000), node: node.into(), event });
    }
    state
}

fn start(run: &RunName, figure: &str, unit: Unit, iterations: usize) -> Start {
    Start {
        run: run.clone(),
        iterations: iterations as u32,
        meters: vec![MeterSpec::new(figure, unit, true)],
        roofs: vec![],
        labels: [].into(),
        command: String::new(),
        deadline: Span::seconds(60),
    }
}

/// So many values with this mean and a standard deviation of a thousandth of it, in no order.
fn around(mean: f64, n: usize) -> Vec<f64> {
    let step = 1.0 / ((n * n - 1) as f64 / 12.0).sqrt();
    let place = |i: usize| ((i * 7) % n) as f64 - (n - 1) as f64 / 2.0;
    (0..n).map(|i| mean * (1.0 + 0.001 * step * place(i))).collect()
}

/// The same below a largest value.
fn up_to(most: f64, n: usize) -> Vec<f64> {
    let values = around(most, n);
    let largest = values.iter().copied().fold(0.0, f64::max);
    values.into_iter().map(|value| value * most / largest).collect()
}

fn railway() -> Plan {
    let text = include_str!("../../../presets/railway-private-cloud.ron");
    let mut plan: Plan = crate::vocab::ronfile::parse("railway", text).unwrap();
    plan.checks.iter_mut().for_each(|check| check.decide = check.decide.or(Some(Decide::Interval)));
    // The volumes' figures are none of this proof.
    plan.runs.retain(|run| ["cpu-float", "memory", "memory-read"].contains(&&*run.name.0));
    plan.checks.retain(|check| plan.runs.iter().any(|run| check.of.starts_with(&format!("{}.", run.name))));
    plan.checks.retain(|check| !check.of.ends_with("residual"));
    plan
}

fn line<'a>(verdict: &'a Verdict, of: &str, limit: &str) -> &'a Line {
    verdict.lines.iter().find(|line| line.of == of && line.limit.contains(limit)).unwrap()
}

#[test]
fn the_report_is_judged_by_its_own_baseline() {
    let plan = railway();
    let state = session(
        &plan,
        &[
            ("cpu-float", "gflops", Unit::Gflops, around(26.32, 36)),
            ("memory", "triad_mb_per_s", Unit::MegabytesPerSecond, up_to(10_338.0, 20)),
            ("memory-read", "mb_per_s", Unit::MegabytesPerSecond, around(8687.0, 20)),
        ],
    );
    let verdict = judge(&plan, &state);
    let says = |of: &str, limit: &str, share: &str, decision: Decision| {
        let line = line(&verdict, of, limit);
        assert!(line.detail.contains(share) && line.decision == decision, "{line:#?}");
    };
    // What the report prints, and that the first misses its own line.
    says("cpu-float.gflops", "of nominal cpu 35.2 GFLOPS", "74.77 % of it", Decision::Fail);
    says("cpu-float.gflops", "of bare-metal 31.5 GFLOPS", "83.66 % of it", Decision::Fail);
    says("memory.triad_mb_per_s", "of nominal memory", "80.77 % of it", Decision::Pass);
    says("memory-read.mb_per_s", "of nominal memory", "67.87 % of it", Decision::Fail);
    // What it does not: below 90 % of the public cloud as it stands, above it after each is held against its own roof.
    says("cpu-float.gflops", "90 % of public-cloud 30.4", "86.64 % of it", Decision::Fail);
    says("cpu-float.gflops", "public-cloud's 75.95 %", "74.77 % of the own roof, 98.45 % of it", Decision::Pass);
    assert!(line(&verdict, "memory-read.mb_per_s", "memory").told, "the transfer is a should");
    assert_eq!(verdict.sections(), [("real-time computing", Decision::Fail)]);
    assert_eq!(judge(&plan, &state), verdict, "the same records give the same verdict");
}

fn checked(limit: f64, decide: Decide) -> Plan {
    let limit = Limit::Absolute(Quantity::new(limit, Unit::Gflops));
    let mut plan = railway();
    plan.checks = vec![Check { at_least: Some(limit), decide: Some(decide), ..Check::new("cpu-float.gflops") }];
    plan.runs.truncate(1);
    plan.runs[0].iterations = 1;
    plan
}

fn decision(plan: &Plan, values: Vec<f64>) -> Decision {
    judge(plan, &session(plan, &[("cpu-float", "gflops", Unit::Gflops, values)])).decision
}

fn noisy(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed;
    (0..n).map(|_| normal(&mut state)).collect()
}

#[test]
fn a_mean_five_percent_from_the_limit_is_decided_in_nineteen_of_twenty_sessions_and_hardly_ever_wrongly() {
    let plan = checked(100.0, Decide::Interval);
    let of = |mean: f64| {
        let judged = (0..1000).map(|seed| {
            let values = noisy(seed, 20).into_iter().map(|z| mean * (1.0 + 0.05 * z)).collect();
            decision(&plan, values)
        });
        let judged: Vec<Decision> = judged.collect();
        [Decision::Pass, Decision::Fail].map(|which| judged.iter().filter(|decision| **decision == which).count())
    };
    let ([pass_above, fail_above], [pass_below, fail_below]) = (of(105.0), of(95.0));
    assert!(pass_above >= 950 && fail_above <= 10, "{pass_above} {fail_above}");
    assert!(fail_below >= 950 && pass_below <= 10, "{pass_below} {fail_below}");
}

#[test]
fn what_is_worse_is_never_judged_better() {
    for decide in [Decide::Interval, Decide::Point] {
        let plan = checked(100.0, decide);
        for seed in 0..60 {
            let values: Vec<f64> = noisy(seed, 12).into_iter().map(|z| 101.0 * (1.0 + 0.02 * z)).collect();
            let mut last = decision(&plan, values.clone());
            for step in 1..30 {
                let worse = values.iter().map(|value| value - f64::from(step) * 0.2).collect();
                let now = decision(&plan, worse);
                assert!(now >= last || (last, now) == (Decision::Fail, Decision::Fail), "seed {seed}: {last} to {now}");
                last = now;
            }
        }
    }
}

#[test]
fn a_finding_against_the_node_never_makes_a_verdict_better() {
    let mut plan = checked(100.0, Decide::Interval);
    plan.checks.push(Check { no_findings: vec![Kind::Collapse, Kind::Stall, Kind::Drift], ..Check::new("*") });
    for mean in [90.0, 100.2, 110.0] {
        let state = session(&plan, &[("cpu-float", "gflops", Unit::Gflops, around(mean, 20))]);
        let before = judge(&plan, &state).decision;
        for kind in [Kind::Collapse, Kind::Stall, Kind::Drift, Kind::Hardware, Kind::Silent] {
            for severity in [Severity::Info, Severity::Warn, Severity::Fail, Severity::Crit] {
                let mut state = state.clone();
                let mut finding = Finding::new(kind, severity, Moment(1), Moment(2));
                finding.run = Some("cpu-float".into());
                let seq = state.seq + 1;
                state.apply(&Record { seq, at: Moment(9_000_000), node: "n".into(), event: Event::Found(finding) });
                let after = judge(&plan, &state).decision;
                assert!(after >= before, "{kind} {severity} at {mean}");
                assert!(kind != Kind::Hardware || severity < Severity::Fail || after > Decision::Pass, "{severity}");
            }
        }
    }
}

#[test]
fn more_limits_never_make_a_verdict_better_and_their_order_does_not_matter() {
    for mean in [90.0, 100.2, 110.0] {
        for seed in 0..40_u64 {
            let mut plan = checked(100.0, Decide::Interval);
            let state = session(&plan, &[("cpu-float", "gflops", Unit::Gflops, around(mean, 20))]);
            let mut last = judge(&plan, &state).decision;
            for step in noisy(seed, 6) {
                let limit = Limit::Absolute(Quantity::new(100.0 + 8.0 * step, Unit::Gflops));
                let mut check = Check { decide: Some(Decide::Point), ..Check::new("cpu-float.gflops") };
                *(if step > 0.5 { &mut check.at_most } else { &mut check.at_least }) = Some(limit);
                plan.checks.push(check);
                let now = judge(&plan, &state).decision;
                assert!(now >= last, "{mean} {seed}: {last} to {now}");
                last = now;
                plan.checks.rotate_left(1);
                assert_eq!(judge(&plan, &state).decision, last);
                plan.checks.reverse();
                assert_eq!(judge(&plan, &state).decision, last);
            }
        }
    }
}

#[test]
fn a_share_that_comes_to_no_finite_number_is_no_limit() {
    let mut plan = checked(100.0, Decide::Point);
    plan.roofs.insert("cpu".to_owned(), Quantity::new(1e10, Unit::Gflops));
    let limit = Some(Limit::OfRoof(1e300, crate::vocab::check::Basis::Nominal));
    plan.checks = vec![Check { at_most: limit, decide: Some(Decide::Point), ..Check::new("cpu-float.gflops") }];
    assert_eq!(decision(&plan, around(100.0, 20)), Decision::NotProven);
}
