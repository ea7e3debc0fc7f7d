//! The record on disk and on the wire: how a session is written, read back, served and followed.
//!
//! Nothing here interprets an event. `RECORD.md` in this room describes the record: field, unit, clock, wrap.

pub mod client;
pub mod earlier;
pub mod heard;
pub mod journal;
pub mod places;
pub mod reader;
pub mod replay;
