//! The detectors: one file a kind of finding and one line of a registry. Pure folds over the records, so that live and replay
//! give the same findings. The arbiter numbers what they say.
//!
//! ```text
//! record ─┬─ live ── track (one a series) ── signal, rules: stall, collapse, step, drift, …   see rule/mod.rs
//!         └─ silent, hardware, conditions, generator, cached                                      see all()
//!                                  └─ Change ── arbiter ── Finding
//! ```
//!
//! Thresholds are constants at the head of each rule, with their reasons.

mod cached;
mod conditions;
mod generator;
mod hardware;
mod live;
mod register;
mod rule;
mod silent;
mod track;

pub(super) use live::{bare, explain};
pub(super) use register::Register;
pub use rule::About;
pub(super) use rule::Reading;
pub(super) use track::Track;

use super::state::{RunState, State};
use crate::vocab::event::{Event, Record};
use crate::vocab::finding::{Finding, Kind};
use crate::vocab::name::NodeName;

/// What a detector has to say: a finding without a number, as it stands now. The key tells one open finding of a detector
/// from another.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The node it is about.
    pub node: NodeName,
    /// Tells the findings of one detector apart while they are open.
    pub key: String,
    /// The kind under which it was open until now, when that is another.
    pub was: Option<Kind>,
    /// The finding; its `id` is given by the arbiter.
    pub finding: Finding,
}

impl Change {
    /// A finding of a run, which has one of a kind open at a time.
    fn of(run: &RunState, finding: Finding) -> Self {
        Self { node: run.node.clone(), key: run.name.to_string(), was: None, finding }
    }
}

/// A detector of one kind of finding.
pub trait Detector: Send {
    /// Takes in one record, after the state has; says what is new, changed or over.
    fn observe(&mut self, record: &Record, state: &State, out: &mut Vec<Change>);
}

/// Every detector there is.
#[must_use]
pub fn all() -> Vec<Box<dyn Detector>> {
    vec![
        Box::<live::Live>::default(),
        Box::<silent::Silent>::default(),
        Box::<hardware::Hardware>::default(),
        Box::<conditions::Settings>::default(),
        Box::<generator::Generator>::default(),
        Box::<cached::Cached>::default(),
    ]
}

/// All detectors, and the one who numbers what they say.
pub struct Arbiter {
    detectors: Vec<Box<dyn Detector>>,
    register: Register,
    changes: Vec<Change>,
    /// Of the session that is amended, when that is looked at anew.
    earlier: Option<Box<Arbiter>>,
}

impl Default for Arbiter {
    fn default() -> Self {
        Self { detectors: all(), register: Register::default(), changes: Vec::new(), earlier: None }
    }
}

impl Arbiter {
    /// Takes in one record, after the state has, and returns the findings to be recorded.
    pub fn observe(&mut self, record: &Record, state: &State) -> Vec<(NodeName, Finding)> {
        if matches!(record.event, Event::Found(_)) {
            return Vec::new();
        }
        for detector in &mut self.detectors {
            detector.observe(record, state, &mut self.changes);
        }
        let register = &mut self.register;
        self.changes.drain(..).filter_map(|change| register.enter(change)).collect()
    }

    /// Folds a record whose number is known, with what is found now instead of what was.
    fn take(&mut self, record: &Record, state: &mut State) {
        match &record.event {
            Event::Found(_) => {}
            Event::Earlier(inner) => {
                let (earlier, inner) = state.before(record, inner);
                self.earlier.get_or_insert_default().take(&inner, earlier);
            }
            _ => {
                state.take(record);
                for (node, finding) in self.observe(record, state) {
                    state.take(&Record { seq: record.seq, at: record.at, node, event: Event::Found(finding) });
                }
            }
        }
    }
}

/// Folds records anew without their recorded findings: today's detectors over an old session.
#[must_use]
pub fn redetect<'a>(records: impl IntoIterator<Item = &'a Record>) -> State {
    let mut state = State::default();
    let mut arbiter = Arbiter::default();
    for record in records {
        state.number(record);
        arbiter.take(record, &mut state);
    }
    state
}
