//! One run on one node: its phases, its meters as rates, its official figures, its end.

use std::collections::VecDeque;

use super::host::{CpuSeconds, Host};
use super::iteration::{IterationState, Mark};
use crate::analysis::series::Series;
use crate::analysis::signal::Steadiness;
use crate::vocab::disturbed::Taken;
use crate::vocab::event::{Event, MeterSpec, Outcome, Phase, Progress, Record, Start};
use crate::vocab::finding::{Finding, Kind};
use crate::vocab::latency::Buckets;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;
use crate::vocab::name::RunName;
use crate::vocab::plan::{Disk, Load, Run, Steady};
use crate::vocab::unit::Unit;

/// Readings kept of a meter as they came: a minute at ten a second.
const RECENT: usize = 600;

/// Readings closer together than this make no rate of their own: the clock's and the scheduler's jitter would be most of it.
const SHORTEST: Span = Span::milliseconds(20);

/// Phases kept of a run: those of its latest iterations. Of a run of days all of them, as the log would lose its place with each that is
/// forgotten.
const PHASES: usize = 100_000;

/// A worker says that it begins so much later than its agent starts the clock of its deadline, at most.
const EARLY: Span = Span::milliseconds(500);

/// Whether what was steady is so from here on anew.
fn disturbs(finding: &Finding) -> bool {
    matches!(finding.kind, Kind::Collapse | Kind::Step | Kind::Stall) && finding.closed.is_none()
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// Not begun.
    Waiting,
    /// Under way.
    Running,
    /// Over.
    Ended(Outcome),
}

/// A meter of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterState {
    /// What it counts.
    pub spec: MeterSpec,
    /// Its rate in the spec's unit, in the phases that load the node.
    pub rate: Series,
    /// Things counted since the start of the run.
    pub total: u64,
}

/// A run on a node.
#[derive(Clone, Debug, PartialEq)]
pub struct RunState {
    /// Its name.
    pub name: RunName,
    /// Its node.
    pub node: NodeName,
    /// What it runs.
    pub load: Load,
    /// The word that it shares with the runs that go on at the same time.
    pub together: Option<String>,
    /// How many iterations were asked for: with [`RunState::until_steady`] at most, with [`RunState::lasting`] at least.
    pub iterations: u32,
    /// For how long iterations are begun.
    pub lasting: Option<Span>,
    /// The rule that ends its iterations early.
    pub until_steady: Option<Steady>,
    /// How many disturbed iterations are done again.
    pub repeat_disturbed: u32,
    /// Where it stands.
    pub status: Status,
    /// What the worker said when it took the run up.
    pub start: Option<Start>,
    /// When it began, on the node's clock.
    pub started: Option<Moment>,
    /// When it ended.
    pub ended: Option<Moment>,
    /// The record of its end.
    pub ended_seq: Option<u64>,
    /// The iteration under way, from 1.
    pub iteration: u32,
    /// What is being done, and since when.
    pub phase: Option<(Phase, Moment)>,
    /// The latest phases in order: the iteration, what was done, and since when.
    pub phases: VecDeque<(u32, Phase, Moment)>,
    /// Its meters, the one on the chart first.
    pub meters: Vec<MeterState>,
    /// The latest reading.
    pub progress: Option<(Moment, Progress)>,
    /// Latencies up to the latest reading that had them.
    pub latency: Buckets,
    /// The iterations that have given their figures.
    pub done: Vec<IterationState>,
    /// It is not done in this session, and stands as the one that is amended left it; its times are on the clocks of then.
    pub earlier: bool,
    base: Option<(Moment, Vec<u64>)>,
    cpu: Option<(CpuSeconds, CpuSeconds)>,
    cpu_settled: bool,
    steadiness: Steadiness,
    mark: Mark,
}

impl RunState {
    /// A run that waits.
    #[must_use]
    pub fn new(run: &Run, node: &NodeName) -> Self {
        Self {
            name: run.name.clone(),
            node: node.clone(),
            load: run.kernel.clone(),
            together: run.together.clone(),
            iterations: run.iterations,
            lasting: run.lasting,
            until_steady: run.until_steady,
            repeat_disturbed: run.repeat_disturbed,
            status: Status::Waiting,
            start: None,
            started: None,
            ended: None,
            ended_seq: None,
            iteration: 0,
            phase: None,
            phases: VecDeque::new(),
            meters: Vec::new(),
            progress: None,
            latency: Buckets::default(),
            done: Vec::new(),
            earlier: false,
            base: None,
            cpu: None,
            cpu_settled: false,
            steadiness: Steadiness::default(),
            mark: Mark::default(),
        }
    }

    /// Takes in a record of the run's node, whose counters stand like this.
    pub(super) fn apply(&mut self, record: &Record, host: &Host) {
        if self.earlier {
            return;
        }
        match &record.event {
            Event::RunStarted(start) if start.run == self.name => self.begin(start, record.at),
            Event::Phase { run, iteration, phase } if *run == self.name => {
                if self.iteration != *iteration {
                    self.mark = Mark::set(host, record.at);
                }
                self.iteration = *iteration;
                self.phase = Some((*phase, record.at));
                if self.phases.len() == PHASES {
                    self.phases.pop_front();
                }
                self.phases.push_back((*iteration, *phase, record.at));
                self.base = self.progress.as_ref().map(|(at, progress)| (*at, progress.done.clone()));
            }
            Event::Progress(progress) if progress.run == self.name => self.progress(record.at, progress),
            Event::IterationEnded { run, iteration, figures, .. } if *run == self.name => {
                let (number, figures) = (*iteration, figures.clone());
                let mut node = self.mark.until(host, record.at);
                node.taken = node.taken.beside(self.together.is_some());
                self.done.push(IterationState { number, ended: record.at, figures, seq: record.seq, node });
            }
            Event::Found(finding) if finding.run.as_ref() == Some(&self.name) && disturbs(finding) => {
                self.steadiness.clear();
            }
            Event::RunEnded { run, outcome } if *run == self.name => self.end(outcome.clone(), record),
            Event::NodeLost { why } if self.status == Status::Running => {
                self.end(Outcome::Broken(format!("the node's agent is gone: {why}")), record);
            }
            _ => {}
        }
    }

    fn begin(&mut self, start: &Start, at: Moment) {
        let meter = |spec: &MeterSpec| MeterState {
            spec: spec.clone(),
            rate: Series::new(RECENT, Span::milliseconds(100)),
            total: 0,
        };
        self.meters = start.meters.iter().map(meter).collect();
        self.start = Some(start.clone());
        self.started = Some(at);
        self.status = Status::Running;
        self.progress = None;
        self.base = None;
    }

    fn end(&mut self, outcome: Outcome, record: &Record) {
        self.status = Status::Ended(outcome);
        self.ended = Some(record.at);
        self.ended_seq = Some(record.seq);
    }

    fn progress(&mut self, at: Moment, progress: &Progress) {
        match &self.base {
            Some((before, done)) if at.since(*before) >= SHORTEST => {
                let seconds = at.since(*before).as_seconds();
                if matches!(self.phase, Some((phase, _)) if phase.loads()) {
                    let mut rates = done.iter().zip(&progress.done).map(|(a, b)| b.saturating_sub(*a) as f64 / seconds);
                    for (meter, rate) in self.meters.iter_mut().zip(&mut rates) {
                        meter.rate.push(at, rate / meter.spec.unit.things());
                    }
                    self.settle(at);
                }
                self.base = Some((at, progress.done.clone()));
            }
            Some(_) => {}
            None => self.base = Some((at, progress.done.clone())),
        }
        for (meter, done) in self.meters.iter_mut().zip(&progress.done) {
            meter.total = *done;
        }
        if let Some(latency) = &progress.latency {
            self.latency = latency.clone();
        }
        self.progress = Some((at, progress.clone()));
    }

    /// The level of the chart's meter, where a healthy run keeps it level.
    fn settle(&mut self, at: Moment) {
        let measured = matches!(self.phase, Some((Phase::Measure, _)));
        let level = self.meters.first().filter(|m| m.spec.level && measured).and_then(|m| m.rate.last());
        if let Some(level) = level {
            self.steadiness.push(at, level.value);
        }
    }

    /// Since when the rate on the chart is steady (SNIA's five windows, at least 25 s); none when it is not, or has ended.
    #[must_use]
    pub fn steady_since(&self) -> Option<Moment> {
        self.steadiness.since().filter(|_| !self.is_over())
    }

    /// Takes in the node's CPU time; the first reading after the end is the last that counts.
    pub(super) fn sampled(&mut self, now: CpuSeconds) {
        if self.started.is_none() || self.cpu_settled {
            return;
        }
        let first = self.cpu.map_or(now, |(first, _)| first);
        self.cpu = Some((first, now));
        self.cpu_settled = self.is_over();
    }

    /// The block device below the run's files, by its kernel name.
    #[must_use]
    pub fn device(&self) -> Option<&str> {
        self.start.as_ref()?.labels.get("device").map(String::as_str)
    }

    /// Why it counts as stuck: at its deadline, or deaf to a stop that was asked for before.
    #[must_use]
    pub fn stuck(&self) -> String {
        let lasted = self.started.zip(self.ended).map_or(Span::ZERO, |(from, to)| to.since(from));
        match self.start.as_ref().map(|start| start.deadline) {
            Some(deadline) if lasted.0.saturating_add(EARLY.0) >= deadline.0 => {
                format!("it had not ended at its deadline of {deadline}, and was killed")
            }
            Some(_) => "it did not heed a stop within 2 s, and was killed".to_owned(),
            None => "it said nothing, neither at its beginning nor at its end, and was killed".to_owned(),
        }
    }

    /// The disk load as it was really done: through the page cache where the plan allowed that and direct access was refused, and with
    /// the size that a multiple came to. None for other loads.
    #[must_use]
    pub fn disk(&self) -> Option<Disk> {
        let Load::Disk(load) = &self.load else { return None };
        let label = |name: &str| self.start.as_ref()?.labels.get(name);
        let mut load = load.clone();
        if label("path").is_some_and(|path| path.starts_with("buffered")) {
            load.direct = Some(false);
        }
        if let (Some(_), Some(size)) = (load.size.times(), label("size").and_then(|size| size.parse().ok())) {
            load.size = size;
        }
        Some(load)
    }

    /// So many of its iterations, with the number of all where that is known: `3/20`.
    #[must_use]
    pub fn counted(&self, iterations: usize) -> String {
        if self.lasting.is_some() { iterations.to_string() } else { format!("{iterations}/{}", self.iterations) }
    }

    /// The same run in a session that amends this one and does not repeat it.
    pub(super) fn adopted(&self) -> Self {
        let status = match &self.status {
            Status::Running => {
                Status::Ended(Outcome::Broken("its session's record ends while it was running".to_owned()))
            }
            other => other.clone(),
        };
        Self { status, earlier: true, cpu_settled: true, ..self.clone() }
    }

    /// Whether it is under way.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self.status, Status::Running)
    }

    /// Whether nothing more comes of it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.earlier || matches!(self.status, Status::Ended(_))
    }

    /// The values of a figure over the iterations, with the records that hold them.
    ///
    /// `steal_percent` is derived: the share of the node's CPU time that the hypervisor gave to others while the run went on. Of a run
    /// that goes on until it is steady, the figures are those of the rounds by which that is seen; of one that repeats what others
    /// disturbed, those of the undisturbed iterations, once there are as many as were asked for.
    #[must_use]
    pub fn figure(&self, name: &str) -> Vec<(f64, Unit, u64)> {
        if name == "steal_percent" {
            return self.steal_percent().map(|p| (p, Unit::Percent, self.ended_seq.unwrap_or(0))).into_iter().collect();
        }
        let value = |i: &IterationState| i.figures.iter().find(|f| f.name == name).map(|f| (f.value, f.unit, i.seq));
        let rounds = self.until_steady.map_or(self.done.len(), |rule| rule.rounds as usize);
        let from = self.done.len().saturating_sub(rounds);
        let counted = self.done.iter().skip(from);
        let whole = |i: &&IterationState| i.node.taken.disturbs().is_none();
        let replaced = self.until_steady.is_none()
            && self.repeat_disturbed > 0
            && self.done.iter().filter(whole).count() >= self.iterations as usize;
        counted.filter(|i| !replaced || whole(i)).filter_map(value).collect()
    }

    /// The records of the iterations that others disturbed.
    pub fn disturbed_records(&self) -> impl Iterator<Item = u64> {
        self.done.iter().filter(|i| i.node.taken.disturbs().is_some()).map(|i| i.seq)
    }

    /// Whether a figure is steady over the last iterations, by the rule of the run or else by that of SNIA's test specification, and why
    /// or why not.
    ///
    /// # Errors
    /// Why it is not.
    pub fn is_steady(&self, figure: &str) -> Result<String, String> {
        let value = |i: &IterationState| i.figures.iter().find(|f| f.name == figure).map(|f| f.value);
        self.until_steady.unwrap_or_default().look(&self.done.iter().filter_map(value).collect::<Vec<_>>())
    }

    /// How many iterations others disturbed, and how much at worst: `2 of 20 iterations disturbed: steal 7 %`; none when none was.
    #[must_use]
    pub fn disturbed(&self) -> Option<String> {
        let disturbed: Vec<_> = self.done.iter().filter(|i| i.node.taken.disturbs().is_some()).collect();
        let most = |of: fn(&Taken) -> Option<f64>| disturbed.iter().filter_map(|i| of(&i.node.taken)).reduce(f64::max);
        let worst =
            Taken { steal_percent: most(|t| t.steal_percent), throttled_percent: most(|t| t.throttled_percent) };
        let (count, all) = (disturbed.len(), self.done.len());
        worst.disturbs().map(|why| format!("{count} of {all} iterations disturbed: {why}"))
    }

    /// Whether a run that goes on until it is steady has become so, and why or why not; none for other runs.
    #[must_use]
    pub fn steadiness(&self) -> Option<Result<String, String>> {
        self.until_steady?;
        let main = self.main_figure().map(|(main, _)| main);
        Some(main.ok_or_else(|| "nothing was measured".to_owned()).and_then(|main| self.is_steady(main)))
    }

    /// The name and unit of the official figure that the chart's meter, the first one, stands for.
    #[must_use]
    pub fn main_figure(&self) -> Option<(&str, Unit)> {
        self.meters.first().map(|m| (m.spec.figure.as_ref().unwrap_or(&m.spec.name).as_str(), m.spec.unit))
    }

    /// The share of CPU time stolen during the run; none without two readings.
    #[must_use]
    pub fn steal_percent(&self) -> Option<f64> {
        let (first, last) = self.cpu?;
        let all = last.all - first.all;
        (all > 0.0).then(|| 100.0 * (last.steal - first.steal).max(0.0) / all)
    }
}
