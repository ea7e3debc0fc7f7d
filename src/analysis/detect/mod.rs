//! The detectors: one file a kind of finding and one line in [`all`]. Pure folds over the records, so that live and replay
//! give the same findings. The arbiter numbers what they say and keeps one fault from being said twice.
//!
//! Thresholds are constants at the head of each file, with their reasons.

mod collapse;
mod silent;
mod stall;
mod windows;

use super::state::State;
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
    /// The finding; its `id` is given by the arbiter.
    pub finding: Finding,
}

/// A detector of one kind of finding.
pub trait Detector: Send {
    /// Takes in one record, after the state has; says what is new, changed or over.
    fn observe(&mut self, record: &Record, state: &State, out: &mut Vec<Change>);
}

/// Every detector there is.
#[must_use]
pub fn all() -> Vec<Box<dyn Detector>> {
    vec![Box::<stall::Stall>::default(), Box::<collapse::Collapse>::default(), Box::<silent::Silent>::default()]
}

/// All detectors, and the one who numbers what they say.
pub struct Arbiter {
    detectors: Vec<Box<dyn Detector>>,
    open: Vec<(NodeName, String, Kind, u32)>,
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
        let place = self.open.iter().position(|(n, k, kind, _)| *n == node && *k == key && *kind == finding.kind);
        finding.id = match place {
            Some(place) => self.open[place].3,
            // A stall inside a collapse is the same fault seen twice: the rate is low because nothing completes.
            None if finding.kind == Kind::Stall && self.is_open(&node, &key, Kind::Collapse) => return None,
            None => {
                self.last += 1;
                self.open.push((node.clone(), key, finding.kind, self.last));
                self.last
            }
        };
        if finding.closed.is_some() {
            self.open.retain(|(.., id)| *id != finding.id);
        }
        Some((node, finding))
    }

    fn is_open(&self, node: &NodeName, key: &str, kind: Kind) -> bool {
        self.open.iter().any(|(n, k, open, _)| n == node && k == key && *open == kind)
    }
}

/// Folds records anew without their recorded findings: today's detectors over an old session.
#[must_use]
pub fn redetect<'a>(records: impl IntoIterator<Item = &'a Record>) -> State {
    let mut state = State::default();
    let mut arbiter = Arbiter::default();
    for record in records.into_iter().filter(|r| !matches!(r.event, Event::Found(_))) {
        state.apply(record);
        for (node, finding) in arbiter.observe(record, &state) {
            state.apply(&Record { seq: record.seq, at: record.at, node, event: Event::Found(finding) });
        }
    }
    state
}
