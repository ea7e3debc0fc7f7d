//! The parts of a node: processors, memory modules, disks, network interfaces, RAID. Part of the inventory, so part of the
//! record: fields are added with a default, and what an older build did not record reads as such.

use serde::{Deserialize, Serialize};

use super::fact::Fact;

/// The processors and how the kernel numbers them. Lists of CPUs are in the kernel's form: `0-15,88-103`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Processor {
    /// Maker: `GenuineIntel`, `ARM`.
    pub vendor: Fact,
    /// Family; for ARM the architecture's version.
    pub family: Fact,
    /// Model within the family; for ARM the part.
    pub model: Fact,
    /// Stepping; for ARM variant and revision: `r1p2`.
    pub stepping: Fact,
    /// Revision of the microcode that is loaded.
    pub microcode: Fact,
    /// Packages with at least one CPU online.
    pub sockets: Fact<u32>,
    /// Cores with at least one CPU online.
    pub cores: Fact<u32>,
    /// The most CPUs online that share one core.
    pub threads_per_core: Fact<u32>,
    /// Highest clock that cpufreq admits, boost included.
    pub max_mhz: Fact<u32>,
    /// Instruction sets that kernels of linear algebra, encryption and checksums live by.
    pub flags: Vec<String>,
    /// Kinds of cores that differ in strength; empty when all are alike.
    pub classes: Vec<CoreClass>,
    /// Caches by level and kind.
    pub caches: Vec<Cache>,
    /// NUMA nodes, those without CPUs or without memory as well; empty when the kernel does not tell.
    pub nodes: Vec<NumaNode>,
    /// CPUs the kernel runs on, by sysfs.
    pub online: Fact,
    /// CPUs that are fitted and switched off.
    pub offline: Fact,
}

/// Cores of one kind in a processor of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoreClass {
    /// What the kernel calls it (`cpu_core`, `cpu_atom`, `ARM Cortex-A72`), or what sets it apart.
    pub name: String,
    /// Its CPUs.
    pub cpus: String,
    /// How many CPUs these are.
    pub count: u32,
    /// Strength of the strongest, of 1024; none when the kernel does not say.
    pub capacity: Option<u32>,
    /// Highest clock of the fastest.
    pub max_mhz: Option<u32>,
}

/// Caches of one level, kind and size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is the nearest to the core.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Bytes of one.
    pub size: u64,
    /// CPUs that share one.
    pub shared_by: u32,
    /// How many there are of those whose CPUs are online.
    pub count: u32,
}

/// A NUMA node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumaNode {
    /// The kernel's number of it.
    pub number: u32,
    /// Its CPUs; empty for nodes of memory only, such as that of a GPU.
    pub cpus: String,
    /// Bytes of memory; none when the kernel does not say.
    pub memory: Option<u64>,
    /// Distances to all nodes online, in the order of their numbers; 10 is local.
    pub distances: Vec<u32>,
}

/// What the firmware's DMI table tells of memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Modules {
    /// The modules that are fitted.
    pub fitted: Fact<Vec<Module>>,
    /// Slots that are empty.
    pub empty_slots: u32,
    /// Channels with a module, where the names of the slots tell them apart.
    pub channels: Fact<u32>,
    /// Error correction: `multi-bit ECC`.
    pub correction: Fact,
}

/// One memory module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Module {
    /// Name of the slot, as printed on the board.
    pub slot: String,
    /// Name of the bank, which often names the channel.
    pub bank: Fact,
    /// Bytes; unreadable when the firmware does not know.
    pub size: Fact<u64>,
    /// `DDR5`.
    pub kind: Fact,
    /// Speed it runs at, MT/s.
    pub speed: Fact<u32>,
    /// Speed it could run at, MT/s.
    pub rated: Fact<u32>,
    /// Ranks.
    pub ranks: Fact<u32>,
    /// Maker.
    pub manufacturer: Fact,
    /// Part number.
    pub part: Fact,
    /// Serial number.
    pub serial: Fact,
}

/// One block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiskItem {
    /// Kernel name: `vda`.
    pub name: String,
    /// Vendor and model.
    pub model: Fact,
    /// Bytes.
    pub size: u64,
    /// Spinning, as the kernel believes.
    pub rotational: Option<bool>,
    /// Serial number.
    pub serial: Fact,
    /// World-wide name.
    pub wwid: Fact,
    /// Revision of the firmware; SCSI's field has room for four characters only.
    pub firmware: Fact,
    /// Bytes of the smallest piece that can be addressed.
    pub logical_sector: Fact<u32>,
    /// Bytes of the smallest piece that is written without reading first.
    pub physical_sector: Fact<u32>,
    /// I/O scheduler in use.
    pub scheduler: Fact,
    /// `write back` or `write through`: what the kernel believes and flushes by, not what a RAID controller's policy is.
    pub write_cache: Fact,
    /// How it is attached: `nvme`, `sata`, `sas`, `virtio`, `usb`, …, `lvm`, `md`.
    pub transport: Fact,
    /// `nvme0` of the namespace `nvme0n1`, `host2` of a SCSI disk.
    pub controller: Fact,
    /// Driver of the controller.
    pub driver: Fact,
    /// PCI address of the controller.
    pub bus: Fact,
    /// Devices that it is made of: those below a logical volume, a software RAID, a multipath device.
    pub over: Vec<String>,
}

/// A controller of storage on the PCI bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adapter {
    /// PCI address.
    pub bus: String,
    /// `RAID`, `SAS`, `SATA`, `NVMe`, …
    pub kind: String,
    /// Vendor and device, subsystem's vendor and device: `1000:005d 1028:1f42`.
    pub ids: String,
    /// Driver; not present when none has taken it.
    pub driver: Fact,
    /// Width and speed of the link, and what it could be.
    pub link: Fact,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NicItem {
    /// Kernel name: `eth0`.
    pub name: String,
    /// Link speed in Mb/s; none when the driver does not know (−1, 0, an error).
    pub speed: Option<u32>,
    /// `full` or `half`.
    pub duplex: Fact,
    /// Bytes of the largest packet.
    pub mtu: Fact<u32>,
    /// Hardware address.
    pub mac: Fact,
    /// Whether a link is there.
    pub carrier: Option<bool>,
    /// `hardware`, `virtual function`, `bond`, `vlan`, `bridge`, `veth`, `tap`, …
    pub kind: Fact,
    /// Interfaces that it sends through: the members of a bond or bridge, the one below a VLAN.
    pub over: Vec<String>,
    /// Bond or bridge that it is a member of.
    pub member_of: Option<String>,
    /// Driver.
    pub driver: Fact,
    /// Firmware of the card.
    pub firmware: Fact,
    /// What the card does in place of the kernel.
    pub offloads: Fact,
    /// PCI address, or the bus's name for it.
    pub bus: Fact,
    /// Width and speed of the PCI link, and what it could be.
    pub link: Fact,
}

/// A software RAID of the kernel's `md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Array {
    /// Kernel name: `md0`.
    pub name: String,
    /// `raid5`.
    pub level: Fact,
    /// `clean`, `active`, `inactive`, …
    pub state: Fact,
    /// Members of the whole array.
    pub disks: Fact<u32>,
    /// Members that are missing.
    pub degraded: Fact<u32>,
    /// `idle`, or what goes on and how far it is: `recover 8.5%`.
    pub action: Fact,
    /// The members, with a mark on those that are spare or faulty: `sdb1 (faulty)`.
    pub members: Vec<String>,
}

/// A RAID controller, as the maker's tool describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Controller {
    /// The tool that was asked.
    pub tool: String,
    /// The tool's number or slot of it.
    pub id: String,
    /// Model; when the tool gave no answer, why.
    pub model: Fact,
    /// Serial number.
    pub serial: Fact,
    /// Firmware.
    pub firmware: Fact,
    /// State of what keeps its cache through a power cut (battery or capacitor): `optimal`, `learning`, `failed`, …
    pub battery: Fact,
    /// State of its cache, where that is told.
    pub cache: Fact,
    /// Bytes of its own memory, which is a cache in front of its disks.
    pub memory: Fact<u64>,
    /// Virtual drives.
    pub drives: Vec<VirtualDrive>,
}

/// What a RAID controller shows to the system as one disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VirtualDrive {
    /// The controller's number of it.
    pub id: String,
    /// Name that somebody gave it.
    pub name: Fact,
    /// The kernel's name, where the tool tells: `sda`.
    pub device: Fact,
    /// `RAID5`.
    pub level: Fact,
    /// Size as the tool prints it.
    pub size: Fact,
    /// `optimal`, `degraded`, …
    pub state: Fact,
    /// Write policy in force: `WT`, `WB`, or `AWB` for write-back even without a battery.
    pub policy: Fact,
    /// Write policy that was asked for; another one in force tells that the controller does not trust its battery.
    pub default_policy: Fact,
    /// `RA`, `NoRA`, `ADRA`.
    pub read_ahead: Fact,
    /// Whether the disks below may cache writes themselves.
    pub disk_cache: Fact,
}

impl VirtualDrive {
    /// The policy in force, and the one that was asked for where that is another.
    #[must_use]
    pub fn policies(&self) -> String {
        match (&self.policy, &self.default_policy) {
            (Fact::Is(now), Fact::Is(asked)) if now != asked => format!("{now} (default {asked})"),
            (now, _) => now.to_string(),
        }
    }
}
