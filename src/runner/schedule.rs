//! Which run comes next on which node, and what is to be done when an agent is gone.

use std::time::Duration;

use tokio::time::Instant;

use super::launch::{Agent, NodeSpec};
use crate::vocab::moment::Span;
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
    next: usize,
    under_way: bool,
    /// When the agent itself is given up, since it has not ended the run that it should have.
    give_up_at: Option<Instant>,
    over: bool,
    survey: Option<Survey>,
}

impl Course {
    /// A node at the beginning of the plan.
    pub(super) fn new(spec: NodeSpec) -> Self {
        Self {
            spec,
            agent: None,
            started: 0,
            refused: false,
            next: 0,
            under_way: false,
            give_up_at: None,
            over: false,
            survey: None,
        }
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

    /// Starts the next run; the node is over when there is none, or when the session is stopping.
    pub(super) fn advance(&mut self, plan: &Plan, stopping: bool) {
        self.under_way = false;
        self.give_up_at = None;
        match plan.runs.get(self.next) {
            Some(run) if !stopping => {
                let deadline = self.deadline(run);
                self.give_up_at = Instant::now().checked_add(Duration::from(deadline) + AGENT_GRACE);
                self.order(AgentOrder::Start { run: run.clone(), deadline });
                self.next += 1;
                self.under_way = true;
            }
            _ => self.over = true,
        }
    }

    fn deadline(&self, run: &Run) -> Span {
        let expected = self
            .survey
            .as_ref()
            .and_then(|s| s.needs.iter().find(|n| n.run == run.name))
            .map_or(Span::ZERO, |n| n.time);
        run.deadline.unwrap_or(Span(expected.0.saturating_mul(TIMES_EXPECTED).saturating_add(GRACE.0)))
    }

    /// The session is to end: the run under way is stopped, and no other begins.
    pub(super) fn stop(&mut self) {
        if self.under_way {
            self.order(AgentOrder::Stop);
        } else {
            self.over = true;
        }
    }

    /// Whether the agent has let the deadline of its run go by: it is stopped, or hangs itself.
    pub(super) fn is_overdue(&self) -> bool {
        self.agent.is_some() && self.give_up_at.is_some_and(|at| at <= Instant::now())
    }

    /// The agent is gone. Whether it is to be started again: once, on the runner's own machine, while runs are left.
    pub(super) fn lose_agent(&mut self, plan: &Plan, stopping: bool) -> bool {
        self.agent = None;
        self.give_up_at = None;
        self.under_way = false;
        let again = self.spec.local && !self.refused && self.started < 2 && self.next < plan.runs.len() && !stopping;
        self.over = !again;
        again
    }
}
