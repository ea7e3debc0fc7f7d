//! How much memory a memory kernel works on, and which cache that fits in.

use std::collections::BTreeMap;

use super::KernelError;
use crate::agent::resources::Resources;
use crate::vocab::size::ByteSize;

const SMALLEST: u64 = 64 << 20;

/// STREAM's rule of how many times the last-level caches an array must be, so that no cache has a part in the figure.
const TIMES: u64 = 4;

/// So much memory, and why.
pub(super) struct Area {
    pub(super) bytes: u64,
    pub(super) why: String,
}

/// What the plan says, else so much that no cache holds it.
pub(super) fn choose(given: Option<ByteSize>, node: &Resources) -> Area {
    let (bytes, why) = match (given, node.caches) {
        (Some(ByteSize(bytes)), _) => (bytes, "as the plan says".to_owned()),
        (None, Some(caches)) if caches * TIMES > SMALLEST => {
            (caches * TIMES, format!("{TIMES} x the last-level caches ({})", ByteSize(caches)))
        }
        (None, Some(caches)) => {
            (SMALLEST, format!("the least taken; {TIMES} x the last-level caches ({}) is less", ByteSize(caches)))
        }
        (None, None) => (SMALLEST, "the least taken: the caches' sizes are unknown here".to_owned()),
    };
    Area { bytes, why }
}

/// The line of a run that would need more than can be had.
pub(super) fn refused(needs: u64, memory: u64) -> KernelError {
    KernelError::Unavailable(format!("needs {} MiB, can have {} MiB", needs.div_ceil(1 << 20), memory >> 20))
}

/// The first level of cache that holds so many bytes of each of the threads on these CPUs: `L2`. `partly L3` where the last level
/// holds more than a quarter, by STREAM's rule, and `no cache` where it does not.
pub(super) fn fits_in(node: &Resources, cpus: &[usize], each: u64) -> String {
    // Of each level the cache that is asked to hold the largest share of its size.
    let mut shares: BTreeMap<u32, f64> = BTreeMap::new();
    for cache in &node.data_caches {
        let threads = cpus.iter().filter(|cpu| u32::try_from(**cpu).is_ok_and(|cpu| cache.cpus.contains(&cpu))).count();
        let share = (threads as u64).saturating_mul(each) as f64 / cache.bytes as f64;
        let most = shares.entry(cache.level).or_default();
        *most = most.max(share);
    }
    let Some((last, most)) = shares.last_key_value() else { return "unknown".to_owned() };
    match shares.iter().find(|(_, share)| **share > 0.0 && **share <= 1.0) {
        Some((level, _)) => format!("L{level}"),
        None if *most < TIMES as f64 => format!("partly L{last}"),
        None => "no cache".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::resources::DataCache;

    #[test]
    fn areas_are_sized_by_the_caches_and_it_is_said() {
        let at = |caches| choose(None, &Resources { caches, ..Resources::faked() });
        assert_eq!(at(Some(100 << 20)).bytes, 400 << 20);
        assert_eq!(at(Some(1 << 20)).bytes, 64 << 20);
        assert_eq!(at(None).bytes, 64 << 20);
        assert!(at(None).why.contains("unknown"));
        assert_eq!(choose(Some(ByteSize(4096)), &Resources::faked()).bytes, 4096);
    }

    #[test]
    fn a_cache_is_shared_by_the_threads_on_its_cpus() {
        let cache =
            |level, kib: u64, cpus: std::ops::Range<u32>| DataCache { level, bytes: kib << 10, cpus: cpus.collect() };
        let mut node = Resources::faked();
        assert_eq!(fits_in(&node, &[0], 1), "unknown");
        node.data_caches = vec![cache(1, 32, 0..1), cache(1, 32, 1..2), cache(2, 1024, 0..1), cache(2, 1024, 1..2)];
        node.data_caches.push(cache(3, 8192, 0..2));
        assert_eq!(fits_in(&node, &[0, 1], 32 << 10), "L1");
        assert_eq!(fits_in(&node, &[0, 0], 32 << 10), "L2");
        assert_eq!(fits_in(&node, &[0], 8 << 20), "L3");
        assert_eq!(fits_in(&node, &[0, 1], 8 << 20), "partly L3");
        assert_eq!(fits_in(&node, &[0, 1], 16 << 20), "no cache");
    }
}
