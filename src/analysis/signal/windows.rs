//! Readings drawn together into windows that hold enough completions to mean something.
//!
//! A device at 1 MB/s that is given 10 MB requests shows one reading of 100 MB/s and ninety-nine zeros; a window is as long
//! as five completions take, and at most a second.

use crate::vocab::moment::{Moment, Span};

/// Completions that close a window.
const COMPLETIONS: u64 = 5;
/// A window is closed after this long, whatever has completed.
const LONGEST: Span = Span::seconds(1);

/// Meters are read ten times a second, and once more where a phase ends: what is left between two such readings is too short for a rate.
const SHORTEST: Span = Span::milliseconds(50);

/// A closed window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::analysis) struct Window {
    /// Its beginning.
    pub(in crate::analysis) from: Moment,
    /// Its end.
    pub(in crate::analysis) to: Moment,
    /// What was done in it a second; of a series where less is better the inverse of its value.
    pub(in crate::analysis) level: f64,
    /// What was done in the run before it.
    pub(in crate::analysis) done_before: f64,
}

impl Window {
    /// How long it is.
    pub(in crate::analysis) fn length(&self) -> Span {
        self.to.since(self.from)
    }
}

/// The open window of one meter.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct Windows {
    open: Option<(Moment, f64, u64)>,
}

impl Windows {
    /// Forgets the open window: what was read belongs to another phase.
    pub(in crate::analysis) fn clear(&mut self) {
        self.open = None;
    }

    /// Takes in a cumulative reading: what is done, and operations completed where they are counted.
    pub(in crate::analysis) fn push(&mut self, at: Moment, done: f64, operations: Option<u64>) -> Option<Window> {
        let Some((from, before, operations_before)) = self.open else {
            self.open = Some((at, done, operations.unwrap_or(0)));
            return None;
        };
        let enough = match operations {
            Some(now) => now.saturating_sub(operations_before) >= COMPLETIONS,
            None => done > before,
        };
        if at.since(from) < SHORTEST || !(enough || at.since(from) >= LONGEST) {
            return None;
        }
        self.open = Some((at, done, operations.unwrap_or(0)));
        let level = (done - before).max(0.0) / at.since(from).as_seconds();
        Some(Window { from, to: at, level, done_before: before })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_requests_are_drawn_together_and_fast_ones_are_not() {
        let mut slow = Windows::default();
        let closed =
            (0..=20_u64).filter_map(|i| slow.push(Moment(i * 100_000), 1e7 * (i / 10) as f64, Some(i / 10))).count();
        assert_eq!(closed, 2, "one completion a second: windows of a second");
        let mut fast = Windows::default();
        let windows: Vec<Window> =
            (0..=20_u64).filter_map(|i| fast.push(Moment(i * 100_000), 1e3 * i as f64, Some(10 * i))).collect();
        assert_eq!(windows.len(), 20);
        assert!((windows[3].level - 10_000.0).abs() < 1e-6);
        assert_eq!(windows[3].done_before, 3_000.0);
    }
}
