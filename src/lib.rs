//! Shakedown: live acceptance testing of servers and cloud nodes.

pub mod agent;
pub mod analysis;
pub mod session;
pub mod view;
pub mod vocab;
