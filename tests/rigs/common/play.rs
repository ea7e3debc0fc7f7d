//! A session of the program on a rig, what a rig does to it while it runs, and the account of how it went.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use shakedown::analysis::detect::redetect;
use shakedown::analysis::state::State;
use shakedown::vocab::event::{Event, Outcome, Phase, Record, Start};
use shakedown::vocab::finding::{Finding, Kind};
use shakedown::vocab::moment::{Moment, Span};

use crate::program::{self, PROGRAM, Place, Started};

/// Between two looks at the session's file; reading it takes time from the load on a small machine.
const LOOK: Duration = Duration::from_millis(50);
/// For a step of a session that is not what a rig is about.
const PATIENCE: Duration = Duration::from_secs(40);
/// For other sessions on the same node to end.
const TURN: Duration = Duration::from_mins(3);

/// The name of the run in every plan here.
pub(crate) const RUN: &str = "load";

/// What is started, where, and how it gets there.
pub(crate) struct Scene<'a> {
    run: String,
    checks: &'static str,
    /// A preset of the program's own, in place of the run.
    preset: Option<&'static str>,
    /// Options behind the usual ones.
    pub(crate) more: Vec<String>,
    pub(crate) target: &'a Path,
    /// Control groups to enter, by the file that takes a process's number.
    pub(crate) groups: Vec<String>,
    /// A command in front: `ip netns exec NAME`.
    pub(crate) inside: Vec<String>,
}

/// What a shell does to enter control groups and become the command behind it, which ends where the test is killed.
pub(crate) fn script(groups: &[String]) -> String {
    let enter: Vec<String> = groups.iter().map(|group| format!("echo $$ > {group};")).collect();
    let bound = "command -v setpriv >/dev/null; then exec setpriv --pdeathsig KILL -- \"$0\" \"$@\"; fi";
    format!("set -e; {} if {bound}; exec \"$0\" \"$@\"", enter.join(" "))
}

/// A session on the stage.
pub(crate) struct Play {
    started: Started,
    file: PathBuf,
    _place: Place,
    begun: Instant,
}

/// How a session went.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) records: Vec<Record>,
    pub(crate) lasted: Duration,
}

impl<'a> Scene<'a> {
    /// One run of the kernel `Disk`, with its parameters in RON.
    pub(crate) fn disk(target: &'a Path, parameters: &str) -> Self {
        Self::of(target, &format!("Disk({parameters})"), "")
    }

    /// One run of a kernel; `more` goes behind it: `, iterations: 3`.
    pub(crate) fn of(target: &'a Path, kernel: &str, more: &str) -> Self {
        let run = format!("(name: \"{RUN}\", kernel: {kernel}{more})");
        let checks = "(of: \"*\", no_findings: [Collapse, Stall])";
        Self { run, checks, preset: None, more: Vec::new(), target, groups: Vec::new(), inside: Vec::new() }
    }

    /// A preset that comes with the program, with these options.
    pub(crate) fn preset(target: &'a Path, name: &'static str, more: &[&str]) -> Self {
        let more = more.iter().map(|word| (*word).to_owned()).collect();
        Self { preset: Some(name), more, ..Self::of(target, "Stream()", "") }
    }

    /// Held to this and not to a level rate, where a rig is not about the rate and others work on the machine.
    pub(crate) fn held_to(mut self, checks: &'static str) -> Self {
        self.checks = checks;
        self
    }

    /// Followed by this run, in RON.
    pub(crate) fn then(mut self, run: &str) -> Self {
        self.run = format!("{}, {run}", self.run);
        self
    }

    /// Begins; waits for its turn where another session holds the node.
    pub(crate) fn play(&self) -> Play {
        let deadline = Instant::now() + TURN;
        loop {
            let mut play = self.start();
            let begun = play.until("the begin", |play| play.has_begun().then_some(()));
            let held = || play.err().contains("under test already") || play.err().contains("held by another session");
            if begun.is_some() || !held() || Instant::now() > deadline {
                return play;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn start(&self) -> Play {
        let place = Place::new();
        let own = || place.preset("rig", &program::plan(std::slice::from_ref(&self.run), self.checks));
        let preset = self.preset.map_or_else(own, str::to_owned);
        let file = place.path("rig.jsonl");
        let script = script(&self.groups);
        let mut words: Vec<&str> = vec!["-c", &script];
        words.extend(self.inside.iter().map(String::as_str));
        let (shown, target) = (file.display().to_string(), self.target.display().to_string());
        words.extend([PROGRAM, "run", &preset, "--headless", "--session", &shown]);
        // A device is named by an option of its own.
        if !self.more.iter().any(|word| word == "--destroy-data") {
            words.extend(["--target", &target]);
        }
        words.extend(self.more.iter().map(String::as_str));
        let started = place.start("sh", &words);
        Play { started, file, _place: place, begun: Instant::now() }
    }
}

impl Play {
    fn err(&self) -> String {
        self.started.err()
    }

    fn has_begun(&self) -> bool {
        self.records().iter().any(|r| matches!(r.event, Event::RunStarted(_) | Event::RunEnded { .. }))
    }

    fn records(&self) -> Vec<Record> {
        program::read(&self.file).0
    }

    /// Waits for something; none when the session ends without it.
    fn until<T>(&mut self, what: &str, mut look: impl FnMut(&Self) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let ended = self.started.has_ended();
            let found = look(self);
            if found.is_some() || ended {
                return found;
            }
            assert!(Instant::now() < deadline, "within {PATIENCE:?} there was not {what}: {}", self.told());
            std::thread::sleep(LOOK);
        }
    }

    /// Waits for something that must come.
    fn must<T>(&mut self, what: &str, look: impl FnMut(&Self) -> Option<T>) -> T {
        let found = self.until(what, look);
        found.unwrap_or_else(|| panic!("the session ended without {what}: {}", self.told()))
    }

    fn told(&self) -> String {
        format!("{}{}", self.started.out(), self.err())
    }

    /// Waits for a phase of the run.
    pub(crate) fn phase(&mut self, wanted: Phase) {
        let is = |r: &Record| matches!(&r.event, Event::Phase { phase, .. } if *phase == wanted);
        self.must(&format!("{wanted:?}"), |play| play.records().iter().any(is).then_some(()));
    }

    /// Waits until so much of the measured time has gone by in the record.
    pub(crate) fn measured(&mut self, time: Span) {
        self.must(&format!("{time} of measuring"), |play| {
            let records = play.records();
            let begin = records.iter().find(|r| matches!(r.event, Event::Phase { phase: Phase::Measure, .. }))?.at;
            let last = records.iter().rev().find(|r| matches!(r.event, Event::Progress(_)))?.at;
            (last.since(begin) >= time).then_some(())
        });
    }

    /// The process at work.
    pub(crate) fn worker(&mut self) -> i32 {
        let runner = self.started.pid();
        self.must("a worker", |_| {
            let agent = *program::children(runner, "agent").first()?;
            program::children(agent, "worker").first().copied()
        })
    }

    /// The process that was started.
    pub(crate) fn program(&self) -> i32 {
        self.started.pid()
    }

    /// Whether a thread of this process sleeps so deep that no signal reaches it.
    pub(crate) fn hangs(process: i32) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let state = |stat: String| stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        let mut states = threads.filter_map(|t| std::fs::read_to_string(t.path().join("stat")).ok().and_then(state));
        states.any(|state| state == 'D')
    }

    /// Waits for the end of the program.
    pub(crate) fn end(&mut self) -> Account {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.started.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "the program did not end within {PATIENCE:?}: {}", self.told());
            std::thread::sleep(LOOK);
        };
        // For a look at what a session on a rig recorded and printed.
        if let Some(directory) = std::env::var_os("SHAKEDOWN_RIGS_KEEP") {
            let kept = Path::new(&directory).join(format!("rig-{}", self.started.pid()));
            let _ = std::fs::copy(&self.file, kept.with_extension("jsonl"));
            let _ = std::fs::write(kept.with_extension("txt"), self.told());
        }
        let (out, err, lasted) = (self.started.out(), self.err(), self.begun.elapsed());
        let records = self.records();
        is_found_anew(&records);
        Account { code: status.code(), out, err, records, lasted }
    }
}

/// What the detectors find in the record is what they said while it was made.
fn is_found_anew(records: &[Record]) {
    let mut live = State::default();
    records.iter().for_each(|record| live.apply(record));
    let anew = redetect(records);
    let (now, then): (Vec<&Finding>, Vec<&Finding>) =
        (anew.findings.values().collect(), live.findings.values().collect());
    assert_eq!(now.len(), then.len(), "{now:?}\n{then:?}");
    now.iter().zip(&then).for_each(|(now, then)| assert!(now.means(then), "{now:?}\n{then:?}"));
}

impl Account {
    /// The findings as they stood at the end, by number.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut findings = BTreeMap::new();
        for record in &self.records {
            if let Event::Found(finding) = &record.event {
                findings.insert(finding.id, finding.clone());
            }
        }
        findings.into_values().collect()
    }

    pub(crate) fn of_kind(&self, kind: Kind) -> Vec<Finding> {
        self.findings().into_iter().filter(|f| f.kind == kind).collect()
    }

    /// How the run ended; none when nothing was started.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        program::ends(&self.records).pop().map(|(_, outcome)| outcome)
    }

    /// What the worker said when it took the run up.
    pub(crate) fn began(&self) -> &Start {
        let mut starts = self.records.iter().filter_map(|r| match &r.event {
            Event::RunStarted(start) => Some(&**start),
            _ => None,
        });
        starts.next().unwrap_or_else(|| panic!("nothing was begun: {}", self.line()))
    }

    /// When the measuring of the first iteration began.
    pub(crate) fn measuring(&self) -> Moment {
        let is = |r: &&Record| matches!(r.event, Event::Phase { phase: Phase::Measure, .. });
        self.records.iter().find(is).expect("it was measured").at
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        let findings: Vec<String> = self.findings().iter().map(|f| f.sentence.clone()).collect();
        let outcome = self.outcome().map_or_else(|| self.err.trim().to_owned(), |outcome| format!("{outcome:?}"));
        format!(
            "code {:?} in {:.1} s, {outcome}; {}",
            self.code.unwrap_or(-1),
            self.lasted.as_secs_f64(),
            findings.join(" | ")
        )
    }
}
