//! Whether two means differ by more than chance, and the correction for asking so many times.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::vocab::stat;

/// What all tests of a comparison together may be wrong in, where nothing differs; and what an interval leaves out.
pub(super) const WRONG: f64 = 0.05;
/// Values that a side needs; of two the spread is hardly known.
pub(super) const FEWEST: usize = 3;

/// The values of a machine.
pub(super) struct Side {
    mean: f64,
    /// The variance of the mean by the square of the mean.
    error: f64,
    n: f64,
    /// Iterations of one session, which tell nothing of another; else a value is a session.
    single: bool,
}

impl Side {
    /// None of less than 3 values, and around zero.
    pub(super) fn of(values: &[f64], single: bool) -> Option<Self> {
        let (mean, n) = (stat::mean(values)?, values.len() as f64);
        let error = stat::variance(values)? / n / (mean * mean);
        (values.len() >= FEWEST && mean != 0.0).then_some(Self { mean, error, n, single })
    }
}

/// What is taken for the spread of sessions of one machine.
#[derive(Clone, Copy)]
pub(super) enum Among {
    /// There is none: only these very values are held against each other.
    Nothing,
    /// What the side with several sessions shows; this share of the mean as a standard deviation where both have one.
    Sessions(f64),
}

/// The probability that chance makes two means differ by so much or more, two-sided.
///
/// Welch's t test (1947). A session against several is one more draw from these: the variance is theirs, 1 + 1/n times, as in an
/// interval of prediction (Hahn and Meeker, Statistical Intervals). A variance that is assumed has no degrees of freedom to lose.
pub(super) fn chance(one: &Side, other: &Side, among: Among) -> Option<f64> {
    let (variance, free) = apart([one, other], [one.mean * one.mean, other.mean * other.mean], among);
    if variance > 0.0 {
        let t = StudentsT::new(0.0, 1.0, free).ok()?;
        return Some(2.0 * t.cdf(-(one.mean - other.mean).abs() / variance.sqrt()));
    }
    Some(f64::from(one.mean == other.mean))
}

/// Where the second mean by the first lies with 95 %, by the logarithm, whose variance is that of the relative errors (the delta
/// method); none where one is not above zero.
pub(super) fn ratio(one: &Side, other: &Side, among: Among) -> Option<(f64, f64)> {
    let (variance, free) = apart([one, other], [1.0, 1.0], among);
    if one.mean <= 0.0 || other.mean <= 0.0 {
        return None;
    }
    let half = StudentsT::new(0.0, 1.0, free).ok()?.inverse_cdf(1.0 - WRONG / 2.0) * variance.sqrt();
    let ratio = other.mean / one.mean;
    Some((ratio * (-half).exp(), ratio * half.exp()))
}

/// The variance of the difference of two means, each scaled, and its degrees of freedom.
fn apart(sides: [&Side; 2], scales: [f64; 2], among: Among) -> (f64, f64) {
    let parts = [0, 1].map(|at| sides[at].error * scales[at]);
    if matches!(among, Among::Sessions(_)) && sides[0].single != sides[1].single {
        let several = usize::from(sides[0].single);
        let side = sides[several];
        return (parts[several] + side.error * side.n * scales[1 - several], side.n - 1.0);
    }
    let assumed = match among {
        Among::Sessions(share) if sides[0].single => share * share * (scales[0] + scales[1]),
        _ => 0.0,
    };
    let variance = parts[0] + parts[1] + assumed;
    let lost: f64 = [0, 1].map(|at| parts[at] * parts[at] / (sides[at].n - 1.0)).iter().sum();
    // Never fewer than those of the side with fewer; what is below, or no number, is so by rounding alone.
    let fewest = sides[0].n.min(sides[1].n) - 1.0;
    (variance, (variance * variance / lost).clamp(fewest, 1e6).max(fewest))
}

/// Holm's correction (1979): what each of many probabilities is worth, in their order.
pub(super) fn holm(tested: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..tested.len()).collect();
    order.sort_by(|one, other| tested[*one].total_cmp(&tested[*other]));
    let (mut corrected, mut before) = (vec![1.0; tested.len()], 0.0_f64);
    for (place, at) in order.into_iter().enumerate() {
        before = before.max((tested[at] * (tested.len() - place) as f64).min(1.0));
        corrected[at] = before;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(values: &[f64], single: bool) -> Side {
        Side::of(values, single).unwrap()
    }

    #[test]
    fn welchs_test_is_that_of_the_textbook() {
        let (one, other) = (side(&[1.0, 2.0, 3.0, 4.0, 5.0], true), side(&[2.0, 4.0, 6.0, 8.0, 10.0], true));
        // Means 3 and 6, variances 2.5 and 10: t = 3 / sqrt(2.5) = 1.8974; 2.5² / (0.5²/4 + 2²/4) = 5.882 degrees of freedom, and the
        // density integrated by hand.
        let p = chance(&one, &other, Among::Nothing).unwrap();
        assert!((p - 0.107_53).abs() < 1e-5, "{p}");
        let (low, high) = ratio(&one, &other, Among::Nothing).unwrap();
        // The logarithm of 2 with 0.5 / 9 + 2 / 36 = 1/9 and df 8: 2.306 / 3 on both sides.
        assert!((low - 2.0 * (-2.306_f64 / 3.0).exp()).abs() < 1e-3, "{low}");
        assert!((high - 2.0 * (2.306_f64 / 3.0).exp()).abs() < 1e-3, "{high}");
        let (five, six) = (side(&[5.0; 3], true), side(&[6.0; 3], true));
        assert_eq!(chance(&five, &five, Among::Nothing), Some(1.0));
        assert_eq!(chance(&five, &six, Among::Nothing), Some(0.0));
        assert!(Side::of(&[5.0; 2], true).is_none() && Side::of(&[1.0, -1.0, 0.0], true).is_none());
    }

    #[test]
    fn a_session_against_several_is_one_more_of_them() {
        let several = side(&[98.0, 100.0, 102.0], false);
        let one = side(&[107.9, 108.0, 108.1], true);
        // t = 8 / sqrt(4 / 3 + 4 × 1.08²) with 2 degrees of freedom, whose distribution has a closed form.
        let t = 8.0 / (4.0_f64 / 3.0 + 4.0 * 1.08 * 1.08).sqrt();
        let expected = 1.0 - t / (2.0 + t * t).sqrt();
        for p in [chance(&several, &one, Among::Sessions(0.5)), chance(&one, &several, Among::Sessions(0.5))] {
            assert!((p.unwrap() - expected).abs() < 1e-9, "{p:?} {expected}");
        }
        let both = side(&[107.0, 108.0, 109.0], false);
        let plain = chance(&several, &both, Among::Nothing);
        assert_eq!(chance(&several, &both, Among::Sessions(0.5)), plain, "nothing is assumed of several");
    }

    #[test]
    fn what_sessions_may_differ_by_is_assumed_of_single_ones() {
        let (one, other) = (side(&[99.9, 100.0, 100.1], true), side(&[109.9, 110.0, 110.1], true));
        assert!(chance(&one, &other, Among::Nothing).unwrap() < 1e-6);
        // The assumed 5 % outweigh all: normal with 10 / (5 × sqrt(1 + 1.1²)) = 1.345 deviations.
        let p = chance(&one, &other, Among::Sessions(0.05)).unwrap();
        assert!((p - 0.1785).abs() < 1e-3, "{p}");
        let (low, high) = ratio(&one, &other, Among::Sessions(0.05)).unwrap();
        assert!(low < 1.0 && high > 1.2, "{low} {high}");
    }

    #[test]
    fn holm_asks_more_of_the_smallest_of_many() {
        // 0.01 × 3, 0.02 × 2, 0.04 × 1 and no less than the one before.
        assert_eq!(holm(&[0.04, 0.01, 0.02]), [0.04, 0.03, 0.04]);
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
        assert_eq!(holm(&[]), [0.0; 0]);
    }
}
