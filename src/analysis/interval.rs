//! How sure a statistic is: the interval that holds the true value with 95 %, or why there is none.
//!
//! Deterministic, so that the same records give the same verdict for ever.

use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF, StudentsT};

use crate::vocab::check::Statistic;
use crate::vocab::random::below;
use crate::vocab::stat;

/// What an interval leaves out, on both sides together.
const OUTSIDE: f64 = 0.05;
/// Values below which a mean has no interval: two tell how far two values are apart, and with three a single outlier is a third.
const FEWEST: usize = 3;
/// Resamples of a bootstrap; more change the third digit of an interval of 95 %.
const RESAMPLES: usize = 2000;
/// The autocorrelation of values that have none is within so many standard errors, 1/√n each (Bartlett, 1946), in all but 2.5 of 100
/// cases above.
const SURELY: f64 = 1.96;

/// Where the true value lies with 95 %.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// By which method, in a few words.
    pub how: String,
}

/// Of the mean: Student's t on the values, which are taken as fewer than they are where each resembles the one before it.
///
/// With the autocorrelation r of neighbours, n values say as much as n (1 − r) / (1 + r) independent ones of an autoregressive series
/// (Zwiers and von Storch, 1995).
///
/// # Errors
/// Why there is none, with how many values there would have to be.
pub fn mean(values: &[f64]) -> Result<Interval, String> {
    let n = values.len();
    let (Some(mean), Some(variance), true) = (stat::mean(values), stat::variance(values), n >= FEWEST) else {
        return Err(too_few(n, FEWEST, "a mean"));
    };
    let r = autocorrelation(values);
    let worth = (n as f64 * (1.0 - r) / (1.0 + r)).max(2.0);
    let t = StudentsT::new(0.0, 1.0, worth - 1.0).map_err(|why| why.to_string())?;
    let half = t.inverse_cdf(1.0 - OUTSIDE / 2.0) * (variance / worth).sqrt();
    let how = if r > 0.0 {
        format!("Student's t; neighbours are alike, so {n} values count as {worth:.1}")
    } else {
        "Student's t".to_owned()
    };
    Ok(Interval { low: mean - half, high: mean + half, how })
}

/// How much a value resembles the one before it; 0 where it is no more than chance makes of independent values.
fn autocorrelation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let Some(mean) = stat::mean(values) else { return 0.0 };
    let all: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let pairs: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    // The estimate is too low by about 1/n.
    let r = if all > 0.0 { pairs / all + 1.0 / n } else { 0.0 };
    if r > SURELY / n.sqrt() { r.min(0.9) } else { 0.0 }
}

/// Of a quantile, the median among them: between two of the sorted values, which needs no assumption about their distribution. How many
/// values lie below the true quantile is binomial (Conover, Practical Nonparametric Statistics).
///
/// # Errors
/// As [`mean`]; for a median 6 values are the fewest.
pub fn quantile(values: &[f64], q: f64) -> Result<Interval, String> {
    let n = values.len();
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let fewest = fewest(q);
    if n < fewest {
        return Err(too_few(n, fewest, &format!("the {q} quantile")));
    }
    let below = Binomial::new(q, n as u64).map_err(|why| why.to_string())?;
    // The largest of the sorted values that lies above the quantile with 2.5 % at most, and the smallest that lies below it so.
    let low = (0..n).rev().find(|i| below.cdf(*i as u64) <= OUTSIDE / 2.0);
    let high = (0..n).find(|i| 1.0 - below.cdf(*i as u64) <= OUTSIDE / 2.0);
    match low.zip(high) {
        Some((low, high)) => {
            Ok(Interval { low: sorted[low], high: sorted[high], how: format!("order statistics of {n} values") })
        }
        None => Err(too_few(n, fewest, &format!("the {q} quantile"))),
    }
}

/// The fewest values of which the smallest and the largest lie around a quantile with 95 %.
fn fewest(q: f64) -> usize {
    let rarer = q.max(1.0 - q);
    if rarer >= 1.0 { usize::MAX } else { ((OUTSIDE / 2.0).ln() / rarer.ln()).ceil() as usize }
}

/// The fewest values of which a statistic has an interval, [`usize::MAX`] where no number is enough; none of those that are of what was
/// measured and decided as a point.
#[must_use]
pub fn fewest_of(statistic: Statistic) -> Option<usize> {
    match statistic {
        Statistic::Mean | Statistic::Spread | Statistic::RobustSpread => Some(FEWEST),
        Statistic::Median => Some(fewest(0.5)),
        Statistic::Quantile(q) => Some(fewest(q)),
        Statistic::Min | Statistic::Max | Statistic::Best | Statistic::Sustained | Statistic::Burst => None,
    }
}

/// Of the coefficient of variation, in its own unit: that of a standard deviation of normal values by the chi-squared distribution; that
/// the mean is uncertain as well is left out, which is little below a third (Vangel, 1996).
///
/// # Errors
/// As [`mean`].
pub fn spread(values: &[f64]) -> Result<Interval, String> {
    let n = values.len();
    let (Some(cv), true) = (stat::cv(values), n >= FEWEST) else { return Err(too_few(n, FEWEST, "a spread")) };
    let free = (n - 1) as f64;
    let squares = ChiSquared::new(free).map_err(|why| why.to_string())?;
    let at = |share: f64| cv * (free / squares.inverse_cdf(share)).sqrt();
    Ok(Interval { low: at(1.0 - OUTSIDE / 2.0), high: at(OUTSIDE / 2.0), how: "chi-squared".to_owned() })
}

/// Of the robust coefficient of variation: the middle 95 % of resamples with replacement (Efron and Tibshirani, 1993), always the same
/// ones.
///
/// # Errors
/// As [`mean`].
pub fn robust_spread(values: &[f64]) -> Result<Interval, String> {
    let n = values.len();
    if n < FEWEST || stat::robust_cv(values).is_none() {
        return Err(too_few(n, FEWEST, "a spread"));
    }
    let mut state = 20_150_601_u64;
    let mut sample = vec![0.0; n];
    let mut found = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        for slot in &mut sample {
            *slot = values[below(&mut state, n as u64) as usize];
        }
        found.extend(stat::robust_cv(&sample));
    }
    let at = |share: f64| stat::quantile(&found, share).unwrap_or(f64::NAN);
    Ok(Interval { low: at(OUTSIDE / 2.0), high: at(1.0 - OUTSIDE / 2.0), how: "bootstrap".to_owned() })
}

fn too_few(n: usize, fewest: usize, what: &str) -> String {
    if fewest == usize::MAX {
        return format!("{what} has no interval");
    }
    format!("{n} values give no interval of 95 % for {what}; {fewest} would")
}

/// How many more values are likely to settle a comparison that is open: an interval narrows with the root of their number.
#[must_use]
pub fn further(values: usize, measured: f64, interval: &Interval, limit: f64) -> Option<usize> {
    let half = (interval.high - interval.low) / 2.0;
    let away = (measured - limit).abs();
    let needed = values as f64 * (half / away).powi(2);
    // Beyond so many the figure lies on the limit for all that can be told.
    (away > 0.0 && needed < 1e4).then(|| (needed.ceil() as usize).saturating_sub(values).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::random::normal;

    #[test]
    fn a_mean_has_students_interval() {
        // 1, 2, 3: deviation 1, t(2) = 4.303, half = 4.303 / sqrt 3.
        let got = mean(&[1.0, 2.0, 3.0]).unwrap();
        assert!((got.low - (2.0 - 2.484)).abs() < 1e-3 && (got.high - (2.0 + 2.484)).abs() < 1e-3, "{got:?}");
        assert_eq!(mean(&[1.0, 2.0]).unwrap_err(), "2 values give no interval of 95 % for a mean; 3 would");
    }

    #[test]
    fn a_median_lies_between_order_statistics_from_six_values_on() {
        let got = quantile(&[6.0, 1.0, 5.0, 2.0, 4.0, 3.0], 0.5).unwrap();
        assert_eq!((got.low, got.high), (1.0, 6.0));
        // For 20 values the table of Conover's book has the 6th and the 15th.
        let twenty: Vec<f64> = (1..=20).map(f64::from).collect();
        let got = quantile(&twenty, 0.5).unwrap();
        assert_eq!((got.low, got.high), (6.0, 15.0));
        assert!(quantile(&[1.0; 5], 0.5).unwrap_err().ends_with("6 would"));
        assert!(quantile(&[1.0; 50], 0.99).unwrap_err().ends_with("368 would"));
    }

    #[test]
    fn values_that_resemble_their_neighbours_count_for_less() {
        let slow: Vec<f64> = (0..40).map(|i| 100.0 + 5.0 * (f64::from(i) / 6.0).sin()).collect();
        let mixed: Vec<f64> = (0..40).map(|i| slow[(i * 17) % 40]).collect();
        let (slow, mixed) = (mean(&slow).unwrap(), mean(&mixed).unwrap());
        assert!(slow.how.contains("neighbours are alike") && mixed.how == "Student's t", "{slow:?} {mixed:?}");
        assert!(slow.high - slow.low > 2.0 * (mixed.high - mixed.low));
    }

    #[test]
    fn intervals_hold_the_true_value_as_often_as_they_say() {
        let mut state = 7;
        let (mut means, mut medians, mut spreads) = (0, 0, 0);
        for _ in 0..2000 {
            let values: Vec<f64> = (0..20).map(|_| 100.0 + 5.0 * normal(&mut state)).collect();
            let holds = |interval: Interval, value: f64| u32::from((interval.low..=interval.high).contains(&value));
            means += holds(mean(&values).unwrap(), 100.0);
            medians += holds(quantile(&values, 0.5).unwrap(), 100.0);
            spreads += holds(spread(&values).unwrap(), 0.05);
        }
        // 1900 is the mean, 10 the standard deviation; that of a median is wider than 95 %, as ranks are whole.
        assert!(
            (1860..=1940).contains(&means) && medians >= 1880 && (1860..=1940).contains(&spreads),
            "{means} {medians} {spreads}"
        );
    }

    #[test]
    fn a_robust_spread_is_the_same_every_time() {
        let values: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i * 7 % 20)).collect();
        let (one, two) = (robust_spread(&values).unwrap(), robust_spread(&values).unwrap());
        assert_eq!(one, two);
        let measured = stat::robust_cv(&values).unwrap();
        assert!(one.low <= measured && measured <= one.high && one.low < one.high, "{one:?} {measured}");
    }

    #[test]
    fn what_is_still_to_do_grows_with_the_square() {
        let interval = Interval { low: 90.0, high: 110.0, how: String::new() };
        assert_eq!(further(20, 100.0, &interval, 95.0), Some(60));
        assert_eq!(further(20, 100.0, &interval, 100.0), None);
        assert_eq!(further(20, 100.0, &interval, 80.0), Some(1));
    }
}
