//! The official figures that a run can have, by name and unit: what a check can be about before anything was measured.

use std::collections::BTreeMap;

use super::disk::{Disk, Pattern};
use super::plan::{Load, Plan};
use super::unit::Unit;

/// What the fold derives for every run.
const DERIVED: (&str, Unit) = ("steal_percent", Unit::Percent);

/// Latencies of operations, behind `read_`, `write_`, `sync_` or nothing.
const LATENCIES: [&str; 6] = ["lat_mean_us", "lat_p50_us", "lat_p95_us", "lat_p99_us", "lat_p999_us", "lat_max_us"];

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
    fixed.iter().map(|(name, unit)| ((*name).to_owned(), *unit)).collect()
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

fn disk(load: &Disk) -> Vec<(String, Unit)> {
    let mut figures: Vec<(String, Unit)> = Vec::new();
    let mut put = |before: &str, name: &str, unit: Unit| figures.push((format!("{before}{name}"), unit));
    let mixed = matches!(load.pattern, Pattern::Mixed { .. });
    let sides: &[&str] = if mixed { &["", "read_", "write_"] } else { &[""] };
    for side in sides {
        put(side, "mb_per_s", Unit::MegabytesPerSecond);
        put(side, "iops", Unit::Iops);
        LATENCIES.iter().for_each(|name| put(side, name, Unit::Microseconds));
    }
    if load.pattern.writes() {
        put("", "drain_s", Unit::Seconds);
        put("", "with_fsync_mb_per_s", Unit::MegabytesPerSecond);
        put("", "accepted_mb_per_s", Unit::MegabytesPerSecond);
        put("", "allocated_percent", Unit::Percent);
        put("", "verified_blocks", Unit::Count);
        put("", "syncs_per_s", Unit::PerSecond);
        LATENCIES.iter().for_each(|name| put("sync_", name, Unit::Microseconds));
    }
    put("", "lat_clamped", Unit::Count);
    put("", "generator_cpu_percent", Unit::Percent);
    put("", "generator_wait_percent", Unit::Percent);
    put("", "cpu_us_per_io", Unit::Microseconds);
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
