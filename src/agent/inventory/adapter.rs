//! What hangs on the PCI bus: controllers of storage, and the links of devices.

use std::path::Path;

use super::fact;
use crate::agent::host;
use crate::vocab::fact::Fact;
use crate::vocab::hardware::Adapter;

/// PCI's class of storage is 01; what its subclasses are called.
const SUBCLASSES: [(&str, &str); 9] = [
    ("00", "SCSI"),
    ("01", "IDE"),
    ("04", "RAID"),
    ("05", "ATA"),
    ("06", "SATA"),
    ("07", "SAS"),
    ("08", "NVMe"),
    ("09", "UFS"),
    ("80", "other storage"),
];

/// The controllers of storage, in the order of their addresses.
pub(super) fn read(root: &Path) -> Vec<Adapter> {
    let devices = root.join("sys/bus/pci/devices");
    host::names(&devices).into_iter().filter_map(|bus| adapter(&devices.join(&bus), &bus)).collect()
}

fn adapter(device: &Path, bus: &str) -> Option<Adapter> {
    let class = host::value(&device.join("class"))?;
    let subclass = class.strip_prefix("0x01")?.get(..2)?;
    let id = |name: &str| {
        host::value(&device.join(name)).map_or("?".to_owned(), |id| id.trim_start_matches("0x").to_owned())
    };
    let known = SUBCLASSES.iter().find(|(number, _)| *number == subclass);
    Some(Adapter {
        bus: crate::vocab::text::neutral(bus),
        kind: known.map_or_else(|| format!("storage class {subclass}"), |(_, name)| (*name).to_owned()),
        ids: format!("{}:{} {}:{}", id("vendor"), id("device"), id("subsystem_vendor"), id("subsystem_device")),
        driver: fact::link(&device.join("driver")).map_or(Fact::NotPresent, Fact::Is),
        link: link(device),
    })
}

/// `8.0 GT/s x8`, and the most it could be where that is more: `8.0 GT/s x4 (of 16.0 GT/s x8)`.
pub(super) fn link(device: &Path) -> Fact {
    let ends = |speed: &str, width: &str| {
        let speed = fact::setting(&device.join(speed));
        let width = fact::setting(&device.join(width));
        match (speed, width) {
            (Fact::Is(speed), Fact::Is(width)) if width != "0" && width != "255" && !speed.starts_with("Unknown") => {
                Fact::Is(format!("{} x{width}", speed.trim_end_matches(" PCIe")))
            }
            (Fact::Is(_), Fact::Is(_)) => Fact::NotPresent,
            (Fact::Is(_), why) | (why, _) => why,
        }
    };
    match (ends("current_link_speed", "current_link_width"), ends("max_link_speed", "max_link_width")) {
        (Fact::Is(now), Fact::Is(most)) if now != most => Fact::Is(format!("{now} (of {most})")),
        (now, _) => now,
    }
}

/// Whether a directory of sysfs has the name of a PCI device: `0000:3b:00.0`.
pub(super) fn is_address(name: &str) -> bool {
    let parts: Vec<&str> = name.split([':', '.']).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    // Domains of five digits exist behind Intel's VMD.
    matches!(lengths[..], [4 | 5, 2, 2, 1]) && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn controllers_of_storage_are_told_with_their_links() {
        let root = fake::root(&[
            ("sys/bus/pci/devices/0000:03:00.0/class", "0x010400\n"),
            ("sys/bus/pci/devices/0000:03:00.0/vendor", "0x1000\n"),
            ("sys/bus/pci/devices/0000:03:00.0/device", "0x005d\n"),
            ("sys/bus/pci/devices/0000:03:00.0/current_link_speed", "8.0 GT/s PCIe\n"),
            ("sys/bus/pci/devices/0000:03:00.0/current_link_width", "4\n"),
            ("sys/bus/pci/devices/0000:03:00.0/max_link_speed", "8.0 GT/s PCIe\n"),
            ("sys/bus/pci/devices/0000:03:00.0/max_link_width", "8\n"),
            ("sys/bus/pci/devices/0000:04:00.0/class", "0x020000\n"),
            ("sys/bus/pci/devices/0000:05:00.0/class", "0x01\n"),
        ]);
        let got = read(root.path());
        assert_eq!(got.len(), 1);
        assert_eq!((got[0].kind.as_str(), got[0].ids.as_str()), ("RAID", "1000:005d ?:?"));
        assert_eq!(
            (&got[0].link, &got[0].driver),
            (&Fact::Is("8.0 GT/s x4 (of 8.0 GT/s x8)".into()), &Fact::NotPresent)
        );
    }

    #[test]
    fn addresses_are_told_from_other_names() {
        assert!(is_address("0000:3b:00.0") && is_address("10000:e1:00.0"));
        assert!(!is_address("pci0000:3a") && !is_address("virtio3") && !is_address("0:0:0:0") && !is_address(""));
    }
}
