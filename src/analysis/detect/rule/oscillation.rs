//! OSCILLATION: the rate swings so much that no single figure describes it; with its period, or its two modes.

use super::{Course, Rule, Saying};
use crate::analysis::signal::{KEPT, Window, quantile, spread};
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::moment::Moment;
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
const MOST: u64 = 128;
/// It is looked at every so many windows, and over after so many looks at less than this share of the limit.
const EVERY: u32 = 10;
const CALM: (f64, u32) = (0.7, 3);
/// The autocorrelation that makes a period.
const PERIODIC: f64 = 0.5;
/// Sarle's coefficient of two modes (that of a uniform distribution), and Ashman's distance between them.
const SARLE: f64 = 0.555;
const ASHMAN: f64 = 2.0;
/// A collapse that was above this share of its level for a fifth of the time swings.
const HIGH: f64 = 0.75;
const OFTEN: f64 = 0.2;

/// Watches the spread around the level.
#[derive(Debug, Default)]
pub(super) struct Oscillation {
    count: u32,
    calm: u32,
    open: Option<Saying>,
}

impl Rule for Oscillation {
    fn window(&mut self, window: &Window, course: &mut Course<'_>) {
        if self.open.is_some() && course.standing(Kind::Oscillation).is_none() {
            self.open = None;
        }
        self.count += 1;
        if self.count < EVERY {
            return;
        }
        self.count = 0;
        let Some(n) = self.reach(course) else { return };
        let mut buffer = [0.0; KEPT];
        let swing = swing(course.signal.recent.levels(0, n, &mut buffer));
        let limit = limit(course);
        if self.open.is_some() {
            self.calm = if swing < CALM.0 * limit { self.calm + 1 } else { 0 };
            if self.calm >= CALM.1
                && let Some(open) = self.open.take()
            {
                return course.say(&open.over(window.to, "then calm"));
            }
            return self.worsen(limit, course);
        }
        if swing > limit {
            self.say(window.to, n, swing, course);
        }
    }

    fn end(&mut self, at: Moment, course: &mut Course<'_>) {
        if let Some(open) = self.open.take() {
            course.say(&open.over(at, "to the end of the run"));
        }
    }
}

impl Oscillation {
    /// How many of the latest windows to look at: those of the present level, or, when a collapse keeps coming back, since before it.
    fn reach(&self, course: &Course<'_>) -> Option<usize> {
        let (_, n) = course.signal.present()?;
        let collapse = course.standing(Kind::Collapse);
        let n = match collapse {
            None => n,
            Some(collapse) => {
                let since = course.signal.recent.latest(0, KEPT).take_while(|p| p.at > collapse.onset).count();
                let before = course.signal.best().unwrap_or(0.0);
                let high = course.signal.recent.latest(0, since).filter(|p| p.level > HIGH * before).count();
                if (high as f64) < OFTEN * since as f64 {
                    return None;
                }
                since as u64
            }
        };
        (n >= LEAST || self.open.is_some() && n > 0).then_some(n.min(MOST) as usize)
    }

    fn say(&mut self, now: Moment, n: usize, swing: f64, course: &mut Course<'_>) {
        let mut buffer = [0.0; KEPT];
        let levels = course.signal.recent.levels(0, n, &mut buffer);
        let middle = levels.iter().sum::<f64>() / n.max(1) as f64;
        let period = period(levels);
        let modes = modes(levels);
        let first = course.signal.recent.back(n - 1).map_or(now, |p| p.at);
        let spacing = now.since(first).as_seconds() / (n - 1).max(1) as f64;
        let mut saying = Saying::new(Kind::Oscillation, Severity::Warn, first, now);
        if let Some(collapse) = course.standing(Kind::Collapse) {
            (saying.was, saying.onset) = (Some(Kind::Collapse), collapse.onset);
        }
        saying.to = Some(middle);
        saying.what = format!("swings by {:.0} % around {}", 100.0 * swing, course.short(middle));
        if let Some((low, high)) = modes {
            saying.what.push_str(&format!(", between {} and {}", course.short(low), course.short(high)));
        }
        if let Some(lag) = period {
            saying.what.push_str(&format!(", with a period of {:.1} s", lag as f64 * spacing));
        }
        course.say(&saying);
        saying.was = None;
        (self.open, self.calm) = (Some(saying), 0);
        self.worsen(limit(course), course);
    }

    fn worsen(&mut self, limit: f64, course: &mut Course<'_>) {
        let Some(open) = &mut self.open else { return };
        let means = course.signal.seconds.means();
        let mut values = [0.0; KEPT];
        let n = means.len();
        if n < EVERY as usize {
            return;
        }
        values[..n].copy_from_slice(means);
        let swing = swing(&mut values[..n]);
        let grade = GRADES.iter().find(|(times, _)| swing > times * limit).map(|(_, severity)| *severity);
        if let Some(worse) = grade.filter(|g| *g > open.severity) {
            open.severity = worse;
            let saying = open.clone();
            course.say(&saying);
        }
    }
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
fn swing(levels: &mut [f64]) -> f64 {
    let middle = quantile(levels, 0.5).unwrap_or(0.0);
    let between = quantile(levels, 0.75).unwrap_or(0.0) - quantile(levels, 0.25).unwrap_or(0.0);
    let by_distance = spread(levels, middle);
    by_distance.max(between / 1.349) / middle.abs().max(f64::MIN_POSITIVE)
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
        assert!(swing(&mut wave.clone()) > 0.5);
    }

    #[test]
    fn noise_around_one_level_has_neither() {
        let noise: Vec<f64> = (0..128_u64)
            .map(|i| 100.0 + (0..6).map(|k| ((i * 6 + k) * 2_654_435_761 % 1000) as f64 / 100.0).sum::<f64>())
            .collect();
        assert_eq!((period(&noise), modes(&noise)), (None, None));
        assert!(swing(&mut noise.clone()) < RATE);
    }
}
