//! Which figures the runs of each kernel give, so that a check of one that no run gives is seen before anything is measured.

use super::disk::{Disk, Pattern};
use super::plan::Load;
use super::unit::Unit;

/// What the fold derives for every run.
pub const OF_EVERY_RUN: (&str, Unit) = ("steal_percent", Unit::Percent);

/// The latencies of one direction.
const LATENCIES: [&str; 6] = ["lat_mean_us", "lat_p50_us", "lat_p95_us", "lat_p99_us", "lat_p999_us", "lat_max_us"];
/// The rates of one direction.
const RATES: [(&str, Unit); 2] = [("mb_per_s", Unit::MegabytesPerSecond), ("iops", Unit::Iops)];
/// What the load cost its own threads, and what there is now and then.
const OF_DISKS: [(&str, Unit); 4] = [
    ("generator_cpu_percent", Unit::Percent),
    ("cpu_us_per_io", Unit::Microseconds),
    ("generator_wait_percent", Unit::Percent),
    ("lat_clamped", Unit::Count),
];
const OF_WRITES: [(&str, Unit); 4] = [
    ("drain_s", Unit::Seconds),
    ("with_fsync_mb_per_s", Unit::MegabytesPerSecond),
    ("accepted_mb_per_s", Unit::MegabytesPerSecond),
    ("allocated_percent", Unit::Percent),
];

/// The figures that a run of this kernel may give, with their units; `session/RECORD.md` says what they mean. Some are given only
/// where there is something to tell.
#[must_use]
pub fn of(load: &Load) -> Vec<(String, Unit)> {
    let fixed: &[(&str, Unit)] = match load {
        Load::Linpack(_) => &[("gflops", Unit::Gflops), ("residual", Unit::Count), ("seconds", Unit::Seconds)],
        Load::Gemm(_) => &[("gflops", Unit::Gflops), ("best_gflops", Unit::Gflops), ("multiplications", Unit::Count)],
        Load::Stream(_) => return stream(),
        Load::Memory(_) => &[("mb_per_s", Unit::MegabytesPerSecond), ("blocks_per_s", Unit::PerSecond)],
        Load::MemoryLatency(_) => &[("loads_per_s", Unit::PerSecond), ("ns_per_load", Unit::Nanoseconds)],
        Load::Integer(_) => &[("events_per_s", Unit::EventsPerSecond)],
        Load::Disk(load) => return disk(load),
        Load::Synthetic(load) => match load.rate.unit {
            Unit::MegabytesPerSecond => &[("mb_per_s", Unit::MegabytesPerSecond)],
            Unit::Iops => &[("iops", Unit::Iops)],
            Unit::Gflops => &[("gflops", Unit::Gflops)],
            Unit::EventsPerSecond => &[("events_per_s", Unit::EventsPerSecond)],
            Unit::OpsPerSecond => &[("ops_per_s", Unit::OpsPerSecond)],
            _ => &[],
        },
    };
    named("", fixed)
}

fn named(before: &str, figures: &[(&str, Unit)]) -> Vec<(String, Unit)> {
    figures.iter().map(|(name, unit)| (format!("{before}{name}"), *unit)).collect()
}

fn stream() -> Vec<(String, Unit)> {
    let operations = ["copy", "scale", "add", "triad"];
    let each = operations.iter().flat_map(|name| [format!("{name}_mb_per_s"), format!("{name}_median_mb_per_s")]);
    each.chain(["bus_mb_per_s".to_owned()]).map(|name| (name, Unit::MegabytesPerSecond)).collect()
}

fn disk(load: &Disk) -> Vec<(String, Unit)> {
    let latencies = LATENCIES.map(|name| (name, Unit::Microseconds));
    let mut figures = named("", &RATES);
    figures.extend(named("", &latencies));
    figures.extend(named("", &OF_DISKS));
    if load.pattern.writes() {
        figures.extend(named("", &OF_WRITES));
    }
    if matches!(load.pattern, Pattern::Mixed { .. }) {
        for direction in ["read_", "write_"] {
            figures.extend(named(direction, &RATES));
            figures.extend(named(direction, &latencies));
        }
    }
    if load.fsync_every > 0 || load.fdatasync_every > 0 {
        figures.push(("syncs_per_s".to_owned(), Unit::PerSecond));
        figures.extend(named("sync_", &latencies));
    }
    if load.verify {
        figures.push(("verified_blocks".to_owned(), Unit::Count));
    }
    figures
}
