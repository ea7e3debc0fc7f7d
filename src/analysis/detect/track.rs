//! One series with its rules, and what keeps one fault from being said twice.

use super::rule::{About, Course, Reading, Rule, Saying, rules, rules_of_latency};
use crate::analysis::signal::{Segment, Shift, Signal, Window, Windows};
use crate::vocab::finding::Kind;
use crate::vocab::moment::{Moment, Span};

/// A stall that begins so soon after a collapse is part of it (1 to 6 s of nothing precede a throttled device's new rate).
const FOLDED: Span = Span::seconds(6);
/// Findings that a collapse explains.
const PART_OF_COLLAPSE: [Kind; 6] =
    [Kind::Step, Kind::Drift, Kind::Spike, Kind::BelowBaseline, Kind::Oscillation, Kind::Cap];
/// Findings after which a series is not steady any more.
const DISTURBS: [Kind; 3] = [Kind::Collapse, Kind::Step, Kind::Stall];

/// One series.
#[derive(Debug)]
pub(in crate::analysis) struct Track {
    about: About,
    windows: Windows,
    signal: Signal,
    rules: Vec<Box<dyn Rule>>,
    open: Vec<Saying>,
    said: Vec<Saying>,
    settled: Vec<Saying>,
    over: bool,
}

impl Track {
    /// A series with every rule that fits its unit.
    pub(in crate::analysis) fn new(about: About) -> Self {
        Self::with(about, rules(&about))
    }

    /// A series of the slowest operations.
    pub(in crate::analysis) fn of_latency(about: About) -> Self {
        Self::with(about, rules_of_latency())
    }

    fn with(about: About, rules: Vec<Box<dyn Rule>>) -> Self {
        Self {
            about,
            windows: Windows::default(),
            signal: Signal::default(),
            rules,
            open: Vec::new(),
            said: Vec::new(),
            settled: Vec::new(),
            over: false,
        }
    }

    pub(in crate::analysis) fn about(&self) -> &About {
        &self.about
    }

    /// What was read before belongs to another phase.
    pub(in crate::analysis) fn pause(&mut self, at: Moment) {
        self.windows.clear();
        self.rules.iter_mut().for_each(|rule| rule.pause(at));
    }

    /// Takes in a reading of the counters, for the timers.
    pub(in crate::analysis) fn reading(&mut self, reading: &Reading) {
        self.ask(None, |rule, course| rule.reading(reading, course));
    }

    /// Takes in what is done so far, for the levels.
    pub(in crate::analysis) fn done(&mut self, at: Moment, done: f64, operations: Option<u64>) {
        if let Some(mut window) = self.windows.push(at, done, operations) {
            window.level /= self.about.unit.things();
            self.window(&window);
        }
    }

    /// Takes in a whole window.
    pub(in crate::analysis) fn window(&mut self, window: &Window) {
        let shift = self.signal.push(window.from, window.to, window.level);
        self.ask(shift, |rule, course| rule.window(window, course));
    }

    /// The series is over.
    pub(in crate::analysis) fn end(&mut self, at: Moment) {
        if !self.over {
            self.over = true;
            self.ask(None, |rule, course| rule.end(at, course));
            self.settled.extend(self.open.drain(..).map(|open| open.over(at, "to the end of the run")));
        }
    }

    /// What has been said since the last time.
    pub(in crate::analysis) fn take(&mut self) -> std::vec::Drain<'_, Saying> {
        self.settled.drain(..)
    }

    /// Whether there is something to take.
    pub(in crate::analysis) fn has_said(&self) -> bool {
        !self.settled.is_empty()
    }

    pub(in crate::analysis) fn segments(&self) -> Vec<Segment> {
        self.signal.all_segments(self.over)
    }

    fn ask(&mut self, shift: Option<Shift>, question: impl Fn(&mut Box<dyn Rule>, &mut Course<'_>)) {
        for place in 0..self.rules.len() {
            let mut course =
                Course { about: &self.about, signal: &mut self.signal, shift, open: &self.open, out: &mut self.said };
            question(&mut self.rules[place], &mut course);
            while !self.said.is_empty() {
                let saying = self.said.remove(0);
                self.settle(saying);
            }
        }
    }

    fn settle(&mut self, mut saying: Saying) {
        let as_known = saying.was.unwrap_or(saying.kind);
        let place = self.open.iter().position(|o| o.kind == as_known);
        if let Some(place) = place {
            self.open.remove(place);
        } else {
            saying.was = None;
            // What is over as it is said has no end of its own; the end of what was never let in says nothing.
            let at_once = matches!(saying.kind, Kind::Recovery | Kind::Spike) && saying.end.is_empty();
            if saying.closed.is_some() && !at_once || self.is_explained(&saying) {
                return;
            }
            if DISTURBS.contains(&saying.kind) {
                self.signal.disturb();
            }
        }
        if saying.closed.is_none() {
            self.open.push(Saying { was: None, ..saying.clone() });
        }
        self.settled.push(saying);
    }

    /// Whether it is a part of a finding that is open already.
    fn is_explained(&self, saying: &Saying) -> bool {
        let Some(collapse) = self.open.iter().find(|o| o.kind == Kind::Collapse) else { return false };
        match saying.kind {
            Kind::Stall => saying.onset.since(collapse.onset) <= FOLDED,
            kind => PART_OF_COLLAPSE.contains(&kind),
        }
    }
}
