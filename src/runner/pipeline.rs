//! The one way of every event: numbered, journalled, folded, looked at by the detectors, published.

use std::sync::Arc;

use tokio::sync::broadcast;

use crate::analysis::detect::Arbiter;
use crate::analysis::state::State;
use crate::session::journal::Journal;
use crate::vocab::event::{Event, Record};
use crate::vocab::line;
use crate::vocab::moment::Moment;
use crate::vocab::name::NodeName;

/// A published record: its number and its line.
#[derive(Clone, Debug)]
pub(super) struct Published {
    /// The record's number.
    pub(super) seq: u64,
    /// Its line, as in the journal.
    pub(super) line: Arc<str>,
}

/// What a session adds up to while it is being kept.
pub(super) struct Pipeline {
    /// The fold of everything so far.
    pub(super) state: State,
    /// The session file.
    pub(super) journal: Journal,
    publish: broadcast::Sender<Published>,
    arbiter: Arbiter,
    seq: u64,
}

impl Pipeline {
    /// An empty session; what is put is journalled and published.
    pub(super) fn new(journal: Journal, publish: broadcast::Sender<Published>) -> Self {
        Self { state: State::default(), journal, publish, arbiter: Arbiter::default(), seq: 0 }
    }

    /// Puts an event of a node, and whatever the detectors find in it.
    pub(super) fn put(&mut self, node: &NodeName, at: Moment, event: Event) {
        let between_iterations =
            matches!(event, Event::IterationEnded { .. } | Event::RunEnded { .. } | Event::SessionClosed { .. });
        let record = self.record(node.clone(), at, event);
        for (node, finding) in self.arbiter.observe(&record, &self.state) {
            self.record(node, at, Event::Found(finding));
        }
        if between_iterations {
            self.journal.sync();
        }
    }

    /// Puts a record of the session that is amended; nothing is measured yet, so the disk is waited for.
    pub(super) fn put_earlier(&mut self, at: Moment, record: Record) {
        let event = Event::Earlier(Box::new(record));
        self.number(NodeName::default(), at, event, Journal::put_patiently);
    }

    fn record(&mut self, node: NodeName, at: Moment, event: Event) -> Record {
        self.number(node, at, event, Journal::put)
    }

    fn number(&mut self, node: NodeName, at: Moment, event: Event, put: fn(&Journal, Arc<str>) -> bool) -> Record {
        self.seq += 1;
        let record = Record { seq: self.seq, at, node, event };
        if let Ok(line) = line::encode(&record) {
            let line: Arc<str> = line.into();
            // A line that the journal drops leaves a gap in the numbers, which every reader counts.
            let _ = put(&self.journal, Arc::clone(&line));
            let _ = self.publish.send(Published { seq: record.seq, line });
        }
        self.state.apply(&record);
        record
    }
}
