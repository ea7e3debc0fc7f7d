//! Points and lengths of time, in whole microseconds.
//!
//! Microseconds since boot stay below 2⁵³ for 285 years, so JSON readers that hold numbers as doubles (`jq`, JavaScript) lose nothing.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A reading of a node's `CLOCK_BOOTTIME`, in microseconds. Moments of two nodes compare only after the offset of `Event::Clock`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(pub u64);

/// A length of time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(pub u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of whole seconds.
    #[must_use]
    pub const fn seconds(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// A span of whole milliseconds.
    #[must_use]
    pub const fn milliseconds(n: u64) -> Self {
        Self(n * 1_000)
    }

    /// The length in seconds.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        Self::from_micros(span.0)
    }
}

impl Moment {
    /// The time from `earlier` to here; zero when `earlier` is later, as a delayed line can be.
    #[must_use]
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Moment {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Moment {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl fmt::Display for Span {
    /// `340 ms`, `12.3 s`, `4:05`, `2:03:07`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000_000;
        match seconds {
            0 => write!(f, "{} ms", self.0 / 1_000),
            1..60 => write!(f, "{:.1} s", self.as_seconds().min(59.9)),
            60..3600 => write!(f, "{}:{:02}", seconds / 60, seconds % 60),
            _ => write!(f, "{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_print_as_people_say_them() {
        let print = |us| Span(us).to_string();
        assert_eq!(print(340_000), "340 ms");
        assert_eq!(print(12_340_000), "12.3 s");
        assert_eq!(print(59_990_000), "59.9 s");
        assert_eq!(print(245_000_000), "4:05");
        assert_eq!(print(7_387_000_000), "2:03:07");
    }

    #[test]
    fn a_delayed_line_is_no_negative_time() {
        assert_eq!(Moment(5).since(Moment(9)), Span::ZERO);
    }
}
