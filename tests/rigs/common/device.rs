//! Block devices of our own, and file systems on them.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::undo::{Room, Step, Undo, run};

/// A loop device on a sparse file.
pub(crate) struct Loop {
    pub(crate) path: String,
    /// `7:3`
    pub(crate) number: String,
    _undo: Undo,
}

impl Loop {
    /// The size in MiB, and the bytes of a sector.
    pub(crate) fn new(room: &Room, mib: u64, sector: u32) -> Result<Self, String> {
        let image = room.path.join(format!("image-{mib}-{sector}"));
        File::create(&image)
            .and_then(|file| file.set_len(mib << 20))
            .map_err(|e| format!("{}: {e}", image.display()))?;
        let path = run(&["losetup", "-f"])?;
        let undo =
            Undo::note(Step::Run(vec!["losetup".into(), "-d".into(), path.clone()])).map_err(|e| e.to_string())?;
        run(&["losetup", "-b", &sector.to_string(), &path, &image.display().to_string()])?;
        let number = fs::metadata(&path).map_err(|e| format!("{path}: {e}"))?.rdev();
        let number = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
        Ok(Self { path, number, _undo: undo })
    }
}

/// A compressed disk in memory with blocks of 4096 bytes.
pub(crate) struct Zram {
    pub(crate) path: String,
    _undo: Undo,
}

impl Zram {
    pub(crate) fn new(mib: u64) -> Result<Self, String> {
        let control = Path::new("/sys/class/zram-control/hot_add");
        let number = fs::read_to_string(control).map_err(|e| format!("no zram: {e}"))?.trim().to_owned();
        let step = Step::Write("/sys/class/zram-control/hot_remove".into(), number.clone());
        let undo = Undo::note(step).map_err(|e| e.to_string())?;
        let size = format!("/sys/block/zram{number}/disksize");
        fs::write(&size, format!("{mib}M")).map_err(|e| format!("{size}: {e}"))?;
        Ok(Self { path: format!("/dev/zram{number}"), _undo: undo })
    }
}

/// A mounted file system.
pub(crate) struct Mounted {
    pub(crate) path: PathBuf,
    _undo: Undo,
}

impl Mounted {
    /// A new ext4 on a device.
    pub(crate) fn ext4(room: &Room, device: &str, options: &str) -> Result<Self, String> {
        // Otherwise the kernel writes the inode tables after the mount, while something is measured.
        let at_once = "lazy_itable_init=0,lazy_journal_init=0";
        run(&["mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", "-E", at_once, device])?;
        Self::new(room, "ext4", device, options)
    }

    pub(crate) fn new(room: &Room, kind: &str, source: &str, options: &str) -> Result<Self, String> {
        let path = room.directory(&format!("mnt-{kind}"))?;
        let undo = Undo::note(Step::Unmount(path.clone())).map_err(|e| e.to_string())?;
        run(&["mount", "-t", kind, "-o", options, source, &path.display().to_string()])?;
        Ok(Self { path, _undo: undo })
    }
}

/// An ext4 on a loop device of its own, of 4 GiB where nothing else is said: a disk that can be throttled.
pub(crate) struct Disk {
    pub(crate) mounted: Mounted,
    pub(crate) device: Loop,
    _room: Room,
}

impl Disk {
    pub(crate) fn new() -> Result<Self, String> {
        Self::of(4096, 512, "rw")
    }

    pub(crate) fn of(mib: u64, sector: u32, options: &str) -> Result<Self, String> {
        let room = Room::new()?;
        let device = Loop::new(&room, mib, sector)?;
        let mounted = Mounted::ext4(&room, &device.path, options)?;
        Ok(Self { mounted, device, _room: room })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.mounted.path
    }
}
