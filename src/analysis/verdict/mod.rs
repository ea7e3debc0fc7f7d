//! The judge: a plan and a folded session in, a verdict out. Pure, so the same records give the same verdict for ever.
//!
//! Every run gives a line about its own soundness, every check of the plan a line about its comparison. What was not measured
//! has not passed: a stopped, broken or missing run makes NOT PROVEN, never PASS.

mod amended;
mod bench;
mod bound;
mod decide;
mod doubts;
mod fit;
mod hardware;
mod ordered;
#[cfg(test)]
mod proof;
mod so_far;
mod terms;

use super::state::{RunState, State, Status};
use crate::vocab::event::Outcome;
use crate::vocab::plan::Plan;
use crate::vocab::text::counted;
use crate::vocab::verdict::{Decision, Line, Verdict};
pub use amended::preface;
use bench::Bench;
use ordered::Known;

pub use so_far::{SoFar, so_far};

/// Judges a session by a plan (its own, or another).
#[must_use]
pub fn judge(plan: &Plan, state: &State) -> Verdict {
    let mut lines = amended::lines(plan, state);
    lines.extend(hardware::between_runs(state));
    let sound = |run| amended::mark(hardware::weigh(soundness(run), state, run), state, run);
    lines.extend(state.runs.iter().map(sound));
    for node in state.nodes.keys() {
        let missing = plan.runs.iter().filter(|run| state.run(node, &run.name).is_none());
        lines.extend(missing.map(|run| soundness(&RunState::new(run, node))));
    }
    if state.lost > 0 {
        lines.push(gap(&format!(
            "{} records are missing or out of their order, and what there was is not known",
            state.lost
        )));
    }
    for node in state.nodes.keys() {
        lines.extend(plan.checks.iter().flat_map(|check| Bench { plan, state, node, check }.lines()));
    }
    for (name, node) in &state.nodes {
        let known = Known { node: &name.0, inventory: node.inventory.as_ref(), conditions: &node.conditions };
        lines.extend(plan.ordered.iter().flat_map(|ordered| ordered::lines(ordered, known)));
    }
    let worst = lines.iter().filter(|line| !line.told).map(|line| line.decision).max().unwrap_or(Decision::NotProven);
    let decision = if state.opening.is_none() { Decision::NotProven } else { worst };
    Verdict { decision, smoke: plan.smoke, lines, preface: preface(state) }
}

/// Judges a record that is read back: as [`judge`], and what has no end proves nothing.
#[must_use]
pub fn judge_record(plan: &Plan, state: &State) -> Verdict {
    let mut verdict = judge(plan, state);
    if state.verdict.is_none() {
        verdict.lines.push(gap("the session was not finished: its record ends without a verdict"));
        verdict.decision = verdict.decision.max(Decision::NotProven);
    }
    verdict
}

/// A line about what the record lacks.
fn gap(reason: &str) -> Line {
    Line {
        comparison: "complete".to_owned(),
        measured: "incomplete".to_owned(),
        reason: reason.to_owned(),
        ..Line::open("", "record")
    }
}

/// What of a record cannot be: iterations that are there twice, or that nobody asked for.
fn contradiction(run: &RunState) -> Option<String> {
    let numbers: Vec<u32> = run.done.iter().map(|iteration| iteration.number).collect();
    let mut pairs = numbers.iter().zip(numbers.iter().skip(1));
    if let Some((before, after)) = pairs.find(|(before, after)| after <= before) {
        return Some(format!("the record contradicts itself: iteration {after} follows iteration {before}"));
    }
    let bounded = run.lasting.is_none() && run.until_steady.is_none() && run.repeat_disturbed == 0;
    let most = run.iterations as usize;
    (bounded && numbers.len() > most)
        .then(|| format!("the record contradicts itself: {} iterations, where {most} were asked for", numbers.len()))
}

/// Whether a run came to its end, with every iteration and a right result.
fn soundness(run: &RunState) -> Line {
    let (decision, reason) = match &run.status {
        Status::Waiting => (Decision::NotProven, "not run".to_owned()),
        Status::Running => (Decision::NotProven, "not finished: the record ends while it was running".to_owned()),
        Status::Ended(outcome) => match outcome {
            Outcome::Sound if run.until_steady.is_some() => match run.steadiness() {
                Some(Ok(why)) => (Decision::Pass, format!("steady: {why}; its figures are of these rounds")),
                Some(Err(why)) => (Decision::NotProven, format!("it never became steady: {why}")),
                None => (Decision::NotProven, "nothing tells whether it is steady".to_owned()),
            },
            Outcome::Sound if run.done.len() < run.iterations as usize => {
                (Decision::NotProven, "fewer iterations than asked for".to_owned())
            }
            Outcome::Sound => contradiction(run).map_or_else(
                || (Decision::Pass, "every iteration was done and its result verified".to_owned()),
                |why| (Decision::NotProven, why),
            ),
            Outcome::Corrupt(why) => (Decision::Fail, format!("corrupt: {why}")),
            Outcome::Broken(why) => (Decision::NotProven, format!("broken: {why}")),
            Outcome::Unavailable(why) => (Decision::NotProven, format!("not possible on this node: {why}")),
            Outcome::Stuck => (Decision::NotProven, format!("stuck: {}", run.stuck())),
            Outcome::Stopped => (Decision::NotProven, "stopped on request".to_owned()),
        },
    };
    let reason = match run.disturbed() {
        Some(disturbed) => format!("{reason}; {disturbed}"),
        None => reason,
    };
    Line {
        decision,
        comparison: match run.lasting {
            Some(lasting) => format!("iterations for {lasting}, sound"),
            None => format!("{}, sound", counted(run.iterations as usize, "iteration")),
        },
        measured: run.counted(run.done.len()).replace('/', " of "),
        reason,
        evidence: run.ended_seq.into_iter().chain(run.done.iter().map(|i| i.seq)).collect(),
        ..Line::open(&run.node.0, &run.name.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::{Scenario, disk};
    use crate::vocab::event::Phase;
    use crate::vocab::figure::{Figure, Roof};
    use crate::vocab::finding::Kind;
    use crate::vocab::plan::{Basis, Check, Decide, Limit, Load, Missed, Pattern, Statistic, Stream};
    use crate::vocab::unit::{Quantity, Unit};

    /// Of one iteration, as most sessions here have, there is a number and no interval.
    fn check(at_least: Limit) -> Check {
        Check {
            at_least: Some(at_least),
            decide: Some(Decide::Point),
            why: "because".to_owned(),
            ..Check::new("r.mb_per_s")
        }
    }

    fn judged(check: Check, scenario: impl FnOnce(Scenario) -> Scenario) -> Verdict {
        let told = scenario(Scenario::measuring(vec![check]));
        let plan = told.state.opening.as_ref().unwrap().plan.clone();
        assert!(told.state.nodes.contains_key(&Scenario::node()));
        judge(&plan, &told.state)
    }

    fn absolute(text: &str) -> Limit {
        Limit::Absolute(text.parse().unwrap())
    }

    #[test]
    fn a_limit_that_holds_passes_and_one_that_does_not_fails_with_its_margin() {
        let pass = judged(check(absolute("80 MB/s")), |s| s.work(100.0, 50).end(100.0, Outcome::Sound));
        assert_eq!((pass.decision, pass.lines[1].margin.as_str()), (Decision::Pass, "+25.0 %"));
        let fail = judged(check(absolute("250 MB/s")), |s| s.work(100.0, 50).end(100.0, Outcome::Sound));
        assert_eq!((fail.decision, fail.lines[1].margin.as_str()), (Decision::Fail, "-60.0 %"));
    }

    fn one(values: &[f64], check: Check) -> Scenario {
        let rate = |value: &f64| vec![Figure::new("mb_per_s", *value, Unit::MegabytesPerSecond)];
        let told = Scenario::measuring(vec![check]);
        let mut told = values.iter().fold(told, |told, value| told.iteration(rate(value))).finish(Outcome::Sound);
        told.state.runs[0].iterations = values.len() as u32;
        told
    }

    fn lines(told: &Scenario) -> Vec<Line> {
        judge(&told.state.opening.as_ref().unwrap().plan.clone(), &told.state).lines
    }

    #[test]
    fn a_record_that_contradicts_itself_proves_nothing() {
        let mut told = one(&[100.0, 101.0], check(absolute("90 MB/s")));
        assert!(lines(&told).iter().all(|line| line.decision == Decision::Pass), "{:?}", lines(&told));
        told.state.runs[0].iterations = 1;
        let said = lines(&told);
        assert!(said.iter().all(|line| line.decision == Decision::NotProven), "{said:?}");
        assert!(said[0].reason.ends_with("2 iterations, where 1 were asked for"), "{said:?}");
        told.state.runs[0].iterations = 2;
        told.state.runs[0].done[1].number = 1;
        let said = lines(&told);
        assert!(said[0].reason.ends_with("iteration 1 follows iteration 1"), "{said:?}");
    }

    #[test]
    fn a_mean_of_fewer_iterations_than_asked_for_fails_nothing() {
        let check = Check { iterations: Some(3), ..check(absolute("105 MB/s")) };
        let line = &lines(&one(&[100.0, 101.0], check.clone()))[1];
        assert_eq!(line.decision, Decision::NotProven, "{line:?}");
        assert!(line.reason.contains("has 2 iterations of the 3 that are asked for"), "{line:?}");
        assert_eq!(lines(&one(&[100.0, 101.0, 99.0], check))[1].decision, Decision::Fail);
    }

    #[test]
    fn a_number_without_a_unit_is_no_limit_of_a_rate() {
        let line = &lines(&one(&[100.0, 101.0], check(absolute("90"))))[1];
        assert_eq!(line.decision, Decision::NotProven);
        assert!(line.reason.contains("the limit has no unit, and the figure is in MB/s"), "{line:?}");
    }

    #[test]
    fn a_run_that_went_with_one_that_broke_was_alone() {
        let mut told = one(&[100.0, 101.0], check(absolute("90 MB/s")));
        let mut other = told.state.runs[0].clone();
        (other.name, other.status) = ("other".into(), Status::Ended(Outcome::Broken("gone".to_owned())));
        told.state.runs.push(other);
        assert_eq!(lines(&told)[2].decision, Decision::Pass, "{:?}", lines(&told));
        told.state.runs.iter_mut().for_each(|run| run.together = Some("load".to_owned()));
        let said = lines(&told);
        assert_eq!(said[2].decision, Decision::NotProven);
        assert!(said[2].reason.contains("other, which goes together with r, did not come to a sound end"), "{said:?}");
    }

    #[test]
    fn a_plan_that_asks_for_other_work_is_not_met_by_what_was_done() {
        let told = one(&[100.0, 101.0], check(absolute("90 MB/s")));
        let mut plan = told.state.opening.as_ref().unwrap().plan.clone();
        plan.runs[0].iterations = 20;
        let line = judge(&plan, &told.state).lines.remove(1);
        assert!(line.reason.contains("r was asked for 2 iterations, the plan asks for 20"), "{line:?}");
        assert_eq!(line.decision, Decision::NotProven);
        plan.runs[0].iterations = 2;
        plan.runs[0].kernel = Load::Stream(Stream::default());
        let line = judge(&plan, &told.state).lines.remove(1);
        assert!(line.reason.contains("the session's r is another load than the plan's"), "{line:?}");
    }

    #[test]
    fn of_every_run_the_worst_is_judged() {
        let check = Check { of: "*.mb_per_s".to_owned(), ..check(absolute("50 MB/s")) };
        let mut told = one(&[100.0, 101.0], check);
        let mut other = told.state.runs[0].clone();
        other.name = "slow".into();
        other.done.iter_mut().flat_map(|i| &mut i.figures).for_each(|figure| figure.value /= 5.0);
        told.state.runs.push(other);
        let said = lines(&told);
        let line = said.iter().find(|line| line.of.contains("mb_per_s")).unwrap();
        assert_eq!((line.decision, line.measured.as_str()), (Decision::Fail, "20.1 MB/s"), "{line:?}");
        assert!(line.reason.starts_with("slow is the worst of 2 runs"), "{line:?}");
    }

    #[test]
    fn a_spread_is_held_against_percent() {
        let spread = Check {
            statistic: Statistic::Spread,
            at_least: None,
            at_most: Some(absolute("10 %")),
            ..check(absolute("1 %"))
        };
        let told = |values: [f64; 2]| {
            let rate = |value: f64| vec![Figure::new("mb_per_s", value, Unit::MegabytesPerSecond)];
            let told = Scenario::measuring(vec![spread.clone()]).iteration(rate(values[0])).iteration(rate(values[1]));
            let mut told = told.finish(Outcome::Sound);
            told.state.runs[0].iterations = 2;
            judge(&told.state.opening.as_ref().unwrap().plan.clone(), &told.state).lines.remove(1)
        };
        let (even, odd) = (told([100.0, 102.0]), told([100.0, 150.0]));
        assert_eq!((even.decision, even.measured.as_str()), (Decision::Pass, "1.4 %"), "{even:?}");
        assert_eq!(odd.decision, Decision::Fail);
    }

    #[test]
    fn a_run_until_steady_counts_its_last_rounds_and_proves_nothing_when_it_never_is() {
        let told = |values: &[f64]| {
            let mut told = Scenario::measuring(vec![check(absolute("80 MB/s"))]);
            told.state.runs[0].until_steady = Some(crate::vocab::plan::Steady::default());
            let rate = |value: f64| vec![Figure::new("mb_per_s", value, Unit::MegabytesPerSecond)];
            let told = values.iter().fold(told, |told, value| told.iteration(rate(*value))).finish(Outcome::Sound);
            judge(&told.state.opening.as_ref().unwrap().plan.clone(), &told.state)
        };
        let steady = told(&[10.0, 20.0, 100.0, 101.0, 99.0, 100.0, 100.0]);
        assert_eq!((steady.decision, steady.lines[1].measured.as_str()), (Decision::Pass, "100 MB/s"));
        assert!(steady.lines[0].reason.starts_with("steady: the last 5 of 7 rounds"), "{:?}", steady.lines[0]);
        let never = told(&[200.0, 180.0, 160.0, 140.0, 120.0, 100.0]);
        assert_eq!(never.decision, Decision::NotProven);
        assert!(never.lines[0].reason.starts_with("it never became steady"), "{:?}", never.lines[0]);
    }

    #[test]
    fn what_was_not_measured_to_its_end_has_not_passed() {
        let stopped = judged(check(absolute("80 MB/s")), |s| s.work(100.0, 50).end(100.0, Outcome::Stopped));
        assert_eq!(stopped.decision, Decision::NotProven);
        let never = judged(check(absolute("80 MB/s")), |s| s.work(100.0, 50));
        assert_eq!(never.decision, Decision::NotProven);
        assert_eq!(
            judge(&Scenario::measuring(vec![]).state.opening.unwrap().plan, &State::default()).decision,
            Decision::NotProven
        );
    }

    #[test]
    fn a_nominal_roof_counts_and_an_unknown_one_proves_nothing() {
        let mut of_roof = check(Limit::OfRoof(0.75, Basis::Nominal));
        assert_eq!(
            judged(of_roof.clone(), |s| s.end(100.0, Outcome::Sound)).decision,
            Decision::NotProven,
            "no roof named r"
        );
        of_roof.at_least = Some(Limit::OfRoof(0.75, Basis::Measured));
        assert_eq!(judged(of_roof, |s| s.end(100.0, Outcome::Sound)).decision, Decision::NotProven);
    }

    #[test]
    fn a_roof_of_the_node_counts_with_its_source_and_the_other_basis_does_not_stand_for_it() {
        let told = |limit: Limit, basis: Basis| {
            let mut told = Scenario::loading(Load::Stream(Stream::default()), vec![check(limit)]);
            let value = Quantity::new(120.0, Unit::MegabytesPerSecond);
            let roof = Roof { name: "memory".to_owned(), value, basis, source: "two channels".to_owned() };
            told.state.runs[0].start.as_mut().unwrap().roofs.push(roof);
            let told = told.end(100.0, Outcome::Sound);
            judge(&told.state.opening.as_ref().unwrap().plan, &told.state).lines.remove(1)
        };
        for basis in [Basis::Measured, Basis::Nominal] {
            let line = told(Limit::OfRoof(0.75, basis), basis);
            assert_eq!(line.decision, Decision::Pass, "{line:?}");
            assert_eq!(line.limit, format!("90 MB/s (75 % of {} memory 120 MB/s: two channels)", basis.word()));
            assert_eq!(told(Limit::OfRoof(0.9, basis), basis).decision, Decision::Fail);
        }
        let line = told(Limit::OfRoof(0.75, Basis::Nominal), Basis::Measured);
        assert_eq!(line.decision, Decision::NotProven);
        assert!(line.reason.contains("is unknown; give it with --roof memory=VALUE"), "{line:?}");
    }

    #[test]
    fn a_long_run_is_held_against_its_own_beginning() {
        let sustained = |at_least: &str| Check { statistic: Statistic::Sustained, ..check(absolute(at_least)) };
        let told = |limit: &str, values: &[f64]| {
            let mut told = Scenario::measuring(vec![sustained(limit)]);
            told.state.runs[0].lasting = Some(crate::vocab::moment::Span::seconds(3600));
            let rate = |value: f64| vec![Figure::new("mb_per_s", value, Unit::MegabytesPerSecond)];
            let told = values.iter().fold(told, |told, value| told.iteration(rate(*value))).finish(Outcome::Sound);
            judge(&told.state.opening.as_ref().unwrap().plan, &told.state)
        };
        let falling: Vec<f64> = (0..30).map(|i| 100.0 - f64::from(i) / 4.0).collect();
        let kept = told("90 %", &falling);
        let [run, line] = &kept.lines[..] else { panic!("{kept:?}") };
        assert_eq!((line.decision, line.measured.as_str(), line.limit.as_str()), (Decision::Pass, "93.2 %", "90 %"));
        assert_eq!((run.comparison.as_str(), run.measured.as_str()), ("iterations for 1:00:00, sound", "30"));
        assert_eq!(told("97 %", &falling).decision, Decision::Fail);
        let few = told("97 %", &falling[..9]);
        assert_eq!(few.decision, Decision::NotProven);
        assert!(few.lines[1].reason.contains("9 iterations are too few"), "{few:?}");
    }

    #[test]
    fn a_figure_in_another_unit_is_not_compared() {
        let verdict = judged(check(absolute("80 IOPS")), |s| s.end(100.0, Outcome::Sound));
        assert_eq!(verdict.decision, Decision::NotProven);
        assert!(verdict.lines[1].reason.contains("the limit is in IOPS, the figure in MB/s"));
    }

    #[test]
    fn a_finding_that_is_not_allowed_fails_and_wrong_results_always_do() {
        let no_collapse =
            Check { of: "r".to_owned(), at_least: None, no_findings: vec![Kind::Collapse], ..check(absolute("0")) };
        let verdict = judged(no_collapse.clone(), |s| s.work(100.0, 50).work(1.0, 60).end(50.0, Outcome::Sound));
        assert_eq!(verdict.decision, Decision::Fail);
        assert!(verdict.lines[1].reason.starts_with("COLLAPSE"));
        let corrupt = judged(no_collapse, |s| s.work(100.0, 50).end(100.0, Outcome::Corrupt("residual 20".to_owned())));
        assert_eq!(corrupt.decision, Decision::Fail);
    }

    #[test]
    fn a_check_of_conditions_makes_unproven_and_not_failed() {
        let mut noisy = check(absolute("250 MB/s"));
        noisy.missed = Missed::NotProven;
        assert_eq!(judged(noisy, |s| s.end(100.0, Outcome::Sound)).decision, Decision::NotProven);
    }

    #[test]
    fn a_figure_of_a_cache_or_of_the_generator_neither_passes_nor_fails() {
        let told = |floor: &str, figure: &str, device: f64, cpu: f64| {
            let check = Check { of: format!("r.{figure}"), ..check(absolute(floor)) };
            let told = Scenario::loading(disk(Pattern::Read, true), vec![check]).device(device, 200.0, 10);
            let told = told.phase(Phase::Measure).device(device, 200.0, 30).iteration(vec![
                Figure::new("mb_per_s", 200.0, Unit::MegabytesPerSecond),
                Figure::new("generator_cpu_percent", cpu, Unit::Percent),
            ]);
            let told = told.finish(Outcome::Sound);
            let verdict = judge(&told.state.opening.as_ref().unwrap().plan, &told.state);
            (verdict.lines[1].decision, verdict.lines[1].reason.clone())
        };
        for floor in ["100 MB/s", "300 MB/s"] {
            let sound = if floor == "100 MB/s" { Decision::Pass } else { Decision::Fail };
            assert_eq!(told(floor, "mb_per_s", 200.0, 20.0), (sound, "because".to_owned()));
            let (decision, reason) = told(floor, "mb_per_s", 10.0, 20.0);
            assert!(decision == Decision::NotProven && reason.starts_with("CACHED"), "{decision} {reason}");
            let (decision, reason) = told(floor, "mb_per_s", 200.0, 99.0);
            assert!(decision == Decision::NotProven && reason.starts_with("GENERATOR"), "{decision} {reason}");
        }
        assert_eq!(told("50 %", "generator_cpu_percent", 10.0, 99.0).0, Decision::Pass);
    }

    #[test]
    fn a_record_with_holes_or_without_an_end_proves_nothing() {
        let told = Scenario::measuring(vec![check(absolute("80 MB/s"))]).work(100.0, 50).end(100.0, Outcome::Sound);
        let plan = told.state.opening.as_ref().unwrap().plan.clone();
        assert_eq!(judge(&plan, &told.state).decision, Decision::Pass);
        assert_eq!(judge_record(&plan, &told.state).decision, Decision::NotProven, "no SessionClosed");
        let mut holed = told.state.clone();
        holed.lost = 1;
        assert_eq!(judge(&plan, &holed).decision, Decision::NotProven);
    }

    #[test]
    fn a_plan_whose_run_is_not_in_the_session_is_not_proven() {
        let told = Scenario::measuring(vec![]).work(100.0, 50).end(100.0, Outcome::Sound);
        let mut plan = told.state.opening.as_ref().unwrap().plan.clone();
        plan.runs[0].name = "never-ran".into();
        let no_stall = Check {
            of: "never-ran".to_owned(),
            at_least: None,
            no_findings: vec![Kind::Stall],
            ..check(absolute("0"))
        };
        plan.checks = vec![no_stall];
        let verdict = judge(&plan, &told.state);
        assert_eq!(verdict.decision, Decision::NotProven);
        assert!(verdict.lines.iter().any(|l| l.of == "never-ran" && l.reason.contains("no run of")));
    }
}
