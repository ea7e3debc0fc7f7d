//! What a node is, and the conditions that may change under a run.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

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

/// Something about a node that could perhaps not be read, and then why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    /// What it is.
    Is(String),
    /// It exists, and this user may not read it.
    NeedsRoot,
    /// This node has none.
    NotPresent,
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Is(text) => text,
            Self::NeedsRoot => "needs root",
            Self::NotPresent => "not present",
        })
    }
}

/// What a node is made of, in a first form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Block devices that are no partition, loop or RAM disk.
    pub disks: Vec<DiskItem>,
    /// Network interfaces other than loopback.
    pub nics: Vec<NicItem>,
}

/// One block device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiskItem {
    /// Kernel name: `vda`.
    pub name: String,
    /// Model.
    pub model: Fact,
    /// Bytes.
    pub size: u64,
    /// Spinning, as the kernel believes.
    pub rotational: Option<bool>,
}

/// One network interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NicItem {
    /// Kernel name: `eth0`.
    pub name: String,
    /// Link speed in Mb/s; none when the driver does not know (−1, 0, an error).
    pub speed: Option<u32>,
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
