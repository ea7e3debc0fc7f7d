//! What was typed, and what is meant by it. Two types: [`typed`] is the grammar, [`presets`] and [`wish`] make a plan of it.

pub mod presets;
pub mod typed;
pub mod wish;
