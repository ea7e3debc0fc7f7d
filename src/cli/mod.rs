//! What was typed, and what is meant by it. Two types: [`typed`] is the grammar, [`presets`] and [`wish`] make a plan of it,
//! [`reading`] a way to read a file, [`limits`] checks of a contract's table.

pub mod amend;
pub mod baseline;
pub mod limits;
pub mod ordered;
pub mod presets;
pub mod reading;
mod targets;
mod together;
pub mod typed;
pub mod wish;
