//! Memory errors that the memory controllers corrected or could not, from `sys/devices/system/edac/mc`
//! (`Documentation/admin-guide/ras.rst`).

use std::io;
use std::path::{Path, PathBuf};

use super::Sink;
use crate::agent::host::{self, Census};
use crate::vocab::event::SampleKind::Counter;
use crate::vocab::unit::Unit;

/// A controller or a module, and where its two counters are.
struct Counted {
    device: String,
    corrected: PathBuf,
    uncorrected: PathBuf,
}

pub(super) struct Sampler {
    controllers: PathBuf,
    counted: Census<Counted>,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self { controllers: root.join("sys/devices/system/edac/mc"), counted: Census::new() }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "edac"
    }

    fn every(&self) -> u32 {
        8
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        for counted in self.counted.of(|| search(&self.controllers)) {
            for (field, path) in [("corrected", &counted.corrected), ("uncorrected", &counted.uncorrected)] {
                if let Some(count) = host::number(path).filter(|count| *count >= 0) {
                    into.put(&counted.device, &[(field, Counter, Unit::Count, count as f64)]);
                }
            }
        }
        Ok(())
    }
}

fn search(controllers: &Path) -> Vec<Counted> {
    let mut found = Vec::new();
    for name in host::names(controllers).into_iter().filter(|name| numbered(name, "mc")) {
        let controller = controllers.join(&name);
        // Newer kernels name modules, older ones ranks.
        for part in host::names(&controller).into_iter().filter(|n| numbered(n, "dimm") || numbered(n, "rank")) {
            found.push(Counted {
                device: format!("{name}.{part}"),
                corrected: controller.join(&part).join("dimm_ce_count"),
                uncorrected: controller.join(&part).join("dimm_ue_count"),
            });
        }
        let (corrected, uncorrected) = (controller.join("ce_count"), controller.join("ue_count"));
        found.push(Counted { device: name, corrected, uncorrected });
    }
    found
}

fn numbered(name: &str, stem: &str) -> bool {
    name.strip_prefix(stem).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const MC: &str = "sys/devices/system/edac/mc";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn controllers_and_modules_are_read_and_what_else_lies_there_is_not() {
        let root = fake::root(&[
            (&format!("{MC}/mc0/ce_count"), "12\n"),
            (&format!("{MC}/mc0/ue_count"), "1\n"),
            (&format!("{MC}/mc0/dimm3/dimm_ce_count"), "12\n"),
            (&format!("{MC}/mc0/dimm3/dimm_ue_count"), "-1\n"),
            (&format!("{MC}/mc0/rank1/dimm_ce_count"), "0\n"),
            (&format!("{MC}/mc0/csrow0/ce_count"), "12\n"),
            (&format!("{MC}/power/ce_count"), "9\n"),
        ]);
        let expected = ["mc0.dimm3 corrected 12", "mc0.rank1 corrected 0", "mc0 corrected 12", "mc0 uncorrected 1"];
        assert_eq!(read(root.path()), expected);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::mangle(&format!("{MC}/mc0/ce_count"), "12\n", read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
