//! Temperatures, how often the CPUs were slowed down for heat or power, and energy: from `/sys/class/thermal`, `/sys/class/hwmon`
//! (`Documentation/hwmon/sysfs-interface.rst`), `thermal_throttle` of each CPU (`Documentation/ABI/testing/sysfs-devices-system-cpu`)
//! and `/sys/class/powercap` (`Documentation/power/powercap/powercap.rst`).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::Sink;
use crate::agent::host::{self, Census};
use crate::vocab::event::SampleKind::{Counter, Gauge};
use crate::vocab::text::neutral;
use crate::vocab::unit::Unit;

/// Sensors that are not connected print values far outside.
const PLAUSIBLE: std::ops::Range<f64> = -60.0..200.0;

/// What a reading of the thermal files asks for.
enum Item {
    /// A sensor and where its value is; the cores of a CPU share a name, and the hottest counts.
    Sensor(String, PathBuf),
    /// The directory of a CPU's throttle counters, and its package.
    Throttle(PathBuf, i64),
    /// A domain that counts energy.
    Energy(String, PathBuf),
}

pub(super) struct Sampler {
    root: PathBuf,
    items: Census<Item>,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), items: Census::new() }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "thermal"
    }

    fn every(&self) -> u32 {
        4
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let search = || {
            let mut found = zones(&self.root.join("sys/class/thermal"));
            found.extend(sensors(&self.root.join("sys/class/hwmon")));
            found.extend(throttles(&self.root.join("sys/devices/system/cpu")));
            found.extend(energies(&self.root.join("sys/class/powercap")));
            found
        };
        let mut hottest: BTreeMap<&str, f64> = BTreeMap::new();
        let mut throttled = Throttled::default();
        for item in self.items.of(search) {
            match item {
                Item::Sensor(name, path) => {
                    if let Some(celsius) = celsius(path) {
                        let most = hottest.entry(name).or_insert(celsius);
                        *most = most.max(celsius);
                    }
                }
                Item::Throttle(directory, package) => throttled.add(directory, *package),
                Item::Energy(name, path) => {
                    if let Some(microjoules) = host::number(path).filter(|n| *n >= 0) {
                        into.put(name, &[("energy_uj", Counter, Unit::Count, microjoules as f64)]);
                    }
                }
            }
        }
        for (name, celsius) in hottest {
            into.put(name, &[("celsius", Gauge, Unit::Celsius, celsius)]);
        }
        throttled.put(into);
        Ok(())
    }
}

/// Throttle counters of the CPUs, added up.
#[derive(Default)]
struct Throttled {
    cores: Option<f64>,
    packages: BTreeMap<i64, [f64; 2]>,
}

impl Throttled {
    fn add(&mut self, directory: &Path, package: i64) {
        let read = |file: &str| host::number(&directory.join(file)).filter(|n| *n >= 0).map(|n| n as f64);
        if let Some(count) = read("core_throttle_count") {
            *self.cores.get_or_insert(0.0) += count;
        }
        // Every CPU of a package counts the same events, though one that was away misses some.
        let files = ["package_throttle_count", "package_power_limit_count"];
        for (place, count) in files.into_iter().enumerate().filter_map(|(place, file)| Some((place, read(file)?))) {
            let counts = self.packages.entry(package).or_insert([f64::NAN; 2]);
            counts[place] = counts[place].max(count);
        }
    }

    fn put(self, into: &mut Sink) {
        if let Some(cores) = self.cores {
            into.put("", &[("core_throttles", Counter, Unit::Count, cores)]);
        }
        for (package, [heat, power]) in self.packages {
            let readings = [("throttles", Counter, Unit::Count, heat), ("power_limits", Counter, Unit::Count, power)];
            into.put(&format!("package{package}"), &readings);
        }
    }
}

/// A temperature that the kernel prints in thousandths of a degree.
pub(super) fn celsius(path: &Path) -> Option<f64> {
    let celsius = host::number(path)? as f64 / 1e3;
    PLAUSIBLE.contains(&celsius).then_some(celsius)
}

/// A name without what would break a device's name apart.
fn plain(name: &str) -> String {
    neutral(name).replace(|c: char| c.is_whitespace() || c == '/', "_")
}

fn zones(class: &Path) -> Vec<Item> {
    let names = host::names(class).into_iter().filter(|name| name.starts_with("thermal_zone"));
    let zone = |name: String| {
        let directory = class.join(&name);
        let kind = plain(&host::value(&directory.join("type")).unwrap_or_default());
        Item::Sensor(format!("{}:{kind}", name.replace("thermal_", "")), directory.join("temp"))
    };
    names.map(zone).collect()
}

fn sensors(class: &Path) -> Vec<Item> {
    let mut found = Vec::new();
    for entry in host::names(class) {
        let directory = class.join(&entry);
        let Some(chip) = host::value(&directory.join("name")) else { continue };
        // The drives have a source of their own.
        if chip == "nvme" {
            continue;
        }
        let device = std::fs::read_link(directory.join("device")).ok();
        let device = device.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or(&entry);
        let chip = format!("{}@{}", plain(&chip), plain(device));
        for file in host::names(&directory) {
            let Some(sensor) = file.strip_suffix("_input").filter(|sensor| sensor.starts_with("temp")) else {
                continue;
            };
            let label = host::value(&directory.join(format!("{sensor}_label")));
            let label = label.map_or_else(|| sensor.to_owned(), |label| plain(&label));
            let core = label.strip_prefix("Core_").is_some_and(|n| n.parse::<u32>().is_ok());
            let label = if core { "hottest_core" } else { label.as_str() };
            found.push(Item::Sensor(format!("{chip}:{label}"), directory.join(&file)));
        }
    }
    found
}

fn throttles(cpus: &Path) -> Vec<Item> {
    let numbered = |name: &String| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok());
    let directories = host::names(cpus).into_iter().filter(numbered).map(|name| cpus.join(name));
    let with = directories.filter(|cpu| cpu.join("thermal_throttle").is_dir());
    with.map(|cpu| {
        let package = host::number(&cpu.join("topology/physical_package_id")).unwrap_or(0);
        Item::Throttle(cpu.join("thermal_throttle"), package)
    })
    .collect()
}

/// Domains of the first rank (packages), as their parts are counted in them.
fn energies(class: &Path) -> Vec<Item> {
    let whole = |name: &String| name.matches(':').count() == 1;
    let domain = |name: String| {
        let directory = class.join(&name);
        let title = host::value(&directory.join("name"))?;
        Some(Item::Energy(format!("{}:{}", plain(&name), plain(&title)), directory.join("energy_uj")))
    };
    host::names(class).into_iter().filter(whole).filter_map(domain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn sensors_are_named_by_chip_and_label_and_cores_are_one() {
        let root = fake::root(&[
            ("sys/class/thermal/thermal_zone2/type", "x86_pkg_temp\n"),
            ("sys/class/thermal/thermal_zone2/temp", "45000\n"),
            ("sys/class/thermal/cooling_device0/type", "Processor\n"),
            ("sys/class/hwmon/hwmon1/name", "coretemp\n"),
            ("sys/class/hwmon/hwmon1/temp1_input", "51000\n"),
            ("sys/class/hwmon/hwmon1/temp1_label", "Package id 0\n"),
            ("sys/class/hwmon/hwmon1/temp2_input", "47000\n"),
            ("sys/class/hwmon/hwmon1/temp2_label", "Core 0\n"),
            ("sys/class/hwmon/hwmon1/temp3_input", "49000\n"),
            ("sys/class/hwmon/hwmon1/temp3_label", "Core 4\n"),
            ("sys/class/hwmon/hwmon2/name", "nct6775\n"),
            ("sys/class/hwmon/hwmon2/temp7_input", "-128000\n"),
            ("sys/class/hwmon/hwmon2/temp8_input", "31500\n"),
            ("sys/class/hwmon/hwmon3/name", "nvme\n"),
            ("sys/class/hwmon/hwmon3/temp1_input", "40000\n"),
            ("sys/devices/platform/coretemp.0/x", ""),
        ]);
        std::os::unix::fs::symlink("../../../coretemp.0", root.path().join("sys/class/hwmon/hwmon1/device")).unwrap();
        let expected = [
            "coretemp@coretemp.0:Package_id_0 celsius 51",
            "coretemp@coretemp.0:hottest_core celsius 49",
            "nct6775@hwmon2:temp8 celsius 31.5",
            "zone2:x86_pkg_temp celsius 45",
        ];
        assert_eq!(read(root.path()), expected);
    }

    #[test]
    fn throttles_add_up_over_the_cores_and_not_within_a_package() {
        let cpu = |n: u32, file: &str| format!("sys/devices/system/cpu/cpu{n}/{file}");
        let root = fake::root(&[
            (&cpu(0, "thermal_throttle/core_throttle_count"), "3\n"),
            (&cpu(0, "thermal_throttle/package_throttle_count"), "9\n"),
            (&cpu(0, "topology/physical_package_id"), "0\n"),
            (&cpu(1, "thermal_throttle/core_throttle_count"), "4\n"),
            (&cpu(1, "thermal_throttle/package_throttle_count"), "8\n"),
            (&cpu(1, "topology/physical_package_id"), "0\n"),
            (&cpu(7, "thermal_throttle/package_throttle_count"), "1\n"),
            (&cpu(7, "thermal_throttle/package_power_limit_count"), "6\n"),
            (&cpu(7, "topology/physical_package_id"), "1\n"),
            ("sys/class/powercap/intel-rapl:0/name", "package-0\n"),
            ("sys/class/powercap/intel-rapl:0/energy_uj", "123456789\n"),
            ("sys/class/powercap/intel-rapl:0:1/name", "dram\n"),
            ("sys/class/powercap/intel-rapl:0:1/energy_uj", "5\n"),
        ]);
        let expected = [
            "intel-rapl:0:package-0 energy_uj 123456789",
            " core_throttles 7",
            "package0 throttles 9",
            "package1 throttles 1",
            "package1 power_limits 6",
        ];
        assert_eq!(read(root.path()), expected);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::mangle("sys/class/thermal/thermal_zone0/temp", "45000\n", read);
        fake::mangle("sys/class/thermal/thermal_zone0/type", "x86 temp\n", |root| {
            fake::put(root, "sys/class/thermal/thermal_zone0/temp", "45000\n");
            read(root)
        });
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
