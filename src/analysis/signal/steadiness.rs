//! Whether a series is steady: the rule of [`Steady`] over the means of its latest windows.

use super::ring::Latest;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::steady::{ROUNDS, Steady};

/// Windows that are looked at.
const WINDOWS: usize = ROUNDS as usize;
/// A window holds at least so many readings and lasts at least so long.
const LEAST: (u32, Span) = (10, Span::seconds(5));

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
        let means = self.windows.values();
        let steady = means.len() == WINDOWS && Steady::default().is_met(means);
        self.since = if steady { self.since.or(self.windows.first()) } else { None };
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
