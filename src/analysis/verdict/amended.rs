//! What a verdict says of the attempts that went before: each is told, the last one counts, and nothing falls back to an earlier one.

use super::bench::Bench;
use super::{hardware, soundness};
use crate::analysis::amended::{self, Identity, look};
use crate::analysis::state::{Attempt, RunState, State};
use crate::vocab::event::Amends;
use crate::vocab::finding::Severity;
use crate::vocab::name::NodeName;
use crate::vocab::plan::Plan;
use crate::vocab::stat;
use crate::vocab::text::counted;
use crate::vocab::unit::{Quantity, short};
use crate::vocab::verdict::{Decision, Line};

/// A session with the one that it amends, as far down as that goes, the latest first.
fn links(state: &State) -> impl Iterator<Item = (&State, &Amends, &State)> {
    state.sessions().filter_map(|state| {
        let amends = state.opening.as_ref()?.amends.as_ref()?;
        Some((state, amends, state.earlier.as_deref()?))
    })
}

/// Which sessions are amended, and what has changed on their nodes since: the first that is to be read.
#[must_use]
pub fn preface(state: &State) -> Vec<String> {
    links(state).flat_map(|(now, amends, before)| link(now, amends, before)).collect()
}

fn link(now: &State, amends: &Amends, before: &State) -> Vec<String> {
    let mut lines = vec![opening(now, amends, before)];
    if before.verdict.is_none() {
        lines.push(format!("{} was not finished: its record ends without a verdict", amends.session));
    }
    for node in now.nodes.keys() {
        let of = if now.nodes.len() > 1 { format!(" on {node}") } else { String::new() };
        let Some(changes) = amended::since(before, now, node) else { continue };
        let since = &amends.session;
        if changes.is_empty() {
            lines.push(format!("nothing that is known of has changed{of} since {since}"));
        }
        lines.extend(changes.iter().map(|change| format!("changed{of} since {since}: {change}")));
    }
    lines
}

/// `amends S (file S.jsonl, 120 records): attempt 2 of disk-write; what is not repeated counts as it came out before`.
fn opening(now: &State, amends: &Amends, before: &State) -> String {
    let Some(node) = now.nodes.keys().next() else { return format!("amends {}", amends.session) };
    let attempt = |run| format!("attempt {} of {run}", now.attempts(node, run).len());
    let attempts: Vec<String> = amends.only.iter().map(attempt).collect();
    let started = before.opening.as_ref().map_or("", |opening| &opening.started);
    format!(
        "amends {} ({}, {}, begun {started}): {}; what is not repeated counts as it came out before",
        amends.session,
        amends.file,
        counted(amends.records as usize, "record"),
        attempts.join(", ")
    )
}

/// The lines that go before those of the runs: whether it is the same machine, what the earlier records lack, every earlier attempt.
pub(super) fn lines(plan: &Plan, state: &State) -> Vec<Line> {
    let mut lines = Vec::new();
    for (now, amends, before) in links(state) {
        lines.extend(now.nodes.keys().map(|node| same_node(node, now, amends, before)));
        if before.lost > 0 {
            let why = format!(
                "{} records of {} are missing or out of their order, and what there was is not known",
                before.lost, amends.session
            );
            lines.push(super::gap(&why));
        }
    }
    for run in &state.runs {
        let attempts = state.attempts(&run.node, &run.name);
        let all = attempts.len();
        let before = attempts.iter().take(all.saturating_sub(1));
        lines.extend(before.enumerate().map(|(i, attempt)| earlier(plan, (i + 1, all), attempt)));
    }
    lines
}

fn same_node(node: &NodeName, now: &State, amends: &Amends, before: &State) -> Line {
    let silent = || "its agent did not say what the node is, so nothing shows that it is the same machine".to_owned();
    let (decision, measured, reason) = match look(before, node).zip(look(now, node)) {
        None => (Decision::NotProven, String::new(), silent()),
        Some((before, now)) => match amended::identity(before.inventory, now.inventory) {
            Identity::Same(by) => (Decision::Pass, by, "the same machine".to_owned()),
            Identity::Other(how) => (Decision::NotProven, String::new(), format!("another machine: {how}")),
            Identity::Unknown(why) => {
                let why = format!("that it is the same machine cannot be shown ({why}); root can read both numbers");
                (Decision::NotProven, String::new(), why)
            }
        },
    };
    let comparison = format!("the machine of {}", amends.session);
    Line { decision, comparison, measured, reason, ..Line::open(&node.0, "node") }
}

/// An attempt that another one followed: told, with what it came to by itself.
fn earlier(plan: &Plan, (number, all): (usize, usize), attempt: &Attempt<'_>) -> Line {
    let Attempt { state, run } = *attempt;
    let mut own = vec![hardware::weigh(soundness(run), state, run)];
    for check in &plan.checks {
        let (of, figure) = check.of.split_once('.').unwrap_or((&check.of, ""));
        if of == "*" || *of == *run.name.0 {
            own.extend(Bench { plan, state, node: &run.node, check }.lines_of(&[run], figure));
        }
    }
    let counted = own.iter().filter(|line| !line.told);
    let decision = counted.clone().map(|line| line.decision).max().unwrap_or(Decision::NotProven);
    let mut reasons: Vec<String> = Vec::new();
    let worst = counted.filter(|line| line.decision == decision && decision != Decision::Pass).map(|line| &line.reason);
    let found = state.findings_of(run).filter(|finding| finding.severity >= Severity::Warn).map(|f| &f.sentence);
    for reason in found.chain(worst) {
        if !reason.is_empty() && !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    if reasons.is_empty() {
        reasons.push("it held".to_owned());
    }
    Line {
        decision,
        comparison: format!("attempt {number} of {all}"),
        measured: measured(run),
        reason: format!("in {}: {}", state.name(), reasons.join("; ")),
        evidence: own.into_iter().flat_map(|line| line.evidence).collect(),
        told: true,
        ..Line::open(&run.node.0, &run.name.0)
    }
}

/// The median of the main figure.
fn measured(run: &RunState) -> String {
    let Some((name, unit)) = run.main_figure() else { return "nothing measured".to_owned() };
    let values: Vec<f64> = run.figure(name).iter().map(|(value, ..)| *value).collect();
    stat::median(&values).map_or_else(|| "nothing measured".to_owned(), |m| short(Quantity::new(m, unit)))
}

/// Which attempt a run's own line is about, where there are several or where it is of an earlier session.
pub(super) fn mark(mut line: Line, state: &State, run: &RunState) -> Line {
    let attempts = state.attempts(&run.node, &run.name).len();
    if run.earlier {
        line.comparison = format!("{}, in {}", line.comparison, state.home(run).0.name());
    } else if attempts > 1 {
        line.comparison = format!("attempt {attempts} of {attempts}, {}", line.comparison);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::verdict::{judge, judge_record};
    use crate::vocab::check::{Check, Decide, Limit};
    use crate::vocab::event::{Event, MeterSpec, Opening, Outcome, Record, Start};
    use crate::vocab::figure::Figure;
    use crate::vocab::finding::{Finding, Kind};
    use crate::vocab::line;
    use crate::vocab::moment::{Moment, Span};
    use crate::vocab::node::{Build, Conditions, FORMAT, Fact, Inventory};
    use crate::vocab::plan::{Load, Run, Stream};
    use crate::vocab::unit::Unit;
    use crate::vocab::verdict::Verdict;

    fn plan() -> Plan {
        let floor = |of: &str| Check {
            at_least: Some(Limit::Absolute("50 MB/s".parse().unwrap())),
            decide: Some(Decide::Point),
            ..Check::new(of)
        };
        Plan {
            name: "p".to_owned(),
            title: "t".to_owned(),
            about: String::new(),
            smoke: false,
            runs: ["a", "b"].map(|name| Run::new(name, Load::Stream(Stream::default()))).into(),
            checks: vec![floor("a.mb_per_s"), floor("b.mb_per_s")],
            roofs: [].into(),
            references: [].into(),
            ordered: None,
        }
    }

    /// A session being told.
    struct Told {
        name: &'static str,
        records: Vec<Record>,
    }

    impl Told {
        fn session(name: &'static str, serial: Fact, before: Option<(&Self, &[&str])>) -> Self {
            let amends = before.map(|(before, only)| Amends {
                session: before.name.to_owned(),
                file: format!("{}.jsonl", before.name),
                bytes: 1,
                crc: "00000000".to_owned(),
                records: before.records.len() as u64,
                only: only.iter().map(|run| (*run).into()).collect(),
            });
            let opening = Opening {
                format: FORMAT,
                session: name.to_owned(),
                plan: plan(),
                build: Build::this(),
                started: "2026-01-01T00:00:00Z".to_owned(),
                nodes: vec!["n".into()],
                amends,
            };
            let mut told = Self { name, records: Vec::new() };
            told.put("", Event::SessionOpened(Box::new(opening)));
            for record in before.into_iter().flat_map(|(before, _)| &before.records) {
                told.put("", Event::Earlier(Box::new(record.clone())));
            }
            let inventory = Box::new(Inventory { serial, kernel: name.to_owned(), ..Inventory::default() });
            told.put("n", Event::NodeJoined { build: Build::this(), inventory, conditions: Conditions::default() });
            told
        }

        fn put(&mut self, node: &str, event: Event) {
            let seq = self.records.len() as u64 + 1;
            self.records.push(Record { seq, at: Moment(seq * 1000), node: node.into(), event });
        }

        fn run(mut self, name: &str, mb_per_s: Option<f64>, outcome: Outcome) -> Self {
            let start = Start {
                run: name.into(),
                iterations: 1,
                meters: vec![MeterSpec::new("mb_per_s", Unit::MegabytesPerSecond, true)],
                roofs: vec![],
                labels: [].into(),
                command: String::new(),
                deadline: Span::seconds(60),
            };
            self.put("n", Event::RunStarted(Box::new(start)));
            if let Some(value) = mb_per_s {
                let figures = vec![Figure::new("mb_per_s", value, Unit::MegabytesPerSecond)];
                self.put("n", Event::IterationEnded { run: name.into(), iteration: 1, figures, latency: None });
            }
            self.put("n", Event::RunEnded { run: name.into(), outcome });
            self
        }

        fn found(mut self, kind: Kind, severity: Severity, run: Option<&str>) -> Self {
            let mut finding = Finding::new(kind, severity, Moment(1), Moment(1));
            (finding.id, finding.run) = (self.records.len() as u32, run.map(Into::into));
            finding.sentence = format!("{kind}: told");
            self.put("n", Event::Found(finding));
            self
        }

        fn close(mut self) -> Self {
            let verdict = judge(&plan(), &self.state());
            self.put("", Event::SessionClosed { verdict });
            self
        }

        fn state(&self) -> State {
            let mut state = State::default();
            for record in &self.records {
                state.apply(&line::decode(line::encode(record).unwrap().as_bytes()).unwrap());
            }
            state
        }

        fn verdict(&self) -> Verdict {
            judge(&plan(), &self.state())
        }
    }

    fn serial() -> Fact {
        Fact::Is("S1".to_owned())
    }

    /// One run that held, and one that did not.
    fn first() -> Told {
        let told = Told::session("first", serial(), None).run("a", Some(100.0), Outcome::Sound);
        told.run("b", Some(1.1), Outcome::Sound).found(Kind::Collapse, Severity::Fail, Some("b")).close()
    }

    #[test]
    fn the_last_attempt_decides_and_each_earlier_one_is_told() {
        assert_eq!(first().verdict().decision, Decision::Fail);
        let again =
            Told::session("second", serial(), Some((&first(), &["b"]))).run("b", Some(90.0), Outcome::Sound).close();
        let (state, verdict) = (again.state(), again.verdict());
        assert_eq!(verdict.decision, Decision::Pass, "{verdict:#?}");
        assert_eq!(state.verdict.as_ref(), Some(&verdict), "replayed as it was judged");
        let told: Vec<&Line> = verdict.lines.iter().filter(|line| line.told).collect();
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].decision, told[0].comparison.as_str()), (Decision::Fail, "attempt 1 of 2"));
        assert_eq!((told[0].measured.as_str(), told[0].word().as_str()), ("1.1 MB/s", "(FAIL)"));
        assert!(told[0].reason.starts_with("in first: COLLAPSE: told"), "{}", told[0].reason);
        assert!(verdict.preface[0].contains("amends first ") && verdict.preface[0].contains("attempt 2 of b"));
        assert!(
            verdict.preface.contains(&"changed since first: kernel: first before, second now".to_owned()),
            "{:?}",
            verdict.preface
        );
        let of = |of: &str| verdict.lines.iter().find(|line| line.of == of && !line.told).unwrap();
        assert_eq!(of("a").comparison, "1 iteration, sound, in first");
        assert_eq!(of("b").comparison, "attempt 2 of 2, 1 iteration, sound");
        assert_eq!((of("node").decision, of("node").measured.as_str()), (Decision::Pass, "serial number S1"));
        // Evidence is found in this session's own file, where it holds the earlier one.
        for line in [of("a"), of("a.mb_per_s"), told[0]] {
            for seq in &line.evidence {
                let record = &again.records[*seq as usize - 1];
                assert!(record.seq == *seq && matches!(record.event, Event::Earlier(_)), "{line:?}: {record:?}");
            }
        }
    }

    #[test]
    fn nothing_falls_back_to_a_better_attempt() {
        let good = || {
            Told::session("first", serial(), None)
                .run("a", Some(100.0), Outcome::Sound)
                .run("b", Some(90.0), Outcome::Sound)
                .close()
        };
        assert_eq!(good().verdict().decision, Decision::Pass);
        let again = || Told::session("second", serial(), Some((&good(), &["b"])));
        let broken = again().run("b", None, Outcome::Broken("killed".to_owned()));
        for (told, decision) in [
            (again(), Decision::NotProven),
            (broken, Decision::NotProven),
            (again().run("b", None, Outcome::Stopped), Decision::NotProven),
            (again().run("b", Some(1.0), Outcome::Sound), Decision::Fail),
        ] {
            assert_eq!(told.verdict().decision, decision);
        }
        // Nor does the session after that, which repeats something else.
        let third =
            Told::session("third", serial(), Some((&again().close(), &["a"]))).run("a", Some(99.0), Outcome::Sound);
        let verdict = third.verdict();
        assert_eq!(verdict.decision, Decision::NotProven);
        assert!(
            verdict
                .lines
                .iter()
                .any(|line| line.of == "b" && line.reason == "not run" && line.comparison.ends_with("in second"))
        );
    }

    #[test]
    fn amendments_of_amendments_tell_every_attempt() {
        let second =
            Told::session("second", serial(), Some((&first(), &["b"]))).run("b", Some(2.0), Outcome::Sound).close();
        let third =
            Told::session("third", serial(), Some((&second, &["b"]))).run("b", Some(80.0), Outcome::Sound).close();
        let verdict = third.verdict();
        assert_eq!(verdict.decision, Decision::Pass, "{verdict:#?}");
        let told: Vec<(&str, &str)> =
            verdict.lines.iter().filter(|l| l.told).map(|l| (l.comparison.as_str(), l.measured.as_str())).collect();
        assert_eq!(told, [("attempt 1 of 3", "1.1 MB/s"), ("attempt 2 of 3", "2 MB/s")]);
        assert!(verdict.lines.iter().any(|line| line.of == "a" && line.comparison.ends_with("in first")));
        assert_eq!(third.state().sessions().map(State::name).collect::<Vec<_>>(), ["third", "second", "first"]);
        assert_eq!(crate::analysis::detect::redetect(&third.records).sessions().count(), 3);
    }

    /// A session that was amended twice and held in the end, and one that fails in a run that nobody repeated.
    fn long() -> [Told; 2] {
        let again = |value: f64| {
            let second =
                Told::session("second", serial(), Some((&first(), &["a"]))).run("a", Some(value), Outcome::Sound);
            second.close()
        };
        let second = again(70.0);
        let third = Told::session("third", serial(), Some((&second, &["b"]))).run("b", Some(80.0), Outcome::Sound);
        [third.close(), again(99.0)]
    }

    #[test]
    fn a_record_of_which_less_is_there_is_never_a_pass() {
        let [held, failed] = long();
        let decision = |records: &[Record]| {
            let mut state = State::default();
            records.iter().for_each(|record| state.apply(record));
            judge_record(&plan(), &state).decision
        };
        assert_eq!((decision(&held.records), decision(&failed.records)), (Decision::Pass, Decision::Fail));
        for told in [&held, &failed] {
            for end in 0..told.records.len() {
                assert_ne!(decision(&told.records[..end]), Decision::Pass, "cut before record {}", end + 1);
                let mut without = told.records.clone();
                without.remove(end);
                assert_ne!(decision(&without), Decision::Pass, "without record {}", end + 1);
            }
        }
        for at in 1..held.records.len() {
            let mut twice = held.records.clone();
            twice.insert(at, held.records[at - 1].clone());
            assert_ne!(decision(&twice), Decision::Pass, "record {at} twice");
            let mut swapped = held.records.clone();
            swapped.swap(at - 1, at);
            assert_ne!(decision(&swapped), Decision::Pass, "records {at} and {} swapped", at + 1);
        }
    }

    #[test]
    fn what_is_not_repeated_fails_as_before_whatever_else_is() {
        for outcome in [Outcome::Sound, Outcome::Stopped, Outcome::Broken("killed".to_owned()), Outcome::Stuck] {
            for value in [None, Some(1.0), Some(1e9)] {
                let again =
                    Told::session("second", serial(), Some((&first(), &["a"]))).run("a", value, outcome.clone());
                assert_eq!(again.verdict().decision, Decision::Fail, "{outcome:?} {value:?}");
            }
        }
    }

    #[test]
    fn an_unfinished_session_is_completed() {
        let mut killed =
            Told::session("first", serial(), None).run("a", Some(100.0), Outcome::Sound).run("b", None, Outcome::Sound);
        killed.records.pop();
        let again =
            Told::session("second", serial(), Some((&killed, &["b"]))).run("b", Some(90.0), Outcome::Sound).close();
        assert_eq!(judge_record(&plan(), &again.state()).decision, Decision::Pass);
        assert!(again.verdict().preface.iter().any(|line| line.starts_with("first was not finished")));
        // What was under way there and is not repeated is broken, and not under way now.
        let other = Told::session("second", serial(), Some((&killed, &["a"]))).run("a", Some(90.0), Outcome::Sound);
        let state = other.state();
        assert_eq!((state.running().count(), other.verdict().decision), (0, Decision::NotProven));
    }

    #[test]
    fn another_machine_and_one_that_is_not_known_prove_nothing() {
        for (then, now) in [(serial(), Fact::Is("S2".to_owned())), (serial(), Fact::NeedsRoot)] {
            let first = Told::session("first", then, None).run("a", Some(100.0), Outcome::Sound).close();
            let again = Told::session("second", now, Some((&first, &["b"]))).run("b", Some(90.0), Outcome::Sound);
            let verdict = again.verdict();
            let proven = verdict.lines.iter().filter(|line| line.decision != Decision::Pass && !line.told);
            assert_eq!(proven.map(|line| line.of.as_str()).collect::<Vec<_>>(), ["node"]);
            assert_eq!(verdict.decision, Decision::NotProven);
        }
    }

    #[test]
    fn an_error_of_the_hardware_makes_unproven_whether_a_check_asks_or_not() {
        let good = |name| {
            Told::session(name, serial(), None).run("a", Some(100.0), Outcome::Sound).run(
                "b",
                Some(90.0),
                Outcome::Sound,
            )
        };
        for (severity, decision) in [
            (Severity::Warn, Decision::Pass),
            (Severity::Fail, Decision::NotProven),
            (Severity::Crit, Decision::NotProven),
        ] {
            for run in [None, Some("a"), Some("unknown")] {
                let told = good("first").found(Kind::Hardware, severity, run);
                assert_eq!(told.verdict().decision, decision, "{severity} {run:?}");
            }
        }
        // Of a run that is repeated it is told; between the runs it stands for as long as figures of then count.
        let of_run = good("first").found(Kind::Hardware, Severity::Crit, Some("b")).close();
        let between = good("first").found(Kind::Hardware, Severity::Crit, None).close();
        let decision = |before: &Told, only: &[&str]| {
            let told = Told::session("second", serial(), Some((before, only)));
            only.iter().fold(told, |told, run| told.run(run, Some(90.0), Outcome::Sound)).verdict().decision
        };
        assert_eq!(decision(&of_run, &["b"]), Decision::Pass);
        assert_eq!(decision(&between, &["b"]), Decision::NotProven);
        assert_eq!(decision(&between, &["a", "b"]), Decision::Pass);
    }
}
