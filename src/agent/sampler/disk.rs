//! Counters of whole block devices, from `/proc/diskstats` (`Documentation/admin-guide/iostats.rst`).
//!
//! Partitions are left out, as their disk counts the same I/O; so are the hidden paths of a multipath NVMe device, and loop and
//! RAM disks that were never used. Lines of any length from 14 columns on are read by position.

use std::io;
use std::path::{Path, PathBuf};

use super::Sink;
use super::known::{Known, identity};
use crate::agent::block::{self, Class};
use crate::agent::host::{self, Source, columns};
use crate::vocab::event::SampleKind::{self, Counter, Counter32, Gauge};
use crate::vocab::unit::Unit;

/// Counters of a full line; partitions of 2.6 kernels have four.
const COUNTERS: usize = 11;
const OLD_PARTITION: usize = 4;

/// More requests than this in flight are a counter that fell below zero.
const WRAPPED: f64 = 2_147_483_648.0;

/// What is known of a device besides its counters.
struct Disk {
    class: Class,
    leaf: bool,
    /// What tells it from another one that has its name and number.
    serial: u64,
}

pub(super) struct Sampler {
    root: PathBuf,
    diskstats: Source,
    disks: Known<Disk>,
    /// Kind of the fields that are machine words in the kernel.
    word: SampleKind,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            diskstats: Source::new(root, "proc/diskstats"),
            disks: Known::new(),
            word: if host::narrow(root) { Counter32 } else { Counter },
        }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "disk"
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let Some(lines) = self.diskstats.read()? else { return Ok(()) };
        if into.wants_all() {
            self.disks.begin();
        }
        let mut damaged = false;
        for line in lines.filter(|line| !line.trim_ascii().is_empty()) {
            let Some((number, name, rest)) = split(line) else {
                damaged = true;
                continue;
            };
            if !into.wants(name) {
                continue;
            }
            let (counters, found) = columns::<COUNTERS>(rest);
            if found < COUNTERS {
                damaged |= found != OLD_PARTITION;
                continue;
            }
            let work = counters[0] + counters[2] + counters[4] + counters[6];
            let Some(disk) = self.disks.of(name, (number, work), || look(&self.root, name)) else { continue };
            let used = counters[0] > 0.0 || counters[4] > 0.0;
            if disk.class == Class::Whole || disk.class == Class::Spare && used {
                put(into, name, (disk, number), (&counters, self.word));
            }
        }
        if damaged || self.diskstats.torn() {
            into.skip();
        }
        Ok(())
    }
}

fn look(root: &Path, name: &str) -> Disk {
    Disk {
        class: block::class(root, name),
        leaf: block::leaf(root, name),
        serial: identity(block::identity(root, name)),
    }
}

/// Major and minor number, the name behind them, and what follows it.
fn split(line: &str) -> Option<(u64, &str, &str)> {
    let mut rest = line.trim_ascii_start();
    let mut numbers = [0; 2];
    for number in &mut numbers {
        let (word, more) = rest.split_once(' ')?;
        *number = word.parse::<u32>().ok()?;
        rest = more.trim_ascii_start();
    }
    let (name, rest) = rest.split_once(' ')?;
    Some((u64::from(numbers[0]) << 32 | u64::from(numbers[1]), name, rest))
}

fn put(into: &mut Sink, name: &str, (disk, number): (&Disk, u64), (counters, word): (&[f64; COUNTERS], SampleKind)) {
    let [reads, _, read_sectors, read_ms, writes, _, write_sectors, write_ms, in_flight, busy_ms, queue_ms] = *counters;
    let in_flight = if in_flight < WRAPPED { in_flight } else { f64::NAN };
    // The kernel prints its times as `unsigned int`, on 64-bit machines as well.
    into.put_as(
        name,
        disk.serial ^ number,
        &[
            ("reads", word, Unit::Count, reads),
            ("read_sectors", word, Unit::Count, read_sectors),
            ("read_ms", Counter32, Unit::Milliseconds, read_ms),
            ("writes", word, Unit::Count, writes),
            ("write_sectors", word, Unit::Count, write_sectors),
            ("write_ms", Counter32, Unit::Milliseconds, write_ms),
            ("in_flight", Gauge, Unit::Count, in_flight),
            ("busy_ms", Counter32, Unit::Milliseconds, busy_ms),
            ("queue_ms", Counter32, Unit::Milliseconds, queue_ms),
            ("leaf", Gauge, Unit::Count, f64::from(u8::from(disk.leaf))),
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
            ["write_ms 1931", "in_flight 2", "busy_ms 3376", "queue_ms 2370", "leaf 1"].map(|r| format!("hda {r}"))
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
            assert_eq!(got.len(), 9, "{bad}");
            assert_eq!(got[7], "sda queue_ms 7");
        }
    }

    /// The new series and the readings of one more look at the file.
    fn next(sampler: &mut Sampler, sink: &mut Sink) -> (Vec<String>, usize) {
        use crate::agent::sampler::Sampler as _;
        sink.turn_to("disk", None);
        sampler.sample(sink).unwrap();
        sink.finish(std::time::Duration::ZERO);
        let (described, samples) = sink.take();
        (described.into_iter().map(|d| format!("{} {}", d.device, d.field)).collect(), samples.len())
    }

    #[test]
    fn a_name_that_another_disk_takes_has_new_series() {
        let line = |major: u32, reads: u32| format!("   {major}   0 sda {reads} 0 1 1 5 0 5 0 0 1 1\n");
        let root = fake::root(&[("proc/diskstats", &line(8, 9)), ("sys/class/block/sda/diskseq", "4\n")]);
        let (mut sampler, mut sink) = (Sampler::new(root.path()), Sink::default());
        assert_eq!(next(&mut sampler, &mut sink).0.len(), 10);
        fake::put(root.path(), "proc/diskstats", line(8, 10));
        assert_eq!(next(&mut sampler, &mut sink), (vec![], 1));
        fake::put(root.path(), "proc/diskstats", line(65, 11));
        assert_eq!(next(&mut sampler, &mut sink).0.len(), 10, "another number");
        fake::put(root.path(), "proc/diskstats", line(65, 2));
        assert_eq!(next(&mut sampler, &mut sink), (vec![], 1), "a reset of the same disk");
        fake::put(root.path(), "proc/diskstats", line(65, 1));
        fake::put(root.path(), "sys/class/block/sda/diskseq", "5\n");
        assert_eq!(next(&mut sampler, &mut sink).0.len(), 10, "the kernel numbers every disk that it sees");
    }

    #[test]
    fn a_disk_that_is_pulled_is_gone_and_a_torn_file_pulls_none() {
        let line = |name: &str| format!("   8   0 {name} 9 0 1 1 0 0 0 0 0 1 1\n");
        let both = line("sda") + &line("sdb");
        let root = fake::root(&[("proc/diskstats", &both)]);
        let (mut sampler, mut sink) = (Sampler::new(root.path()), Sink::default());
        next(&mut sampler, &mut sink);
        fake::put(root.path(), "proc/diskstats", &both[..both.len() - 4]);
        assert_eq!(next(&mut sampler, &mut sink), (vec![], 0));
        assert_eq!(sink.notes()["disk"].skipped, 1);
        fake::put(root.path(), "proc/diskstats", line("sda"));
        assert_eq!(next(&mut sampler, &mut sink), (vec!["sdb present".to_owned()], 1));
    }

    #[test]
    fn times_are_32_bit_everywhere_and_the_rest_on_small_machines() {
        let kinds = |machine: &str| {
            let text = "   8   0 sda 9 0 1 1 0 0 0 0 0 1 1\n";
            let root = fake::root(&[("proc/diskstats", text), ("proc/sys/kernel/arch", machine)]);
            let mut sink = Sink::default();
            sink.turn_to("disk", None);
            crate::agent::sampler::Sampler::sample(&mut Sampler::new(root.path()), &mut sink).unwrap();
            sink.take().0.into_iter().filter(|d| d.kind == Counter32).map(|d| d.field).collect::<Vec<_>>()
        };
        assert_eq!(kinds("x86_64"), ["read_ms", "write_ms", "busy_ms", "queue_ms"]);
        assert_eq!(kinds("armv7l").len(), 8);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::cut_anywhere("proc/diskstats", OLD, read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
