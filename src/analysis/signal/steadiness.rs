//! Whether a series is steady, as SNIA's Solid State Storage Performance Test Specification 2.0.1 (2.1.26) says it: over five
//! windows the means stay within 20 % of their average, and so does the line through them within 10 %.

use super::ring::Latest;
use crate::vocab::moment::{Moment, Span};

/// Windows that are looked at.
const WINDOWS: usize = 5;
/// A window holds at least so many readings and lasts at least so long.
const LEAST: (u32, Span) = (10, Span::seconds(5));
/// Largest less smallest mean, as a share of their average.
const RANGE: f64 = 0.20;
/// Rise or fall of the line through the means from end to end, as a share of their average.
const EXCURSION: f64 = 0.10;

/// The latest windows of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::analysis) struct Steadiness {
    /// The means of the windows, and when each began.
    windows: Latest<WINDOWS>,
    begin: Option<Moment>,
    n: u32,
    sum: f64,
    since: Option<Moment>,
}

impl Steadiness {
    /// Takes in a reading.
    pub(in crate::analysis) fn push(&mut self, at: Moment, level: f64) {
        let begin = *self.begin.get_or_insert(at);
        self.n += 1;
        self.sum += level;
        if self.n < LEAST.0 || at.since(begin) < LEAST.1 {
            return;
        }
        self.windows.push(begin, self.sum / f64::from(self.n));
        (self.begin, self.n, self.sum) = (None, 0, 0.0);
        self.since = if self.is_level() { self.since.or(self.windows.first()) } else { None };
    }

    fn is_level(&self) -> bool {
        let means = self.windows.values();
        if means.len() < WINDOWS {
            return false;
        }
        let average = means.iter().sum::<f64>() / WINDOWS as f64;
        let (least, most) = means.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), m| (a.min(*m), b.max(*m)));
        let slope = (0..WINDOWS).map(|i| (i as f64 - 2.0) * means[i]).sum::<f64>() / 10.0;
        average > 0.0 && most - least <= RANGE * average && (slope * (WINDOWS - 1) as f64).abs() <= EXCURSION * average
    }

    /// Since when it is; none when it is not.
    pub(in crate::analysis) fn since(&self) -> Option<Moment> {
        self.since
    }

    /// Begins anew.
    pub(in crate::analysis) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(seconds: u64, level: impl Fn(u64) -> f64) -> Option<Moment> {
        let mut steady = Steadiness::default();
        (0..seconds).for_each(|i| steady.push(Moment(i * 1_000_000), level(i)));
        steady.since()
    }

    #[test]
    fn five_level_windows_are_steady_and_a_slope_or_a_swing_is_not() {
        assert_eq!(after(50, |_| 100.0), Some(Moment(0)));
        assert_eq!(after(49, |_| 100.0), None);
        assert_eq!(after(60, |i| 100.0 + i as f64 / 2.0), None);
        assert_eq!(after(60, |i| if i / 10 % 2 == 0 { 100.0 } else { 75.0 }), None);
        assert!(after(60, |i| if i / 10 % 2 == 0 { 100.0 } else { 90.0 }).is_some());
    }
}
