//! The stretches of a series between change points.

use crate::vocab::moment::Moment;

/// Segments kept; beyond them the two neighbours that differ least are joined.
const KEPT: usize = 32;

/// A stretch between two change points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::analysis) struct Segment {
    /// End of its first reading.
    pub(in crate::analysis) from: Moment,
    /// End of its last.
    pub(in crate::analysis) to: Moment,
    /// Readings.
    pub(in crate::analysis) n: u64,
    /// Their median, as far as readings are kept.
    pub(in crate::analysis) level: f64,
    /// Their robust standard deviation.
    pub(in crate::analysis) spread: f64,
}

impl Segment {
    /// What joining two neighbours costs: the squared difference of their levels, weighed by their readings, against their
    /// spread. The l2 cost of Truong, Oudre and Vayatis, "Selective review of offline change point detection methods", 2020.
    fn cost(&self, next: &Self) -> f64 {
        let (a, b) = (self.n as f64, next.n as f64);
        let least = 0.002 * self.level.abs().max(next.level.abs());
        let variance =
            ((a * self.spread.powi(2) + b * next.spread.powi(2)) / (a + b)).max(least * least).max(f64::MIN_POSITIVE);
        a * b / (a + b) * (self.level - next.level).powi(2) / variance
    }

    fn join(&mut self, next: &Self) {
        let (a, b) = (self.n as f64, next.n as f64);
        let mean = |x: f64, y: f64| (a * x + b * y) / (a + b);
        self.level = mean(self.level, next.level);
        self.spread = mean(self.spread.powi(2), next.spread.powi(2)).sqrt();
        (self.to, self.n) = (next.to, self.n + next.n);
    }
}

/// The segments that are over, the oldest first.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct Segments {
    all: [Segment; KEPT],
    len: usize,
}

impl Segments {
    /// Adds one that is over.
    pub(super) fn push(&mut self, segment: Segment) {
        if self.len == KEPT {
            self.join_least();
        }
        self.all[self.len] = segment;
        self.len += 1;
    }

    /// They, the oldest first.
    pub(in crate::analysis) fn all(&self) -> &[Segment] {
        &self.all[..self.len]
    }

    fn join_least(&mut self) -> f64 {
        let cost = |i: &usize| self.all[*i].cost(&self.all[i + 1]);
        let Some(least) = (0..self.len.saturating_sub(1)).min_by(|a, b| cost(a).total_cmp(&cost(b))) else {
            return f64::INFINITY;
        };
        let paid = cost(&least);
        let next = self.all[least + 1];
        self.all[least].join(&next);
        self.all.copy_within(least + 2..self.len, least + 1);
        self.len -= 1;
        paid
    }

    /// Joins neighbours for as long as a change point is worth less than 3 ln n, the penalty that real series bear out.
    pub(super) fn prune(&mut self) {
        let n: u64 = self.all().iter().map(|s| s.n).sum();
        let penalty = 3.0 * (n.max(2) as f64).ln();
        let cheapest = |s: &Self| s.all().windows(2).map(|w| w[0].cost(&w[1])).fold(f64::INFINITY, f64::min);
        while self.len > 1 && cheapest(self) < penalty {
            self.join_least();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(from: u64, n: u64, level: f64) -> Segment {
        Segment { from: Moment(from), to: Moment(from + n - 1), n, level, spread: 1.0 }
    }

    #[test]
    fn neighbours_that_differ_by_nothing_are_joined_and_others_stay() {
        let mut segments = Segments::default();
        [segment(0, 50, 100.0), segment(50, 50, 100.2), segment(100, 50, 50.0)]
            .into_iter()
            .for_each(|s| segments.push(s));
        segments.prune();
        let levels: Vec<f64> = segments.all().iter().map(|s| s.level).collect();
        assert_eq!(levels, [100.1, 50.0]);
        assert_eq!(segments.all()[0].to, Moment(99));
    }

    #[test]
    fn a_full_list_joins_the_two_that_differ_least() {
        let mut segments = Segments::default();
        for i in 0..=KEPT as u64 {
            segments.push(segment(10 * i, 10, if i == 7 { 6.01 } else { i as f64 }));
        }
        assert_eq!(segments.all().len(), KEPT);
        assert!((segments.all()[6].level - 6.005).abs() < 1e-9);
    }
}
