//! Block devices: what they are, how they are attached, and how the kernel treats them.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::{adapter, fact, place};
use crate::agent::{block, host, list};
use crate::vocab::fact::Fact;
use crate::vocab::hardware::DiskItem;
use crate::vocab::text::neutral;

/// Most bytes of a page of product data or of udev's notes on a device.
const MOST: u64 = 1 << 16;

/// Drivers of disks, and not of what they hang on.
const UPPER: [&str; 5] = ["sd", "sr", "ses", "mmcblk", "st"];

/// Whole disks, in the order of their names.
pub(super) fn read(root: &Path) -> Vec<DiskItem> {
    block::disks(root).iter().filter_map(|name| disk(root, name)).collect()
}

fn disk(root: &Path, name: &str) -> Option<DiskItem> {
    let entry = root.join("sys/class/block").join(name);
    let size = host::value(&entry.join("size")).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0).saturating_mul(512);
    // The places of network block devices that nobody has filled.
    if size == 0 && !entry.join("device").exists() {
        return None;
    }
    let device = entry.join("device");
    let place = place::up(root, if device.exists() { &device } else { &entry });
    let queue = |file: &str| entry.join("queue").join(file);
    let either = |paths: &[&str]| {
        paths.iter().fold(Fact::NotPresent, |best, path| best.or_else(|| fact::word(&entry.join(path))))
    };
    Some(DiskItem {
        name: neutral(&block::printed(name)),
        model: model(&entry),
        size,
        rotational: match host::value(&queue("rotational")).as_deref() {
            Some("0") => Some(false),
            Some("1") => Some(true),
            _ => None,
        },
        serial: serial(root, &entry),
        wwid: either(&["wwid", "device/wwid", "device/wwn"]).or_else(|| noted(root, &entry, "ID_WWN")),
        firmware: either(&["device/firmware_rev", "device/rev", "device/fwrev"]),
        logical_sector: fact::number(&queue("logical_block_size")),
        physical_sector: fact::number(&queue("physical_block_size")),
        scheduler: host::chosen(&queue("scheduler")).map_or_else(|| fact::setting(&queue("scheduler")), Fact::Is),
        write_cache: fact::setting(&queue("write_cache")),
        transport: transport(&entry, name, &place),
        controller: controller(&entry, &place),
        driver: driver(&place),
        bus: bus(&place),
        over: host::names(&entry.join("slaves")).iter().map(|below| neutral(&block::printed(below))).collect(),
    })
}

/// PCI's class of RAID controllers, as sysfs writes it, without the programming interface.
const RAID: &str = "0x0104";

/// Whether a disk, by its name in sysfs, or one that it is made of, hangs on a RAID controller.
pub(super) fn hangs_on_raid(root: &Path, name: &str) -> bool {
    let entry = root.join("sys/class/block").join(name.replace('/', "!"));
    let is_raid =
        |directory: &PathBuf| host::value(&directory.join("class")).is_some_and(|class| class.starts_with(RAID));
    place::up(root, &entry).iter().any(is_raid)
        || host::names(&entry.join("slaves")).iter().any(|below| below != name && hangs_on_raid(root, below))
}

/// Serial number and model of a whole disk, by its name in sysfs.
pub(super) fn identity(root: &Path, name: &str) -> (Option<String>, Option<String>) {
    let entry = root.join("sys/class/block").join(name);
    (serial(root, &entry).known().cloned(), model(&entry).known().cloned())
}

fn serial(root: &Path, entry: &Path) -> Fact {
    let own = ["device/serial", "serial"].iter();
    own.fold(Fact::NotPresent, |best, path| best.or_else(|| fact::word(&entry.join(path))))
        .or_else(|| product_page(&entry.join("device/vpd_pg80")))
        .or_else(|| noted(root, entry, "ID_SERIAL_SHORT"))
}

/// SCSI disks name their vendor apart; `ATA` stands for none.
fn model(entry: &Path) -> Fact {
    let scsi = fact::word(&entry.join("device/model"));
    let vendor = host::value(&entry.join("device/vendor")).filter(|v| v != "ATA" && !v.starts_with("0x"));
    match (vendor, scsi) {
        (Some(vendor), Fact::Is(model)) if !model.starts_with(&vendor) => Fact::Is(format!("{vendor} {model}")),
        (_, Fact::NotPresent) => fact::word(&entry.join("device/name")),
        (_, model) => model,
    }
}

/// The serial number in a SCSI disk's page of product data: four bytes of head, then text.
fn product_page(path: &Path) -> Fact {
    let mut bytes = Vec::new();
    match std::fs::File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes)) {
        Ok(_) => page_text(&bytes).map_or(Fact::NotPresent, fact::filled),
        Err(error) => fact::refusal(&error),
    }
}

fn page_text(page: &[u8]) -> Option<String> {
    let length = usize::from(u16::from_be_bytes(page.get(2..)?.first_chunk().copied()?));
    let text = page.get(4..)?;
    let text = String::from_utf8_lossy(&text[..length.min(text.len())]).into_owned();
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| neutral(text))
}

/// What udev asked the disk itself and noted down.
fn noted(root: &Path, entry: &Path, key: &str) -> Fact {
    let Some(number) = host::value(&entry.join("dev")) else { return Fact::NotPresent };
    if !number.bytes().all(|b| b.is_ascii_digit() || b == b':') {
        return Fact::NotPresent;
    }
    let Ok(text) = host::beginning(&root.join("run/udev/data").join(format!("b{number}")), MOST) else {
        return Fact::NotPresent;
    };
    let value = text.lines().find_map(|line| line.strip_prefix("E:")?.strip_prefix(key)?.strip_prefix('='));
    value.map(str::trim).filter(|v| !v.is_empty()).map_or(Fact::NotPresent, |value| fact::filled(neutral(value)))
}

fn transport(entry: &Path, name: &str, place: &[PathBuf]) -> Fact {
    if let Some(kind) = stacked(entry, name) {
        return Fact::Is(kind);
    }
    if let Some(nvme) = fact::link(&entry.join("device")).filter(|to| to.starts_with("nvme")) {
        let fabric = host::value(&entry.join("device/transport"))
            .or_else(|| host::value(&entry.join("device").join(first_path(entry, &nvme)?).join("transport")));
        return Fact::Is(match fabric.as_deref() {
            None | Some("pcie") => "nvme".to_owned(),
            Some(fabric) => format!("nvme over {fabric}"),
        });
    }
    let known = |directory: &PathBuf| {
        let name = place::name(directory);
        let kinds: [(&str, &str); 12] = [
            ("end_device-", "sas"),
            ("session", "iscsi"),
            ("rport-", "fc"),
            ("ata", "sata"),
            ("usb", "usb"),
            ("virtio", "virtio"),
            ("mmc", "mmc"),
            ("vbd-", "xen"),
            ("vmbus", "hyper-v"),
            ("ccw", "channel"),
            ("cciss", "smart array"),
            ("nbd", "network"),
        ];
        let numbered =
            |stem: &str| name.strip_prefix(stem).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        kinds.iter().find(|(stem, _)| numbered(stem)).map(|(_, kind)| (*kind).to_owned())
    };
    let hyperv = || place.iter().any(|d| place::name(d).starts_with("VMBUS")).then(|| "hyper-v".to_owned());
    match place.iter().find_map(known).or_else(hyperv) {
        Some(kind) => Fact::Is(kind),
        None if place.iter().any(|d| list::numbered(place::name(d), "host").is_some()) => Fact::Is("scsi".to_owned()),
        None if place::is_made_up(place) => Fact::Is("virtual".to_owned()),
        None => Fact::Unreadable("sysfs does not tell".to_owned()),
    }
}

/// Devices that are made of others.
fn stacked(entry: &Path, name: &str) -> Option<String> {
    if entry.join("md").is_dir() || list::numbered(name, "md").is_some() {
        return Some("md".to_owned());
    }
    if !entry.join("dm").is_dir() {
        return None;
    }
    let uuid = host::value(&entry.join("dm/uuid")).unwrap_or_default();
    let kinds = [("LVM-", "lvm"), ("CRYPT-", "crypt"), ("mpath-", "multipath"), ("DMRAID-", "dmraid"), ("VDO-", "vdo")];
    let kind = kinds.iter().find(|(stem, _)| uuid.starts_with(stem)).map_or("device mapper", |(_, kind)| kind);
    Some(kind.to_owned())
}

/// The first controller of an NVMe device that has several paths.
fn first_path(entry: &Path, subsystem: &str) -> Option<String> {
    if !subsystem.starts_with("nvme-subsys") {
        return None;
    }
    host::names(&entry.join("device")).into_iter().find(|name| list::numbered(name, "nvme").is_some())
}

fn controller(entry: &Path, place: &[PathBuf]) -> Fact {
    if let Some(nvme) = fact::link(&entry.join("device")).filter(|to| to.starts_with("nvme")) {
        let paths: Vec<String> = host::names(&entry.join("device"))
            .into_iter()
            .filter(|name| nvme.starts_with("nvme-subsys") && list::numbered(name, "nvme").is_some())
            .collect();
        return Fact::Is(if paths.is_empty() { nvme } else { paths.join(" ") });
    }
    let host = place.iter().map(|directory| place::name(directory)).find(|name| list::numbered(name, "host").is_some());
    host.map_or(Fact::NotPresent, |host| Fact::Is(host.to_owned()))
}

fn driver(place: &[PathBuf]) -> Fact {
    let driver =
        |directory: &PathBuf| fact::link(&directory.join("driver")).filter(|name| !UPPER.contains(&name.as_str()));
    place.iter().find_map(driver).map_or(Fact::NotPresent, Fact::Is)
}

fn bus(place: &[PathBuf]) -> Fact {
    let address = place.iter().map(|directory| place::name(directory)).find(|name| adapter::is_address(name));
    address.map_or(Fact::NotPresent, |address| Fact::Is(address.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::agent::host::fake;

    const HOST: &str = "sys/devices/pci0000:00/0000:03:00.0/host2/target2:0:0/2:0:0:0";

    fn link(root: &Path, to: &str, from: &str) {
        std::fs::create_dir_all(root.join(from).parent().unwrap()).unwrap();
        symlink(to, root.join(from)).unwrap();
    }

    #[test]
    fn a_scsi_disk_tells_its_controller_and_its_serial() {
        let root = fake::root(&[]);
        let put = |path: &str, text: &[u8]| fake::put(root.path(), &format!("{HOST}/{path}"), text);
        put("vendor", b"MAKER   \n");
        put("model", b"VD 1\n");
        put("rev", b"4.2 \n");
        put("vpd_pg80", b"\0\x80\0\x08  AB12  tail");
        put("block/sda/size", b"2000\n");
        put("block/sda/queue/rotational", b"1\n");
        put("block/sda/queue/logical_block_size", b"512\n");
        put("block/sda/queue/scheduler", b"none [mq-deadline]\n");
        put("block/sda/queue/write_cache", b"write through\n");
        link(root.path(), "../../../devices/x", &format!("{HOST}/driver"));
        link(root.path(), "../../../bus/pci/drivers/megaraid_sas", "sys/devices/pci0000:00/0000:03:00.0/driver");
        link(root.path(), "../..", &format!("{HOST}/block/sda/device"));
        link(root.path(), &format!("../../../{HOST}/block/sda"), "sys/class/block/sda");
        std::fs::remove_file(root.path().join(HOST).join("driver")).unwrap();
        link(root.path(), "../../../../../../bus/scsi/drivers/sd", &format!("{HOST}/driver"));
        fake::put(root.path(), "sys/devices/virtual/block/dm-0/slaves/sda", b"");
        link(root.path(), "../../devices/virtual/block/dm-0", "sys/class/block/dm-0");
        let on_raid = |class: &str| {
            fake::put(root.path(), "sys/devices/pci0000:00/0000:03:00.0/class", class.as_bytes());
            ["sda", "dm-0", "sdb"].map(|name| hangs_on_raid(root.path(), name))
        };
        assert_eq!((on_raid("0x010400\n"), on_raid("0x010700\n")), ([true, true, false], [false; 3]));
        let all = read(root.path());
        let got = all.iter().find(|disk| disk.name == "sda").unwrap();
        let is = |text: &str| Fact::Is(text.to_owned());
        assert_eq!((&got.model, &got.serial, &got.firmware), (&is("MAKER VD 1"), &is("AB12"), &is("4.2")));
        assert_eq!((&got.transport, &got.controller, &got.driver), (&is("scsi"), &is("host2"), &is("megaraid_sas")));
        assert_eq!(
            (&got.bus, &got.scheduler, &got.write_cache),
            (&is("0000:03:00.0"), &is("mq-deadline"), &is("write through"))
        );
        assert_eq!((&got.logical_sector, &got.physical_sector), (&Fact::Is(512), &Fact::NotPresent));
    }

    #[test]
    fn transports_are_told_by_the_way_up() {
        let kind = |path: &str| {
            let root = fake::root(&[("sys/class/block/x", "")]);
            std::fs::remove_file(root.path().join("sys/class/block/x")).unwrap();
            fake::put(root.path(), &format!("sys/devices/{path}/block/sda/size"), "8\n");
            link(root.path(), "../..", &format!("sys/devices/{path}/block/sda/device"));
            link(root.path(), &format!("../../devices/{path}/block/sda"), "sys/class/block/sda");
            read(root.path())[0].transport.to_string()
        };
        assert_eq!(kind("pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0"), "sata");
        assert_eq!(kind("pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0"), "usb");
        assert_eq!(kind("pci0/host1/port-1:0/end_device-1:0/target1:0:0/1:0:0:0"), "sas");
        assert_eq!(kind("platform/host3/session1/target3:0:0/3:0:0:0"), "iscsi");
        assert_eq!(kind("pci0/virtio3"), "virtio");
        assert_eq!(kind("platform/soc/mmc_host/mmc0/mmc0:0001"), "mmc");
        assert_eq!(kind("VMBUS:00/1234/host0/target0:0:0/0:0:0:0"), "hyper-v");
        assert_eq!(kind("pci0/other"), "sysfs does not tell");
    }

    #[test]
    fn nvme_and_stacked_devices_name_what_is_below() {
        let root = fake::root(&[
            ("sys/devices/pci0/nvme/nvme0/serial", "S9\n"),
            ("sys/devices/pci0/nvme/nvme0/transport", "tcp\n"),
            ("sys/devices/pci0/nvme/nvme0/nvme0n1/size", "8\n"),
            ("sys/class/block/dm-0/size", "8\n"),
            ("sys/class/block/dm-0/dm/uuid", "LVM-abc\n"),
            ("sys/class/block/dm-0/slaves/nvme0n1/size", "8\n"),
        ]);
        link(root.path(), "..", "sys/devices/pci0/nvme/nvme0/nvme0n1/up");
        link(root.path(), "../../nvme0", "sys/devices/pci0/nvme/nvme0/nvme0n1/device");
        link(root.path(), "../../devices/pci0/nvme/nvme0/nvme0n1", "sys/class/block/nvme0n1");
        let got = read(root.path());
        assert_eq!((got[0].transport.to_string(), &got[0].over[..]), ("lvm".to_owned(), &["nvme0n1".to_owned()][..]));
        assert_eq!(
            (got[1].transport.to_string(), got[1].controller.to_string()),
            ("nvme over tcp".to_owned(), "nvme0".to_owned())
        );
        assert_eq!(got[1].serial, Fact::Is("S9".into()));
    }

    #[test]
    fn udev_notes_fill_the_gap_and_damage_does_no_harm() {
        let root = fake::root(&[
            ("sys/class/block/sda/size", "8\n"),
            ("sys/class/block/sda/dev", "8:0\n"),
            ("run/udev/data/b8:0", "S:disk/x\nE:ID_SERIAL=long\nE:ID_SERIAL_SHORT=Z1\n"),
        ]);
        assert_eq!(read(root.path())[0].serial, Fact::Is("Z1".into()));
        for page in [&b""[..], b"\0\x80", b"\0\x80\xff\xff", b"\0\x80\xff\xffA\0", b"\0\x80\0\0A"] {
            page_text(page);
        }
        assert_eq!(page_text(b"\0\x80\xff\xffA\x1b"), Some("A?".into()));
        fake::put(root.path(), "sys/class/block/sda/dev", "../x\n");
        assert_eq!(read(root.path())[0].serial, Fact::NotPresent);
    }
}
