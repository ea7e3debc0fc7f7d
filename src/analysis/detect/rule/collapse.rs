//! COLLAPSE: the rate falls to half of its best lasting level or less.
//!
//! Two ways: the latest windows are all low (needs three healthy ones and is said within three), or a change of level to half
//! has become sure. How bad it is shows once the low level has lasted.

use super::{Course, Rule, Saying};
use crate::analysis::signal::Window;
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::unit::Unit;

/// A fall to this share of the level, or below, is a collapse; smaller ones are steps.
const FALL: f64 = 0.5;
/// A change of level that has been estimated from noisy windows may miss the half by so much.
const FALL_OF_LEVEL: f64 = 0.55;
/// Low windows in a row; fewer are no collapse.
const LOOK: u32 = 3;
/// Where outliers so low have been seen before, the logarithm of the chance of so many in a row: 2 in 10⁹.
const UNLIKELY: f64 = 20.0;
/// A low level is sustained after so long, and so many windows.
const SUSTAINED: (Span, u32) = (Span::seconds(5), 5);
/// Windows and time after which a first burst that has ended is known as one.
const SETTLED: (Span, u32) = (Span::seconds(3), 10);
/// Back at this share of the level before, it is over.
const RECOVERED: f64 = 0.9;
/// Above this share it comes back, though perhaps not to where it was: a tenth above the half, so as not to flutter.
const BETTER: f64 = 0.6;
/// It must last so long, and so many windows, as back and as better.
const BACK: (Span, u32) = (Span::milliseconds(2_800), 5);
const BACK_IN_PART: Span = Span::seconds(6);

/// What any device gives that works at all, so that a fall below it is a fault without a contract: sequential 20 MB/s,
/// random 50 operations a second.
fn least_of_any_device(unit: Unit) -> Option<f64> {
    match unit {
        Unit::MegabytesPerSecond => Some(20.0),
        Unit::Iops => Some(50.0),
        _ => None,
    }
}

/// Watches the levels of a series.
#[derive(Debug, Default)]
pub(super) struct Collapse {
    run: Row,
    /// Low windows so far that were no collapse, of all windows.
    outliers: f64,
    windows: f64,
    open: Option<Open>,
}

/// Windows in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    first: Option<Window>,
    n: u32,
    moving: u32,
}

impl Row {
    fn push(&mut self, window: &Window) {
        self.first.get_or_insert(*window);
        self.n += 1;
        self.moving += u32::from(window.level > 0.0);
    }
}

#[derive(Debug)]
struct Open {
    saying: Saying,
    before: f64,
    /// Windows since the onset.
    n: u32,
    /// Whether it fell from a level that had lasted.
    lasted: bool,
    sustained: bool,
    back: Row,
}

impl Rule for Collapse {
    fn window(&mut self, window: &Window, course: &mut Course<'_>) {
        self.windows += 1.0;
        if self.open.is_some() {
            // Another rule has found out what it really is.
            if course.standing(Kind::Collapse).is_none() {
                self.open = None;
                return;
            }
            return self.follow(window, course);
        }
        let Some(best) = course.signal.best() else { return };
        if window.level <= FALL * best && self.windows > LOOK.into() {
            self.run.push(window);
        } else {
            self.outliers += f64::from(self.run.n);
            self.run = Row::default();
        }
        if let Some(first) = self.run.first.filter(|_| window.level > 0.0 && self.is_fall()) {
            return self.say(&first, best, self.run.n, course);
        }
        if let Some(shift) = course.shift
            && shift.to <= FALL_OF_LEVEL * shift.from
            && shift.to > 0.0
        {
            let first = Window { from: shift.at, to: shift.at, level: shift.to, done_before: window.done_before };
            self.say(&first, shift.from, u32::try_from(shift.after).unwrap_or(LOOK), course);
        }
    }

    fn end(&mut self, at: Moment, course: &mut Course<'_>) {
        if let Some(open) = self.open.take() {
            course.say(&open.saying.over(at, "to the end of the run"));
        }
    }
}

impl Collapse {
    /// Whether the latest low windows are a collapse, and work goes on at the low rate. Where nothing completes there is no rate
    /// to speak of: that is a stall, and a collapse once completions come again and stay low.
    fn is_fall(&self) -> bool {
        // The windows at both ends of a stall are partly healthy and so look low; they are two, and prove nothing.
        let enough = if self.run.moving < self.run.n { LOOK } else { LOOK - 1 };
        if self.outliers == 0.0 {
            return self.run.moving >= enough;
        }
        let usual = (self.outliers + 1.0) / (self.windows + 2.0);
        self.run.moving >= LOOK && f64::from(self.run.n) * -usual.ln() >= UNLIKELY
    }

    fn say(&mut self, first: &Window, before: f64, n: u32, course: &mut Course<'_>) {
        let now = course.signal.recent.back(0).map_or(first.to, |p| p.at);
        let mut saying = Saying::new(Kind::Collapse, Severity::Warn, first.from, now);
        saying.work_before = Some(first.done_before);
        // A step that turns out to go on falling is the same fault.
        let recent = |o: &&super::Standing| {
            matches!(o.kind, Kind::Step | Kind::Drift) && o.onset >= first.from - Span::seconds(10)
        };
        saying.was = course.open.iter().find(recent).map(|o| o.kind);
        let lasted = course.signal.best_has_lasted();
        let mut open = Open { saying, before, n, lasted, sustained: false, back: Row::default() };
        open.measure(course);
        course.say(&open.saying);
        course.signal.restart();
        open.saying.was = None;
        self.run = Row::default();
        self.open = Some(open);
    }

    fn follow(&mut self, window: &Window, course: &mut Course<'_>) {
        let Some(open) = &mut self.open else { return };
        open.n += 1;
        let lasted = window.to.since(open.saying.onset);
        let settled = !open.lasted && lasted >= SETTLED.0 && open.n >= SETTLED.1;
        if !open.sustained && (lasted >= SUSTAINED.0 && open.n >= SUSTAINED.1 || settled) {
            open.measure(course);
            open.sustained = !settled || open.grade(course) == Severity::Info;
            if open.sustained {
                open.saying.severity = open.grade(course);
                if open.saying.severity == Severity::Info {
                    return self.burst_ended(window.to, course);
                }
                course.say(&open.saying);
            }
        }
        if window.level > BETTER * open.before {
            open.back.push(window);
        } else {
            open.back = Row::default();
        }
        self.come_back(window, course);
    }

    /// The low level is a fair one: what ended was a burst. A fall from here is another finding.
    fn burst_ended(&mut self, at: Moment, course: &mut Course<'_>) {
        let Some(open) = self.open.take() else { return };
        course.signal.fall_from(open.saying.to.unwrap_or(0.0));
        course.signal.restart();
        course.say(&open.saying.over(at, "the burst has ended and this level lasts"));
    }

    fn come_back(&mut self, window: &Window, course: &mut Course<'_>) {
        let Some(open) = &self.open else { return };
        let Some(first) = open.back.first.filter(|_| open.back.n >= BACK.1) else { return };
        let lasted = window.to.since(first.from);
        let level = course.signal.recent.median(0, open.back.n as usize).unwrap_or(0.0);
        let whole = level >= RECOVERED * open.before && lasted >= BACK.0;
        if !whole && lasted < BACK_IN_PART {
            return;
        }
        let how = if whole { "then recovered".to_owned() } else { format!("then back at {}", course.short(level)) };
        let Some(open) = self.open.take() else { return };
        let mut saying = open.saying;
        if !open.sustained {
            (saying.kind, saying.was, saying.severity) = (Kind::Dip, Some(Kind::Collapse), Severity::Info);
        }
        course.say(&saying.over(first.from, &how));
        course.signal.restart();
    }
}

impl Open {
    /// The median of the windows since the onset, and the fact in words.
    fn measure(&mut self, course: &Course<'_>) {
        let n = self.n.max(1) as usize;
        let to = course.signal.recent.median(0, n).unwrap_or(0.0);
        (self.saying.from, self.saying.to) = (Some(self.before), Some(to));
        let fall = 100.0 * (1.0 - to / self.before.max(f64::MIN_POSITIVE));
        // What still goes on has not fallen by all of it.
        let fall = if fall > 99.5 && to > 0.0 { format!("{:.1}", fall.min(99.9)) } else { format!("{fall:.0}") };
        let (from, low) = (course.short(self.before), course.short(to));
        self.saying.what = if course.about.lower_is_better {
            format!("rose {:.1} times from {from} to {low}", self.before / to.max(f64::MIN_POSITIVE))
        } else {
            format!("fell {fall} % from {from} to {low}")
        };
    }

    /// How bad the low level is: against the floor, or what any device gives.
    fn grade(&self, course: &Course<'_>) -> Severity {
        let Some(to) = self.saying.to else { return Severity::Warn };
        let about = course.about;
        let floor = about.floor.map(|floor| about.value(floor));
        match floor.or_else(|| least_of_any_device(about.unit).filter(|_| !about.lower_is_better)) {
            Some(least) if to < least => Severity::Fail,
            Some(_) => Severity::Info,
            None => Severity::Warn,
        }
    }
}
