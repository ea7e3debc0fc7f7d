//! Machines side by side: of each figure the mean, the share of its roof, the ratio to the first machine, and whether that is more than
//! chance and more than a trifle.

use std::collections::BTreeSet;

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::reference::{self, BARE_METAL, Differs};
use crate::vocab::reference::{Profile, Values};
use crate::vocab::stat;
use crate::vocab::unit::{Quantity, Unit};

/// What all tests of a comparison together may be wrong in, where nothing differs.
const WRONG: f64 = 0.05;
/// Values that a side needs; of two the spread is hardly known.
const FEWEST: usize = 3;
/// By how much the larger mean must exceed the smaller one to matter: two machines of one delivery differ by this in what is bounded by
/// CPU or memory,
const LEAST: f64 = 0.03;
/// and by this where others share the way: disk and network.
const LEAST_SHARED: f64 = 0.10;

/// One machine of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Machine {
    /// By which it is told from the others.
    pub name: String,
    /// What is known of it.
    pub profile: Profile,
    /// What was found on it at WARN or worse, a line each.
    pub findings: Vec<String>,
}

/// Machines compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// In the order in which they were given.
    pub machines: Vec<Machine>,
    /// What they differ in, the most telling first.
    pub differences: Vec<Difference>,
    /// A row a figure.
    pub rows: Vec<Row>,
    /// What limits the whole.
    pub remarks: Vec<String>,
}

/// Something in which machines, or their runs, are not alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// A condition or a label.
    pub what: String,
    /// The runs whose label it is; none for a condition of the machine.
    pub runs: Vec<String>,
    /// What it is on each machine; none where it is not known, or not there.
    pub values: Vec<Option<String>>,
    /// Whether it keeps figures from being compared, or part of the machine from the work.
    pub weighs: bool,
}

/// A figure of all machines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// `cpu-float.gflops`.
    pub figure: String,
    /// Of all values.
    pub unit: Unit,
    /// Whether it is the one on the chart of its run.
    pub main: bool,
    /// By which share the larger of two means must exceed the smaller one to matter.
    pub least: f64,
    /// Each machine's part; none where it has no such figure.
    pub cells: Vec<Option<Cell>>,
}

/// A figure of one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// How many values: iterations of a session, or sessions of a baseline.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their robust coefficient of variation, as a share; none around zero.
    pub spread: Option<f64>,
    /// The nominal roof, its name, and the share of it that the mean comes to.
    pub roof: Option<(String, Quantity, f64)>,
    /// Against the first machine that has the figure; none for that one.
    pub against: Option<Against>,
}

/// A machine against the first one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// Its mean by the first one's.
    pub ratio: f64,
    /// Where the true ratio lies with 95 %; none for less than 3 values a side.
    pub interval: Option<(f64, f64)>,
    /// Virtual machine by bare metal, where they are one of each.
    pub virtualisation_efficiency: Option<f64>,
    /// What the test says.
    pub told: Told,
}

/// Whether a difference is one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Told {
    /// More than chance makes, with this probability of so much by chance after Holm's correction, and enough to matter.
    Significant(f64),
    /// More than chance makes, and less than matters; with that probability.
    Trifle(f64),
    /// No more than chance makes, with that probability.
    Chance(f64),
    /// Too few values, in words.
    NotTested(String),
    /// Not the same work: the labels that differ.
    NotComparable(Vec<String>),
}

/// Puts machines side by side. `all` has a row for every figure that at least two have; else for rates and for latencies (p99).
#[must_use]
pub fn compare(machines: Vec<Machine>, all: bool) -> Comparison {
    let profiles: Vec<&Profile> = machines.iter().map(|machine| &machine.profile).collect();
    let names: BTreeSet<&String> = profiles.iter().flat_map(|profile| profile.figures.keys()).collect();
    let mut rows: Vec<Row> = names.into_iter().filter_map(|name| row(&profiles, name, all)).collect();
    // As the runs are in most plans: each with its main figure first.
    rows.sort_by_key(|row| (run_of(&row.figure).to_owned(), !row.main));
    correct(&mut rows);
    let differences = differences(&profiles);
    let remarks = remarks(&machines);
    Comparison { machines, differences, rows, remarks }
}

/// The run of a figure; a run's name has no point.
fn run_of(figure: &str) -> &str {
    figure.split_once('.').map_or(figure, |(run, _)| run)
}

/// Whether a figure is one that people compare: a rate, or a latency.
fn telling(name: &str, unit: Unit) -> bool {
    let rate = matches!(
        unit,
        Unit::Gflops | Unit::MegabytesPerSecond | Unit::Iops | Unit::OpsPerSecond | Unit::EventsPerSecond
    );
    // The median pass of STREAM stands beside the best one, which is the tool's figure.
    (rate && !name.contains("_median_")) || unit == Unit::Nanoseconds || name.ends_with("p99_us")
}

fn row(profiles: &[&Profile], figure: &str, all: bool) -> Option<Row> {
    let (run, name) = figure.split_once('.')?;
    let found: Vec<Option<&Values>> = profiles.iter().map(|profile| profile.figures.get(figure)).collect();
    let first = found.iter().position(|values| values.is_some_and(|values| !values.values.is_empty()))?;
    let unit = found[first]?.unit;
    let fits = |values: &&Values| values.unit == unit && !values.values.is_empty();
    let main = profiles.iter().any(|profile| profile.runs.get(run).is_some_and(|run| run.main == name));
    if found.iter().flatten().filter(|values| fits(values)).count() < 2 || !(all || main || telling(name, unit)) {
        return None;
    }
    let cell = |(at, values): (usize, Option<&Values>)| {
        let values = values.filter(fits)?;
        let mean = stat::mean(&values.values)?;
        let roof = reference::nominal(profiles[at], run, name);
        let roof = roof.map(|(name, roof)| (name.to_owned(), roof, mean / roof.value));
        let against = (at != first).then(|| against((profiles[first], profiles[at]), figure)).flatten();
        Some(Cell { n: values.values.len(), mean, spread: stat::robust_cv(&values.values), roof, against })
    };
    let class = profiles.iter().find_map(|profile| profile.runs.get(run)).map_or("", |run| run.class.as_str());
    let least = if ["cpu", "memory"].contains(&class) { LEAST } else { LEAST_SHARED };
    Some(Row {
        figure: figure.to_owned(),
        unit,
        main,
        least,
        cells: found.iter().copied().enumerate().map(cell).collect(),
    })
}

fn against((first, this): (&Profile, &Profile), figure: &str) -> Option<Against> {
    let values = |profile: &Profile| profile.figures.get(figure).map(|values| values.values.clone());
    let (one, other) = (values(first)?, values(this)?);
    let ratio = stat::mean(&other)? / stat::mean(&one)?;
    if !ratio.is_finite() {
        return None;
    }
    let is = |profile: &Profile, metal: bool| {
        profile.conditions.get("virtualisation").is_some_and(|kind| (kind == BARE_METAL) == metal)
    };
    let virtualisation_efficiency = match () {
        () if is(first, true) && is(this, false) => Some(ratio),
        () if is(first, false) && is(this, true) && ratio > 0.0 => Some(1.0 / ratio),
        () => None,
    };
    let interval = welch(&one, &other).and_then(|welch| welch.interval);
    Some(Against { ratio, interval, virtualisation_efficiency, told: told(first, this, figure, (&one, &other)) })
}

/// What there is to say before the correction for many tests.
fn told(first: &Profile, this: &Profile, figure: &str, (one, other): (&[f64], &[f64])) -> Told {
    let run = run_of(figure);
    let runs = first.runs.get(run).zip(this.runs.get(run));
    let differs = runs.map(|(first, this)| reference::labels_that_differ(first, this)).unwrap_or_default();
    // A part of the machine against the whole is just the question here, and told before anything else.
    let work = differs.iter().filter(|differs| differs.decides && differs.what != LIMITED);
    let work: Vec<String> = work.map(|differs| differs.what.to_owned()).collect();
    if !work.is_empty() {
        return Told::NotComparable(work);
    }
    if let Some(welch) = welch(one, other) {
        return Told::Chance(welch.p);
    }
    let what = if first.sessions > 1 || this.sessions > 1 { "value" } else { "iteration" };
    let fewest = one.len().min(other.len());
    Told::NotTested(format!("{fewest} {what}{}", if fewest == 1 { "" } else { "s" }))
}

const LIMITED: &str = "limited_to";

/// Two means held against each other.
struct Welch {
    /// The probability of so much or more by chance, where they are the same.
    p: f64,
    /// Where the second by the first lies with 95 %; none where one is not above zero.
    interval: Option<(f64, f64)>,
}

/// Welch's t test (1947), two-sided; none for less than 3 values a side. The interval is that of the logarithm of the ratio, whose
/// variance is the sum of the squared relative errors of both means (the delta method), with Welch's degrees of freedom.
fn welch(one: &[f64], other: &[f64]) -> Option<Welch> {
    if one.len() < FEWEST || other.len() < FEWEST {
        return None;
    }
    let (one, other) = (Mean::of(one)?, Mean::of(other)?);
    let error = one.error + other.error;
    let p = if error > 0.0 {
        let t = StudentsT::new(0.0, 1.0, free((one.error, one.free), (other.error, other.free))).ok()?;
        2.0 * t.cdf(-(one.value - other.value).abs() / error.sqrt())
    } else {
        f64::from(one.value == other.value)
    };
    let interval = if one.value > 0.0 && other.value > 0.0 { ratio(&one, &other) } else { None };
    Some(Welch { p, interval })
}

fn ratio(one: &Mean, other: &Mean) -> Option<(f64, f64)> {
    let relative = |mean: &Mean| mean.error / (mean.value * mean.value);
    let (ratio, error) = (other.value / one.value, relative(one) + relative(other));
    if error == 0.0 {
        return Some((ratio, ratio));
    }
    let t = StudentsT::new(0.0, 1.0, free((relative(one), one.free), (relative(other), other.free))).ok()?;
    let half = t.inverse_cdf(1.0 - WRONG / 2.0) * error.sqrt();
    Some((ratio * (-half).exp(), ratio * half.exp()))
}

/// Welch's degrees of freedom of a sum of two variances, each with its own.
fn free((one, free_one): (f64, f64), (other, free_other): (f64, f64)) -> f64 {
    let sum = one + other;
    // At least those of the side that has fewer; below only by rounding.
    (sum * sum / (one * one / free_one + other * other / free_other)).max(free_one.min(free_other))
}

/// A mean, the variance that it has itself, and the degrees of freedom of that.
struct Mean {
    value: f64,
    error: f64,
    free: f64,
}

impl Mean {
    fn of(values: &[f64]) -> Option<Self> {
        let (value, n) = (stat::mean(values)?, values.len() as f64);
        let squares: f64 = values.iter().map(|one| (one - value) * (one - value)).sum();
        Some(Self { value, error: squares / (n - 1.0) / n, free: n - 1.0 })
    }
}

/// Holm's correction (1979) over every row and machine that was tested; and the difference must be large enough to matter.
fn correct(rows: &mut [Row]) {
    let mut tested: Vec<(f64, f64, &mut Against)> = Vec::new();
    for row in rows {
        let least = row.least;
        for against in row.cells.iter_mut().flatten().filter_map(|cell| cell.against.as_mut()) {
            if let Told::Chance(p) = against.told {
                tested.push((p, least, against));
            }
        }
    }
    tested.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
    let (all, mut before) = (tested.len(), 0.0_f64);
    for (place, (p, least, against)) in tested.into_iter().enumerate() {
        before = before.max((p * (all - place) as f64).min(1.0));
        let larger = against.ratio.max(1.0 / against.ratio);
        against.told = match () {
            () if before >= WRONG => Told::Chance(before),
            () if larger < 1.0 + least => Told::Trifle(before),
            () => Told::Significant(before),
        };
    }
}

/// What machines differ in, and then what their runs do, equal labels of several runs together.
fn differences(profiles: &[&Profile]) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    let of_machines = pairs(profiles, reference::conditions_that_differ);
    let values = |what: &str| profiles.iter().map(|profile| profile.conditions.get(what).cloned()).collect();
    found.extend(of_machines.into_iter().map(|(what, _)| Difference {
        values: values(&what),
        what,
        runs: vec![],
        weighs: false,
    }));
    let runs: BTreeSet<&String> = profiles.iter().flat_map(|profile| profile.runs.keys()).collect();
    let mut of_runs: Vec<Difference> = Vec::new();
    for run in runs {
        let labels = pairs(profiles, |one, other| {
            let both = one.runs.get(run).zip(other.runs.get(run));
            both.map(|(one, other)| reference::labels_that_differ(one, other)).unwrap_or_default()
        });
        for (what, weighs) in labels {
            let value = |profile: &&Profile| profile.runs.get(run)?.labels.get(&what).cloned();
            let values: Vec<Option<String>> = profiles.iter().map(value).collect();
            match of_runs
                .iter_mut()
                .find(|known| known.what == what && known.values == values && known.weighs == weighs)
            {
                Some(known) => known.runs.push(run.clone()),
                None => of_runs.push(Difference { what, runs: vec![run.clone()], values, weighs }),
            }
        }
    }
    found.extend(of_runs);
    // What weighs comes first, a limit of the work before all.
    found.sort_by_key(|difference| (difference.what != LIMITED, !difference.weighs));
    found
}

/// What differs between the first and any other, in the order in which it is met, and whether it weighs.
fn pairs<'a>(
    profiles: &[&'a Profile],
    differ: impl Fn(&'a Profile, &'a Profile) -> Vec<Differs<'a>>,
) -> Vec<(String, bool)> {
    let mut met: Vec<(String, bool)> = Vec::new();
    let Some((first, others)) = profiles.split_first() else { return met };
    for differs in others.iter().flat_map(|other| differ(first, other)) {
        match met.iter_mut().find(|(what, _)| what == differs.what) {
            Some((_, weighs)) => *weighs |= differs.decides,
            None => met.push((differs.what.to_owned(), differs.decides)),
        }
    }
    met
}

fn remarks(machines: &[Machine]) -> Vec<String> {
    let mut remarks = Vec::new();
    let single: Vec<&str> =
        machines.iter().filter(|machine| machine.profile.sessions <= 1).map(|machine| machine.name.as_str()).collect();
    if !single.is_empty() {
        remarks.push(format!(
            "of {} there is one session: how much sessions of a machine differ among themselves is not known, so a difference may be \
             that of the hour; several made into one with `shakedown baseline` tell",
            single.join(", ")
        ));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vocab::reference::Described;

    /// A machine with these values of a figure of the run `r`.
    fn machine(name: &str, class: &str, figures: &[(&str, Unit, &[f64])]) -> Machine {
        let described = Described { class: class.to_owned(), main: figures[0].0.to_owned(), ..Described::default() };
        let figures = figures
            .iter()
            .map(|(figure, unit, values)| (format!("r.{figure}"), Values { unit: *unit, values: values.to_vec() }));
        let profile = Profile {
            sessions: 1,
            figures: figures.collect(),
            runs: [("r".to_owned(), described)].into(),
            ..Profile::default()
        };
        Machine { name: name.to_owned(), profile, findings: Vec::new() }
    }

    fn rate(name: &str, class: &str, values: &[f64]) -> Machine {
        machine(name, class, &[("mb_per_s", Unit::MegabytesPerSecond, values)])
    }

    fn first_told(machines: Vec<Machine>) -> Told {
        compare(machines, false).rows[0].cells[1].as_ref().unwrap().against.as_ref().unwrap().told.clone()
    }

    /// Numbers from 0 to 1, the same ones every time (Knuth's MMIX).
    fn uniform(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(state: &mut u64, mean: f64, deviation: f64) -> f64 {
        let (one, two) = (uniform(state), uniform(state));
        mean + deviation * (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos()
    }

    #[test]
    fn welchs_test_is_that_of_the_textbook() {
        let (one, other) = ([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 4.0, 6.0, 8.0, 10.0]);
        // Means 3 and 6, variances 2.5 and 10: t = 3 / sqrt(2.5) = 1.8974; df = 2.5² / (0.5²/4 + 2²/4) = 5.882; p = 0.1075 (the density integrated by hand).
        let got = welch(&one, &other).unwrap();
        assert!((got.p - 0.107_53).abs() < 1e-5, "{}", got.p);
        let (low, high) = got.interval.unwrap();
        // The logarithm of 2 with 0.5 / 9 + 2 / 36 = 1/9 and df 8: 2.306 / 3 on both sides.
        assert!((low - 2.0 * (-2.306_f64 / 3.0).exp()).abs() < 1e-3, "{low}");
        assert!((high - 2.0 * (2.306_f64 / 3.0).exp()).abs() < 1e-3, "{high}");
        assert_eq!(welch(&[5.0; 3], &[5.0; 3]).unwrap().p, 1.0);
        assert_eq!(welch(&[5.0; 3], &[6.0; 3]).unwrap().p, 0.0);
        assert!(welch(&[5.0; 2], &[6.0; 3]).is_none());
    }

    #[test]
    fn a_difference_must_be_more_than_chance_and_more_than_a_trifle() {
        let around = |mean: f64| [mean * 0.999, mean, mean * 1.001, mean * 1.0005, mean * 0.9995];
        let told = |class: &str, by: f64| {
            first_told(vec![rate("a", class, &around(100.0)), rate("b", class, &around(100.0 * by))])
        };
        assert!(matches!(told("memory", 0.96), Told::Significant(p) if p < 0.001));
        assert!(matches!(told("memory", 1.02), Told::Trifle(_)));
        assert!(matches!(told("disk", 0.96), Told::Trifle(_)));
        assert!(matches!(told("disk", 0.88), Told::Significant(_)));
        assert!(matches!(told("cpu", 1.0), Told::Chance(_)));
        let few = first_told(vec![rate("a", "disk", &[100.0]), rate("b", "disk", &[50.0])]);
        assert_eq!(few, Told::NotTested("1 iteration".to_owned()));
        let few = first_told(vec![rate("a", "disk", &[100.0; 5]), rate("b", "disk", &[50.0, 51.0])]);
        assert_eq!(few, Told::NotTested("2 iterations".to_owned()));
    }

    #[test]
    fn holm_asks_more_of_the_first_of_many() {
        let cell = |p: f64| {
            let against =
                Against { ratio: 2.0, interval: None, virtualisation_efficiency: None, told: Told::Chance(p) };
            Some(Cell { n: 3, mean: 1.0, spread: None, roof: None, against: Some(against) })
        };
        let mut rows = [0.04, 0.01, 0.02].map(|p| Row {
            figure: "r.f".to_owned(),
            unit: Unit::Iops,
            main: true,
            least: LEAST,
            cells: vec![None, cell(p)],
        });
        correct(&mut rows);
        let told = rows.map(|row| row.cells[1].as_ref().unwrap().against.as_ref().unwrap().told.clone());
        // 0.01 × 3, 0.02 × 2, 0.04 × 1 and no less than the one before.
        assert_eq!(told, [Told::Significant(0.04), Told::Significant(0.03), Told::Significant(0.04)]);
    }

    #[test]
    fn rates_and_latencies_are_compared_and_the_rest_on_request() {
        let figures: &[(&str, Unit, &[f64])] = &[
            ("iops", Unit::Iops, &[1.0]),
            ("lat_p99_us", Unit::Microseconds, &[1.0]),
            ("lat_max_us", Unit::Microseconds, &[1.0]),
            ("generator_cpu_percent", Unit::Percent, &[1.0]),
            ("copy_median_mb_per_s", Unit::MegabytesPerSecond, &[1.0]),
        ];
        let two = || vec![machine("a", "disk", figures), machine("b", "disk", figures)];
        let names = |all| compare(two(), all).rows.into_iter().map(|row| row.figure).collect::<Vec<_>>();
        assert_eq!(names(false), ["r.iops", "r.lat_p99_us"]);
        assert_eq!(names(true).len(), 5);
        let alone = vec![machine("a", "disk", figures), rate("b", "disk", &[1.0])];
        assert!(compare(alone, true).rows.is_empty(), "a figure that only one has");
    }

    #[test]
    fn other_work_is_not_comparable_and_a_limited_machine_is() {
        let labelled = |name: &str, values: &[f64], labels: &[(&str, &str)]| {
            let mut machine = rate(name, "cpu", values);
            let of = &mut machine.profile.runs.get_mut("r").unwrap().labels;
            of.extend(labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
            machine
        };
        let (fast, slow) = ([100.0, 101.0, 99.0], [50.0, 51.0, 49.0]);
        let two = vec![labelled("a", &fast, &[("path", "direct")]), labelled("b", &slow, &[("path", "buffered")])];
        let comparison = compare(two.clone(), false);
        assert_eq!(first_told(two), Told::NotComparable(vec!["path".to_owned()]));
        assert!(comparison.differences[0].weighs && comparison.differences[0].what == "path");
        let limited = [("threads", "1"), ("limited_to", "CPUs 0")];
        let two = vec![labelled("a", &fast, &[("threads", "2")]), labelled("b", &slow, &limited)];
        let comparison = compare(two.clone(), false);
        assert!(matches!(first_told(two), Told::Significant(_)));
        let first = &comparison.differences[0];
        assert_eq!((first.what.as_str(), &first.values), ("limited_to", &vec![None, Some("CPUs 0".to_owned())]));
        assert_eq!(comparison.differences[1].what, "threads");
    }

    #[test]
    fn one_session_a_side_is_said_once_and_baselines_are_not_told_of() {
        let with = |sessions| {
            let mut machine = rate("a", "cpu", &[1.0; 3]);
            machine.profile.sessions = sessions;
            machine
        };
        assert_eq!(compare(vec![with(1), with(1)], false).remarks.len(), 1);
        assert_eq!(compare(vec![with(3), with(3)], false).remarks, [""; 0]);
    }

    /// 7 figures of 5 values, as `quick` has them, of two sessions of one machine.
    fn pair(state: &mut u64, noise: f64) -> Vec<Machine> {
        let names = ["f0", "f1", "f2", "f3", "f4", "f5", "f6"];
        let mut one = |name: &str| {
            let values: Vec<Vec<f64>> =
                names.iter().map(|_| (0..5).map(|_| normal(state, 100.0, 100.0 * noise)).collect()).collect();
            let figures: Vec<(&str, Unit, &[f64])> =
                names.iter().zip(&values).map(|(name, values)| (*name, Unit::Iops, values.as_slice())).collect();
            machine(name, "cpu", &figures)
        };
        vec![one("a"), one("b")]
    }

    fn is_significant(comparison: &Comparison) -> bool {
        let cells = comparison.rows.iter().flat_map(|row| row.cells.iter().flatten());
        cells.filter_map(|cell| cell.against.as_ref()).any(|against| matches!(against.told, Told::Significant(_)))
    }

    #[test]
    fn of_two_equal_machines_at_most_one_try_in_twenty_says_that_they_differ() {
        let mut state = 1;
        let wrong = (0..1000).filter(|_| is_significant(&compare(pair(&mut state, 0.05), false))).count();
        // 50 are the most that Holm's correction lets through in the mean; fewer, as Welch's test is careful with few values.
        assert!((5..=50).contains(&wrong), "{wrong} of 1000");
        let mut differ = 0;
        for _ in 0..100 {
            let mut two = pair(&mut state, 0.05);
            two[1].profile.figures.values_mut().for_each(|of| of.values.iter_mut().for_each(|value| *value *= 0.75));
            differ += u32::from(is_significant(&compare(two, false)));
        }
        assert!(differ >= 99, "a quarter less is seen: {differ} of 100");
    }

    proptest! {
        /// Which of two comes first changes the ratio into its inverse and nothing else; a common factor changes nothing.
        #[test]
        fn order_and_a_common_factor_change_no_significance(
            one in prop::collection::vec(1.0..100.0_f64, 1..8),
            other in prop::collection::vec(1.0..100.0_f64, 1..8),
            factor in 0.01..100.0_f64,
        ) {
            let against = |first: &[f64], this: &[f64]| {
                let comparison = compare(vec![rate("a", "cpu", first), rate("b", "cpu", this)], false);
                comparison.rows[0].cells[1].as_ref().unwrap().against.clone().unwrap()
            };
            let times = |values: &[f64]| values.iter().map(|value| value * factor).collect::<Vec<f64>>();
            let (there, back) = (against(&one, &other), against(&other, &one));
            let scaled = against(&times(&one), &times(&other));
            prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-9);
            prop_assert!((there.ratio / scaled.ratio - 1.0).abs() < 1e-9);
            let kind = |told: &Told| std::mem::discriminant(told);
            prop_assert_eq!(kind(&there.told), kind(&back.told));
            prop_assert_eq!(kind(&there.told), kind(&scaled.told));
            if let Some(((low, high), (low_back, high_back))) = there.interval.zip(back.interval) {
                prop_assert!(low <= there.ratio && there.ratio <= high);
                prop_assert!((low * high_back - 1.0).abs() < 1e-6 && (high * low_back - 1.0).abs() < 1e-6);
            }
        }

        /// In whatever order the others stand behind the first, each is told the same.
        #[test]
        fn the_order_of_the_others_changes_nothing(
            values in prop::collection::vec(prop::collection::vec(1.0..100.0_f64, 1..6), 3..6),
        ) {
            let machines: Vec<Machine> =
                values.iter().enumerate().map(|(at, values)| rate(&format!("m{at}"), "cpu", values)).collect();
            let mut turned = machines.clone();
            turned[1..].reverse();
            let cells = |machines: Vec<Machine>| {
                let comparison = compare(machines, false);
                let names = comparison.machines.iter().map(|machine| machine.name.clone());
                names.zip(comparison.rows[0].cells.clone()).collect::<std::collections::BTreeMap<_, _>>()
            };
            prop_assert_eq!(cells(machines), cells(turned));
        }
    }
}
