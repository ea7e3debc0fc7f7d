//! How a statistic, a limit and a rule become a decision.

use crate::analysis::interval::{self, Interval};
use crate::vocab::check::{Decide, Statistic, Step};
use crate::vocab::stat;

/// On which side of a limit the good values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    AtLeast,
    AtMost,
}

impl Side {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
        }
    }

    /// How far a value is on the good side of a limit; negative on the bad one.
    pub(super) fn good(self, value: f64, limit: f64) -> f64 {
        match self {
            Self::AtLeast => value - limit,
            Self::AtMost => limit - value,
        }
    }
}

/// A limit, and by how much it may be off itself: that of a measured reference is half of its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) value: f64,
    pub(super) half: f64,
}

/// What a comparison came to by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Yes,
    No,
    /// The limit lies within what the true value may be, or nothing tells how sure the figure is.
    Open,
}

/// By what a comparison is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) statistic: Statistic,
    pub(super) decide: Decide,
    /// Of a number that is compared itself.
    pub(super) rounding: Option<Step>,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compared {
    /// As it was compared, rounded where the rule says so.
    pub(super) measured: f64,
    pub(super) interval: Option<Interval>,
    pub(super) holds: Holds,
    /// By which rule, or why it is open.
    pub(super) words: String,
}

/// The number that a statistic makes of values; none where these are too few for it.
pub(super) fn number(statistic: Statistic, side: Side, values: &[f64]) -> Option<f64> {
    match (statistic, side) {
        (Statistic::Mean, _) => stat::mean(values),
        (Statistic::Median, _) => stat::median(values),
        (Statistic::Min, _) | (Statistic::Best, Side::AtMost) => values.iter().copied().reduce(f64::min),
        (Statistic::Max, _) | (Statistic::Best, Side::AtLeast) => values.iter().copied().reduce(f64::max),
        (Statistic::Quantile(q), _) => stat::quantile(values, q),
        (Statistic::Spread, _) => stat::cv(values).map(|cv| cv * 100.0),
        (Statistic::RobustSpread, _) if values.len() > 1 => stat::robust_cv(values).map(|cv| cv * 100.0),
        (Statistic::RobustSpread, _) => None,
        (Statistic::Sustained, _) => stat::sustained(values).map(|share| share * 100.0),
        (Statistic::Burst, _) => stat::burst(values).map(|share| share * 100.0),
    }
}

/// The interval of a statistic; none of those that are of what was measured and of nothing behind it.
///
/// # Errors
/// Why there is none though there could be one.
pub(super) fn interval(statistic: Statistic, values: &[f64]) -> Result<Option<Interval>, String> {
    let percent = |of: Interval| Interval { low: 100.0 * of.low, high: 100.0 * of.high, ..of };
    match statistic {
        Statistic::Mean => interval::mean(values).map(Some),
        Statistic::Median => interval::quantile(values, 0.5).map(Some),
        Statistic::Quantile(q) => interval::quantile(values, q).map(Some),
        Statistic::Spread => interval::spread(values).map(|of| Some(percent(of))),
        Statistic::RobustSpread => interval::robust_spread(values).map(|of| Some(percent(of))),
        Statistic::Min | Statistic::Max | Statistic::Best | Statistic::Sustained | Statistic::Burst => Ok(None),
    }
}

/// Holds the statistic of these values against a limit; none where there is no such number.
pub(super) fn compare(rule: Rule, side: Side, values: &[f64], limit: Mark) -> Option<Compared> {
    let Rule { statistic, decide, rounding } = rule;
    let measured = number(statistic, side, values)?;
    let point = |words: &str| {
        let measured = rounding.map_or(measured, |step| step.round(measured));
        let holds = if side.good(measured, limit.value) >= 0.0 { Holds::Yes } else { Holds::No };
        Compared { measured, interval: None, holds, words: words.to_owned() }
    };
    if decide == Decide::Point {
        return Some(point("decided by the number itself"));
    }
    Some(match interval(statistic, values) {
        Ok(None) => point("of what was measured, so decided by the number itself"),
        Err(why) => Compared { measured, interval: None, holds: Holds::Open, words: why },
        Ok(Some(interval)) => between(measured, interval, side, values.len(), limit),
    })
}

fn between(measured: f64, interval: Interval, side: Side, values: usize, limit: Mark) -> Compared {
    // Two independent uncertainties add up as their squares do.
    let low = measured - (measured - interval.low).hypot(limit.half);
    let high = measured + (interval.high - measured).hypot(limit.half);
    let ends = [side.good(low, limit.value), side.good(high, limit.value)];
    let (holds, words) = if ends.iter().all(|good| *good >= 0.0) {
        (Holds::Yes, format!("all of the interval holds ({})", interval.how))
    } else if ends.iter().all(|good| *good < 0.0) {
        (Holds::No, format!("none of the interval holds ({})", interval.how))
    } else {
        let wider = Interval { low, high, how: String::new() };
        let more = match interval::further(values, measured, &wider, limit.value) {
            Some(more) => format!("about {more} more iterations would settle it"),
            None => "it lies on the limit, and no number of iterations is likely to settle it".to_owned(),
        };
        (Holds::Open, format!("the limit lies in the interval; {more}"))
    };
    Compared { measured, interval: Some(interval), holds, words }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: fn(f64) -> Mark = |value| Mark { value, half: 0.0 };

    fn rule(statistic: Statistic, decide: Decide) -> Rule {
        Rule { statistic, decide, rounding: None }
    }

    fn holds(decide: Decide, values: &[f64], limit: Mark) -> Holds {
        compare(rule(Statistic::Mean, decide), Side::AtLeast, values, limit).unwrap().holds
    }

    #[test]
    fn an_interval_on_one_side_decides_and_one_around_the_limit_does_not() {
        let values: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i % 5) - 2.0).collect();
        assert_eq!(holds(Decide::Interval, &values, AT(98.0)), Holds::Yes);
        assert_eq!(holds(Decide::Interval, &values, AT(102.0)), Holds::No);
        assert_eq!(holds(Decide::Interval, &values, AT(100.1)), Holds::Open);
        assert_eq!(holds(Decide::Point, &values, AT(99.9)), Holds::Yes);
        assert_eq!(holds(Decide::Point, &values, AT(100.1)), Holds::No);
        let open = compare(rule(Statistic::Mean, Decide::Interval), Side::AtLeast, &values, AT(100.3)).unwrap();
        assert_eq!(open.words, "the limit lies in the interval; about 83 more iterations would settle it", "{open:?}");
    }

    #[test]
    fn an_uncertain_limit_makes_an_uncertain_decision() {
        let values = [100.0, 101.0, 99.0, 100.0, 100.0];
        assert_eq!(holds(Decide::Interval, &values, AT(98.0)), Holds::Yes);
        assert_eq!(holds(Decide::Interval, &values, Mark { value: 98.0, half: 3.0 }), Holds::Open);
    }

    #[test]
    fn too_few_values_are_open_and_extremes_are_points() {
        assert_eq!(holds(Decide::Interval, &[100.0], AT(50.0)), Holds::Open);
        for (statistic, measured) in [(Statistic::Min, 1.0), (Statistic::Max, 3.0), (Statistic::Best, 3.0)] {
            let got = compare(rule(statistic, Decide::Interval), Side::AtLeast, &[2.0, 1.0, 3.0], AT(2.0)).unwrap();
            assert_eq!((got.measured, got.holds == Holds::Yes), (measured, measured > 1.0));
        }
        assert_eq!(number(Statistic::Best, Side::AtMost, &[2.0, 1.0]), Some(1.0));
        assert_eq!(number(Statistic::Quantile(0.5), Side::AtMost, &[2.0, 1.0]), Some(1.5));
    }
}
