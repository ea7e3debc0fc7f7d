//! What the node is made of: machine, CPUs, memory, disks, network interfaces.
//!
//! Nothing here is needed for a run, so whatever cannot be read is said to be so and never stops anything. Texts come from
//! firmware and drivers and are made safe to print. Everything is a file below a root; only [`raid`] starts a program, and
//! only when it is asked to.

mod adapter;
mod cache;
mod class;
mod cpu;
mod disk;
mod dmi;
mod fact;
pub(super) mod list;
mod machine;
mod md;
mod memory;
mod nic;
mod numa;
mod place;
pub mod raid;

use std::path::Path;

use super::resources::Resources;
use super::{cpuinfo, host};
use crate::vocab::node::Inventory;
use crate::vocab::text::neutral;

/// Reads it below `root`; [`sysinfo`] fills gaps only where `root` is `/`, as it can look nowhere else.
#[must_use]
pub fn read(root: &Path, resources: &Resources) -> Inventory {
    let cpuinfo = host::text(&root.join("proc/cpuinfo")).unwrap_or_default();
    let gap = |fill: fn() -> Option<String>| (!captured(root)).then(fill).flatten().map(|text| neutral(&text));
    let unknown = || "unknown".to_owned();
    let product = machine::product(root);
    let cpus = cpu::Cpus::read(root, &cpuinfo);
    let own = u32::try_from(resources.cpus.len()).unwrap_or(u32::MAX);
    Inventory {
        host: machine::host_name(root).or_else(|| gap(|| sysinfo::System::host_name().ok())).unwrap_or_else(unknown),
        serial: machine::serial(root),
        cpu: cpuinfo::model(&cpuinfo)
            .map(|model| neutral(&model))
            .or_else(|| gap(|| Some(sysinfo::System::cpu_arch())))
            .unwrap_or_else(unknown),
        cpus: cpus.count().unwrap_or(own),
        usable_cpus: allowed(root).or_else(|| captured(root).then(|| cpus.count())?).unwrap_or(own),
        memory: memory::total(root),
        kernel: host::value(&root.join("proc/sys/kernel/osrelease"))
            .or_else(|| gap(|| sysinfo::System::kernel_version().ok()))
            .unwrap_or_else(unknown),
        system: machine::system(root)
            .or_else(|| gap(|| sysinfo::System::long_os_version().ok()))
            .unwrap_or_else(unknown),
        virtualisation: machine::virtualisation(root, &cpuinfo, &product),
        product,
        machine: machine::read(root, resources.page),
        processor: cpu::read(root, &cpuinfo, &cpus),
        modules: memory::modules(root),
        adapters: adapter::read(root),
        disks: disk::read(root),
        arrays: md::read(root),
        nics: nic::read(root),
        notes: cpus.disagreement().into_iter().collect(),
    }
}

/// RAID controllers on the PCI bus: driver and address.
pub(super) fn raid_controllers(root: &Path) -> Vec<String> {
    let raid = adapter::read(root).into_iter().filter(|adapter| adapter.kind == "RAID");
    raid.map(|adapter| format!("{} at {}", adapter.driver.known().map_or("no driver", String::as_str), adapter.bus))
        .collect()
}

/// Serial number and model of a whole disk, by its name in sysfs, where they are told.
pub(super) fn identity(root: &Path, name: &str) -> (Option<String>, Option<String>) {
    disk::identity(root, name)
}

/// Whether another machine is read than the one this runs on.
fn captured(root: &Path) -> bool {
    root != Path::new("/")
}

/// CPUs that this process may use; of a captured machine, the process that captured it.
fn allowed(root: &Path) -> Option<u32> {
    let status = host::text(&root.join("proc/self/status")).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    u32::try_from(list::parse(list).len()).ok().filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;
    use crate::vocab::fact::Fact;

    fn here() -> Resources {
        Resources { cpus: vec![0, 3], ..Resources::faked() }
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
            ("proc/self/status", "Cpus_allowed_list:\t3-4\n"),
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
        let disk = &got.disks[0];
        assert_eq!((disk.name.as_str(), &disk.model, disk.size), ("sda", &Fact::Is("SSD 1".into()), 512_000));
        assert_eq!((disk.rotational, got.disks.len()), (Some(false), 1));
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
