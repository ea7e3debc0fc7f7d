//! Caches as sysfs lists them with each CPU.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::agent::{host, list};
use crate::vocab::hardware::Cache;

/// Counts the caches of the CPUs that are online. A cache that some CPU already told of is not asked for again: machines have
/// hundreds of CPUs with four caches each, and a file for every property.
pub(super) fn read(directory: &Path, online: &BTreeSet<u32>) -> Vec<Cache> {
    let mut covered: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let mut counts: BTreeMap<Cache, u32> = BTreeMap::new();
    for cpu in online {
        // The nearest caches are the core's own: who shares all of them is a thread of a core that was seen.
        if !covered.is_empty() && covered.values().all(|cpus| cpus.contains(cpu)) {
            continue;
        }
        let caches = directory.join(format!("cpu{cpu}/cache"));
        for index in host::names(&caches).into_iter().filter(|name| list::numbered(name, "index").is_some()) {
            if covered.get(&index).is_some_and(|cpus| cpus.contains(cpu)) {
                continue;
            }
            let Some((cache, shared)) = one(&caches.join(&index), *cpu, online) else { continue };
            *counts.entry(cache).or_default() += 1;
            covered.entry(index).or_default().extend(shared);
        }
    }
    counts.into_iter().map(|(cache, count)| Cache { count, ..cache }).collect()
}

fn one(index: &Path, cpu: u32, online: &BTreeSet<u32>) -> Option<(Cache, BTreeSet<u32>)> {
    let value = |name: &str| host::value(&index.join(name));
    let shared = value("shared_cpu_list").map(|text| list::parse(&text));
    let mut shared = shared.or_else(|| Some(list::mask(&value("shared_cpu_map")?))).unwrap_or_default();
    shared.retain(|sharer| online.contains(sharer));
    shared.insert(cpu);
    let cache = Cache {
        level: value("level")?.parse().ok()?,
        kind: value("type").unwrap_or_else(|| "Unified".to_owned()),
        size: bytes(&value("size")?)?,
        shared_by: u32::try_from(shared.len()).ok()?,
        count: 0,
    };
    Some((cache, shared))
}

/// `32K`, `1M`, or bytes.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" => 1,
        "K" | "kB" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn a_cache_is_counted_once_whoever_shares_it() {
        let root = fake::root(&[]);
        for cpu in 0..4 {
            for (index, level, kind, size, shared) in
                [(0, "1", "Data", "48K", format!("{cpu}")), (3, "3", "Unified", "32M", "0-7".to_owned())]
            {
                let base = format!("cpu{cpu}/cache/index{index}");
                for (name, text) in [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", &shared)] {
                    fake::put(root.path(), &format!("{base}/{name}"), text);
                }
            }
        }
        let got = read(root.path(), &BTreeSet::from([1, 2, 3]));
        let cache =
            |level, kind: &str, size, shared_by, count| Cache { level, kind: kind.into(), size, shared_by, count };
        assert_eq!(got, [cache(1, "Data", 48 << 10, 1, 3), cache(3, "Unified", 32 << 20, 3, 1)]);
    }

    #[test]
    fn sizes_that_are_none_are_left_out() {
        assert_eq!(
            ["4M", "512K", "64", "0K", "K", "9x", "99999999999999999999M"].map(|text| bytes(text).is_some()),
            [true, true, true, false, false, false, false]
        );
    }
}
