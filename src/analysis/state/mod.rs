//! The fold: everything a viewer, a detector or the judge may ask about a session, made of its records and nothing else.
//!
//! ```text
//! State ─┬─ opening, plan            what was asked
//!        ├─ nodes: Node ── Host      inventory, conditions, host counters as rates
//!        ├─ runs: RunState           one a node and run: phase, meters as rates, official figures, outcome
//!        ├─ findings, notes          what was said
//!        ├─ earlier: State           the session that this one amends, on its own clocks
//!        └─ verdict                  the end
//! ```

mod delta;
mod device;
mod earlier;
mod host;
mod iteration;
mod rows;
mod run;
mod sum;
mod totals;

use std::collections::BTreeMap;

pub use delta::Delta;
pub use device::Device;
pub use earlier::Attempt;
pub use host::{CpuSeconds, Host};
pub use iteration::{IterationState, Meanwhile};
pub use rows::{ROWS, Row, rows_of};
pub use run::{MeterState, RunState, Status};

use crate::vocab::event::{Event, Opening, Record};
use crate::vocab::finding::Finding;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;
use crate::vocab::name::RunName;
use crate::vocab::node::{Build, Change, Conditions, Inventory};
use crate::vocab::order::Command;
use crate::vocab::survey::Survey;
use crate::vocab::verdict::Verdict;

/// How many remarks and changes are kept; the record has them all.
const REMARKS: usize = 500;

/// A node as far as the records tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// What its agent is built from; none before it has joined.
    pub build: Option<Build>,
    /// What it is.
    pub inventory: Option<Inventory>,
    /// Its settings as they are now.
    pub conditions: Conditions,
    /// What the preflight learned.
    pub survey: Option<Survey>,
    /// Its counters.
    pub host: Host,
    /// Why its agent is gone, if it is.
    pub lost: Option<String>,
    /// What its clock is ahead of the runner's, in microseconds.
    pub offset: i64,
    /// The runner's time of the latest record from it.
    pub heard: Moment,
}

/// A remark on the time axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// The node's time.
    pub at: Moment,
    /// Whose.
    pub node: NodeName,
    /// What.
    pub text: String,
}

/// A session as far as the records tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// How it began; none before the first record.
    pub opening: Option<Opening>,
    /// The runner's time of the beginning.
    pub opened: Moment,
    /// The runner's latest time.
    pub now: Moment,
    /// The number of the latest record.
    pub seq: u64,
    /// Records that are missing or out of their order: damaged lines, lines that come twice, and events that somebody had to drop.
    pub lost: u64,
    /// The nodes by name.
    pub nodes: BTreeMap<NodeName, Node>,
    /// The runs of every node, in the plan's order, node by node.
    pub runs: Vec<RunState>,
    /// The latest word on each finding, by number.
    pub findings: BTreeMap<u32, Finding>,
    /// The node of each finding.
    pub found_on: BTreeMap<u32, NodeName>,
    /// The latest remarks and changes.
    pub remarks: Vec<Remark>,
    /// Whether a person asked for the end.
    pub stop_asked: bool,
    /// The end.
    pub verdict: Option<Verdict>,
    /// The session that this one amends, if it does.
    pub earlier: Option<Box<State>>,
    /// Whether what is not repeated has been taken over from the earlier session.
    adopted: bool,
}

impl State {
    /// Takes in one record. Total: a record that makes no sense here changes only the time.
    pub fn apply(&mut self, record: &Record) {
        self.number(record);
        self.take(record);
    }

    /// Takes in what a record says; its number was taken in before.
    pub(super) fn take(&mut self, record: &Record) {
        if let Event::Earlier(inner) = &record.event {
            let (earlier, inner) = self.before(record, inner);
            return earlier.take(&inner);
        }
        self.adopt();
        self.hear(record);
        match &record.event {
            Event::SessionOpened(opening) => self.open(opening, record.at),
            Event::Clock { sent, back } => {
                self.node(&record.node).offset = difference(record.at, Moment(sent.0.midpoint(back.0)));
            }
            Event::NodeJoined { build, inventory, conditions } => {
                let node = self.node(&record.node);
                node.build = Some(build.clone());
                node.inventory = Some((**inventory).clone());
                node.conditions = conditions.clone();
                node.lost = None;
                node.host.rejoin(record.at);
            }
            Event::NodeLost { why } => self.node(&record.node).lost = Some(why.clone()),
            Event::Surveyed(survey) => self.node(&record.node).survey = Some((**survey).clone()),
            Event::ConditionsChanged(changes) => self.change(record, changes),
            Event::Described(described) => self.node(&record.node).host.describe(described),
            Event::Sampled { of, values } => self.sample(record, of, values),
            Event::Found(finding) => {
                self.found_on.insert(finding.id, record.node.clone());
                self.findings.insert(finding.id, finding.clone());
            }
            Event::Commanded(command) => self.command(record, command),
            Event::Noted(text) => self.remark(record, text.clone()),
            Event::Lost(n) => self.lose(*n),
            Event::SessionClosed { verdict } => self.verdict = Some(verdict.clone()),
            // Each of the others is about a run, which takes it in below, or only lets time pass.
            _ => {}
        }
        if let Some(node) = self.nodes.get(&record.node) {
            self.runs.iter_mut().filter(|r| r.node == record.node).for_each(|run| run.apply(record, &node.host));
        }
        // The host's last reading before a run is where the run's share of it begins.
        if matches!(record.event, Event::RunStarted(_)) {
            self.share_cpu_time(&record.node);
        }
    }

    fn lose(&mut self, n: u64) {
        self.lost = self.lost.saturating_add(n);
    }

    /// Takes in a record's number alone, so that one which is left out on purpose is not counted as missing. One that comes twice or
    /// behind a later one was not written so, and what there was in its place is not known.
    pub(super) fn number(&mut self, record: &Record) {
        if (1..=self.seq).contains(&record.seq) {
            self.lose(1);
        }
        if self.opening.is_some() {
            self.lose(record.seq.saturating_sub(self.seq).saturating_sub(1));
        }
        self.seq = self.seq.max(record.seq);
    }

    fn hear(&mut self, record: &Record) {
        self.now = self.now.max(self.to_runner(&record.node, record.at));
        let now = self.now;
        if let Some(node) = self.nodes.get_mut(&record.node) {
            node.heard = now;
        }
    }

    fn open(&mut self, opening: &Opening, at: Moment) {
        self.opened = at;
        for node in &opening.nodes {
            self.nodes.insert(node.clone(), Node { heard: at, ..Node::default() });
            self.runs.extend(opening.plan.runs.iter().map(|run| RunState::new(run, node)));
        }
        self.opening = Some(opening.clone());
    }

    fn node(&mut self, name: &NodeName) -> &mut Node {
        self.nodes.entry(name.clone()).or_default()
    }

    fn sample(&mut self, record: &Record, of: &[String], values: &[crate::vocab::event::Sample]) {
        let remarks = self.node(&record.node).host.sample(record.at, of, values);
        remarks.into_iter().for_each(|text| self.remark(record, text));
        self.share_cpu_time(&record.node);
    }

    fn share_cpu_time(&mut self, node: &NodeName) {
        let Some(cpu) = self.nodes.get(node).and_then(|n| n.host.cpu_seconds()) else { return };
        for run in self.runs.iter_mut().filter(|r| &r.node == node) {
            run.sampled(cpu);
        }
    }

    fn change(&mut self, record: &Record, changes: &[Change]) {
        for change in changes {
            let conditions = &mut self.node(&record.node).conditions.0;
            match &change.after {
                Some(after) => conditions.insert(change.what.clone(), after.clone()),
                None => conditions.remove(&change.what),
            };
            let what = &change.what;
            let text = match (&change.before, &change.after) {
                (Some(before), Some(after)) => format!("conditions changed: {what} from {before} to {after}"),
                (None, Some(after)) => format!("conditions: {what} is {after}"),
                (before, None) => {
                    let was = before.as_deref().unwrap_or("unknown");
                    format!("conditions changed: {what} was {was} and cannot be read any more")
                }
            };
            self.remark(record, text);
        }
    }

    fn command(&mut self, record: &Record, command: &Command) {
        let text = match command {
            Command::Note(text) => format!("note: {text}"),
            Command::StopRun => "stop of the run asked for".to_owned(),
            Command::StopSession | Command::StopNow => {
                self.stop_asked = true;
                "stop of the session asked for".to_owned()
            }
        };
        self.remark(record, text);
    }

    fn remark(&mut self, record: &Record, text: String) {
        if self.remarks.len() == REMARKS {
            self.remarks.remove(0);
        }
        self.remarks.push(Remark { at: record.at, node: record.node.clone(), text });
    }

    /// A node's time on the runner's clock; the runner's own stays as it is.
    #[must_use]
    pub fn to_runner(&self, node: &NodeName, at: Moment) -> Moment {
        let offset = self.nodes.get(node).map_or(0, |n| n.offset);
        Moment(at.0.saturating_add_signed(offset.saturating_neg()))
    }

    /// A runner's time on a node's clock.
    #[must_use]
    pub fn to_node(&self, node: &NodeName, at: Moment) -> Moment {
        let offset = self.nodes.get(node).map_or(0, |n| n.offset);
        Moment(at.0.saturating_add_signed(offset))
    }

    /// A node's time on the session's stopwatch, which every view shows: the span since the session was opened.
    #[must_use]
    pub fn clock(&self, node: &NodeName, at: Moment) -> Span {
        self.to_runner(node, at).since(self.opened)
    }

    /// The latest time on a node's own clock.
    #[must_use]
    pub fn node_now(&self, node: &NodeName) -> Moment {
        self.to_node(node, self.now)
    }

    /// A run by node and name.
    #[must_use]
    pub fn run(&self, node: &NodeName, name: &RunName) -> Option<&RunState> {
        self.runs.iter().find(|r| &r.node == node && &r.name == name)
    }

    /// Why nothing was run at all: every node is lost, and no run was begun on any. None where something was, or may still be.
    #[must_use]
    pub fn never_began(&self) -> Option<String> {
        let begun = self.runs.iter().any(|run| !run.earlier && run.status != Status::Waiting);
        let whys: Option<Vec<&str>> = self.nodes.values().map(|node| node.lost.as_deref()).collect();
        whys.filter(|whys| !begun && !whys.is_empty()).map(|whys| format!("nothing was run: {}", whys.join("; ")))
    }

    /// The runs under way.
    pub fn running(&self) -> impl Iterator<Item = &RunState> {
        self.runs.iter().filter(|r| matches!(r.status, Status::Running))
    }

    /// The other runs that go on at the same time as a run on its node, by the plan.
    pub fn companions<'a>(&'a self, run: &'a RunState) -> impl Iterator<Item = &'a RunState> {
        let together = |other: &&RunState| run.together.is_some() && other.together == run.together;
        self.runs.iter().filter(together).filter(|other| other.node == run.node && other.name != run.name)
    }

    /// The findings made in a run, oldest first.
    pub fn findings_of<'a>(&'a self, run: &'a RunState) -> impl Iterator<Item = &'a Finding> {
        let (state, run) = self.home(run);
        let here = |f: &&Finding| state.found_on.get(&f.id) == Some(&run.node) && f.run.as_ref() == Some(&run.name);
        state.findings.values().filter(here)
    }

    /// How long the runs that are left are likely to take, by the preflight's estimate; none before it is known.
    #[must_use]
    pub fn remaining(&self) -> Option<Span> {
        let left = |run: &RunState| {
            let needs = self.nodes.get(&run.node)?.survey.as_ref()?.needs.iter().find(|n| n.run == run.name)?;
            let passed = run.started.map_or(Span::ZERO, |s| self.node_now(&run.node).since(s));
            Some(if run.is_over() { 0 } else { needs.time.0.saturating_sub(passed.0) })
        };
        let beside = |a: &&RunState, b: &&RunState| a.together.is_some() && a.together == b.together;
        let by_node = |node: &NodeName| {
            let of_node: Vec<&RunState> = self.runs.iter().filter(|r| &r.node == node).collect();
            of_node.chunk_by(beside).try_fold(0_u64, |sum, group| {
                let longest = group.iter().map(|run| left(run)).collect::<Option<Vec<u64>>>()?.into_iter().max();
                Some(sum.saturating_add(longest.unwrap_or(0)))
            })
        };
        self.nodes.keys().map(by_node).collect::<Option<Vec<u64>>>()?.into_iter().max().map(Span)
    }
}

/// How far one moment is ahead of another, in microseconds; as far as can be told where clocks are out of all reason.
fn difference(ahead: Moment, of: Moment) -> i64 {
    let ahead = i128::from(ahead.0) - i128::from(of.0);
    i64::try_from(ahead).unwrap_or(if ahead < 0 { i64::MIN } else { i64::MAX })
}
