//! The detectors over one series from anywhere: a column of a file, the log of another tool.
//!
//! The same rules as in a live session ([`super::detect`]), over readings instead of records.

use std::collections::BTreeMap;

use super::attribution::{Beside, Counter, Scene};
use super::detect::{Change, Reading, Register, Track, bare, explain};
use super::series::Series;
use super::signal::Window;
use super::state::{ROWS, Row};
use crate::vocab::finding::Finding;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;
use crate::vocab::unit::Unit;

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

/// Readings kept of a host counter: a minute at ten a second.
const COUNTED: usize = 600;

/// A host counter by its name: `disk/vda util`.
#[derive(Debug)]
struct Column {
    key: String,
    name: String,
    row: Option<&'static Row>,
    series: Series,
}

impl Column {
    fn new(name: &str) -> Self {
        let (place, name) = name.rsplit_once(' ').unwrap_or(("", name));
        let key = if place.contains('/') { place.to_owned() } else { format!("{place}/") };
        let source = key.split('/').next().unwrap_or_default();
        let row = ROWS.iter().find(|row| row.source == source && row.name == name);
        Self { name: name.to_owned(), row, series: Series::new(COUNTED, Span::seconds(1)), key }
    }

    fn counter(&self) -> Counter<'_> {
        let (unit, detail) = self.row.map_or((Unit::Count, false), |row| (row.unit, row.detail));
        Counter { key: &self.key, name: &self.name, unit, detail, series: &self.series }
    }
}

/// Readings of which it is found out whether they are made of few whole requests.
const LOOKED_AT: usize = 16;
/// A reading of so few requests says little about the rate.
const FEW: f64 = 5.0;
/// What each request may be away from the whole, as times are rounded to milliseconds; and how many readings must not be.
const NEAR: f64 = 0.015;
const MOST: f64 = 0.9;
/// The share of readings of more than one request without which one is as good as any number.
const SEVERAL: f64 = 0.2;

/// Finds out the size of the requests of a slow series, whose readings hold one, two or none of them: without it the rate of
/// a device that takes 100 ms for a request looks as if it swung.
#[derive(Debug, Default)]
struct Requests {
    first: Vec<f64>,
    size: Option<f64>,
    decided: bool,
    count: f64,
}

impl Requests {
    /// Takes in the work of a reading; gives the requests so far, when they are few enough to count.
    fn count(&mut self, work: f64) -> Option<u64> {
        if !self.decided && work > 0.0 {
            self.first.push(work);
            if self.first.len() >= LOOKED_AT {
                self.decide();
            }
        }
        if let Some(size) = self.size {
            self.count += work / size;
        }
        self.size.map(|_| self.count.round() as u64)
    }

    fn decide(&mut self) {
        self.decided = true;
        let work = std::mem::take(&mut self.first);
        let size = work.iter().copied().fold(f64::INFINITY, f64::min);
        let whole = |w: &&f64| (*w / size - (*w / size).round()).abs() < NEAR * *w / size;
        let few = work.iter().filter(|w| **w <= FEW * size).count();
        let near = work.iter().filter(whole).count();
        let several = work.iter().filter(|w| **w > 1.5 * size).count();
        let share = |n: usize| n as f64 / work.len() as f64;
        if share(several) >= SEVERAL && share(few) >= MOST && share(near) >= MOST {
            self.size = Some(size);
        }
    }
}

/// One series with its detectors.
#[derive(Debug)]
pub struct Trace {
    about: About,
    track: Track,
    register: Register,
    requests: Requests,
    first: Option<(Moment, f64, Option<bool>)>,
    last: Option<Moment>,
    done: f64,
    counters: BTreeMap<String, Column>,
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
            requests: Requests::default(),
            first: None,
            last: None,
            done: 0.0,
            counters: BTreeMap::new(),
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
            let operations = self.requests.count(value * at.since(from).as_seconds());
            self.track.done(at, self.done, operations);
        }
        if self.track.has_said() {
            self.enter();
        }
    }

    /// Takes in a reading of a host counter by the name of its row: `cpu steal`, `disk/vda util`; other names are evidence
    /// without a rule.
    pub fn counter(&mut self, name: &str, at: Moment, value: f64) {
        if let Some(column) = self.counters.get_mut(name) {
            return column.series.push(at, value);
        }
        let mut column = Column::new(name);
        column.series.push(at, value);
        self.counters.insert(name.to_owned(), column);
    }

    fn scene(&self, finding: &Finding) -> Scene<'_> {
        let counters: Vec<Counter<'_>> = self.counters.values().map(Column::counter).collect();
        let mut disks = counters.iter().filter_map(|c| c.key.strip_prefix("disk/"));
        Scene {
            device: disks.next(),
            load: None,
            inventory: None,
            conditions: None,
            kind: finding.kind,
            unit: self.about.unit,
            onset: finding.onset,
            now: finding.closed.or(self.last).unwrap_or(finding.said),
            began: None,
            from: finding.from.map(|q| q.value),
            to: finding.to.map(|q| q.value),
            work_before: finding.work_before.map(|q| q.value),
            labels: None,
            beside: Beside::Nobody,
            counters,
        }
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
            let scene = (!self.counters.is_empty()).then(|| self.scene(&finding));
            explain(&saying, &mut finding, scene.as_ref(), &at);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::finding::{Kind, Severity};

    /// A fall of IOPS to 400, above what any device gives, after so many seconds at 10 000.
    fn fall_after(seconds: u64) -> Severity {
        let about = About { unit: Unit::Iops, lower_is_better: false, reference: None, floor: None };
        let mut trace = Trace::new(about);
        for second in 1..=seconds + 60 {
            let rate = if second <= seconds { 10_000.0 } else { 400.0 };
            trace.read(Moment(second * 1_000_000), rate + (second % 7) as f64, Some(false));
        }
        trace.end();
        let collapses: Vec<&Finding> = trace.findings().iter().filter(|f| f.kind == Kind::Collapse).collect();
        let [collapse] = collapses[..] else { panic!("{collapses:?}") };
        collapse.severity
    }

    #[test]
    fn what_ends_after_minutes_was_a_burst_and_what_ends_after_longer_was_none_in_any_unit() {
        assert_eq!(fall_after(300), Severity::Info);
        assert_eq!(fall_after(900), Severity::Warn);
    }
}
