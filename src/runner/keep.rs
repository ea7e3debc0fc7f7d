//! The session's one loop: words of agents, ticks, commands and signals in; events into the pipeline; orders out.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{broadcast, mpsc};
use tokio::time::{Instant, MissedTickBehavior};

use super::launch::{Agent, NodeSpec, Word};
use super::pipeline::Pipeline;
use super::schedule::Course;
use super::serve::Door;
use crate::analysis::verdict::judge;
use crate::clock::now;
use crate::session::earlier::{self, Whole};
use crate::session::journal::{Journal, Sync, Trouble};
use crate::session::places;
use crate::vocab::event::{Amends, Event, Opening, Record, Said};
use crate::vocab::moment::Moment;
use crate::vocab::name::NodeName;
use crate::vocab::node::Build;
use crate::vocab::node::FORMAT;
use crate::vocab::order::{AgentOrder, Command, Hello};
use crate::vocab::plan::Plan;
use crate::vocab::verdict::Verdict;

const TICK: Duration = Duration::from_millis(100);
/// Clocks are compared every so many ticks.
const PING_EVERY: u64 = 100;
/// Records that a viewer may be behind before it is sent to the file.
const BEHIND: usize = 8192;
/// After a stop agents have two seconds to stop their workers; then the session ends without them.
const STOP: Duration = Duration::from_secs(3);
/// The host's last reading comes just after the end of a run, and belongs to it.
const LAST_READING: Duration = Duration::from_millis(250);
/// How long the end may take in each of its steps.
const DISMISS: Duration = Duration::from_secs(2);
const JOURNAL: Duration = Duration::from_secs(5);
const VIEWERS: Duration = Duration::from_secs(1);

/// What a runner is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The plan, with its targets filled in.
    pub plan: Plan,
    /// The session's name.
    pub session: String,
    /// The session file, which must not exist.
    pub file: PathBuf,
    /// The nodes.
    pub nodes: Vec<NodeSpec>,
    /// Directories that runs write to, to know whether the session file disturbs them.
    pub targets: Vec<PathBuf>,
    /// What the preflight had to say, for the record.
    pub remarks: Vec<String>,
    /// The session that is amended, and its file; the plan is the whole of it.
    pub amends: Option<(Amends, PathBuf)>,
}

/// How a session came to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The verdict.
    pub verdict: Verdict,
    /// Why the session file is not complete, if it is not.
    pub trouble: Option<String>,
    /// Why nothing was run on any node, when nothing was.
    pub never_began: Option<String>,
}

/// Keeps a session from its opening to its verdict; `ready` is called once viewers can attach at the socket it is given.
///
/// # Errors
/// One line when the session cannot begin.
pub async fn keep(assignment: Assignment, ready: impl FnOnce(&Path)) -> Result<Kept, String> {
    let before = records_before(assignment.amends.as_ref())?;
    let socket = places::socket(&assignment.session)?;
    let gentle = shares_file_system(&assignment);
    let mut door = Door::open(&socket, &assignment.file)?;
    let journal = Journal::create(&assignment.file, if gentle { Sync::WhenTold } else { Sync::EverySecond });
    let journal = match journal {
        Ok(journal) => journal,
        Err(why) => {
            door.close(Duration::ZERO).await;
            return Err(why);
        }
    };
    let (publish, _) = broadcast::channel(BEHIND);
    let (words, mut heard) = mpsc::channel(BEHIND);
    let (commands, mut commanded) = mpsc::channel(64);
    let pipeline = Pipeline::new(journal, publish.clone());
    let courses = assignment.nodes.iter().cloned().map(Course::new).collect();
    let session = assignment.session.clone();
    let mut keeper = Keeper {
        plan: assignment.plan.clone(),
        work: assignment.amends.as_ref().map_or_else(|| assignment.plan.clone(), |(a, _)| a.again(&assignment.plan)),
        session,
        pipeline,
        courses,
        words,
        stopping: None,
        end_at: None,
        ticks: 0,
        trouble: None,
    };
    keeper.open(&assignment, before, gentle);
    ready(&socket);
    let mut signals = Signals::new();
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while !keeper.is_over() {
        tokio::select! {
            Some(word) = heard.recv() => keeper.hear(word),
            _ = tick.tick() => keeper.tick(),
            Some(command) = commanded.recv() => keeper.command(command),
            command = signals.next(keeper.stopping.is_some()) => keeper.command(command),
            () = door.admit(&publish, &commands) => {}
        }
    }
    let never_began = keeper.pipeline.state.never_began();
    let (verdict, courses, journal) = keeper.close();
    drop(publish);
    let dismissals: Vec<_> =
        courses.into_iter().filter_map(|c| c.agent).map(|a| tokio::spawn(a.dismiss(DISMISS))).collect();
    let closed = tokio::task::spawn_blocking(move || journal.close(JOURNAL)).await;
    let trouble = closed.unwrap_or_else(|e| Err(e.to_string())).err();
    door.close(VIEWERS).await;
    for dismissal in dismissals {
        let _ = dismissal.await;
    }
    Ok(Kept { verdict, trouble, never_began })
}

/// The records of the session that is amended, which must be what they were when it was decided to amend it.
fn records_before(amends: Option<&(Amends, PathBuf)>) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    if let Some((amends, file)) = amends {
        let Whole { bytes, crc, .. } = earlier::read(file, |record| records.push(record))?;
        if (bytes, &crc) != (amends.bytes, &amends.crc) {
            return Err(format!("{} was changed since it was looked at; nothing was started", file.display()));
        }
    }
    Ok(records)
}

/// Whether the session file lies on a file system that the runs write to.
fn shares_file_system(assignment: &Assignment) -> bool {
    let device = |path: &Path| std::fs::metadata(path).map(|m| m.dev()).ok();
    let parent = assignment.file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let own = device(parent);
    own.is_some() && assignment.targets.iter().any(|target| device(target) == own)
}

struct Keeper {
    /// The whole plan, by which the session is judged.
    plan: Plan,
    /// What of it is done.
    work: Plan,
    session: String,
    pipeline: Pipeline,
    courses: Vec<Course>,
    words: mpsc::Sender<Word>,
    stopping: Option<Instant>,
    end_at: Option<Instant>,
    ticks: u64,
    trouble: Option<Trouble>,
}

impl Keeper {
    fn open(&mut self, assignment: &Assignment, before: Vec<Record>, gentle: bool) {
        let opening = Opening {
            format: FORMAT,
            session: assignment.session.clone(),
            plan: assignment.plan.clone(),
            build: Build::this(),
            started: jiff::ZonedDateTime::now().strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string(),
            nodes: assignment.nodes.iter().map(|n| n.name.clone()).collect(),
            amends: assignment.amends.as_ref().map(|(amends, _)| amends.clone()),
        };
        self.own(Event::SessionOpened(Box::new(opening)));
        before.into_iter().for_each(|record| self.pipeline.put_earlier(now(), record));
        for remark in &assignment.remarks {
            self.own(Event::Noted(format!("preflight: {remark}")));
        }
        if gentle {
            let text = "the session file lies on the file system under test: it is made safe between iterations only";
            self.own(Event::Noted(text.to_owned()));
        }
        for place in 0..self.courses.len() {
            self.start_agent(place);
        }
    }

    /// Puts an event of the runner itself.
    fn own(&mut self, event: Event) {
        self.pipeline.put(&NodeName::default(), now(), event);
    }

    fn start_agent(&mut self, place: usize) {
        let Some(course) = self.courses.get_mut(place) else { return };
        course.started += 1;
        match Agent::start(&course.spec, course.started, self.words.clone()) {
            Ok(agent) => {
                agent.order(AgentOrder::Hello(Hello::new(&self.session)));
                agent.order(AgentOrder::Ping(now()));
                agent.order(AgentOrder::Survey(self.work.clone()));
                course.agent = Some(agent);
            }
            Err(why) => {
                let node = course.spec.name.clone();
                course.refused = true;
                course.lose_agent(&self.work, true);
                self.pipeline.put(&node, now(), Event::NodeLost { why });
            }
        }
    }

    fn hear(&mut self, word: Word) {
        let (node, number) = match &word {
            Word::Said(node, number, _) | Word::Gone(node, number) => (node, *number),
        };
        let Some(place) = self.courses.iter().position(|c| &c.spec.name == node) else { return };
        if self.courses[place].agent.as_ref().is_none_or(|a| a.number != number) {
            return;
        }
        match word {
            Word::Said(node, _, said) => self.said(place, &node, *said),
            Word::Gone(node, _) => self.gone(place, &node, "its process has ended"),
        }
    }

    fn said(&mut self, place: usize, node: &NodeName, said: Said) {
        let stopping = self.stopping.is_some();
        let event = match said.event {
            Event::Clock { sent, .. } => Event::Clock { sent, back: now() },
            event => event,
        };
        let course = &mut self.courses[place];
        match &event {
            Event::NodeJoined { build, .. } if build.format != FORMAT => {
                course.refused = true;
                let why = format!(
                    "its agent writes record format {}, this runner reads {FORMAT}: install the same version on both",
                    build.format
                );
                self.pipeline.put(node, said.at, Event::NodeLost { why });
                course.lose_agent(&self.work, true);
                return;
            }
            Event::NodeLost { .. } => course.refused = true,
            Event::Surveyed(survey) => course.begin(survey, &self.work, stopping),
            Event::RunEnded { run, .. } => course.end(run, &self.work, stopping),
            _ => {}
        }
        self.pipeline.put(node, said.at, event);
    }

    fn gone(&mut self, place: usize, node: &NodeName, how: &str) {
        let stopping = self.stopping.is_some();
        let course = &mut self.courses[place];
        let refused = course.refused;
        let again = course.lose_agent(&self.work, stopping);
        if !refused {
            let next = if again { "; it is started again for the runs that are left" } else { "" };
            let at = Moment(self.pipeline.state.to_node(node, now()).0);
            self.pipeline.put(node, at, Event::NodeLost { why: format!("{how}{next}") });
        }
        if again {
            self.start_agent(place);
        }
    }

    fn tick(&mut self) {
        self.own(Event::Tick);
        self.ticks += 1;
        if self.ticks.is_multiple_of(PING_EVERY) {
            self.courses.iter().for_each(|c| c.order(AgentOrder::Ping(now())));
        }
        for place in (0..self.courses.len()).filter(|place| self.courses[*place].is_overdue()).collect::<Vec<_>>() {
            let node = self.courses[place].spec.name.clone();
            self.gone(place, &node, "it did not answer past the deadline of its run");
        }
        let trouble = self.pipeline.journal.trouble();
        if trouble != self.trouble {
            let text = match &trouble {
                Some(trouble) => trouble.meanwhile(),
                None => "the session file can be written again".to_owned(),
            };
            self.own(Event::Noted(text));
            self.trouble = trouble;
        }
        if self.end_at.is_none() && self.courses.iter().all(Course::is_over) {
            self.end_at = Some(Instant::now() + LAST_READING);
        }
    }

    fn command(&mut self, command: Command) {
        match &command {
            Command::StopRun => self.courses.iter().for_each(|c| c.order(AgentOrder::Stop)),
            Command::StopSession => {
                self.stopping.get_or_insert(Instant::now() + STOP);
                self.courses.iter_mut().for_each(Course::stop);
            }
            Command::StopNow => {
                self.stopping = Some(Instant::now());
                self.end_at = Some(Instant::now());
            }
            Command::Note(_) => {}
        }
        self.own(Event::Commanded(command));
    }

    fn is_over(&self) -> bool {
        let passed = |at: Option<Instant>| at.is_some_and(|at| at <= Instant::now());
        passed(self.end_at) || passed(self.stopping)
    }

    fn close(mut self) -> (Verdict, Vec<Course>, Journal) {
        let verdict = judge(&self.plan, &self.pipeline.state);
        self.own(Event::SessionClosed { verdict: verdict.clone() });
        (verdict, self.courses, self.pipeline.journal)
    }
}

/// The signals that stop a session: the first cleanly, another at once.
struct Signals {
    all: Vec<Signal>,
}

impl Signals {
    fn new() -> Self {
        // Under nohup SIGHUP comes ignored, and stays so.
        let hangup = (!is_ignored(1)).then(SignalKind::hangup);
        let kinds = [Some(SignalKind::interrupt()), Some(SignalKind::terminate()), hangup];
        Self { all: kinds.into_iter().flatten().filter_map(|kind| signal(kind).ok()).collect() }
    }

    async fn next(&mut self, stopping: bool) -> Command {
        std::future::poll_fn(|context| {
            if self.all.iter_mut().any(|s| s.poll_recv(context).is_ready()) {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
        if stopping { Command::StopNow } else { Command::StopSession }
    }
}

/// Whether a signal was ignored when this process began (`SigIgn` of `proc(5)`).
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask =
        status.lines().find_map(|l| l.strip_prefix("SigIgn:")).and_then(|m| u64::from_str_radix(m.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
