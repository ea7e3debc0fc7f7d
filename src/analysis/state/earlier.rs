//! The session that another one amends: folded by itself, and taken over where nothing is repeated.

use super::{RunState, State, Status};
use crate::vocab::event::Record;
use crate::vocab::name::{NodeName, RunName};

/// A run that was begun, and the session in which it was.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The session.
    pub state: &'a State,
    /// The run in it.
    pub run: &'a RunState,
}

impl State {
    /// The amended session, to take in a record of it: that record, with the number of the one of this session that holds it, so that
    /// evidence is found in this session's file.
    pub(in crate::analysis) fn before(&mut self, record: &Record, inner: &Record) -> (&mut Self, Record) {
        self.hear(record);
        let earlier = self.earlier.get_or_insert_default();
        earlier.number(inner);
        (earlier, Record { seq: record.seq, ..inner.clone() })
    }

    /// Takes over the runs that are not repeated, once the earlier session is known as a whole.
    pub(super) fn adopt(&mut self) {
        let amends = self.opening.as_ref().and_then(|opening| opening.amends.as_ref());
        let (false, Some(amends), Some(earlier)) = (self.adopted, amends, &mut self.earlier) else { return };
        self.adopted = true;
        earlier.adopt();
        for run in self.runs.iter_mut().filter(|run| !amends.only.contains(&run.name)) {
            if let Some(before) = earlier.run(&run.node, &run.name) {
                *run = before.adopted();
            }
        }
    }

    /// This session, and those that it amends, the latest first.
    pub fn sessions(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |state| state.earlier.as_deref())
    }

    /// Its name; empty before the first record.
    #[must_use]
    pub fn name(&self) -> &str {
        self.opening.as_ref().map_or("", |opening| &opening.session)
    }

    /// The session in which a run was done, and the run there.
    #[must_use]
    pub fn home<'a>(&'a self, run: &'a RunState) -> (&'a Self, &'a RunState) {
        if !run.earlier {
            return (self, run);
        }
        let before = self.earlier.as_deref();
        let there = before.and_then(|state| Some(state.home(state.run(&run.node, &run.name)?)));
        there.unwrap_or((self, run))
    }

    /// The attempts at a run, the first one first; the last one counts, even where it was never begun.
    #[must_use]
    pub fn attempts(&self, node: &NodeName, name: &RunName) -> Vec<Attempt<'_>> {
        let mut attempts = Vec::new();
        for state in self.sessions() {
            let own = state.run(node, name).filter(|run| !run.earlier);
            if let Some(run) = own.filter(|run| attempts.is_empty() || run.status != Status::Waiting) {
                attempts.push(Attempt { state, run });
            }
        }
        attempts.reverse();
        attempts
    }
}
