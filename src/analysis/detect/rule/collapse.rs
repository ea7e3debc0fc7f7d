//! COLLAPSE: the rate falls to half of its best lasting level or less.
//!
//! Two ways: the latest windows are all low (needs three healthy ones and is said within three), or a change of level to half
//! has become sure. How bad it is shows once the low level has lasted.

use super::{Course, Rule, Saying};
use crate::analysis::attribution::bucket;
use crate::analysis::signal::Window;
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::unit::{Quantity, Unit, short};

/// A fall to this share of the level, or below, is a collapse; smaller ones are steps.
const FALL: f64 = 0.5;
/// A change of level that has been estimated from noisy windows may miss the half by so much.
const FALL_OF_LEVEL: f64 = 0.55;
/// Low windows in a row; fewer are no collapse.
const LOOK: u32 = 3;
/// Windows whose median is low enough when noise hides that every one is; each of them is at least so low.
const LOOK_LONGER: (u32, f64) = (6, 0.65);
/// A step turns out to be a collapse within so long.
const SAME_FALL: Span = Span::seconds(2);
/// Where outliers so low have been seen before, the logarithm of the chance of so many in a row: 2 in 10⁹.
const UNLIKELY: f64 = 20.0;
/// A low level is sustained after so long, and so many windows.
const SUSTAINED: (Span, u32) = (Span::seconds(5), 5);
/// A fast time longer than this was no burst: caches and credits are spent within minutes.
const BURST: Span = Span::seconds(600);
/// Windows and time after which a first burst that has ended is known as one.
const SETTLED: (Span, u32) = (Span::seconds(3), 10);
/// Back at this share of the level before, it is over.
const RECOVERED: f64 = 0.9;
/// Above this share it comes back, though perhaps not to where it was: a tenth above the half, so as not to flutter.
const BETTER: f64 = 0.6;
/// A low level that is back so often does not last.
const OFTEN: f64 = 0.2;
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
    low: Row,
    lowish: Row,
    /// Low windows in the row of lowish ones.
    lows: u32,
    /// The longest time at a low level so far, in windows.
    longest: u32,
    /// Low windows so far that were no collapse, of all windows.
    outliers: f64,
    windows: f64,
    /// Since when it has been fast, and the work done before that.
    fast: Option<(Moment, f64)>,
    /// When the last one was settled: a change before that has been told.
    settled: Moment,
    began: Option<Moment>,
    open: Option<Open>,
}

/// Windows in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    first: Option<Window>,
    n: u32,
    moving: u32,
    last: Moment,
}

impl Row {
    fn push(&mut self, window: &Window) {
        self.last = window.to;
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
    /// How long it had been fast.
    fast: Span,
    back: Row,
    /// Windows that were back.
    high: u32,
}

impl Rule for Collapse {
    fn window(&mut self, window: &Window, course: &mut Course<'_>) {
        self.windows += 1.0;
        self.began.get_or_insert(window.from);
        self.fast.get_or_insert((window.from, window.done_before));
        if self.open.is_some() {
            // Another rule has found out what it really is.
            if course.standing(Kind::Collapse).is_none() {
                let low = self.open.take().map_or(0, |open| open.n - open.high);
                self.outliers += f64::from(low);
                self.longest = self.longest.max(low);
                return;
            }
            return self.follow(window, course);
        }
        let Some(mut best) = course.signal.best() else { return };
        // What falls slowly has a rule of its own, and may collapse from where it has come to.
        let drifts = course.standing(Kind::Drift).is_some();
        if drifts {
            best = course.signal.level().unwrap_or(best);
        }
        if window.level > LOOK_LONGER.1 * best || self.windows <= LOOK.into() {
            self.outliers += f64::from(self.lows);
            self.longest = self.longest.max(self.lowish.n);
            (self.lowish, self.lows) = (Row::default(), 0);
        } else {
            self.lowish.push(window);
        }
        if window.level <= FALL * best && self.windows > LOOK.into() {
            self.low.push(window);
            self.lows += 1;
        } else {
            self.low = Row::default();
        }
        if window.level > 0.0
            && let Some(row) = self.fallen(best, course)
            && let Some(first) = row.first
        {
            return self.say(&first, best, (row.n, window.to), course);
        }
        if let Some(shift) = course.shift
            && shift.to <= FALL_OF_LEVEL * shift.from
            && shift.to > 0.0
            && shift.at > self.settled
            && !drifts
            && course.standing(Kind::Oscillation).is_none()
        {
            let likeliest = Window { from: shift.at, to: shift.at, level: shift.to, done_before: window.done_before };
            let n = u32::try_from(shift.after).unwrap_or(LOOK);
            self.say(&likeliest, shift.from, (n, window.to), course);
        }
    }

    fn end(&mut self, at: Moment, course: &mut Course<'_>) {
        let Some(open) = self.open.take() else { return };
        if open.back.n >= LOOK - 1 && !open.sustained {
            return course.say(&open.dip().over(open.back.first.map_or(at, |w| w.from), "then came back"));
        }
        course.say(&open.saying.over(at, "to the end of the run"));
    }
}

impl Collapse {
    /// The low windows, when they are a collapse: all are low, or most of a longer row.
    fn fallen(&self, best: f64, course: &Course<'_>) -> Option<Row> {
        // What swings has fallen when it stays down for longer than it ever did.
        let swings = course.standing(Kind::Oscillation).is_some();
        if swings && self.lowish.n <= self.longest + self.longest / 2 {
            return None;
        }
        if self.is_fall(&self.low) {
            return Some(self.low);
        }
        let middle = || course.signal.recent.median(0, self.lowish.n as usize).unwrap_or(best);
        let long = self.lowish.n >= LOOK_LONGER.0 && self.lowish.n.is_multiple_of(LOOK);
        (long && self.is_fall(&self.lowish) && middle() <= FALL_OF_LEVEL * best).then_some(self.lowish)
    }

    /// Whether the latest low windows are a collapse, and work goes on at the low rate. Where nothing completes there is no rate
    /// to speak of: that is a stall, and a collapse once completions come again and stay low.
    fn is_fall(&self, row: &Row) -> bool {
        // The windows at both ends of a stall are partly healthy and so look low; they are two, and prove nothing.
        let enough = if row.moving < row.n { LOOK } else { LOOK - 1 };
        if self.outliers == 0.0 {
            return row.moving >= enough;
        }
        let usual = (self.outliers + 1.0) / (self.windows + 2.0);
        row.moving >= LOOK && self.length(row) * -usual.ln() >= UNLIKELY
    }

    /// How long a row is in usual windows: one that waited a second for a completion counts as much as ten of a tenth.
    fn length(&self, row: &Row) -> f64 {
        let (Some(first), Some(began)) = (row.first, self.began) else { return 0.0 };
        let usual = first.from.since(began).as_seconds() / (self.windows - f64::from(row.n)).max(1.0);
        (row.last.since(first.from).as_seconds() / usual.max(1e-6)).max(f64::from(row.n))
    }

    /// `first` is the first low window of `n`, the last of which ends now.
    fn say(&mut self, first: &Window, before: f64, (n, now): (u32, Moment), course: &mut Course<'_>) {
        let (onset, work) = back_date(first, before, course);
        let mut saying = Saying::new(Kind::Collapse, Severity::Warn, onset, now);
        saying.work_before = Some(work);
        // A step that turns out to go on falling is the same fault.
        let recent = |o: &&Saying| matches!(o.kind, Kind::Step | Kind::Drift) && o.onset >= first.from - SAME_FALL;
        saying.was = course.open.iter().find(recent).map(|o| o.kind);
        let lasted = course.signal.best_has_lasted();
        let mut open =
            Open { saying, before, n, lasted, sustained: false, fast: Span::ZERO, back: Row::default(), high: 0 };
        open.measure(course);
        open.saying = course.open(open.saying);
        course.signal.restart();
        (self.low, self.lowish, self.lows) = (Row::default(), Row::default(), 0);
        self.open = Some(open);
    }

    fn follow(&mut self, window: &Window, course: &mut Course<'_>) {
        let Some(open) = &mut self.open else { return };
        open.n += 1;
        let lasted = window.to.since(open.saying.onset);
        let settled = !open.lasted && lasted >= SETTLED.0 && open.n >= SETTLED.1;
        // What keeps coming back has not settled.
        let stays = f64::from(open.high) < OFTEN * f64::from(open.n);
        if !open.sustained && stays && (lasted >= SUSTAINED.0 && open.n >= SUSTAINED.1 || settled) {
            open.measure(course);
            let (since, before) = self.fast.unwrap_or_default();
            open.fast = open.saying.onset.since(since);
            open.reckon(before, course);
            open.sustained = lasted >= SUSTAINED.0 || open.grade(course) == Severity::Info;
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
            open.high += 1;
        } else {
            open.back = Row::default();
        }
        self.come_back(window, course);
    }

    /// The low level is a fair one: what ended was a burst. A fall from here is another finding.
    fn burst_ended(&mut self, at: Moment, course: &mut Course<'_>) {
        let Some(open) = self.open.take() else { return };
        self.longest = self.longest.max(open.n);
        self.settled = at;
        self.fast = Some((at, open.saying.work_before.unwrap_or(0.0)));
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
        self.longest = self.longest.max(open.n - open.high.min(open.n));
        let saying = if open.sustained { open.saying } else { open.dip() };
        if saying.kind == Kind::Collapse {
            self.fast = Some((first.from, first.done_before));
        }
        course.say(&saying.over(first.from, &how));
        course.signal.restart();
    }
}

/// The beginning of the low windows that end with the first one known, and the work done before them.
fn back_date(first: &Window, before: f64, course: &Course<'_>) -> (Moment, f64) {
    let (mut onset, mut work) = (first.from, first.done_before);
    let recent = &course.signal.recent;
    let skip = recent.latest(0, usize::MAX).take_while(|p| p.at > first.from).count();
    let mut windows = recent.latest(skip, usize::MAX).peekable();
    while let Some(window) = windows.next_if(|w| w.level <= FALL * before) {
        let Some(previous) = windows.peek() else { break };
        work -= window.level * window.at.since(previous.at).as_seconds() * course.about.unit.things();
        onset = previous.at;
    }
    (onset, work.max(0.0))
}

impl Open {
    /// It was over before it had lasted.
    fn dip(&self) -> Saying {
        Saying { kind: Kind::Dip, was: Some(Kind::Collapse), severity: Severity::Info, ..self.saying.clone() }
    }

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

    /// The size of the cache or of the credit that the fast phase has used up, from which one tells the other.
    fn reckon(&mut self, before: f64, course: &Course<'_>) {
        let about = course.about;
        let (Some(work), Some(to)) = (self.saying.work_before, self.saying.to) else { return };
        if about.unit != Unit::MegabytesPerSecond || about.lower_is_better || to <= 0.0 || self.fast > BURST {
            return;
        }
        let size = bucket(work - before, to * about.unit.things(), self.fast.as_seconds());
        if size > 0.0 {
            let size = short(Quantity::new(size, about.unit.counted()));
            self.saying.note = format!("a cache or credit of about {size} was spent");
        }
    }

    /// How bad the low level is: against the floor, or what any device gives.
    fn grade(&self, course: &Course<'_>) -> Severity {
        let Some(to) = self.saying.to else { return Severity::Warn };
        let about = course.about;
        let floor = about.floor.map(|floor| about.value(floor));
        match floor.or_else(|| least_of_any_device(about.unit).filter(|_| !about.lower_is_better)) {
            Some(least) if to < least => Severity::Fail,
            // Without a floor of its own only what may have been a burst is let go.
            Some(_) if floor.is_some() || self.fast <= BURST => Severity::Info,
            _ => Severity::Warn,
        }
    }
}
