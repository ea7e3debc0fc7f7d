//! What records add up to and what they mean: the fold, the detectors, the verdict, the preflight.
//!
//! Everything here is pure: no clock, no I/O, no randomness. The same records give the same state, findings and verdict, live
//! and replayed, in batches of any size.

pub mod again;
pub mod amended;
pub mod attribution;
pub mod compare;
pub mod detect;
pub mod interval;
mod means;
pub mod preflight;
pub mod reference;
pub mod review;
pub mod roof;
#[cfg(test)]
pub(crate) mod scenario;
pub mod series;
mod signal;
pub mod state;
pub mod trace;
#[cfg(test)]
mod twins;
pub mod verdict;
