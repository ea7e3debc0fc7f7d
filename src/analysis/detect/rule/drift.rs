//! DRIFT: the level falls slowly and steadily.

use super::{Course, Rule, Saying};
use crate::analysis::signal::{Trend, Window};
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::unit::Unit;

/// A fitted fall by so much is worth a look, a fault, and the end of it.
const GRADES: [(f64, Severity); 3] = [(0.50, Severity::Crit), (0.25, Severity::Fail), (0.10, Severity::Warn)];
/// Arithmetic does not tire: three hundredths in GFLOPS are worth a note (a clock that falls with the heat).
const NOTE: f64 = 0.03;
/// Standard errors that the slope must be away from none.
const SURE: f64 = 5.0;
/// Readings and time before any slope is one.
const LEAST: (f64, Span) = (30.0, Span::seconds(20));
/// Two standard errors or less over what is new: it has levelled off.
const LEVEL: f64 = 2.0;

/// Watches the means since the beginning.
#[derive(Debug, Default)]
pub(super) struct Drift {
    open: Option<Saying>,
    counted: u32,
}

impl Rule for Drift {
    fn window(&mut self, window: &Window, course: &mut Course<'_>) {
        course.check(&mut self.open);
        self.counted += 1;
        if !course.signal.began_block || self.counted < 5 || course.standing(Kind::Collapse).is_some() {
            return;
        }
        self.counted = 0;
        let blocks = course.signal.blocks.all();
        let n: f64 = blocks.iter().map(|b| b.n).sum();
        let long = blocks.first().map_or(Span::ZERO, |b| window.to.since(b.from));
        if n < LEAST.0 || long < LEAST.1 {
            return;
        }
        let Some(trend) = Trend::of(blocks) else { return };
        match &self.open {
            None => self.find(&trend, window.to, course),
            Some(_) => self.follow(&trend, window.to, course),
        }
    }

    fn end(&mut self, _at: Moment, course: &mut Course<'_>) {
        // How far it has come in the end.
        if let Some(trend) = Trend::of(course.signal.blocks.all()).filter(|trend| trend.is_line)
            && let Some(open) = self.open.take()
        {
            let severity = grade(&trend, course).map_or(open.severity, |grade| grade.max(open.severity));
            self.state(Saying { severity, ..open }, &trend, course);
        }
    }
}

impl Drift {
    fn find(&mut self, trend: &Trend, now: Moment, course: &mut Course<'_>) {
        let Some(grade) = grade(trend, course).filter(|_| trend.t <= -SURE && trend.is_line) else { return };
        let mut saying = Saying::new(Kind::Drift, grade, trend.onset, now);
        saying.was = course.standing(Kind::Step).map(|o| o.kind);
        self.state(saying, trend, course);
    }

    fn follow(&mut self, trend: &Trend, now: Moment, course: &mut Course<'_>) {
        let half = course.signal.blocks.all();
        let late = Trend::of(&half[half.len() / 2..]);
        let level = late.is_some_and(|late| late.t > -LEVEL);
        let Some(open) = self.open.take() else { return };
        if level {
            course.say(&open.over(now, "then level again"));
            course.signal.restart();
            return;
        }
        match grade(trend, course).filter(|_| trend.is_line) {
            Some(worse) if worse > open.severity => self.state(Saying { severity: worse, ..open }, trend, course),
            _ => self.open = Some(open),
        }
    }

    fn state(&mut self, mut saying: Saying, trend: &Trend, course: &mut Course<'_>) {
        (saying.from, saying.to) = (Some(trend.from), Some(trend.to));
        let (from, to) = (course.short(trend.from), course.short(trend.to));
        let (word, percent) = if course.about.lower_is_better {
            ("rises", 100.0 * (trend.from / trend.to - 1.0))
        } else {
            ("falls", 100.0 * (1.0 - trend.to / trend.from))
        };
        saying.what = format!("{word} steadily, by {percent:.0} % so far, from {from} to {to}");
        self.open = Some(course.open(saying));
    }
}

fn grade(trend: &Trend, course: &Course<'_>) -> Option<Severity> {
    let fall = 1.0 - trend.to / trend.from.max(f64::MIN_POSITIVE);
    let grade = GRADES.iter().find(|(least, _)| fall >= *least).map(|(_, severity)| *severity);
    grade.or((course.about.unit == Unit::Gflops && fall >= NOTE).then_some(Severity::Info))
}
