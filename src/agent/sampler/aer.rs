//! Errors of the PCI Express links, from `aer_dev_*` of each device (`Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats`).

use std::io;
use std::path::{Path, PathBuf};

use super::Sink;
use crate::agent::host::{self, Census};
use crate::vocab::event::SampleKind::Counter;
use crate::vocab::unit::Unit;

/// The kernel's files, their line of the sum, and our fields.
const FILES: [(&str, &str, &str); 3] = [
    ("aer_dev_correctable", "TOTAL_ERR_COR", "correctable"),
    ("aer_dev_nonfatal", "TOTAL_ERR_NONFATAL", "nonfatal"),
    ("aer_dev_fatal", "TOTAL_ERR_FATAL", "fatal"),
];

pub(super) struct Sampler {
    bus: PathBuf,
    devices: Census<(String, PathBuf)>,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self { bus: root.join("sys/bus/pci/devices"), devices: Census::new() }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "aer"
    }

    fn every(&self) -> u32 {
        8
    }

    /// The sum of all devices, and those devices that had an error: a server has hundreds, and nearly all are silent for ever.
    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let mut sums = [0.0; FILES.len()];
        let devices = self.devices.of(|| search(&self.bus));
        for (address, directory) in devices {
            for ((file, line, field), sum) in FILES.iter().zip(&mut sums) {
                let Some(count) = total(&directory.join(file), line) else { continue };
                *sum += count;
                if count > 0.0 {
                    into.put(address, &[(field, Counter, Unit::Count, count)]);
                }
            }
        }
        if !devices.is_empty() {
            into.put("", &[0, 1, 2].map(|n| (FILES[n].2, Counter, Unit::Count, sums[n])));
        }
        Ok(())
    }
}

fn search(bus: &Path) -> Vec<(String, PathBuf)> {
    let devices = host::names(bus).into_iter().map(|name| (bus.join(&name), name));
    devices.filter(|(path, _)| path.join(FILES[0].0).exists()).map(|(path, name)| (name, path)).collect()
}

fn total(file: &Path, line: &str) -> Option<f64> {
    let text = host::text(file).ok()?;
    // Only a number that ends with its line is whole.
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let number = lines.find_map(|l| l.strip_prefix(line)?.strip_prefix(' '))?;
    Some(number.trim().parse::<u64>().ok()? as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const BUS: &str = "sys/bus/pci/devices";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn all_devices_add_up_and_those_with_errors_are_named() {
        let root = fake::root(&[
            (&format!("{BUS}/0000:00:01.0/aer_dev_correctable"), "RxErr 4\nBadTLP 1\nTOTAL_ERR_COR 5\n"),
            (&format!("{BUS}/0000:00:01.0/aer_dev_fatal"), "Undefined 0\nTOTAL_ERR_FATAL 0\n"),
            (&format!("{BUS}/0000:00:02.0/aer_dev_correctable"), "RxErr 0\nTOTAL_ERR_COR 0\n"),
            (&format!("{BUS}/0000:00:03.0/vendor"), "0x8086\n"),
        ]);
        assert_eq!(read(root.path()), ["0000:00:01.0 correctable 5", " correctable 5", " nonfatal 0", " fatal 0"]);
        assert!(read(fake::root(&[(&format!("{BUS}/0000:00:03.0/vendor"), "0x8086\n")]).path()).is_empty());
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::mangle(&format!("{BUS}/0000:00:01.0/aer_dev_correctable"), "RxErr 4\nTOTAL_ERR_COR 5\n", read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
