//! Everything that a session said, in the order of its time: where it stands in the state. A session of days says tens of thousands of
//! things, of which a screen shows a few.

use std::cell::OnceCell;

use crate::analysis::state::{State, Status};
use crate::vocab::moment::Moment;
use crate::vocab::name::NodeName;

/// Where a thing that was said stands in the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Opening,
    /// The beginning of the run of this place.
    Begins(usize),
    /// An iteration of a run, both by their places.
    Iteration(usize, usize),
    /// A phase of a run, both by their places.
    Phase(usize, usize),
    Outcome(usize),
    /// A finding, by its number, and the place of its run.
    Found(u32, Option<usize>),
    Remark(usize),
    Lost(NodeName),
    Verdict,
}

/// As often as any of these changes, there is something new.
type Mark = [u64; 9];

/// What was said, each with its time on the runner's clock. It is put in order when somebody looks at it and something is new.
#[derive(Clone, Debug, Default)]
pub(super) struct Chronicle {
    mark: Option<Mark>,
    said: OnceCell<Vec<(Moment, Said)>>,
}

impl Chronicle {
    /// Forgets the order when something new was said.
    pub(super) fn look(&mut self, state: &State) {
        let mark = Some(mark(state));
        if self.mark != mark {
            *self = Self { mark, said: OnceCell::new() };
        }
    }

    /// All of it, of the state that was looked at last.
    pub(super) fn of(&self, state: &State) -> &[(Moment, Said)] {
        self.said.get_or_init(|| in_order(state))
    }
}

fn mark(state: &State) -> Mark {
    let runs = &state.runs;
    let latest = runs.iter().filter_map(|run| run.phases.back());
    [
        state.opening.as_ref().map_or(0, |_| 1 + state.opened.0),
        runs.iter().map(|run| run.done.len() as u64).sum(),
        // Old phases are forgotten as new ones come, and there are as many as before.
        latest.fold(0, |sum: u64, (.., at)| sum.wrapping_add(at.0)),
        runs.iter().map(|run| u64::from(run.start.is_some()) + u64::from(run.is_over())).sum(),
        state.findings.len() as u64,
        state.remarks.len() as u64,
        state.remarks.last().map_or(0, |remark| remark.at.0),
        state.nodes.values().filter(|node| node.lost.is_some()).count() as u64,
        u64::from(state.verdict.is_some()),
    ]
}

fn in_order(state: &State) -> Vec<(Moment, Said)> {
    let mut said: Vec<_> = state.opening.iter().map(|_| (state.opened, Said::Opening)).collect();
    for place in 0..state.runs.len() {
        of_run(state, place, &mut said);
    }
    said.extend(state.findings.values().filter_map(|f| {
        let node = state.found_on.get(&f.id)?;
        let run = state.runs.iter().position(|r| r.node == *node && Some(&r.name) == f.run.as_ref());
        Some((state.to_runner(node, f.said), Said::Found(f.id, run)))
    }));
    said.extend(state.remarks.iter().enumerate().map(|(place, remark)| {
        let at = if remark.node.is_runner() { remark.at } else { state.to_runner(&remark.node, remark.at) };
        (at, Said::Remark(place))
    }));
    said.sort_by_key(|(at, _)| *at);
    let lost = state.nodes.iter().filter(|(_, node)| node.lost.is_some());
    said.extend(lost.map(|(name, _)| (state.now, Said::Lost(name.clone()))));
    said.extend(state.verdict.iter().map(|_| (state.now, Said::Verdict)));
    said
}

/// The beginning, the phases, the iterations and the end of a run.
fn of_run(state: &State, place: usize, said: &mut Vec<(Moment, Said)>) {
    let run = &state.runs[place];
    let at = |at: Moment| state.to_runner(&run.node, at);
    said.extend(run.started.filter(|_| run.start.is_some()).map(|begun| (at(begun), Said::Begins(place))));
    let iterations = run.done.iter().enumerate();
    said.extend(iterations.map(|(i, iteration)| (at(iteration.ended), Said::Iteration(place, i))));
    // At one time an iteration ends before the next phase begins.
    said.extend(run.phases.iter().enumerate().map(|(i, (.., since))| (at(*since), Said::Phase(place, i))));
    if let (Some(ended), Status::Ended(_)) = (run.ended, &run.status) {
        said.push((at(ended), Said::Outcome(place)));
    }
}
