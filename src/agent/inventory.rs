//! What the node is made of: machine, CPUs, memory, disks, network interfaces.
//!
//! Nothing here is needed for a run, so whatever cannot be read is said to be so and never stops anything. Texts come from
//! firmware and drivers and are made safe to print.

use std::io::{self, ErrorKind};
use std::path::Path;

use super::resources::Resources;
use super::{block, cpuinfo, host};
use crate::vocab::node::{DiskItem, Fact, Inventory, NicItem};
use crate::vocab::text::neutral;

/// What makers of boards leave in DMI fields that they did not fill in.
const PLACEHOLDERS: [&str; 19] = [
    "none",
    "null",
    "n/a",
    "na",
    "unknown",
    "empty",
    "default",
    "default string",
    "not specified",
    "not applicable",
    "not available",
    "o.e.m.",
    "oem",
    "to be filled by o.e.m.",
    "to be filled by oem",
    "system manufacturer",
    "system product name",
    "system serial number",
    "chassis serial number",
];

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

/// Reads it below `root`; [`sysinfo`] fills gaps only where `root` is `/`, as it can look nowhere else.
#[must_use]
pub fn read(root: &Path, resources: &Resources) -> Inventory {
    let cpuinfo = host::text(&root.join("proc/cpuinfo")).unwrap_or_default();
    let gap = |fill: fn() -> Option<String>| (root == Path::new("/")).then(fill).flatten().map(|text| neutral(&text));
    let unknown = || "unknown".to_owned();
    let product = product(root);
    Inventory {
        host: host_name(root).or_else(|| gap(|| sysinfo::System::host_name().ok())).unwrap_or_else(unknown),
        serial: serial(root),
        cpu: cpuinfo::model(&cpuinfo)
            .map(|model| neutral(&model))
            .or_else(|| gap(|| Some(sysinfo::System::cpu_arch())))
            .unwrap_or_else(unknown),
        cpus: cpus(root, resources),
        usable_cpus: u32::try_from(resources.cpus.len()).unwrap_or(u32::MAX),
        memory: memory(root),
        kernel: host::value(&root.join("proc/sys/kernel/osrelease"))
            .or_else(|| gap(|| sysinfo::System::kernel_version().ok()))
            .unwrap_or_else(unknown),
        system: system(root).or_else(|| gap(|| sysinfo::System::long_os_version().ok())).unwrap_or_else(unknown),
        virtualisation: virtualisation(root, &cpuinfo, &product),
        product,
        disks: disks(root),
        nics: nics(root),
    }
}

fn host_name(root: &Path) -> Option<String> {
    // The kernel's own name for a host that was given none is `(none)`.
    ["proc/sys/kernel/hostname", "etc/hostname"]
        .iter()
        .filter_map(|path| host::value(&root.join(path)))
        .find(|name| name != "(none)")
}

fn serial(root: &Path) -> Fact {
    first_fact(
        root,
        &[
            "sys/class/dmi/id/product_serial",
            "sys/class/dmi/id/chassis_serial",
            "proc/device-tree/serial-number",
            "sys/firmware/devicetree/base/serial-number",
        ],
    )
}

fn product(root: &Path) -> Fact {
    let dmi = root.join("sys/class/dmi/id");
    match (fact(host::word(&dmi.join("sys_vendor"))), fact(host::word(&dmi.join("product_name")))) {
        (Fact::Is(vendor), Fact::Is(name)) if !name.starts_with(&vendor) => Fact::Is(format!("{vendor} {name}")),
        (_, Fact::Is(name)) => Fact::Is(name),
        (Fact::Is(vendor), _) => Fact::Is(vendor),
        (Fact::NeedsRoot, _) | (_, Fact::NeedsRoot) => Fact::NeedsRoot,
        _ => first_fact(root, &["proc/device-tree/model", "sys/firmware/devicetree/base/model"]),
    }
}

/// The first that is known; else the reason why none is.
fn first_fact(root: &Path, paths: &[&str]) -> Fact {
    let mut best = Fact::NotPresent;
    for path in paths {
        match fact(host::word(&root.join(path))) {
            found @ Fact::Is(_) => return found,
            Fact::NeedsRoot => best = Fact::NeedsRoot,
            Fact::NotPresent => {}
        }
    }
    best
}

fn fact(read: io::Result<Option<String>>) -> Fact {
    match read {
        Ok(Some(text)) if !is_placeholder(&text) => Fact::Is(text),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Fact::NeedsRoot,
        _ => Fact::NotPresent,
    }
}

fn is_placeholder(text: &str) -> bool {
    let text = text.to_lowercase();
    PLACEHOLDERS.contains(&text.as_str())
        || text.chars().all(|c| matches!(c, '0' | 'x' | '.' | '-' | '*' | '?' | ' '))
        || text.len() > 5 && "0123456789".contains(&text)
}

fn cpus(root: &Path, resources: &Resources) -> u32 {
    let stat = host::text(&root.join("proc/stat")).unwrap_or_default();
    // The first block of CPUs only: captures with several readings in one file exist.
    let block = stat.lines().skip_while(|line| !line.starts_with("cpu")).map_while(|line| line.strip_prefix("cpu"));
    let counted = block.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).count() as u64;
    let online = || host::value(&root.join("sys/devices/system/cpu/online")).map_or(0, |list| listed(&list));
    let cpus = [counted, online(), resources.cpus.len() as u64].into_iter().find(|n| *n > 0);
    cpus.and_then(|n| u32::try_from(n).ok()).unwrap_or(1)
}

/// How many numbers a list such as `0-15,88-103` holds.
fn listed(list: &str) -> u64 {
    let count = |range: &str| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to) = (from.trim().parse::<u32>().ok()?, to.trim().parse::<u32>().ok()?);
        Some(u64::from(to.checked_sub(from)?) + 1)
    };
    list.split(',').filter_map(count).sum()
}

fn memory(root: &Path) -> u64 {
    let text = host::text(&root.join("proc/meminfo")).unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|rest| rest.split_ascii_whitespace().next()).and_then(|n| n.parse::<u64>().ok());
    match kib {
        Some(kib) => kib.saturating_mul(1024),
        None if root == Path::new("/") => sysinfo::System::new().map_or(0, |mut system| {
            system.refresh_memory();
            system.total_memory()
        }),
        None => 0,
    }
}

fn system(root: &Path) -> Option<String> {
    let text = ["etc/os-release", "usr/lib/os-release"].iter().find_map(|path| host::text(&root.join(path)).ok())?;
    let named = |key: &str| text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='));
    let quoted = named("PRETTY_NAME").or_else(|| named("NAME"))?.trim();
    let inner = ['"', '\''].iter().find_map(|mark| quoted.strip_prefix(*mark)?.strip_suffix(*mark));
    let name = inner.unwrap_or(quoted).replace('\\', "");
    (!name.is_empty()).then(|| neutral(&name))
}

fn virtualisation(root: &Path, cpuinfo: &str, product: &Fact) -> Fact {
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

fn disks(root: &Path) -> Vec<DiskItem> {
    let item = |name: String| {
        let entry = root.join("sys/class/block").join(&name);
        let size =
            host::value(&entry.join("size")).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0).saturating_mul(512);
        // The places of network block devices that nobody has filled.
        if size == 0 && !entry.join("device").exists() {
            return None;
        }
        let model = match fact(host::word(&entry.join("device/model"))) {
            Fact::NotPresent => fact(host::word(&entry.join("device/name"))),
            model => model,
        };
        let rotational = match host::value(&entry.join("queue/rotational")).as_deref() {
            Some("0") => Some(false),
            Some("1") => Some(true),
            _ => None,
        };
        Some(DiskItem { name: neutral(&block::printed(&name)), model, size, rotational })
    };
    block::disks(root).into_iter().filter_map(item).collect()
}

fn nics(root: &Path) -> Vec<NicItem> {
    let net = root.join("sys/class/net");
    let mut names = host::names(&net);
    // The bonding driver keeps a plain file among the interfaces.
    names.retain(|name| name != "lo" && net.join(name).is_dir());
    names.into_iter().map(|name| NicItem { speed: host::link_speed(&net.join(&name)), name: neutral(&name) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    fn here() -> Resources {
        Resources { cpus: vec![0, 3], memory: 1 << 30, caches: None, page: 4096 }
    }

    #[test]
    fn a_server_is_read_in_full() {
        let root = fake::root(&[
            ("proc/sys/kernel/hostname", "(none)\n"),
            ("etc/hostname", "node\u{1b}07\n"),
            ("sys/class/dmi/id/product_serial", "To Be Filled By O.E.M.\n"),
            ("sys/class/dmi/id/chassis_serial", "7K2\n"),
            ("sys/class/dmi/id/sys_vendor", "Maker\n"),
            ("sys/class/dmi/id/product_name", "R1\n"),
            ("proc/cpuinfo", "model name : CPU\nflags : fpu\n"),
            ("proc/stat", "cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu3 1 2 3 4\ncpu9 1 2 3 4\nintr 1\ncpu0 1 2 3 4\n"),
            ("proc/meminfo", "MemTotal:2000 kB\n"),
            ("proc/sys/kernel/osrelease", "6.1.0\n"),
            ("etc/os-release", "NAME=x\nPRETTY_NAME=\"Linux \\\"1\\\"\"\n"),
            ("sys/class/block/sda/size", "1000\n"),
            ("sys/class/block/sda/device/model", "SSD 1   \n"),
            ("sys/class/block/sda/queue/rotational", "0\n"),
            ("sys/class/block/sda1/partition", "1\n"),
            ("sys/class/block/loop0/size", "0\n"),
            ("sys/class/block/nbd0/size", "0\n"),
            ("sys/class/net/bonding_masters", "\n"),
            ("sys/class/net/lo/speed", ""),
            ("sys/class/net/eth0/speed", "-1\n"),
            ("sys/class/net/eth1/speed", "25000\n"),
        ]);
        let got = read(root.path(), &here());
        assert_eq!(
            (got.host.as_str(), got.serial, got.product),
            ("node?07", Fact::Is("7K2".into()), Fact::Is("Maker R1".into()))
        );
        assert_eq!((got.cpu.as_str(), got.cpus, got.usable_cpus, got.memory), ("CPU", 3, 2, 2_048_000));
        assert_eq!((got.kernel.as_str(), got.system.as_str()), ("6.1.0", "Linux \"1\""));
        assert_eq!(got.virtualisation, Fact::NotPresent);
        let disk =
            DiskItem { name: "sda".into(), model: Fact::Is("SSD 1".into()), size: 512_000, rotational: Some(false) };
        assert_eq!(got.disks, [disk]);
        let speeds: Vec<_> = got.nics.iter().map(|nic| (nic.name.as_str(), nic.speed)).collect();
        assert_eq!(speeds, [("eth0", None), ("eth1", Some(25_000))]);
    }

    #[test]
    fn an_empty_machine_is_no_failure() {
        let root = fake::root(&[]);
        let got = read(root.path(), &here());
        assert_eq!(
            (got.serial, got.product, got.virtualisation),
            (Fact::NotPresent, Fact::NotPresent, Fact::NotPresent)
        );
        assert_eq!((got.host.as_str(), got.cpu.as_str(), got.cpus, got.memory), ("unknown", "unknown", 2, 0));
    }

    #[test]
    fn this_machine_has_a_name_a_kernel_and_memory() {
        let got = read(Path::new("/"), &Resources::here(Path::new("/")));
        assert!(got.memory > 0 && got.cpus > 0);
        assert_ne!(got.kernel, "unknown");
    }

    #[test]
    fn what_may_not_be_read_is_told_from_what_is_not_there() {
        assert_eq!(fact(Err(ErrorKind::PermissionDenied.into())), Fact::NeedsRoot);
        assert_eq!(fact(Err(ErrorKind::NotFound.into())), Fact::NotPresent);
        for text in ["None", "Default string", "0000000", "123456789", ".", "To Be Filled By O.E.M."] {
            assert_eq!(fact(Ok(Some(text.into()))), Fact::NotPresent, "{text}");
        }
        assert_eq!(fact(Ok(Some("7K2".into()))), Fact::Is("7K2".into()));
    }

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
    fn lists_of_cpus_are_counted() {
        assert_eq!((listed("0-15,88-103"), listed("3"), listed("5-2,x,"), listed("0-4294967295")), (32, 1, 0, 1 << 32));
    }

    #[test]
    fn no_beginning_of_a_file_stops_the_reader() {
        for (path, text) in [
            ("proc/stat", "cpu0 1 2\ncpu1 2 3\n"),
            ("proc/meminfo", "MemTotal: 12 kB\n"),
            ("etc/os-release", "PRETTY_NAME=\"a\"\n"),
            ("sys/devices/system/cpu/online", "0-3,7\n"),
            ("sys/class/block/sda/size", "1000\n"),
            ("proc/sysinfo", "VM00 Control Program: z/VM\n"),
        ] {
            let root = fake::root(&[]);
            for end in 0..=text.len() {
                fake::put(root.path(), path, &text[..end]);
                let _ = read(root.path(), &here());
            }
        }
    }
}
