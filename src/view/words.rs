//! The words and marks that every view uses for the same thing.

use std::fmt::Write as _;

use crate::analysis::preflight::{Preflight, Weight};
use crate::analysis::review::review;
use crate::analysis::roof::{self, Known};
use crate::analysis::state::{IterationState, RunState, State};
use crate::vocab::event::{Outcome, Phase};
use crate::vocab::figure::Roof;
use crate::vocab::finding::{Cause, Finding, Severity};
use crate::vocab::moment::Span;
use crate::vocab::plan::{Plan, Run};
use crate::vocab::stat;
use crate::vocab::survey::Needs;
use crate::vocab::text::neutral;
use crate::vocab::unit::{Quantity, Unit, short};
use crate::vocab::verdict::Decision;

/// The sign of a decision; ASCII, so that it is the same on every terminal.
#[must_use]
pub fn mark(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "+",
        Decision::NotProven => "?",
        Decision::Fail => "x",
    }
}

/// A phase as it is called.
#[must_use]
pub fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Prepare => "PREPARE",
        Phase::Ramp => "RAMP",
        Phase::Measure => "MEASURE",
        Phase::Drain => "DRAIN",
        Phase::Verify => "VERIFY",
        Phase::Cool => "COOL",
    }
}

/// How a run ended, in words; `run` is what the fold knows of it.
#[must_use]
pub fn outcome(outcome: &Outcome, run: Option<&RunState>) -> String {
    match outcome {
        Outcome::Sound => "sound".to_owned(),
        Outcome::Corrupt(why) => format!("CORRUPT: {why}"),
        Outcome::Broken(why) => format!("BROKEN: {why}"),
        Outcome::Unavailable(why) => format!("NOT POSSIBLE HERE: {why}"),
        Outcome::Stuck => format!("STUCK: {}", run.map_or_else(|| "it did not end".to_owned(), RunState::stuck)),
        Outcome::Stopped => "stopped on request".to_owned(),
    }
}

/// What is behind a finding that needs a look, a line each: what held the work up, then what may be the cause and what to look at
/// next. A cause that no reading speaks for is only possible.
#[must_use]
pub fn reasons(finding: &Finding) -> Vec<String> {
    if finding.severity < Severity::Warn {
        return Vec::new();
    }
    let held: Vec<String> = finding.held_by.iter().map(ToString::to_string).collect();
    let held = (!held.is_empty()).then(|| format!("held by: {}", held.join(", ")));
    let cause = |cause: &Cause| match &cause.proof {
        Some(proof) => format!("likely: {} ({proof}) - check: {}", cause.what, cause.check),
        None => format!("possible: {} - check: {}", cause.what, cause.check),
    };
    held.into_iter().chain(finding.causes.iter().map(cause)).map(|line| neutral(&line)).collect()
}

/// The same, indented to stand below the finding's own line.
#[must_use]
pub fn reasons_below(finding: &Finding) -> String {
    reasons(finding).iter().fold(String::new(), |text, line| text + "       " + line + "\n")
}

/// The findings of a session, one line each with the time of the onset and of the saying since the beginning, and below it what is
/// behind it; then those of the sessions that it amends.
#[must_use]
pub fn findings(state: &State) -> String {
    let mut text = findings_of(state, |_| Some(""));
    for session in state.sessions().skip(1).filter(|session| !session.findings.is_empty()) {
        let _ = writeln!(text, "in {}:", neutral(session.name()));
        text.push_str(&findings_of(session, |_| Some("")));
    }
    text
}

/// The findings of one session for which there is a mark, by their numbers; a mark that is not empty stands behind its finding.
#[must_use]
pub fn findings_of(state: &State, mark: impl Fn(u32) -> Option<&'static str>) -> String {
    let mut text = String::new();
    for finding in state.findings.values() {
        let Some(mark) = mark(finding.id) else { continue };
        let node = state.found_on.get(&finding.id).cloned().unwrap_or_default();
        let (onset, said) = (state.clock(&node, finding.onset), state.clock(&node, finding.said));
        let mark = if mark.is_empty() { String::new() } else { format!(" [{mark}]") };
        let _ = writeln!(text, "{}{mark}", finding_line(finding, onset, said));
        text.push_str(&reasons_below(finding));
    }
    text
}

/// A finding in a line, with the times of its onset and of its saying on the axis that is shown.
#[must_use]
pub fn finding_line(finding: &Finding, onset: Span, said: Span) -> String {
    format!("{:<5} since {onset}, said at {said}: {}", finding.severity, neutral(&finding.sentence))
}

/// The roofs that a run is held against, a line each, and why one that its node looked for is not known.
#[must_use]
pub fn roofs(plan: &Plan, run: &RunState) -> Vec<String> {
    let known = roof::of_run(plan, run);
    let lines = known.iter().map(|roof| {
        let (name, basis) = (roof.name, roof.basis.word());
        format!("roof {name} {} {basis}: {}", short(roof.value), roof.source)
    });
    let labels = run.start.iter().flat_map(|start| &start.labels);
    let unknown = labels.filter_map(|(label, why)| {
        let (class, basis) = Roof::labelled(label)?;
        // One that the plan gives is known in spite of the node.
        let given = known.iter().any(|roof| roof.basis.word() == basis);
        (!given).then(|| format!("roof {class} {basis} {why}"))
    });
    lines.chain(unknown).collect()
}

/// What share of each known roof a run has come to, by its mean: `82.1 % of measured cpu roof 59 GFLOPS`.
#[must_use]
pub fn utilisation(plan: &Plan, run: &RunState) -> Vec<String> {
    let Some((figure, unit)) = roof::bounded(run) else { return Vec::new() };
    let values: Vec<f64> = run.figure(figure).iter().map(|(value, ..)| *value).collect();
    let Some(mean) = stat::mean(&values) else { return Vec::new() };
    let line = |roof: Known<'_>| {
        let (share, basis, name) = (100.0 * mean / roof.value.value, roof.basis.word(), roof.name);
        format!(
            "{figure} {}: {share:.1} % of {basis} {name} roof {}",
            short(Quantity::new(mean, unit)),
            short(roof.value)
        )
    };
    roof::of_run(plan, run).into_iter().map(line).collect()
}

/// A clock lower than the best iteration's by more than this is worth a word.
const SLOWER: f64 = 0.95;

/// What was out of the ordinary on the node during an iteration; none where nothing was.
#[must_use]
pub fn odd(run: &RunState, iteration: &IterationState) -> Option<String> {
    let node = &iteration.node;
    let disturbed = node.taken.disturbs().map(|why| format!("disturbed: {why}"));
    let hot = node.celsius.map_or_else(String::new, |celsius| format!(" at up to {celsius:.0} C"));
    let throttled = (node.throttles > 0.0).then(|| format!("throttled {:.0} times{hot}", node.throttles));
    let best = run.done.iter().filter_map(|i| i.node.megahertz).reduce(f64::max);
    let slow = node.megahertz.zip(best).filter(|(clock, best)| *clock < best * SLOWER);
    let slow = slow.map(|(clock, best)| format!("clock {clock:.0} MHz after {best:.0} MHz"));
    let odd: Vec<String> = disturbed.into_iter().chain(throttled).chain(slow).collect();
    (!odd.is_empty()).then(|| format!("[{}]", odd.join("; ")))
}

/// How often a run is done, or for how long: `x 36`, `for 8:00:00`.
fn often(run: &Run) -> String {
    run.lasting.map_or_else(|| format!("x {}", run.iterations), |lasting| format!("for {lasting}"))
}

/// What else goes on while a run does, and when nothing does.
fn beside(run: &Run) -> String {
    let together = run.together.as_ref().map(|word| format!(", together: {}", neutral(word)));
    let rest = run.rest.map(|rest| format!(", rests for {} after every {}", rest.lasting, rest.after));
    together.into_iter().chain(rest).collect()
}

/// What a plan would do to its nodes, and what speaks against it.
#[must_use]
pub fn plan(plan: &Plan, preflight: &Preflight) -> String {
    let mut text = format!("{}: {}\n{}\n\n", neutral(&plan.name), neutral(&plan.title), neutral(&plan.about));
    for run in &plan.runs {
        let kernel = serde_json::to_string(&run.kernel).unwrap_or_default();
        let target = run.target.as_ref().map(|t| t.display().to_string()).unwrap_or_default();
        let _ = writeln!(
            text,
            "  {:<18} {:<5} {}  in {}{}",
            run.name,
            often(run),
            neutral(&kernel),
            neutral(&target),
            beside(run)
        );
    }
    text.push('\n');
    text.push_str(&self::preflight(preflight));
    for warning in review(plan) {
        let _ = writeln!(text, "warning: {}", neutral(&warning.to_string()));
    }
    text
}

/// What each run of a plan takes, a line each.
#[must_use]
pub fn needs(needs: &[Needs]) -> String {
    let bytes = |n: u64, what: &str| (n > 0).then(|| format!("{} {what}", short(Quantity::new(n as f64, Unit::Bytes))));
    let line = |need: &Needs| {
        let open = need.open.as_ref().or(need.impossible.as_ref());
        let taken = [(need.memory, "of memory"), (need.disk, "of disk"), (need.writes, "written")];
        let taken = taken.into_iter().filter_map(|(n, what)| bytes(n, what));
        let parts: Vec<String> = std::iter::once(format!("about {}", need.time)).chain(taken).collect();
        let text = open.map_or_else(|| parts.join(", "), |why| format!("not known here: {}", neutral(why)));
        format!("  {:<18} {text}\n", need.run)
    };
    needs.iter().map(line).collect()
}

/// What a session takes from its nodes, in a line.
#[must_use]
pub fn in_all(preflight: &Preflight) -> String {
    let bytes = |n: u64| short(Quantity::new(n as f64, Unit::Bytes));
    let (time, memory, disk, writes) =
        (preflight.time, bytes(preflight.memory), bytes(preflight.disk), bytes(preflight.writes));
    format!("about {time}; up to {memory} of memory, {disk} of disk, {writes} written\n")
}

/// What a session takes from its nodes and what speaks against it, a line each.
#[must_use]
pub fn preflight(preflight: &Preflight) -> String {
    let mut text = String::new();
    text.push_str(&in_all(preflight));
    for remark in &preflight.remarks {
        let weight = match remark.weight {
            Weight::Note => "note",
            Weight::Ask => "careful",
            Weight::Refuse => "refused",
        };
        let _ = writeln!(text, "{weight}: {}", neutral(&remark.text));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;
    use crate::analysis::state::Meanwhile;
    use crate::vocab::disturbed::Taken;
    use crate::vocab::finding::{Kind, Resource};
    use crate::vocab::moment::Moment;
    use crate::vocab::plan::Basis;

    #[test]
    fn what_is_behind_a_finding_stands_below_it_and_nothing_below_one_that_is_only_told() {
        let cause = |proof: Option<&str>| Cause {
            what: "the controller writes through".to_owned(),
            proof: proof.map(str::to_owned),
            check: "storcli64 /c0/vall show".to_owned(),
        };
        let mut finding = Finding::new(Kind::Collapse, Severity::Warn, Moment(0), Moment(0));
        (finding.id, finding.sentence) = (1, "COLLAPSE: fell".to_owned());
        finding.held_by = vec![Resource::Disk];
        finding.causes = vec![cause(Some("battery learning")), cause(None)];
        let mut state = State::default();
        state.findings.insert(1, finding.clone());
        let expected = "WARN  since 0 ms, said at 0 ms: COLLAPSE: fell\n       held by: disk\n       likely: the controller writes \
                        through (battery learning) - check: storcli64 /c0/vall show\n       possible: the controller writes through - \
                        check: storcli64 /c0/vall show\n";
        assert_eq!(findings(&state), expected);
        finding.severity = Severity::Info;
        assert!(reasons(&finding).is_empty());
    }

    #[test]
    fn roofs_are_told_with_their_sources_and_utilisation_against_each() {
        let mut told = Scenario::measuring(vec![]);
        let start = told.state.runs[0].start.as_mut().unwrap();
        let value = Quantity::new(200.0, Unit::MegabytesPerSecond);
        start.roofs =
            vec![Roof { name: "synthetic".to_owned(), value, basis: Basis::Measured, source: "by hand".to_owned() }];
        start.labels.insert(Roof::label("synthetic", Basis::Nominal), "unknown: nobody knows".to_owned());
        let told = told.end(150.0, Outcome::Sound);
        let mut plan = told.state.opening.as_ref().unwrap().plan.clone();
        let run = &told.state.runs[0];
        let unknown = ["roof synthetic 200 MB/s measured: by hand", "roof synthetic nominal unknown: nobody knows"];
        assert_eq!(roofs(&plan, run), unknown);
        assert_eq!(utilisation(&plan, run), ["mb_per_s 150 MB/s: 75.0 % of measured synthetic roof 200 MB/s"]);
        plan.roofs.insert("r".to_owned(), Quantity::new(300.0, Unit::MegabytesPerSecond));
        assert_eq!(roofs(&plan, run)[1], "roof r 300 MB/s nominal: plan");
        assert_eq!(utilisation(&plan, run)[1], "mb_per_s 150 MB/s: 50.0 % of nominal r roof 300 MB/s");
    }

    #[test]
    fn only_what_is_out_of_the_ordinary_is_said_of_an_iteration() {
        let told = Scenario::measuring(vec![]).end(150.0, Outcome::Sound);
        let mut run = told.state.runs[0].clone();
        let usual = Meanwhile { megahertz: Some(3000.0), celsius: Some(70.0), ..Meanwhile::default() };
        run.done[0].node = usual.clone();
        assert_eq!(odd(&run, &run.done[0]), None);
        let taken = Taken { steal_percent: Some(7.0), throttled_percent: None };
        let node = Meanwhile { megahertz: Some(2000.0), celsius: Some(97.0), throttles: 3.0, taken };
        run.done.push(IterationState { node, ..run.done[0].clone() });
        let said = "[disturbed: steal 7 %; throttled 3 times at up to 97 C; clock 2000 MHz after 3000 MHz]";
        assert_eq!(odd(&run, &run.done[1]).as_deref(), Some(said));
    }
}
