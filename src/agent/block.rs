//! Block devices by their kernel names: which are whole disks, and which disk a partition belongs to.

use std::path::Path;

use super::host;

/// What a kernel name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A whole device, or a stack (dm, md) that looks like one.
    Whole,
    /// A part of another device.
    Part,
    /// One path of an NVMe device with several, counted again in the device itself.
    Hidden,
    /// `loop0`, `ram0`: there from the start, mostly unused.
    Spare,
}

/// Classifies a device by sysfs, and by its name where sysfs does not know it.
pub(super) fn class(root: &Path, name: &str) -> Class {
    let entry = root.join("sys/class/block").join(name.replace('/', "!"));
    let by_name = !entry.exists();
    if spare(name) {
        Class::Spare
    } else if entry.join("partition").exists() || by_name && parent_by_name(name).is_some() {
        Class::Part
    } else if host::value(&entry.join("hidden")).is_some_and(|h| h == "1") || by_name && nvme_path(name) {
        Class::Hidden
    } else {
        Class::Whole
    }
}

/// The whole disks of the node in the order of their names, without what lives in memory.
pub(super) fn disks(root: &Path) -> Vec<String> {
    let mut names = host::names(&root.join("sys/class/block"));
    names.retain(|name| !in_memory(name) && class(root, name) == Class::Whole);
    names
}

/// `8:16`, as sysfs and `/proc` write the number of a device.
pub(super) fn number(device: u64) -> String {
    format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device))
}

/// The name as `/proc` prints it: a directory of sysfs cannot hold the slash of `cciss/c0d0`.
pub(super) fn printed(name: &str) -> String {
    name.replace('!', "/")
}

/// The disk that a partition belongs to, as it is printed; a device that is none is its own. Takes the name of sysfs.
pub(super) fn whole(root: &Path, name: &str) -> String {
    if class(root, name) != Class::Part {
        return printed(name);
    }
    // sysfs keeps a partition's directory in that of its disk.
    let link = std::fs::canonicalize(root.join("sys/class/block").join(name)).ok();
    let parent = link.as_deref().and_then(Path::parent).and_then(Path::file_name).and_then(|n| n.to_str());
    match (parent, parent_by_name(name)) {
        (Some(parent), _) if parent != "block" && name.starts_with(parent) => printed(parent),
        (_, Some(parent)) => printed(parent),
        _ => printed(name),
    }
}

/// Stems of devices that software makes up of others, for where sysfs does not show of which.
const STACKED: [&str; 8] = ["bcache", "dm-", "drbd", "loop", "md", "ram", "zd", "zram"];

/// Whether the I/O of a device counts in a total of the node: each physical device once, and nothing that is made up of others.
///
/// A device with `slaves` (dm, md, bcache) is made up of those, so they count. A multipath device is the exception: it counts, and the
/// disks that are its paths, which it is a `holder` of, do not.
pub(super) fn leaf(root: &Path, name: &str) -> bool {
    let class = root.join("sys/class/block");
    let multipath =
        |name: &str| host::value(&class.join(name).join("dm/uuid")).is_some_and(|u| u.starts_with("mpath-"));
    let name = name.replace('/', "!");
    let entry = class.join(&name);
    if multipath(&name) {
        return true;
    }
    let stacked = || {
        STACKED.iter().any(|stem| name.strip_prefix(stem).is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit())))
    };
    host::names(&entry.join("slaves")).is_empty()
        && !stacked()
        && !host::names(&entry.join("holders")).iter().any(|holder| multipath(holder))
}

/// What tells a block device from another one of its name: the number that the kernel gives to each disk it sees (since 5.15), or
/// what the disk says of itself.
pub(super) fn identity(root: &Path, name: &str) -> Option<String> {
    let entry = root.join("sys/class/block").join(name.replace('/', "!"));
    ["diskseq", "wwid", "device/wwid", "device/serial", "serial", "dm/uuid", "md/uuid"]
        .iter()
        .find_map(|file| host::value(&entry.join(file)))
}

/// Whether a device of this name keeps its data in memory: `ram0`, `zram0`.
pub(super) fn in_memory(name: &str) -> bool {
    numbered(name, "ram") || numbered(name, "zram")
}

fn spare(name: &str) -> bool {
    numbered(name, "loop") || numbered(name, "ram")
}

fn numbered(name: &str, stem: &str) -> bool {
    name.strip_prefix(stem).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// `nvme0c1n1`.
fn nvme_path(name: &str) -> bool {
    name.strip_prefix("nvme").is_some_and(|rest| rest.contains('c') && rest.contains('n') && !rest.contains('p'))
}

/// `sda` for `sda1`, `nvme0n1` for `nvme0n1p2`; none when the name is not that of a partition.
fn parent_by_name(name: &str) -> Option<&str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() == name.len() {
        return None;
    }
    if let Some(disk) = stem.strip_suffix('p').filter(|disk| disk.ends_with(|c: char| c.is_ascii_digit())) {
        return Some(disk);
    }
    let lettered = |kind: &str| {
        stem.strip_prefix(kind).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_lowercase()))
    };
    ["sd", "hd", "vd", "xvd", "dasd"].iter().any(|kind| lettered(kind)).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn names_alone_tell_partitions_where_sysfs_does_not() {
        let none = tempfile::tempdir().unwrap();
        let class = |name: &str| class(none.path(), name);
        for part in ["sda1", "sdaa12", "hda5", "vdb3", "xvda1", "nvme0n1p2", "mmcblk0p1", "md127p1", "cciss/c0d0p1"] {
            assert_eq!(class(part), Class::Part, "{part}");
        }
        for whole in ["sda", "vdb", "nvme0n1", "mmcblk0", "mmcblk0boot0", "md127", "dm-0", "zram0", "sr0", "cciss/c0d0"]
        {
            assert_eq!(class(whole), Class::Whole, "{whole}");
        }
        assert_eq!((class("loop3"), class("ram0")), (Class::Spare, Class::Spare));
        assert_eq!(class("nvme0c1n1"), Class::Hidden);
        assert_eq!(class(""), Class::Whole);
    }

    #[test]
    fn sysfs_outranks_the_name() {
        let root = fake::root(&[
            ("sys/class/block/xvda1/size", "8\n"),
            ("sys/devices/pci0/block/weird/part7/partition", "7\n"),
            ("sys/devices/pci0/block/weird/size", "80\n"),
            ("sys/class/block/cciss!c0d0p1/partition", "1\n"),
            ("sys/class/block/nvme0c0n1/hidden", "1\n"),
            ("sys/class/block/zram0/size", "8\n"),
        ]);
        std::os::unix::fs::symlink("../../devices/pci0/block/weird/part7", root.path().join("sys/class/block/part7"))
            .unwrap();
        assert_eq!(class(root.path(), "xvda1"), Class::Whole);
        assert_eq!(class(root.path(), "cciss/c0d0p1"), Class::Part);
        assert_eq!(class(root.path(), "part7"), Class::Part);
        assert_eq!(whole(root.path(), "part7"), "part7", "the directory's name must begin the partition's");
        assert_eq!(whole(root.path(), "sda1"), "sda");
        assert_eq!(whole(root.path(), "cciss!c0d0p1"), "cciss/c0d0");
        assert_eq!(disks(root.path()), ["xvda1"]);
    }

    #[test]
    fn a_total_counts_each_physical_device_once() {
        let root = fake::root(&[
            ("sys/class/block/sda/holders/md0/x", ""),
            ("sys/class/block/sdb/holders/md0/x", ""),
            ("sys/class/block/md0/slaves/sda/x", ""),
            ("sys/class/block/md0/slaves/sdb/x", ""),
            ("sys/class/block/sdc/holders/dm-0/x", ""),
            ("sys/class/block/sdd/holders/dm-0/x", ""),
            ("sys/class/block/dm-0/slaves/sdc/x", ""),
            ("sys/class/block/dm-0/slaves/sdd/x", ""),
            ("sys/class/block/dm-0/dm/uuid", "mpath-3600508\n"),
            ("sys/class/block/dm-1/slaves/dm-0/x", ""),
            ("sys/class/block/dm-1/dm/uuid", "LVM-x\n"),
            ("sys/class/block/odd/slaves/sda/x", ""),
        ]);
        for counted in ["sda", "sdb", "dm-0", "nvme0n1", "vda", "mmcblk0", "rbd0", "cciss/c0d0"] {
            assert!(leaf(root.path(), counted), "{counted}");
        }
        for not in ["md0", "sdc", "sdd", "dm-1", "odd", "dm-7", "md127", "loop0", "zram0", "bcache0", "zd16", "drbd1"] {
            assert!(!leaf(root.path(), not), "{not}");
        }
    }

    #[test]
    fn the_disk_of_a_partition_is_the_directory_above() {
        let root = fake::root(&[("sys/devices/pci0/block/vda/vda3/partition", "3\n"), ("sys/class/block/x", "")]);
        std::os::unix::fs::symlink("../../devices/pci0/block/vda/vda3", root.path().join("sys/class/block/vda3"))
            .unwrap();
        assert_eq!(whole(root.path(), "vda3"), "vda");
        assert_eq!(whole(root.path(), "vda"), "vda");
    }
}
