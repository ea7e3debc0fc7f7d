//! Idle time between the iterations of a long run: a machine that warms up and cools down again and again shows faults of its solder,
//! its fans and its power supply that one at an even temperature never does.

use serde::{Deserialize, Serialize};

use super::moment::Span;
use super::typed_span;

/// A rhythm of work and rest, counted from the beginning of a run's first iteration: `(after: "50 min", lasting: "10 min")`. An iteration
/// that is under way when a rest is due is brought to its end, and shortens that rest by as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rest {
    /// After so much time no iteration is begun …
    #[serde(with = "typed_span")]
    pub after: Span,
    /// … for so long.
    #[serde(with = "typed_span")]
    pub lasting: Span,
}

impl Rest {
    /// How much is left of the rest, so long after the beginning; none in the time of work.
    #[must_use]
    pub fn left(&self, passed: Span) -> Option<Span> {
        let into = passed.0 % self.period();
        (into >= self.after.0).then(|| Span(self.period() - into))
    }

    /// How much of a length of time is work.
    #[must_use]
    pub fn work_in(&self, time: Span) -> Span {
        Span(time.0 / self.period() * self.after.0 + (time.0 % self.period()).min(self.after.0))
    }

    fn period(&self) -> u64 {
        self.after.0.saturating_add(self.lasting.0).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_and_rest_take_turns() {
        let rest = Rest { after: Span::seconds(50), lasting: Span::seconds(10) };
        let left = |seconds| rest.left(Span::seconds(seconds)).map(Span::as_seconds);
        assert_eq!((left(0), left(49), left(50), left(53)), (None, None, Some(10.0), Some(7.0)));
        assert_eq!((left(60), left(109), left(119)), (None, None, Some(1.0)));
        assert_eq!(rest.work_in(Span::seconds(130)), Span::seconds(110));
        assert_eq!(rest.work_in(Span::seconds(115)), Span::seconds(100));
    }

    #[test]
    fn a_rest_after_nothing_does_not_divide_by_nothing() {
        let rest = Rest { after: Span::ZERO, lasting: Span::ZERO };
        assert_eq!((rest.left(Span::seconds(1)), rest.work_in(Span::seconds(1))), (Some(Span(1)), Span::ZERO));
    }
}
