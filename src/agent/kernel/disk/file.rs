//! The file under load: without a name from the start, so that nothing is left of it however the worker dies.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags, StatxFlags};
use rustix::io::Errno;

use crate::agent::kernel::KernelError;
use crate::agent::resources::Resources;

/// Space that is left to others on any file system.
const LEAST_RESERVE: u64 = 1 << 30;

/// A file in a directory of the file system under test.
pub(super) struct Target {
    /// The file; shared with a thread that may hang in a flush.
    pub(super) file: Arc<File>,
    /// Offsets and lengths must be multiples of this.
    pub(super) unit: usize,
    /// Addresses must be multiples of this.
    pub(super) alignment: usize,
    /// Kind of the file system: `ext4`; empty when not known.
    pub(super) file_system: String,
    /// What the file system lies on, as it was mounted: `/dev/vda`.
    pub(super) device: String,
    directory: PathBuf,
}

impl Target {
    /// An empty file, with `O_DIRECT` where asked for and possible, and with `O_DSYNC` where asked for.
    pub(super) fn open(directory: &Path, direct: bool, dsync: bool, node: &Resources) -> Result<Self, KernelError> {
        let unavailable = |what: &str, why: &dyn std::fmt::Display| {
            KernelError::Unavailable(format!("{what} in {}: {why}", directory.display()))
        };
        if !directory.is_dir() {
            return Err(KernelError::Unavailable(format!("{} is no directory", directory.display())));
        }
        let file = nameless(directory, dsync).map_err(|e| unavailable("cannot make a file", &e))?;
        let facts = rustix::fs::statx(&file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN | StatxFlags::MNT_ID).ok();
        let mount = facts.as_ref().filter(|f| f.stx_mask & StatxFlags::MNT_ID.bits() != 0).map(|f| f.stx_mnt_id);
        let (file_system, device) = mount.and_then(mounted).unwrap_or_default();
        let aligns = facts.as_ref().filter(|f| f.stx_mask & StatxFlags::DIOALIGN.bits() != 0);
        if direct {
            let flags = rustix::fs::fcntl_getfl(&file).unwrap_or(OFlags::RDWR);
            let refused = rustix::fs::fcntl_setfl(&file, flags | OFlags::DIRECT).is_err();
            if refused || aligns.is_some_and(|f| f.stx_dio_offset_align == 0) {
                let why = format!("{file_system} takes no O_DIRECT; a buffered run would be another measurement");
                return Err(unavailable("no direct access", &why));
            }
        }
        let logical = file.metadata().ok().and_then(|m| logical_block(m.dev()));
        let offset = aligns.map(|f| f.stx_dio_offset_align as usize);
        let unit = logical.into_iter().chain(offset).max().unwrap_or(node.page).max(1);
        let memory = aligns.map_or(1, |f| f.stx_dio_mem_align as usize);
        let alignment = unit.max(memory).max(node.page).next_power_of_two();
        let file = Arc::new(file);
        Ok(Self { file, unit, alignment, file_system, device, directory: directory.to_owned() })
    }

    /// Refuses a file that would leave the file system without its reserve: 1 GiB, or a twentieth where that is more.
    pub(super) fn has_room(&self, size: u64) -> Result<(), KernelError> {
        let space = rustix::fs::fstatvfs(&self.file).map_err(|e| KernelError::Broken(format!("statvfs: {e}")))?;
        let (free, total) = (space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize);
        let reserve = LEAST_RESERVE.max(total / 20);
        if free >= size.saturating_add(reserve) {
            return Ok(());
        }
        let mib = |bytes: u64| bytes >> 20;
        Err(KernelError::Unavailable(format!(
            "a file of {} MiB in {} would leave less than the reserve of {} MiB: {} MiB are free",
            mib(size),
            self.directory.display(),
            mib(reserve),
            mib(free)
        )))
    }

    /// Asks the file system for the whole size at once, so that the file lies as much in one piece as it can.
    pub(super) fn reserve(&self, size: u64) -> Result<(), KernelError> {
        match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), 0, size) {
            Err(Errno::NOSPC | Errno::DQUOT) => {
                Err(KernelError::Unavailable(format!("no space left on {} for {size} bytes", self.directory.display())))
            }
            // Not every file system can; writing then allocates.
            _ => Ok(()),
        }
    }

    /// What an error of the device or the file system means; `place` is where it happened: `at offset 0 after 0 bytes`.
    pub(super) fn meaning(&self, errno: Errno, place: &str) -> KernelError {
        let directory = self.directory.display();
        match errno {
            Errno::NOSPC => KernelError::Unavailable(format!("no space left on {directory} {place}")),
            Errno::DQUOT => KernelError::Unavailable(format!("no quota left on {directory} {place}")),
            Errno::FBIG => KernelError::Unavailable(format!("file size limit in {directory} {place}")),
            Errno::INVAL => KernelError::Unavailable(format!(
                "{} in {directory} refuses this access (EINVAL) {place}; blocks are multiples of {} bytes",
                self.file_system, self.unit
            )),
            _ => KernelError::Corrupt(format!("I/O error {} {place}", name(errno))),
        }
    }
}

/// A file that no directory names any more.
fn nameless(directory: &Path, dsync: bool) -> io::Result<File> {
    // Unlike O_DIRECT it cannot be set later.
    let synchronous = if dsync { OFlags::DSYNC } else { OFlags::empty() };
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC | synchronous;
    match rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(file.into()),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOSYS | Errno::INVAL | Errno::NOENT) => {
            unlinked(directory, synchronous)
        }
        Err(error) => Err(error.into()),
    }
}

/// The same where the file system makes no file without a name.
fn unlinked(directory: &Path, flags: OFlags) -> io::Result<File> {
    let path = directory.join(format!(".shakedown-{}-{:x}", std::process::id(), crate::clock::now().0));
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(flags.bits() as i32)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Kind and source of a mount, by its number in `mountinfo`.
fn mounted(id: u64) -> Option<(String, String)> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let line = mounts.lines().find(|l| l.split(' ').next().and_then(|n| n.parse().ok()) == Some(id))?;
    let mut rest = line.split_once(" - ")?.1.split(' ');
    Some((rest.next()?.to_owned(), rest.next()?.to_owned()))
}

/// Bytes of a logical block of the device, also when the file system lies on a partition of it.
fn logical_block(device: u64) -> Option<usize> {
    let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let base = Path::new("/sys/dev/block").join(number);
    let read = |queue: &str| std::fs::read_to_string(base.join(queue).join("logical_block_size")).ok();
    read("queue").or_else(|| read("../queue"))?.trim().parse().ok()
}

fn name(errno: Errno) -> String {
    let names = [
        (Errno::IO, "EIO"),
        (Errno::NODATA, "ENODATA"),
        (Errno::NXIO, "ENXIO"),
        (Errno::NODEV, "ENODEV"),
        (Errno::ROFS, "EROFS"),
        (Errno::TIMEDOUT, "ETIMEDOUT"),
        (Errno::REMOTEIO, "EREMOTEIO"),
        (Errno::ILSEQ, "EILSEQ"),
        (Errno::BADMSG, "EBADMSG"),
        (Errno::UCLEAN, "EUCLEAN"),
        (Errno::STALE, "ESTALE"),
        (Errno::NOTCONN, "ENOTCONN"),
    ];
    let known = names.iter().find(|(e, _)| *e == errno).map(|(_, name)| (*name).to_owned());
    known.unwrap_or_else(|| format!("{} ({errno})", errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Resources {
        Resources::here(Path::new("/"))
    }

    #[test]
    fn files_have_no_name_either_way() {
        let directory = tempfile::tempdir().unwrap();
        let target = Target::open(directory.path(), false, false, &here()).unwrap();
        let other = unlinked(directory.path(), OFlags::empty()).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        assert_eq!((target.file.metadata().unwrap().nlink(), other.metadata().unwrap().nlink()), (0, 0));
        assert!(target.alignment >= here().page && target.alignment.is_multiple_of(target.unit));
    }

    #[test]
    fn what_is_no_directory_is_refused_and_not_touched() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("precious");
        std::fs::write(&path, "data").unwrap();
        assert!(matches!(Target::open(&path, true, false, &here()), Err(KernelError::Unavailable(_))));
        assert!(Target::open(&directory.path().join("missing"), true, false, &here()).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"data");
    }

    #[test]
    fn errors_tell_a_bad_device_from_a_full_one() {
        let directory = tempfile::tempdir().unwrap();
        let target = Target::open(directory.path(), false, false, &here()).unwrap();
        let eio = target.meaning(Errno::IO, "at offset 4096 after 8192 bytes");
        assert_eq!(eio, KernelError::Corrupt("I/O error EIO at offset 4096 after 8192 bytes".to_owned()));
        assert!(matches!(target.meaning(Errno::NOSPC, ""), KernelError::Unavailable(_)));
        assert!(matches!(target.has_room(1 << 60), Err(KernelError::Unavailable(why)) if why.contains("reserve")));
    }
}
