//! Kinds of cores that differ in strength, in one processor: by the kernel's name, by capacity, or by the highest clock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::agent::cpuinfo::One;
use crate::agent::{host, list};
use crate::vocab::hardware::CoreClass;

/// Cores of one kind differ this little: favoured cores boost a few percent higher and are no kind of their own.
const ALIKE: f64 = 0.9;

/// Highest clocks by CPU in MHz, from cpufreq's policies, each of which may serve several CPUs.
pub(super) fn clocks(directory: &Path, online: &BTreeSet<u32>) -> BTreeMap<u32, u32> {
    let mhz =
        |cpufreq: &Path| host::value(&cpufreq.join("cpuinfo_max_freq"))?.parse::<u32>().ok().map(|khz| khz / 1000);
    let mut found = BTreeMap::new();
    let policies = directory.join("cpufreq");
    let mut names = host::names(&policies);
    names.retain(|name| list::numbered(name, "policy").is_some());
    // One each serves its own CPU: no need to ask which.
    let shared = names.len() < online.len();
    for name in names {
        let Some(clock) = mhz(&policies.join(&name)).filter(|mhz| *mhz > 0) else { continue };
        let served = if shared { host::value(&policies.join(&name).join("affected_cpus")) } else { None };
        let served = served.unwrap_or_default();
        let cpus = served.split_ascii_whitespace().filter_map(|cpu| cpu.parse().ok());
        found.extend(cpus.chain(list::numbered(&name, "policy")).map(|cpu| (cpu, clock)));
    }
    if found.is_empty() {
        let one = |cpu: &u32| Some((*cpu, mhz(&directory.join(format!("cpu{cpu}/cpufreq"))).filter(|mhz| *mhz > 0)?));
        found.extend(online.iter().filter_map(one));
    }
    found
}

/// The classes; none when all cores are alike.
pub(super) fn read(
    root: &Path,
    online: &BTreeSet<u32>,
    described: &BTreeMap<u32, One>,
    clocks: &BTreeMap<u32, u32>,
) -> Vec<CoreClass> {
    let names = names(root, described);
    let capacities = capacities(&root.join("sys/devices/system/cpu"), online);
    let capacity_steps = steps(capacities.values().copied());
    // The clock tells the kind only where nothing better does.
    let clock_steps =
        if names.is_empty() && capacities.is_empty() { steps(clocks.values().copied()) } else { Vec::new() };
    let mut groups: BTreeMap<(usize, usize, &str), BTreeSet<u32>> = BTreeMap::new();
    for cpu in online {
        let name = names.get(cpu).map_or("", String::as_str);
        let key = (step(&capacity_steps, capacities.get(cpu)), step(&clock_steps, clocks.get(cpu)), name);
        groups.entry(key).or_default().insert(*cpu);
    }
    if groups.len() < 2 {
        return Vec::new();
    }
    let class = |((_, _, name), cpus): ((usize, usize, &str), BTreeSet<u32>)| {
        let most = |of: &BTreeMap<u32, u32>| cpus.iter().filter_map(|cpu| of.get(cpu)).max().copied();
        let (capacity, max_mhz) = (most(&capacities), most(clocks));
        let name = match (name, capacity, max_mhz) {
            ("", Some(capacity), _) => format!("capacity {capacity}"),
            ("", None, Some(mhz)) => format!("up to {mhz} MHz"),
            ("", None, None) => "unnamed".to_owned(),
            (name, ..) => name.to_owned(),
        };
        CoreClass {
            name,
            count: u32::try_from(cpus.len()).unwrap_or(u32::MAX),
            cpus: list::print(&cpus),
            capacity,
            max_mhz,
        }
    };
    let mut classes: Vec<CoreClass> = groups.into_iter().map(class).collect();
    classes.sort_by_key(|class| std::cmp::Reverse((class.capacity, class.max_mhz)));
    classes
}

/// What the kernel calls the core of a CPU: Intel's performance counters of hybrid processors, or ARM's part numbers.
fn names(root: &Path, described: &BTreeMap<u32, One>) -> BTreeMap<u32, String> {
    let mut names = BTreeMap::new();
    for kind in ["cpu_core", "cpu_atom", "cpu_lowpower"] {
        let cpus = host::value(&root.join("sys/devices").join(kind).join("cpus")).unwrap_or_default();
        names.extend(list::parse(&cpus).into_iter().map(|cpu| (cpu, kind.to_owned())));
    }
    if names.is_empty() {
        names.extend(described.iter().filter_map(|(cpu, one)| Some((*cpu, one.kind.clone()?))));
    }
    names
}

fn capacities(directory: &Path, online: &BTreeSet<u32>) -> BTreeMap<u32, u32> {
    let capacity = |cpu: u32| host::value(&directory.join(format!("cpu{cpu}/cpu_capacity")))?.parse().ok();
    // Where the first has none, none has: 480 questions saved.
    if online.first().and_then(|cpu| capacity(*cpu)).is_none() {
        return BTreeMap::new();
    }
    online.iter().filter_map(|cpu| Some((*cpu, capacity(*cpu)?))).collect()
}

/// The highest values of each kind, from the highest down.
fn steps(values: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut steps: Vec<u32> = Vec::new();
    for value in values.collect::<BTreeSet<u32>>().into_iter().rev() {
        if steps.last().is_none_or(|step| f64::from(value) < f64::from(*step) * ALIKE) {
            steps.push(value);
        }
    }
    steps
}

/// Which kind a value is of; those without one come last.
fn step(steps: &[u32], value: Option<&u32>) -> usize {
    value.map_or(steps.len(), |value| steps.iter().rposition(|step| value <= step).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    fn of(files: &[(&str, &str)], described: &BTreeMap<u32, One>) -> Vec<(String, String)> {
        let root = fake::root(files);
        let online = (0..4).collect();
        let clocks = clocks(&root.path().join("sys/devices/system/cpu"), &online);
        let found = read(root.path(), &online, described, &clocks);
        found.into_iter().map(|class| (class.name, class.cpus)).collect()
    }

    fn pair(name: &str, cpus: &str) -> (String, String) {
        (name.to_owned(), cpus.to_owned())
    }

    #[test]
    fn hybrids_are_told_by_name_by_capacity_and_by_clock() {
        let none = BTreeMap::new();
        let named = [("sys/devices/cpu_core/cpus", "0-1\n"), ("sys/devices/cpu_atom/cpus", "2-3\n")];
        let got = of(&named, &none);
        assert_eq!(got, [pair("cpu_atom", "2-3"), pair("cpu_core", "0-1")]);
        let capacity = [
            ("sys/devices/system/cpu/cpu0/cpu_capacity", "446\n"),
            ("sys/devices/system/cpu/cpu1/cpu_capacity", "446\n"),
            ("sys/devices/system/cpu/cpu2/cpu_capacity", "1024\n"),
            ("sys/devices/system/cpu/cpu3/cpu_capacity", "1009\n"),
        ];
        assert_eq!(of(&capacity, &none), [pair("capacity 1024", "2-3"), pair("capacity 446", "0-1")]);
        let clock = [
            ("sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq", "5200000\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0 1\n"),
            ("sys/devices/system/cpu/cpufreq/policy2/cpuinfo_max_freq", "3900000\n"),
            ("sys/devices/system/cpu/cpufreq/policy2/affected_cpus", "2 3\n"),
        ];
        assert_eq!(of(&clock, &none), [pair("up to 5200 MHz", "0-1"), pair("up to 3900 MHz", "2-3")]);
        let kind = |name: &str| One { kind: Some(name.into()), ..One::default() };
        let parts = BTreeMap::from([(0, kind("A55")), (1, kind("A55")), (2, kind("X1")), (3, kind("X1"))]);
        assert_eq!(of(&[], &parts), [pair("A55", "0-1"), pair("X1", "2-3")]);
    }

    #[test]
    fn favoured_cores_are_no_class() {
        let clock = |cpu: &str| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq");
        let files = [
            (clock("0"), "5000000\n"),
            (clock("1"), "4800000\n"),
            (clock("2"), "4700000\n"),
            (clock("3"), "4700000\n"),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert_eq!(of(&files, &BTreeMap::new()), []);
        assert_eq!(of(&[], &BTreeMap::new()), []);
    }
}
