//! The file under load: without a name from the start, so that nothing is left of it however the worker dies.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags, StatxFlags};
use rustix::io::Errno;

use crate::agent::block;
use crate::agent::kernel::KernelError;
use crate::agent::raw;
use crate::agent::resources::Resources;
use crate::vocab::plan::{Run, usual_reserve};

/// Where a run puts its files, and what it may do there.
#[derive(Clone, Copy)]
pub(in crate::agent::kernel) struct Place<'a> {
    pub(super) path: &'a Path,
    run: Option<&'a Run>,
}

impl<'a> Place<'a> {
    pub(super) fn of(run: &'a Run, path: &'a Path) -> Self {
        Self { path, run: Some(run) }
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Place<'a> {
    /// A directory in which files of our own are made, with the usual reserve.
    fn from(path: &'a P) -> Self {
        Self { path: path.as_ref(), run: None }
    }
}

/// A file in a directory of the file system under test, or a device itself where a plan allows that.
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
    /// Bytes that it must leave free, where a plan says so.
    reserve: Option<u64>,
    /// It is a device itself.
    pub(super) raw: bool,
}

impl Target {
    /// An empty file, with `O_DIRECT` where asked for and possible, and with `O_DSYNC` where asked for.
    pub(super) fn open<'a>(
        place: impl Into<Place<'a>>,
        direct: bool,
        dsync: bool,
        node: &Resources,
    ) -> Result<Self, KernelError> {
        let place = place.into();
        let directory = place.path;
        let raw = place.run.is_some_and(Run::is_raw);
        let unavailable = |what: &str, why: &dyn std::fmt::Display| {
            KernelError::Unavailable(format!("{what} in {}: {why}", directory.display()))
        };
        let file = match place.run {
            Some(run) if raw => device(run, directory, dsync)?,
            _ if directory.is_dir() => nameless(directory, dsync).map_err(|e| unavailable("cannot make a file", &e))?,
            _ => {
                let kind = raw::kind(directory).unwrap_or("missing");
                return Err(KernelError::Unavailable(format!("{} is {kind} and no directory", directory.display())));
            }
        };
        let facts = rustix::fs::statx(&file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN | StatxFlags::MNT_ID).ok();
        let mount = facts.as_ref().filter(|f| f.stx_mask & StatxFlags::MNT_ID.bits() != 0).map(|f| f.stx_mnt_id);
        let (file_system, device) = mount.filter(|_| !raw).and_then(mounted).unwrap_or_default();
        let aligns = facts.as_ref().filter(|f| f.stx_mask & StatxFlags::DIOALIGN.bits() != 0);
        if direct {
            let flags = rustix::fs::fcntl_getfl(&file).unwrap_or(OFlags::RDWR);
            let refused = rustix::fs::fcntl_setfl(&file, flags | OFlags::DIRECT).is_err();
            if refused || aligns.is_some_and(|f| f.stx_dio_offset_align == 0) {
                let why = format!("{file_system} takes no O_DIRECT; a buffered run would be another measurement");
                return Err(unavailable("no direct access", &why));
            }
        }
        let logical = file.metadata().ok().and_then(|m| logical_block(if raw { m.rdev() } else { m.dev() }));
        let offset = aligns.map(|f| f.stx_dio_offset_align as usize);
        let unit = logical.into_iter().chain(offset).max().unwrap_or(node.page).max(1);
        let memory = aligns.map_or(1, |f| f.stx_dio_mem_align as usize);
        let alignment = unit.max(memory).max(node.page).next_power_of_two();
        let file = Arc::new(file);
        let reserve = place.run.and_then(|run| run.reserve).map(|reserve| reserve.0);
        Ok(Self { file, unit, alignment, file_system, device, directory: directory.to_owned(), reserve, raw })
    }

    /// Whether direct access is refused there, though everything else would go.
    pub(super) fn refuses_direct(place: Place<'_>, node: &Resources) -> Result<bool, KernelError> {
        let buffered = Self::open(place, false, false, node)?;
        drop(buffered);
        Ok(Self::open(place, true, false, node).is_err())
    }

    /// Refuses a file that would leave the file system without its reserve: 1 GiB, or a twentieth where that is more.
    pub(super) fn has_room(&self, size: u64) -> Result<(), KernelError> {
        if self.raw {
            return Ok(());
        }
        let space = rustix::fs::fstatvfs(&self.file).map_err(|e| KernelError::Broken(format!("statvfs: {e}")))?;
        let (free, total) = (space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize);
        let reserve = self.reserve.unwrap_or_else(|| usual_reserve(total));
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
        if self.raw {
            return Ok(());
        }
        match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), 0, size) {
            Err(Errno::NOSPC | Errno::DQUOT) => {
                Err(KernelError::Unavailable(format!("no space left on {} for {size} bytes", self.directory.display())))
            }
            Err(errno @ Errno::FBIG) => Err(self.meaning(errno, &format!("for {size} bytes"))),
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
            Errno::FBIG => KernelError::Unavailable(format!(
                "a file in {directory} may not grow so large (EFBIG) {place}: the file system's limit, or that of the process (ulimit -f)"
            )),
            Errno::ROFS => KernelError::Corrupt(format!(
                "{directory} has become read-only (EROFS) {place}: the file system gave up after an error of its device"
            )),
            Errno::NOTCONN | Errno::CONNABORTED | Errno::STALE | Errno::NODEV | Errno::NXIO => {
                KernelError::Corrupt(format!("I/O error {} {place}: the target {directory} has vanished", name(errno)))
            }
            Errno::INVAL => KernelError::Unavailable(format!(
                "{} in {directory} refuses this access (EINVAL) {place}; blocks are multiples of {} bytes",
                self.file_system, self.unit
            )),
            _ => KernelError::Corrupt(format!("I/O error {} {place}", name(errno))),
        }
    }
}

/// The device that a run names, opened for what the plan allows. Everything that speaks against it is asked again here, since the
/// preflight was some time ago; from the opening on the kernel itself keeps others away from a device that is written.
fn device(run: &Run, path: &Path, dsync: bool) -> Result<File, KernelError> {
    let refused = |why: String| KernelError::Unavailable(format!("{}: {why}", path.display()));
    let found = || raw::find(path, Path::new("/")).map_err(refused);
    let device = found()?;
    let mut flags = OFlags::RDONLY;
    if let Some(given) = run.destroy.as_deref().filter(|_| !run.readonly) {
        device.is_meant(given).and_then(|()| device.is_free()).map_err(refused)?;
        flags = OFlags::RDWR | OFlags::EXCL;
    }
    let flags = if dsync { flags | OFlags::DSYNC } else { flags };
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(raw::open(path, flags).map_err(|why| refused(why.to_string()))?);
    let facts = file.metadata().map_err(|why| refused(why.to_string()))?;
    if !facts.file_type().is_block_device() || block::number(facts.rdev()) != device.number || found()? != device {
        return Err(refused("it has become another device meanwhile".to_owned()));
    }
    Ok(file)
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
    let base = Path::new("/sys/dev/block").join(block::number(device));
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
        (Errno::CONNABORTED, "ECONNABORTED"),
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
