//! Control groups of either version, with limits that can be changed while a session runs in them.

use std::fs;
use std::path::{Path, PathBuf};

use super::undo::{PREFIX, Step, Undo};

/// What a group limits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Io,
    Cpu,
    Memory,
}

/// The limits of one device.
#[derive(Clone, Copy)]
pub(crate) enum Rate {
    ReadBytes,
    WriteBytes,
    WriteOperations,
}

/// A control group; the session enters it, and leaves it by ending.
pub(crate) struct Group {
    path: PathBuf,
    unified: bool,
    _undo: Undo,
}

impl Group {
    pub(crate) fn new(controller: Controller, name: &str) -> Result<Self, String> {
        let base = Path::new("/sys/fs/cgroup");
        let (first, second) = match controller {
            Controller::Io => ("blkio", "io"),
            Controller::Cpu => ("cpu", "cpu"),
            Controller::Memory => ("memory", "memory"),
        };
        let unified = !base.join(first).join("cgroup.procs").exists();
        if unified {
            let controllers = fs::read_to_string(base.join("cgroup.subtree_control")).unwrap_or_default();
            if !controllers.split_whitespace().any(|word| word == second) {
                return Err(format!("no control group with the controller `{second}` can be made here"));
            }
        }
        let parent = if unified { base.to_owned() } else { base.join(first) };
        let path = parent.join(format!("{PREFIX}-{name}"));
        let undo = Undo::note(Step::Group(path.clone())).map_err(|e| e.to_string())?;
        fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self { path, unified, _undo: undo })
    }

    /// The file that a process writes its number to.
    pub(crate) fn entrance(&self) -> String {
        self.path.join("cgroup.procs").display().to_string()
    }

    fn put(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.path.join(file);
        fs::write(&path, text).map_err(|e| format!("{} {text}: {e}", path.display()))
    }

    /// Limits a device to so many bytes or operations a second. A limit that is only lowered charges what went before at the new
    /// rate, which is seconds without anything; so the old one is taken away first.
    pub(crate) fn limit(&self, device: &str, rate: Rate, most: u64) -> Result<(), String> {
        let (first, second) = match rate {
            Rate::ReadBytes => ("read_bps", "rbps"),
            Rate::WriteBytes => ("write_bps", "wbps"),
            Rate::WriteOperations => ("write_iops", "wiops"),
        };
        if self.unified {
            self.put("io.max", &format!("{device} {second}=max"))?;
            return self.put("io.max", &format!("{device} {second}={most}"));
        }
        let file = format!("blkio.throttle.{first}_device");
        self.put(&file, &format!("{device} 0"))?;
        self.put(&file, &format!("{device} {most}"))
    }

    /// Gives so many per cent of one CPU.
    pub(crate) fn quota(&self, percent: u32) -> Result<(), String> {
        let quota = percent * 1000;
        if self.unified {
            return self.put("cpu.max", &format!("{quota} 100000"));
        }
        self.put("cpu.cfs_quota_us", &quota.to_string())
    }

    /// Gives so many bytes of memory, and no swap beside it where that can be limited.
    pub(crate) fn memory(&self, bytes: u64) -> Result<(), String> {
        let (most, swap) = if self.unified {
            ("memory.max", ("memory.swap.max", 0))
        } else {
            ("memory.limit_in_bytes", ("memory.memsw.limit_in_bytes", bytes))
        };
        self.put(most, &bytes.to_string())?;
        // Kernels without accounting of swap have no such file.
        let _ = self.put(swap.0, &swap.1.to_string());
        Ok(())
    }

    /// The weight against other groups; 1024 is that of a group to which nothing was done.
    pub(crate) fn weight(&self, weight: u64) -> Result<(), String> {
        if self.unified {
            return self.put("cpu.weight", &(weight * 100 / 1024).max(1).to_string());
        }
        self.put("cpu.shares", &weight.to_string())
    }
}

/// Throttles every writer of a device, the kernel's own write-back among them, which belongs to no group of version 1.
pub(crate) struct Everyone {
    file: PathBuf,
    device: String,
    _undo: Undo,
}

impl Everyone {
    pub(crate) fn new(device: &str) -> Result<Self, String> {
        let file = PathBuf::from("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device");
        if !file.exists() {
            return Err("write-back cannot be throttled without control groups of version 1 (blkio)".to_owned());
        }
        let step = Step::Write(file.clone(), format!("{device} 0"));
        Ok(Self { file, device: device.to_owned(), _undo: Undo::note(step).map_err(|e| e.to_string())? })
    }

    /// 0 takes the limit away.
    pub(crate) fn limit(&self, most: u64) -> Result<(), String> {
        fs::write(&self.file, format!("{} {most}", self.device)).map_err(|e| format!("{}: {e}", self.file.display()))
    }
}
