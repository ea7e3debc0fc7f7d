//! A block device as the target itself: what tells it from others, and everything that speaks against writing over it. Asked before
//! anything is started, and once more by the kernel right before it opens the device.

use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::mount::{Mounts, device_in_memory};
use super::{block, host, inventory, mount};
use crate::clock::now;
use crate::vocab::moment::Span;
use crate::vocab::text::neutral;

/// How long one waits for a device that is taken.
const PATIENCE: Span = Span::seconds(2);
/// How often one asks for it.
const AGAIN: Duration = Duration::from_millis(20);

/// A block device that was named as a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// As named, which is its own path and no link.
    pub path: PathBuf,
    /// The kernel's name: `sdb`, `sdb1`.
    pub name: String,
    /// `8:16`
    pub number: String,
    /// Bytes.
    pub size: u64,
    /// Serial number of the disk, where it has one that can be read.
    pub serial: Option<String>,
    /// Vendor and model, where they are told.
    pub model: Option<String>,
    root: PathBuf,
}

/// What kind of thing a path leads to, in words; none for a directory, or where nothing can be learned.
#[must_use]
pub fn kind(path: &Path) -> Option<&'static str> {
    let kind = std::fs::metadata(path).ok()?.file_type();
    let kinds = [
        (kind.is_block_device(), "a block device"),
        (kind.is_char_device(), "a character device"),
        (kind.is_fifo(), "a FIFO"),
        (kind.is_socket(), "a socket"),
        (kind.is_file(), "a file"),
    ];
    kinds.into_iter().find_map(|(is, name)| is.then_some(name))
}

/// Learns what can be known of a device without opening it. `root` stands for `/` in what is read of `/proc` and `/sys`.
///
/// # Errors
/// Why the path names no block device exactly, in words that go on a line behind the path.
pub fn find(path: &Path, root: &Path) -> Result<Device, String> {
    let meta = std::fs::symlink_metadata(path).map_err(|why| why.to_string())?;
    let real = std::fs::canonicalize(path).map_err(|why| why.to_string())?;
    if real != path {
        return Err(format!("leads to {}; name that path itself, so that it is certain what is meant", real.display()));
    }
    if !meta.file_type().is_block_device() {
        let kind = kind(path).unwrap_or("a directory");
        return Err(format!("{kind}, and no block device"));
    }
    let number = block::number(meta.rdev());
    let link = std::fs::read_link(root.join("sys/dev/block").join(&number)).ok();
    let name = link.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    let name = name.ok_or_else(|| format!("the kernel knows no block device {number}"))?.to_owned();
    let entry = root.join("sys/class/block").join(&name);
    let sectors = host::number(&entry.join("size")).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let disk = block::whole(root, &name);
    let facts = inventory::identity(root, &disk.replace('/', "!"));
    let size = sectors.saturating_mul(512);
    let (serial, model) = (facts.0, facts.1);
    Ok(Device { path: path.to_owned(), name, number, size, serial, model, root: root.to_owned() })
}

impl Device {
    /// What a person gives to show that this very device is meant: its serial number, or its path where it has none.
    #[must_use]
    pub fn proof(&self) -> String {
        self.serial.clone().unwrap_or_else(|| self.path.display().to_string())
    }

    /// The device in a line for people.
    #[must_use]
    pub fn line(&self) -> String {
        let told = |fact: &Option<String>, none: &str| fact.clone().unwrap_or_else(|| none.to_owned());
        let (model, serial) = (told(&self.model, "no model"), told(&self.serial, "no serial number"));
        format!("{}: {model}, {serial}, {:.1} GB", self.path.display(), self.size as f64 / 1e9)
    }

    /// What it lies on down to the memory, where it does.
    #[must_use]
    pub fn memory(&self) -> Option<String> {
        let mounts = Mounts::read(&self.root);
        device_in_memory(&block::whole(&self.root, &self.name), &self.root, &mounts, mount::MOST_LAYERS)
    }

    /// Whether this is what was meant.
    ///
    /// # Errors
    /// What was meant instead, and what would name this one.
    pub fn is_meant(&self, given: &str) -> Result<(), String> {
        if given == self.proof() {
            return Ok(());
        }
        let (what, proof) = (if self.serial.is_some() { "serial number" } else { "path" }, self.proof());
        Err(format!("`{given}` is not its {what}, which is `{proof}`; nothing is written to it"))
    }

    /// Why its data may not be destroyed: somebody uses the device, a part of it, or the disk that it is a part of.
    ///
    /// # Errors
    /// The first use that was found.
    pub fn is_free(&self) -> Result<(), String> {
        if self.size == 0 {
            return Err("it has no size: there is no medium".to_owned());
        }
        let family = self.family();
        if host::number(&self.entry(&self.name).join("ro")) == Some(1) {
            return Err("it is read-only".to_owned());
        }
        for (name, number) in &family {
            let whose = if *name == self.name { "it".to_owned() } else { format!("{name}, of the same disk,") };
            if let Some(use_) = self.is_mounted(name, number).or_else(|| self.is_below(name)) {
                return Err(format!("{whose} {use_}"));
            }
        }
        // A claim of the kernel's own is seen only here: a ZFS pool, a file system that names another of its devices, a cluster's.
        match self.claim() {
            Err(Errno::BUSY) => {
                Err("the kernel has it in use (a pool of ZFS, a file system over several devices, …)".to_owned())
            }
            Err(why) => Err(format!("it cannot be opened: {why}")),
            Ok(()) => Ok(()),
        }
    }

    fn entry(&self, name: &str) -> PathBuf {
        self.root.join("sys/class/block").join(name.replace('/', "!"))
    }

    /// The device with its partitions, or with the disk that it is a partition of: names and numbers.
    fn family(&self) -> Vec<(String, String)> {
        let mut names = vec![self.name.clone()];
        let disk = block::whole(&self.root, &self.name);
        if disk == self.name {
            let entry = self.entry(&self.name);
            names.extend(host::names(&entry).into_iter().filter(|part| entry.join(part).join("partition").exists()));
        } else {
            names.push(disk);
        }
        let number = |name: &String| host::value(&self.entry(name).join("dev")).unwrap_or_default();
        names.into_iter().map(|name| (name.clone(), number(&name))).collect()
    }

    /// Whether a file system or swap space of it is in use.
    fn is_mounted(&self, name: &str, number: &str) -> Option<String> {
        let is = |path: &str| is_device(Path::new(path), name, number);
        let mounts = host::text(&self.root.join("proc/self/mountinfo")).unwrap_or_default();
        for line in mounts.lines() {
            let mut words = line.split(' ');
            let numbered = words.nth(2).is_some_and(|n| !number.is_empty() && n == number);
            let point = words.nth(1).unwrap_or_default();
            let source = line.split_once(" - ").and_then(|(_, rest)| rest.split(' ').nth(1)).unwrap_or_default();
            if numbered || source.starts_with("/dev/") && is(source) {
                return Some(format!("is mounted at {}", neutral(point)));
            }
        }
        let swaps = host::text(&self.root.join("proc/swaps")).unwrap_or_default();
        let mut swaps = swaps.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().next());
        swaps.any(is).then(|| "is swap space".to_owned())
    }

    /// Whether another device is made of it: a logical volume, a RAID, a loop device.
    fn is_below(&self, name: &str) -> Option<String> {
        let named = |holder: &String| {
            let entry = self.entry(holder);
            let other = host::value(&entry.join("dm/name")).or_else(|| host::value(&entry.join("md/level")));
            neutral(&other.map_or_else(|| holder.clone(), |other| format!("{holder} ({other})")))
        };
        if let Some(holder) = host::names(&self.entry(name).join("holders")).first() {
            return Some(format!("is a part of {}", named(holder)));
        }
        let path = format!("/dev/{}", block::printed(name));
        let loops = host::names(&self.root.join("sys/class/block"));
        let over = loops
            .iter()
            .find(|other| host::value(&self.entry(other).join("loop/backing_file")).is_some_and(|file| file == path));
        over.map(|other| format!("is below {other}"))
    }

    /// Takes the device for itself for an instant, which the kernel refuses while anybody else has it.
    fn claim(&self) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        open(&self.path, flags).map(drop)
    }
}

/// Opens a device, and waits a moment for one that is taken: what an `io_uring` had registered is given back only some time after
/// its process has ended, and the run before may just have been over.
pub(crate) fn open(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let until = now() + PATIENCE;
    loop {
        match rustix::fs::open(path, flags, Mode::empty()) {
            Err(Errno::BUSY) if now() < until => std::thread::sleep(AGAIN),
            opened => return opened,
        }
    }
}

/// Whether a path of `/dev` is that device, by its number, or by its name where there is no such path here.
fn is_device(path: &Path, name: &str, number: &str) -> bool {
    match std::fs::metadata(path) {
        Ok(meta) if meta.file_type().is_block_device() => block::number(meta.rdev()) == number,
        _ => path.strip_prefix("/dev").is_ok_and(|below| below.as_os_str() == block::printed(name).as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const MOUNTS: &str = "1 1 8:2 / / rw - ext4 /dev/sda2 rw\n2 1 0:45 / /data rw - btrfs /dev/sdc1 rw\n";

    fn machine() -> tempfile::TempDir {
        fake::root(&[
            ("proc/self/mountinfo", MOUNTS),
            ("proc/swaps", "Filename Type Size Used Priority\n/dev/sdd partition 1 0 -2\n"),
            ("sys/class/block/sda/sda2/partition", "2\n"),
            ("sys/class/block/sda2/dev", "8:2\n"),
            ("sys/class/block/sda2/partition", "2\n"),
            ("sys/class/block/sdc/sdc1/partition", "1\n"),
            ("sys/class/block/sdc1/partition", "1\n"),
            ("sys/class/block/sde/holders/dm-0/x", ""),
            ("sys/class/block/dm-0/dm/name", "vg-root\n"),
            ("sys/class/block/loop4/loop/backing_file", "/dev/sdf\n"),
            ("sys/class/block/sdg/ro", "1\n"),
        ])
    }

    fn device(root: &Path, name: &str) -> Device {
        Device {
            path: PathBuf::from(format!("/no-such/{name}")),
            name: name.to_owned(),
            number: String::new(),
            size: 1 << 30,
            serial: Some("S1".to_owned()),
            model: None,
            root: root.to_owned(),
        }
    }

    #[test]
    fn a_device_in_any_use_is_not_free() {
        let root = machine();
        let why = |name: &str| device(root.path(), name).is_free().unwrap_err();
        assert_eq!(why("sda"), "sda2, of the same disk, is mounted at /");
        assert_eq!(why("sda2"), "it is mounted at /");
        assert_eq!(why("sdc"), "sdc1, of the same disk, is mounted at /data");
        assert_eq!(why("sdd"), "it is swap space");
        assert_eq!(why("sde"), "it is a part of dm-0 (vg-root)");
        assert_eq!(why("sdf"), "it is below loop4");
        assert_eq!(why("sdg"), "it is read-only");
        assert!(why("sdh").starts_with("it cannot be opened"), "the last word has the kernel: {}", why("sdh"));
        assert!(Device { size: 0, ..device(root.path(), "sdh") }.is_free().unwrap_err().contains("no medium"));
    }

    #[test]
    fn only_the_serial_number_proves_what_is_meant() {
        let root = machine();
        let disk = device(root.path(), "sdh");
        assert_eq!(disk.is_meant("S1"), Ok(()));
        for other in ["", "s1", "S1 ", "/no-such/sdh"] {
            let why = disk.is_meant(other).unwrap_err();
            assert!(why.contains("is not its serial number, which is `S1`"), "{why}");
        }
        let none = Device { serial: None, ..disk };
        assert_eq!(none.is_meant("/no-such/sdh"), Ok(()));
        assert!(none.is_meant("").unwrap_err().contains("is not its path"));
    }

    #[test]
    fn what_is_no_device_is_told_and_a_link_is_no_name() {
        let keep = tempfile::tempdir().unwrap();
        let directory = std::fs::canonicalize(keep.path()).unwrap();
        std::fs::write(directory.join("file"), "").unwrap();
        std::os::unix::fs::symlink("file", directory.join("link")).unwrap();
        let why = |name: &str| find(&directory.join(name), Path::new("/")).unwrap_err();
        assert_eq!(why("file"), "a file, and no block device");
        assert!(why("link").starts_with(&format!("leads to {}", directory.join("file").display())));
        assert!(why("none").contains("No such file"));
        assert_eq!(
            find(Path::new("/dev/null"), Path::new("/")).unwrap_err(),
            "a character device, and no block device"
        );
        assert_eq!(kind(&directory), None);
    }
}
