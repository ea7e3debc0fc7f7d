//! What this process's control groups let it have, of version 1 and 2: time that was taken away by a CPU quota, memory, I/O and kills
//! (`Documentation/admin-guide/cgroup-v2.rst`, `Documentation/scheduler/sched-bwc.rst`).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::Sink;
use crate::agent::cgroup;
use crate::agent::host::{self, Census};
use crate::vocab::event::SampleKind::{Counter, Gauge};
use crate::vocab::unit::Unit;

/// The files that are read, innermost group first.
struct Files {
    /// Of the group with the least quota, as that one is throttled first; of this process's own when none has one.
    cpu: Option<PathBuf>,
    memory: Option<PathBuf>,
    kills: Option<PathBuf>,
    io: Option<PathBuf>,
}

pub(super) struct Sampler {
    root: PathBuf,
    files: Census<Files>,
    names: BTreeMap<String, String>,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), files: Census::new(), names: BTreeMap::new() }
    }
}

/// The name of the block device that a control group calls `8:0`.
fn named(root: &Path, number: &str) -> String {
    let link = std::fs::read_link(root.join("sys/dev/block").join(number)).ok();
    let name = link.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    name.map_or_else(|| number.to_owned(), |name| name.replace('!', "/"))
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "cgroup"
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let Some(files) = self.files.of(|| files(&self.root)).first() else { return Ok(()) };
        let read = |path: &Option<PathBuf>| path.as_ref().and_then(|path| host::text(path).ok()).unwrap_or_default();
        put_cpu(into, &read(&files.cpu));
        if let Some(bytes) = files.memory.as_deref().and_then(host::number) {
            into.put("", &[("memory", Gauge, Unit::Bytes, bytes as f64)]);
        }
        if let Some(kills) = cgroup::pairs(&read(&files.kills)).find(|(name, _)| *name == "oom_kill") {
            into.put("", &[("oom_kills", Counter, Unit::Count, kills.1)]);
        }
        let io = read(&files.io);
        for (device, [read, written]) in transfers(&io) {
            let name = self.names.entry(device.to_owned()).or_insert_with(|| named(&self.root, device));
            into.put(
                name,
                &[("read_bytes", Counter, Unit::Bytes, read), ("write_bytes", Counter, Unit::Bytes, written)],
            );
        }
        Ok(())
    }
}

fn files(root: &Path) -> Vec<Files> {
    let first = |controller: &str, names: &[&str]| {
        let groups = cgroup::groups(root, controller).unwrap_or_default();
        groups.iter().flat_map(|group| names.iter().map(|name| group.join(name))).find(|path| path.is_file())
    };
    let tightest = cgroup::tightest(root).map(|group| group.join("cpu.stat"));
    let files = Files {
        cpu: tightest.or_else(|| first("cpu", &["cpu.stat"])),
        memory: first("memory", &["memory.current", "memory.usage_in_bytes"]),
        kills: first("memory", &["memory.events", "memory.oom_control"]),
        io: first("io", &["io.stat"]).or_else(|| first("blkio", &["blkio.throttle.io_service_bytes"])),
    };
    vec![files]
}

fn put_cpu(into: &mut Sink, stat: &str) {
    for (name, value) in cgroup::pairs(stat) {
        let reading = match name {
            "nr_periods" => ("periods", Counter, Unit::Count, value),
            "nr_throttled" => ("throttled_periods", Counter, Unit::Count, value),
            "throttled_usec" => ("throttled_us", Counter, Unit::Microseconds, value),
            // Version 1 counts nanoseconds.
            "throttled_time" => ("throttled_us", Counter, Unit::Microseconds, (value / 1e3).floor()),
            _ => continue,
        };
        into.put("", &[reading]);
    }
}

/// Bytes read and written, by the number of the device.
fn transfers(text: &str) -> BTreeMap<&str, [f64; 2]> {
    let mut found: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for line in cgroup::whole_lines(text) {
        let mut device = None;
        let mut words = line.split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            if let Some((name, number)) = word.split_once('=') {
                let place = usize::from(name == "wbytes");
                if let (Some(device), Ok(bytes), "rbytes" | "wbytes") = (device, number.parse::<u64>(), name) {
                    found.entry(device).or_insert([f64::NAN; 2])[place] = bytes as f64;
                }
            } else if let (Some(device), "Read" | "Write", Some(number)) = (device, word, words.peek()) {
                let place = usize::from(word == "Write");
                if let Ok(bytes) = number.parse::<u64>() {
                    found.entry(device).or_insert([f64::NAN; 2])[place] = bytes as f64;
                }
            } else if word.split_once(':').is_some_and(|(major, minor)| both_numbers(major, minor)) {
                // Some kernels print the number of a device without figures before that of the next, on one line.
                device = Some(word);
            }
        }
    }
    found
}

fn both_numbers(major: &str, minor: &str) -> bool {
    major.parse::<u32>().is_ok() && minor.parse::<u32>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn the_group_with_the_least_quota_tells_of_throttling() {
        let root = fake::root(&[
            ("proc/self/cgroup", "0::/pod/box\n"),
            ("sys/fs/cgroup/pod/cpu.max", "20000 100000\n"),
            ("sys/fs/cgroup/pod/cpu.stat", "usage_usec 9\nnr_periods 100\nnr_throttled 40\nthrottled_usec 5000\n"),
            ("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/pod/box/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n"),
            ("sys/fs/cgroup/pod/box/memory.current", "4096\n"),
            ("sys/fs/cgroup/pod/box/memory.events", "low 0\noom 3\noom_kill 2\n"),
            ("sys/fs/cgroup/pod/io.stat", "8:0 8:16 rbytes=5 wbytes=6 rios=1\n253:1 rios=1\n"),
        ]);
        let expected = [
            " periods 100",
            " throttled_periods 40",
            " throttled_us 5000",
            " memory 4096",
            " oom_kills 2",
            "8:16 read_bytes 5",
            "8:16 write_bytes 6",
        ];
        assert_eq!(read(root.path()), expected);
    }

    #[test]
    fn version_one_says_it_in_other_files_and_units() {
        let root = fake::root(&[
            ("proc/self/cgroup", "4:memory:/box\n3:blkio:/\n2:cpu,cpuacct:/box\n"),
            ("sys/fs/cgroup/cpu,cpuacct/box/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_time 2500999\n"),
            ("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "8192\n"),
            ("sys/fs/cgroup/memory/box/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"),
            (
                "sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes",
                "8:0 Read 11\n8:0 Write 12\n8:0 Sync 3\nTotal 23\n",
            ),
            ("sys/devices/x", ""),
        ]);
        std::fs::create_dir_all(root.path().join("sys/dev/block")).unwrap();
        std::os::unix::fs::symlink("../../devices/pci/block/sda", root.path().join("sys/dev/block/8:0")).unwrap();
        let expected = [
            " periods 7",
            " throttled_periods 3",
            " throttled_us 2500",
            " memory 8192",
            " oom_kills 1",
            "sda read_bytes 11",
            "sda write_bytes 12",
        ];
        assert_eq!(read(root.path()), expected);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        let within = |path: &'static str, text: &str| {
            fake::cut_anywhere(path, text, |root| {
                fake::put(root, "proc/self/cgroup", "0::/\n1:blkio:/\n");
                read(root)
            });
        };
        within("sys/fs/cgroup/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_usec 2500999\n");
        within("sys/fs/cgroup/io.stat", "8:0 8:16 rbytes=5 wbytes=6 rios=1\n");
        within("sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes", "8:0 Read 11\n8:0 Write 12\n");
        within("sys/fs/cgroup/memory.events", "oom_kill 2\n");
        fake::mangle("proc/self/cgroup", "4:memory:/box\n0::/\n", read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
