//! OSCILLATION: the rate swings so much that no single figure describes it; with its period, or its two modes.

use super::{Course, Rule, Saying};
use crate::analysis::signal::{KEPT, Window, quantile, spread};
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::unit::Unit;

/// The robust coefficient of variation from which on it swings: rates, arithmetic, latencies.
const RATE: f64 = 0.15;
const ARITHMETIC: f64 = 0.05;
const LATENCY: f64 = 0.30;
/// So many times that of whole seconds are a fault, and the end of it. What swings within a second and not from second to
/// second is how requests come, and weighs little.
const GRADES: [(f64, Severity); 2] = [(4.0, Severity::Crit), (2.0, Severity::Fail)];
/// Windows that are looked at, at least and at most.
const LEAST: u64 = 30;
const MOST: u64 = 96;
/// What swings once swings again: so many looks in a row must see it.
const LOOKS: u32 = 3;
/// It is looked at every so many windows, and over after so many looks at less than this share of the limit.
const EVERY: u32 = 10;
const CALM: (f64, u32) = (0.7, 3);
/// The autocorrelation that makes a period.
const PERIODIC: f64 = 0.5;
/// Sarle's coefficient of two modes (that of a uniform distribution), and Ashman's distance between them.
const SARLE: f64 = 0.555;
const ASHMAN: f64 = 2.0;
/// It goes from the upper to the lower half of its range and back at least twice; a change of level or a climb does not.
const CROSSINGS: usize = 4;
/// A collapse that is above this share of the level before it again, and so often, swings.
const HIGH: f64 = 0.75;
const RETURNS: usize = 2;
/// Whole seconds that are looked at where windows differ in length, at least: nothing done for 2 s is two windows among forty.
const SECONDS: usize = 15;

/// Falls to a collapse and back that come again after about the same time, each no longer than this, are a swing as well.
const FALLS: usize = 3;
const LONGEST: Span = Span::seconds(120);
const ABOUT: f64 = 0.3;

/// So do so many changes of level down and up by turns, all within the same time.
const TURNS: usize = 4;

/// Watches the spread around the level.
#[derive(Debug, Default)]
pub(super) struct Oscillation {
    count: u32,
    calm: u32,
    seen: u32,
    falls: [Moment; FALLS],
    turns: [(Moment, bool); TURNS],
    /// Of one that is known by its falls: what is low, the time between two of them, and the last.
    regular: Option<(f64, Span, Moment)>,
    open: Option<Saying>,
}

impl Rule for Oscillation {
    fn window(&mut self, window: &Window, course: &mut Course<'_>) {
        course.check(&mut self.open);
        if let Some(onset) = self.comes_again(course).or_else(|| self.turns(course)) {
            return self.say_falls(onset, window.to, course);
        }
        if let Some((low, _, last)) = &mut self.regular
            && window.level <= *low
        {
            *last = window.to;
        }
        self.count += 1;
        if self.count < EVERY {
            return self.look_at_seconds(window.to, course);
        }
        self.count = 0;
        if self.open.is_some()
            && course.standing(Kind::Collapse).is_some()
            && let Some(open) = self.open.take()
        {
            return course.say(&open.over(window.to, "then it fell"));
        }
        let Some(n) = self.reach(course) else {
            self.seen = 0;
            return;
        };
        let mut buffer = [0.0; KEPT];
        let levels = course.signal.recent.levels(0, n, &mut buffer);
        let limit = limit(course);
        if self.open.is_none() && at_most(levels) < limit {
            self.seen = 0;
            return;
        }
        let swing = swing_of(levels);
        if self.open.is_some() {
            let due = self.regular.is_some_and(|(_, every, last)| window.to.since(last).0 <= 2 * every.0);
            self.calm = if swing < CALM.0 * limit && !due { self.calm + 1 } else { 0 };
            if self.calm >= CALM.1
                && let Some(open) = self.open.take()
            {
                return course.say(&open.over(window.to, "then calm"));
            }
            return self.worsen(limit, course);
        }
        let levels = course.signal.recent.levels(0, n, &mut buffer);
        let mut spent = [0.0; KEPT];
        let still = course.signal.recent.levels(0, n / 2, &mut spent);
        let swings = is_swing(swing, levels, limit) && swing_of(still) > limit;
        self.seen = if swings { self.seen + 1 } else { 0 };
        if self.seen >= LOOKS {
            let at = |back: usize| course.signal.recent.back(back).map(|p| p.at);
            let onset = first_crossing(levels).and_then(at).unwrap_or(window.from);
            let spacing = at(0).zip(at(n - 1)).map_or(0.0, |(a, b)| a.since(b).as_seconds() / (n - 1) as f64);
            self.say((onset, window.to), spacing, levels, swing, course);
        }
    }
}

impl Oscillation {
    /// The first of the latest changes of level, when they go down and up by turns.
    fn turns(&mut self, course: &Course<'_>) -> Option<Moment> {
        let shift = course.shift.filter(|shift| shift.worth)?;
        self.turns.rotate_left(1);
        self.turns[TURNS - 1] = (shift.at, shift.to < shift.from);
        let alternate = self.turns.windows(2).all(|pair| pair[0].1 != pair[1].1);
        let first = self.turns[0].0;
        let short = first > Moment(0) && shift.at.since(first) <= LONGEST;
        let calm = self.open.is_none() && course.standing(Kind::Collapse).is_none();
        (alternate && short && calm).then_some(first)
    }

    /// The onset of the first of the latest collapses, when they have come again regularly.
    fn comes_again(&mut self, course: &Course<'_>) -> Option<Moment> {
        let onset = course.standing(Kind::Collapse)?.onset;
        if onset == self.falls[FALLS - 1] {
            return None;
        }
        self.falls.rotate_left(1);
        self.falls[FALLS - 1] = onset;
        let [first, second, third] = self.falls;
        let (a, b) = (second.since(first).as_seconds(), third.since(second).as_seconds());
        let regular = first > Moment(0) && a.max(b) <= LONGEST.as_seconds() && (a - b).abs() <= ABOUT * a.max(b);
        regular.then_some(first)
    }

    /// It falls and comes back by the clock.
    fn say_falls(&mut self, onset: Moment, now: Moment, course: &mut Course<'_>) {
        let n = course.signal.recent.latest(0, KEPT).take_while(|p| p.at >= onset).count();
        let mut spent = [0.0; KEPT];
        let sorted = course.signal.recent.levels(0, n, &mut spent);
        let (low, high) = (quantile(sorted, 0.02).unwrap_or(0.0), quantile(sorted, 0.9).unwrap_or(0.0));
        let last = course.standing(Kind::Collapse).map_or(now, |collapse| collapse.onset);
        let every = Span(last.since(onset).0 / 2);
        let what = format!("falls from {} to {} and back, every {every}", course.short(high), course.short(low));
        self.open(onset, now, high, what, course);
        self.regular = Some((low.midpoint(high), every, now));
    }

    /// How many of the latest windows to look at: those of the present level, or, when a collapse keeps coming back, since it.
    fn reach(&self, course: &Course<'_>) -> Option<usize> {
        let (_, mut n) = course.signal.present()?;
        if course.standing(Kind::Stall).is_some() {
            return None;
        }
        if let Some(collapse) = course.standing(Kind::Collapse) {
            // One that has lasted is a collapse, whatever comes after it.
            if collapse.severity > Severity::Warn || !comes_back(collapse.onset, course) {
                return None;
            }
            n = course.signal.recent.latest(0, KEPT).take_while(|p| p.at > collapse.onset).count() as u64;
        }
        (n >= LEAST || self.open.is_some() && n > 0).then_some(n.min(MOST) as usize)
    }

    /// The same over whole seconds.
    fn look_at_seconds(&mut self, now: Moment, course: &mut Course<'_>) {
        let n = course.signal.seconds.means().len();
        let quiet = self.open.is_some() || course.standing(Kind::Stall).is_some();
        if !course.signal.ended_second || quiet || n < SECONDS {
            return;
        }
        let (mut buffer, mut spent) = ([0.0; KEPT], [0.0; KEPT]);
        let levels = &mut buffer[..n];
        levels.copy_from_slice(course.signal.seconds.means());
        levels.reverse();
        spent[..n].copy_from_slice(levels);
        let swing = swing_of(&mut spent[..n]);
        // Windows of a second have been looked at already; and fewer readings need a period for a proof.
        let (_, windows) = course.signal.present().unwrap_or_default();
        let shorter = windows as f64 > 1.5 * n as f64;
        if shorter && is_swing(swing, levels, limit(course)) && period(levels).is_some() {
            let back = first_crossing(levels).unwrap_or(0) as u64;
            self.say((now - Span::seconds(back + 1), now), 1.0, levels, swing, course);
        }
    }

    /// `levels` are newest first, one every `spacing` seconds.
    fn say(
        &mut self,
        (onset, now): (Moment, Moment),
        spacing: f64,
        levels: &[f64],
        swing: f64,
        course: &mut Course<'_>,
    ) {
        let mut spent = [0.0; KEPT];
        spent[..levels.len()].copy_from_slice(levels);
        let middle = quantile(&mut spent[..levels.len()], 0.5).unwrap_or(0.0);
        let mut what = format!("swings by {:.0} % around {}", 100.0 * swing, course.short(middle));
        if let Some((low, high)) = modes(levels) {
            what.push_str(&format!(", between {} and {}", course.short(low), course.short(high)));
        }
        if let Some(lag) = period(levels) {
            what.push_str(&format!(", with a period of {:.1} s", lag as f64 * spacing));
        }
        self.open(onset, now, middle, what, course);
        self.worsen(limit(course), course);
    }

    fn open(&mut self, onset: Moment, now: Moment, level: f64, what: String, course: &mut Course<'_>) {
        let mut saying = Saying::new(Kind::Oscillation, Severity::Warn, onset, now);
        (saying.to, saying.what) = (Some(level), what);
        let part = course.standing(Kind::Collapse).or(course.standing(Kind::Step));
        if let Some(part) = part {
            (saying.was, saying.onset) = (Some(part.kind), part.onset.min(onset));
        }
        (self.open, self.calm, self.regular) = (Some(course.open(saying)), 0, None);
    }

    fn worsen(&mut self, limit: f64, course: &mut Course<'_>) {
        let Some(open) = &mut self.open else { return };
        let means = course.signal.seconds.means();
        let mut values = [0.0; KEPT];
        let n = means.len();
        // Latencies are skewed by nature: how wide they spread is told, and is no fault by itself.
        if n < SECONDS || course.about.lower_is_better {
            return;
        }
        values[..n].copy_from_slice(means);
        let swing = swing_of(&mut values[..n]);
        let grade = GRADES
            .iter()
            .find(|(times, _)| swing > times * limit * (1.0 + 2.0 / (n as f64).sqrt()))
            .map(|(_, severity)| *severity);
        if let Some(worse) = grade.filter(|g| *g > open.severity) {
            open.severity = worse;
            let saying = open.clone();
            course.say(&saying);
        }
    }
}

/// Whether the level of before was reached again twice since a collapse.
fn comes_back(since: Moment, course: &Course<'_>) -> bool {
    let Some(before) = course.signal.best() else { return false };
    let windows = course.signal.recent.latest(0, KEPT).take_while(|p| p.at > since);
    // One window alone may be what was waiting and came at once.
    let (mut times, mut high) = (0, 0);
    for window in windows {
        high = if window.level > HIGH * before { high + 1 } else { 0 };
        times += usize::from(high == 2);
    }
    times >= RETURNS
}

fn limit(course: &Course<'_>) -> f64 {
    match course.about.unit {
        _ if course.about.lower_is_better => LATENCY,
        Unit::Gflops => ARITHMETIC,
        _ => RATE,
    }
}

/// The larger of 1.4826 MAD and IQR/1.349 over the median: two robust standard deviations, of which the second sees that a
/// third of the readings are elsewhere.
fn swing_of(levels: &mut [f64]) -> f64 {
    let middle = quantile(levels, 0.5).unwrap_or(0.0);
    let between = quantile(levels, 0.75).unwrap_or(0.0) - quantile(levels, 0.25).unwrap_or(0.0);
    let by_distance = spread(levels, middle);
    by_distance.max(between / 1.349) / middle.abs()
}

/// What [`swing_of`] is at most, without sorting. Half of the readings are MAD or more away from the middle, and half of them lie
/// outside the quartiles: 1.4826 MAD and IQR/1.349 are both at most 2.97 times the mean distance. A tenth more, as that is taken
/// from the mean and not from the median.
fn at_most(levels: &[f64]) -> f64 {
    let n = levels.len() as f64;
    let mean = levels.iter().sum::<f64>() / n;
    let distance = levels.iter().map(|x| (x - mean).abs()).sum::<f64>() / n;
    3.3 * distance / mean.abs()
}

/// Whether the levels swing: by more than readings so few do by chance, and to and fro.
fn is_swing(swing: f64, levels: &[f64], limit: f64) -> bool {
    let n = levels.len() as f64;
    swing.is_finite() && swing > limit * (1.0 + 2.0 / n.sqrt()) && crossings(levels).count() >= CROSSINGS
}

/// Where it goes from above the middle of its range (5th to 95th percentile) to below, or back; the latest first.
fn crossings(levels: &[f64]) -> impl Iterator<Item = usize> {
    let mut buffer = [0.0; KEPT];
    let sorted = &mut buffer[..levels.len()];
    sorted.copy_from_slice(levels);
    let middle = f64::midpoint(quantile(sorted, 0.05).unwrap_or(0.0), quantile(sorted, 0.95).unwrap_or(0.0));
    levels.windows(2).enumerate().filter(move |(_, w)| (w[0] > middle) != (w[1] > middle)).map(|(i, _)| i)
}

/// The oldest reading behind a crossing.
fn first_crossing(levels: &[f64]) -> Option<usize> {
    crossings(levels).last()
}

/// The lag at which the autocorrelation peaks above a half, behind its first fall below nothing.
fn period(levels: &[f64]) -> Option<usize> {
    let n = levels.len();
    let mean = levels.iter().sum::<f64>() / n as f64;
    let at = |lag: usize| levels.windows(lag + 1).map(|w| (w[0] - mean) * (w[lag] - mean)).sum::<f64>();
    let whole = at(0);
    let correlation = |lag: usize| at(lag) / whole * n as f64 / (n - lag) as f64;
    let first = (1..n / 2).find(|lag| correlation(*lag) < 0.0)?;
    let best = (first..n / 2).max_by(|a, b| correlation(*a).total_cmp(&correlation(*b)))?;
    (whole > 0.0 && correlation(best) > PERIODIC).then_some(best)
}

/// The two levels between which it swings, if there are two.
fn modes(levels: &[f64]) -> Option<(f64, f64)> {
    let n = levels.len() as f64;
    let mean = levels.iter().sum::<f64>() / n;
    let moment = |k: i32| levels.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
    let deviation = moment(2).sqrt();
    let (skew, kurtosis) = (moment(3) / deviation.powi(3), moment(4) / deviation.powi(4));
    let part = |low: bool| {
        let of = || levels.iter().filter(|x| (**x < mean) == low);
        let (count, sum) = (of().count() as f64, of().sum::<f64>());
        let middle = sum / count;
        (middle, of().map(|x| (x - middle).powi(2)).sum::<f64>() / count)
    };
    let ((low, low_variance), (high, high_variance)) = (part(true), part(false));
    let apart = std::f64::consts::SQRT_2 * (high - low) / (low_variance + high_variance).sqrt();
    ((skew * skew + 1.0) / kurtosis > SARLE && apart > ASHMAN).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_wave_has_two_modes_and_its_period() {
        let wave: Vec<f64> = (0..128).map(|i| if i % 20 < 10 { 100.0 } else { 40.0 }).collect();
        assert_eq!(period(&wave), Some(20));
        assert_eq!(modes(&wave), Some((40.0, 100.0)));
        assert!(swing_of(&mut wave.clone()) > 0.4);
    }

    #[test]
    fn noise_around_one_level_has_neither() {
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        let noise: Vec<f64> = (0..128).map(|_| 100.0 + (0..6).map(|_| 10.0 * uniform()).sum::<f64>()).collect();
        assert_eq!((period(&noise), modes(&noise)), (None, None));
        assert!(swing_of(&mut noise.clone()) < RATE);
    }
}
