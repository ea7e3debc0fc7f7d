//! Means of a series since its beginning in constant memory: 64 blocks that double their width whenever they are full, so that
//! slope and steadiness of 72 hours cost no more than those of a minute. And the means of whole seconds, the latest 32.

use super::ring::Latest;
use crate::vocab::moment::{Moment, Span};

/// Blocks kept.
pub(in crate::analysis) const BLOCKS: usize = 64;
/// Whole seconds kept.
pub(in crate::analysis) const SECONDS: usize = 32;

/// A second; a twentieth less, as readings jitter.
const SECOND: Span = Span::milliseconds(950);

/// Neighbouring readings drawn together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::analysis) struct Block {
    /// End of the first reading.
    pub(in crate::analysis) from: Moment,
    /// End of the last.
    pub(in crate::analysis) to: Moment,
    /// Readings.
    pub(in crate::analysis) n: f64,
    /// Their sum.
    pub(in crate::analysis) sum: f64,
}

impl Block {
    pub(in crate::analysis) fn mean(&self) -> f64 {
        self.sum / self.n.max(1.0)
    }

    /// Its middle in seconds after `origin`.
    pub(in crate::analysis) fn middle(&self, origin: Moment) -> f64 {
        f64::midpoint(self.from.since(origin).as_seconds(), self.to.since(origin).as_seconds())
    }
}

/// All readings since the beginning.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct Blocks {
    all: [Block; BLOCKS],
    len: usize,
    width: f64,
}

impl Default for Blocks {
    fn default() -> Self {
        Self { all: [Block::default(); BLOCKS], len: 0, width: 1.0 }
    }
}

impl Blocks {
    /// Adds a reading; says whether a block was begun, which is when slopes are worth being taken anew.
    pub(super) fn push(&mut self, at: Moment, level: f64) -> bool {
        if let Some(last) = self.len.checked_sub(1).map(|i| &mut self.all[i])
            && last.n < self.width
        {
            *last = Block { to: at, n: last.n + 1.0, sum: last.sum + level, ..*last };
            return false;
        }
        if self.len == BLOCKS {
            for i in 0..BLOCKS / 2 {
                let (a, b) = (self.all[2 * i], self.all[2 * i + 1]);
                self.all[i] = Block { from: a.from, to: b.to, n: a.n + b.n, sum: a.sum + b.sum };
            }
            self.len = BLOCKS / 2;
            self.width *= 2.0;
        }
        self.all[self.len] = Block { from: at, to: at, n: 1.0, sum: level };
        self.len += 1;
        true
    }

    /// The blocks in order; the last may still be filling.
    pub(in crate::analysis) fn all(&self) -> &[Block] {
        &self.all[..self.len]
    }
}

/// Means of whole seconds, the oldest first.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct Seconds {
    latest: Latest<SECONDS>,
    since: Option<Moment>,
    n: f64,
    sum: f64,
}

impl Seconds {
    /// Adds a reading; says whether a second is complete.
    pub(super) fn push(&mut self, from: Moment, at: Moment, level: f64) -> bool {
        let since = *self.since.get_or_insert(from);
        self.n += 1.0;
        self.sum += level;
        if at.since(since) < SECOND {
            return false;
        }
        self.latest.push(at, self.sum / self.n);
        (self.since, self.n, self.sum) = (None, 0.0, 0.0);
        true
    }

    /// The means, the oldest first.
    pub(in crate::analysis) fn means(&self) -> &[f64] {
        self.latest.values()
    }

    /// The end of the oldest second kept.
    pub(in crate::analysis) fn first(&self) -> Option<Moment> {
        self.latest.first()
    }

    /// Forgets them: a level has changed.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_is_in_one_block_and_blocks_double() {
        let mut blocks = Blocks::default();
        (0..1000_u64).for_each(|i| {
            blocks.push(Moment(i), i as f64);
        });
        let all = blocks.all();
        assert!(all.len() <= BLOCKS);
        assert_eq!(all.iter().map(|b| b.n).sum::<f64>(), 1000.0);
        assert_eq!(all.iter().map(|b| b.sum).sum::<f64>(), 499_500.0);
        assert_eq!((all[0].n, all[0].mean(), all[0].middle(Moment(0))), (16.0, 7.5, 7.5e-6));
    }

    #[test]
    fn seconds_are_closed_in_spite_of_jitter() {
        let mut seconds = Seconds::default();
        let closed = (1..=45_u64)
            .filter(|i| seconds.push(Moment((i - 1) * 99_800), Moment(i * 99_800), f64::from(*i as u32)))
            .count();
        assert_eq!(closed, 4);
        assert_eq!(seconds.means()[0], 5.5);
    }
}
