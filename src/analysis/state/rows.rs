//! The host's derived rows, as data: one line a row. A row is what the screen draws below the chart and what evidence names.

use super::delta::{Delta, share};
use crate::vocab::unit::Unit;

/// A derived host series.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The sampler it is made of.
    pub source: &'static str,
    /// Its name within the device: `await`.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its value over the time between two readings of a device; none when a field is missing or was reset.
    pub of: fn(&Delta<'_>) -> Option<f64>,
}

const fn row(source: &'static str, name: &'static str, unit: Unit, of: fn(&Delta<'_>) -> Option<f64>) -> Row {
    Row { source, name, unit, of }
}

/// Every row there is. Formulas of the disk rows: `iostat(1)` and the kernel's `Documentation/admin-guide/iostats.rst`
/// (sectors are 512 bytes; await = time spent / operations; queue = weighted time / time; util = busy time / time).
pub const ROWS: &[Row] = &[
    row("cpu", "busy", Unit::Percent, |d| Some(100.0 - d.cpu_share(&["idle", "iowait", "steal"])?)),
    row("cpu", "iowait", Unit::Percent, |d| d.cpu_share(&["iowait"])),
    row("cpu", "steal", Unit::Percent, |d| d.cpu_share(&["steal"])),
    row("cpu", "system", Unit::Percent, |d| d.cpu_share(&["system", "irq", "softirq"])),
    row("disk", "read", Unit::MegabytesPerSecond, |d| Some(d.rate("read_sectors")? * 512.0 / 1e6)),
    row("disk", "write", Unit::MegabytesPerSecond, |d| Some(d.rate("write_sectors")? * 512.0 / 1e6)),
    row("disk", "r/s", Unit::Iops, |d| d.rate("reads")),
    row("disk", "w/s", Unit::Iops, |d| d.rate("writes")),
    row("disk", "await", Unit::Milliseconds, |d| {
        share(d.diff("read_ms")? + d.diff("write_ms")?, d.diff("reads")? + d.diff("writes")?)
    }),
    row("disk", "queue", Unit::Ratio, |d| Some(d.rate("queue_ms")? / 1e3)),
    row("disk", "util", Unit::Percent, |d| Some((d.rate("busy_ms")? / 10.0).min(100.0))),
    row("net", "rx", Unit::MegabytesPerSecond, |d| Some(d.rate("rx_bytes")? / 1e6)),
    row("net", "tx", Unit::MegabytesPerSecond, |d| Some(d.rate("tx_bytes")? / 1e6)),
    row("net", "drops", Unit::PerSecond, |d| Some(d.rate("rx_drops")? + d.rate("tx_drops")?)),
    row("memory", "dirty", Unit::Bytes, |d| d.value("dirty")),
    row("memory", "writeback", Unit::Bytes, |d| d.value("writeback")),
    row("memory", "available", Unit::Bytes, |d| d.value("available")),
    row("memory", "swap", Unit::MegabytesPerSecond, |d| Some((d.rate("swap_in")? + d.rate("swap_out")?) / 1e6)),
    row("pressure", "some", Unit::Percent, |d| Some((d.rate("some_us")? / 1e4).min(100.0))),
    row("pressure", "full", Unit::Percent, |d| Some((d.rate("full_us")? / 1e4).min(100.0))),
];
