//! The agent's process: hears orders, starts a worker for each run, passes on what they say, and never waits for one that will not
//! die. Runs that go on at the same time have a worker each, and the end of one is no end of another.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::hold::{self, Hold};
use super::job::{Inbox, Job};
use super::resources::Resources;
use super::voice::Voice;
use super::watch::Watch;
use super::{conditions, engine, inventory, sizes, survey};
use crate::vocab::event::{Event, Outcome, Said};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::RunName;
use crate::vocab::node::Build;
use crate::vocab::node::FORMAT;
use crate::vocab::order::{AgentOrder, Hello, Work};
use crate::vocab::plan::{CONTROLLER_CACHE, Run};
use crate::vocab::size::ByteSize;

/// How long a worker has to obey a stop; after that it is Stuck.
const OBEY: Duration = Duration::from_millis(1800);
/// How long one that was killed has to be gone; with the time to obey, two seconds.
const DYING: Duration = Duration::from_millis(150);
/// The same when the runner is gone: the agent itself is to be gone within two seconds.
const OBEY_AT_THE_END: Duration = Duration::from_millis(1200);

/// An agent at work.
pub struct Agent {
    root: PathBuf,
    program: PathBuf,
    voice: Voice,
    inbox: Receiver<Inbox>,
    to_inbox: Sender<Inbox>,
    /// The workers at work.
    jobs: Vec<Job>,
    /// Workers started so far.
    started: u64,
    watch: Option<Watch>,
    hold: Option<Hold>,
    session: String,
    /// The runs that put files on a disk.
    on_disk: Vec<RunName>,
    /// Bytes of memory that runs may size themselves by beside others.
    shares: BTreeMap<RunName, u64>,
    /// Bytes of cache in the disk controllers, once a survey has asked for them.
    controller_cache: Option<u64>,
}

/// Runs an agent until its input ends. `root` stands for `/` where the host is read; `program` is started for workers.
///
/// # Errors
/// One line when the greeting is refused or not understood.
pub fn serve(
    root: &Path,
    program: &Path,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), String> {
    let (voice, _writer) = Voice::into_writer(output);
    let (to_inbox, inbox) = channel();
    let orders = to_inbox.clone();
    std::thread::spawn(move || hear(input, &orders));
    let (root, program) = (root.to_owned(), program.to_owned());
    let mut agent = Agent {
        root,
        program,
        voice,
        inbox,
        to_inbox,
        jobs: Vec::new(),
        started: 0,
        watch: None,
        hold: None,
        session: String::new(),
        on_disk: Vec::new(),
        shares: BTreeMap::new(),
        controller_cache: None,
    };
    let ended = agent.attend();
    agent.leave();
    ended
}

fn hear(input: impl Read, orders: &Sender<Inbox>) {
    for line in BufReader::new(input).lines() {
        let Ok(line) = line else { break };
        let order = serde_json::from_str(&line).map_err(|e| format!("order not understood: {e}"));
        if orders.send(Inbox::Order(order)).is_err() {
            return;
        }
    }
    let _ = orders.send(Inbox::Closed);
}

impl Agent {
    fn attend(&mut self) -> Result<(), String> {
        loop {
            let now = Instant::now();
            let patience = self.jobs.iter().map(|job| job.patience(now)).min().unwrap_or(Duration::from_hours(1));
            match self.inbox.recv_timeout(patience) {
                Ok(Inbox::Order(order)) => self.obey(order?)?,
                Ok(Inbox::Said(number, said)) => self.pass(number, said),
                Ok(Inbox::Quiet(number)) => self.settle(number),
                Ok(Inbox::Closed) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.give_up();
        }
    }

    fn obey(&mut self, order: AgentOrder) -> Result<(), String> {
        match order {
            AgentOrder::Hello(hello) => self.greet(hello)?,
            AgentOrder::Hold(directories) => self.hold(&directories)?,
            AgentOrder::Survey(plan) => {
                if sizes::loads_disks(&plan) {
                    self.controller_cache = sizes::controller_cache(&self.root);
                }
                let survey = survey::take(&plan, &self.root, &self.resources());
                self.shares = sizes::shares(&plan, &survey.needs, survey.memory_available);
                let on_disk = |name: &RunName| plan.runs.iter().any(|run| run.name == *name && run.is_raw());
                let needs = survey.needs.iter().filter(|n| n.disk > 0 || on_disk(&n.run));
                self.on_disk = needs.map(|n| n.run.clone()).collect();
                self.voice.say(Event::Surveyed(Box::new(survey)));
            }
            AgentOrder::Watch => self.watch = Some(Watch::new(&self.root, self.voice.clone())),
            AgentOrder::Ping(sent) => self.voice.say(Event::Clock { sent, back: Moment(0) }),
            AgentOrder::Start { run, deadline } => self.start(&run, deadline),
            AgentOrder::Stop => {
                let until = Instant::now() + OBEY;
                self.jobs.iter_mut().for_each(|job| job.ask_to_stop(until));
            }
        }
        Ok(())
    }

    fn greet(&mut self, hello: Hello) -> Result<(), String> {
        if hello.format != FORMAT {
            let (theirs, ours) = (hello.format, FORMAT);
            return self.refuse(format!(
                "the runner speaks record format {theirs}, this agent {ours}: install the same version on both"
            ));
        }
        self.session = hello.session;
        let inventory = Box::new(inventory::read(&self.root, &Resources::here(&self.root)));
        let conditions = conditions::read(&self.root);
        self.voice.say(Event::NodeJoined { build: Build::this(), inventory, conditions });
        Ok(())
    }

    fn hold(&mut self, directories: &[PathBuf]) -> Result<(), String> {
        match hold::take(&self.session, directories) {
            Ok(hold) => {
                self.hold = Some(hold);
                Ok(())
            }
            Err(why) => self.refuse(why),
        }
    }

    /// Says why this agent will not work, and leaves.
    fn refuse(&mut self, why: String) -> Result<(), String> {
        self.voice.say(Event::NodeLost { why: why.clone() });
        // The word is written by another thread; it is given the time to get out.
        std::thread::sleep(Duration::from_millis(50));
        Err(why)
    }

    /// What this process can have, with what the survey has learned of the controllers.
    fn resources(&self) -> Resources {
        Resources { controller_cache: self.controller_cache, ..Resources::here(&self.root) }
    }

    fn start(&mut self, run: &Run, deadline: Span) {
        let name = run.name.clone();
        let (run, made) = match sizes::settle(run, &self.resources()) {
            Ok(settled) => settled,
            Err(why) => return self.voice.say(Event::RunEnded { run: name, outcome: Outcome::Unavailable(why) }),
        };
        let target = engine::target_of(run.target.as_deref());
        // The survey has asked; asking the kernel once more could hang with its target.
        let device = self.on_disk.contains(&name).then(|| survey::device_below(&run, &target, &self.root)).flatten();
        let cache =
            self.controller_cache.filter(|_| device.as_ref().is_some_and(|d| inventory::hangs_on_raid(&self.root, d)));
        let made = (!made.is_empty()).then(|| ("size_is".to_owned(), made));
        let cache = cache.map(|cache| (CONTROLLER_CACHE.to_owned(), ByteSize(cache).to_string()));
        let labels = made.into_iter().chain(cache).collect();
        let device = device.map(|d| format!("disk/{d}"));
        let memory = self.shares.get(&name).copied();
        let work = Work { run, deadline, memory, labels };
        self.started += 1;
        match Job::start(&self.program, &work, self.started, &self.to_inbox) {
            Ok(mut job) => {
                job.device = device;
                self.jobs.push(job);
            }
            Err(why) => self.voice.say(Event::RunEnded { run: name, outcome: Outcome::Broken(why) }),
        }
        if let Some(watch) = &mut self.watch {
            watch.begin_run(devices(&self.jobs));
        }
    }

    fn pass(&mut self, number: u64, said: Said) {
        let Some(job) = self.jobs.iter_mut().find(|job| job.number == number) else { return };
        // The end is said once the process is gone, so that the next run never meets the last worker.
        if let Event::RunEnded { outcome, .. } = said.event {
            job.outcome = Some(outcome);
        } else {
            self.voice.pass(said);
        }
    }

    fn settle(&mut self, number: u64) {
        if let Some(place) = self.jobs.iter().position(|job| job.number == number) {
            let (run, outcome) = self.jobs.remove(place).settle();
            self.end_run(Event::RunEnded { run, outcome });
        }
    }

    /// Gives up every worker whose time is over; those beside it go on.
    fn give_up(&mut self) {
        let now = Instant::now();
        let mut late: Vec<Job> = self.jobs.extract_if(.., |job| job.patience(now).is_zero()).collect();
        late.iter_mut().for_each(Job::kill);
        let until = now + DYING;
        for job in late {
            let (run, left) = job.abandon(until.saturating_duration_since(Instant::now()));
            if let Some(process) = left {
                self.voice.say(Event::Noted(format!(
                    "{run}: its worker, process {process}, hangs in the kernel where no signal reaches it, and is left behind"
                )));
            }
            self.end_run(Event::RunEnded { run, outcome: Outcome::Stuck });
        }
    }

    fn end_run(&mut self, event: Event) {
        if let Some(watch) = &mut self.watch {
            watch.end_run(devices(&self.jobs));
        }
        self.voice.say(event);
    }

    /// The runner is gone: the workers are stopped, then killed, and nobody is waited for.
    fn leave(&mut self) {
        self.watch = None;
        let until = Instant::now() + OBEY_AT_THE_END;
        self.jobs.iter_mut().for_each(|job| job.ask_to_stop(until));
        while let (false, Some(left)) = (self.jobs.is_empty(), until.checked_duration_since(Instant::now())) {
            match self.inbox.recv_timeout(left) {
                Ok(Inbox::Quiet(number)) => {
                    for job in self.jobs.extract_if(.., |job| job.number == number) {
                        job.abandon(Duration::ZERO);
                    }
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        for job in self.jobs.drain(..) {
            job.abandon(Duration::ZERO);
        }
    }
}

/// The disks that these workers load, each once.
fn devices(jobs: &[Job]) -> Vec<String> {
    let devices: BTreeSet<&String> = jobs.iter().filter_map(|job| job.device.as_ref()).collect();
    devices.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// What an agent says to these lines; `serve` returns before its writer, so the words are waited for.
    fn said(lines: &str, word: &str) -> (Result<(), String>, String) {
        let (mut out, writer) = std::io::pipe().unwrap();
        let ended = serve(Path::new("/"), Path::new("/bin/true"), Cursor::new(lines.to_owned()), writer);
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        assert!(text.contains(word), "no {word} in {text}");
        (ended, text)
    }

    #[test]
    fn a_runner_of_another_format_is_refused_with_both_versions() {
        let (ended, text) = said("{\"Hello\":{\"format\":99,\"session\":\"s\"}}\n", "NodeLost");
        assert!(ended.unwrap_err().contains("record format 99, this agent 1"));
        assert!(!text.contains("NodeJoined"));
    }

    #[test]
    fn a_greeting_is_answered_and_a_ping_comes_back() {
        let hello = "{\"Hello\":{\"format\":1,\"session\":\"s\"}}\n{\"Ping\":77}\n";
        let (ended, text) = said(hello, "NodeJoined");
        assert_eq!(ended, Ok(()));
        assert!(text.contains("{\"Clock\":{\"sent\":77,\"back\":0}}"));
    }

    #[test]
    fn a_line_that_is_no_order_ends_the_agent_with_a_reason() {
        let (ended, _) = said("{\"Helo\":1}\n", "");
        assert!(ended.unwrap_err().starts_with("order not understood"));
    }
}
