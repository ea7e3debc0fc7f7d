//! This process's control groups, of version 1 and 2 (`Documentation/admin-guide/cgroup-v2.rst`, `cgroup-v1/`), and their limits.

use std::path::{Component, Path, PathBuf};

use super::host;

/// A version-1 memory group without a limit says 2⁶³ less a page.
const NO_LIMIT: f64 = 1e18;

/// The group of this process for a controller and the groups around it, the innermost first; none where this node has no control
/// groups.
pub(super) fn groups(root: &Path, controller: &str) -> Option<Vec<PathBuf>> {
    let text = host::text(&root.join("proc/self/cgroup")).ok()?;
    let mount = root.join("sys/fs/cgroup");
    let mut found = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let base = match controllers {
            // Where both versions are mounted, the second has a directory of its own.
            "" if mount.join("unified").is_dir() => mount.join("unified"),
            "" => mount.clone(),
            joined if joined.split(',').any(|one| one == controller) => {
                let own = mount.join(controller);
                if own.is_dir() { own } else { mount.join(joined) }
            }
            _ => continue,
        };
        // A path that leads out of the namespace, or is not below this mount, leaves only the directories that are there.
        let inner = Path::new(path).components().filter(|c| matches!(c, Component::Normal(_))).collect::<PathBuf>();
        found.extend(inner.ancestors().map(|directory| base.join(directory)).filter(|group| group.is_dir()));
    }
    Some(found)
}

/// The least limit that `read` finds in this process's group and those around it; infinite where none of them has one.
pub(super) fn limit(root: &Path, controller: &str, read: fn(&Path) -> Option<f64>) -> Option<f64> {
    let groups = groups(root, controller)?;
    Some(groups.iter().filter_map(|group| read(group)).fold(f64::INFINITY, f64::min))
}

/// The group with the least CPU quota, as that one is throttled first; none where none has one.
pub(super) fn tightest(root: &Path) -> Option<PathBuf> {
    let quotas = groups(root, "cpu")?.into_iter().filter_map(|group| Some((cpu_quota(&group)?, group)));
    quotas.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, group)| group)
}

/// CPUs' worth of time a group may have: `cpu.max`, or `cpu.cfs_quota_us` of version 1.
pub(super) fn cpu_quota(group: &Path) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
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
pub(super) fn memory_limit(group: &Path) -> Option<f64> {
    let read = |file: &str| host::value(&group.join(file));
    let bytes = read("memory.max").or_else(|| read("memory.limit_in_bytes"))?.parse::<u64>().ok()? as f64;
    (bytes < NO_LIMIT).then_some(bytes)
}

/// Bytes that are left of [`memory_limit`].
pub(super) fn memory_room(group: &Path) -> Option<f64> {
    let used = ["memory.current", "memory.usage_in_bytes"].iter().find_map(|file| host::number(&group.join(file)))?;
    Some((memory_limit(group)? - used as f64).max(0.0))
}

/// What a group may read and write, a device a text: `8:0 wbps=1048576`; from `io.max`, or the `blkio.throttle` files of version 1.
pub(super) fn io_limits(group: &Path) -> Vec<String> {
    let lines = |file: &str| host::text(&group.join(file)).unwrap_or_default();
    let second = lines("io.max");
    let mut found: Vec<String> = second
        .lines()
        .filter_map(|line| {
            let (device, limits) = line.split_once(' ')?;
            let set: Vec<&str> = limits.split_ascii_whitespace().filter(|limit| !limit.ends_with("=max")).collect();
            (!set.is_empty()).then(|| format!("{device} {}", set.join(" ")))
        })
        .collect();
    for (file, name) in [("read_bps", "rbps"), ("write_bps", "wbps"), ("read_iops", "riops"), ("write_iops", "wiops")] {
        let first = lines(&format!("blkio.throttle.{file}_device"));
        let limits = first.lines().filter_map(|line| line.split_once(' '));
        found.extend(limits.map(|(device, limit)| format!("{device} {name}={}", limit.trim())));
    }
    found
}

/// Lines of a name and a number.
pub(super) fn pairs(text: &str) -> impl Iterator<Item = (&str, f64)> {
    whole_lines(text).filter_map(|line| {
        let (name, number) = line.split_once(' ')?;
        Some((name, number.trim().parse::<u64>().ok()? as f64))
    })
}

/// The lines but a last one without its end: a number in it may lack digits.
pub(super) fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn groups_go_from_the_inside_out_and_only_where_they_are() {
        let root = fake::root(&[
            ("proc/self/cgroup", "3:cpu,cpuacct:/box/in\n0::/../other/box\nnonsense\n"),
            ("sys/fs/cgroup/cpu,cpuacct/box/cpu.stat", ""),
            ("sys/fs/cgroup/unified/box/x", ""),
        ]);
        let groups = groups(root.path(), "cpu").unwrap();
        let names: Vec<&Path> =
            groups.iter().filter_map(|g| g.strip_prefix(root.path().join("sys/fs/cgroup")).ok()).collect();
        assert_eq!(names, ["cpu,cpuacct/box", "cpu,cpuacct", "unified"].map(Path::new));
        assert!(super::groups(Path::new("/proc/self/no-such"), "cpu").is_none());
    }

    #[test]
    fn the_least_room_of_all_groups_counts() {
        let root = fake::root(&[
            ("proc/self/cgroup", "0::/pod/box\n"),
            ("sys/fs/cgroup/pod/memory.max", "1000000\n"),
            ("sys/fs/cgroup/pod/memory.current", "900000\n"),
            ("sys/fs/cgroup/pod/box/memory.max", "500000\n"),
            ("sys/fs/cgroup/pod/box/memory.current", "100000\n"),
        ]);
        assert_eq!(limit(root.path(), "memory", memory_room), Some(100_000.0));
        fake::put(root.path(), "sys/fs/cgroup/pod/memory.current", "1200000\n");
        assert_eq!(limit(root.path(), "memory", memory_room), Some(0.0));
        fake::put(root.path(), "sys/fs/cgroup/pod/memory.max", "max\n");
        assert_eq!(limit(root.path(), "memory", memory_room), Some(400_000.0));
    }

    #[test]
    fn limits_of_both_versions_are_read() {
        let root = fake::root(&[
            ("two/io.max", "8:0 rbps=max wbps=1048576 riops=max wiops=10\n8:16 rbps=max wbps=max\n"),
            ("one/blkio.throttle.write_bps_device", "8:0 2097152\n"),
            ("one/blkio.throttle.read_bps_device", ""),
        ]);
        assert_eq!(io_limits(&root.path().join("two")), ["8:0 wbps=1048576 wiops=10"]);
        assert_eq!(io_limits(&root.path().join("one")), ["8:0 wbps=2097152"]);
        assert!(io_limits(root.path()).is_empty());
    }
}
