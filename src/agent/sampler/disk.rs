//! Counters of whole block devices, from `/proc/diskstats` (`Documentation/admin-guide/iostats.rst`).
//!
//! Partitions are left out, as their disk counts the same I/O; so are the hidden paths of a multipath NVMe device, and loop and
//! RAM disks that were never used. Lines of any length from 14 columns on are read by position.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::Sink;
use crate::agent::block::{self, Class};
use crate::agent::host::{Source, columns};
use crate::vocab::event::SampleKind::{Counter, Gauge};
use crate::vocab::unit::Unit;

/// Counters of a full line; partitions of 2.6 kernels have four.
const COUNTERS: usize = 11;

/// More requests than this in flight are a counter that fell below zero.
const WRAPPED: f64 = 2_147_483_648.0;

pub(super) struct Sampler {
    root: PathBuf,
    diskstats: Source,
    classes: HashMap<String, Class>,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), diskstats: Source::new(root, "proc/diskstats"), classes: HashMap::new() }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "disk"
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let Some(lines) = self.diskstats.read()? else { return Ok(()) };
        for line in lines {
            let Some((name, rest)) = name(line) else { continue };
            if !into.wants(name) {
                continue;
            }
            let (counters, found) = columns::<COUNTERS>(rest);
            if found < COUNTERS {
                continue;
            }
            let class = match self.classes.get(name) {
                Some(class) => *class,
                None => *self.classes.entry(name.to_owned()).or_insert(block::class(&self.root, name)),
            };
            let used = counters[0] > 0.0 || counters[4] > 0.0;
            if class == Class::Whole || class == Class::Spare && used {
                put(into, name, &counters);
            }
        }
        Ok(())
    }
}

/// The name behind major and minor, and what follows it.
fn name(line: &str) -> Option<(&str, &str)> {
    let mut rest = line.trim_start();
    for _ in 0..2 {
        let (number, more) = rest.split_once(' ')?;
        number.parse::<u32>().ok()?;
        rest = more.trim_start();
    }
    rest.split_once(' ')
}

fn put(into: &mut Sink, name: &str, counters: &[f64; COUNTERS]) {
    let [reads, _, read_sectors, read_ms, writes, _, write_sectors, write_ms, in_flight, busy_ms, queue_ms] = *counters;
    let in_flight = if in_flight < WRAPPED { in_flight } else { f64::NAN };
    into.put(
        name,
        &[
            ("reads", Counter, Unit::Count, reads),
            ("read_sectors", Counter, Unit::Count, read_sectors),
            ("read_ms", Counter, Unit::Milliseconds, read_ms),
            ("writes", Counter, Unit::Count, writes),
            ("write_sectors", Counter, Unit::Count, write_sectors),
            ("write_ms", Counter, Unit::Milliseconds, write_ms),
            ("in_flight", Gauge, Unit::Count, in_flight),
            ("busy_ms", Counter, Unit::Milliseconds, busy_ms),
            ("queue_ms", Counter, Unit::Milliseconds, queue_ms),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const OLD: &str = "   3    0   hda 4462 7849 95506 4382 4248 3127 5922 1931 2 3376 2370\n\
                       \x20  3    1   hda1 35486 38030 38030 38030\n";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn an_old_partition_line_costs_its_disk_nothing() {
        let root = fake::root(&[("proc/diskstats", OLD)]);
        let expected = ["reads 4462", "read_sectors 95506", "read_ms 4382", "writes 4248", "write_sectors 5922"];
        let got = read(root.path());
        assert_eq!(got[..5], expected.map(|r| format!("hda {r}")));
        assert_eq!(
            got[5..],
            ["write_ms 1931", "in_flight 2", "busy_ms 3376", "queue_ms 2370"].map(|r| format!("hda {r}"))
        );
    }

    #[test]
    fn only_whole_devices_that_are_in_use_count() {
        let line = |name: &str, reads: u32| format!("   8   0 {name} {reads} 0 1 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
        let names =
            [("sda", 1), ("sda1", 1), ("nvme0n1", 1), ("nvme0n1p1", 1), ("dm-0", 0), ("loop0", 0), ("loop1", 3)];
        let text: String = names.iter().map(|(name, reads)| line(name, *reads)).collect();
        let root = fake::root(&[("proc/diskstats", &text)]);
        let got = read(root.path());
        let devices: Vec<&str> = got.iter().filter_map(|r| r.strip_suffix(" busy_ms 1")).collect();
        assert_eq!(devices, ["sda", "nvme0n1", "dm-0", "loop1"]);
    }

    #[test]
    fn a_count_in_flight_below_zero_is_left_out_and_no_more() {
        for bad in ["-1", "4294967295"] {
            let text = format!("   8   0 sda 5 0 1 1 0 0 0 0 {bad} 1 7\n\n");
            let root = fake::root(&[("proc/diskstats", &text)]);
            let got = read(root.path());
            assert_eq!(got.len(), 8, "{bad}");
            assert_eq!(got.last().map(String::as_str), Some("sda queue_ms 7"));
        }
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::cut_anywhere("proc/diskstats", OLD, read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
