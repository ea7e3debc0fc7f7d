//! Readings drawn together into windows that hold enough completions to mean something.
//!
//! A device at 1 MB/s that is given 10 MB requests shows one reading of 100 MB/s and ninety-nine zeros; a window is as long
//! as five completions take, and at most a second.

use crate::vocab::moment::{Moment, Span};

/// Completions that close a window.
const COMPLETIONS: u64 = 5;
/// A window is closed after this long, whatever has completed.
const LONGEST: Span = Span::seconds(1);

/// A closed window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    /// Its beginning.
    pub(super) from: Moment,
    /// Its end.
    pub(super) to: Moment,
    /// Things done in it a second.
    pub(super) per_second: f64,
    /// Things done in the run before it.
    pub(super) done_before: u64,
}

impl Window {
    /// How long it is.
    pub(super) fn length(&self) -> Span {
        self.to.since(self.from)
    }
}

/// The open window of one meter.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    open: Option<(Moment, u64, u64)>,
}

impl Windows {
    /// Forgets the open window: what was read belongs to another phase.
    pub(super) fn clear(&mut self) {
        self.open = None;
    }

    /// Takes in a cumulative reading: things done, and operations completed where they are counted.
    pub(super) fn push(&mut self, at: Moment, done: u64, operations: Option<u64>) -> Option<Window> {
        let Some((from, before, operations_before)) = self.open else {
            self.open = Some((at, done, operations.unwrap_or(0)));
            return None;
        };
        let enough = match operations {
            Some(now) => now.saturating_sub(operations_before) >= COMPLETIONS,
            None => done > before,
        };
        if at <= from || !(enough || at.since(from) >= LONGEST) {
            return None;
        }
        self.open = Some((at, done, operations.unwrap_or(0)));
        let per_second = done.saturating_sub(before) as f64 / at.since(from).as_seconds();
        Some(Window { from, to: at, per_second, done_before: before })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_requests_are_drawn_together_and_fast_ones_are_not() {
        let mut slow = Windows::default();
        let closed =
            (0..=20).filter_map(|i| slow.push(Moment(i * 100_000), 10_000_000 * (i / 10), Some(i / 10))).count();
        assert_eq!(closed, 2, "one completion a second: windows of a second");
        let mut fast = Windows::default();
        let windows: Vec<Window> =
            (0..=20).filter_map(|i| fast.push(Moment(i * 100_000), 1_000 * i, Some(10 * i))).collect();
        assert_eq!(windows.len(), 20);
        assert_eq!(windows[3].per_second, 10_000.0);
        assert_eq!(windows[3].done_before, 3_000);
    }
}
