//! One series in constant memory: its latest readings, its level and spread, its change points, its means since the beginning.
//! Knows nothing of records, runs or findings; more is better here (times and latencies come as their inverse).
//!
//! About 8 KB a series, no allocation. A reading is a window of the live rate, see `detect/windows.rs`.

mod blocks;
mod focus;
mod ring;
mod segments;
mod steadiness;
mod trend;
mod windows;

pub(super) use blocks::{Blocks, Seconds};
use focus::Focus;
pub(super) use ring::{KEPT, Point, Ring, quantile, spread};
pub(super) use segments::{Segment, Segments};
pub(super) use steadiness::Steadiness;
pub(super) use trend::Trend;
pub(super) use windows::{Window, Windows};

use crate::vocab::moment::{Moment, Span};

/// Readings of which a scale is made: at least 10 and 3 s, at most 30.
const LEARN: (u64, u64) = (10, 30);
/// Three seconds, less what readings jitter.
const LEARN_FOR: Span = Span::milliseconds(2_800);
/// While the median of five readings is above that of the five before by this factor, the series still climbs.
const CLIMBS: f64 = 1.02;
/// It may climb for so many readings before it is taken as it is.
const LONGEST_CLIMB: u64 = 60;
/// The likelihood ratio that is a change point. Self-normalised: 0 in 3600 steady readings, 0.27 on real benchmark series.
const CHANGED: f64 = 30.0;
/// A level that differs by less is the same level to a reader of a report, however sure the difference is.
const WORTH_SAYING: f64 = 0.10;
/// A small change that is so sure begins a segment all the same, or it would hide a larger one behind it.
const SURE: f64 = 60.0;
/// The logarithm of the chance that the readings since a change are the usual outliers: 2 in 10⁹.
const UNLIKELY: f64 = 20.0;
/// The level is taken anew every so many readings.
const REFRESH: u64 = 32;

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shift {
    /// End of the first reading on the new level.
    pub(super) at: Moment,
    /// Readings since.
    pub(super) after: usize,
    /// The level before.
    pub(super) from: f64,
    /// The level since.
    pub(super) to: f64,
    /// The self-normalised likelihood ratio.
    pub(super) ratio: f64,
    /// Whether it is worth saying.
    pub(super) worth: bool,
}

/// A series.
#[derive(Clone, Debug, Default)]
pub(super) struct Signal {
    /// The latest readings.
    pub(super) recent: Ring,
    /// Everything since the series settled.
    pub(super) blocks: Blocks,
    /// The latest whole seconds on the present level.
    pub(super) seconds: Seconds,
    /// The segments that are over.
    pub(super) segments: Segments,
    /// Whether and since when it is steady.
    pub(super) steady: Steadiness,
    /// Readings in all.
    pub(super) n: u64,
    /// Whether this reading began a block, or ended a second.
    pub(super) began_block: bool,
    pub(super) ended_second: bool,
    began: Moment,
    settled: bool,
    now: Present,
    focus: Focus,
    best: f64,
    look_again: u64,
}

/// The segment that goes on.
#[derive(Clone, Copy, Debug, Default)]
struct Present {
    from: Moment,
    n: u64,
    level: f64,
    spread: f64,
    scaled: bool,
    /// Readings so far at nine tenths of the level or less, and at ten ninths or more.
    low: u64,
    high: u64,
}

impl Signal {
    /// Takes in a reading that held from `from` to `at`; gives a change of level that has become sure with it.
    pub(super) fn push(&mut self, from: Moment, at: Moment, level: f64) -> Option<Shift> {
        if self.n == 0 {
            self.began = from;
        }
        self.n += 1;
        self.recent.push(Point { at, level });
        self.ended_second = self.seconds.push(from, at, level);
        if !self.settled {
            self.began_block = false;
            self.settle();
            return None;
        }
        self.steady.push(at, level);
        self.began_block = self.blocks.push(at, level);
        self.now.n += 1;
        if !self.now.scaled {
            if self.now.n >= Self::wanted(self.now.from, at) {
                self.scale();
            }
            return None;
        }
        self.count(level, 1);
        let candidate = self.focus.push((level - self.now.level) / self.now.spread, false);
        let shift = if candidate.ratio > CHANGED && self.n >= self.look_again { self.examine(candidate) } else { None };
        if shift.is_none() && self.now.n.is_multiple_of(REFRESH) && candidate.ratio < CHANGED / 2.0 {
            self.refresh();
        }
        shift
    }

    /// How many readings a scale is made of, in a segment that began at `from`.
    fn wanted(from: Moment, at: Moment) -> u64 {
        let (least, most) = LEARN;
        if at.since(from) >= LEARN_FOR { least } else { most }
    }

    /// Ends the warm-up once there are enough readings and they climb no more.
    fn settle(&mut self) {
        let at = self.recent.back(0).map_or(self.began, |p| p.at);
        let climbs = || {
            let (late, early) = (self.recent.median(0, 5), self.recent.median(5, 5));
            late.zip(early).is_some_and(|(late, early)| late > CLIMBS * early)
        };
        if self.n < Self::wanted(self.began, at) || self.n < LONGEST_CLIMB && climbs() {
            return;
        }
        self.settled = true;
        let n = self.n.min(KEPT as u64) as usize;
        self.begin(n);
    }

    /// Begins a segment with the latest `n` readings, and makes its scale when they are enough.
    fn begin(&mut self, n: usize) {
        let first = self.recent.back(n.saturating_sub(1)).unwrap_or_default();
        self.now = Present { from: first.at, n: n as u64, ..Present::default() };
        let latest = self.recent.back(0).map_or(first.at, |p| p.at);
        self.now.level = self.recent.median(0, n).unwrap_or(0.0);
        self.focus = Focus::default();
        if self.now.n >= Self::wanted(first.at, latest) {
            self.scale();
        }
    }

    /// Level and spread of the present segment from what is kept of it; its readings go through the test again.
    fn scale(&mut self) {
        let n = (self.now.n as usize).min(self.recent.len());
        let mut buffer = [0.0; KEPT];
        let levels = self.recent.levels(0, n, &mut buffer);
        let jumps = levels.windows(2).map(|w| (w[0] - w[1]).abs());
        let mut steps = [0.0; KEPT];
        let count = steps.iter_mut().zip(jumps).map(|(place, jump)| *place = jump).count();
        let middle = quantile(levels, 0.5).unwrap_or(0.0);
        let by_distance = spread(levels, middle);
        let by_step = ring::MAD * quantile(&mut steps[..count], 0.5).unwrap_or(0.0) / std::f64::consts::SQRT_2;
        let least = (0.002 * middle.abs()).max(f64::MIN_POSITIVE);
        // A spread out of few readings is as likely too small as too large, and too small is what alarms.
        let spread = by_distance.max(by_step).max(least) * (1.0 + 2.0 / n as f64);
        self.now = Present { level: middle, spread, scaled: true, low: 0, high: 0, ..self.now };
        self.focus = Focus::default();
        for back in (0..n).rev() {
            if let Some(point) = self.recent.back(back) {
                self.count(point.level, 1);
                self.focus.push((point.level - middle) / spread, true);
            }
        }
        self.rank();
    }

    fn count(&mut self, level: f64, times: u64) {
        self.now.low += if is_low(level, self.now.level) { times } else { 0 };
        self.now.high += if is_high(level, self.now.level) { times } else { 0 };
    }

    /// Takes the level of the segment anew from its latest readings.
    fn refresh(&mut self) {
        let n = (self.now.n as usize).min(KEPT);
        if let Some(level) = self.recent.median(0, n) {
            // The test has its own mean; the level is for those who ask, and for the next comparison.
            self.now.level = level;
        }
        self.rank();
    }

    /// Lets a level that has lasted raise the best one.
    fn rank(&mut self) {
        let at = self.recent.back(0).map_or(self.now.from, |p| p.at);
        if self.now.n >= LEARN.0 && at.since(self.now.from) >= LEARN_FOR {
            self.best = self.best.max(self.now.level);
        }
    }

    /// Whether a likely change is one: large enough to be said, and not made of outliers such as were there before.
    fn examine(&mut self, candidate: focus::Candidate) -> Option<Shift> {
        let kept = candidate.after.min(KEPT);
        let to = self.recent.median(0, kept)?;
        let before = (self.now.n as usize).saturating_sub(candidate.after).min(KEPT.saturating_sub(kept));
        let from = if before >= 5 { self.recent.median(kept, before)? } else { self.now.level };
        let change = (to - from).abs() / from.abs().max(f64::MIN_POSITIVE);
        let worth = change >= WORTH_SAYING && (to < from) == candidate.down;
        if !(worth && self.is_no_accident(kept, from, candidate.down) || candidate.ratio > SURE && kept >= 30) {
            self.look_again = self.n + 1 + kept as u64 / 8;
            return None;
        }
        let worth = worth && self.is_no_accident(kept, from, candidate.down);
        let at = self.recent.back(kept.saturating_sub(1))?.at;
        let ended = self.recent.back(kept).map_or(at, |p| p.at);
        let n = self.now.n.saturating_sub(kept as u64);
        let mut buffer = [0.0; KEPT];
        let spread = spread(self.recent.levels(kept, before, &mut buffer), from);
        self.segments.push(Segment { from: self.now.from, to: ended, n, level: from, spread });
        if worth {
            self.seconds.clear();
        }
        self.begin(kept);
        Some(Shift { at, after: kept, from, to, ratio: candidate.ratio, worth })
    }

    /// A sign test of the readings since the change against the share of such readings before it: Chernoff's bound n·KL(k/n‖p)
    /// on the binomial tail, which holds whatever the distribution.
    fn is_no_accident(&self, after: usize, from: f64, down: bool) -> bool {
        let far = |p: &Point| if down { is_low(p.level, from) } else { is_high(p.level, from) };
        let k = self.recent.latest(0, after).filter(far).count() as f64;
        let seen = if down { self.now.low } else { self.now.high } as f64;
        let before = (self.now.n as f64 - after as f64).max(0.0);
        let usual = ((seen - k).max(0.0) + 1.0) / (before + 2.0);
        let share = k / after.max(1) as f64;
        let term = |x: f64, of: f64| if x > 0.0 { x * (x / of).ln() } else { 0.0 };
        share > usual && after as f64 * (term(share, usual) + term(1.0 - share, 1.0 - usual)) >= UNLIKELY
    }

    /// The level of the present segment; none before the warm-up is over.
    pub(super) fn level(&self) -> Option<f64> {
        self.settled.then_some(self.now.level)
    }

    /// The best level that lasted ten readings and three seconds; until there is one the median of the first three readings.
    pub(super) fn best(&self) -> Option<f64> {
        if self.best > 0.0 {
            return Some(self.best);
        }
        let skip = self.recent.len().checked_sub(3).filter(|_| self.n as usize <= KEPT)?;
        self.recent.median(skip, 3)
    }

    /// Whether [`Signal::best`] is a level that has lasted.
    pub(super) fn best_has_lasted(&self) -> bool {
        self.best > 0.0
    }

    /// Lets another level be the one to fall from: the old one was a burst, and will not come again.
    pub(super) fn fall_from(&mut self, level: f64) {
        self.best = level;
    }

    /// When the present segment began, and how many readings it has; none before the warm-up is over.
    pub(super) fn present(&self) -> Option<(Moment, u64)> {
        self.settled.then_some((self.now.from, self.now.n))
    }

    /// Every segment, the present one as the last; pruned when `whole`.
    pub(super) fn all_segments(&self, whole: bool) -> Vec<Segment> {
        let mut segments = self.segments.clone();
        if let Some(last) = self.recent.back(0) {
            let n = if self.settled { self.now.n } else { self.n };
            let kept = (n as usize).min(KEPT);
            let mut buffer = [0.0; KEPT];
            let level = self.recent.median(0, kept).unwrap_or(0.0);
            let from = if self.settled { self.now.from } else { self.began };
            let spread = spread(self.recent.levels(0, kept, &mut buffer), level);
            segments.push(Segment { from, to: last.at, n, level, spread });
        }
        if whole {
            segments.prune();
        }
        segments.all().to_vec()
    }

    /// What is fitted to the means begins anew: a change of level that has been told is no trend.
    pub(super) fn restart(&mut self) {
        self.blocks = Blocks::default();
    }

    /// A finding was opened: what is steady is so from here on anew.
    pub(super) fn disturb(&mut self) {
        self.steady.clear();
    }
}

fn is_low(level: f64, of: f64) -> bool {
    level <= (1.0 - WORTH_SAYING) * of
}

fn is_high(level: f64, of: f64) -> bool {
    level >= of / (1.0 - WORTH_SAYING)
}
