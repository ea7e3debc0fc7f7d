//! The catalogue of rates that rules make: links, buses, volumes of clouds. Data, in `catalogue.ron`, each figure with its source.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::vocab::ronfile;
use crate::vocab::unit::{Quantity, Unit};

const TEXT: &str = include_str!("../catalogue.ron");

/// A rate is one of the catalogue's when it lies within this share of it; flat lines are as flat as that.
const NEAR: f64 = 0.005;
/// What a limit that was typed by a person begins with.
const ROUND: &[f64] = &[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
/// Smaller rates are round by chance.
const LEAST_ROUND: f64 = 100.0;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    marks: Vec<Mark>,
    plans: Vec<Plan>,
}

/// What sets a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Sort {
    Link,
    Bus,
    Volume,
}

/// A rate, or a range of rates where what is left of the raw one depends on sizes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    name: String,
    sort: Sort,
    low: Quantity,
    /// The same as `low` where there is no range.
    #[serde(default)]
    high: Option<Quantity>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the file"))]
    source: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the file"))]
    seen: String,
}

/// A limit that grows with the size of a volume: base + `per_gib` for each GiB, at most `most`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    name: String,
    base: Quantity,
    per_gib: Quantity,
    most: Quantity,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the file"))]
    source: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the file"))]
    seen: String,
}

fn catalogue() -> &'static Catalogue {
    static READ: OnceLock<Catalogue> = OnceLock::new();
    // A file that does not parse is caught by a test; here nothing would be matched.
    READ.get_or_init(|| ronfile::parse("catalogue.ron", TEXT).unwrap_or_default())
}

/// How far a value lies outside a range, as a share; zero inside.
fn outside(value: f64, low: f64, high: f64) -> f64 {
    if value < low { (low - value) / low } else { ((value - high) / high).max(0.0) }
}

/// The entry that a rate is within 0.5 % of: a link, a bus, a fixed limit of a volume, or a round number of operations.
#[must_use]
pub fn catalogue_hit(value: f64, unit: Unit) -> Option<&'static str> {
    let all = catalogue().marks.iter().filter(|mark| mark.low.unit == unit && mark.sort_fits(unit));
    let near = all.filter_map(|mark| {
        let high = mark.high.unwrap_or(mark.low);
        let off = outside(value, mark.low.value, high.value);
        (off <= NEAR).then_some((off, mark.name.as_str()))
    });
    let best = near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name);
    best.or_else(|| (unit == Unit::Iops && is_round(value)).then_some("a round number of operations"))
}

/// The plan whose limit for a volume of so many bytes a rate is within 0.5 % of.
#[must_use]
pub fn plan_hit(value: f64, unit: Unit, bytes: u64) -> Option<&'static str> {
    let gib = bytes as f64 / f64::from(1 << 30);
    let of_unit = catalogue().plans.iter().filter(|plan| plan.base.unit == unit);
    let limit = |plan: &Plan| (plan.base.value + plan.per_gib.value * gib).min(plan.most.value);
    of_unit
        .map(|plan| (limit(plan), plan))
        .find(|(limit, _)| outside(value, *limit, *limit) <= NEAR)
        .map(|(_, plan)| plan.name.as_str())
}

/// The size of the bucket that a fast phase emptied: what was done in it beyond what the rate since would have given, Σ(x − B)·dt. `work`
/// in counted things (bytes), `rate` in the same a second.
#[must_use]
pub fn bucket(work: f64, rate: f64, fast_seconds: f64) -> f64 {
    (work - rate * fast_seconds).max(0.0)
}

fn is_round(value: f64) -> bool {
    if value < LEAST_ROUND {
        return false;
    }
    let first = value / 10_f64.powf(value.log10().floor());
    ROUND.iter().chain(&[10.0]).any(|round| outside(first, *round, *round) <= NEAR)
}

impl Mark {
    /// Links and buses carry bytes; only volumes have a limit in operations.
    fn sort_fits(&self, unit: Unit) -> bool {
        unit == Unit::MegabytesPerSecond || self.sort == Sort::Volume
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_and_every_entry_has_a_source_and_a_date() {
        let read: Catalogue = ronfile::parse("catalogue.ron", TEXT).unwrap();
        for mark in &read.marks {
            assert!(!mark.source.is_empty() && !mark.seen.is_empty() && mark.name.is_ascii(), "{}", mark.name);
            assert!(
                mark.high.is_none_or(|high| high.unit == mark.low.unit && high.value > mark.low.value),
                "{}",
                mark.name
            );
            assert!(mark.sort_fits(mark.low.unit), "{}", mark.name);
        }
        for plan in &read.plans {
            assert!(!plan.source.is_empty() && !plan.seen.is_empty() && plan.name.is_ascii(), "{}", plan.name);
            assert!(plan.base.unit == plan.per_gib.unit && plan.base.unit == plan.most.unit, "{}", plan.name);
            assert!(plan.base.value < plan.most.value, "{}", plan.name);
        }
    }

    #[test]
    fn rates_within_half_a_hundredth_are_of_the_catalogue_and_others_are_not() {
        let hit = |value| catalogue_hit(value, Unit::MegabytesPerSecond).unwrap_or("");
        assert!(hit(117.6).contains("1 Gb/s"), "{}", hit(117.6));
        assert!(hit(545.0).contains("SATA"), "a range");
        assert!(hit(131.2).contains("gp3"), "{}", hit(131.2));
        assert_eq!((hit(121.0), hit(288.0), hit(1_300.0)), ("", "", ""));
        let operations = |value| catalogue_hit(value, Unit::Iops).unwrap_or("");
        assert!(operations(3_004.0).contains("gp"), "{}", operations(3_004.0));
        assert_eq!(operations(4_010.0), "a round number of operations");
        assert_eq!((operations(4_200.0), operations(13_200.0), operations(50.0)), ("", "", ""));
        assert_eq!(catalogue_hit(117.6, Unit::Gflops), None);
    }

    #[test]
    fn a_plan_is_held_against_the_size_of_the_volume() {
        let gib = |n: u64| n << 30;
        assert!(plan_hit(2_800.0, Unit::Iops, gib(20)).is_some_and(|name| name.contains("1800 + 50")));
        assert_eq!(plan_hit(2_800.0, Unit::Iops, gib(27)), None);
        assert!(plan_hit(350.0, Unit::MegabytesPerSecond, gib(1_000)).is_some(), "its most");
    }

    #[test]
    fn the_bucket_is_what_came_on_top() {
        assert_eq!(bucket(1e9, 1e6, 10.0), 0.99e9);
        assert_eq!(bucket(1e6, 1e6, 10.0), 0.0);
    }
}
