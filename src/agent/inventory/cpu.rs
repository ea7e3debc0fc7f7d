//! Processors: packages, cores and threads as sysfs tells them, `/proc/cpuinfo` where it does not, and where the two disagree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{cache, class, fact, numa};
use crate::agent::cpuinfo::{self, One};
use crate::agent::{host, list};
use crate::vocab::fact::Fact;
use crate::vocab::hardware::Processor;
use crate::vocab::text::neutral;

/// Instruction sets that matter to what is measured here, in the order in which they are printed.
const FLAGS: [&str; 24] = [
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "avx512f",
    "avx512_vnni",
    "avx512_bf16",
    "avx_vnni",
    "amx_tile",
    "amx_bf16",
    "amx_int8",
    "aes",
    "vaes",
    "sha_ni",
    "asimd",
    "sve",
    "sve2",
    "sme",
    "bf16",
    "i8mm",
    "atomics",
    "sha2",
    "crc32",
    "lasx",
];

/// The CPUs, by the three that count them.
pub(super) struct Cpus {
    /// Online by sysfs.
    pub(super) online: BTreeSet<u32>,
    /// Fitted, by sysfs.
    present: BTreeSet<u32>,
    /// Lines of `/proc/stat`.
    pub(super) counted: u32,
    /// CPUs of `/proc/cpuinfo`.
    described: BTreeMap<u32, One>,
}

impl Cpus {
    pub(super) fn read(root: &Path, cpuinfo: &str) -> Self {
        let listed = |name: &str| {
            host::value(&root.join("sys/devices/system/cpu").join(name))
                .map(|text| list::parse(&text))
                .unwrap_or_default()
        };
        let stat = host::text(&root.join("proc/stat")).unwrap_or_default();
        // The first block of CPUs only: captures with several readings in one file exist.
        let block = stat.lines().skip_while(|line| !line.starts_with("cpu")).map_while(|line| line.strip_prefix("cpu"));
        let counted = block.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).count();
        Self {
            online: listed("online"),
            present: listed("present"),
            counted: u32::try_from(counted).unwrap_or(u32::MAX),
            described: cpuinfo::each(cpuinfo),
        }
    }

    /// CPUs the kernel runs on; `/proc/stat` is trusted before sysfs, and both before `/proc/cpuinfo`.
    pub(super) fn count(&self) -> Option<u32> {
        let counts = [self.counted as usize, self.online.len(), self.described.len()];
        counts.into_iter().find(|n| *n > 0).and_then(|n| u32::try_from(n).ok())
    }

    /// The counts with their sources, where they are not all the same.
    pub(super) fn disagreement(&self) -> Option<String> {
        let counts = [
            (self.online.len(), "online in sysfs"),
            (self.counted as usize, "in /proc/stat"),
            (self.described.len(), "in /proc/cpuinfo"),
        ];
        let told: Vec<_> = counts.iter().filter(|(count, _)| *count > 0).collect();
        let differ = told.iter().any(|(count, _)| *count != told[0].0);
        let texts: Vec<String> = told.iter().map(|(count, source)| format!("{count} {source}")).collect();
        differ.then(|| format!("CPUs: {}", texts.join(", ")))
    }
}

/// Reads what sysfs and `/proc/cpuinfo` tell of the processors.
pub(super) fn read(root: &Path, cpuinfo: &str, cpus: &Cpus) -> Processor {
    let directory = root.join("sys/devices/system/cpu");
    let directories: BTreeSet<u32> =
        host::names(&directory).iter().filter_map(|name| list::numbered(name, "cpu")).collect();
    // Captures may lack the list; and a CPU that went offline in between has no topology any more.
    let online = if cpus.online.is_empty() { &directories } else { &cpus.online };
    let topology = Topology::read(&directory, online).or_else(|| Topology::described(&cpus.described));
    let told = |count: fn(&Topology) -> Option<u32>| match topology.as_ref().and_then(count) {
        Some(count) => Fact::Is(count),
        None => Fact::Unreadable("neither sysfs nor /proc/cpuinfo tells".to_owned()),
    };
    let features = cpuinfo::features(cpuinfo);
    let text = |found: Option<String>| found.map_or(Fact::NotPresent, |text| Fact::Is(neutral(&text)));
    let [family, model, stepping] = cpuinfo::generation(cpuinfo).map(text);
    let clocks = class::clocks(&directory, online);
    let first = online.first().map(|cpu| directory.join(format!("cpu{cpu}/microcode/version")));
    let microcode = first.map_or(Fact::NotPresent, |path| fact::word(&path));
    Processor {
        vendor: text(cpuinfo::vendor(cpuinfo)),
        family,
        model,
        stepping,
        microcode: microcode.or_else(|| text(cpuinfo::first(cpuinfo, "microcode").map(str::to_owned))),
        sockets: told(|t| t.sockets),
        cores: told(|t| Some(t.cores)),
        threads_per_core: told(|t| Some(t.threads)),
        max_mhz: clocks.values().max().map_or(Fact::NotPresent, |mhz| Fact::Is(*mhz)),
        flags: FLAGS.iter().filter(|flag| features.contains(*flag)).map(|flag| (*flag).to_owned()).collect(),
        classes: class::read(root, online, &cpus.described, &clocks),
        caches: cache::read(&directory, online),
        nodes: numa::read(root),
        online: match fact::setting(&directory.join("online")) {
            Fact::Is(text) if cpus.online.is_empty() => Fact::Unreadable(format!("`{text}` is no list of CPUs")),
            Fact::Is(_) => Fact::Is(list::print(&cpus.online)),
            why => why,
        },
        offline: offline(cpus),
    }
}

/// `offline` in sysfs counts the places for CPUs that were never fitted, too.
fn offline(cpus: &Cpus) -> Fact {
    if cpus.online.is_empty() || cpus.present.is_empty() {
        return Fact::Unreadable("sysfs does not tell".to_owned());
    }
    let offline: BTreeSet<u32> = cpus.present.difference(&cpus.online).copied().collect();
    if offline.is_empty() { Fact::NotPresent } else { Fact::Is(list::print(&offline)) }
}

struct Topology {
    sockets: Option<u32>,
    cores: u32,
    threads: u32,
}

impl Topology {
    fn read(directory: &Path, online: &BTreeSet<u32>) -> Option<Self> {
        let (mut covered, mut packages) = (BTreeSet::new(), BTreeSet::new());
        let (mut cores, mut threads) = (0, 0);
        for cpu in online {
            if covered.contains(cpu) {
                continue;
            }
            let topology = directory.join(format!("cpu{cpu}/topology"));
            let siblings = ["core_cpus_list", "thread_siblings_list"]
                .iter()
                .find_map(|name| host::value(&topology.join(name)))
                .map(|text| list::parse(&text))
                .or_else(|| Some(list::mask(&host::value(&topology.join("thread_siblings"))?)));
            let Some(mut siblings) = siblings else { continue };
            siblings.retain(|sibling| online.contains(sibling));
            siblings.insert(*cpu);
            cores += 1;
            threads = threads.max(siblings.len());
            covered.extend(siblings);
            packages.extend(host::value(&topology.join("physical_package_id")));
        }
        // The firmware of some ARM boards and guests numbers no packages: all are -1.
        packages.retain(|id| !id.starts_with('-'));
        let sockets = u32::try_from(packages.len()).ok().filter(|n| *n > 0);
        (cores > 0).then(|| Self { sockets, cores, threads: u32::try_from(threads).unwrap_or(u32::MAX) })
    }

    fn described(cpus: &BTreeMap<u32, One>) -> Option<Self> {
        let mut cores: BTreeMap<(Option<u32>, u32), u32> = BTreeMap::new();
        for one in cpus.values() {
            *cores.entry((one.package, one.core?)).or_default() += 1;
        }
        let packages: BTreeSet<u32> = cores.keys().filter_map(|(package, _)| *package).collect();
        Some(Self {
            sockets: u32::try_from(packages.len()).ok().filter(|n| *n > 0),
            cores: u32::try_from(cores.len()).ok()?,
            threads: *cores.values().max()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    fn of(files: &[(&str, &str)]) -> (Processor, Option<String>) {
        let root = fake::root(files);
        let cpuinfo = host::text(&root.path().join("proc/cpuinfo")).unwrap_or_default();
        let cpus = Cpus::read(root.path(), &cpuinfo);
        (read(root.path(), &cpuinfo, &cpus), cpus.disagreement())
    }

    #[test]
    fn packages_cores_and_threads_are_counted_without_the_cpus_that_are_off() {
        let (got, note) = of(&[
            ("sys/devices/system/cpu/present", "0-4\n"),
            ("sys/devices/system/cpu/possible", "0-127\n"),
            ("sys/devices/system/cpu/online", "1-4\n"),
            ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n"),
            ("sys/devices/system/cpu/cpu1/topology/physical_package_id", "7\n"),
            ("sys/devices/system/cpu/cpu1/microcode/version", "0x2b\n"),
            ("sys/devices/system/cpu/cpu2/topology/core_cpus_list", "2,4\n"),
            ("sys/devices/system/cpu/cpu2/topology/physical_package_id", "900\n"),
            ("sys/devices/system/cpu/cpu3/topology/thread_siblings", "00000000,00000008\n"),
            ("sys/devices/system/cpu/cpu3/topology/physical_package_id", "900\n"),
            ("proc/stat", "cpu 1\ncpu1 1\ncpu2 1\ncpu3 1\n"),
            ("proc/cpuinfo", "processor : 1\nflags : fpu avx2 aes\nprocessor : 2\nprocessor : 3\nprocessor : 4\n"),
        ]);
        assert_eq!((got.sockets, got.cores, got.threads_per_core), (Fact::Is(2), Fact::Is(3), Fact::Is(2)));
        assert_eq!((got.online, got.offline), (Fact::Is("1-4".into()), Fact::Is("0".into())));
        assert_eq!((got.flags, got.microcode), (vec!["avx2".to_owned(), "aes".to_owned()], Fact::Is("0x2b".into())));
        assert_eq!(note.as_deref(), Some("CPUs: 4 online in sysfs, 3 in /proc/stat, 4 in /proc/cpuinfo"));
    }

    #[test]
    fn without_sysfs_the_cpus_describe_themselves() {
        let (got, note) = of(&[(
            "proc/cpuinfo",
            "processor : 0\nphysical id : 0\ncore id : 0\nprocessor : 1\nphysical id : 1\ncore id : 0\nmicrocode : 0x1\n",
        )]);
        assert_eq!((got.sockets, got.cores, got.threads_per_core), (Fact::Is(2), Fact::Is(2), Fact::Is(1)));
        assert_eq!((note, got.microcode), (None, Fact::Is("0x1".into())));
        assert!(of(&[]).0.sockets.reason().contains("tells"));
    }

    #[test]
    fn packages_without_a_number_are_not_counted() {
        let (got, _) = of(&[
            ("sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0\n"),
            ("sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1\n"),
        ]);
        assert_eq!((got.cores, got.sockets.known()), (Fact::Is(1), None));
    }
}
