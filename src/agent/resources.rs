//! What a kernel may size itself by: the CPUs, the memory and the caches that this process can really have.

use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity};

use super::{cgroup, host};

/// What this process can have of the node.
#[derive(Clone, Debug, PartialEq)]
pub struct Resources {
    /// Numbers of the CPUs in the process's affinity, ascending; never empty.
    pub cpus: Vec<usize>,
    /// Those of `cpus` that are the first of their physical core, ascending; all of them where sysfs does not say.
    pub cores: Vec<usize>,
    /// CPUs' worth of time that the control groups allow; none without a limit.
    pub quota: Option<f64>,
    /// Bytes that can be had without swapping: the least of `MemAvailable`, the memory cgroup and `RLIMIT_AS`.
    pub memory: u64,
    /// Bytes of all last-level caches together; none when sysfs does not say.
    pub caches: Option<u64>,
    /// Bytes of a memory page.
    pub page: usize,
    /// Bytes of memory in all, which can become page cache; none where `/proc/meminfo` does not say.
    pub total: Option<u64>,
    /// Bytes of cache in the disk controllers; none until their tools were asked, or where these do not say.
    pub controller_cache: Option<u64>,
}

impl Resources {
    /// Reads them; `root` stands for `/` so that a machine can be faked.
    #[must_use]
    pub fn here(root: &Path) -> Self {
        let cpus = affinity();
        Self {
            cores: cores(root, &cpus),
            quota: cgroup::limit(root, "cpu", cgroup::cpu_quota).filter(|quota| quota.is_finite()),
            cpus,
            memory: memory(root),
            caches: last_level_caches(root),
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

/// The CPUs whose siblings in `topology/thread_siblings_list` (`Documentation/admin-guide/cputopology.rst`) have no smaller one
/// among them.
fn cores(root: &Path, cpus: &[usize]) -> Vec<usize> {
    let siblings =
        |cpu: usize| host::value(&root.join(format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")));
    let mut seen = std::collections::BTreeSet::new();
    cpus.iter().copied().filter(|cpu| siblings(*cpu).is_none_or(|list| seen.insert(list))).collect()
}

fn memory(root: &Path) -> u64 {
    let mut least = told(root, "MemAvailable:").unwrap_or(1 << 30);
    for limit in [cgroup_room(root), address_space()].into_iter().flatten() {
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

fn cgroup_room(root: &Path) -> Option<u64> {
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mut least = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let (base, limit, used) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max", "memory.current"),
            c if c.split(',').any(|c| c == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        let read = |file: &str| {
            std::fs::read_to_string(root.join(base).join(path).join(file)).ok()?.trim().parse::<u64>().ok()
        };
        if let (Some(limit), Some(used)) = (read(limit), read(used)) {
            let room = limit.saturating_sub(used);
            least = Some(least.map_or(room, |l: u64| l.min(room)));
        }
    }
    least
}

fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

fn last_level_caches(root: &Path) -> Option<u64> {
    let mut seen = std::collections::BTreeMap::new();
    for cpu in std::fs::read_dir(root.join("sys/devices/system/cpu")).ok()?.flatten() {
        let mut best: Option<(u32, String, u64)> = None;
        for index in std::fs::read_dir(cpu.path().join("cache")).into_iter().flatten().flatten() {
            let read = |file: &str| Some(std::fs::read_to_string(index.path().join(file)).ok()?.trim().to_owned());
            let (Some(level), Some(size), Some(shared)) = (read("level"), read("size"), read("shared_cpu_list")) else {
                continue;
            };
            let (Ok(level), Some(size)) = (level.parse::<u32>(), kib(&size)) else { continue };
            if read("type").is_none_or(|t| t != "Instruction") && best.as_ref().is_none_or(|b| b.0 < level) {
                best = Some((level, shared, size));
            }
        }
        if let Some((level, shared, size)) = best {
            seen.insert((level, shared), size);
        }
    }
    let total: u64 = seen.values().sum();
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
        let root = host::fake::root(&[
            (&*lists[0], "0,4\n"),
            (&*lists[1], "1,5\n"),
            (&*lists[2], "0,4\n"),
            (&*lists[3], "1,5\n"),
            ("proc/self/cgroup", "0::/box\n"),
            ("sys/fs/cgroup/box/cpu.max", "150000 100000\n"),
        ]);
        assert_eq!(cores(root.path(), &[0, 1, 4, 5, 9]), [0, 1, 9]);
        assert_eq!(cores(root.path(), &[1, 4, 5]), [1, 4]);
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
        }
        put("proc/meminfo", "MemTotal: 2000000 kB\nMemAvailable: 1000000 kB\n");
        put("proc/self/cgroup", "4:memory:/box\n0::/\n");
        put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "268435456\n");
        put("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "68435456\n");
        let faked = Resources::here(root.path());
        assert_eq!(faked.caches, Some(32 << 20));
        assert_eq!(faked.memory, 200_000_000);
    }
}
