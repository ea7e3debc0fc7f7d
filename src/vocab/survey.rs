//! What a preflight learns of a node before anything is loaded.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::moment::Span;
use super::name::RunName;

/// The state of a node before a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Survey {
    /// Directories that runs would write to.
    pub targets: Vec<Target>,
    /// What each run would take.
    pub needs: Vec<Needs>,
    /// Bytes of memory that can be had without swapping.
    pub memory_available: u64,
    /// CPUs this process may use.
    pub cpus: u32,
    /// CPUs that the kernel runs on; none when not known.
    #[serde(default)]
    pub cpus_online: Option<u32>,
    /// CPUs' worth of time that the control groups' quota leaves this process; none where there is no quota.
    #[serde(default)]
    pub cpu_quota: Option<f64>,
    /// Load average of the last minute; remembers what is over, such as a build.
    pub load: f64,
    /// Share of the CPUs' time that was taken while the survey looked, in percent.
    pub busy_percent: f64,
    /// Whether the agent runs with root's rights.
    pub root: bool,
    /// Bytes of a memory page.
    pub page: u64,
    /// Who holds the node, if another session does.
    pub held_by: Option<String>,
    /// Bytes of memory in all, which can become page cache; none when not known.
    #[serde(default)]
    pub memory: Option<u64>,
    /// Bytes of cache in the disk controllers; none when not known.
    #[serde(default)]
    pub controller_cache: Option<u64>,
    /// RAID controllers on the node, by their PCI identity.
    #[serde(default)]
    pub raid_controllers: Vec<String>,
    /// What else is at work on the node that would disturb a measurement: virtual machines, Ceph daemons, a RAID rebuild.
    pub neighbours: Vec<String>,
}

/// A directory that runs would write to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// As given.
    pub path: PathBuf,
    /// Type of the file system: `ext4`; empty when not known.
    pub file_system: String,
    /// Kernel name of the device below it; empty when there is none.
    pub device: String,
    /// Bytes free for this user.
    pub free: u64,
    /// Bytes in all.
    pub total: u64,
    /// Lives in memory, so that a disk run would measure memory.
    pub in_memory: bool,
    /// What it lies on down to the memory, where it does: `ext4 on loop0 on tmpfs`.
    #[serde(default)]
    pub stack: String,
    /// Why it cannot be used at all: missing, not a directory, read-only, held by another session.
    pub unusable: Option<String>,
    /// The device itself, read or written without a file system; then `free` and `total` are its size.
    #[serde(default)]
    pub raw: Option<Raw>,
}

/// A block device that is a target itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raw {
    /// The device in a line for people: path, model, serial number, size.
    pub line: String,
    /// Its data will be destroyed.
    pub destroyed: bool,
}

/// What one run takes from the node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// The run.
    pub run: RunName,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of disk, while it runs.
    pub disk: u64,
    /// Bytes written in all, at most as far as can be told.
    pub writes: u64,
    /// How long it is likely to take.
    pub time: Span,
    /// Whether it loads the node at all; a session that does not may share it.
    pub loads: bool,
    /// Why this node cannot do it.
    pub impossible: Option<String>,
    /// What the plan leaves open and only a person can say.
    #[serde(default)]
    pub open: Option<String>,
    /// Bytes of each file of a disk run; none for other runs.
    #[serde(default)]
    pub file: Option<u64>,
}
