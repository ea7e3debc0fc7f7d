//! The detectors over one series from anywhere: a column of a file, the log of another tool.
//!
//! The same rules as in a live session ([`super::detect`]), over readings instead of records.

use crate::vocab::finding::Finding;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::unit::Unit;

/// What is known about a series beside its readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct About {
    /// The unit of its values.
    pub unit: Unit,
    /// Whether less is better, as with latencies.
    pub lower_is_better: bool,
    /// What it is held against, in its unit.
    pub reference: Option<f64>,
    /// Below this (above, when less is better) a collapse is a FAIL, in its unit.
    pub floor: Option<f64>,
}

/// A stretch of a series between two change points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Its first reading.
    pub from: Moment,
    /// Its last.
    pub to: Moment,
    /// Readings in it.
    pub n: u64,
    /// Their median, as far as readings are kept, else their mean.
    pub level: f64,
    /// 1.4826 times the median of their distances from it.
    pub spread: f64,
}

/// One series with its detectors.
#[derive(Debug)]
pub struct Trace {
    about: About,
    findings: Vec<Finding>,
}

impl Trace {
    /// A series of which nothing has been read.
    #[must_use]
    pub fn new(about: About) -> Self {
        Self { about, findings: Vec::new() }
    }

    /// Takes in a reading: `value` held since the reading before. `in_flight` tells whether an operation was waiting at `at`;
    /// where that is not known, a rate of 0 counts as one that does not complete.
    pub fn read(&mut self, at: Moment, value: f64, in_flight: Option<bool>) {
        let _ = (at, value, in_flight, self.about);
    }

    /// Takes in a reading of a host counter by the name of its row: `cpu steal`, `disk/vda util`; other names are evidence
    /// without a rule.
    pub fn counter(&mut self, name: &str, at: Moment, value: f64) {
        let _ = (name, at, value);
    }

    /// The series is over: what is open is closed, and segments that the whole does not support are joined.
    pub fn end(&mut self) {}

    /// The latest word on each finding, in the order of their first saying; those below WARN too.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The stretches so far; after [`Trace::end`] the pruned ones.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        Vec::new()
    }

    /// How long it has been at a steady level; none when it is not.
    #[must_use]
    pub fn steady(&self) -> Option<Span> {
        None
    }
}
