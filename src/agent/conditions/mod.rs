//! Settings of the node that confound a comparison: read before and after a run, and held against each other.

mod cpu;
mod device;

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;

use super::{block, cgroup, host, mdstat, nic};
use crate::vocab::node::{Change, Conditions};
use crate::vocab::size::ByteSize;
use crate::vocab::text::neutral;

/// Conditions that are the first line of one file.
const WORDS: [(&str, &str); 15] = [
    ("kernel", "proc/sys/kernel/osrelease"),
    ("boot_id", "proc/sys/kernel/random/boot_id"),
    ("clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("cpus_online", "sys/devices/system/cpu/online"),
    ("cpus_isolated", "sys/devices/system/cpu/isolated"),
    ("idle_driver", "sys/devices/system/cpu/cpuidle/current_driver"),
    ("smt", "sys/devices/system/cpu/smt/control"),
    ("pstate", "sys/devices/system/cpu/intel_pstate/status"),
    ("pstate", "sys/devices/system/cpu/amd_pstate/status"),
    ("numa_nodes", "sys/devices/system/node/online"),
    ("numa_balancing", "proc/sys/kernel/numa_balancing"),
    ("swappiness", "proc/sys/vm/swappiness"),
    ("vm.dirty_ratio", "proc/sys/vm/dirty_ratio"),
    ("vm.dirty_expire", "proc/sys/vm/dirty_expire_centisecs"),
    ("vm.overcommit", "proc/sys/vm/overcommit_memory"),
];

/// Reads them below `root`; what is absent, or may not be read, is left out.
#[must_use]
pub fn read(root: &Path) -> Conditions {
    let mut found = BTreeMap::new();
    for (name, path) in WORDS {
        found.extend(host::value(&root.join(path)).map(|value| (name.to_owned(), value)));
    }
    if let Some(list) = found.get_mut("numa_nodes") {
        *list = format!("{} ({list})", listed(list));
    }
    let mut put = |name: &str, value: Option<String>| found.extend(value.map(|value| (name.to_owned(), value)));
    cpu::read(root, &mut put);
    put("affinity", allowed(root, "Cpus_allowed_list:"));
    put("memory_nodes", allowed(root, "Mems_allowed_list:"));
    put("thp", host::chosen(&root.join("sys/kernel/mm/transparent_hugepage/enabled")));
    put("dirty_limits", dirty_limits(root));
    put("psi", psi(root));
    limits(root, &mut put);
    device::read(root, &mut put);
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

/// How many numbers a list such as `0-3,8` names.
fn listed(list: &str) -> u64 {
    let range = |part: &str| match part.split_once('-') {
        Some((from, to)) => {
            let (from, to) = (from.parse::<u64>().ok()?, to.parse::<u64>().ok()?);
            to.checked_sub(from)?.checked_add(1)
        }
        None => part.parse::<u64>().ok().map(|_| 1),
    };
    list.split(',').filter_map(range).fold(0, u64::saturating_add)
}

/// A list of `/proc/self/status` that says where this process may run, the cpuset's limits included.
fn allowed(root: &Path, name: &str) -> Option<String> {
    let status = host::text(&root.join("proc/self/status")).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix(name))?.trim();
    (!list.is_empty()).then(|| neutral(list))
}

/// Where the kernel begins to write by itself and where it holds writers back; a share of the memory, unless bytes are set.
fn dirty_limits(root: &Path) -> Option<String> {
    let vm = root.join("proc/sys/vm");
    let one = |name: &str| {
        let bytes = host::number(&vm.join(format!("{name}_bytes"))).filter(|bytes| *bytes > 0);
        let share = || host::number(&vm.join(format!("{name}_ratio"))).map(|share| format!("{share} %"));
        bytes.map(|bytes| ByteSize(bytes as u64).to_string()).or_else(share)
    };
    Some(format!("background {}, limit {}", one("dirty_background")?, one("dirty")?))
}

/// Whether the kernel tells of pressure stalls: it may be built without (`CONFIG_PSI`), or refuse after it was booted with `psi=0`.
fn psi(root: &Path) -> Option<String> {
    match host::text(&root.join("proc/pressure/cpu")) {
        Ok(_) => Some("available".to_owned()),
        // A root without a kernel says nothing of it.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            root.join("proc/stat").exists().then(|| "absent".to_owned())
        }
        Err(error) => {
            let why = error.to_string();
            Some(format!("refuses: {}", why.split(" (os error").next().unwrap_or_default()))
        }
    }
}

/// What the control groups let this process have.
fn limits(root: &Path, put: &mut impl FnMut(&str, Option<String>)) {
    let limited =
        |least: f64, print: fn(f64) -> String| if least.is_finite() { print(least) } else { "none".to_owned() };
    let quota = cgroup::limit(root, "cpu", cgroup::cpu_quota);
    put("cpu_quota", quota.map(|least| limited(least, |cpus| format!("{cpus:.2} CPU"))));
    let memory = cgroup::limit(root, "memory", cgroup::memory_limit);
    put("memory_limit", memory.map(|least| limited(least, |bytes| ByteSize(bytes as u64).to_string())));
    let groups = |controller: &str| cgroup::groups(root, controller);
    // A group of the second version is found under either name, and is read once.
    let both =
        groups("io").map(|io| io.into_iter().chain(groups("blkio").unwrap_or_default()).collect::<BTreeSet<_>>());
    let io = both.map(|groups| groups.iter().flat_map(|group| cgroup::io_limits(group)).collect::<Vec<_>>().join("; "));
    put("io_max", io.map(|limits| if limits.is_empty() { "none".to_owned() } else { neutral(&limits) }));
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
    fn how_fast_cpus_may_be_is_told() {
        let got = of(&[
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_driver", "intel_pstate\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference", "balance_performance\n"),
            ("sys/devices/system/cpu/cpufreq/policy4/energy_performance_preference", "performance\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "3500000\n"),
            ("sys/devices/system/cpu/intel_pstate/status", "active\n"),
            ("sys/devices/system/node/online", "0-2,4\n"),
        ]);
        let expected = [
            ("clock_limit", "3500 MHz"),
            ("driver", "intel_pstate"),
            ("energy_policy", "balance_performance,performance"),
            ("numa_nodes", "4 (0-2,4)"),
            ("pstate", "active"),
        ];
        assert_eq!(got, expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect());
    }

    #[test]
    fn pressure_is_there_or_absent_or_refused() {
        let psi = |files: &[(&str, &str)]| of(files).remove("psi");
        assert_eq!(psi(&[("proc/pressure/cpu", "some avg10=0.00 total=1\n")]).as_deref(), Some("available"));
        assert_eq!(psi(&[("proc/stat", "cpu 1 2 3 4\n")]).as_deref(), Some("absent"));
        // A directory opens and refuses to be read, as the file does under `psi=0`.
        assert_eq!(psi(&[("proc/pressure/cpu/x", "")]).as_deref(), Some("refuses: Is a directory"));
        assert_eq!(psi(&[]), None);
    }

    #[test]
    fn limits_of_writing_are_bytes_or_shares() {
        let shares = [("proc/sys/vm/dirty_background_ratio", "10\n"), ("proc/sys/vm/dirty_ratio", "20\n")];
        assert_eq!(of(&shares)["dirty_limits"], "background 10 %, limit 20 %");
        let bytes =
            [("proc/sys/vm/dirty_background_ratio", "0\n"), ("proc/sys/vm/dirty_background_bytes", "1048576\n")];
        let with = of(&[&shares[1..], &bytes[..]].concat());
        assert_eq!(with["dirty_limits"], "background 1MiB, limit 20 %");
    }

    #[test]
    fn limits_of_io_are_those_of_all_groups_around() {
        let got = of(&[
            ("proc/self/cgroup", "0::/box\n"),
            ("sys/fs/cgroup/io.max", "8:0 rbps=1000 wbps=max\n"),
            ("sys/fs/cgroup/box/io.max", "8:16 rbps=max wbps=2000\n"),
        ]);
        assert_eq!(got["io_max"], "8:0 rbps=1000; 8:16 wbps=2000");
        assert_eq!(of(&[("proc/self/cgroup", "0::/\n"), ("sys/fs/cgroup/x", "")])["io_max"], "none");
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
    fn no_damage_to_a_file_stops_the_reader() {
        for (path, text) in [
            ("proc/self/cgroup", "4:memory:/box\n0::/../a\n"),
            ("proc/self/status", "Cpus_allowed_list:\t0-3\n"),
            ("proc/cpuinfo", "microcode : 0x2b\n"),
            ("proc/mdstat", "md0 : active raid1 a[0]\n  9 blocks [2/1] [U_]\n  [>..]  recovery = 1% (1/9)\n"),
            ("sys/devices/system/node/online", "0-3,5\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
            ("sys/fs/cgroup/io.max", "8:0 rbps=max wbps=1\n"),
        ] {
            fake::mangle(path, text, |root| {
                if path != "proc/self/cgroup" {
                    fake::put(root, "proc/self/cgroup", "0::/\n");
                }
                read(root).0.into_keys().collect()
            });
        }
    }
}
