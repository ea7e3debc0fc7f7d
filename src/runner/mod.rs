//! Keeps a session: starts an agent per node, numbers what they say, journals, folds, lets the detectors speak, judges, and
//! serves the records to whoever watches.
//!
//! No slow viewer, full disk or hanging journal makes it wait. It knows no kernel and no pane.
//!
//! ```text
//! launch ──► keep (one loop) ──► pipeline: number, journal, fold, detect, publish ──► serve
//!               ▲ schedule: which run next on which node
//! ```

mod keep;
mod launch;
mod pipeline;
mod schedule;
mod serve;

pub use keep::{Assignment, Kept, keep};
pub use launch::{Met, NodeSpec, survey};
