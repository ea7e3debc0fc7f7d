//! Shakedown: live acceptance testing of servers and cloud nodes.

pub mod agent;
pub mod vocab;
