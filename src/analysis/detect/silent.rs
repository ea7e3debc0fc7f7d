//! SILENT: nothing is heard from a node's agent, or from a run's worker while its agent goes on. Says nothing about the devices:
//! they may be fine. A runner that was itself stopped hears nobody, and that is told as what it is.

use std::collections::HashMap;

use super::{Change, Detector};
use crate::analysis::state::{RunState, State};
use crate::vocab::event::{Event, Record};
use crate::vocab::finding::{Cause, Finding, Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::{NodeName, RunName};

/// An agent speaks at least once a second, a worker ten times; three missed words of the slower are a silence.
const SILENCE: Span = Span::seconds(3);
/// The runner's clock ticks ten times a second; one that comes so late tells that the runner did not run.
const STOPPED: Span = SILENCE;
/// The agent reads its node once a second: with readings further apart than this it was held up itself, and proves nothing about
/// a worker.
const STEADY: Span = Span::milliseconds(1_500);

/// Watches every node that has a run under way, every worker, and the runner's own clock.
#[derive(Default)]
pub(super) struct Silent {
    agents: HashMap<NodeName, Finding>,
    /// Those at work on each node.
    workers: HashMap<NodeName, Vec<Worker>>,
    /// Of each agent the latest reading, and since when they have come without a gap.
    steady: HashMap<NodeName, (Moment, Moment)>,
    /// The runner's latest tick.
    ticked: Option<Moment>,
    /// When the runner went on after a stop.
    resumed: Moment,
}

struct Worker {
    run: RunName,
    spoke: Moment,
    open: Option<Finding>,
}

impl Detector for Silent {
    fn observe(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        if let Some(mut finding) = self.agents.remove(&record.node) {
            finding.closed = Some(record.at);
            finding.sentence.push_str(&format!("; heard again after {}", record.at.since(finding.onset)));
            out.push(Change { node: record.node.clone(), key: String::new(), was: None, finding });
        }
        match &record.event {
            Event::Tick => {
                self.tick(record, out);
                self.agents(state, out);
            }
            Event::Sampled { .. } => self.reading(record, state, out),
            Event::NodeLost { .. } => self.spoke(record, None, out),
            event => {
                if let Some(run) = event.run() {
                    self.spoke(record, Some(run), out);
                }
            }
        }
    }
}

impl Silent {
    /// Tells a stop of the runner from silences of the agents.
    fn tick(&mut self, record: &Record, out: &mut Vec<Change>) {
        let Some(before) = self.ticked.replace(record.at) else { return };
        let stopped = record.at.since(before);
        if stopped < STOPPED {
            return;
        }
        self.resumed = record.at;
        let mut finding = Finding::new(Kind::Silent, Severity::Info, before, record.at);
        finding.closed = Some(record.at);
        finding.sentence = format!(
            "SILENT: the runner was stopped for {stopped}; what the nodes did meanwhile is as they read it, and no silence of theirs"
        );
        finding.causes = vec![Cause {
            what: "the runner's process or its whole machine stood still".to_owned(),
            proof: None,
            check: "SIGSTOP, suspend, a pause of the virtual machine".to_owned(),
        }];
        out.push(Change { node: record.node.clone(), key: "runner".to_owned(), was: None, finding });
    }

    fn agents(&mut self, state: &State, out: &mut Vec<Change>) {
        for run in state.running() {
            let Some(node) = state.nodes.get(&run.node).filter(|n| n.lost.is_none()) else { continue };
            let silent = state.now.since(node.heard.max(self.resumed)) >= SILENCE;
            if !silent || self.agents.contains_key(&run.node) {
                continue;
            }
            let (onset, said) = (state.to_node(&run.node, node.heard), state.node_now(&run.node));
            let mut finding = of_run(run, onset, said);
            finding.sentence = format!(
                "SILENT: no word from the agent of {} for {}; its devices may be fine",
                run.node,
                said.since(onset)
            );
            self.agents.insert(run.node.clone(), finding.clone());
            out.push(Change { node: run.node.clone(), key: String::new(), was: None, finding });
        }
    }

    /// The agent goes on: does its worker?
    fn reading(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        let (latest, since) = self.steady.entry(record.node.clone()).or_insert((record.at, record.at));
        if record.at.since(*latest) > STEADY || record.at < *latest {
            *since = record.at;
        }
        *latest = record.at;
        let since = *since;
        for worker in self.workers.get_mut(&record.node).into_iter().flatten().filter(|w| w.open.is_none()) {
            let Some(run) = state.run(&record.node, &worker.run).filter(|run| !run.is_over()) else { continue };
            if record.at.since(worker.spoke.max(since)) < SILENCE {
                continue;
            }
            let finding = silence(worker, run, record.at);
            worker.open = Some(finding.clone());
            out.push(change_of_worker(&record.node, &worker.run, finding));
        }
    }

    /// A worker has spoken, or all are gone with their node.
    fn spoke(&mut self, record: &Record, run: Option<&RunName>, out: &mut Vec<Change>) {
        let workers = self.workers.entry(record.node.clone()).or_default();
        for worker in workers.iter_mut().filter(|w| run.is_none_or(|run| w.run == *run)) {
            let Some(mut finding) = worker.open.take() else { continue };
            let how = if run.is_some() { "heard again" } else { "then its agent was gone" };
            finding.closed = Some(record.at);
            finding.sentence.push_str(&format!("; {how} after {}", record.at.since(finding.onset)));
            out.push(change_of_worker(&record.node, &worker.run, finding));
        }
        workers.retain(|w| run.is_some_and(|run| w.run != *run));
        if let Some(run) = run.filter(|_| !matches!(record.event, Event::RunEnded { .. })) {
            workers.push(Worker { run: run.clone(), spoke: record.at, open: None });
        }
    }
}

fn silence(worker: &Worker, run: &RunState, at: Moment) -> Finding {
    let mut finding = of_run(run, worker.spoke, at);
    finding.sentence = format!(
        "SILENT: no word from the worker of {} for {}, while the agent of {} goes on: it is the worker that stands still and not \
         the device",
        run.name,
        at.since(worker.spoke),
        run.node
    );
    finding.causes = vec![Cause {
        what: "the worker's process was stopped, or gets no CPU".to_owned(),
        proof: None,
        check: "its state in ps (T is stopped), its control group's freezer and quota".to_owned(),
    }];
    finding
}

fn of_run(run: &RunState, onset: Moment, said: Moment) -> Finding {
    let mut finding = Finding::new(Kind::Silent, Severity::Warn, onset, said);
    (finding.run, finding.iteration) = (Some(run.name.clone()), run.iteration);
    finding
}

fn change_of_worker(node: &NodeName, run: &RunName, finding: Finding) -> Change {
    Change { node: node.clone(), key: format!("worker {run}"), was: None, finding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;
    use crate::vocab::event::{Outcome, Progress};

    #[test]
    fn three_seconds_without_a_word_are_a_silence_and_no_stall() {
        let told = Scenario::measuring(vec![]).work(100.0, 50).silence(31);
        let [finding] = told.found(Kind::Silent)[..] else { panic!("{:?}", told.found(Kind::Silent)) };
        assert_eq!((finding.kind, finding.closed), (Kind::Silent, None));
        assert!(finding.sentence.contains("from the agent of n"), "{}", finding.sentence);
        let heard = told.work(100.0, 1);
        assert!(heard.found(Kind::Silent)[0].closed.is_some());
    }

    #[test]
    fn its_twin_of_two_and_a_half_is_none() {
        assert!(Scenario::measuring(vec![]).work(100.0, 50).silence(25).work(100.0, 1).found(Kind::Silent).is_empty());
    }

    #[test]
    fn a_worker_that_stops_while_its_agent_goes_on_is_told_apart_from_the_device() {
        let told = Scenario::measuring(vec![]).agent_alone(10).work(100.0, 20).agent_alone(40);
        let [finding] = told.found(Kind::Silent)[..] else { panic!("{:?}", told.found(Kind::Silent)) };
        assert_eq!((finding.kind, finding.severity, finding.closed), (Kind::Silent, Severity::Warn, None));
        assert!(finding.sentence.contains("it is the worker"), "{}", finding.sentence);
        let told = told.work(100.0, 20);
        let [finding] = told.found(Kind::Silent)[..] else { panic!("{:?}", told.found(Kind::Silent)) };
        assert!(finding.closed.is_some(), "{finding:?}");
    }

    #[test]
    fn a_worker_that_stops_is_told_though_another_goes_on_beside_it() {
        let mut told = Scenario::measuring(vec![]).agent_alone(10).work(100.0, 20);
        for done in 0..40 {
            told = told.agent_alone(1);
            let (run, done) = ("s".into(), vec![done]);
            told.put(
                "n",
                Event::Progress(Progress { run, done, in_flight: 1, oldest: None, latency: None, prepared: None }),
            );
        }
        let [finding] = told.found(Kind::Silent)[..] else { panic!("{:?}", told.found(Kind::Silent)) };
        assert!(finding.run == Some("r".into()) && finding.sentence.contains("worker of r"), "{finding:?}");
    }

    #[test]
    fn its_twins_are_none_shorter_or_over_or_with_the_agent_held_up_too() {
        assert!(
            Scenario::measuring(vec![]).work(100.0, 20).agent_alone(25).work(100.0, 9).found(Kind::Silent).is_empty()
        );
        let over = Scenario::measuring(vec![]).work(100.0, 20).end(100.0, Outcome::Sound).agent_alone(60);
        assert!(over.found(Kind::Silent).is_empty(), "{:?}", over.found(Kind::Silent));
        // The whole node slept: the agent's reading comes first, and nothing is told of the worker.
        let slept = Scenario::measuring(vec![]).agent_alone(20).work(100.0, 20).pause(60).agent_alone(5).work(100.0, 9);
        assert!(
            slept.found(Kind::Silent).iter().all(|f| f.severity == Severity::Info),
            "{:?}",
            slept.found(Kind::Silent)
        );
    }

    #[test]
    fn a_stopped_runner_is_told_as_such_and_its_nodes_are_not_silent() {
        let told = Scenario::measuring(vec![]).silence(10).pause(60).silence(20).work(100.0, 1);
        let [finding] = told.found(Kind::Silent)[..] else { panic!("{:?}", told.found(Kind::Silent)) };
        assert_eq!((finding.kind, finding.severity, finding.closed.is_some()), (Kind::Silent, Severity::Info, true));
        assert!(finding.sentence.contains("the runner was stopped for 6.1 s"), "{}", finding.sentence);
    }

    #[test]
    fn its_twin_a_short_stop_is_nothing_and_a_silence_after_a_stop_is_one() {
        assert!(
            Scenario::measuring(vec![]).silence(10).pause(18).work(100.0, 1).silence(9).found(Kind::Silent).is_empty()
        );
        let told = Scenario::measuring(vec![]).silence(10).pause(60).silence(35);
        let severities: Vec<Severity> = told.found(Kind::Silent).iter().map(|f| f.severity).collect();
        assert_eq!(severities, [Severity::Info, Severity::Warn]);
    }
}
