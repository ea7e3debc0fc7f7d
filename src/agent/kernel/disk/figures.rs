//! The official figures of one iteration.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2Serializer};

use super::tally::{Side, Tally};
use crate::agent::kernel::{KernelError, Measured};
use crate::vocab::figure::Figure;
use crate::vocab::unit::Unit;

/// What an iteration is reckoned from.
pub(super) struct Account<'a> {
    pub(super) tally: &'a Tally,
    /// Length of the window in seconds, or of the part of it before the load was through.
    pub(super) seconds: f64,
    pub(super) flush: Option<Flush>,
    /// Percent of the bytes written that the file system has allocated.
    pub(super) allocated: Option<f64>,
}

/// The flush after writing.
pub(super) struct Flush {
    /// In seconds.
    pub(super) time: f64,
    /// Bytes written from the first operation on, and the seconds from there to the end of the flush.
    pub(super) bytes: u64,
    pub(super) since: f64,
    /// Whether the page cache took the writes, so that only the rate with the flush is the device's.
    pub(super) buffered: bool,
}

/// Rates always; latencies when at least one operation was completed within the window.
pub(super) fn figures(account: &Account<'_>) -> Result<Measured, KernelError> {
    let (tally, seconds) = (account.tally, account.seconds);
    let mut whole = Side::new()?;
    whole.merge(&tally.main)?;
    if let Some(writes) = &tally.writes {
        whole.merge(writes)?;
    }
    let plain = whole.bytes as f64 / seconds / 1e6;
    let with_flush = account.flush.as_ref().map(|f| f.bytes as f64 / f.since / 1e6);
    let buffered = account.flush.as_ref().is_some_and(|f| f.buffered);
    let rate = with_flush.filter(|_| buffered).unwrap_or(plain);
    let mut figures = vec![
        Figure::new("mb_per_s", rate, Unit::MegabytesPerSecond),
        Figure::new("iops", whole.operations as f64 / seconds, Unit::Iops),
    ];
    if let (Some(flush), Some(with)) = (&account.flush, with_flush) {
        figures.push(Figure::new("drain_s", flush.time, Unit::Seconds));
        figures.push(Figure::new("with_fsync_mb_per_s", with, Unit::MegabytesPerSecond));
        if buffered {
            figures.push(Figure::new("accepted_mb_per_s", plain, Unit::MegabytesPerSecond));
        }
    }
    figures.extend(account.allocated.map(|percent| Figure::new("allocated_percent", percent, Unit::Percent)));
    if whole.operations == 0 {
        return Ok(Measured { figures, latency: None });
    }
    figures.extend(latencies("", &whole));
    if let Some(writes) = &tally.writes {
        for (name, side) in [("read_", &tally.main), ("write_", writes)] {
            figures.extend(direction(name, side, seconds));
        }
    }
    if let Some(syncs) = tally.syncs.as_ref().filter(|syncs| syncs.operations > 0) {
        figures.push(Figure::new("syncs_per_s", syncs.operations as f64 / seconds, Unit::PerSecond));
        figures.extend(latencies("sync_", syncs));
    }
    if whole.clamped > 0 {
        figures.push(Figure::new("lat_clamped", whole.clamped as f64, Unit::Count));
    }
    figures.extend(cost(tally, whole.operations, seconds));
    let mut bytes = Vec::new();
    let written = V2Serializer::new().serialize(&whole.latency, &mut bytes);
    written.map_err(|e| KernelError::Broken(format!("cannot write latencies: {e}")))?;
    Ok(Measured { figures, latency: Some(STANDARD.encode(bytes)) })
}

/// The rates and latencies of one direction of a mixed load.
fn direction(name: &str, side: &Side, seconds: f64) -> Vec<Figure> {
    let rate = side.bytes as f64 / seconds / 1e6;
    let mut figures = vec![
        Figure::new(&format!("{name}mb_per_s"), rate, Unit::MegabytesPerSecond),
        Figure::new(&format!("{name}iops"), side.operations as f64 / seconds, Unit::Iops),
    ];
    if side.operations > 0 {
        figures.extend(latencies(name, side));
    }
    figures
}

fn latencies(name: &str, side: &Side) -> [Figure; 6] {
    let latency = &side.latency;
    let at = |quantile| latency.value_at_quantile(quantile) as f64;
    let named = [
        ("lat_mean_us", latency.mean()),
        ("lat_p50_us", at(0.5)),
        ("lat_p95_us", at(0.95)),
        ("lat_p99_us", at(0.99)),
        ("lat_p999_us", at(0.999)),
        ("lat_max_us", latency.max() as f64),
    ];
    named.map(|(figure, ns)| Figure::new(&format!("{name}{figure}"), ns / 1e3, Unit::Microseconds))
}

/// What the load cost its own threads: the busiest one's share of a core over the window, the share of the window in which it had to
/// wait for one, and the CPU time of all for one operation. Work that the kernel does for a ring in threads of its own is not in it.
fn cost(tally: &Tally, operations: u64, seconds: f64) -> Vec<Figure> {
    // A thread ends a little after the window does.
    let percent = |ns: u64| (ns as f64 / 1e7 / seconds).min(100.0);
    let mut figures = vec![
        Figure::new("generator_cpu_percent", percent(tally.busiest.cpu), Unit::Percent),
        Figure::new("cpu_us_per_io", tally.cpu as f64 / 1e3 / operations as f64, Unit::Microseconds),
    ];
    let waited = tally.busiest.waited.map(percent);
    figures.extend(waited.map(|percent| Figure::new("generator_wait_percent", percent, Unit::Percent)));
    figures
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;

    use super::*;
    use crate::agent::kernel::disk::access::Kind;
    use crate::agent::kernel::disk::cost::Spent;

    fn tally() -> Tally {
        Tally { main: Side::new().unwrap(), writes: None, syncs: None, last: 0, cpu: 0, busiest: Spent::default() }
    }

    fn value(measured: &Measured, name: &str) -> Option<f64> {
        measured.figures.iter().find(|f| f.name == name).map(|f| f.value)
    }

    #[test]
    fn rates_and_latencies_come_from_the_window() {
        let mut tally = tally();
        for us in 1..=1000_u64 {
            tally.count(Kind::Write, 4096, us * 1000, us);
        }
        tally.cpu = 3_000_000_000;
        tally.busiest = Spent { cpu: 1_900_000_000, waited: Some(60_000_000) };
        let flush = Flush { time: 0.5, bytes: 5_000_000, since: 2.5, buffered: false };
        let account = Account { tally: &tally, seconds: 2.0, flush: Some(flush), allocated: Some(99.0) };
        let measured = figures(&account).unwrap();
        let value = |name: &str| value(&measured, name).unwrap();
        assert_eq!((value("mb_per_s"), value("iops"), value("drain_s")), (2.048, 500.0, 0.5));
        assert_eq!((value("with_fsync_mb_per_s"), value("allocated_percent")), (2.0, 99.0));
        assert_eq!((value("generator_cpu_percent"), value("cpu_us_per_io")), (95.0, 3_000.0));
        assert_eq!(value("generator_wait_percent"), 3.0);
        let near = |name: &str, us: f64| assert!((value(name) / us - 1.0).abs() < 0.002, "{name} {}", value(name));
        near("lat_mean_us", 500.5);
        near("lat_p50_us", 500.0);
        near("lat_p999_us", 999.0);
        near("lat_max_us", 1000.0);
        let bytes = STANDARD.decode(measured.latency.as_ref().unwrap()).unwrap();
        let back: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(back.len(), 1000);
    }

    #[test]
    fn nothing_completed_is_zero_without_latencies() {
        let flush = Flush { time: 0.5, bytes: 3_000_000, since: 2.0, buffered: true };
        let account = Account { tally: &tally(), seconds: 1.0, flush: Some(flush), allocated: None };
        let measured = figures(&account).unwrap();
        assert_eq!((value(&measured, "mb_per_s"), value(&measured, "accepted_mb_per_s")), (Some(1.5), Some(0.0)));
        assert_eq!(measured.latency, None);
    }

    #[test]
    fn directions_and_flushes_have_figures_of_their_own_and_an_hour_is_the_longest() {
        let sides = (Some(Side::new().unwrap()), Some(Side::new().unwrap()));
        let mut tally = Tally { writes: sides.0, syncs: sides.1, ..tally() };
        tally.count(Kind::Read, 4096, 10_000, 1);
        tally.count(Kind::Read, 4096, 10_000, 2);
        tally.count(Kind::Write, 4096, 4_000_000_000_000, 3);
        tally.count(Kind::Sync, 0, 5_000_000, 4);
        let measured = figures(&Account { tally: &tally, seconds: 1.0, flush: None, allocated: None }).unwrap();
        let value = |name: &str| value(&measured, name).unwrap();
        assert_eq!(
            (value("iops"), value("read_iops"), value("write_iops"), value("syncs_per_s")),
            (3.0, 2.0, 1.0, 1.0)
        );
        assert!(
            value("read_lat_max_us") < 10.1 && value("write_lat_max_us") > 3.5e9 && value("sync_lat_p50_us") > 4_900.0
        );
        assert_eq!((value("lat_clamped"), value("write_mb_per_s")), (1.0, 0.004_096));
    }
}
