//! Series in the files of other tools: tables (CSV) and fio's logs, read row by row as they come.
//!
//! Pure: text in, readings out; who opens the file is somebody else's matter. What cannot be read is told with its line, and a
//! value that is missing is a gap, never a number.

pub mod cells;
pub mod fio;
pub mod lines;
pub mod table;

use std::fmt;

use crate::vocab::moment::Moment;
use crate::vocab::text::neutral;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1; 0 for what is wrong with the whole.
    pub line: u64,
    /// What is wrong, and what to do.
    pub what: String,
}

impl Fault {
    /// A fault of a line.
    #[must_use]
    pub fn at(line: u64, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }

    /// The fault with the file it is in: `FILE:12: what`.
    #[must_use]
    pub fn within(&self, file: &str) -> String {
        match self.line {
            0 => format!("{file}: {}", self.what),
            line => format!("{file}:{line}: {}", self.what),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// One reading of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// When, since the zero of the series.
    pub at: Moment,
    /// The value, in the unit of its column.
    pub value: f64,
    /// Whether an operation was waiting, where a column tells.
    pub in_flight: Option<bool>,
    /// The counters that were asked for, in their order; none for a cell without a number.
    pub counters: Vec<Option<f64>>,
    /// The first of its series: what came before belongs to another one.
    pub begins: bool,
}

/// Rows that hold no reading, by the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Readings that were taken in.
    pub taken: u64,
    /// Rows without a value, and the line of the first.
    pub without_value: u64,
    /// Rows without a time.
    pub without_time: u64,
    /// Rows of another direction than the one that was asked for.
    pub other_direction: u64,
    /// Rows that came late by less than a second and were put behind the row before them.
    pub late: u64,
    /// Rows at the same time as the row before, which they were put behind.
    pub twins: u64,
    /// Whether the last row is cut off.
    pub cut: bool,
    /// The line of the first row that was left out.
    pub first: u64,
}

impl LeftOut {
    /// A line for people; none when every row was read.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let mut parts = Vec::new();
        let mut part = |n: u64, what: &str| {
            if n > 0 {
                parts.push(format!("{n} {what}"));
            }
        };
        part(self.without_value, "without a value");
        part(self.without_time, "without a time");
        part(self.other_direction, "of another direction");
        part(u64::from(self.cut), "cut off at the end");
        let out = self.without_value + self.without_time + self.other_direction + u64::from(self.cut);
        let mut words = Vec::new();
        if out > 0 {
            let rows = if out == 1 { "row" } else { "rows" };
            words.push(format!("{out} {rows} left out ({}), the first in line {}", parts.join(", "), self.first));
        }
        if self.late > 0 {
            words.push(format!(
                "{} rows came late by less than a second and were moved behind the row before",
                self.late
            ));
        }
        if self.twins > 0 {
            let stand = if self.twins == 1 { "row stands" } else { "rows stand" };
            words.push(format!("{} {stand} at the time of the row before", self.twins));
        }
        (!words.is_empty()).then(|| words.join("; "))
    }

    fn note(&mut self, line: u64) {
        if self.first == 0 {
            self.first = line;
        }
    }
}

/// A text from a file, fit to be shown in a message.
fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("`{}{dots}`", neutral(&short))
}
