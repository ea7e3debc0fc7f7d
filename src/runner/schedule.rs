//! Which runs come next on which node, and what is to be done when an agent is gone.

use std::time::Duration;

use tokio::time::Instant;

use super::launch::{Agent, NodeSpec};
use crate::vocab::moment::Span;
use crate::vocab::name::RunName;
use crate::vocab::order::AgentOrder;
use crate::vocab::plan::{Plan, Run};
use crate::vocab::survey::Survey;

/// A run may take so many times its expected length …
const TIMES_EXPECTED: u64 = 3;
/// … and this much more, before it is Stuck.
const GRACE: Span = Span::seconds(60);
/// An agent ends a run at its deadline; one that has not done so this much later does not answer.
const AGENT_GRACE: Duration = Duration::from_secs(5);

/// A node's way through the plan.
#[derive(Debug)]
pub(super) struct Course {
    /// The node.
    pub(super) spec: NodeSpec,
    /// Its agent; none when it could not be started, or is gone for good.
    pub(super) agent: Option<Agent>,
    /// Agents started so far.
    pub(super) started: u32,
    /// Whether the agent itself has said that it will not work.
    pub(super) refused: bool,
    turns: Turns,
    over: bool,
    survey: Option<Survey>,
}

/// Which runs are under way, and where in the plan the next ones stand.
#[derive(Debug, Default)]
struct Turns {
    next: usize,
    /// Each with the time at which the agent itself is given up, since it has not ended the run that it should have.
    under_way: Vec<(RunName, Option<Instant>)>,
}

impl Turns {
    /// The runs that begin now, at the same time; none while others are under way, and at the end of the plan.
    fn begin<'p>(&mut self, plan: &'p Plan, give_up_at: impl Fn(&Run) -> Option<Instant>) -> &'p [Run] {
        let next = plan.runs.get(self.next).filter(|_| self.under_way.is_empty());
        let runs = next.map_or(&[][..], |run| plan.group_of(&run.name));
        self.next += runs.len();
        self.under_way.extend(runs.iter().map(|run| (run.name.clone(), give_up_at(run))));
        runs
    }

    /// A run is over.
    fn end(&mut self, run: &RunName) {
        self.under_way.retain(|(name, _)| name != run);
    }

    fn are_left(&self, plan: &Plan) -> bool {
        self.next < plan.runs.len()
    }
}

impl Course {
    /// A node at the beginning of the plan.
    pub(super) fn new(spec: NodeSpec) -> Self {
        Self { spec, agent: None, started: 0, refused: false, turns: Turns::default(), over: false, survey: None }
    }

    /// Whether nothing more will happen on this node.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Gives an order to the agent, if there is one.
    pub(super) fn order(&self, order: AgentOrder) {
        if let Some(agent) = &self.agent {
            agent.order(order);
        }
    }

    /// The node has been surveyed: it is held where runs load it, watched, and the first of the runs that are left begins.
    pub(super) fn begin(&mut self, survey: &Survey, plan: &Plan, stopping: bool) {
        if survey.needs.iter().any(|n| n.loads) {
            // A device is held by the kernel itself, for who opens it to write.
            let directories = survey.targets.iter().filter(|t| t.raw.is_none()).map(|t| t.path.clone());
            self.order(AgentOrder::Hold(directories.collect()));
        }
        self.order(AgentOrder::Watch);
        self.survey = Some(survey.clone());
        self.advance(plan, stopping);
    }

    /// A run is over; the next ones begin when no other goes on beside it.
    pub(super) fn end(&mut self, run: &RunName, plan: &Plan, stopping: bool) {
        self.turns.end(run);
        self.advance(plan, stopping);
    }

    /// Starts the next runs, if none is under way; the node is over when there are none, or when the session is stopping.
    fn advance(&mut self, plan: &Plan, stopping: bool) {
        if !self.turns.under_way.is_empty() {
            return;
        }
        if stopping || !self.turns.are_left(plan) {
            self.over = true;
            return;
        }
        let mut turns = std::mem::take(&mut self.turns);
        let give_up_at = |run: &Run| Instant::now().checked_add(Duration::from(self.deadline(run)) + AGENT_GRACE);
        for run in turns.begin(plan, give_up_at) {
            self.order(AgentOrder::Start { run: run.clone(), deadline: self.deadline(run) });
        }
        self.turns = turns;
    }

    fn deadline(&self, run: &Run) -> Span {
        let expected = self
            .survey
            .as_ref()
            .and_then(|s| s.needs.iter().find(|n| n.run == run.name))
            .map_or(Span::ZERO, |n| n.time);
        run.deadline.unwrap_or(Span(expected.0.saturating_mul(TIMES_EXPECTED).saturating_add(GRACE.0)))
    }

    /// The session is to end: the runs under way are stopped, and no other begins.
    pub(super) fn stop(&mut self) {
        if self.turns.under_way.is_empty() {
            self.over = true;
        } else {
            self.order(AgentOrder::Stop);
        }
    }

    /// Whether the agent has let the deadline of a run go by: it is stopped, or hangs itself.
    pub(super) fn is_overdue(&self) -> bool {
        let passed = |at: Option<Instant>| at.is_some_and(|at| at <= Instant::now());
        self.agent.is_some() && self.turns.under_way.iter().any(|(_, give_up_at)| passed(*give_up_at))
    }

    /// The agent is gone. Whether it is to be started again: once, on the runner's own machine, while runs are left.
    pub(super) fn lose_agent(&mut self, plan: &Plan, stopping: bool) -> bool {
        self.agent = None;
        self.turns.under_way.clear();
        let left = self.turns.are_left(plan) && !stopping;
        let again = self.spec.local && !self.refused && self.started < 2 && left;
        self.over = !again;
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::plan::{Integer, Load};

    fn plan(words: &[(&str, Option<&str>)]) -> Plan {
        let run = |(name, together): &(&str, Option<&str>)| Run {
            together: together.map(str::to_owned),
            ..Run::new(name, Load::Integer(Integer::default()))
        };
        let runs = words.iter().map(run).collect();
        Plan { runs, ..serde_json::from_str(r#"{"title":"t","runs":[]}"#).unwrap() }
    }

    fn begun(turns: &mut Turns, plan: &Plan) -> Vec<String> {
        turns.begin(plan, |_| None).iter().map(|run| run.name.to_string()).collect()
    }

    #[test]
    fn runs_with_one_word_begin_together_and_what_follows_waits_for_all_of_them() {
        let plan = plan(&[("a", None), ("b", Some("load")), ("c", Some("load")), ("d", Some("more")), ("e", None)]);
        let mut turns = Turns::default();
        assert_eq!(begun(&mut turns, &plan), ["a"]);
        assert!(begun(&mut turns, &plan).is_empty(), "it is under way");
        turns.end(&"a".into());
        assert_eq!(begun(&mut turns, &plan), ["b", "c"]);
        turns.end(&"c".into());
        turns.end(&"c".into());
        assert!(begun(&mut turns, &plan).is_empty(), "b goes on");
        turns.end(&"b".into());
        assert_eq!(begun(&mut turns, &plan), ["d"]);
        turns.end(&"d".into());
        assert!(turns.are_left(&plan));
        assert_eq!(begun(&mut turns, &plan), ["e"]);
        turns.end(&"e".into());
        assert!(begun(&mut turns, &plan).is_empty() && !turns.are_left(&plan));
    }

    #[test]
    fn runs_without_a_word_never_begin_together() {
        let plan = plan(&[("a", None), ("b", None)]);
        let mut turns = Turns::default();
        assert_eq!(begun(&mut turns, &plan), ["a"]);
        turns.end(&"a".into());
        assert_eq!(begun(&mut turns, &plan), ["b"]);
    }

    #[test]
    fn a_course_is_over_when_its_last_run_is_and_a_stop_waits_for_those_under_way() {
        let plan = plan(&[("a", Some("load")), ("b", Some("load")), ("c", None)]);
        let mut course = Course::new(NodeSpec::local("n", "x", None));
        course.advance(&plan, false);
        assert_eq!(course.turns.under_way.len(), 2);
        course.stop();
        course.end(&"a".into(), &plan, true);
        assert!(!course.is_over(), "b has not ended");
        course.end(&"b".into(), &plan, true);
        assert!(course.is_over() && course.turns.are_left(&plan));
    }
}
