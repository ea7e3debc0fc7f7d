//! What a viewer is told, from a runner or from a file.

use crate::vocab::event::Record;

/// What a viewer hears.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A record, in order.
    Record(Box<Record>),
    /// A line that is torn or damaged, and why; it is skipped and counted.
    Damaged(String),
    /// A replay begins again: what was heard before is to be forgotten.
    Anew,
    /// A replay has told everything; it may begin again.
    End,
}
