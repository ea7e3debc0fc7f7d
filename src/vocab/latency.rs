//! Latency as counts in logarithmic buckets: cheap to add to while a run goes on, and mergeable.

use serde::{Deserialize, Serialize};

/// Buckets a power of two is cut into; bounds the relative error of a bucket to 1/16.
const PARTS: u64 = 16;
const PARTS_LOG2: u32 = 4;

/// How many buckets there are: all of `u64` nanoseconds.
pub const BUCKETS: usize = ((64 - PARTS_LOG2 as usize) + 1) * PARTS as usize;

/// The bucket of a latency in nanoseconds: exact below 16 ns, then 16 parts to each power of two.
#[must_use]
pub fn bucket(ns: u64) -> usize {
    if ns < PARTS {
        return ns as usize;
    }
    let octave = ns.ilog2();
    let shift = octave - PARTS_LOG2;
    (u64::from(shift + 1) * PARTS + ((ns >> shift) & (PARTS - 1))) as usize
}

/// The smallest latency in nanoseconds that falls into a bucket; of a number that no bucket has, that of the last.
#[must_use]
pub fn floor(bucket: usize) -> u64 {
    let bucket = bucket.min(BUCKETS - 1) as u64;
    if bucket < PARTS {
        return bucket;
    }
    let shift = bucket / PARTS - 1;
    (PARTS + bucket % PARTS) << shift
}

/// Cumulative counts since the start of a run, empty buckets left out: `[[bucket, count], …]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Buckets(pub Vec<(u16, u64)>);

impl Buckets {
    /// The latency in nanoseconds below which a share `q` of the operations since `earlier` lies; none without operations.
    #[must_use]
    pub fn quantile_since(&self, earlier: &Self, q: f64) -> Option<u64> {
        let before = |bucket| earlier.0.iter().find(|(b, _)| *b == bucket).map_or(0, |(_, n)| *n);
        let counts: Vec<(u16, u64)> = self.0.iter().map(|(b, n)| (*b, n.saturating_sub(before(*b)))).collect();
        let total = counts.iter().fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
        let rank = (q.clamp(0.0, 1.0) * total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, n) in counts {
            seen = n.saturating_add(seen);
            if n > 0 && seen >= rank {
                return Some(floor(usize::from(bucket)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_within_a_sixteenth_of_its_values() {
        for ns in [0, 1, 15, 16, 17, 31, 32, 1000, 123_456, 987_654_321, u64::MAX] {
            let low = floor(bucket(ns));
            assert!(low <= ns, "{ns}");
            assert!((ns - low) as f64 <= ns as f64 / 16.0, "{ns} in bucket from {low}");
            assert!(bucket(ns) < BUCKETS);
        }
    }

    #[test]
    fn buckets_rise_with_the_latency() {
        let mut last = 0;
        for ns in 0..100_000 {
            assert!(bucket(ns) == last || bucket(ns) == last + 1);
            last = bucket(ns);
        }
    }

    #[test]
    fn quantiles_are_of_the_difference() {
        let early = Buckets(vec![(10, 100)]);
        let late = Buckets(vec![(10, 100), (100, 9), (200, 1)]);
        assert_eq!(late.quantile_since(&early, 0.5), Some(floor(100)));
        assert_eq!(late.quantile_since(&early, 1.0), Some(floor(200)));
        assert_eq!(late.quantile_since(&late, 0.5), None);
    }
}
