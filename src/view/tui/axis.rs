//! The one time axis: everything on the screen that has a time stands in the column that this gives it.

use crate::analysis::series::Point;
use crate::vocab::moment::{Moment, Span};

/// Readings further apart than this are not joined: a line across a gap would be an invention.
const GAP: Span = Span::milliseconds(1_500);

/// The time from `from` to `to` over so many columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) from: Moment,
    pub(super) to: Moment,
    pub(super) columns: usize,
}

impl Axis {
    pub(super) fn length(&self) -> Span {
        Span(self.to.since(self.from).0.max(1))
    }

    /// The place of a moment in `parts` equal parts of the axis; none outside.
    pub(super) fn place(&self, at: Moment, parts: usize) -> Option<usize> {
        if at < self.from || at > self.to {
            return None;
        }
        let (passed, length) = (at.since(self.from).0, self.length().0);
        // Every point of every frame comes through here, and few sessions last for centuries.
        let whole = || (u128::from(passed) * parts as u128 / u128::from(length)) as u64;
        let place = passed.checked_mul(parts as u64).map_or_else(whole, |scaled| scaled / length);
        Some((place as usize).min(parts.saturating_sub(1)))
    }

    /// The column of a moment; none outside.
    pub(super) fn column(&self, at: Moment) -> Option<usize> {
        self.place(at, self.columns)
    }

    /// The beginning of a column.
    pub(super) fn moment(&self, column: usize) -> Moment {
        self.from + Span(self.length().0 / self.columns.max(1) as u64 * column as u64)
    }

    /// The columns that a span of time touches; none when it lies outside.
    pub(super) fn columns_of(&self, from: Moment, to: Moment) -> Option<(usize, usize)> {
        if to < self.from || from > self.to {
            return None;
        }
        Some((self.column(from.max(self.from))?, self.column(to.min(self.to))?))
    }

    /// The mean of the readings in each column; between readings that belong together the earlier one holds.
    pub(super) fn spread(&self, points: &[Point]) -> Vec<Option<f64>> {
        let mut sums = vec![(0.0, 0_u32); self.columns];
        let mut held = vec![None; self.columns];
        for run in unbroken(points) {
            let mut before: Option<(usize, f64)> = None;
            for point in run {
                let Some(column) = self.column(point.at).filter(|column| *column < self.columns) else { continue };
                if let Some((last, value)) = before {
                    (last + 1..column).for_each(|between| held[between] = Some(value));
                }
                sums[column] = (sums[column].0 + point.value, sums[column].1 + 1);
                before = Some((column, point.value));
            }
        }
        sums.iter().zip(held).map(|((sum, n), held)| if *n > 0 { Some(sum / f64::from(*n)) } else { held }).collect()
    }
}

/// The readings in runs without a gap. Old readings are means of bins that may be wider than a gap; what lies between two of those
/// is told from a gap by the spacing of its neighbours.
pub(super) fn unbroken(points: &[Point]) -> Vec<&[Point]> {
    let step = |i: usize| points.get(i + 1).zip(points.get(i)).map_or(Span::ZERO, |(b, a)| b.at.since(a.at));
    let mut runs = Vec::new();
    let mut start = 0;
    for i in 0..points.len().saturating_sub(1) {
        let neighbours = step(i + 1).0.max(if i > 0 { step(i - 1).0 } else { 0 });
        if step(i) > GAP && step(i).0 > neighbours.saturating_mul(9) / 5 {
            runs.push(&points[start..=i]);
            start = i + 1;
        }
    }
    if start < points.len() {
        runs.push(&points[start..]);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(at: &[u64]) -> Vec<Point> {
        at.iter().map(|ms| Point { at: Moment(ms * 1_000), value: *ms as f64 }).collect()
    }

    #[test]
    fn a_gap_splits_and_wide_bins_do_not() {
        let lengths = |at: &[u64]| unbroken(&points(at)).iter().map(|r| r.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&[0, 100, 200, 2_000, 2_100]), [3, 2]);
        assert_eq!(lengths(&[0, 10_000, 20_000, 40_000, 50_000]), [3, 2]);
        assert_eq!(lengths(&[0, 10_000, 20_000, 25_100, 25_200]), [5]);
        assert!(lengths(&[]).is_empty());
    }

    #[test]
    fn columns_hold_the_mean_and_gaps_stay_open() {
        let axis = Axis { from: Moment(0), to: Moment(10_000_000), columns: 10 };
        let spread = axis.spread(&points(&[100, 300, 1_500, 2_500, 8_200, 8_400]));
        assert_eq!(spread[..4], [Some(200.0), Some(1_500.0), Some(2_500.0), None]);
        assert_eq!((spread[7], spread[8]), (None, Some(8_300.0)));
        assert_eq!(axis.columns_of(Moment(9_500_000), Moment(99_000_000)), Some((9, 9)));
        assert_eq!(axis.columns_of(Moment(11_000_000), Moment(99_000_000)), None);
    }
}
