//! What is shown. Views fold records like everybody else, hold no truth of their own, and reach the runner by commands alone.

pub mod amended;
pub mod compare;
pub mod format;
pub mod headless;
pub mod inventory;
pub mod series;
pub mod theme;
pub mod tui;
pub mod words;
