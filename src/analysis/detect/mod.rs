//! The detectors: one file a kind of finding and one line in [`all`]. Pure folds over the records, so that live and replay
//! give the same findings. The arbiter numbers what they say and keeps one fault from being said twice.
//!
//! Thresholds are constants at the head of each file, with their reasons.

mod cached;
mod collapse;
mod conditions;
mod generator;
mod hardware;
mod silent;
mod stall;
mod windows;

use super::state::{RunState, State};
use crate::vocab::event::{Event, Record};
use crate::vocab::finding::{Finding, Kind};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;

/// What a detector has to say: a finding without a number, as it stands now. The key tells one open finding of a detector
/// from another.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The node it is about.
    pub node: NodeName,
    /// Tells the findings of one detector apart while they are open.
    pub key: String,
    /// The finding; its `id` is given by the arbiter.
    pub finding: Finding,
}

impl Change {
    /// A finding of a run, which has one of a kind open at a time.
    fn of(run: &RunState, finding: Finding) -> Self {
        Self { node: run.node.clone(), key: run.name.to_string(), finding }
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
        Box::<stall::Stall>::default(),
        Box::<collapse::Collapse>::default(),
        Box::<silent::Silent>::default(),
        Box::<hardware::Hardware>::default(),
        Box::<conditions::Settings>::default(),
        Box::<generator::Generator>::default(),
        Box::<cached::Cached>::default(),
    ]
}

/// A stall that begins so soon after a collapse is part of it (1 to 6 s of nothing precede a throttled device's new rate).
const FOLDED: Span = Span::seconds(6);

/// A finding that is open.
struct Open {
    node: NodeName,
    key: String,
    kind: Kind,
    id: u32,
    onset: Moment,
}

/// All detectors, and the one who numbers what they say.
pub struct Arbiter {
    detectors: Vec<Box<dyn Detector>>,
    open: Vec<Open>,
    last: u32,
    changes: Vec<Change>,
}

impl Default for Arbiter {
    fn default() -> Self {
        Self { detectors: all(), open: Vec::new(), last: 0, changes: Vec::new() }
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
        let changes = std::mem::take(&mut self.changes);
        changes.into_iter().filter_map(|change| self.settle(change)).collect()
    }

    fn settle(&mut self, change: Change) -> Option<(NodeName, Finding)> {
        let Change { node, key, mut finding } = change;
        let place = self.open.iter().position(|o| o.node == node && o.key == key && o.kind == finding.kind);
        finding.id = match place {
            Some(place) => self.open[place].id,
            None if finding.kind == Kind::Stall && self.begins_with_a_collapse(&node, &key, finding.onset) => {
                return None;
            }
            None => {
                self.last += 1;
                let (id, kind, onset) = (self.last, finding.kind, finding.onset);
                self.open.push(Open { node: node.clone(), key, kind, id, onset });
                id
            }
        };
        if finding.closed.is_some() {
            self.open.retain(|o| o.id != finding.id);
        }
        Some((node, finding))
    }

    /// A device that falls to a low rate often completes nothing in the first seconds: that is one fault, not two. A stall that
    /// comes later is one of its own.
    fn begins_with_a_collapse(&self, node: &NodeName, key: &str, stall: Moment) -> bool {
        let collapses = self.open.iter().filter(|o| o.node == *node && o.key == key && o.kind == Kind::Collapse);
        collapses.into_iter().any(|o| stall.since(o.onset) <= FOLDED)
    }
}

/// Folds records anew without their recorded findings: today's detectors over an old session.
#[must_use]
pub fn redetect<'a>(records: impl IntoIterator<Item = &'a Record>) -> State {
    let mut state = State::default();
    let mut arbiter = Arbiter::default();
    for record in records {
        if matches!(record.event, Event::Found(_)) {
            state.number(record);
            continue;
        }
        state.apply(record);
        for (node, finding) in arbiter.observe(record, &state) {
            state.apply(&Record { seq: record.seq, at: record.at, node, event: Event::Found(finding) });
        }
    }
    state
}
