//! A series of readings in constant memory: the last few hundred as they came, everything since the start in bins that double
//! their width whenever they are full.

use std::collections::VecDeque;

use crate::vocab::moment::{Moment, Span};
use crate::vocab::stat;

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// When, on the node's clock.
    pub at: Moment,
    /// How much, in the series' unit.
    pub value: f64,
}

/// Readings that were drawn together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// How many; an empty bin is a gap.
    pub n: u32,
    /// Their sum.
    pub sum: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Bin {
    fn add(&mut self, value: f64) {
        self.merge(Self { n: 1, sum: value, min: value, max: value });
    }

    fn merge(&mut self, other: Self) {
        if self.n == 0 {
            *self = other;
        } else if other.n > 0 {
            self.n += other.n;
            self.sum += other.sum;
            self.min = self.min.min(other.min);
            self.max = self.max.max(other.max);
        }
    }

    /// The mean; none of a gap.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / f64::from(self.n))
    }
}

/// A series of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    capacity: usize,
    recent: VecDeque<Point>,
    origin: Moment,
    width: Span,
    bins: Vec<Bin>,
}

impl Series {
    /// An empty series that keeps `capacity` readings and as many bins, the first ones `spacing` wide.
    #[must_use]
    pub fn new(capacity: usize, spacing: Span) -> Self {
        let width = Span(spacing.0.max(1));
        Self { capacity: capacity.max(2), recent: VecDeque::new(), origin: Moment(0), width, bins: Vec::new() }
    }

    /// Adds a reading; one that is not later than the last, or no number, is dropped.
    pub fn push(&mut self, at: Moment, value: f64) {
        if !value.is_finite() || self.last().is_some_and(|last| last.at >= at) {
            return;
        }
        if self.recent.is_empty() && self.bins.is_empty() {
            self.origin = at;
        }
        if self.recent.len() == self.capacity {
            self.recent.pop_front();
        }
        self.recent.push_back(Point { at, value });
        let mut index = self.bin_of(at);
        while index >= self.capacity {
            self.halve();
            index = self.bin_of(at);
        }
        if self.bins.len() <= index {
            self.bins.resize(index + 1, Bin::default());
        }
        self.bins[index].add(value);
    }

    fn bin_of(&self, at: Moment) -> usize {
        usize::try_from(at.since(self.origin).0 / self.width.0).unwrap_or(usize::MAX)
    }

    fn halve(&mut self) {
        let pair = |pair: &[Bin]| {
            let mut whole = pair[0];
            whole.merge(pair.get(1).copied().unwrap_or_default());
            whole
        };
        self.bins = self.bins.chunks(2).map(pair).collect();
        self.width = Span(self.width.0 * 2);
    }

    /// The latest reading.
    #[must_use]
    pub fn last(&self) -> Option<Point> {
        self.recent.back().copied()
    }

    /// The largest reading there was.
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        self.bins.iter().filter(|bin| bin.n > 0).map(|bin| bin.max).reduce(f64::max)
    }

    /// When the series began.
    #[must_use]
    pub fn first_at(&self) -> Option<Moment> {
        (!self.bins.is_empty()).then_some(self.origin)
    }

    /// Keeps at least so many readings and bins from now on; what was merged already stays so.
    pub fn widen(&mut self, capacity: usize) {
        self.capacity = self.capacity.max(capacity);
    }

    /// The mean of the kept readings since `from`; none when there is none.
    #[must_use]
    pub fn mean_since(&self, from: Moment) -> Option<f64> {
        let (sum, n) = self
            .recent
            .iter()
            .rev()
            .take_while(|p| p.at >= from)
            .fold((0.0, 0_u32), |(sum, n), p| (sum + p.value, n + 1));
        (n > 0).then(|| sum / f64::from(n))
    }

    /// Whether nothing was ever read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    /// The readings from `from` to `to` that are still kept as they came.
    fn kept(&self, from: Moment, to: Moment) -> impl Iterator<Item = Point> {
        self.recent.iter().copied().filter(move |p| p.at >= from && p.at <= to)
    }

    /// The bins from `from` to `to` that hold older readings than are kept, with their middles.
    fn binned(&self, from: Moment, to: Moment) -> impl Iterator<Item = (Moment, &Bin)> {
        let kept_since = self.recent.front().map_or(Moment(u64::MAX), |p| p.at);
        let middle = |i: usize| self.origin + Span(self.width.0 * i as u64 + self.width.0 / 2);
        let placed = self.bins.iter().enumerate().skip(self.bin_of(from)).map(move |(i, bin)| (middle(i), bin));
        let wanted = placed.take_while(move |(at, _)| *at <= to && *at < kept_since);
        wanted.filter(move |(at, bin)| *at >= from && bin.n > 0)
    }

    /// The readings from `from` to `to` in order: as they came where they are still kept, else the middles and means of bins.
    #[must_use]
    pub fn between(&self, from: Moment, to: Moment) -> Vec<Point> {
        let binned = self.binned(from, to).filter_map(|(at, bin)| Some(Point { at, value: bin.mean()? }));
        binned.chain(self.kept(from, to)).collect()
    }

    /// The smallest and the largest reading from `from` to `to`, also of those that are kept in bins alone; none when there is none.
    #[must_use]
    pub fn extremes(&self, from: Moment, to: Moment) -> Option<(f64, f64)> {
        let binned = self.binned(from, to).map(|(_, bin)| (bin.min, bin.max));
        let kept = self.kept(from, to).map(|p| (p.value, p.value));
        binned.chain(kept).reduce(|(low, high), (min, max)| (low.min(min), high.max(max)))
    }

    /// The median of the readings from `from` to `to`; none when there is none.
    #[must_use]
    pub fn median_between(&self, from: Moment, to: Moment) -> Option<f64> {
        let values: Vec<f64> = self.between(from, to).iter().map(|p| p.value).collect();
        stat::median(&values)
    }

    /// `columns` equal parts of the time from `from` to `to`, the mean of each; none where there was no reading.
    #[must_use]
    pub fn columns(&self, from: Moment, to: Moment, columns: usize) -> Vec<Option<f64>> {
        let mut bins = vec![Bin::default(); columns];
        let length = to.since(from).0.max(1);
        for point in self.between(from, to) {
            let column = (u128::from(point.at.since(from).0) * columns as u128 / u128::from(length)) as usize;
            if let Some(bin) = bins.get_mut(column.min(columns.saturating_sub(1))) {
                bin.add(point.value);
            }
        }
        bins.iter().map(Bin::mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(n: u64) -> Series {
        let mut series = Series::new(64, Span::milliseconds(100));
        (0..n).for_each(|i| series.push(Moment(1_000_000 + i * 100_000), i as f64));
        series
    }

    #[test]
    fn memory_is_constant_and_the_extremes_survive() {
        let series = filled(10_000);
        assert!(series.bins.len() <= 64 && series.recent.len() == 64);
        assert_eq!(series.bins.iter().map(|b| b.n).sum::<u32>(), 10_000);
        assert_eq!(series.bins[0].min, 0.0);
        assert_eq!(series.bins.iter().map(|b| b.max).fold(0.0, f64::max), 9_999.0);
    }

    #[test]
    fn recent_readings_come_as_they_were_and_old_ones_as_means() {
        let series = filled(1_000);
        let recent = series.between(Moment(1_000_000 + 990 * 100_000), Moment(u64::MAX));
        assert_eq!(recent.iter().map(|p| p.value).collect::<Vec<_>>(), (990..1000).map(f64::from).collect::<Vec<_>>());
        assert_eq!(series.extremes(Moment(0), Moment(u64::MAX)), Some((0.0, 999.0)), "though old readings are means");
        assert_eq!(series.extremes(Moment(0), Moment(500_000)), None);
        let all = series.between(Moment(0), Moment(u64::MAX));
        assert!(all.windows(2).all(|w| w[0].at < w[1].at));
        assert!(all.len() > 64 && all.len() <= 128);
    }

    #[test]
    fn readings_that_are_late_or_no_numbers_change_nothing() {
        let mut series = filled(3);
        let before = series.clone();
        series.push(Moment(1_000_000), 5.0);
        series.push(Moment(9_000_000), f64::NAN);
        assert_eq!(series, before);
    }

    #[test]
    fn a_series_that_is_widened_keeps_more_from_then_on() {
        let mut series = filled(64);
        series.widen(128);
        (64..128).for_each(|i| series.push(Moment(1_000_000 + i * 100_000), i as f64));
        assert_eq!((series.recent.len(), series.bins.len()), (128, 128));
        assert_eq!(series.mean_since(Moment(1_000_000 + 126 * 100_000)), Some(126.5));
        assert_eq!(series.mean_since(Moment(u64::MAX)), None);
    }

    #[test]
    fn a_gap_is_an_empty_column() {
        let mut series = Series::new(64, Span::milliseconds(100));
        series.push(Moment(0), 1.0);
        series.push(Moment(900_000), 3.0);
        assert_eq!(series.columns(Moment(0), Moment(1_000_000), 5), [Some(1.0), None, None, None, Some(3.0)]);
    }
}
