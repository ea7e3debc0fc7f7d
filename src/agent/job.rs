//! A worker as its agent sees it: started, watched, asked to stop, settled or abandoned.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::resources;
use crate::vocab::event::{Outcome, Said};
use crate::vocab::name::RunName;
use crate::vocab::order::{AgentOrder, Work};

/// How much of a worker's last words is kept.
const LAST_WORDS: usize = 2048;
/// How long a worker may take to be gone once it has closed its output.
const GONE: Duration = Duration::from_millis(500);

/// What reaches the agent's one loop.
#[derive(Debug)]
pub(super) enum Inbox {
    /// An order of the runner, or a line that is none.
    Order(Result<AgentOrder, String>),
    /// The runner is gone.
    Closed,
    /// The worker with this number has said something.
    Said(u64, Said),
    /// The worker with this number has closed its output.
    Quiet(u64),
}

/// A worker and the run it does.
#[derive(Debug)]
pub(super) struct Job {
    /// Tells a late word of an earlier worker from this one's.
    pub(super) number: u64,
    /// What the worker says of its run's end.
    pub(super) outcome: Option<Outcome>,
    /// The disk that it loads: `disk/vda`.
    pub(super) device: Option<String>,
    run: RunName,
    child: Child,
    give_up_at: Instant,
    asked: bool,
    last_words: Arc<Mutex<Vec<u8>>>,
    kills_before: Option<u64>,
}

impl Job {
    /// Starts a worker for a run; what it says goes to the inbox under this number.
    pub(super) fn start(program: &Path, work: &Work, number: u64, inbox: &Sender<Inbox>) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.arg("worker").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if resources::address_space().is_some() {
            // The C library reserves 64 MiB of addresses for the allocations of each thread (`mallopt(3)`, M_ARENA_MAX): a limit of
            // addresses would go to that, and not to the load.
            command.env("MALLOC_ARENA_MAX", "1");
        }
        let mut child = command.spawn().map_err(|e| format!("no worker could be started: {e}"))?;
        let order = serde_json::to_string(work).map_err(|e| e.to_string())?;
        if let Some(stdin) = &mut child.stdin {
            writeln!(stdin, "{order}").map_err(|e| format!("the worker took no order: {e}"))?;
        }
        if let Some(stdout) = child.stdout.take() {
            let inbox = inbox.clone();
            std::thread::spawn(move || pass_on(stdout, number, &inbox));
        }
        let last_words = Arc::default();
        if let Some(stderr) = child.stderr.take() {
            let kept = Arc::clone(&last_words);
            std::thread::spawn(move || keep_last(stderr, &kept));
        }
        let give_up_at = Instant::now() + work.deadline.into();
        let (run, kills_before) = (work.run.name.clone(), kills_for_memory());
        Ok(Self { number, outcome: None, device: None, run, child, give_up_at, asked: false, last_words, kills_before })
    }

    /// How long it may still go on before it is given up.
    pub(super) fn patience(&self, now: Instant) -> Duration {
        self.give_up_at.saturating_duration_since(now)
    }

    /// Asks the worker to stop and gives it until then.
    pub(super) fn ask_to_stop(&mut self, until: Instant) {
        self.child.stdin = None;
        if !self.asked {
            self.give_up_at = self.give_up_at.min(until);
        }
        self.asked = true;
    }

    /// The worker has closed its output: how did the run end?
    pub(super) fn settle(mut self) -> (RunName, Outcome) {
        let status = self.wait_a_little();
        let outcome = match (self.outcome.take(), status) {
            (Some(outcome), _) => outcome,
            (None, None) => {
                let _ = self.child.kill();
                Outcome::Stuck
            }
            (None, Some(_)) if self.asked => Outcome::Stopped,
            (None, Some(status)) => Outcome::Broken(self.explain(status)),
        };
        (self.run.clone(), outcome)
    }

    /// Kills the worker, and waits for nothing.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
    }

    /// Kills the worker and leaves it to a thread that will bury it, however long that takes. Its number when it is still there
    /// after a while, because it hangs in the kernel.
    pub(super) fn abandon(mut self, patience: Duration) -> (RunName, Option<u32>) {
        self.kill();
        let (run, number) = (self.run.clone(), self.child.id());
        let (gone, told) = channel();
        std::thread::spawn(move || {
            let _ = self.child.wait();
            let _ = gone.send(());
        });
        let left = told.recv_timeout(patience).is_err().then_some(number);
        (run, left)
    }

    fn wait_a_little(&mut self) -> Option<ExitStatus> {
        let until = Instant::now() + GONE;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                _ => return None,
            }
        }
    }

    fn explain(&self, status: ExitStatus) -> String {
        let mut text = match (status.signal(), status.code()) {
            (Some(signal), _) => format!("the worker was killed by signal {signal}{}", signal_name(signal)),
            (None, Some(code)) => format!("the worker left with code {code}"),
            (None, None) => "the worker is gone".to_owned(),
        };
        if let (Some(before), Some(after)) = (self.kills_before, kills_for_memory())
            && after > before
        {
            let who = if status.signal() == Some(9) { ", by the OOM killer" } else { "" };
            text.push_str(&format!("{who}; the kernel has killed for want of memory meanwhile"));
        }
        let words = self.last_words.lock().map(|w| String::from_utf8_lossy(&w).trim().to_owned()).unwrap_or_default();
        if let Some(last) = words.lines().last() {
            text.push_str(&format!("; its last words: {}", crate::vocab::text::neutral(last)));
        }
        text
    }
}

fn pass_on(stdout: impl Read, number: u64, inbox: &Sender<Inbox>) {
    for line in BufReader::new(stdout).lines() {
        let Ok(line) = line else { break };
        if let Ok(said) = serde_json::from_str::<Said>(&line)
            && inbox.send(Inbox::Said(number, said)).is_err()
        {
            return;
        }
    }
    let _ = inbox.send(Inbox::Quiet(number));
}

fn keep_last(mut stderr: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 512];
    while let Ok(n @ 1..) = stderr.read(&mut buffer) {
        if let Ok(mut kept) = kept.lock() {
            kept.extend_from_slice(&buffer[..n]);
            let surplus = kept.len().saturating_sub(LAST_WORDS);
            kept.drain(..surplus);
        }
    }
}

/// Processes killed for want of memory since boot, in any cgroup (`oom_kill` of `/proc/vmstat`).
fn kills_for_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/vmstat").ok()?;
    text.lines().find_map(|l| l.strip_prefix("oom_kill "))?.trim().parse().ok()
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        _ => "",
    }
}
