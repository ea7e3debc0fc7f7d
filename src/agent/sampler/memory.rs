//! Memory and swap, from `/proc/meminfo` and `/proc/vmstat` (`Documentation/filesystems/proc.rst`).

use std::io;
use std::path::Path;

use super::Sink;
use crate::agent::host::{Source, columns};
use crate::vocab::event::SampleKind::{Counter, Gauge};
use crate::vocab::unit::Unit;

/// The kernel's names in `meminfo`, and ours; the kernel counts KiB and calls them kB.
const GAUGES: [(&str, &str); 8] = [
    ("MemTotal", "total"),
    ("MemFree", "free"),
    ("MemAvailable", "available"),
    ("Cached", "cached"),
    ("Dirty", "dirty"),
    ("Writeback", "writeback"),
    ("SwapTotal", "swap_total"),
    ("SwapFree", "swap_free"),
];

pub(super) struct Sampler {
    meminfo: Source,
    vmstat: Source,
    page: f64,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            meminfo: Source::new(root, "proc/meminfo"),
            vmstat: Source::new(root, "proc/vmstat"),
            page: rustix::param::page_size() as f64,
        }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "memory"
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        for line in self.meminfo.read()?.into_iter().flatten() {
            let Some((name, rest)) = line.split_once(':') else { continue };
            let Some((_, field)) = GAUGES.iter().find(|(theirs, _)| *theirs == name.trim()) else { continue };
            let ([kib], _) = columns::<1>(rest);
            into.put("", &[(field, Gauge, Unit::Bytes, kib * 1024.0)]);
        }
        for line in self.vmstat.read().ok().flatten().into_iter().flatten() {
            let Some((name, rest)) = line.split_once(' ') else { continue };
            let (field, kind, unit, factor) = match name {
                "pswpin" => ("swap_in", Counter, Unit::Bytes, self.page),
                "pswpout" => ("swap_out", Counter, Unit::Bytes, self.page),
                "oom_kill" => ("oom_kills", Counter, Unit::Count, 1.0),
                // Where writers begin to be held back, and where the kernel begins to write by itself: what `vm.dirty_*` come to.
                "nr_dirty_threshold" => ("dirty_limit", Gauge, Unit::Bytes, self.page),
                "nr_dirty_background_threshold" => ("dirty_background", Gauge, Unit::Bytes, self.page),
                _ => continue,
            };
            let ([count], _) = columns::<1>(rest);
            into.put("", &[(field, kind, unit, count * factor)]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const MEMINFO: &str = "MemTotal:       2000 kB\nMemFree:1000 kB\nBuffers:           9 kB\nCached:           70 kB\n\
                           SwapCached:      3 kB\nDirty:             2 kB\nWriteback:         x kB\nWritebackTmp:      5 kB\n\
                           SwapTotal:       0 kB\nHugePages_Total:    0\n";
    const VMSTAT: &str = "nr_free_pages 5\npswpin 2\npswpout 3\npswpin\noom_kill 1\nnr_dirty_threshold 50\nnr_dirty_background_threshold 25\n";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn fields_are_taken_by_their_whole_name_and_absent_ones_are_not_put() {
        let root = fake::root(&[("proc/meminfo", MEMINFO), ("proc/vmstat", VMSTAT)]);
        let page = rustix::param::page_size();
        let expected = [
            " total 2048000".to_owned(),
            " free 1024000".to_owned(),
            " cached 71680".to_owned(),
            " dirty 2048".to_owned(),
            " swap_total 0".to_owned(),
            format!(" swap_in {}", 2 * page),
            format!(" swap_out {}", 3 * page),
            " oom_kills 1".to_owned(),
            format!(" dirty_limit {}", 50 * page),
            format!(" dirty_background {}", 25 * page),
        ];
        assert_eq!(read(root.path()), expected);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::cut_anywhere("proc/meminfo", MEMINFO, read);
        fake::cut_anywhere("proc/vmstat", VMSTAT, read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
