//! What a kernel may size itself by: the CPUs, the memory and the caches that this process can really have.

use std::collections::BTreeSet;
use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity};

use super::{cgroup, list};

/// What this process can have of the node.
#[derive(Clone, Debug, PartialEq)]
pub struct Resources {
    /// Numbers of the CPUs in the process's affinity, ascending; never empty.
    pub cpus: Vec<usize>,
    /// Those of `cpus` that are the first of their physical core, ascending; all of them where sysfs does not say.
    pub cores: Vec<usize>,
    /// CPUs' worth of time that the control groups allow; none without a limit.
    pub quota: Option<f64>,
    /// Bytes that can be had without swapping: the least of `MemAvailable`, what the memory cgroup leaves and what `RLIMIT_AS` leaves.
    pub memory: u64,
    /// Bytes of all last-level caches together; none when sysfs does not say.
    pub caches: Option<u64>,
    /// The caches that hold data, each once; empty when sysfs does not say.
    pub data_caches: Vec<DataCache>,
    /// Bytes of a memory page.
    pub page: usize,
    /// Bytes of memory in all, which can become page cache; none where `/proc/meminfo` does not say.
    pub total: Option<u64>,
    /// Bytes of cache in the disk controllers; none until their tools were asked, or where these do not say.
    pub controller_cache: Option<u64>,
}

/// One cache for data, or for data and instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataCache {
    /// 1 is the nearest to its CPUs.
    pub level: u32,
    /// How large it is.
    pub bytes: u64,
    /// The CPUs that share it.
    pub cpus: BTreeSet<u32>,
}

impl Resources {
    /// Reads them; `root` stands for `/` so that a machine can be faked.
    #[must_use]
    pub fn here(root: &Path) -> Self {
        let (cpus, data_caches) = (affinity(), data_caches(root));
        Self {
            cores: list::cores(root, &cpus),
            quota: cgroup::limit(root, "cpu", cgroup::cpu_quota).filter(|quota| quota.is_finite()),
            cpus,
            memory: memory(root),
            caches: last_level(&data_caches),
            data_caches,
            page: rustix::param::page_size(),
            total: told(root, "MemTotal:"),
            controller_cache: None,
        }
    }

    /// Threads of a load that fills a core by itself: one a physical core, at most the quota rounded up.
    #[must_use]
    pub fn core_threads(&self) -> u32 {
        self.within_quota(self.cores.len())
    }

    /// Threads of a load that gains from every CPU: one a CPU, at most the quota rounded up.
    #[must_use]
    pub fn cpu_threads(&self) -> u32 {
        self.within_quota(self.cpus.len())
    }

    /// All CPUs, those of [`Resources::cores`] before the others.
    #[must_use]
    pub fn cores_first(&self) -> Vec<usize> {
        let others = self.cpus.iter().filter(|cpu| !self.cores.contains(cpu));
        self.cores.iter().chain(others).copied().collect()
    }

    fn within_quota(&self, cpus: usize) -> u32 {
        let allowed = self.quota.map_or(usize::MAX, |quota| quota.ceil() as usize);
        cpus.min(allowed).max(1) as u32
    }
}

#[cfg(test)]
impl Resources {
    /// Those of a small machine, for tests that need some.
    pub(super) fn faked() -> Self {
        Self {
            cpus: vec![0],
            cores: vec![0],
            quota: None,
            memory: 1 << 30,
            caches: None,
            data_caches: Vec::new(),
            page: 4096,
            total: None,
            controller_cache: None,
        }
    }
}

fn affinity() -> Vec<usize> {
    let cpus: Vec<usize> = match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect(),
        Err(_) => Vec::new(),
    };
    if cpus.is_empty() { vec![0] } else { cpus }
}

fn memory(root: &Path) -> u64 {
    let mut least = told(root, "MemAvailable:").unwrap_or(1 << 30);
    for limit in [cgroup_room(root), address_room(root)].into_iter().flatten() {
        least = least.min(limit);
    }
    least
}

/// A line of `/proc/meminfo`, in bytes.
fn told(root: &Path, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find(|l| l.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// What is left to the control group of this process, and to those around it.
fn cgroup_room(root: &Path) -> Option<u64> {
    let least = cgroup::limit(root, "memory", cgroup::memory_room)?;
    least.is_finite().then_some(least as u64)
}

/// Bytes that this process may map, `RLIMIT_AS`; none where there is no limit.
pub(super) fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

/// What is left of it beside what is mapped already.
fn address_room(root: &Path) -> Option<u64> {
    let limit = address_space()?;
    let pages = std::fs::read_to_string(root.join("proc/self/statm")).ok();
    let pages = pages.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0);
    Some(limit.saturating_sub(pages.saturating_mul(rustix::param::page_size() as u64)))
}

fn data_caches(root: &Path) -> Vec<DataCache> {
    let mut found: Vec<DataCache> = Vec::new();
    for cpu in std::fs::read_dir(root.join("sys/devices/system/cpu")).into_iter().flatten().flatten() {
        for index in std::fs::read_dir(cpu.path().join("cache")).into_iter().flatten().flatten() {
            let read = |file: &str| Some(std::fs::read_to_string(index.path().join(file)).ok()?.trim().to_owned());
            let (Some(level), Some(size), Some(shared)) = (read("level"), read("size"), read("shared_cpu_list")) else {
                continue;
            };
            let (Ok(level), Some(bytes)) = (level.parse(), kib(&size)) else { continue };
            let cache = DataCache { level, bytes, cpus: list::parse(&shared) };
            let same = |other: &DataCache| (other.level, &other.cpus) == (cache.level, &cache.cpus);
            if read("type").is_none_or(|t| t != "Instruction") && !found.iter().any(same) {
                found.push(cache);
            }
        }
    }
    found
}

/// Bytes of those behind which there is no other.
fn last_level(caches: &[DataCache]) -> Option<u64> {
    let behind = |cache: &DataCache| caches.iter().any(|c| c.level > cache.level && !c.cpus.is_disjoint(&cache.cpus));
    let total = caches.iter().filter(|cache| !behind(cache)).map(|cache| cache.bytes).sum();
    (total > 0).then_some(total)
}

fn kib(text: &str) -> Option<u64> {
    let (number, factor) = match text.strip_suffix('K') {
        Some(number) => (number, 1 << 10),
        None => (text.strip_suffix('M')?, 1 << 20),
    };
    Some(number.parse::<u64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_cpus_memory_and_pages() {
        let here = Resources::here(Path::new("/"));
        assert!(!here.cpus.is_empty());
        assert!(here.memory > 0);
        assert!(here.page >= 4096);
    }

    #[test]
    fn a_core_counts_once_and_a_quota_bounds_the_threads() {
        let siblings = |cpu: usize| format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let lists = [siblings(0), siblings(1), siblings(4), siblings(5)];
        let root = crate::agent::host::fake::root(&[
            (&*lists[0], "0,4\n"),
            (&*lists[1], "1,5\n"),
            (&*lists[2], "0,4\n"),
            (&*lists[3], "1,5\n"),
            ("proc/self/cgroup", "0::/box\n"),
            ("sys/fs/cgroup/box/cpu.max", "150000 100000\n"),
        ]);
        assert_eq!(list::cores(root.path(), &[0, 1, 4, 5, 9]), [0, 1, 9]);
        assert_eq!(list::cores(root.path(), &[1, 4, 5]), [1, 4]);
        assert_eq!(Resources::here(root.path()).quota, Some(1.5));
        let node = Resources { cpus: vec![1, 4, 5], cores: vec![1, 4], ..Resources::faked() };
        assert_eq!((node.core_threads(), node.cpu_threads(), node.cores_first()), (2, 3, vec![1, 4, 5]));
        let bounded = |quota| Resources { quota: Some(quota), ..node.clone() };
        assert_eq!((bounded(1.5).core_threads(), bounded(1.5).cpu_threads()), (2, 2));
        assert_eq!((bounded(0.2).core_threads(), bounded(64.0).cpu_threads()), (1, 3));
    }

    #[test]
    fn caches_shared_by_cpus_count_once_and_a_memory_cgroup_limits() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for cpu in 0..2 {
            let base = format!("sys/devices/system/cpu/cpu{cpu}/cache/index3");
            put(&format!("{base}/level"), "3\n");
            put(&format!("{base}/size"), "32768K\n");
            put(&format!("{base}/shared_cpu_list"), "0-1\n");
            put(&format!("{base}/type"), "Unified\n");
            for (index, kind) in [(0, "Data"), (1, "Instruction")] {
                let base = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
                put(&format!("{base}/level"), "1\n");
                put(&format!("{base}/size"), "48K\n");
                put(&format!("{base}/shared_cpu_list"), &format!("{cpu}\n"));
                put(&format!("{base}/type"), kind);
            }
        }
        put("proc/meminfo", "MemTotal: 2000000 kB\nMemAvailable: 1000000 kB\n");
        put("proc/self/cgroup", "4:memory:/box\n0::/\n");
        put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "268435456\n");
        put("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "68435456\n");
        let faked = Resources::here(root.path());
        assert_eq!(faked.caches, Some(32 << 20));
        let mut caches: Vec<_> = faked.data_caches.iter().map(|c| (c.level, c.bytes >> 10, c.cpus.len())).collect();
        caches.sort_unstable();
        assert_eq!(caches, [(1, 48, 1), (1, 48, 1), (3, 32 << 10, 2)]);
        assert_eq!(faked.memory, 200_000_000);
    }
}
