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
mod machine;
mod md;
mod memory;
mod nic;
mod numa;
mod place;
pub mod raid;

use std::collections::BTreeSet;
use std::path::Path;

use super::resources::Resources;
use super::{cpuinfo, host, list};
use crate::vocab::hardware::{CoreClass, Modules};
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

/// Whether a block device, or one that it is made of, hangs on a RAID controller, whose cache then lies in front of it.
pub(super) fn hangs_on_raid(root: &Path, name: &str) -> bool {
    disk::hangs_on_raid(root, name)
}

/// The modules of memory, as the firmware lists them.
pub(super) fn memory_modules(root: &Path) -> Modules {
    memory::modules(root)
}

/// CPUs that the kernel runs on.
pub(super) fn online(root: &Path) -> Option<u32> {
    cpu::Cpus::read(root, &host::text(&root.join("proc/cpuinfo")).unwrap_or_default()).count()
}

/// The CPUs that are small cores of a hybrid x86 processor.
pub(super) fn efficient_cpus(root: &Path) -> BTreeSet<u32> {
    let cpus = host::value(&root.join("sys/devices/cpu_atom/cpus")).unwrap_or_default();
    list::parse(&cpus)
}

/// The cores of these CPUs by their kind, the strongest first: `8 performance, 4 efficient`; none where all of the node are alike.
pub(super) fn kinds(root: &Path, cpus: &[usize]) -> Option<String> {
    let cpuinfo = host::text(&root.join("proc/cpuinfo")).unwrap_or_default();
    let classes = cpu::read(root, &cpuinfo, &cpu::Cpus::read(root, &cpuinfo)).classes;
    let cores = list::cores(root, cpus);
    let count = |listed: &str| {
        let listed = list::parse(listed);
        cores.iter().filter(|cpu| u32::try_from(**cpu).is_ok_and(|cpu| listed.contains(&cpu))).count()
    };
    let two = classes.len() == 2;
    let name = |(place, class): (usize, &CoreClass)| match (class.name.as_str(), place) {
        ("cpu_lowpower", _) => "low-power".to_owned(),
        (_, 0) if two => "performance".to_owned(),
        (_, 1) if two => "efficient".to_owned(),
        (name, _) => name.to_owned(),
    };
    let told = classes.iter().enumerate().map(|it| format!("{} {}", count(&it.1.cpus), name(it)));
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(", "))
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
    fn cores_of_two_kinds_are_counted_apart_and_their_threads_once() {
        let cpu = "sys/devices/system/cpu";
        let root = fake::root(&[
            ("sys/devices/system/cpu/online", "0-5\n"),
            ("sys/devices/cpu_core/cpus", "0-3\n"),
            ("sys/devices/cpu_atom/cpus", "4-5\n"),
        ]);
        for (n, siblings) in ["0-1", "0-1", "2-3", "2-3", "4", "5"].into_iter().enumerate() {
            fake::put(root.path(), &format!("{cpu}/cpu{n}/topology/core_cpus_list"), format!("{siblings}\n"));
            fake::put(
                root.path(),
                &format!("{cpu}/cpu{n}/cpufreq/cpuinfo_max_freq"),
                if n < 4 { "5000000" } else { "3800000" },
            );
        }
        assert_eq!(kinds(root.path(), &[0, 1, 2, 3, 4, 5]).as_deref(), Some("2 performance, 2 efficient"));
        assert_eq!(kinds(root.path(), &[1, 5]).as_deref(), Some("1 performance, 1 efficient"));
        let arm = fake::root(&[("sys/devices/system/cpu/online", "0-2\n")]);
        for (n, capacity) in ["1024", "1024", "446"].into_iter().enumerate() {
            fake::put(arm.path(), &format!("{cpu}/cpu{n}/cpu_capacity"), capacity);
        }
        assert_eq!(kinds(arm.path(), &[0, 1, 2]).as_deref(), Some("2 performance, 1 efficient"));
        assert_eq!(kinds(fake::root(&[("sys/devices/system/cpu/online", "0-5\n")]).path(), &[0]), None);
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
