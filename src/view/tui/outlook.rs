//! What is reckoned of a session and not only read from it: the verdict so far, and the comparison with its references. Reckoned anew
//! when something that it depends on has happened, and not at every frame.

use super::said::Chronicle;
use crate::analysis::compare::{Comparison, Machine, compare};
use crate::analysis::reference;
use crate::analysis::roof;
use crate::analysis::state::{RunState, State};
use crate::analysis::verdict::{SoFar, so_far};
use crate::view::format;
use crate::vocab::finding::Severity;
use crate::vocab::plan::Plan;
use crate::vocab::stat;

/// As often as any of these changes, there is something new to be reckoned.
type Mark = (u64, usize, usize, usize, u64, bool);

/// What is reckoned of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Outlook {
    mark: Option<Mark>,
    pub(super) so_far: SoFar,
    /// The session beside its references; none where the plan has none.
    pub(super) comparison: Option<Comparison>,
    /// What each run came to, in their order.
    pub(super) runs: Vec<Standing>,
    /// Whether any run has a share of a roof, or will have.
    pub(super) has_roofs: bool,
    /// References that cannot be compared with, and why.
    pub(super) missing: Vec<String>,
    /// Everything that was said, in order.
    pub(super) chronicle: Chronicle,
}

/// What a run came to, printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing {
    /// The median of its official main figure.
    pub(super) median: Option<String>,
    /// What share of its roof that is, of the nominal one where that is known: `82 % nom`.
    pub(super) share: Option<String>,
}

impl Standing {
    fn of(plan: &Plan, run: &RunState) -> Self {
        let median = run
            .main_figure()
            .and_then(|(name, unit)| stat::median(&values(run, name)).map(|median| format::quantity(median, unit)));
        let share = roof::bounded(run).filter(|_| run.is_over()).and_then(|(name, _)| {
            let mean = stat::mean(&values(run, name))?;
            let roof = roof::of_run(plan, run).pop()?;
            Some(format!("{:.0} % {}", 100.0 * mean / roof.value.value, &roof.basis.word()[..3]))
        });
        Self { median, share }
    }
}

fn values(run: &RunState, figure: &str) -> Vec<f64> {
    run.figure(figure).iter().map(|(value, ..)| *value).collect()
}

impl Outlook {
    /// Brings it up to a state.
    pub(super) fn look(&mut self, state: &State) {
        self.chronicle.look(state);
        let mark = mark(state);
        if self.mark == Some(mark) {
            return;
        }
        *self = Self { mark: Some(mark), chronicle: std::mem::take(&mut self.chronicle), ..Self::default() };
        let Some(opening) = &state.opening else { return };
        self.so_far = so_far(&opening.plan, state);
        self.runs = state.runs.iter().map(|run| Standing::of(&opening.plan, run)).collect();
        self.has_roofs = state.runs.iter().any(|run| !roof::of_run(&opening.plan, run).is_empty());
        let mut machines: Vec<Machine> = Vec::new();
        for name in opening.plan.references.keys() {
            match opening.plan.reference(name) {
                Ok(profile) => machines.push(machine(name, profile.into_owned(), Vec::new())),
                Err(why) => self.missing.push(why),
            }
        }
        if machines.is_empty() {
            return;
        }
        machines.extend(state.nodes.keys().map(|node| {
            let here = state.findings.values().filter(|f| state.found_on.get(&f.id) == Some(node));
            let found = here.filter(|f| f.severity >= Severity::Warn).map(|f| f.sentence.clone()).collect();
            machine(&node.to_string(), reference::profile(state, node), found)
        }));
        self.comparison = Some(compare(machines, false));
    }
}

fn machine(name: &str, profile: crate::vocab::reference::Profile, findings: Vec<String>) -> Machine {
    Machine { name: name.to_owned(), profile, findings }
}

fn mark(state: &State) -> Mark {
    // A run that starts says what its roofs are.
    let iterations = state.runs.iter().map(|run| run.done.len() + usize::from(run.start.is_some())).sum();
    let over = state.runs.iter().filter(|run| run.is_over()).count();
    let closed = state.findings.values().filter(|f| f.closed.is_some()).count();
    // Each saying of a finding that matters to a verdict makes it worse.
    let weight: u64 = state.findings.values().map(|f| 1 + f.severity as u64).sum();
    let opened = state.opening.as_ref().map_or(0, |o| 1 + o.session.len() as u64);
    (weight, iterations, over, closed + state.nodes.len(), opened + state.lost, state.verdict.is_some())
}
