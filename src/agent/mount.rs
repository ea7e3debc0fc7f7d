//! Which file system and which device lie below a path, found without asking a file system that may never answer.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use procfs::process::MountInfo;

use super::{block, host};

/// File systems whose server may be gone, so that any question to them can hang for ever; so can an automounter's.
const REMOTE: [&str; 27] = [
    "9p",
    "acfs",
    "afs",
    "autofs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs",
    "fuse.ceph",
    "fuse.cephfs",
    "fuse.curlftpfs",
    "fuse.davfs2",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.goofys",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.sshfs",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "orangefs",
    "pvfs2",
];

/// The most symbolic links that the kernel follows in a path.
const MOST_LINKS: u32 = 40;

/// The most devices and file systems on top of each other that are looked through.
pub(super) const MOST_LAYERS: u32 = 16;

/// One mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    point: PathBuf,
    number: String,
    source: String,
    /// `ext4`.
    pub(super) kind: String,
    pub(super) read_only: bool,
}

impl Mount {
    fn from_line(line: &str) -> Option<Self> {
        let info = MountInfo::from_line(line).ok()?;
        let read_only = info.mount_options.contains_key("ro") || info.super_options.contains_key("ro");
        let point = PathBuf::from(unescaped(&info.mount_point));
        Some(Self {
            point,
            number: info.majmin,
            source: info.mount_source.unwrap_or_default(),
            kind: info.fs_type,
            read_only,
        })
    }

    /// Whether to ask it anything is a risk.
    pub(super) fn is_remote(&self) -> bool {
        REMOTE.contains(&self.kind.as_str()) || self.kind.starts_with("smb")
    }

    /// The kernel's name of the whole disk below it.
    pub(super) fn device(&self, root: &Path) -> Option<String> {
        if self.is_remote() {
            return None;
        }
        let numbered = std::fs::read_link(root.join("sys/dev/block").join(&self.number)).ok();
        let numbered = numbered.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()).map(str::to_owned);
        // btrfs and others bear a number of no device, but name it as their source.
        let name = numbered.or_else(|| source(&self.source, root))?;
        Some(block::whole(root, &name))
    }

    /// What its data lies on down to the memory, where it does lie there: `tmpfs`, `ext4 on zram0`, `ext4 on loop0 on tmpfs`.
    pub(super) fn memory(&self, root: &Path, mounts: &Mounts) -> Option<String> {
        self.memory_below(root, mounts, MOST_LAYERS)
    }

    fn memory_below(&self, root: &Path, mounts: &Mounts, layers: u32) -> Option<String> {
        if matches!(self.kind.as_str(), "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs") {
            return Some(self.kind.clone());
        }
        let below = device_in_memory(&self.device(root)?, root, mounts, layers)?;
        Some(format!("{} on {below}", self.kind))
    }
}

/// The same of a device by its kernel name: a RAM disk, or one that is made of others or of a file, as far down as they go.
pub(super) fn device_in_memory(name: &str, root: &Path, mounts: &Mounts, layers: u32) -> Option<String> {
    if block::in_memory(name) {
        return Some(name.to_owned());
    }
    let layers = layers.checked_sub(1)?;
    let entry = root.join("sys/class/block").join(name.replace('/', "!"));
    let below = match host::value(&entry.join("loop/backing_file")) {
        Some(file) => mounts.over(Path::new(&file))?.memory_below(root, mounts, layers),
        None => host::names(&entry.join("slaves"))
            .iter()
            .find_map(|slave| device_in_memory(&block::whole(root, slave), root, mounts, layers)),
    };
    Some(format!("{name} on {}", below?))
}

fn source(source: &str, root: &Path) -> Option<String> {
    let below = source.strip_prefix("/dev/")?;
    let link = std::fs::read_link(root.join("dev").join(below)).ok();
    let name = link.as_deref().unwrap_or(Path::new(below)).file_name()?.to_str()?;
    root.join("sys/class/block").join(name).exists().then(|| name.to_owned())
}

/// Blanks, tabs, line ends and backslashes are printed as `\040` and the like.
fn unescaped(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((byte, more)) = rest.split_first() {
        let octal = more.get(..3).and_then(|digits| str::from_utf8(digits).ok());
        let escaped = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| *byte == b'\\');
        plain.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() { &more[3..] } else { more };
    }
    OsString::from_vec(plain)
}

/// Everything that is mounted, in the order of mounting.
#[derive(Clone, Debug, Default)]
pub(super) struct Mounts(Vec<Mount>);

impl Mounts {
    pub(super) fn read(root: &Path) -> Self {
        let text = host::text(&root.join("proc/self/mountinfo")).unwrap_or_default();
        Self(text.lines().filter_map(Mount::from_line).collect())
    }

    /// The mount that a path without links lies on: the longest, and of these the last, which hides the others.
    pub(super) fn over(&self, path: &Path) -> Option<&Mount> {
        let mounts = self.0.iter().filter(|mount| path.starts_with(&mount.point));
        mounts.max_by_key(|mount| mount.point.components().count())
    }

    /// The path with its links followed, but for what lies on a remote file system: that is not touched.
    pub(super) fn resolve(&self, path: &Path) -> PathBuf {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut done = PathBuf::from("/");
        let mut todo = parts(&absolute);
        let mut links = 0;
        while let Some(part) = todo.pop() {
            if part == ".." {
                done.pop();
                continue;
            }
            done.push(part);
            if links >= MOST_LINKS || self.over(&done).is_some_and(Mount::is_remote) {
                continue;
            }
            if let Ok(target) = std::fs::read_link(&done) {
                links += 1;
                done.pop();
                if target.is_absolute() {
                    done = PathBuf::from("/");
                }
                todo.extend(parts(&target));
            }
        }
        done
    }
}

/// The parts of a path, the first last.
fn parts(path: &Path) -> Vec<OsString> {
    let kept = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    kept.rev().map(|part| part.as_os_str().to_owned()).collect()
}

/// The kernel's name of the whole disk below a path (of a partition: its disk), as the disk sampler calls it; none for remote
/// file systems and for those without one device. `root` stands for `/` in what is read of `/proc` and `/sys`, not in `path`.
#[must_use]
pub fn device_of(path: &Path, root: &Path) -> Option<String> {
    let mounts = Mounts::read(root);
    mounts.over(&mounts.resolve(path))?.device(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;
    use std::os::unix::fs::symlink;

    const MOUNTS: &str = "22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n\
                          garbage\n\
                          40 22 0:44 / /mnt/a\\040b rw - nfs4 server:/x rw,addr=1\n\
                          41 22 0:45 / /data rw - btrfs /dev/sdb1 rw\n\
                          42 22 0:46 / /auto rw - autofs systemd-1 rw\n\
                          43 22 8:2 / /auto ro - ext4 /dev/sda2 rw\n\
                          44 22 0:47 / /memory rw - tmpfs tmpfs rw\n\
                          45 22 7:0 / /image rw - ext4 /dev/loop0 rw\n\
                          46 22 253:0 / /z rw - ext4 /dev/zram0 rw\n\
                          47 22 7:1 / /deep rw - xfs /dev/loop1 rw\n\
                          48 22 254:0 / /mapped rw - ext4 /dev/dm-0 rw\n\
                          49 22 7:2 / /round rw - ext4 /dev/loop2 rw\n";

    fn machine() -> tempfile::TempDir {
        let root = fake::root(&[
            ("proc/self/mountinfo", MOUNTS),
            ("sys/devices/pci0/block/sda/sda2/partition", "2\n"),
            ("sys/class/block/sdb1/partition", "1\n"),
            ("sys/class/block/loop0/loop/backing_file", "/memory/disk.img\n"),
            ("sys/class/block/zram0/size", "8\n"),
            ("sys/class/block/loop1/loop/backing_file", "/z/disk.img\n"),
            ("sys/class/block/loop2/loop/backing_file", "/round/disk.img\n"),
            ("sys/class/block/dm-0/slaves/loop1/x", ""),
            ("sys/dev/block/x", ""),
        ]);
        let link = |to: &str, at: &str| symlink(to, root.path().join(at)).unwrap();
        link("../../devices/pci0/block/sda/sda2", "sys/class/block/sda2");
        link("../../devices/pci0/block/sda/sda2", "sys/dev/block/8:2");
        link("../../class/block/loop0", "sys/dev/block/7:0");
        for (number, name) in [("253:0", "zram0"), ("7:1", "loop1"), ("7:2", "loop2"), ("254:0", "dm-0")] {
            link(&format!("../../class/block/{name}"), &format!("sys/dev/block/{number}"));
        }
        root
    }

    #[test]
    fn the_longest_and_last_mount_is_the_one_below_a_path() {
        let root = machine();
        let mounts = Mounts::read(root.path());
        let kind = |path: &str| mounts.over(Path::new(path)).map(|m| (m.kind.as_str(), m.is_remote(), m.read_only));
        assert_eq!(kind("/mnt/a b/x"), Some(("nfs4", true, false)));
        assert_eq!(kind("/mnt/a bc"), Some(("ext4", false, false)));
        assert_eq!(kind("/auto/x"), Some(("ext4", false, true)));
        assert_eq!(kind("/data"), Some(("btrfs", false, false)));
        assert_eq!(Mounts::default().over(Path::new("/")), None);
    }

    #[test]
    fn the_device_is_the_whole_disk() {
        let root = machine();
        assert_eq!(device_of(Path::new("/no-such-place"), root.path()).as_deref(), Some("sda"));
        assert_eq!(device_of(Path::new("/data/x"), root.path()).as_deref(), Some("sdb"));
        assert_eq!(device_of(Path::new("/mnt/a b"), root.path()), None);
        assert_eq!(device_of(Path::new("/memory"), root.path()), None);
    }

    #[test]
    fn memory_is_seen_through_every_layer_and_named() {
        let root = machine();
        let mounts = Mounts::read(root.path());
        let memory = |path: &str| mounts.over(Path::new(path))?.memory(root.path(), &mounts);
        for (path, stack) in [
            ("/memory/x", Some("tmpfs")),
            ("/image", Some("ext4 on loop0 on tmpfs")),
            ("/z", Some("ext4 on zram0")),
            ("/deep", Some("xfs on loop1 on ext4 on zram0")),
            ("/mapped", Some("ext4 on dm-0 on loop1 on ext4 on zram0")),
            ("/data", None),
            ("/", None),
            // A picture of itself: no kernel builds it, and no reader may go round in it for ever.
            ("/round", None),
        ] {
            assert_eq!(memory(path).as_deref(), stack, "{path}");
        }
    }

    #[test]
    fn links_are_followed_up_to_a_remote_file_system_and_loops_end() {
        let real = tempfile::tempdir().unwrap();
        let at = |name: &str| std::fs::canonicalize(real.path()).unwrap().join(name);
        std::fs::create_dir(at("dir")).unwrap();
        symlink("dir/../dir", at("a")).unwrap();
        symlink(at("remote/b"), at("b")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("elsewhere", at("remote")).unwrap();
        let line = format!("1 1 0:9 / {} rw - nfs server:/x rw\n", at("remote").display());
        let mounts = Mounts(vec![Mount::from_line(&line).unwrap()]);
        assert_eq!(mounts.resolve(&at("a/x")), at("dir/x"));
        assert_eq!(mounts.resolve(&at("b/c")), at("remote/b/c"), "the link at the mount point was read");
        mounts.resolve(&at("loop"));
    }

    #[test]
    fn no_beginning_of_the_file_stops_the_reader() {
        let root = fake::root(&[]);
        for end in 0..MOUNTS.len() {
            fake::put(root.path(), "proc/self/mountinfo", &MOUNTS[..end]);
            let _ = device_of(Path::new("/data/x"), root.path());
        }
        assert_eq!(unescaped(Path::new("a\\04\\0400\\134\\999")), OsString::from("a\\04 0\\\\999"));
    }
}
