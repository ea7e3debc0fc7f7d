//! Statistics of plain slices, each with one meaning for the whole program: live and final use the same.

/// Arithmetic mean; none of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

/// Median: the middle value, or the mean of the two middle ones; none of nothing. Values that are no numbers sort last.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The `q`-quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan, 1996); none of nothing.
#[must_use]
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (place - place.floor()))
}

/// Robust coefficient of variation: 1.4826 × the median absolute deviation / |median|; none of nothing or around zero.
///
/// 1.4826 makes it the standard deviation's equal on normal data (Rousseeuw and Croux, 1993).
#[must_use]
pub fn robust_cv(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
    let scale = 1.482_602_218_505_602 * median(&deviations)?;
    if middle == 0.0 { None } else { Some(scale / middle.abs()) }
}

/// Variance of a sample: the squares of the deviations from the mean by n − 1; none of less than two values.
#[must_use]
pub fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some(squares / (values.len() - 1) as f64)
}

/// Coefficient of variation: the standard deviation (of a sample, n − 1) / |mean|; none of less than two values or around zero.
#[must_use]
pub fn cv(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|mean| *mean != 0.0)?;
    Some(variance(values)?.sqrt() / mean.abs())
}

/// Of values in their order: the median of the last tenth / the median of the first tenth; none of less than ten or around zero.
///
/// What a long test asks of a node: that its last hour is like its first (SNIA's test specification looks at rounds in that way, and at
/// the ends of a line through them).
#[must_use]
pub fn sustained(values: &[f64]) -> Option<f64> {
    let tenth = values.len() / 10;
    ratio(median(&values[values.len() - tenth..])?, median(&values[..tenth])?)
}

/// Of values in their order: the largest / the median of the last tenth; none of less than ten or around zero.
#[must_use]
pub fn burst(values: &[f64]) -> Option<f64> {
    let tenth = values.len() / 10;
    ratio(values.iter().copied().reduce(f64::max)?, median(&values[values.len() - tenth..])?)
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole != 0.0).then(|| part / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles_and_quantiles() {
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(median(&[5.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(quantile(&[0.0, 10.0], 0.95), Some(9.5));
        assert_eq!(median(&[]), None);
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn the_coefficient_of_variation_is_the_samples() {
        assert_eq!(cv(&[8.0, 12.0]), Some(8_f64.sqrt() / 10.0));
        assert_eq!((cv(&[5.0]), cv(&[]), cv(&[1.0, -1.0])), (None, None, None));
    }

    #[test]
    fn the_last_tenth_is_held_against_the_first_and_against_the_largest() {
        let falling: Vec<f64> = (0..20).map(|i| if i < 2 { 100.0 } else { 80.0 }).collect();
        assert_eq!((sustained(&falling), burst(&falling)), (Some(0.8), Some(1.25)));
        assert_eq!((sustained(&falling[..9]), burst(&falling[..9])), (None, None));
        assert_eq!(sustained(&[0.0; 10]), None);
    }

    #[test]
    fn the_spread_ignores_an_outlier() {
        let steady = [100.0, 101.0, 99.0, 100.0, 5.0];
        assert!(robust_cv(&steady).unwrap() < 0.02);
        assert_eq!(robust_cv(&[0.0, 0.0]), None);
    }
}
