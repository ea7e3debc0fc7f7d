//! What is known of a machine, made of its session; several made into a baseline; and what keeps two from being compared.

use std::collections::{BTreeMap, BTreeSet};

use super::roof;
use super::state::{RunState, State, Status};
use crate::vocab::event::{Outcome, Start};
use crate::vocab::figure::Roof;
use crate::vocab::name::NodeName;
use crate::vocab::node::{Conditions, Fact, Inventory};
use crate::vocab::plan::{Basis, Load};
use crate::vocab::reference::{Described, Profile, Values};
use crate::vocab::stat;
use crate::vocab::unit::{Quantity, Unit, short};

/// What `virtualisation` is where there is no hypervisor.
pub const BARE_METAL: &str = "bare metal";
/// Stands between the conditions of several sessions in a baseline.
const OR: &str = " | ";

/// Conditions in the order in which they are told, the most telling first; all others follow by name.
const ORDER: &[&str] = &[
    "virtualisation",
    "product",
    "cpu",
    "cpus",
    "usable_cpus",
    "affinity",
    "cpu_quota",
    "sockets",
    "smt",
    "memory",
    "memory_limit",
    "kernel",
    "microcode",
    "governor",
    "boost",
    "clock_limit",
    "mitigations",
];

/// Conditions that make another machine of one, so that no baseline has both.
const MACHINE: [&str; 3] = ["virtualisation", "cpu", "cpus"];

/// Conditions and labels that are other ones after every boot, or say again what another one says.
const PASSING: [&str; 12] = [
    "boot_id",
    "target",
    "target_is",
    "device",
    "mount",
    "cpu",
    "array_because",
    "area_because",
    "latency_range",
    "mb_per_s_counts",
    "copy",
    "note",
];

/// Labels that decide what was measured: figures of runs that differ in one of them are not those of the same work.
const DECIDING: [&str; 15] = [
    "limited_to",
    "path",
    "pattern",
    "block",
    "depth",
    "jobs",
    "content",
    "layout",
    "sync",
    "rate_limit",
    "stores",
    "operation",
    "access",
    "fits_in",
    "limit",
];

/// What a node is and did: the figures of its sound runs, one value an iteration.
#[must_use]
pub fn profile(state: &State, node: &NodeName) -> Profile {
    let mut profile = Profile { sessions: 1, ..Profile::default() };
    if let Some(opening) = &state.opening {
        let several = if opening.nodes.len() > 1 { format!(":{node}") } else { String::new() };
        profile.from = format!("{}{several}", opening.session);
        profile.roofs.clone_from(&opening.plan.roofs);
    }
    profile.conditions =
        state.nodes.get(node).map(|node| conditions(node.inventory.as_ref(), &node.conditions)).unwrap_or_default();
    for run in state.runs.iter().filter(|run| run.node == *node && run.status == Status::Ended(Outcome::Sound)) {
        take(run, state.opening.as_ref().map(|opening| &opening.plan.roofs), &mut profile);
    }
    profile
}

/// Takes in a sound run.
fn take(run: &RunState, planned: Option<&BTreeMap<String, Quantity>>, profile: &mut Profile) {
    let names: BTreeSet<&str> = run.done.iter().flat_map(|i| &i.figures).map(|f| f.name.as_str()).collect();
    for name in names {
        let measured = run.figure(name);
        let Some((_, unit, _)) = measured.first() else { continue };
        let values = measured.iter().map(|(value, ..)| *value).collect();
        profile.figures.insert(format!("{}.{name}", run.name), Values { unit: *unit, values });
    }
    let Some(start) = &run.start else { return };
    // What the plan says goes before what the node says; of two runs for which the node says different things each has its own.
    let planned = |name: &str| planned.is_some_and(|planned| planned.contains_key(name));
    for roof in start.roofs.iter().filter(|roof| roof.basis == Basis::Nominal && !planned(&roof.name)) {
        let taken = profile.roofs.get(&roof.name).is_some_and(|known| *known != roof.value);
        let name = if taken { &*run.name.0 } else { &roof.name };
        profile.roofs.entry(name.to_owned()).or_insert(roof.value);
    }
    let main = run.main_figure().map(|(name, _)| name.to_owned()).unwrap_or_default();
    let described = Described { class: roof::class(&run.load).to_owned(), main, labels: labels(&run.load, start) };
    profile.runs.insert(run.name.0.to_string(), described);
}

fn labels(load: &Load, start: &Start) -> BTreeMap<String, String> {
    let lasting = |name: &str| !PASSING.contains(&name) && Roof::labelled(name).is_none();
    let mut labels: BTreeMap<String, String> =
        start.labels.iter().filter(|(name, _)| lasting(name)).map(|(n, v)| (n.clone(), v.clone())).collect();
    if let Load::Disk(disk) = load {
        labels.insert("pattern".to_owned(), format!("{:?}", disk.pattern));
    }
    labels
}

/// What of a node and of its settings stays from one boot to the next, as far as figures depend on it.
pub(super) fn conditions(known: Option<&Inventory>, settings: &Conditions) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = known.map(inventory).unwrap_or_default();
    let lasting = settings.0.iter().filter(|(name, _)| !PASSING.contains(&name.as_str()));
    found.extend(lasting.map(|(name, value)| (name.clone(), value.clone())));
    found
}

fn inventory(inventory: &Inventory) -> BTreeMap<String, String> {
    let fact = |fact: &Fact| fact.known().cloned();
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let count = |n: u32| (n > 0).then(|| n.to_string());
    let virtualisation = match &inventory.virtualisation {
        Fact::NotPresent => Some(BARE_METAL.to_owned()),
        other => fact(other),
    };
    let known = [
        ("virtualisation", virtualisation),
        ("product", fact(&inventory.product)),
        ("bios", fact(&inventory.machine.bios_version)),
        ("cpu", text(&inventory.cpu)),
        ("cpus", count(inventory.cpus)),
        ("usable_cpus", count(inventory.usable_cpus)),
        ("sockets", inventory.processor.sockets.known().map(ToString::to_string)),
        ("microcode", fact(&inventory.processor.microcode)),
        // In three digits: what the kernel keeps for itself differs between two boots.
        ("memory", (inventory.memory > 0).then(|| short(Quantity::new(inventory.memory as f64, Unit::Bytes)))),
        ("kernel", text(&inventory.kernel)),
        ("system", text(&inventory.system)),
        ("clocksource", fact(&inventory.machine.clocksource)),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Of several profiles one: of each figure one value a session, its median.
///
/// # Errors
/// What makes them other machines or other work, in a line with the names of both sessions.
pub fn merge(profiles: &[Profile]) -> Result<Profile, String> {
    let Some(first) = profiles.first() else { return Err("a baseline needs a session".to_owned()) };
    let mut merged = Profile::default();
    for profile in profiles {
        agree(first, profile)?;
        for (name, values) in &profile.figures {
            let slot =
                merged.figures.entry(name.clone()).or_insert_with(|| Values { unit: values.unit, values: vec![] });
            if slot.unit != values.unit {
                return Err(format!(
                    "{name} is in {} in {}, and in another unit before",
                    values.unit.symbol(),
                    profile.from
                ));
            }
            // Of a baseline each value is a session's already.
            let of_sessions = if profile.sessions > 1 {
                values.values.clone()
            } else {
                stat::median(&values.values).into_iter().collect()
            };
            slot.values.extend(of_sessions);
        }
        for (name, value) in &profile.conditions {
            let slot = merged.conditions.entry(name.clone()).or_default();
            *slot = either(slot, value);
        }
        for (name, described) in &profile.runs {
            match merged.runs.get_mut(name) {
                Some(known) => join(&mut known.labels, &described.labels),
                None => drop(merged.runs.insert(name.clone(), described.clone())),
            }
        }
        merged.roofs.extend(profile.roofs.clone());
    }
    merged.sessions = profiles.iter().map(|profile| profile.sessions.max(1)).sum();
    merged.from = profiles.iter().map(|profile| profile.from.as_str()).collect::<Vec<_>>().join(", ");
    Ok(merged)
}

/// Whether two are the same machine doing the same work.
fn agree(one: &Profile, other: &Profile) -> Result<(), String> {
    let fault = |what: &str, here: &str, there: &str| {
        Err(format!("{what} is {here} in {}, and {there} in {}: no baseline is made of both", one.from, other.from))
    };
    for name in MACHINE {
        if let (Some(here), Some(there)) = (one.conditions.get(name), other.conditions.get(name))
            && !overlap(here, there)
        {
            return fault(name, here, there);
        }
    }
    for (name, here) in &one.roofs {
        if let Some(there) = other.roofs.get(name).filter(|there| *there != here) {
            return fault(&format!("the roof {name}"), &here.to_string(), &there.to_string());
        }
    }
    for (run, here) in &one.runs {
        let Some(there) = other.runs.get(run) else { continue };
        if here.class != there.class {
            return fault(&format!("the run {run}"), &here.class, &there.class);
        }
        if let Some(differs) = labels_that_differ(here, there).into_iter().find(|differs| differs.decides) {
            return fault(&format!("{} of {run}", differs.what), word(differs.one), word(differs.other));
        }
    }
    Ok(())
}

fn join(known: &mut BTreeMap<String, String>, more: &BTreeMap<String, String>) {
    for (name, value) in more {
        let slot = known.entry(name.clone()).or_default();
        *slot = either(slot, value);
    }
}

fn either(known: &str, more: &str) -> String {
    let mut all: Vec<&str> = known.split(OR).filter(|part| !part.is_empty()).collect();
    for part in more.split(OR) {
        if !all.contains(&part) {
            all.push(part);
        }
    }
    all.join(OR)
}

/// Whether one says nothing that the other does not say as well; a baseline may have a condition both ways.
fn overlap(one: &str, other: &str) -> bool {
    let parts = |text| str::split(text, OR).collect::<BTreeSet<&str>>();
    let (one, other) = (parts(one), parts(other));
    one.is_subset(&other) || other.is_subset(&one)
}

/// A condition or a label that is not the same for two.
pub(super) struct Differs<'a> {
    /// Its name.
    pub(super) what: &'a str,
    /// Here; none where it is not known, or not there.
    pub(super) one: Option<&'a str>,
    /// There.
    pub(super) other: Option<&'a str>,
    /// Whether it decides what was measured.
    pub(super) decides: bool,
}

fn word(value: Option<&str>) -> &str {
    value.unwrap_or("none")
}

fn rank(what: &str) -> usize {
    ORDER.iter().position(|name| *name == what).unwrap_or(ORDER.len())
}

fn differing<'a>(one: &'a BTreeMap<String, String>, other: &'a BTreeMap<String, String>) -> Vec<Differs<'a>> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let both = names.into_iter().map(|what| (what, one.get(what), other.get(what)));
    let differ = both.filter(|(_, one, other)| !one.zip(*other).is_some_and(|(one, other)| overlap(one, other)));
    let text = |value: Option<&'a String>| value.map(String::as_str);
    differ.map(|(what, one, other)| Differs { what, one: text(one), other: text(other), decides: false }).collect()
}

/// The conditions of two that differ, the most telling first. What only one of them tells is no difference of the machines where the
/// other tells nothing at all.
pub(super) fn conditions_that_differ<'a>(one: &'a Profile, other: &'a Profile) -> Vec<Differs<'a>> {
    if one.conditions.is_empty() || other.conditions.is_empty() {
        return Vec::new();
    }
    let mut differ = differing(&one.conditions, &other.conditions);
    differ.sort_by_key(|differs| rank(differs.what));
    differ
}

/// The labels of two runs that differ, the deciding ones first.
pub(super) fn labels_that_differ<'a>(one: &'a Described, other: &'a Described) -> Vec<Differs<'a>> {
    let of = |described: &'a Described, what: &str| described.labels.get(what).map(String::as_str);
    let cached = [one, other].iter().any(|run| of(run, "fits_in").is_some_and(|level| level.starts_with('L')));
    let linpack = one.main == "gflops" && other.main == "gflops";
    let mut differ = differing(&one.labels, &other.labels);
    for differs in &mut differ {
        // How a disk is asked is told; another solver of LINPACK is another piece of work.
        differs.decides = match differs.what {
            "engine" => linpack,
            "area" | "array" => cached,
            what => DECIDING.contains(&what),
        };
    }
    let place =
        |differs: &Differs<'_>| DECIDING.iter().position(|what| *what == differs.what).unwrap_or(DECIDING.len());
    differ.sort_by_key(|differs| (!differs.decides, place(differs)));
    differ
}

/// What two profiles differ in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Conditions and labels, a line each, the most telling first: `kernel: 6.1.0 here, 5.14.0 there`.
    pub listed: Vec<String>,
    /// Labels of the run that decide what was measured, in the same form: its figures cannot be held against each other.
    pub invalid: Vec<String>,
}

/// What differs between the machine here and the one there, and in a run of both.
#[must_use]
pub fn differences(one: &Profile, other: &Profile, run: Option<&str>) -> Differences {
    let mut found = Differences::default();
    let line = |differs: &Differs<'_>, missing: &str| {
        let say = |value: Option<&str>| value.unwrap_or(missing).to_owned();
        format!("{}: {} here, {} there", differs.what, say(differs.one), say(differs.other))
    };
    found.listed.extend(conditions_that_differ(one, other).iter().map(|differs| line(differs, "not known")));
    let runs = run.and_then(|run| one.runs.get(run).zip(other.runs.get(run)));
    for differs in runs.map(|(here, there)| labels_that_differ(here, there)).unwrap_or_default() {
        let to = if differs.decides { &mut found.invalid } else { &mut found.listed };
        to.push(line(&differs, "none"));
    }
    found
}

/// The nominal roof that bounds a figure of a run, by `roof::names`: the run's main figure or what crosses the memory bus,
/// and any figure that a roof is named after.
#[must_use]
pub fn nominal<'a>(profile: &'a Profile, run: &str, figure: &str) -> Option<(&'a str, Quantity)> {
    let full = format!("{run}.{figure}");
    let unit = profile.figures.get(&full)?.unit;
    let described = profile.runs.get(run);
    let bounded = if profile.figures.contains_key(&format!("{run}.{}", roof::BUS)) {
        roof::BUS
    } else {
        described.map_or("", |described| described.main.as_str())
    };
    let class = described.map_or("", |described| described.class.as_str());
    let all = roof::names(&full, run, figure, class);
    let own = [full.as_str(), figure];
    let names: &[&str] = if figure == bounded { &all } else { &own };
    let (name, value) = names.iter().find_map(|name| profile.roofs.get_key_value(*name))?;
    (value.unit == unit && value.value > 0.0).then_some((name, *value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::{Scenario, disk};
    use crate::vocab::event::Event;
    use crate::vocab::figure::Figure;
    use crate::vocab::node::Build;
    use crate::vocab::plan::Pattern;

    fn inventory() -> Inventory {
        Inventory {
            cpu: "EPYC".to_owned(),
            cpus: 4,
            memory: 25_276_514_304,
            kernel: "6.1.0".to_owned(),
            virtualisation: Fact::NotPresent,
            ..Inventory::default()
        }
    }

    /// A session of a disk run with these rates, one an iteration.
    fn session(rates: &[f64], labels: &[(&str, &str)]) -> Profile {
        let mut told = Scenario::labelled(disk(Pattern::RandomRead, true), vec![], labels);
        let settings = [("governor", "performance"), ("boot_id", "1234")];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let conditions = Conditions(settings.into());
        told.put("n", Event::NodeJoined { build: Build::this(), inventory: Box::new(inventory()), conditions });
        for rate in rates {
            let iops = Figure::new("iops", rate * 250.0, Unit::Iops);
            told = told.iteration(vec![Figure::new("mb_per_s", *rate, Unit::MegabytesPerSecond), iops]);
        }
        profile(&told.finish(Outcome::Sound).state, &Scenario::node())
    }

    #[test]
    fn a_profile_holds_figures_roofs_conditions_and_what_the_runs_were() {
        let got =
            session(&[100.0, 102.0], &[("path", "direct"), ("target", "/var/tmp"), ("roof_disk_nominal", "unknown")]);
        assert_eq!((got.from.as_str(), got.sessions), ("s", 1));
        let expected = Values { unit: Unit::Iops, values: vec![25_000.0, 25_500.0] };
        assert_eq!((got.figures.len(), &got.figures["r.iops"]), (2, &expected));
        assert_eq!(got.roofs["cpu"], Quantity::new(200.0, Unit::MegabytesPerSecond));
        let known = |name: &str| got.conditions.get(name).map(String::as_str);
        assert_eq!((known("virtualisation"), known("cpu"), known("cpus")), (Some(BARE_METAL), Some("EPYC"), Some("4")));
        assert_eq!(
            (known("memory"), known("governor"), known("boot_id")),
            (Some("25.3 GB"), Some("performance"), None)
        );
        let run = &got.runs["r"];
        assert_eq!((run.class.as_str(), run.main.as_str()), ("disk", "mb_per_s"));
        let labels: Vec<(&str, &str)> =
            run.labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(labels, [("path", "direct"), ("pattern", "RandomRead")]);
    }

    #[test]
    fn what_did_not_end_well_is_no_figure() {
        let told = Scenario::measuring(vec![]).end(100.0, Outcome::Stuck);
        let got = profile(&told.state, &Scenario::node());
        assert!(got.figures.is_empty() && got.runs.is_empty(), "{got:?}");
    }

    #[test]
    fn the_plans_roof_goes_before_the_nodes_and_two_of_the_node_stand_side_by_side() {
        let told = |class: &str, value: f64| {
            let mut told = Scenario::measuring(vec![]);
            let value = Quantity::new(value, Unit::MegabytesPerSecond);
            let roof = Roof { name: class.to_owned(), value, basis: Basis::Nominal, source: "by hand".to_owned() };
            told.state.runs[0].start.as_mut().unwrap().roofs = vec![roof];
            let told = told.end(150.0, Outcome::Sound);
            profile(&told.state, &Scenario::node())
                .roofs
                .into_iter()
                .map(|(name, roof)| (name, roof.value))
                .collect::<Vec<_>>()
        };
        assert_eq!(told("cpu", 300.0), [("cpu".to_owned(), 200.0)]);
        assert_eq!(told("memory", 300.0), [("cpu".to_owned(), 200.0), ("memory".to_owned(), 300.0)]);
    }

    #[test]
    fn a_baseline_has_the_median_of_each_session() {
        let mut third = session(&[90.0, 94.0, 80.0], &[]);
        third.conditions.insert("kernel".to_owned(), "6.6.0".to_owned());
        third.from = "third".to_owned();
        let merged = merge(&[session(&[100.0, 102.0], &[]), session(&[98.0], &[]), third]).unwrap();
        assert_eq!(merged.figures["r.mb_per_s"].values, [101.0, 98.0, 90.0]);
        assert_eq!((merged.sessions, merged.from.as_str()), (3, "s, s, third"));
        assert_eq!(merged.conditions["kernel"], "6.1.0 | 6.6.0");
        let again = merge(&[merged.clone(), session(&[96.0], &[])]).unwrap();
        assert_eq!(
            (again.figures["r.mb_per_s"].values.as_slice(), again.sessions),
            (&[101.0, 98.0, 90.0, 96.0][..], 4)
        );
        assert!(differences(&again, &session(&[1.0], &[]), Some("r")).listed.is_empty(), "6.1.0 is one of its kernels");
    }

    #[test]
    fn other_machines_and_other_work_make_no_baseline() {
        let mut other = session(&[1.0], &[("path", "direct")]);
        other.from = "b".to_owned();
        let buffered = session(&[1.0], &[("path", "buffered")]);
        let why = "path of r is buffered in s, and direct in b: no baseline is made of both";
        assert_eq!(merge(&[buffered, other.clone()]).unwrap_err(), why);
        other.conditions.insert("cpus".to_owned(), "8".to_owned());
        let why = merge(&[session(&[1.0], &[("path", "direct")]), other]).unwrap_err();
        assert_eq!(why, "cpus is 4 in s, and 8 in b: no baseline is made of both");
        assert!(merge(&[]).is_err());
    }

    #[test]
    fn differences_are_told_and_those_that_decide_apart() {
        let one = session(&[1.0], &[("path", "direct"), ("engine", "io_uring"), ("depth", "1")]);
        let mut other =
            session(&[1.0], &[("path", "buffered"), ("engine", "Linux AIO"), ("depth", "1"), ("jobs", "4")]);
        other.conditions.insert("kernel".to_owned(), "5.14.0".to_owned());
        other.conditions.insert("virtualisation".to_owned(), "KVM".to_owned());
        other.conditions.remove("governor");
        let found = differences(&one, &other, Some("r"));
        let listed = [
            "virtualisation: bare metal here, KVM there",
            "kernel: 6.1.0 here, 5.14.0 there",
            "governor: performance here, not known there",
            "engine: io_uring here, Linux AIO there",
        ];
        assert_eq!(found.listed, listed);
        assert_eq!(found.invalid, ["path: direct here, buffered there", "jobs: none here, 4 there"]);
        assert!(differences(&one, &other, None).invalid.is_empty());
        assert_eq!(differences(&one, &one, Some("r")), Differences::default());
    }

    #[test]
    fn the_size_of_an_area_decides_where_a_cache_holds_one() {
        let run = |main: &str, labels: &[(&str, &str)]| {
            let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            Described { class: "memory".to_owned(), main: main.to_owned(), labels }
        };
        let decides = |one: &Described, other: &Described| {
            let all = labels_that_differ(one, other);
            all.iter().filter(|differs| differs.decides).map(|differs| differs.what.to_owned()).collect::<Vec<_>>()
        };
        let area = |area, level| run("mb_per_s", &[("area", area), ("fits_in", level)]);
        assert_eq!(decides(&area("64MiB", "no cache"), &area("128MiB", "no cache")), [""; 0]);
        assert_eq!(decides(&area("16KiB", "L1"), &area("8KiB", "L1")), ["area"]);
        assert_eq!(decides(&area("16KiB", "L1"), &area("64MiB", "no cache")), ["fits_in", "area"]);
        let solver = |main, engine| run(main, &[("engine", engine)]);
        assert_eq!(decides(&solver("gflops", "a"), &solver("gflops", "b")), ["engine"]);
        assert_eq!(decides(&solver("iops", "a"), &solver("iops", "b")), [""; 0]);
    }

    #[test]
    fn a_roof_bounds_the_main_figure_or_the_bus_and_what_it_is_named_after() {
        let rate = |value: f64| Values { unit: Unit::MegabytesPerSecond, values: vec![value] };
        let run = Described { class: "memory".to_owned(), main: "triad".to_owned(), ..Described::default() };
        let mut profile = Profile { runs: [("m".to_owned(), run)].into(), ..Profile::default() };
        profile.figures.extend([("m.triad".to_owned(), rate(1.0)), ("m.copy".to_owned(), rate(1.0))]);
        profile.roofs.insert("memory".to_owned(), Quantity::new(10.0, Unit::MegabytesPerSecond));
        let name = |profile: &Profile, figure: &str| nominal(profile, "m", figure).map(|(name, _)| name.to_owned());
        assert_eq!((name(&profile, "triad").as_deref(), name(&profile, "copy")), (Some("memory"), None));
        profile.figures.insert("m.bus_mb_per_s".to_owned(), rate(1.0));
        assert_eq!((name(&profile, "triad"), name(&profile, "bus_mb_per_s").as_deref()), (None, Some("memory")));
        profile.roofs.insert("m.copy".to_owned(), Quantity::new(9.0, Unit::Gflops));
        assert_eq!(name(&profile, "copy"), None, "of another unit");
        profile.roofs.insert("m.copy".to_owned(), Quantity::new(9.0, Unit::MegabytesPerSecond));
        assert_eq!(name(&profile, "copy").as_deref(), Some("m.copy"));
    }
}
