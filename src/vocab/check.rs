//! What must hold at the end of a session: the checks of a plan, and the rule that each is decided by.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::finding::{Kind, Severity};
use super::spelling::{Spelling, plain};
use super::unit::Quantity;

/// A statement about figures or findings that must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// `run.figure`, `run`, or with `*` for every run: `*.steal_percent`.
    pub of: String,
    /// The class of use that it belongs to, which has a verdict of its own: `real-time computing`; none for all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// Which number of the iterations' figures is held against the limit.
    #[serde(default)]
    pub statistic: Statistic,
    /// PASS needs at least this.
    #[serde(default)]
    pub at_least: Option<Limit>,
    /// PASS needs at most this.
    #[serde(default)]
    pub at_most: Option<Limit>,
    /// What is held against the limit: the number itself, or the interval that its true value lies in. A preset that does not say gets
    /// [`Decide::Interval`] when it is read; in a record it is missing where rules had no names yet, and all were [`Decide::Point`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decide: Option<Decide>,
    /// Fewer iterations prove nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// Only iterations of a steady run prove anything, by the rule of SNIA's test specification.
    #[serde(default, skip_serializing_if = "is_false")]
    pub steady: bool,
    /// None of these findings may have been made in the run.
    #[serde(default)]
    pub no_findings: Vec<Kind>,
    /// From which severity on a finding counts.
    #[serde(default = "warn", skip_serializing_if = "is_warn")]
    pub from: Severity,
    /// What it means when the check does not hold.
    #[serde(default)]
    pub missed: Missed,
    /// Why this limit; printed with the line.
    #[serde(default)]
    pub why: String,
    /// The clause of a contract that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<Clause>,
}

impl Check {
    /// A check of this with everything else as a plan that does not mention it; it compares nothing yet.
    #[must_use]
    pub fn new(of: &str) -> Self {
        Self {
            of: of.to_owned(),
            section: String::new(),
            statistic: Statistic::default(),
            at_least: None,
            at_most: None,
            decide: Some(Decide::default()),
            iterations: None,
            steady: false,
            no_findings: Vec::new(),
            from: warn(),
            missed: Missed::default(),
            why: String::new(),
            clause: None,
        }
    }

    /// What is wrong with its clause, if anything is.
    #[must_use]
    pub fn clause_fault(&self) -> Option<&'static str> {
        let clause = self.clause.as_ref()?;
        let limits = || [&self.at_least, &self.at_most].into_iter().flatten();
        let fixed = limits().all(|limit| limit.share().is_none());
        let counts = |limit: &Limit| match (limit, clause.unit) {
            (Limit::Absolute(quantity), Some(unit)) => unit.worth(quantity.unit).is_some(),
            _ => true,
        };
        let step = clause.rounding.map(|step| step.0);
        if step.is_some_and(|step| !(1e-9..=1e12).contains(&step)) {
            Some("this is no step to round to; expected one such as 0.01")
        } else if !limits().all(counts) {
            Some("its unit and that of its limit count different things")
        } else if !fixed && (step.is_some() || clause.unit.is_some()) {
            Some("a share of something else is not rounded and has no unit of its own; give a fixed limit")
        } else if step.is_some() && self.rule() == Decide::Interval {
            Some("an interval is not rounded; rounding goes with a decision by the point")
        } else {
            None
        }
    }

    /// The rule that decides it.
    #[must_use]
    pub fn rule(&self) -> Decide {
        self.decide.unwrap_or(Decide::Point)
    }
}

/// A clause of a contract: where its limit stands, and how the contract counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Clause {
    /// Its number or name: `4.2.1`.
    pub name: String,
    /// File and line that it was read from: `limits.csv:3`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub row: String,
    /// The unit that the contract counts in; the measured number is converted to it, compared and printed in it. Of fixed limits only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Spelling>,
    /// The measured number is rounded so, in that unit, before it is compared. Of fixed limits that are decided by a point only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounding: Option<Step>,
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clause {}", self.name)?;
        if self.row.is_empty() { Ok(()) } else { write!(f, " ({})", self.row) }
    }
}

/// What a number is rounded to a multiple of: 0.01 for two decimals. A half goes away from zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Step(pub f64);

impl Step {
    /// The number rounded. It is taken as it reads in twelve digits, so that 1.005 is a half of a hundredth and goes up.
    #[must_use]
    pub fn round(self, value: f64) -> f64 {
        plain(plain(value / self.0).round() * self.0)
    }

    /// Decimals that a rounded number has.
    #[must_use]
    pub fn decimals(self) -> usize {
        let text = self.0.to_string();
        text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
    }
}

/// A number made of the figures of all iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Statistic {
    /// Arithmetic mean.
    #[default]
    Mean,
    /// Median.
    Median,
    /// Smallest.
    Min,
    /// Largest.
    Max,
    /// The one that speaks most for the node, as with STREAM: the largest against `at_least`, the smallest against `at_most`.
    Best,
    /// `Quantile(0.05)`: what a twentieth of the iterations are below.
    Quantile(f64),
    /// Coefficient of variation: the standard deviation in percent of the mean. Of less than two figures there is none.
    Spread,
    /// The same from the median absolute deviation, which a single outlier does not move.
    RobustSpread,
    /// The median of the last tenth of the iterations in percent of that of the first tenth: what is left once a node is warm, or a cache
    /// full. Of less than ten iterations there is none.
    Sustained,
    /// The largest in percent of the median of the last tenth: how much more there was for a while. Of less than ten there is none.
    Burst,
}

impl Statistic {
    /// Whether it is in percent of something of the figure, and no more in its unit.
    #[must_use]
    pub fn is_relative(self) -> bool {
        matches!(self, Self::Spread | Self::RobustSpread | Self::Sustained | Self::Burst)
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str("mean"),
            Self::Median => f.write_str("median"),
            Self::Min => f.write_str("minimum"),
            Self::Max => f.write_str("maximum"),
            Self::Best => f.write_str("best"),
            Self::Quantile(q) => write!(f, "{} % quantile", (q * 1e4).round() / 1e2),
            Self::Spread => f.write_str("spread"),
            Self::RobustSpread => f.write_str("robust spread"),
            Self::Sustained => f.write_str("sustained (last tenth by first)"),
            Self::Burst => f.write_str("burst (largest by last tenth)"),
        }
    }
}

/// What decides a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decide {
    /// The interval that holds the true value with 95 %: PASS when all of it is on the good side of the limit, FAIL when all of it is on
    /// the bad side, NOT PROVEN where the limit lies in it. Smallest, largest and best are of what was measured, and decided as a point.
    #[default]
    Interval,
    /// The number itself, as contracts mean it: "mean of 20 at least".
    Point,
}

/// What a statistic is held against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Limit {
    /// A fixed quantity: `Absolute("250 MB/s")`.
    Absolute(Quantity),
    /// A share of a roof: `OfRoof(0.75, Nominal)`.
    OfRoof(f64, Basis),
    /// A share of the same statistic of another machine: `OfReference("public-cloud", 0.9)`.
    OfReference(String, f64),
    /// The same after each machine's figure is divided by its own nominal roof: `OfReferenceNormalised("public-cloud", 0.9)`.
    OfReferenceNormalised(String, f64),
}

impl Limit {
    /// The reference it needs.
    #[must_use]
    pub fn reference(&self) -> Option<&str> {
        match self {
            Self::Absolute(_) | Self::OfRoof(..) => None,
            Self::OfReference(name, _) | Self::OfReferenceNormalised(name, _) => Some(name),
        }
    }

    /// The share of what it is a limit of.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        match self {
            Self::Absolute(_) => None,
            Self::OfRoof(share, _) | Self::OfReference(_, share) | Self::OfReferenceNormalised(_, share) => {
                Some(*share)
            }
        }
    }
}

/// Where a roof comes from; the two never stand for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Basis {
    /// Contract, preset, or what the hardware says that it is.
    Nominal,
    /// What this node could do just now. Never proves a contract: a throttled node lowers it too.
    Measured,
}

impl Basis {
    /// `nominal`, `measured`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Nominal => "nominal",
            Self::Measured => "measured",
        }
    }
}

/// The meaning of a check that does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missed {
    /// The node has failed.
    #[default]
    Fail,
    /// The conditions were unfit for a verdict, as with a noisy neighbour.
    NotProven,
    /// The contract says "should": the line says that it was missed, and the verdict does not depend on it.
    Told,
}

fn warn() -> Severity {
    Severity::Warn
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_warn(severity: &Severity) -> bool {
    *severity == warn()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_goes_away_from_zero() {
        let round = |value: f64, step: f64| Step(step).round(value);
        assert_eq!((round(1.005, 0.01), round(1.004_999, 0.01), round(-1.005, 0.01)), (1.01, 1.0, -1.01));
        assert_eq!((round(0.5, 1.0), round(2.5, 1.0), round(1.499, 1.0)), (1.0, 3.0, 1.0));
        assert_eq!((round(97.5, 5.0), round(0.15, 0.1), round(1e9 + 0.5, 1.0)), (100.0, 0.2, 1e9 + 1.0));
        assert_eq!((Step(0.01).decimals(), Step(1.0).decimals(), Step(0.5).decimals()), (2, 0, 1));
    }

    #[test]
    fn a_check_of_no_clause_is_written_as_before_there_were_clauses() {
        let check = Check::new("r.f");
        assert!(!serde_json::to_string(&check).unwrap().contains("clause"));
        let clause =
            Clause { name: "4.2".into(), unit: "MiB/s".parse().ok(), rounding: Some(Step(0.01)), ..Clause::default() };
        let check = Check { clause: Some(clause), ..check };
        let text = serde_json::to_string(&check).unwrap();
        assert!(text.ends_with(r#""clause":{"name":"4.2","unit":"MiB/s","rounding":0.01}}"#), "{text}");
        assert_eq!(serde_json::from_str::<Check>(&text).unwrap(), check);
    }
}
