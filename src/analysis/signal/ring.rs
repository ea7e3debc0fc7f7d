//! The latest readings of a series in a fixed place, and robust statistics of them without allocation.

use crate::vocab::moment::Moment;

/// Readings kept. Enough for the period of an oscillation of up to 48 readings and for a change that is found 20 readings late.
pub(in crate::analysis) const KEPT: usize = 128;

/// 1.4826 × the median absolute deviation is the standard deviation of normal data (Rousseeuw and Croux, 1993).
pub(in crate::analysis) const MAD: f64 = 1.482_602_218_505_602;

/// One reading: the rate up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::analysis) struct Point {
    /// Its end.
    pub(in crate::analysis) at: Moment,
    /// The level, where more is better.
    pub(in crate::analysis) level: f64,
}

/// The latest [`KEPT`] readings.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct Ring {
    points: [Point; KEPT],
    next: usize,
    len: usize,
}

impl Default for Ring {
    fn default() -> Self {
        Self { points: [Point::default(); KEPT], next: 0, len: 0 }
    }
}

impl Ring {
    /// Adds a reading in place of the oldest.
    pub(super) fn push(&mut self, point: Point) {
        self.points[self.next] = point;
        self.next = (self.next + 1) % KEPT;
        self.len = (self.len + 1).min(KEPT);
    }

    /// How many there are.
    pub(in crate::analysis) fn len(&self) -> usize {
        self.len
    }

    /// The reading that `back` others have followed; none when there is no such reading any more.
    pub(in crate::analysis) fn back(&self, back: usize) -> Option<Point> {
        (back < self.len).then(|| self.points[(self.next + KEPT - 1 - back) % KEPT])
    }

    /// The latest `n` readings (as far as there are so many) with `skip` newer ones left out, newest first.
    pub(in crate::analysis) fn latest(&self, skip: usize, n: usize) -> impl Iterator<Item = Point> + '_ {
        (skip..skip.saturating_add(n).min(self.len)).filter_map(|back| self.back(back))
    }

    /// Copies the levels of [`Ring::latest`] into a buffer; returns the part that is filled.
    pub(in crate::analysis) fn levels<'b>(&self, skip: usize, n: usize, buffer: &'b mut [f64; KEPT]) -> &'b mut [f64] {
        let mut count = 0;
        for (place, point) in buffer.iter_mut().zip(self.latest(skip, n)) {
            *place = point.level;
            count += 1;
        }
        &mut buffer[..count]
    }

    /// The median of [`Ring::latest`]; none of nothing.
    pub(in crate::analysis) fn median(&self, skip: usize, n: usize) -> Option<f64> {
        let mut buffer = [0.0; KEPT];
        quantile(self.levels(skip, n, &mut buffer), 0.5)
    }
}

/// The latest `N` values with a moment each, the oldest first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Latest<const N: usize> {
    values: [f64; N],
    moments: [Moment; N],
    len: usize,
}

impl<const N: usize> Default for Latest<N> {
    fn default() -> Self {
        Self { values: [0.0; N], moments: [Moment::default(); N], len: 0 }
    }
}

impl<const N: usize> Latest<N> {
    /// Adds a value behind the others; the oldest makes room for it.
    pub(super) fn push(&mut self, moment: Moment, value: f64) {
        if self.len == N {
            self.values.copy_within(1.., 0);
            self.moments.copy_within(1.., 0);
            self.len -= 1;
        }
        (self.values[self.len], self.moments[self.len]) = (value, moment);
        self.len += 1;
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values[..self.len]
    }

    /// The moment of the oldest.
    pub(super) fn first(&self) -> Option<Moment> {
        self.moments[..self.len].first().copied()
    }
}

/// The `q`-quantile as an order statistic, between two of them by linear interpolation; the values change places.
pub(in crate::analysis) fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let place = q * (values.len() - 1) as f64;
    let low = place.floor() as usize;
    let (_, value, above) = values.select_nth_unstable_by(low, f64::total_cmp);
    let value = *value;
    let part = place - low as f64;
    if part == 0.0 {
        return Some(value);
    }
    let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(value);
    Some(value + (next - value) * part)
}

/// 1.4826 × the median distance from `middle`; the values are spent.
pub(in crate::analysis) fn spread(values: &mut [f64], middle: f64) -> f64 {
    values.iter_mut().for_each(|v| *v = (*v - middle).abs());
    MAD * quantile(values, 0.5).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_come_first_and_old_ones_are_gone() {
        let mut ring = Ring::default();
        (0..1000).for_each(|i| ring.push(Point { at: Moment(i), level: i as f64 }));
        assert_eq!((ring.len(), ring.back(0).unwrap().level, ring.back(KEPT)), (KEPT, 999.0, None));
        let three: Vec<f64> = ring.latest(1, 3).map(|p| p.level).collect();
        assert_eq!(three, [998.0, 997.0, 996.0]);
        assert_eq!(ring.median(0, 5), Some(997.0));
        assert_eq!(ring.median(KEPT, 5), None);
    }

    #[test]
    fn quantiles_lie_between_order_statistics() {
        assert_eq!(quantile(&mut [4.0, 1.0, 3.0, 2.0], 0.5), Some(2.5));
        assert_eq!(quantile(&mut [4.0, 1.0, 3.0, 2.0], 1.0), Some(4.0));
        assert_eq!(quantile(&mut [], 0.5), None);
        assert!((spread(&mut [1.0, 2.0, 3.0, 4.0, 5.0], 3.0) - MAD).abs() < 1e-12);
    }
}
