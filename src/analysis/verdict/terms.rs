//! In which unit numbers are compared and printed, and how they are rounded before: as the record has them, or as a contract does.

use crate::vocab::check::{Check, Clause, Step};
use crate::vocab::spelling::plain;
use crate::vocab::unit::{Quantity, Unit, printed_in, short, significant};

/// The terms of one comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Terms {
    /// Of the record.
    pub(super) unit: Unit,
    /// The contract's own unit, and what one of it is worth in that of the record.
    spelt: Option<(&'static str, f64)>,
    pub(super) rounding: Option<Step>,
}

impl Terms {
    /// The terms of a check whose number is in this unit of the record.
    ///
    /// # Errors
    /// That the contract counts in something else.
    pub(super) fn of(check: &Check, unit: Unit) -> Result<Self, String> {
        let clause = check.clause.as_ref();
        let rounding = clause.and_then(|clause| clause.rounding);
        let Some(spelling) = clause.and_then(|clause: &Clause| clause.unit) else {
            return Ok(Self { unit, spelt: None, rounding });
        };
        match spelling.worth(unit) {
            Some(worth) => Ok(Self { unit, spelt: Some((spelling.word(), worth)), rounding }),
            None => Err(format!("the limit is in {}, the figure in {}", spelling.word(), unit.symbol())),
        }
    }

    /// A value of the record in the unit that is compared in.
    pub(super) fn convert(&self, value: f64) -> f64 {
        self.spelt.map_or(value, |(_, worth)| if worth == 1.0 { value } else { plain(value / worth) })
    }

    /// A measured number, in the unit that is compared in.
    pub(super) fn print(&self, value: f64) -> String {
        let number = self.rounding.map(|step| format!("{value:.*}", step.decimals()));
        match (number, self.spelt) {
            (None, None) => short(Quantity::new(value, self.unit)),
            (number, spelt) => {
                let word = spelt.map_or(self.unit.symbol(), |(word, _)| word);
                with(&number.unwrap_or_else(|| significant(value)), word)
            }
        }
    }

    /// The same beside its limit: with the fewest digits, from three on, that leave more than half of what lies between the two.
    pub(super) fn print_beside(&self, value: f64, limit: f64) -> String {
        let (worth, word) = self.spelt.map_or_else(|| printed_in(self.unit, value), |(word, _)| (1.0, word));
        let as_decided = |shown: f64| (shown * worth - value).abs() <= 0.5 * (value - limit).abs();
        let three = || significant(value / worth).parse().is_ok_and(as_decided);
        if self.rounding.is_some() || three() {
            return self.print(value);
        }
        let digits = |count: usize| format!("{:.*e}", count - 1, value / worth).parse::<f64>().ok();
        let number = (4..=12).filter_map(digits).find(|shown| as_decided(*shown));
        number.map_or_else(|| self.print(value), |number| with(&number.to_string(), word))
    }

    /// A limit of the record's unit in the contract's own, with every digit that the contract prints; none where it has no unit.
    pub(super) fn print_limit(&self, value: f64) -> Option<String> {
        let digits = |number: f64| {
            let readable = number == 0.0 || (1e-9..1e15).contains(&number.abs());
            if readable { number.to_string() } else { format!("{number:e}") }
        };
        self.spelt.map(|(word, _)| with(&digits(self.convert(value)), word))
    }

    /// That a number was rounded, from what and how.
    pub(super) fn rounded(&self, value: f64) -> Option<String> {
        let step = self.rounding?;
        let word = self.spelt.map_or(self.unit.symbol(), |(word, _)| word);
        Some(format!("{} rounded to steps of {}, a half away from zero", with(&plain(value).to_string(), word), step.0))
    }
}

fn with(number: &str, word: &str) -> String {
    if word.is_empty() { number.to_owned() } else { format!("{number} {word}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;
    use crate::analysis::verdict::judge;
    use crate::vocab::check::{Decide, Limit, Statistic};
    use crate::vocab::event::Outcome;
    use crate::vocab::figure::Figure;
    use crate::vocab::verdict::{Decision, Line};

    fn clause(unit: &str, rounding: Option<f64>) -> Clause {
        let row = "l.csv:2".to_owned();
        Clause { name: "4.2".to_owned(), row, unit: unit.parse().ok(), rounding: rounding.map(Step) }
    }

    /// The line of a figure that came to these values, at least so much in a unit of the contract.
    fn judged(values: &[f64], (limit, unit): (f64, &str), rounding: Option<f64>, statistic: Statistic) -> Line {
        let clause = clause(unit, rounding);
        let worth = clause.unit.and_then(|unit| unit.worth(Unit::MegabytesPerSecond)).unwrap_or(1.0);
        let at_least = if statistic.is_relative() {
            Limit::Absolute(Quantity::new(limit, Unit::Percent))
        } else {
            Limit::Absolute(Quantity::new(limit * worth, Unit::MegabytesPerSecond))
        };
        let check = Check {
            at_least: Some(at_least),
            statistic,
            decide: Some(Decide::Point),
            clause: Some(clause),
            why: "agreed".to_owned(),
            ..Check::new("r.mb_per_s")
        };
        let told = Scenario::measuring(vec![check]);
        let rate = |value: &f64| vec![Figure::new("mb_per_s", *value, Unit::MegabytesPerSecond)];
        let mut told = values.iter().fold(told, |told, value| told.iteration(rate(value))).finish(Outcome::Sound);
        told.state.runs[0].iterations = values.len() as u32;
        judge(&told.state.opening.as_ref().unwrap().plan.clone(), &told.state).lines.remove(1)
    }

    #[test]
    fn a_contract_is_judged_in_its_own_unit_and_by_its_own_rounding() {
        // 99.996 MiB/s.
        let values = [99.996 * 1.048_576];
        let exact = judged(&values, (100.0, "MiB/s"), None, Statistic::Mean);
        assert_eq!((exact.decision, exact.limit.as_str()), (Decision::Fail, "100 MiB/s"));
        assert_eq!(exact.reason, "clause 4.2 (l.csv:2): agreed; decided by the number itself");
        let rounded = judged(&values, (100.0, "MiB/s"), Some(0.01), Statistic::Mean);
        assert_eq!((rounded.decision, rounded.measured.as_str()), (Decision::Pass, "100.00 MiB/s"));
        assert_eq!(
            rounded.reason,
            "clause 4.2 (l.csv:2): agreed; 99.996 MiB/s rounded to steps of 0.01, a half away from zero; decided by the number itself"
        );
        assert_eq!(judged(&values, (100.0, "MB/s"), None, Statistic::Mean).decision, Decision::Pass, "104.9 MB/s");
        assert_eq!(
            judged(&[99.994 * 1.048_576], (100.0, "MiB/s"), Some(0.01), Statistic::Mean).decision,
            Decision::Fail
        );
    }

    #[test]
    fn what_meets_its_limit_exactly_passes_in_any_unit() {
        for unit in ["MB/s", "MiB/s", "GiB/s", "kB/s", "KiB/s", "Gb/s"] {
            let worth =
                unit.parse::<crate::vocab::spelling::Spelling>().unwrap().worth(Unit::MegabytesPerSecond).unwrap();
            for limit in [0.1, 1.0, 33.3, 104.857_6, 1234.567] {
                let line = judged(&[limit * worth], (limit, unit), None, Statistic::Mean);
                assert_eq!((line.decision, line.limit), (Decision::Pass, format!("{limit} {unit}")));
            }
        }
    }

    #[test]
    fn what_misses_by_little_reads_as_a_miss() {
        let read = |value: f64, limit: f64, unit: &str| {
            let line = judged(&[value], (limit, unit), None, Statistic::Mean);
            (line.decision, line.measured, line.margin)
        };
        let says = |decision, measured: &str, margin: &str| (decision, measured.to_owned(), margin.to_owned());
        assert_eq!(read(100.448_367, 100.4489, "MB/s"), says(Decision::Fail, "100.4484 MB/s", "-0.0005 %"));
        assert_eq!(read(99.999_9, 100.0, "MB/s"), says(Decision::Fail, "99.9999 MB/s", "-0.0001 %"));
        assert_eq!(read(100.1, 100.0, "MB/s"), says(Decision::Pass, "100.1 MB/s", "+0.1 %"));
        assert_eq!(read(100.0, 100.0, "MB/s"), says(Decision::Pass, "100 MB/s", "+0.0 %"));
        assert_eq!(read(104.3, 100.0, "MB/s"), says(Decision::Pass, "104 MB/s", "+4.3 %"));
        assert_eq!(read(100.0, 1e-300, "MB/s").2, "+1e304 %");
        let huge = judged(&[100.0], (1e300, "MB/s"), None, Statistic::Mean);
        assert_eq!((huge.limit.as_str(), huge.margin.as_str()), ("1e300 MB/s", "-100.0 %"));
    }

    #[test]
    fn a_half_is_rounded_up_as_the_contract_reads_it() {
        let of = |value: f64| judged(&[value], (74.77, "MB/s"), Some(0.01), Statistic::Mean);
        assert_eq!((of(74.765).decision, of(74.765).measured.as_str()), (Decision::Pass, "74.77 MB/s"));
        assert_eq!((of(74.764_999_9).decision, of(74.764_999_9).measured.as_str()), (Decision::Fail, "74.76 MB/s"));
    }

    #[test]
    fn a_spread_stays_in_percent_and_another_dimension_proves_nothing() {
        let spread = judged(&[100.0, 103.0], (2.0, "%"), Some(0.1), Statistic::Spread);
        assert_eq!(
            (spread.decision, spread.measured.as_str(), spread.limit.as_str()),
            (Decision::Pass, "2.1 %", "2 %")
        );
        let other = judged(&[100.0], (100.0, "IOPS"), None, Statistic::Mean);
        assert_eq!(
            (other.decision, other.reason.as_str()),
            (Decision::NotProven, "clause 4.2 (l.csv:2): the limit is in IOPS, the figure in MB/s")
        );
    }
}
