//! What a viewer holds of a session: records coming, commands going. Live, re-attached and replayed look the same.

use tokio::sync::mpsc::{Receiver, Sender};

use crate::vocab::event::Record;
use crate::vocab::order::Command;

/// What a viewer hears.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A record, in order.
    Record(Box<Record>),
    /// A line that is torn or damaged, and why; it is skipped and counted.
    Damaged(String),
}

/// A session being watched. The stream of records ends when the runner is gone or the file is at its end.
#[derive(Debug)]
pub struct Client {
    /// Records in order.
    pub heard: Receiver<Heard>,
    /// Commands to the runner; closed when there is none, as with a file.
    pub commands: Sender<Command>,
    /// Whether a runner is at the other end.
    pub live: bool,
}
