//! When repeated figures have become steady: the rule of SNIA's Solid State Storage Performance Test Specification (2.0, section
//! "Steady State"): over the last rounds the figures differ by at most a fifth of their mean, and the straight line through them
//! (least squares) rises or falls by at most a tenth of it.

use serde::{Deserialize, Serialize};

use super::stat;

/// Rounds that are looked at, in that specification.
pub const ROUNDS: u32 = 5;
/// The most that the figures may differ by, as a share of their mean, in that specification.
const RANGE: f64 = 0.20;
/// The most that their line may rise or fall by from the first round to the last, as a share of their mean, in that specification.
const SLOPE: f64 = 0.10;

/// What counts as steady; typed as `until_steady: ()` for the rule as it is specified.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Steady {
    /// Last rounds that are looked at; figures are those of these rounds alone.
    pub rounds: u32,
    /// Largest less smallest, as a share of the mean.
    pub range: f64,
    /// Rise or fall of the line through them, as a share of the mean.
    pub slope: f64,
}

impl Default for Steady {
    fn default() -> Self {
        Self { rounds: ROUNDS, range: RANGE, slope: SLOPE }
    }
}

impl Steady {
    /// Whether the last rounds are steady, with the reason in words either way.
    ///
    /// # Errors
    /// Why they are not.
    pub fn look(&self, figures: &[f64]) -> Result<String, String> {
        let rounds = (self.rounds.max(2)) as usize;
        let Some(last) = figures.len().checked_sub(rounds).and_then(|from| figures.get(from..)) else {
            return Err(format!("{} rounds of the {rounds} that steadiness is seen by", figures.len()));
        };
        let (range, slope) = shape(last).ok_or("a mean of nothing")?;
        let words = format!(
            "the last {rounds} of {} rounds differ by {:.1} % (at most {:.0} %) and {} by {:.1} % (at most {:.0} %)",
            figures.len(),
            range * 100.0,
            self.range * 100.0,
            if slope < 0.0 { "fall" } else { "rise" },
            slope.abs() * 100.0,
            self.slope * 100.0
        );
        if self.allows((range, slope)) { Ok(words) } else { Err(words) }
    }

    /// Whether these figures, all of them, are steady.
    #[must_use]
    pub fn is_met(&self, figures: &[f64]) -> bool {
        shape(figures).is_some_and(|shape| self.allows(shape))
    }

    fn allows(&self, (range, slope): (f64, f64)) -> bool {
        range <= self.range && slope.abs() <= self.slope
    }
}

/// Largest less smallest, and what the line rises by, as shares of the mean; none without a mean above nothing.
fn shape(figures: &[f64]) -> Option<(f64, f64)> {
    let mean = stat::mean(figures).filter(|mean| *mean > 0.0)?;
    let most = figures.iter().copied().fold(f64::MIN, f64::max);
    let least = figures.iter().copied().fold(f64::MAX, f64::min);
    Some(((most - least) / mean, rise(figures) / mean))
}

/// What the straight line of least squares rises by from the first value to the last.
fn rise(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let (middle, mean) = ((n - 1.0) / 2.0, values.iter().sum::<f64>() / n);
    let both = values.iter().enumerate().map(|(i, value)| (i as f64 - middle, value - mean));
    let (products, squares) = both.fold((0.0, 0.0), |(p, s), (x, y)| (p + x * y, s + x * x));
    if squares > 0.0 { products / squares * (n - 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_stay_within_both_limits_are_steady() {
        let rule = Steady::default();
        assert!(rule.look(&[900.0, 400.0, 100.0, 104.0, 97.0, 101.0, 99.0]).is_ok());
        let few = rule.look(&[100.0, 100.0, 100.0, 100.0]).unwrap_err();
        assert_eq!(few, "4 rounds of the 5 that steadiness is seen by");
        let wide = rule.look(&[100.0, 121.0, 100.0, 99.0, 100.0]).unwrap_err();
        assert!(wide.contains("differ by 21.2 % (at most 20 %)"), "{wide}");
    }

    #[test]
    fn a_slow_fall_within_the_range_is_not_steady() {
        let fall = Steady::default().look(&[106.0, 103.0, 100.0, 97.0, 94.0]).unwrap_err();
        assert!(fall.contains("fall by 12.0 % (at most 10 %)"), "{fall}");
        assert!(Steady { slope: 0.13, ..Steady::default() }.look(&[106.0, 103.0, 100.0, 97.0, 94.0]).is_ok());
    }

    #[test]
    fn nothing_measured_is_never_steady() {
        assert!(Steady::default().look(&[0.0; 9]).is_err());
        assert!(Steady::default().look(&[]).is_err());
    }
}
