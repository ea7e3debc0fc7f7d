//! One test's own directories, presets, sessions and processes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rustix::process::{Pid, Signal, kill_process};
use shakedown::session::reader::{Item, Reader};
use shakedown::vocab::event::{Event, Record};
use shakedown::vocab::verdict::Decision;
use tempfile::TempDir;

use super::{Terminal, Window, starting, wait_until};

/// One test's own world.
pub struct House {
    root: TempDir,
}

impl House {
    /// Directories that nobody else has. Their path is short, since a socket's may not be long.
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("sd").tempdir_in("/tmp").unwrap();
        for name in ["state", "run", "config/shakedown/presets", "home"] {
            std::fs::create_dir_all(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// What every process of this house is told, before a window's own wishes.
    pub fn environment(&self) -> Vec<(String, String)> {
        let own = |name: &str| self.path(name).display().to_string();
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        [
            ("PATH", path),
            ("HOME", own("home")),
            ("XDG_STATE_HOME", own("state")),
            ("XDG_RUNTIME_DIR", own("run")),
            ("XDG_CONFIG_HOME", own("config")),
            ("TERM", "xterm-256color".to_owned()),
            ("COLORTERM", "truecolor".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// Writes a preset that the program finds by its name.
    pub fn preset(&self, name: &str, text: &str) {
        std::fs::write(self.path("config/shakedown/presets").join(format!("{name}.ron")), text).unwrap();
    }

    /// The program on a terminal of 80 columns and 24 rows.
    pub fn open(&self, arguments: &[&str]) -> Terminal {
        self.open_as(Window::default(), arguments)
    }

    /// The program on a terminal of one's own choice.
    pub fn open_as(&self, window: Window<'_>, arguments: &[&str]) -> Terminal {
        Terminal::open(self, &window, arguments)
    }

    /// The program without a terminal, to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shakedown"));
        command.args(arguments).env_clear().envs(self.environment()).stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = {
            let _alone = starting();
            command.spawn().unwrap()
        };
        child.wait_with_output().unwrap()
    }

    /// The session files, in the order of their names.
    pub fn sessions(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path("state/shakedown"));
        let mut files: Vec<PathBuf> = entries.into_iter().flatten().flatten().map(|e| e.path()).collect();
        files.retain(|f| f.extension().is_some_and(|e| e == "jsonl"));
        files.sort();
        files
    }

    /// Everything recorded so far in the house's only session.
    pub fn records(&self) -> Vec<Record> {
        let sessions = self.sessions();
        let [file] = sessions.as_slice() else { panic!("there is not one session but {sessions:?}") };
        records(file)
    }

    pub fn wait_for_event(&self, what: &str, mut is: impl FnMut(&Event) -> bool) {
        wait_until(what, || self.records().iter().any(|r| is(&r.event)));
    }

    /// Waits until the session is closed and nobody of this house is left; gives the decision.
    pub fn wait_for_the_end(&self) -> Decision {
        wait_until("no process is left", || self.processes().is_empty());
        let closed = |r: Record| match r.event {
            Event::SessionClosed { verdict } => Some(verdict.decision),
            _ => None,
        };
        self.records().into_iter().find_map(closed).expect("the session was not closed")
    }

    /// The processes of this house that are alive, and what each is: `agent`, `worker`, `runner`, else `viewer`.
    pub fn processes(&self) -> Vec<(Pid, String)> {
        let mark = format!("XDG_RUNTIME_DIR={}", self.path("run").display());
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let numbers = entries.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
        numbers
            .filter_map(|number| {
                let read = |name: &str| std::fs::read(format!("/proc/{number}/{name}")).unwrap_or_default();
                if !read("environ").split(|b| *b == 0).any(|v| v == mark.as_bytes()) {
                    return None;
                }
                Some((Pid::from_raw(number)?, kind(&read("cmdline"))))
            })
            .collect()
    }

    /// The only process of a kind, once there is one.
    pub fn process(&self, kind: &str) -> Pid {
        let of_kind =
            || self.processes().into_iter().filter(|(_, k)| k == kind).map(|(pid, _)| pid).collect::<Vec<_>>();
        wait_until(&format!("there is one {kind}"), || of_kind().len() == 1);
        of_kind()[0]
    }

    pub fn has(&self, kind: &str) -> bool {
        self.processes().iter().any(|(_, k)| k == kind)
    }

    /// Attaches to the session that goes on, stops it there, and sees it end.
    pub fn stop(&self) {
        let mut watch = self.open(&["watch"]);
        watch.wait_for("rec ok");
        watch.send("\u{3}");
        watch.wait_for("rec closed");
        watch.send("q");
        watch.ends_given_back(0);
        assert_eq!(self.wait_for_the_end(), Decision::NotProven);
    }
}

impl Drop for House {
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            signal(pid, Signal::KILL);
        }
    }
}

/// Sends a signal; a process that is gone already is no error.
pub fn signal(pid: Pid, signal: Signal) {
    let _ = kill_process(pid, signal);
}

fn kind(command_line: &[u8]) -> String {
    let words: Vec<&[u8]> = command_line.split(|b| *b == 0).collect();
    if !words.first().is_some_and(|w| w.ends_with(b"/shakedown")) {
        return "other".to_owned();
    }
    let kinds = ["agent", "worker", "runner"];
    kinds.into_iter().find(|k| words.get(1) == Some(&k.as_bytes())).unwrap_or("viewer").to_owned()
}

/// Everything recorded in a session file.
fn records(file: &Path) -> Vec<Record> {
    let Ok(reader) = Reader::open(file).map(Reader::following) else { return Vec::new() };
    let whole = |item| match item {
        Item::Record(record) => Some(*record),
        Item::Damaged(..) => None,
    };
    reader.filter_map(whole).collect()
}
