//! What was typed, and what is meant by it. Two types: [`typed`] is the grammar, [`presets`] and [`wish`] make a plan of it,
//! [`reading`] a way to read a file.

pub mod amend;
pub mod baseline;
pub mod presets;
pub mod reading;
mod targets;
pub mod typed;
pub mod wish;
