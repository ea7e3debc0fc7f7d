//! The machine as a whole: its names, firmware, system and hypervisor.

use std::path::Path;

use super::fact;
use crate::agent::{cpuinfo, host};
use crate::vocab::fact::Fact;
use crate::vocab::node::Machine;
use crate::vocab::text::neutral;

/// Words in vendor and product of virtual machines, and what they are.
const HYPERVISORS: [(&str, &str); 21] = [
    ("vmware", "VMware"),
    ("virtualbox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("microsoft corporation virtual machine", "Hyper-V"),
    ("hyper-v", "Hyper-V"),
    ("parallels", "Parallels"),
    ("bhyve", "bhyve"),
    ("amazon ec2", "Amazon EC2"),
    ("google compute engine", "Google Compute Engine"),
    ("alibaba cloud", "Alibaba Cloud"),
    ("digitalocean", "DigitalOcean"),
    ("hetzner vserver", "Hetzner vServer"),
    ("openstack", "OpenStack"),
    ("nutanix", "Nutanix AHV"),
    ("rhev", "oVirt"),
    ("ovirt", "oVirt"),
    ("apple virtualization", "Apple Virtualization"),
    ("xen", "Xen"),
    ("kvm", "KVM"),
    ("qemu", "QEMU"),
    ("bochs", "Bochs"),
];

/// SMBIOS's numbers of enclosures that are not what they are called here by default.
const CHASSIS: [(&[u32], &str); 9] = [
    (&[3, 4, 5, 6, 7, 13, 15, 16, 24, 34, 35, 36], "desktop"),
    (&[8, 9, 10, 14, 30, 31, 32], "portable"),
    (&[17], "main server chassis"),
    (&[18, 19, 20, 21, 22], "expansion or sub-chassis"),
    (&[23], "rack mount"),
    (&[25], "multi-system chassis"),
    (&[28], "blade"),
    (&[29], "blade enclosure"),
    (&[1], "other"),
];

/// Firmware, board and the kernel's lasting choices. The size of a page is no file: it is this process's own, if that runs on
/// the machine that is read.
pub(super) fn read(root: &Path, page: usize) -> Machine {
    let dmi = |name: &str| fact::word(&root.join("sys/class/dmi/id").join(name));
    let foreign = || Fact::Unreadable("no file tells".to_owned());
    let page = u32::try_from(page).ok().filter(|_| root == Path::new("/")).map_or_else(foreign, Fact::Is);
    Machine {
        uuid: dmi("product_uuid"),
        board: joined(dmi("board_vendor"), dmi("board_name")),
        bios_vendor: dmi("bios_vendor"),
        bios_version: dmi("bios_version"),
        bios_date: dmi("bios_date"),
        chassis: match dmi("chassis_type") {
            Fact::Is(number) => chassis(&number),
            why => why,
        },
        page,
        clocksource: fact::setting(&root.join("sys/devices/system/clocksource/clocksource0/current_clocksource")),
    }
}

fn chassis(number: &str) -> Fact {
    let Ok(number) = number.parse::<u32>() else { return Fact::Unreadable(format!("`{number}` is no number")) };
    // 2 is the firmware's word for unknown.
    let known = CHASSIS.iter().find(|(numbers, _)| numbers.contains(&number));
    match (number, known) {
        (_, Some((_, name))) => Fact::Is((*name).to_owned()),
        (2, None) => Fact::NotPresent,
        (_, None) => Fact::Is(format!("chassis type {number}")),
    }
}

pub(super) fn host_name(root: &Path) -> Option<String> {
    // The kernel's own name for a host that was given none is `(none)`.
    ["proc/sys/kernel/hostname", "etc/hostname"]
        .iter()
        .filter_map(|path| host::value(&root.join(path)))
        .find(|name| name != "(none)")
}

pub(super) fn serial(root: &Path) -> Fact {
    fact::first(
        root,
        &[
            "sys/class/dmi/id/product_serial",
            "sys/class/dmi/id/chassis_serial",
            "proc/device-tree/serial-number",
            "sys/firmware/devicetree/base/serial-number",
        ],
    )
}

pub(super) fn product(root: &Path) -> Fact {
    let dmi = root.join("sys/class/dmi/id");
    let named = joined(fact::word(&dmi.join("sys_vendor")), fact::word(&dmi.join("product_name")));
    named.or_else(|| fact::first(root, &["proc/device-tree/model", "sys/firmware/devicetree/base/model"]))
}

/// Vendor and name, the vendor once.
fn joined(vendor: Fact, name: Fact) -> Fact {
    match (vendor, name) {
        (Fact::Is(vendor), Fact::Is(name)) if !name.starts_with(&vendor) => Fact::Is(format!("{vendor} {name}")),
        (vendor, name) => name.or_else(|| vendor),
    }
}

pub(super) fn system(root: &Path) -> Option<String> {
    let text = ["etc/os-release", "usr/lib/os-release"].iter().find_map(|path| host::text(&root.join(path)).ok())?;
    let named = |key: &str| text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='));
    let quoted = named("PRETTY_NAME").or_else(|| named("NAME"))?.trim();
    let inner = ['"', '\''].iter().find_map(|mark| quoted.strip_prefix(*mark)?.strip_suffix(*mark));
    let name = inner.unwrap_or(quoted).replace('\\', "");
    (!name.is_empty()).then(|| neutral(&name))
}

pub(super) fn virtualisation(root: &Path, cpuinfo: &str, product: &Fact) -> Fact {
    if let Some(kind) = host::value(&root.join("sys/hypervisor/type")).filter(|kind| kind != "none") {
        return Fact::Is(if kind == "xen" { "Xen".to_owned() } else { kind });
    }
    let named = match product {
        Fact::Is(name) => {
            let name = name.to_lowercase();
            // Clouds leave their name on machines that they rent out whole.
            let metal = name.split(['.', ' ', '-']).any(|word| word == "metal");
            HYPERVISORS.iter().find(|(words, _)| !metal && name.contains(words)).map(|(_, kind)| (*kind).to_owned())
        }
        _ => None,
    };
    match cpuinfo::hypervisor(cpuinfo) {
        Some(true) => Fact::Is(named.or_else(|| by_clock(root)).unwrap_or_else(|| "unnamed hypervisor".to_owned())),
        Some(false) => Fact::NotPresent,
        None => named.or_else(|| by_firmware(root, cpuinfo)).map_or(Fact::NotPresent, Fact::Is),
    }
}

/// A guest without DMI still gets a clock from its hypervisor.
fn by_clock(root: &Path) -> Option<String> {
    let clocks = host::value(&root.join("sys/devices/system/clocksource/clocksource0/available_clocksource"))?;
    let kinds = [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")];
    kinds.iter().find(|(clock, _)| clocks.contains(clock)).map(|(_, kind)| (*kind).to_owned())
}

/// ARM's device tree, POWER's platform and the control program of s390.
fn by_firmware(root: &Path, cpuinfo: &str) -> Option<String> {
    let control = host::text(&root.join("proc/sysinfo")).unwrap_or_default();
    let control = control.lines().find(|line| line.contains("Control Program:")).and_then(|line| line.split_once(':'));
    host::value(&root.join("proc/device-tree/hypervisor/compatible"))
        .or_else(|| control.map(|(_, program)| neutral(program.trim())))
        .or_else(|| cpuinfo::first(cpuinfo, "model")?.contains("emulated by qemu").then(|| "QEMU".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn guests_are_told_from_metal() {
        let kind = |product: &str, cpuinfo: &str, files: &[(&str, &str)]| {
            let root = fake::root(files);
            virtualisation(root.path(), cpuinfo, &Fact::Is(product.to_owned())).to_string()
        };
        let (guest, metal, arm) = ("flags : hypervisor\n", "flags : fpu\n", "Features : fp\n");
        let clocks = [("sys/devices/system/clocksource/clocksource0/available_clocksource", "kvm-clock tsc\n")];
        assert_eq!(kind("QEMU Standard PC", guest, &[]), "QEMU");
        assert_eq!(kind("Maker R1", guest, &clocks), "KVM");
        assert_eq!(kind("Maker R1", guest, &[]), "unnamed hypervisor");
        assert_eq!(kind("Amazon EC2 c5.metal", metal, &[]), "not present");
        assert_eq!(kind("Amazon EC2 m6g.metal", arm, &[]), "not present");
        assert_eq!(kind("Amazon EC2 m6g.large", arm, &[]), "Amazon EC2");
        assert_eq!(kind("Maker R1", metal, &[("sys/hypervisor/type", "xen\n")]), "Xen");
        assert_eq!(kind("x", arm, &[("proc/sysinfo", "VM00 Control Program:   KVM/Linux \n")]), "KVM/Linux");
    }

    #[test]
    fn firmware_board_and_chassis_are_told() {
        let root = fake::root(&[
            ("sys/class/dmi/id/board_vendor", "Maker\n"),
            ("sys/class/dmi/id/board_name", "B1\n"),
            ("sys/class/dmi/id/bios_vendor", "Default string\n"),
            ("sys/class/dmi/id/bios_version", "2.1\n"),
            ("sys/class/dmi/id/chassis_type", "23\n"),
            ("sys/class/dmi/id/product_name", "Maker R1\n"),
            ("sys/class/dmi/id/sys_vendor", "Maker\n"),
        ]);
        let got = read(root.path(), 4096);
        assert_eq!((got.board, got.bios_vendor), (Fact::Is("Maker B1".into()), Fact::NotPresent));
        assert_eq!((got.chassis, got.uuid), (Fact::Is("rack mount".into()), Fact::NotPresent));
        assert_eq!(got.page.known(), None, "another machine's pages may be larger");
        assert_eq!(read(Path::new("/"), 4096).page, Fact::Is(4096));
        assert_eq!(product(root.path()), Fact::Is("Maker R1".into()));
        assert_eq!(
            (chassis("2"), chassis("99"), chassis("x").known()),
            (Fact::NotPresent, Fact::Is("chassis type 99".into()), None)
        );
    }
}
