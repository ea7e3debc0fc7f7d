//! What a node is, and the conditions that may change under a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use super::fact::Fact;
use super::hardware::{Adapter, Array, Modules, Processor};
pub use super::hardware::{DiskItem, NicItem};

/// The version of the record format that this build writes.
pub const FORMAT: u32 = 1;

/// Which build of this program speaks, and the version of its records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The package's version.
    pub version: String,
    /// The record format it writes; two ends with different formats do not talk.
    pub format: u32,
}

impl Build {
    /// This build.
    #[must_use]
    pub fn this() -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), format: FORMAT }
    }
}

/// What a node is made of. Facts below are [`Fact`]s; the plain fields are zero or `unknown` when they could not be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Inventory {
    /// Host name.
    pub host: String,
    /// Serial number of the chassis.
    pub serial: Fact,
    /// Vendor and model of the machine.
    pub product: Fact,
    /// CPU model.
    pub cpu: String,
    /// CPUs the kernel runs on.
    pub cpus: u32,
    /// CPUs this process may use.
    pub usable_cpus: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Kernel release.
    pub kernel: String,
    /// Distribution.
    pub system: String,
    /// Hypervisor, when there is one.
    pub virtualisation: Fact,
    /// Board, firmware and what else the machine is.
    pub machine: Machine,
    /// The processors.
    pub processor: Processor,
    /// The memory modules.
    pub modules: Modules,
    /// Controllers of storage on the PCI bus.
    pub adapters: Vec<Adapter>,
    /// Block devices that are no partition, loop or RAM disk.
    pub disks: Vec<DiskItem>,
    /// Software RAIDs.
    pub arrays: Vec<Array>,
    /// Network interfaces other than loopback.
    pub nics: Vec<NicItem>,
    /// Where two sources disagree, with their names.
    pub notes: Vec<String>,
}

/// Board and firmware of a node, and the choices of its kernel that stay for as long as it runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// UUID of the machine.
    pub uuid: Fact,
    /// Vendor and model of the board.
    pub board: Fact,
    /// Maker of the BIOS.
    pub bios_vendor: Fact,
    /// Version of the BIOS.
    pub bios_version: Fact,
    /// Date of the BIOS, as its maker writes dates.
    pub bios_date: Fact,
    /// `rack mount`, `blade`, `desktop`, …
    pub chassis: Fact,
    /// Bytes of a page.
    pub page: Fact<u32>,
    /// What the kernel takes the time from.
    pub clocksource: Fact,
}

/// Settings that confound a comparison, by name (`governor`, `clocksource`, `boot_id`, …); absent names could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conditions(pub BTreeMap<String, String>);

/// One condition that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its name.
    pub what: String,
    /// The value until now; none when it was not readable.
    pub before: Option<String>,
    /// The value now; none when it is not readable any more.
    pub after: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_inventory_says_what_it_did_not_record() {
        let old = r#"{"host":"a","serial":"NotPresent","product":{"Is":"R1"},"cpu":"C","cpus":1,"usable_cpus":2,"memory":3,
            "kernel":"6","system":"s","virtualisation":"NeedsRoot",
            "disks":[{"name":"vda","model":"NotPresent","size":5,"rotational":null}],"nics":[{"name":"eth0","speed":null}]}"#;
        let read: Inventory = serde_json::from_str(old).unwrap();
        assert_eq!((read.disks[0].size, read.disks[0].serial.reason()), (5, "not recorded"));
        assert_eq!((read.nics[0].mtu.reason(), read.modules.fitted.reason()), ("not recorded", "not recorded"));
        let again: Inventory = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
        assert_eq!(again, read);
    }
}
