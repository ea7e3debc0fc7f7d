//! The detectors over one series from anywhere: a column of a file, the log of another tool.
//!
//! The same rules as in a live session ([`super::detect`]), over readings instead of records.

use super::detect::{Change, Reading, Register, Track, bare, sentence};
use super::signal::Window;
use crate::vocab::finding::Finding;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;

pub use super::detect::About;

/// A stretch of a series between two change points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Its first reading.
    pub from: Moment,
    /// Its last.
    pub to: Moment,
    /// Readings in it.
    pub n: u64,
    /// Their median, as far as readings are kept; in the unit of the series.
    pub level: f64,
    /// 1.4826 times the median of their distances from it, in the same unit.
    pub spread: f64,
}

/// One series with its detectors.
#[derive(Debug)]
pub struct Trace {
    about: About,
    track: Track,
    register: Register,
    first: Option<(Moment, f64, Option<bool>)>,
    last: Option<Moment>,
    done: f64,
    findings: Vec<Finding>,
}

impl Trace {
    /// A series of which nothing has been read.
    #[must_use]
    pub fn new(about: About) -> Self {
        Self {
            about,
            track: Track::new(about),
            register: Register::default(),
            first: None,
            last: None,
            done: 0.0,
            findings: Vec::new(),
        }
    }

    /// Takes in a reading: `value` held since the reading before; one that is not later than that is left out. `in_flight`
    /// tells whether an operation was waiting at `at`; where that is not known, a rate of 0 counts as one that does not complete.
    pub fn read(&mut self, at: Moment, value: f64, in_flight: Option<bool>) {
        match (self.first, self.last) {
            (None, None) => self.first = Some((at, value, in_flight)),
            (_, Some(last)) if at <= last => {}
            (_, Some(last)) => self.take(last, at, value, in_flight),
            (Some((first, ..)), None) if at <= first => {}
            // The first reading held for as long as the second does.
            (Some((first, before, waiting)), None) => {
                let from = first - at.since(first);
                if !self.about.lower_is_better {
                    self.track.done(from, 0.0, None);
                }
                self.take(from, first, before, waiting);
                self.take(first, at, value, in_flight);
            }
        }
    }

    fn take(&mut self, from: Moment, at: Moment, value: f64, in_flight: Option<bool>) {
        self.last = Some(at);
        if self.about.lower_is_better {
            if value > 0.0 {
                self.track.window(&Window { from, to: at, level: 1.0 / value, done_before: 0.0 });
            }
        } else {
            let value = value.max(0.0);
            self.done += value * self.about.unit.things() * at.since(from).as_seconds();
            let moved = value > 0.0;
            let in_flight = u32::from(in_flight.unwrap_or(!moved));
            self.track.reading(&Reading { at, moved, in_flight, oldest: None, done: self.done });
            self.track.done(at, self.done, None);
        }
        if self.track.has_said() {
            self.enter();
        }
    }

    /// Takes in a reading of a host counter by the name of its row: `cpu steal`, `disk/vda util`; other names are evidence
    /// without a rule.
    pub fn counter(&mut self, name: &str, at: Moment, value: f64) {
        let _ = (name, at, value);
    }

    /// The series is over: what is open is closed, and segments that the whole does not support are joined.
    pub fn end(&mut self) {
        if let Some(last) = self.last {
            self.track.end(last);
            self.enter();
        }
    }

    fn enter(&mut self) {
        let sayings: Vec<_> = self.track.take().collect();
        for saying in sayings {
            let mut finding = bare(&saying, &self.about);
            let at = Span(finding.onset.0).to_string();
            finding.sentence = sentence(&saying, &finding, &at, "");
            let change = Change { node: NodeName::default(), key: String::new(), was: saying.was, finding };
            let Some((_, finding)) = self.register.enter(change) else { continue };
            match self.findings.iter_mut().find(|f| f.id == finding.id) {
                Some(known) => *known = finding,
                None => self.findings.push(finding),
            }
        }
    }

    /// The latest word on each finding, in the order of their first saying; those below WARN too.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The stretches so far; after [`Trace::end`] the pruned ones.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        let value = |level: f64| self.about.value(level);
        let of = |s: &super::signal::Segment| {
            let level = value(s.level);
            let spread = if self.about.lower_is_better { s.spread * level * level } else { s.spread };
            Segment { from: s.from, to: s.to, n: s.n, level, spread }
        };
        self.track.segments().iter().map(of).collect()
    }

    /// How long it has been at a steady level; none when it is not.
    #[must_use]
    pub fn steady(&self) -> Option<Span> {
        Some(self.last?.since(self.track.steady()?))
    }
}
