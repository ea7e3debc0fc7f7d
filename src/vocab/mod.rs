//! The words every other room speaks: quantities, moments, plans, events, findings, verdicts, and the line that carries them.
//!
//! Layer 0. Nothing here does I/O, starts a thread or knows the time of day; a word that needs one of these belongs elsewhere.

pub mod check;
pub mod disk;
pub mod disturbed;
pub mod event;
pub mod fact;
pub mod figure;
pub mod finding;
pub mod hardware;
pub mod latency;
pub mod line;
pub mod memory;
pub mod moment;
pub mod name;
pub mod node;
pub mod official;
pub mod order;
pub mod ordered;
pub mod plan;
pub mod random;
pub mod reference;
pub mod rest;
pub mod ronfile;
pub mod size;
pub mod spelling;
pub mod stat;
pub mod steady;
pub mod survey;
pub mod text;
mod typed_span;
pub mod unit;
pub mod verdict;
