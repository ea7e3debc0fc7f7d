//! The official figures of one iteration.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2Serializer};

use super::job::Tally;
use crate::agent::kernel::{KernelError, Measured};
use crate::vocab::figure::Figure;
use crate::vocab::unit::Unit;

/// What an iteration is reckoned from.
pub(super) struct Account<'a> {
    pub(super) tally: &'a Tally,
    /// Length of the window in seconds.
    pub(super) seconds: f64,
    /// Time of the flush after writing, in seconds.
    pub(super) flush: Option<f64>,
    /// Where the page cache took the writes: all bytes from the first to the end of the flush, and the seconds in between.
    pub(super) accepted: Option<(u64, f64)>,
}

/// Rates always; latencies when at least one operation was completed within the window.
pub(super) fn figures(account: &Account<'_>) -> Result<Measured, KernelError> {
    let tally = account.tally;
    let rate = match account.accepted {
        Some((bytes, seconds)) => bytes as f64 / seconds,
        None => tally.bytes as f64 / account.seconds,
    };
    let mut figures = vec![
        Figure::new("mb_per_s", rate / 1e6, Unit::MegabytesPerSecond),
        Figure::new("iops", tally.operations as f64 / account.seconds, Unit::Iops),
    ];
    figures.extend(account.flush.map(|seconds| Figure::new("drain_s", seconds, Unit::Seconds)));
    if tally.operations == 0 {
        return Ok(Measured { figures, latency: None });
    }
    let latency = &tally.latency;
    let at = |quantile| latency.value_at_quantile(quantile) as f64;
    let named = [
        ("lat_mean_us", latency.mean()),
        ("lat_p50_us", at(0.5)),
        ("lat_p95_us", at(0.95)),
        ("lat_p99_us", at(0.99)),
        ("lat_p999_us", at(0.999)),
        ("lat_max_us", latency.max() as f64),
    ];
    figures.extend(named.map(|(name, ns)| Figure::new(name, ns / 1e3, Unit::Microseconds)));
    figures.extend(cost(tally, account.seconds));
    let mut bytes = Vec::new();
    let written = V2Serializer::new().serialize(latency, &mut bytes);
    written.map_err(|e| KernelError::Broken(format!("cannot write latencies: {e}")))?;
    Ok(Measured { figures, latency: Some(STANDARD.encode(bytes)) })
}

/// What the load cost its own threads: the busiest one's share of a core over the window, and the CPU time of all for one operation.
/// Work that the kernel does for a ring in threads of its own is not in it.
fn cost(tally: &Tally, seconds: f64) -> [Figure; 2] {
    let (all, busiest) = (tally.cpu.0 as f64 / 1e3, tally.cpu.1 as f64 / 1e9);
    // A thread ends a little after the window does.
    let percent = (100.0 * busiest / seconds).min(100.0);
    [
        Figure::new("generator_cpu_percent", percent, Unit::Percent),
        Figure::new("cpu_us_per_io", all / tally.operations as f64, Unit::Microseconds),
    ]
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;

    use super::*;

    #[test]
    fn rates_and_latencies_come_from_the_window() {
        let mut tally = Tally::new().unwrap();
        for ns in 1..=1000_u64 {
            tally.latency.saturating_record(ns * 1000);
        }
        (tally.operations, tally.bytes, tally.cpu) = (1000, 4_096_000, (3_000_000_000, 1_900_000_000));
        let account = Account { tally: &tally, seconds: 2.0, flush: Some(0.5), accepted: None };
        let measured = figures(&account).unwrap();
        let value = |name: &str| measured.figures.iter().find(|f| f.name == name).unwrap().value;
        assert_eq!((value("mb_per_s"), value("iops"), value("drain_s")), (2.048, 500.0, 0.5));
        assert_eq!((value("generator_cpu_percent"), value("cpu_us_per_io")), (95.0, 3_000.0));
        let near = |name: &str, us: f64| assert!((value(name) / us - 1.0).abs() < 0.002, "{name} {}", value(name));
        near("lat_mean_us", 500.5);
        near("lat_p50_us", 500.0);
        near("lat_p999_us", 999.0);
        near("lat_max_us", 1000.0);
        let bytes = STANDARD.decode(measured.latency.unwrap()).unwrap();
        let back: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(back.len(), 1000);
    }

    #[test]
    fn nothing_completed_is_zero_without_latencies() {
        let tally = Tally::new().unwrap();
        let account = Account { tally: &tally, seconds: 1.0, flush: None, accepted: Some((3_000_000, 2.0)) };
        let measured = figures(&account).unwrap();
        assert_eq!(measured.figures.iter().map(|f| f.value).collect::<Vec<_>>(), [1.5, 0.0]);
        assert_eq!(measured.latency, None);
    }
}
