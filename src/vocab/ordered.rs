//! What was ordered of a node: what the verdict holds its inventory against. Whatever is left out was not ordered, and is not looked at.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::fact::Fact;
use super::hardware::{Controller, DiskItem, Module, NicItem};
use super::node::Inventory;
use super::size::ByteSize;
use super::text::wide;
use super::unit::{Quantity, Unit};

/// What was ordered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ordered {
    /// Vendor and model of the machine hold this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The version of the BIOS is this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bios: Option<String>,
    /// It is no virtual machine.
    #[serde(skip_serializing_if = "std::ops::Not::not", deserialize_with = "wanted")]
    pub bare_metal: bool,
    /// The processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// The memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// The disks, one entry a kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<Disks>,
    /// The network ports, one entry a kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nics: Vec<Nics>,
    /// What RAID controllers show to the system as disks, one entry a kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub raid: Vec<Raid>,
}

/// Something that is ordered or not mentioned: nobody orders a node without error correction.
fn wanted<'de, D: Deserializer<'de>>(given: D) -> Result<bool, D::Error> {
    if bool::deserialize(given)? {
        Ok(true)
    } else {
        Err(D::Error::custom("`false` orders nothing; leave it out, or say true"))
    }
}

/// Processors; the numbers are of all sockets together, and mean at least.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cpu {
    /// The name of the model holds this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<u32>,
    /// Cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// CPUs that the kernel runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
}

/// Memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    /// Bytes in all, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<ByteSize>,
    /// With error correction.
    #[serde(skip_serializing_if = "std::ops::Not::not", deserialize_with = "wanted")]
    pub ecc: bool,
    /// The modules, one entry a kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<Modules>,
}

/// Memory modules of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modules {
    /// How many, at least.
    pub count: u32,
    /// Bytes of each, at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<ByteSize>,
    /// `DDR5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Speed that each runs at, at least, in MT/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<u32>,
}

/// Disks of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disks {
    /// How many, at least.
    pub count: u32,
    /// Vendor and model hold this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Bytes of each, 99 % of it at least: makers round. Decimal and binary units are what they say: 3.84TB are 3.49TiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<ByteSize>,
    /// Revision of the firmware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// How it is attached: `nvme`, `sata`, `sas`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

/// Network ports of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nics {
    /// How many, at least.
    pub count: u32,
    /// Driver, which tells the family of the card: `mlx5_core`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Speed of the link of each, at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<LinkSpeed>,
}

/// Virtual drives of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raid {
    /// How many, at least.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u32,
    /// The model of the controller holds this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    /// `RAID5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The write policy in force: `WB`, `WT`, `AWB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// The speed of a link in Mbit/s; typed as `"25 Gbit/s"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LinkSpeed(pub u32);

impl FromStr for LinkSpeed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no speed of a link; expected one such as 25 Gbit/s");
        let quantity: Quantity = text.parse().map_err(|why| wide(text).map_or_else(wrong, |_| why))?;
        let megabits = quantity.value * 8.0;
        let is_speed = quantity.unit == Unit::MegabytesPerSecond && (1.0..4e9).contains(&megabits);
        if is_speed { Ok(Self(megabits.round() as u32)) } else { Err(wrong()) }
    }
}

impl fmt::Display for LinkSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            mega if mega >= 1000 && mega % 100 == 0 => write!(f, "{} Gbit/s", f64::from(mega) / 1000.0),
            mega => write!(f, "{mega} Mbit/s"),
        }
    }
}

impl TryFrom<String> for LinkSpeed {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<LinkSpeed> for String {
    fn from(speed: LinkSpeed) -> Self {
        speed.to_string()
    }
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

impl Ordered {
    /// What makes no sense in it: the path of the field, and why.
    #[must_use]
    pub fn fault(&self) -> Option<(String, &'static str)> {
        let nothing = "0 is nothing to order; leave it out, or expect at least 1";
        let empty = "an empty text is in everything; leave it out";
        if *self == Self::default() {
            return Some((String::new(), "nothing is ordered in it; leave it out, or say what was ordered"));
        }
        let nothing_of = "nothing is ordered of it; leave it out, or say what was ordered";
        if self.cpu == Some(Cpu::default()) {
            return Some(("cpu".to_owned(), nothing_of));
        }
        if self.memory == Some(Memory::default()) {
            return Some(("memory".to_owned(), nothing_of));
        }
        self.numbers().into_iter().find(|(_, number)| *number == 0).map(|(path, _)| (path, nothing)).or_else(|| {
            self.texts().into_iter().find(|(_, text)| text.trim().is_empty()).map(|(path, _)| (path, empty))
        })
    }

    /// Every number in it, by the path of its field.
    fn numbers(&self) -> Vec<(String, u64)> {
        let mut all = Vec::new();
        let mut put = |path: String, number: Option<u64>| all.extend(number.map(|number| (path, number)));
        if let Some(cpu) = &self.cpu {
            for (name, number) in [("sockets", cpu.sockets), ("cores", cpu.cores), ("threads", cpu.threads)] {
                put(format!("cpu.{name}"), number.map(u64::from));
            }
        }
        if let Some(memory) = &self.memory {
            put("memory.total".to_owned(), memory.total.map(|size| size.0));
            for (i, kind) in memory.modules.iter().enumerate() {
                put(format!("memory.modules[{i}].count"), Some(kind.count.into()));
                put(format!("memory.modules[{i}].size"), kind.size.map(|size| size.0));
                put(format!("memory.modules[{i}].speed"), kind.speed.map(u64::from));
            }
        }
        for (i, kind) in self.disks.iter().enumerate() {
            put(format!("disks[{i}].count"), Some(kind.count.into()));
            put(format!("disks[{i}].size"), kind.size.map(|size| size.0));
        }
        self.nics.iter().enumerate().for_each(|(i, kind)| put(format!("nics[{i}].count"), Some(kind.count.into())));
        self.raid.iter().enumerate().for_each(|(i, kind)| put(format!("raid[{i}].count"), Some(kind.count.into())));
        all
    }

    /// Every text in it, by the path of its field.
    fn texts(&self) -> Vec<(String, &str)> {
        let cpu = self.cpu.iter().map(|cpu| ("cpu.model".to_owned(), &cpu.model));
        let own = [("product".to_owned(), &self.product), ("bios".to_owned(), &self.bios)];
        let modules = self.memory.iter().flat_map(|memory| memory.modules.iter().enumerate());
        let modules = modules.map(|(i, kind)| (format!("memory.modules[{i}].kind"), &kind.kind));
        let disks = self.disks.iter().enumerate().flat_map(|(i, kind)| {
            let texts = [("model", &kind.model), ("firmware", &kind.firmware), ("transport", &kind.transport)];
            texts.map(|(name, text)| (format!("disks[{i}].{name}"), text))
        });
        let nics = self.nics.iter().enumerate().map(|(i, kind)| (format!("nics[{i}].driver"), &kind.driver));
        let raid = self.raid.iter().enumerate().flat_map(|(i, kind)| {
            let texts = [("controller", &kind.controller), ("level", &kind.level), ("policy", &kind.policy)];
            texts.map(|(name, text)| (format!("raid[{i}].{name}"), text))
        });
        let all = own.into_iter().chain(cpu).chain(modules).chain(disks).chain(nics).chain(raid);
        all.filter_map(|(path, text)| Some((path, text.as_deref()?))).collect()
    }

    /// What was found in a node, as an order of the same.
    #[must_use]
    pub fn found(node: &Inventory, controllers: &[Controller]) -> Self {
        let known = |fact: &Fact| fact.known().cloned();
        let number = |count: u32| (count > 0).then_some(count);
        let processor = &node.processor;
        let cpu = Cpu {
            model: Some(node.cpu.clone()).filter(|model| is_told(model)),
            sockets: processor.sockets.known().copied().and_then(number),
            cores: processor.cores.known().copied().and_then(number),
            threads: number(node.cpus),
        };
        let fitted = node.modules.fitted.known().map(Vec::as_slice).unwrap_or_default();
        let sizes: Option<u64> = fitted.iter().map(|module| module.size.known().copied()).sum();
        // Without the modules' sizes there is only what the kernel manages, which is less.
        let total = sizes.filter(|size| *size > 0).map(ByteSize);
        let memory = Memory {
            total,
            ecc: node.modules.correction.known().is_some_and(|how| is_ecc(how)),
            modules: grouped(fitted, Modules::of, |kind| &mut kind.count),
        };
        let drives =
            controllers.iter().flat_map(|controller| controller.drives.iter().map(move |drive| (controller, drive)));
        let drives: Vec<Raid> = drives
            .map(|(controller, drive)| Raid {
                count: 1,
                controller: known(&controller.model),
                level: known(&drive.level),
                policy: known(&drive.policy),
            })
            .collect();
        Self {
            product: known(&node.product),
            bios: known(&node.machine.bios_version),
            bare_metal: node.virtualisation == Fact::NotPresent,
            cpu: Some(cpu).filter(|cpu| *cpu != Cpu::default()),
            memory: Some(memory).filter(|memory| *memory != Memory::default()),
            disks: grouped(disks(node), Disks::of, |kind| &mut kind.count),
            nics: grouped(ports(node), Nics::of, |kind| &mut kind.count),
            raid: grouped(drives, |drive| drive, |kind| &mut kind.count),
        }
    }
}

impl Modules {
    fn of(module: &Module) -> Self {
        let known = module.kind.known().cloned();
        let speed = module.speed.known().copied().filter(|speed| *speed > 0);
        Self { count: 1, size: module.size.known().copied().map(ByteSize), kind: known, speed }
    }
}

/// The size that a disk is sold by: makers add a little, so from 100 GB on whole tens of GB.
fn sold_as(bytes: u64) -> u64 {
    const TEN_GB: u64 = 10_000_000_000;
    if bytes < 10 * TEN_GB { bytes } else { bytes / TEN_GB * TEN_GB }
}

impl Disks {
    fn of(disk: &DiskItem) -> Self {
        let known = |fact: &Fact| fact.known().cloned();
        Self {
            count: 1,
            model: known(&disk.model),
            size: Some(ByteSize(sold_as(disk.size))),
            firmware: known(&disk.firmware),
            transport: known(&disk.transport),
        }
    }
}

impl Nics {
    fn of(nic: &NicItem) -> Self {
        let speed = nic.speed.filter(|speed| *speed > 0).map(LinkSpeed);
        Self { count: 1, driver: nic.driver.known().cloned(), speed }
    }
}

/// Like things made into one with their number, in the order of the first of each.
fn grouped<T, K: PartialEq + Clone>(
    things: impl IntoIterator<Item = T>,
    kind: impl Fn(T) -> K,
    count: impl Fn(&mut K) -> &mut u32,
) -> Vec<K> {
    let mut kinds: Vec<(K, K)> = Vec::new();
    for thing in things.into_iter().map(kind) {
        match kinds.iter_mut().find(|(first, _)| *first == thing) {
            Some((_, all)) => *count(all) += 1,
            None => kinds.push((thing.clone(), thing)),
        }
    }
    kinds.into_iter().map(|(_, all)| all).collect()
}

/// Whether a text of the inventory is more than a word for nothing.
#[must_use]
pub fn is_told(text: &str) -> bool {
    !text.is_empty() && text != "unknown"
}

/// Whether an error correction of memory is one that corrects.
#[must_use]
pub fn is_ecc(correction: &str) -> bool {
    correction.contains("ECC")
}

/// The disks that can be ordered: none that is made of others, and one that is seen by several paths once.
#[must_use]
pub fn disks(node: &Inventory) -> Vec<&DiskItem> {
    let mut seen = BTreeSet::new();
    let whole = node.disks.iter().filter(|disk| disk.over.is_empty() && disk.size > 0);
    let made_up = ["md", "lvm", "crypt", "multipath", "device mapper", "virtual"];
    let real = whole.filter(|disk| !disk.transport.known().is_some_and(|kind| made_up.contains(&kind.as_str())));
    real.filter(|disk| disk.wwid.known().is_none_or(|wwid| seen.insert(wwid.clone()))).collect()
}

/// The network ports that can be ordered: hardware, and what does not tell what it is.
#[must_use]
pub fn ports(node: &Inventory) -> Vec<&NicItem> {
    node.nics.iter().filter(|nic| nic.kind.known().is_none_or(|kind| kind.starts_with("hardware"))).collect()
}
