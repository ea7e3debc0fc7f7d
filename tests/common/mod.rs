//! What the tests of the whole program share: a place of its own for each session, presets, records, processes.
#![allow(dead_code, reason = "each test binary uses its part of this")]

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use shakedown::analysis::state::State;
use shakedown::session::reader::{Item, Reader};
use shakedown::vocab::event::{Event, Outcome, Record};
use tempfile::TempDir;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_shakedown");
/// How long anything may take that is not itself what a test measures.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// The look of a poll; a test never waits for a time, only for a state.
const LOOK: Duration = Duration::from_millis(10);

/// Waits until `look` gives something, and fails with `what` when it has not within `patience`.
pub(crate) fn until<T>(what: &str, patience: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "within {patience:?} there was no {what}");
        std::thread::sleep(LOOK);
    }
}

/// Says loudly that a test cannot be done here.
pub(crate) fn skip(name: &str, reason: &str) {
    // In one piece, so that lines of tests beside it do not get in between.
    let _ = std::io::stderr().write_all(format!("SKIPPED: {name}: {reason}\n").as_bytes());
}

/// A plan in RON, of these runs and checks.
pub(crate) fn plan(runs: &[String], checks: &str) -> String {
    format!("(title: \"a plan for a test\", about: \"short\", runs: [{}], checks: [{checks}])", runs.join(", "))
}

/// A synthetic run at 100 MB/s, without noise; `more` goes behind the kernel: `, iterations: 3`.
pub(crate) fn synthetic(name: &str, time: &str, shape: &str, more: &str) -> String {
    format!(
        "(name: \"{name}\", kernel: Synthetic(rate: \"100 MB/s\", time: \"{time}\", shape: {shape}), iterations: 1{more})"
    )
}

/// Directories of a test's own; everything started here bears their name in its environment.
pub(crate) struct Place {
    root: TempDir,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        // Short, since the path of a socket may not be long.
        let root = tempfile::Builder::new().prefix("sd").tempdir_in("/tmp").unwrap();
        for name in ["state", "run", "config"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a preset and gives its path.
    pub(crate) fn preset(&self, name: &str, text: &str) -> String {
        let path = self.path(&format!("{name}.ron"));
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// Any command in this place's environment.
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE");
        for (name, directory) in [("STATE_HOME", "state"), ("RUNTIME_DIR", "run"), ("CONFIG_HOME", "config")] {
            command.env(format!("XDG_{name}"), self.path(directory));
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        self.start(PROGRAM, arguments).finish(PATIENCE)
    }

    /// Starts a command; its output goes to files, so that it never waits for the test.
    pub(crate) fn start(&self, program: &str, arguments: &[&str]) -> Started {
        let log = tempfile::Builder::new().prefix("log").tempdir_in(self.root.path()).unwrap().keep();
        let (out, err) = (log.join("out"), log.join("err"));
        let mut command = self.command(program, arguments);
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        Started { child: command.spawn().unwrap(), out, err }
    }

    /// Starts a headless session of a plan; its file is `NAME.jsonl` in this place.
    pub(crate) fn session(&self, name: &str, plan: &str, more: &[&str]) -> Session {
        let preset = self.preset(name, plan);
        let file = self.path(&format!("{name}.jsonl"));
        let shown = file.display().to_string();
        let arguments = ["run", &preset, "--headless", "--session", &shown];
        Session { started: self.start(PROGRAM, &[&arguments, more].concat()), file }
    }

    /// The living processes that were started in this place, by themselves or by others.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let mark = self.path("state").display().to_string();
        let ours = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&mark) && lives(*pid)
        };
        all_processes().into_iter().filter(ours).collect()
    }

    /// Waits until nothing that was started here lives any more.
    pub(crate) fn is_deserted(&self, patience: Duration) {
        until("end of every process", patience, || self.processes().is_empty().then_some(()));
    }
}

/// A process whose output goes to files.
pub(crate) struct Started {
    pub(crate) child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Started {
    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub(crate) fn out(&self) -> String {
        std::fs::read_to_string(&self.out).unwrap()
    }

    pub(crate) fn err(&self) -> String {
        std::fs::read_to_string(&self.err).unwrap()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self, patience: Duration) -> Finished {
        let status = until("end of the program", patience, || self.child.try_wait().unwrap());
        Finished { code: status.code(), out: self.out(), err: self.err() }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A headless session under way.
pub(crate) struct Session {
    pub(crate) started: Started,
    pub(crate) file: PathBuf,
}

impl Session {
    /// Waits until the file holds a record that `wanted` likes.
    pub(crate) fn wait_for(&mut self, what: &str, mut wanted: impl FnMut(&Record) -> bool) -> Record {
        let file = self.file.clone();
        let mut ended = false;
        until(what, PATIENCE, || {
            let found = read(&file).0.into_iter().find(|record| wanted(record));
            assert!(found.is_some() || !ended, "the session ended without {what}: {}", self.started.out());
            ended = self.started.has_ended();
            found
        })
    }

    /// Waits until a run does work.
    pub(crate) fn wait_for_work(&mut self, run: &str) {
        self.wait_for(&format!("work of {run}"), |r| match &r.event {
            Event::Progress(progress) => &*progress.run.0 == run && progress.done.iter().any(|done| *done > 0),
            _ => false,
        });
    }

    /// Waits until a run that has done work does none any more: a worker that is to hang has begun to.
    pub(crate) fn wait_until_hung(&mut self, run: &str) {
        let mut last: Option<(Vec<u64>, u64)> = None;
        self.wait_for(&format!("the standstill of {run}"), |r| {
            let Event::Progress(progress) = &r.event else { return false };
            if &*progress.run.0 != run || progress.done.iter().all(|done| *done == 0) {
                return false;
            }
            match &last {
                Some((done, since)) if *done == progress.done => r.at.0 >= since + 300_000,
                _ => {
                    last = Some((progress.done.clone(), r.at.0));
                    false
                }
            }
        });
    }

    /// The agents at work, by process number.
    pub(crate) fn agents(&self) -> Vec<i32> {
        children(self.started.pid(), "agent")
    }

    /// The agent and the worker that it has started.
    pub(crate) fn agent_and_worker(&self) -> (i32, i32) {
        until("agent with a worker", PATIENCE, || {
            let agent = *self.agents().first()?;
            Some((agent, *children(agent, "worker").first()?))
        })
    }

    /// Waits for the end of the program and gives the records it left.
    pub(crate) fn finish(self, patience: Duration) -> (Finished, Vec<Record>) {
        let file = self.file.clone();
        let finished = self.started.finish(patience);
        (finished, records(&file))
    }
}

/// The records of a whole session file; a damaged line fails the test.
pub(crate) fn records(file: &Path) -> Vec<Record> {
    let (records, damaged) = read(file);
    assert_eq!(damaged, 0, "damaged lines in {}", file.display());
    records
}

/// The records of a file that may be torn or under way, and how many lines are damaged.
pub(crate) fn read(file: &Path) -> (Vec<Record>, usize) {
    let Ok(reader) = Reader::open(file) else { return (Vec::new(), 0) };
    let (mut records, mut damaged) = (Vec::new(), 0);
    for item in reader {
        match item {
            Item::Record(record) => records.push(*record),
            Item::Damaged(..) => damaged += 1,
        }
    }
    (records, damaged)
}

/// The fold of records.
pub(crate) fn fold(records: &[Record]) -> State {
    let mut state = State::default();
    records.iter().for_each(|record| state.apply(record));
    state
}

/// How each run ended that did, in order.
pub(crate) fn ends(records: &[Record]) -> Vec<(String, Outcome)> {
    let end = |r: &Record| match &r.event {
        Event::RunEnded { run, outcome } => Some((run.to_string(), outcome.clone())),
        _ => None,
    };
    records.iter().filter_map(end).collect()
}

/// Whether the last record closes the session.
pub(crate) fn is_closed(records: &[Record]) -> bool {
    matches!(records.last(), Some(Record { event: Event::SessionClosed { .. }, .. }))
}

pub(crate) fn send(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Whether a process is there and no zombie.
pub(crate) fn lives(pid: i32) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// The living children of a process that run this verb.
pub(crate) fn children(parent: i32, verb: &str) -> Vec<i32> {
    let is_child = |pid: &i32| stat(*pid).is_some_and(|(state, ppid)| ppid == parent && state != 'Z');
    all_processes().into_iter().filter(is_child).filter(|pid| does(*pid, verb)).collect()
}

fn does(pid: i32, verb: &str) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|b| *b == 0).nth(1) == Some(verb.as_bytes())
}

fn all_processes() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// State and parent (`proc(5)`); the name before them is in brackets and may hold anything.
fn stat(pid: i32) -> Option<(char, i32)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
