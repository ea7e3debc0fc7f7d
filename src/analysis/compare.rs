//! Machines side by side: of each figure the mean, the share of its roof, the ratio to the first machine, and whether that is more than
//! chance and more than a trifle.

use std::collections::BTreeSet;

use serde::Serialize;

use super::means::{self, Among, Side, WRONG};
use super::reference::{self, BARE_METAL, Differs};
use crate::vocab::reference::{Profile, Values};
use crate::vocab::stat;
use crate::vocab::unit::{Quantity, Unit};

/// By how much the larger mean must exceed the smaller one to matter: two machines of one delivery differ by this in what is bounded by
/// CPU or memory,
const LEAST: f64 = 0.03;
/// and by this where others share the way: disk and network.
const LEAST_SHARED: f64 = 0.10;
/// What the mean of one session is taken to be off the machine's own by, where no other session tells, as a standard deviation in shares
/// of it: seven sessions within an hour on a virtual machine with neighbours had 2.5 % in LINPACK
const SESSION: f64 = 0.025;
/// The same for what is bounded by memory, disk and network: the same sessions had 11 % in STREAM.
const SESSION_SHARED: f64 = 0.10;

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
    /// What sessions of one machine are taken to differ by where there is one of each: a standard deviation as a share of the mean.
    pub assumed: f64,
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
    /// Their robust coefficient of variation, as a share; none of one value, and around zero.
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
    /// Where the true ratio of the machines lies with 95 %; none for less than 3 values a side.
    pub interval: Option<(f64, f64)>,
    /// Virtual machine by bare metal, where they are one of each.
    pub virtualisation_efficiency: Option<f64>,
    /// How likely so much is by chance; none where that was not tested.
    pub chance: Option<Chance>,
    /// What that says.
    pub told: Told,
}

/// The probabilities that chance alone makes two means differ by so much or more, after Holm's correction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Chance {
    /// By what the values spread, as if they were all that matters.
    pub values: f64,
    /// By that and what sessions of one machine differ by.
    pub sessions: f64,
}

/// Whether a difference is one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Told {
    /// More than chance makes, and enough to matter.
    Significant,
    /// The sessions differ by more than their values do, and by no more than two sessions of one machine may.
    OfSessions,
    /// More than chance makes, and less than matters.
    Trifle,
    /// No more than chance makes.
    Chance,
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
    let class = profiles.iter().find_map(|profile| profile.runs.get(run)).map_or("", |run| run.class.as_str());
    let least = if ["cpu", "memory"].contains(&class) { LEAST } else { LEAST_SHARED };
    let assumed = if class == "cpu" { SESSION } else { SESSION_SHARED };
    let cell = |(at, values): (usize, Option<&Values>)| {
        let values = values.filter(fits)?;
        let mean = stat::mean(&values.values)?;
        let spread = if values.values.len() > 1 { stat::robust_cv(&values.values) } else { None };
        let roof = reference::nominal(profiles[at], run, name);
        let roof = roof.map(|(name, roof)| (name.to_owned(), roof, mean / roof.value));
        let against = (at != first).then(|| against((profiles[first], profiles[at]), figure, assumed)).flatten();
        Some(Cell { n: values.values.len(), mean, spread, roof, against })
    };
    Some(Row {
        figure: figure.to_owned(),
        unit,
        main,
        least,
        assumed,
        cells: found.iter().copied().enumerate().map(cell).collect(),
    })
}

fn against((first, this): (&Profile, &Profile), figure: &str, assumed: f64) -> Option<Against> {
    let (one, other) = (&first.figures.get(figure)?.values, &this.figures.get(figure)?.values);
    let ratio = stat::mean(other)? / stat::mean(one)?;
    if !ratio.is_finite() {
        return None;
    }
    let sides = Side::of(one, first.sessions <= 1).zip(Side::of(other, this.sessions <= 1));
    let among = Among::Sessions(assumed);
    let interval = sides.as_ref().and_then(|(one, other)| means::ratio(one, other, among));
    let tested = sides.as_ref().and_then(|(one, other)| {
        let values = means::chance(one, other, Among::Nothing)?;
        Some(Chance { values, sessions: means::chance(one, other, among)? })
    });
    let work = other_work(first, this, run_of(figure));
    let (chance, told) = match tested {
        _ if !work.is_empty() => (None, Told::NotComparable(work)),
        Some(chance) => (Some(chance), Told::Chance),
        None => (None, Told::NotTested(too_few((one, first.sessions), (other, this.sessions)))),
    };
    let virtualisation_efficiency = virtualisation_efficiency(first, this, ratio);
    Some(Against { ratio, interval, virtualisation_efficiency, chance, told })
}

fn virtualisation_efficiency(first: &Profile, this: &Profile, ratio: f64) -> Option<f64> {
    let metal = |profile: &Profile| profile.conditions.get("virtualisation").map(|kind| kind == BARE_METAL);
    match metal(first).zip(metal(this))? {
        (true, false) => Some(ratio),
        (false, true) if ratio > 0.0 => Some(1.0 / ratio),
        _ => None,
    }
}

/// The labels that make another piece of work of a run.
fn other_work(first: &Profile, this: &Profile, run: &str) -> Vec<String> {
    let runs = first.runs.get(run).zip(this.runs.get(run));
    let differs = runs.map(|(first, this)| reference::labels_that_differ(first, this)).unwrap_or_default();
    // A part of the machine against the whole is just the question here, and told before anything else.
    let work = differs.iter().filter(|differs| differs.decides && differs.what != LIMITED);
    work.map(|differs| differs.what.to_owned()).collect()
}

const LIMITED: &str = "limited_to";

/// Which side has too few values, in words.
fn too_few(one: (&[f64], u32), other: (&[f64], u32)) -> String {
    let (values, sessions) = if other.0.len() < one.0.len() { other } else { one };
    let (fewest, what) = (values.len(), if sessions > 1 { "session" } else { "iteration" });
    if fewest >= means::FEWEST {
        return "a mean is zero".to_owned();
    }
    format!("{fewest} {what}{}", if fewest == 1 { "" } else { "s" })
}

/// Holm's correction over every row and machine that was tested; and the difference must be large enough to matter.
fn correct(rows: &mut [Row]) {
    let mut tested: Vec<(f64, Chance, &mut Against)> = Vec::new();
    for row in rows {
        let least = row.least;
        for against in row.cells.iter_mut().flatten().filter_map(|cell| cell.against.as_mut()) {
            tested.extend(against.chance.map(|chance| (least, chance, against)));
        }
    }
    let values = means::holm(&tested.iter().map(|(_, chance, _)| chance.values).collect::<Vec<_>>());
    let sessions = means::holm(&tested.iter().map(|(_, chance, _)| chance.sessions).collect::<Vec<_>>());
    let corrected = values.into_iter().zip(sessions).map(|(values, sessions)| Chance { values, sessions });
    for ((least, _, against), chance) in tested.into_iter().zip(corrected) {
        against.chance = Some(chance);
        let larger = against.ratio.max(1.0 / against.ratio);
        against.told = match () {
            () if chance.values.min(chance.sessions) >= WRONG => Told::Chance,
            () if larger < 1.0 + least => Told::Trifle,
            () if chance.sessions < WRONG => Told::Significant,
            () => Told::OfSessions,
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
        let (cpu, shared) = (100.0 * SESSION, 100.0 * SESSION_SHARED);
        remarks.push(format!(
            "of {} there is one session: what sessions of a machine differ by is not known from it, and taken to be a standard deviation \
             of {cpu} % in CPU figures and {shared} % in others, where there is one session on both sides; `shakedown baseline` makes one \
             file of several",
            single.join(", ")
        ));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vocab::random;
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

    fn normal(state: &mut u64, mean: f64, deviation: f64) -> f64 {
        mean + deviation * random::normal(state)
    }

    #[test]
    fn a_difference_must_be_more_than_chance_and_more_than_a_trifle() {
        let around = |mean: f64| [mean * 0.999, mean, mean * 1.001, mean * 1.0005, mean * 0.9995];
        let several = |name: &str, class: &str, mean: f64| {
            let mut machine = rate(name, class, &around(mean));
            machine.profile.sessions = 5;
            machine
        };
        let told = |class: &str, by: f64| first_told(vec![several("a", class, 100.0), several("b", class, 100.0 * by)]);
        assert_eq!(told("memory", 0.96), Told::Significant);
        assert_eq!(told("memory", 1.02), Told::Trifle);
        assert_eq!(told("disk", 0.96), Told::Trifle);
        assert_eq!(told("disk", 0.88), Told::Significant);
        assert_eq!(told("cpu", 1.0), Told::Chance);
        let told = |class: &str, by: f64| {
            first_told(vec![rate("a", class, &around(100.0)), rate("b", class, &around(100.0 * by))])
        };
        assert_eq!(told("cpu", 0.95), Told::OfSessions, "one session each");
        assert_eq!(told("cpu", 0.5), Told::Significant);
        assert_eq!(first_told(vec![several("a", "cpu", 100.0), rate("b", "cpu", &around(95.0))]), Told::Significant);
        let zero = first_told(vec![rate("a", "cpu", &[1.0; 3]), rate("b", "cpu", &[0.0; 3])]);
        assert_eq!(zero, Told::NotTested("a mean is zero".to_owned()));
        let few = first_told(vec![rate("a", "disk", &[100.0]), rate("b", "disk", &[50.0])]);
        assert_eq!(few, Told::NotTested("1 iteration".to_owned()));
        let few = first_told(vec![rate("a", "disk", &[100.0; 5]), rate("b", "disk", &[50.0, 51.0])]);
        assert_eq!(few, Told::NotTested("2 iterations".to_owned()));
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
        assert!(matches!(first_told(two), Told::Significant));
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

    /// 7 figures of 5 values, as `quick` has them, of two that are the same machine but for the hour: of one session each, or of
    /// several.
    fn pair(state: &mut u64, noise: f64, hour: f64, sessions: u32) -> Vec<Machine> {
        let names = ["f0", "f1", "f2", "f3", "f4", "f5", "f6"];
        let mut one = |name: &str| {
            let values = names.map(|_| {
                let level = normal(state, 100.0, 100.0 * hour);
                [0; 5].map(|_| normal(state, level, 100.0 * noise))
            });
            let figures: Vec<(&str, Unit, &[f64])> =
                names.iter().zip(&values).map(|(name, values)| (*name, Unit::Iops, values.as_slice())).collect();
            let mut machine = machine(name, "cpu", &figures);
            machine.profile.sessions = sessions;
            machine
        };
        vec![one("a"), one("b")]
    }

    fn is_significant(comparison: &Comparison) -> bool {
        let cells = comparison.rows.iter().flat_map(|row| row.cells.iter().flatten());
        cells.filter_map(|cell| cell.against.as_ref()).any(|against| against.told == Told::Significant)
    }

    #[test]
    fn of_two_equal_machines_at_most_one_try_in_twenty_says_that_they_differ() {
        let mut state = 1;
        let mut wrong = |noise, hour, sessions| {
            (0..10_000).filter(|_| is_significant(&compare(pair(&mut state, noise, hour, sessions), false))).count()
        };
        // 500 are the most that Holm's correction lets through in the mean; fewer, as Welch's test is careful with few values.
        let (several, single) = (wrong(0.05, 0.0, 5), wrong(0.05, 0.0, 1));
        assert!((50..=500).contains(&several) && single <= 500, "{several} {single} of 10 000");
        // What the hours of a machine differ by is no difference of machines.
        let hours = wrong(0.005, SESSION, 1);
        assert!((50..=550).contains(&hours), "{hours} of 10 000");
        let mut seen = 0;
        for _ in 0..100 {
            let mut two = pair(&mut state, 0.05, 0.0, 1);
            two[1].profile.figures.values_mut().for_each(|of| of.values.iter_mut().for_each(|value| *value *= 0.75));
            seen += u32::from(is_significant(&compare(two, false)));
        }
        assert!(seen >= 99, "a quarter less is seen: {seen} of 100");
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
