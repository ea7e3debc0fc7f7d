//! Settings of the devices: links, PCI Express, disk schedulers, write-back limits, software RAID.

use std::path::Path;

use super::{block, host, mdstat, nic};
use crate::vocab::text::neutral;

pub(super) fn read(root: &Path, put: &mut impl FnMut(&str, Option<String>)) {
    let net = root.join("sys/class/net");
    for name in links(root) {
        put(&format!("link_{}", neutral(&name)), link(&net.join(&name)));
        put(&format!("pcie_{}", neutral(&name)), pcie(&net.join(&name).join("device")));
    }
    let nvme = root.join("sys/class/nvme");
    for name in host::names(&nvme) {
        put(&format!("pcie_{}", neutral(&name)), pcie(&nvme.join(&name).join("device")));
    }
    for disk in block::disks(root) {
        let (entry, name) = (root.join("sys/class/block").join(&disk), neutral(&block::printed(&disk)));
        put(&format!("scheduler_{name}"), host::chosen(&entry.join("queue/scheduler")));
        // How much of the memory that may be dirty this disk may have; 100 is what nobody changed.
        let share = host::number(&entry.join("bdi/max_ratio")).filter(|share| *share != 100);
        put(&format!("writeback_{name}"), share.map(|share| format!("{share} % of the limit")));
    }
    let mdstat = host::text(&root.join("proc/mdstat")).unwrap_or_default();
    for array in mdstat::arrays(mdstat.lines()) {
        put(&format!("md_{}", neutral(&array.name)), Some(neutral(&raid(&array))));
    }
}

/// Interfaces that are hardware, and bonds; not what else software makes up, as containers come and go.
fn links(root: &Path) -> Vec<String> {
    let net = root.join("sys/class/net");
    let mut names = host::names(&net);
    names.retain(|name| name != "lo" && (!nic::made_up(root, name) || net.join(name).join("bonding").is_dir()));
    names
}

/// `25000 Mb/s full`.
fn link(nic: &Path) -> Option<String> {
    let speed = host::link_speed(nic)?;
    let duplex = host::value(&nic.join("duplex")).filter(|duplex| ["full", "half"].contains(&duplex.as_str()));
    Some(duplex.map_or_else(|| format!("{speed} Mb/s"), |duplex| format!("{speed} Mb/s {duplex}")))
}

/// How a device hangs on PCI Express, and how it could: `8.0 GT/s x4 of 16.0 GT/s x4`.
fn pcie(device: &Path) -> Option<String> {
    let link = |which: &str| {
        let speed = host::value(&device.join(format!("{which}_link_speed")))?;
        let width = host::number(&device.join(format!("{which}_link_width")))?;
        // Some bridges say 0, 63 or 255 for what they do not know.
        let known = speed.contains("GT/s") && (1..=32).contains(&width);
        known.then(|| format!("{} x{width}", speed.trim_end_matches(" PCIe")))
    };
    let now = link("current")?;
    Some(link("max").map_or_else(|| now.clone(), |most| format!("{now} of {most}")))
}

/// `active raid1, 2 of 2, recovery`.
fn raid(array: &mdstat::Array) -> String {
    let mut parts = vec![array.state.clone()];
    if let Some(level) = &array.level {
        parts[0] = format!("{} {level}", array.state);
    }
    parts.extend(array.members.map(|(all, working)| format!("{working} of {all}")));
    parts.extend(array.action.as_ref().map(|(action, _)| action.clone()));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::agent::host::fake;

    fn of(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        read(fake::root(files).path(), &mut |name: &str, value: Option<String>| {
            found.extend(value.map(|value| (name.to_owned(), value)));
        });
        found
    }

    fn expect(got: &BTreeMap<String, String>, expected: &[(&str, &str)]) {
        let expected = expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        assert_eq!(*got, expected.collect());
    }

    #[test]
    fn a_link_is_held_against_what_the_device_could_do() {
        let got = of(&[
            ("sys/class/net/eth0/speed", "25000\n"),
            ("sys/class/net/eth0/duplex", "full\n"),
            ("sys/class/net/eth0/device/current_link_speed", "8.0 GT/s PCIe\n"),
            ("sys/class/net/eth0/device/current_link_width", "4\n"),
            ("sys/class/net/eth0/device/max_link_speed", "16.0 GT/s PCIe\n"),
            ("sys/class/net/eth0/device/max_link_width", "8\n"),
            ("sys/class/net/eth1/speed", "1000\n"),
            ("sys/class/net/eth1/duplex", "unknown\n"),
            ("sys/class/net/eth1/device/current_link_speed", "Unknown\n"),
            ("sys/class/net/eth1/device/current_link_width", "0\n"),
            ("sys/class/net/veth1/speed", "10000\n"),
            ("sys/class/net/bond0/speed", "50000\n"),
            ("sys/class/net/bond0/bonding/mode", "802.3ad 4\n"),
            ("sys/class/nvme/nvme0/device/current_link_speed", "8 GT/s\n"),
            ("sys/class/nvme/nvme0/device/current_link_width", "2\n"),
        ]);
        let expected = [
            ("link_bond0", "50000 Mb/s"),
            ("link_eth0", "25000 Mb/s full"),
            ("link_eth1", "1000 Mb/s"),
            ("pcie_eth0", "8.0 GT/s x4 of 16.0 GT/s x8"),
            ("pcie_nvme0", "8 GT/s x2"),
        ];
        expect(&got, &expected);
    }

    #[test]
    fn disks_and_arrays_say_how_they_are_set() {
        let got = of(&[
            ("sys/class/block/sda/queue/scheduler", "none [mq-deadline]\n"),
            ("sys/class/block/sda/bdi/max_ratio", "1\n"),
            ("sys/class/block/sdb/bdi/max_ratio", "100\n"),
            (
                "proc/mdstat",
                "md0 : active raid1 sdb1[1] sda1[0](F)\n  9 blocks [2/1] [U_]\n  [>..]  recovery = 1% (1/9)\n",
            ),
        ]);
        let expected = [
            ("md_md0", "active raid1, 1 of 2, recovery"),
            ("scheduler_sda", "mq-deadline"),
            ("writeback_sda", "1 % of the limit"),
        ];
        expect(&got, &expected);
    }
}
