//! Settings of the node that confound a comparison: read before and after a run, and held against each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::{block, cpuinfo, host};
use crate::vocab::node::{Change, Conditions};
use crate::vocab::size::ByteSize;
use crate::vocab::text::neutral;

/// Conditions that are the first line of one file.
const WORDS: [(&str, &str); 7] = [
    ("kernel", "proc/sys/kernel/osrelease"),
    ("boot_id", "proc/sys/kernel/random/boot_id"),
    ("clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("cpus_online", "sys/devices/system/cpu/online"),
    ("smt", "sys/devices/system/cpu/smt/control"),
    ("swappiness", "proc/sys/vm/swappiness"),
    ("vm.dirty_ratio", "proc/sys/vm/dirty_ratio"),
];

/// The first CPU's block of `cpuinfo` lies within; the kernel asks every CPU for its clock when the file is read to its end.
const FIRST_CPU: u64 = 4096;

/// A version-1 memory group without a limit says 2⁶³ less a page.
const NO_LIMIT: f64 = 1e18;

/// Reads them below `root`; what is absent, or may not be read, is left out.
#[must_use]
pub fn read(root: &Path) -> Conditions {
    let mut found = BTreeMap::new();
    let mut put = |name: &str, value: Option<String>| found.extend(value.map(|value| (name.to_owned(), value)));
    for (name, path) in WORDS {
        put(name, host::value(&root.join(path)));
    }
    put("governor", governor(root));
    put("boost", boost(root));
    put("affinity", affinity(root));
    put("microcode", microcode(root));
    put("thp", host::chosen(&root.join("sys/kernel/mm/transparent_hugepage/enabled")));
    put("mitigations", mitigations(root));
    let limited =
        |least: f64, print: fn(f64) -> String| if least.is_finite() { print(least) } else { "none".to_owned() };
    let quota = limit(root, "cpu", cpu_quota);
    put("cpu_quota", quota.map(|least| limited(least, |cpus| format!("{cpus:.2} CPU"))));
    let memory = limit(root, "memory", memory_limit);
    put("memory_limit", memory.map(|least| limited(least, |bytes| ByteSize(bytes as u64).to_string())));
    for (name, speed) in links(root) {
        put(&format!("link_{}", neutral(&name)), Some(format!("{speed} Mb/s")));
    }
    for disk in block::disks(root) {
        let scheduler = host::chosen(&root.join("sys/class/block").join(&disk).join("queue/scheduler"));
        put(&format!("scheduler_{}", neutral(&block::printed(&disk))), scheduler);
    }
    Conditions(found)
}

/// What is different, in the order of the names.
#[must_use]
pub fn changes(before: &Conditions, after: &Conditions) -> Vec<Change> {
    let names: BTreeSet<&String> = before.0.keys().chain(after.0.keys()).collect();
    names
        .into_iter()
        .map(|name| (name, before.0.get(name), after.0.get(name)))
        .filter(|(_, before, after)| before != after)
        .map(|(name, before, after)| Change { what: name.clone(), before: before.cloned(), after: after.cloned() })
        .collect()
}

fn governor(root: &Path) -> Option<String> {
    let cpu = root.join("sys/devices/system/cpu");
    let policies = cpu.join("cpufreq");
    let mut directories: Vec<PathBuf> = host::names(&policies)
        .iter()
        .filter(|name| name.starts_with("policy"))
        .map(|name| policies.join(name))
        .collect();
    if directories.is_empty() {
        directories = host::names(&cpu).iter().map(|name| cpu.join(name).join("cpufreq")).collect();
    }
    let governors: BTreeSet<String> =
        directories.iter().filter_map(|directory| host::value(&directory.join("scaling_governor"))).collect();
    (!governors.is_empty()).then(|| governors.into_iter().collect::<Vec<_>>().join(","))
}

fn boost(root: &Path) -> Option<String> {
    let cpu = root.join("sys/devices/system/cpu");
    let switch = |path: &str, on: &str| {
        let value = host::value(&cpu.join(path))?;
        Some(if value == on { "on" } else { "off" }.to_owned())
    };
    switch("intel_pstate/no_turbo", "0").or_else(|| switch("cpufreq/boost", "1"))
}

fn affinity(root: &Path) -> Option<String> {
    let status = host::text(&root.join("proc/self/status")).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim();
    (!list.is_empty()).then(|| neutral(list))
}

fn microcode(root: &Path) -> Option<String> {
    host::value(&root.join("sys/devices/system/cpu/cpu0/microcode/version")).or_else(|| {
        let text = host::beginning(&root.join("proc/cpuinfo"), FIRST_CPU).ok()?;
        cpuinfo::first(&text, "microcode").map(neutral)
    })
}

/// The weaknesses of the CPUs that the kernel does nothing against; the full list is long and says the same on every node.
fn mitigations(root: &Path) -> Option<String> {
    let directory = root.join("sys/devices/system/cpu/vulnerabilities");
    let names = host::names(&directory);
    let open = |name: &String| {
        let state = host::value(&directory.join(name)).filter(|state| state.starts_with("Vulnerable"))?;
        Some(format!("{}: {state}", neutral(name)))
    };
    let listed: Vec<String> = names.iter().filter_map(open).collect();
    match (names.is_empty(), listed.is_empty()) {
        (true, _) => None,
        (false, true) => Some("none vulnerable".to_owned()),
        (false, false) => Some(listed.join("; ")),
    }
}

/// Links with a speed; not those that software makes up, as containers come and go, but for bonds.
fn links(root: &Path) -> Vec<(String, u32)> {
    let net = root.join("sys/class/net");
    let made_up = |name: &str| {
        let link = std::fs::read_link(net.join(name));
        link.is_ok_and(|to| to.components().any(|c| c.as_os_str() == "virtual"))
            && !net.join(name).join("bonding").is_dir()
    };
    let names = host::names(&net).into_iter().filter(|name| name != "lo" && !made_up(name));
    names.filter_map(|name| host::link_speed(&net.join(&name)).map(|speed| (name, speed))).collect()
}

/// The least limit that `read` finds in this process's control group and the groups around it; infinite where none of them has
/// one, none where this node has no control groups.
fn limit(root: &Path, controller: &str, read: fn(&Path) -> Option<f64>) -> Option<f64> {
    let groups = host::text(&root.join("proc/self/cgroup")).ok()?;
    let mut least = f64::INFINITY;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let base = match controllers {
            "" => root.join("sys/fs/cgroup"),
            joined if joined.split(',').any(|one| one == controller) => {
                let own = root.join("sys/fs/cgroup").join(controller);
                if own.is_dir() { own } else { root.join("sys/fs/cgroup").join(joined) }
            }
            _ => continue,
        };
        // A path that leads out of the namespace, or is not below this mount, leaves only the directories that are there.
        let inner = Path::new(path).components().filter(|c| matches!(c, Component::Normal(_))).collect::<PathBuf>();
        for directory in inner.ancestors() {
            least = least.min(read(&base.join(directory)).unwrap_or(f64::INFINITY));
        }
    }
    Some(least)
}

/// CPUs' worth of time a group may have: `cpu.max`, or `cpu.cfs_quota_us` of version 1.
fn cpu_quota(group: &Path) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| *n > 0.0);
    let read = |file: &str| host::value(&group.join(file));
    let (quota, period) = if let Some(line) = read("cpu.max") {
        let (quota, period) = line.split_once(' ')?;
        (number(quota)?, number(period)?)
    } else {
        (number(&read("cpu.cfs_quota_us")?)?, number(&read("cpu.cfs_period_us")?)?)
    };
    Some(quota / period)
}

/// Bytes a group may have: `memory.max`, or `memory.limit_in_bytes` of version 1.
fn memory_limit(group: &Path) -> Option<f64> {
    let read = |file: &str| host::value(&group.join(file));
    let bytes = read("memory.max").or_else(|| read("memory.limit_in_bytes"))?.parse::<u64>().ok()? as f64;
    (bytes < NO_LIMIT).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    fn of(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        read(fake::root(files).path()).0
    }

    #[test]
    fn what_is_there_is_read_and_nothing_else() {
        let got = of(&[
            ("proc/sys/kernel/osrelease", "6.1.0\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "schedutil\n"),
            ("sys/devices/system/cpu/cpufreq/policy4/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpufreq/policy8/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            ("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3\n"),
            ("proc/cpuinfo", "processor : 0\nmicrocode\t: 0x2b\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/devices/system/cpu/vulnerabilities/mds", "Vulnerable\n"),
            ("sys/devices/system/cpu/vulnerabilities/l1tf", "Not affected\n"),
            ("sys/class/net/eth0/speed", "1000\n"),
            ("sys/class/net/eth1/speed", "4294967295\n"),
            ("sys/class/block/sda/queue/scheduler", "none [mq-deadline]\n"),
            ("sys/class/block/loop0/queue/scheduler", "[none]\n"),
            ("proc/sys/vm/swappiness", "60\n"),
        ]);
        let expected = [
            ("affinity", "0-3"),
            ("boost", "off"),
            ("governor", "performance,schedutil"),
            ("kernel", "6.1.0"),
            ("link_eth0", "1000 Mb/s"),
            ("microcode", "0x2b"),
            ("mitigations", "mds: Vulnerable"),
            ("scheduler_sda", "mq-deadline"),
            ("swappiness", "60"),
            ("thp", "madvise"),
        ];
        assert_eq!(got, expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect());
    }

    #[test]
    fn governors_stand_with_the_cpus_on_old_kernels() {
        let got = of(&[("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave\n")]);
        assert_eq!(got["governor"], "powersave");
    }

    #[test]
    fn the_least_limit_on_the_way_up_counts() {
        let got = of(&[
            ("proc/self/cgroup", "0::/box/inner\n"),
            ("sys/fs/cgroup/box/cpu.max", "50000 100000\n"),
            ("sys/fs/cgroup/box/inner/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/box/inner/memory.max", "268435456\n"),
        ]);
        assert_eq!((got["cpu_quota"].as_str(), got["memory_limit"].as_str()), ("0.50 CPU", "256MiB"));
    }

    #[test]
    fn version_one_groups_and_their_ways_to_say_none() {
        let got = of(&[
            ("proc/self/cgroup", "4:memory:/box\n2:cpu,cpuacct:/../box\n0::/\n"),
            ("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "20000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        assert_eq!((got["cpu_quota"].as_str(), got["memory_limit"].as_str()), ("0.20 CPU", "none"));
        let unlimited = of(&[("proc/self/cgroup", "2:cpu:/\n"), ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")]);
        assert_eq!(unlimited["cpu_quota"], "none");
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn changes_are_what_differs() {
        let conditions = |pairs: &[(&str, &str)]| {
            Conditions(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
        };
        let before = conditions(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let after = conditions(&[("b", "2"), ("c", "1"), ("d", "1")]);
        let change = |what: &str, before: Option<&str>, after: Option<&str>| Change {
            what: what.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let expected = [change("a", Some("1"), None), change("b", Some("1"), Some("2")), change("d", None, Some("1"))];
        assert_eq!(changes(&before, &after), expected);
        assert_eq!(changes(&before, &before), []);
    }

    #[test]
    fn no_beginning_of_a_file_stops_the_reader() {
        for (path, text) in [
            ("proc/self/cgroup", "4:memory:/box\n0::/../a\n"),
            ("proc/self/status", "Cpus_allowed_list:\t0-3\n"),
            ("proc/cpuinfo", "microcode : 0x2b\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
        ] {
            let root = fake::root(&[("proc/self/cgroup", "0::/\n")]);
            for end in 0..=text.len() {
                fake::put(root.path(), path, &text[..end]);
                let _ = read(root.path());
            }
        }
    }
}
