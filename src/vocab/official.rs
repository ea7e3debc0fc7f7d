//! The official figures that a run can have, by name and unit: what a check can be about before anything was measured.

use std::collections::BTreeMap;

use super::disk::{Disk, Pattern};
use super::plan::{Load, Plan};
use super::unit::Unit;

/// What the fold derives for every run.
pub const DERIVED: (&str, Unit) = ("steal_percent", Unit::Percent);

/// Latencies of operations, behind `read_`, `write_`, `sync_` or nothing.
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

/// The figures of a load; some only come where the device or the kernel gives them.
#[must_use]
pub fn figures(load: &Load) -> Vec<(String, Unit)> {
    let fixed: &[(&str, Unit)] = match load {
        Load::Linpack(_) => &[("gflops", Unit::Gflops), ("residual", Unit::Count), ("seconds", Unit::Seconds)],
        Load::Gemm(_) => &[("gflops", Unit::Gflops), ("best_gflops", Unit::Gflops), ("multiplications", Unit::Count)],
        Load::Stream(_) => &[
            ("copy_mb_per_s", Unit::MegabytesPerSecond),
            ("copy_median_mb_per_s", Unit::MegabytesPerSecond),
            ("scale_mb_per_s", Unit::MegabytesPerSecond),
            ("scale_median_mb_per_s", Unit::MegabytesPerSecond),
            ("add_mb_per_s", Unit::MegabytesPerSecond),
            ("add_median_mb_per_s", Unit::MegabytesPerSecond),
            ("triad_mb_per_s", Unit::MegabytesPerSecond),
            ("triad_median_mb_per_s", Unit::MegabytesPerSecond),
            ("bus_mb_per_s", Unit::MegabytesPerSecond),
        ],
        Load::Memory(_) => &[("mb_per_s", Unit::MegabytesPerSecond), ("blocks_per_s", Unit::PerSecond)],
        Load::MemoryLatency(_) => &[("loads_per_s", Unit::PerSecond), ("ns_per_load", Unit::Nanoseconds)],
        Load::Integer(_) => &[("events_per_s", Unit::EventsPerSecond)],
        Load::Disk(load) => return disk(load),
        Load::Synthetic(load) => {
            return played(load.rate.unit).into_iter().map(|name| (name, load.rate.unit)).collect();
        }
    };
    named("", fixed)
}

/// The figure of a synthetic run that plays a rate of this unit; none for what is no rate.
#[must_use]
pub fn played(unit: Unit) -> Option<String> {
    let name = match unit {
        Unit::MegabytesPerSecond => "mb_per_s",
        Unit::Iops => "iops",
        Unit::Gflops => "gflops",
        Unit::EventsPerSecond => "events_per_s",
        Unit::OpsPerSecond => "ops_per_s",
        _ => return None,
    };
    Some(name.to_owned())
}

fn named(before: &str, figures: &[(&str, Unit)]) -> Vec<(String, Unit)> {
    figures.iter().map(|(name, unit)| (format!("{before}{name}"), *unit)).collect()
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

/// Every figure of a plan by its whole name, `run.figure`.
#[must_use]
pub fn of_plan(plan: &Plan) -> BTreeMap<String, Unit> {
    let of_run = |run: &super::plan::Run| {
        let derived = [(DERIVED.0.to_owned(), DERIVED.1)];
        let name = run.name.clone();
        figures(&run.kernel).into_iter().chain(derived).map(move |(figure, unit)| (format!("{name}.{figure}"), unit))
    };
    plan.runs.iter().flat_map(of_run).collect()
}
