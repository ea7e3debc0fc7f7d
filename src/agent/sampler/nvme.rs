//! NVMe controllers: temperature, whether they answer, resets; from `/sys/class/nvme` (`Documentation/ABI/testing/sysfs-nvme`).
//!
//! The temperature is a command to the drive, and a drive that is being reset does not answer: this source is read aside.

use std::io;
use std::path::{Path, PathBuf};

use super::Sink;
use super::thermal::celsius;
use crate::agent::host::{self, Census};
use crate::vocab::event::SampleKind::{Counter, Gauge};
use crate::vocab::unit::Unit;

struct Controller {
    name: String,
    directory: PathBuf,
    hwmon: Option<PathBuf>,
}

pub(super) struct Sampler {
    class: PathBuf,
    controllers: Census<Controller>,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self { class: root.join("sys/class/nvme"), controllers: Census::new() }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "nvme"
    }

    fn every(&self) -> u32 {
        8
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        for controller in self.controllers.of(|| search(&self.class)) {
            let Some(state) = host::value(&controller.directory.join("state")) else { continue };
            let mut readings = vec![("live", Gauge, Unit::Count, f64::from(u8::from(state == "live")))];
            // A file of the newest kernels.
            if let Some(resets) = host::number(&controller.directory.join("reset_count")).filter(|n| *n >= 0) {
                readings.push(("resets", Counter, Unit::Count, resets as f64));
            }
            if let Some(hwmon) = &controller.hwmon {
                let temperature = |file: &str| celsius(&hwmon.join(file));
                readings.extend(temperature("temp1_input").map(|t| ("celsius", Gauge, Unit::Celsius, t)));
                readings.extend(temperature("temp1_crit").map(|t| ("limit", Gauge, Unit::Celsius, t)));
            }
            into.put(&controller.name, &readings);
        }
        Ok(())
    }
}

fn search(class: &Path) -> Vec<Controller> {
    let names = host::names(class).into_iter().filter(|name| {
        name.strip_prefix("nvme").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    });
    let controller = |name: String| {
        let directory = class.join(&name);
        // The sensors lie in the controller itself, on some kernels in its PCI device.
        let places = [directory.clone(), directory.join("hwmon"), directory.join("device/hwmon")];
        let hwmon = places.iter().find_map(|place| {
            let names = host::names(place).into_iter();
            names.filter(|n| n.starts_with("hwmon")).map(|n| place.join(n)).find(|p| p.join("temp1_input").exists())
        });
        Controller { name, directory, hwmon }
    };
    names.map(controller).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn the_sensors_are_found_in_either_place_and_a_dead_controller_is_told() {
        let root = fake::root(&[
            ("sys/class/nvme/nvme0/state", "live\n"),
            ("sys/class/nvme/nvme0/reset_count", "2\n"),
            ("sys/class/nvme/nvme0/hwmon3/temp1_input", "41850\n"),
            ("sys/class/nvme/nvme0/hwmon3/temp1_crit", "84850\n"),
            ("sys/class/nvme/nvme1/state", "resetting\n"),
            ("sys/class/nvme/nvme1/device/hwmon/hwmon4/temp1_input", "39000\n"),
            ("sys/class/nvme/nvme-fabrics/state", "live\n"),
        ]);
        let expected = [
            "nvme0 live 1",
            "nvme0 resets 2",
            "nvme0 celsius 41.85",
            "nvme0 limit 84.85",
            "nvme1 live 0",
            "nvme1 celsius 39",
        ];
        assert_eq!(read(root.path()), expected);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::mangle("sys/class/nvme/nvme0/state", "live\n", read);
        fake::mangle("sys/class/nvme/nvme0/hwmon0/temp1_input", "41850\n", |root| {
            fake::put(root, "sys/class/nvme/nvme0/state", "live\n");
            read(root)
        });
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
