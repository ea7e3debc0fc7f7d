//! The rules of one series: one file a kind of finding and one line in [`rules`]. A rule sees readings and windows and says
//! what it finds; it knows no run, no node and no clock.

mod below;
mod cap;
mod collapse;
mod drift;
mod oscillation;
mod recovery;
mod spike;
mod stall;
mod step;

use std::fmt;

use crate::analysis::signal::{Shift, Signal, Window};
use crate::vocab::finding::{Kind, Severity};
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
    /// A collapse to less (to more, when less is better) is a FAIL; in its unit.
    pub floor: Option<f64>,
}

impl About {
    /// A level (more is better) as a value of the series, and the other way round.
    pub(in crate::analysis) fn value(&self, level: f64) -> f64 {
        if self.lower_is_better { 1.0 / level } else { level }
    }
}

/// One reading of a series' counters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::analysis) struct Reading {
    /// When.
    pub(in crate::analysis) at: Moment,
    /// Whether anything completed since the reading before.
    pub(in crate::analysis) moved: bool,
    /// Operations in flight; one when it is only known that something waits.
    pub(in crate::analysis) in_flight: u32,
    /// Age of the oldest of them.
    pub(in crate::analysis) oldest: Option<Span>,
    /// What was done up to here.
    pub(in crate::analysis) done: f64,
}

/// What a rule says: a finding as it stands now.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::analysis) struct Saying {
    pub(in crate::analysis) kind: Kind,
    /// The kind under which it was open until now, when that is another.
    pub(in crate::analysis) was: Option<Kind>,
    pub(in crate::analysis) severity: Severity,
    pub(in crate::analysis) onset: Moment,
    pub(in crate::analysis) said: Moment,
    pub(in crate::analysis) closed: Option<Moment>,
    /// Levels, where more is better.
    pub(in crate::analysis) from: Option<f64>,
    pub(in crate::analysis) to: Option<f64>,
    /// In the things that the unit counts.
    pub(in crate::analysis) work_before: Option<f64>,
    pub(in crate::analysis) lost: Option<f64>,
    /// The fact: `fell 99 % from 104 MB/s to 1.1 MB/s`.
    pub(in crate::analysis) what: String,
    /// What else follows from it: `a cache or credit of about 990 MB was spent`.
    pub(in crate::analysis) note: String,
    /// How it ended: `then recovered, after 5.2 s`.
    pub(in crate::analysis) end: String,
}

impl Saying {
    pub(super) fn new(kind: Kind, severity: Severity, onset: Moment, said: Moment) -> Self {
        Self {
            kind,
            was: None,
            severity,
            onset,
            said,
            closed: None,
            from: None,
            to: None,
            work_before: None,
            lost: None,
            what: String::new(),
            note: String::new(),
            end: String::new(),
        }
    }

    /// It is over since `at`.
    pub(super) fn over(mut self, at: Moment, how: &str) -> Self {
        self.closed = Some(at);
        self.end = format!("{how}, after {}", at.since(self.onset));
        self
    }
}

/// What a rule may ask about the series, and what else is open on it.
pub(super) struct Course<'a> {
    pub(super) about: &'a About,
    pub(super) signal: &'a mut Signal,
    /// The change of level that has become sure with this window.
    pub(super) shift: Option<Shift>,
    /// The findings that are open, as they were said last.
    pub(super) open: &'a [Saying],
    pub(super) out: &'a mut Vec<Saying>,
}

impl<'a> Course<'a> {
    pub(super) fn standing(&self, kind: Kind) -> Option<&'a Saying> {
        self.open.iter().find(|o| o.kind == kind)
    }

    /// Forgets a finding that was not let in, or that another rule has taken over.
    pub(super) fn check(&self, open: &mut Option<Saying>) {
        if open.as_ref().is_some_and(|o| self.standing(o.kind).is_none()) {
            *open = None;
        }
    }

    pub(super) fn say(&mut self, saying: &Saying) {
        self.out.push(saying.clone());
    }

    /// Says a finding that stays open; from then on it is what it is.
    pub(super) fn open(&mut self, saying: Saying) -> Saying {
        self.say(&saying);
        Saying { was: None, ..saying }
    }

    /// A level in words of the series' own values.
    pub(super) fn short(&self, level: f64) -> String {
        crate::vocab::unit::short(crate::vocab::unit::Quantity::new(self.about.value(level), self.about.unit))
    }
}

/// One kind of finding on one series.
pub(super) trait Rule: fmt::Debug + Send {
    /// A reading came, ten times a second. For timers.
    fn reading(&mut self, _reading: &Reading, _course: &mut Course<'_>) {}
    /// A window is complete; the signal has it.
    fn window(&mut self, _window: &Window, _course: &mut Course<'_>) {}
    /// Another phase begins: what stood still meanwhile was not asked to move.
    fn pause(&mut self, _at: Moment) {}
    /// The series is over; what is then still open is closed.
    fn end(&mut self, _at: Moment, _course: &mut Course<'_>) {}
}

/// Every rule there is, in the order in which they are asked: one that comes first may keep the later ones quiet.
pub(super) fn rules(about: &About) -> Vec<Box<dyn Rule>> {
    let mut rules: Vec<Box<dyn Rule>> = vec![
        Box::<stall::Stall>::default(),
        Box::<oscillation::Oscillation>::default(),
        Box::<collapse::Collapse>::default(),
        Box::<recovery::Recovery>::default(),
        Box::<drift::Drift>::default(),
        Box::<step::Step>::default(),
        Box::<below::Below>::default(),
    ];
    if matches!(about.unit, Unit::MegabytesPerSecond | Unit::Iops | Unit::OpsPerSecond) {
        rules.push(Box::new(cap::Cap));
    }
    if about.lower_is_better {
        rules.push(Box::<spike::Spike>::default());
    }
    rules
}

/// The rules of a series of the slowest operation of each second: what is slow for long shows in the rate.
pub(super) fn rules_of_latency() -> Vec<Box<dyn Rule>> {
    vec![Box::<spike::Spike>::default()]
}
