//! The host's derived rows, as data: one line a row. A row is what the screen draws below the chart and what evidence names.

use std::ops::Range;

use super::delta::{Delta, percent, share};
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
    /// Whether it only says more closely what another row of its device says; evidence does not name it.
    pub detail: bool,
}

type Of = fn(&Delta<'_>) -> Option<f64>;

const fn row(source: &'static str, name: &'static str, unit: Unit, of: Of) -> Row {
    Row { source, name, unit, of, detail: false }
}

const fn detail(source: &'static str, name: &'static str, unit: Unit, of: Of) -> Row {
    Row { detail: true, ..row(source, name, unit, of) }
}

/// Every row there is, the rows of a source side by side. The states of a CPU (user, guest, system, iowait, steal, idle) add up to 100; busy
/// is what is neither idle, iowait nor steal.
///
/// The disk rows are those of `iostat(1)`, after the kernel's `Documentation/admin-guide/iostats.rst` (sectors are 512 bytes):
/// read and write are rMB/s and wMB/s, decimal; await = time spent / operations; queue is aqu-sz = weighted time / time; util =
/// busy time / time, never above 100 though the kernel counts in ticks; rareq-sz and wareq-sz = bytes / operations.
pub const ROWS: &[Row] = &[
    row("cpu", "busy", Unit::Percent, |d| Some(percent(100.0 - d.cpu_share(&["idle", "iowait", "steal"])?))),
    row("cpu", "iowait", Unit::Percent, |d| d.cpu_share(&["iowait"])),
    row("cpu", "steal", Unit::Percent, |d| d.cpu_share(&["steal"])),
    row("cpu", "system", Unit::Percent, |d| d.cpu_share(&["system", "irq", "softirq"])),
    detail("cpu", "user", Unit::Percent, |d| Some(d.guest_and_user()?.1)),
    detail("cpu", "guest", Unit::Percent, |d| d.diff("guest").and(Some(d.guest_and_user()?.0))),
    detail("cpu", "idle", Unit::Percent, |d| d.cpu_share(&["idle"])),
    row("disk", "read", Unit::MegabytesPerSecond, |d| Some(d.rate("read_sectors")? * 512.0 / 1e6)),
    row("disk", "write", Unit::MegabytesPerSecond, |d| Some(d.rate("write_sectors")? * 512.0 / 1e6)),
    row("disk", "r/s", Unit::Iops, |d| d.rate("reads")),
    row("disk", "w/s", Unit::Iops, |d| d.rate("writes")),
    row("disk", "await", Unit::Milliseconds, |d| {
        share(d.diff("read_ms")? + d.diff("write_ms")?, d.diff("reads")? + d.diff("writes")?)
    }),
    row("disk", "queue", Unit::Ratio, |d| Some(d.rate("queue_ms")? / 1e3)),
    row("disk", "util", Unit::Percent, |d| Some(percent(d.rate("busy_ms")? / 10.0))),
    detail("disk", "r_await", Unit::Milliseconds, |d| share(d.diff("read_ms")?, d.diff("reads")?)),
    detail("disk", "w_await", Unit::Milliseconds, |d| share(d.diff("write_ms")?, d.diff("writes")?)),
    detail("disk", "rareq-sz", Unit::Bytes, |d| share(d.diff("read_sectors")? * 512.0, d.diff("reads")?)),
    detail("disk", "wareq-sz", Unit::Bytes, |d| share(d.diff("write_sectors")? * 512.0, d.diff("writes")?)),
    row("net", "rx", Unit::MegabytesPerSecond, |d| Some(d.rate("rx_bytes")? / 1e6)),
    row("net", "tx", Unit::MegabytesPerSecond, |d| Some(d.rate("tx_bytes")? / 1e6)),
    row("net", "drops", Unit::PerSecond, |d| Some(d.rate("rx_drops")? + d.rate("tx_drops")?)),
    row("net", "errors", Unit::PerSecond, |d| d.rates(&["rx_errors", "tx_errors"])),
    detail("net", "link", Unit::Percent, link_share),
    row("link", "crc", Unit::PerSecond, |d| d.rate("rx_crc_errors")),
    row("link", "missed", Unit::PerSecond, |d| d.rates(&["rx_missed_errors", "rx_fifo_errors", "tx_fifo_errors"])),
    row("link", "carrier changes", Unit::Count, |d| d.diff("carrier_changes")),
    row("memory", "dirty", Unit::Bytes, |d| d.value("dirty")),
    row("memory", "writeback", Unit::Bytes, |d| d.value("writeback")),
    row("memory", "available", Unit::Bytes, |d| d.value("available")),
    row("memory", "swap", Unit::MegabytesPerSecond, |d| Some((d.rate("swap_in")? + d.rate("swap_out")?) / 1e6)),
    // Not clamped: above 100 the writers are held up, which is what it is there to show. What is under way to the disk counts for the
    // kernel as well (`balance_dirty_pages`), and is most of it where the disk is slow.
    row("memory", "dirty of limit", Unit::Percent, |d| {
        share(100.0 * (d.value("dirty")? + d.value("writeback").unwrap_or(0.0)), d.value("dirty_limit")?)
    }),
    row("pressure", "some", Unit::Percent, |d| Some(percent(d.rate("some_us")? / 1e4))),
    row("pressure", "full", Unit::Percent, |d| Some(percent(d.rate("full_us")? / 1e4))),
    row("tcp", "retransmits", Unit::PerSecond, |d| d.rate("retransmits")),
    row("tcp", "retransmitted", Unit::Percent, |d| share(100.0 * d.diff("retransmits")?, d.diff("segs_out")?)),
    row("softnet", "dropped", Unit::PerSecond, |d| d.rate("dropped")),
    row("softnet", "squeezed", Unit::PerSecond, |d| d.rate("squeezed")),
    row("cgroup", "throttled", Unit::Percent, |d| {
        share(100.0 * d.diff("throttled_periods")?, d.diff("periods")?).map(percent)
    }),
    // In milliseconds a second; threads that are held up at the same time make more than a thousand.
    row("cgroup", "held up", Unit::Milliseconds, |d| Some(d.rate("throttled_us")? / 1e3)),
    row("clock", "least", Unit::Megahertz, |d| d.value("least_mhz")),
    row("clock", "median", Unit::Megahertz, |d| d.value("median_mhz")),
    row("thermal", "temperature", Unit::Celsius, |d| d.value("celsius")),
    row("thermal", "throttles", Unit::PerSecond, |d| d.rates(&["throttles", "core_throttles"])),
    row("thermal", "power limits", Unit::PerSecond, |d| d.rate("power_limits")),
    // From the energy counters of RAPL, in microjoules (the kernel's `powercap.rst`).
    detail("thermal", "power", Unit::Watts, |d| Some(d.rate("energy_uj")? / 1e6)),
    row("nvme", "temperature", Unit::Celsius, |d| d.value("celsius")),
    row("edac", "ce", Unit::Count, |d| d.value("corrected")),
    row("edac", "ue", Unit::Count, |d| d.value("uncorrected")),
    detail("self", "cpu", Unit::Percent, |d| Some(100.0 * d.rate("cpu_seconds")?)),
    detail("self", "cost", Unit::Microseconds, |d| d.value("took_us")),
    row("numa", "miss", Unit::PerSecond, |d| d.rate("numa_miss")),
];

/// The faster direction's share of the link, in percent; none while the link's speed is not known.
fn link_share(d: &Delta<'_>) -> Option<f64> {
    share(100.0 * d.rate("rx_bytes")?.max(d.rate("tx_bytes")?), d.link?).map(percent)
}

/// The places of a source's rows in [`ROWS`]; an empty range for a source that has none.
#[must_use]
pub fn rows_of(source: &str) -> Range<usize> {
    let first = ROWS.iter().position(|r| r.source == source).unwrap_or(0);
    let count = ROWS.iter().skip(first).take_while(|r| r.source == source).count();
    first..first + count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_source_stand_side_by_side_and_have_names_of_their_own() {
        for (index, row) in ROWS.iter().enumerate() {
            let range = rows_of(row.source);
            assert!(range.contains(&index), "{} {}", row.source, row.name);
            let same = ROWS[range].iter().filter(|r| r.name == row.name).count();
            assert_eq!(same, 1, "{} {}", row.source, row.name);
        }
        assert!(rows_of("no such source").is_empty());
    }
}
