//! STEP: the level falls to between a half and nine tenths of the one before, and stays there.

use super::{Course, Rule, Saying};
use crate::analysis::signal::{KEPT, Shift, Trend, Window, quantile};
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::moment::{Moment, Span};

/// What falls to less than this is a collapse, or has stopped.
const LEAST: f64 = 0.5;
/// A fall to this share is worth a look, and to this one a fault.
const WARN: f64 = 0.9;
const FAIL: f64 = 0.75;
/// Back within five hundredths of the level before, for so long, it is over.
const BACK: f64 = 0.95;
const LASTING: (Span, usize) = (Span::seconds(3), 10);
/// A series that swings must fall below this quantile of what it swung between.
const LOW: f64 = 0.05;
/// So many in one direction are a slow fall in steps, such as the tiers of a flash cache.
const LADDER: u32 = 2;

/// Watches changes of level.
#[derive(Debug, Default)]
pub(super) struct Step {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    saying: Saying,
    before: f64,
    steps: u32,
    back: Option<Moment>,
}

impl Rule for Step {
    fn window(&mut self, window: &Window, course: &mut Course<'_>) {
        if self.open.as_ref().is_some_and(|o| course.standing(o.saying.kind).is_none()) {
            self.open = None;
        }
        let shift = course.shift.filter(|s| s.worth);
        if let (Some(open), Some(_)) = (&mut self.open, shift.filter(|s| s.to > s.from)) {
            // What comes back is no ladder.
            open.steps = 0;
        }
        if let Some(shift) = shift.filter(|s| s.to < s.from) {
            return self.fall(&shift, window.to, course);
        }
        let Some(open) = &mut self.open else { return };
        let level = course.signal.recent.median(0, LASTING.1).unwrap_or(0.0);
        if level < BACK * open.before {
            open.back = None;
            return;
        }
        let back = *open.back.get_or_insert(window.from);
        if window.to.since(back) >= LASTING.0
            && let Some(open) = self.open.take()
        {
            course.say(&open.saying.over(back, "then back"));
            course.signal.restart();
        }
    }

    fn end(&mut self, at: Moment, course: &mut Course<'_>) {
        let Some(open) = &self.open else { return };
        let near = |from: Moment| from.since(open.saying.onset).max(open.saying.onset.since(from)) <= LASTING.0;
        let borne_out = course.signal.all_segments(true).iter().skip(1).any(|segment| near(segment.from));
        if !borne_out {
            let saying = Saying { severity: Severity::Info, ..open.saying.clone() };
            course.say(&saying.over(at, "the run as a whole does not bear it out"));
        }
    }
}

impl Step {
    fn fall(&mut self, shift: &Shift, now: Moment, course: &mut Course<'_>) {
        if shift.to < LEAST * shift.from {
            return;
        }
        if let Some(open) = &mut self.open {
            open.steps += 1;
            open.saying.to = Some(shift.to);
            open.saying.was = (open.steps >= LADDER && open.saying.kind == Kind::Step).then_some(Kind::Step);
            if open.steps >= LADDER {
                open.saying.kind = Kind::Drift;
            }
        } else if is_within_swing(shift, course)
            || is_gradual(course)
            || shift.to > WARN * shift.from
            || course.standing(Kind::Drift).is_some()
        {
            // The slow fall has a rule of its own.
            return;
        } else {
            let saying = Saying {
                from: Some(shift.from),
                to: Some(shift.to),
                ..Saying::new(Kind::Step, Severity::Warn, shift.at, now)
            };
            self.open = Some(Open { saying, before: shift.from, steps: 1, back: None });
        }
        let Some(open) = &mut self.open else { return };
        let fallen = shift.to / open.before.max(f64::MIN_POSITIVE);
        let grade = if fallen <= FAIL { Severity::Fail } else { Severity::Warn };
        open.saying.severity = open.saying.severity.max(grade);
        let (from, to) = (course.short(open.before), course.short(shift.to));
        let steps = if open.steps > 1 { format!(" in {} steps", open.steps) } else { String::new() };
        let (word, percent) = if course.about.lower_is_better {
            ("rose", 100.0 * (1.0 / fallen - 1.0))
        } else {
            ("fell", 100.0 * (1.0 - fallen))
        };
        open.saying.what = format!("{word} {percent:.0} %{steps} from {from} to {to} and stays there");
        course.say(&open.saying);
        open.saying.was = None;
        course.signal.restart();
    }
}

/// Whether the new level is one that the series has swung to before.
fn is_within_swing(shift: &Shift, course: &Course<'_>) -> bool {
    let mut buffer = [0.0; KEPT];
    let before = course.signal.recent.levels(shift.after, KEPT, &mut buffer);
    course.standing(Kind::Oscillation).is_some() && quantile(before, LOW).is_some_and(|low| shift.to >= low)
}

/// Whether the fall so far looks like a line rather than a step.
fn is_gradual(course: &Course<'_>) -> bool {
    Trend::of(course.signal.blocks.all()).is_some_and(|trend| trend.is_line && trend.to < trend.from)
}
