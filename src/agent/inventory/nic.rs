//! Network interfaces: hardware, and what software stacks upon it.

use std::path::Path;

use super::{adapter, fact, place};
use crate::agent::host;
use crate::vocab::fact::Fact;
use crate::vocab::hardware::NicItem;
use crate::vocab::text::neutral;

/// The kernel tells this by a call that needs a socket, and in no file.
const ETHTOOL: &str = "only ethtool can tell";

/// Interfaces other than loopback, in the order of their names.
pub(super) fn read(root: &Path) -> Vec<NicItem> {
    let net = root.join("sys/class/net");
    let mut names = host::names(&net);
    // The bonding driver keeps a plain file among the interfaces.
    names.retain(|name| name != "lo" && net.join(name).is_dir());
    names.into_iter().map(|name| nic(root, &net.join(&name), &name)).collect()
}

fn nic(root: &Path, entry: &Path, name: &str) -> NicItem {
    let device = entry.join("device");
    let (hardware, kind) = (device.exists(), kind(root, entry));
    let no_hardware = |why: Fact| if hardware { why } else { Fact::NotPresent };
    let carrier = match host::value(&entry.join("carrier")).as_deref() {
        Some("1") => Some(true),
        Some("0") => Some(false),
        // An interface that is not up refuses the question.
        _ if host::value(&entry.join("operstate")).is_some_and(|state| state == "down") => Some(false),
        _ => None,
    };
    NicItem {
        speed: host::link_speed(entry),
        duplex: duplex(entry, carrier),
        mtu: fact::number(&entry.join("mtu")),
        mac: fact::word(&entry.join("address")),
        carrier,
        over: over(entry),
        kind: kind.map_or_else(|| Fact::Unreadable("sysfs does not tell".to_owned()), Fact::Is),
        member_of: fact::link(&entry.join("master")),
        driver: fact::link(&device.join("driver")).map_or(Fact::NotPresent, Fact::Is),
        firmware: firmware(&device).or_else(|| no_hardware(Fact::Unreadable(ETHTOOL.to_owned()))),
        offloads: Fact::Unreadable(ETHTOOL.to_owned()),
        bus: no_hardware(bus(root, &device)),
        link: adapter::link(&device),
        name: neutral(name),
    }
}

fn duplex(entry: &Path, carrier: Option<bool>) -> Fact {
    match fact::word(&entry.join("duplex")) {
        Fact::Is(word) if word == "full" || word == "half" => Fact::Is(word),
        Fact::NeedsRoot => Fact::NeedsRoot,
        _ if carrier == Some(false) => Fact::Unreadable("no link".to_owned()),
        _ => Fact::Unreadable("the driver does not know".to_owned()),
    }
}

/// Adapters that speak RDMA tell their firmware in a file.
fn firmware(device: &Path) -> Fact {
    let rdma = device.join("infiniband");
    let port = host::names(&rdma).into_iter().next();
    port.map_or(Fact::NotPresent, |port| fact::word(&rdma.join(port).join("fw_ver")))
}

/// The PCI address on the way up, else the bus's own name of the device.
fn bus(root: &Path, device: &Path) -> Fact {
    let place = place::up(root, device);
    let names = || place.iter().map(|up| place::name(up));
    match names().find(|name| adapter::is_address(name)).or_else(|| names().next()) {
        Some(name) => Fact::Is(neutral(name)),
        None => Fact::NotPresent,
    }
}

/// What kind of interface it is; none when sysfs does not tell, as in captures without links.
fn kind(root: &Path, entry: &Path) -> Option<String> {
    let uevent = host::text(&entry.join("uevent")).unwrap_or_default();
    let kind = uevent.lines().find_map(|line| line.strip_prefix("DEVTYPE=")).map(neutral);
    let number = |name: &str| host::value(&entry.join(name)).and_then(|text| text.parse::<i64>().ok());
    let has = |name: &str| entry.join(name).exists();
    let told = if has("bonding") {
        let mode = host::value(&entry.join("bonding/mode")).unwrap_or_default();
        format!("bond {}", mode.split(' ').next().unwrap_or_default()).trim_end().to_owned()
    } else if has("bridge") {
        "bridge".to_owned()
    } else if has("tun_flags") {
        // Bit 1 is set where whole Ethernet frames go through.
        let flags = host::value(&entry.join("tun_flags")).unwrap_or_default();
        let frames = u32::from_str_radix(flags.trim_start_matches("0x"), 16).is_ok_and(|flags| flags & 2 != 0);
        if frames { "tap" } else { "tun" }.to_owned()
    } else if has("device") {
        match kind {
            Some(kind) => format!("hardware, {kind}"),
            None if has("device/physfn") => "virtual function".to_owned(),
            None => "hardware".to_owned(),
        }
    } else if let Some(kind) = kind {
        kind
    } else if number("iflink").zip(number("ifindex")).is_some_and(|(link, own)| link != own && link > 0) {
        // A pair's end names the other end, in the namespace where that is.
        if lower(entry).is_empty() { "veth".to_owned() } else { "stacked".to_owned() }
    } else if place::is_made_up(&place::up(root, entry)) {
        "virtual".to_owned()
    } else {
        return None;
    };
    Some(told)
}

fn lower(entry: &Path) -> Vec<String> {
    host::names(entry).iter().filter_map(|name| name.strip_prefix("lower_")).map(neutral).collect()
}

/// The members of a bond or bridge, else what the kernel links as lower.
fn over(entry: &Path) -> Vec<String> {
    let slaves = host::value(&entry.join("bonding/slaves")).unwrap_or_default();
    let mut members: Vec<String> = slaves.split_ascii_whitespace().map(neutral).collect();
    members.extend(host::names(&entry.join("brif")).iter().map(|name| neutral(name)));
    if members.is_empty() { lower(entry) } else { members }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn hardware_tells_its_driver_and_its_address() {
        let root = fake::root(&[
            ("sys/devices/pci0/0000:3b:00.0/net/eth0/mtu", "9000\n"),
            ("sys/devices/pci0/0000:3b:00.0/net/eth0/address", "02:00:00:00:00:01\n"),
            ("sys/devices/pci0/0000:3b:00.0/net/eth0/carrier", "1\n"),
            ("sys/devices/pci0/0000:3b:00.0/net/eth0/speed", "25000\n"),
            ("sys/devices/pci0/0000:3b:00.0/net/eth0/duplex", "full\n"),
            ("sys/devices/pci0/0000:3b:00.0/infiniband/x_0/fw_ver", "16.1.2\n"),
            ("sys/devices/pci0/0000:3b:00.0/current_link_speed", "8.0 GT/s PCIe\n"),
            ("sys/devices/pci0/0000:3b:00.0/current_link_width", "8\n"),
            ("sys/class/net/bonding_masters", "bond0\n"),
        ]);
        let at = |path: &str| root.path().join(path);
        symlink("../..", at("sys/devices/pci0/0000:3b:00.0/net/eth0/device")).unwrap();
        symlink("../../../bus/pci/drivers/mlx5_core", at("sys/devices/pci0/0000:3b:00.0/driver")).unwrap();
        symlink("../../devices/pci0/0000:3b:00.0/net/eth0", at("sys/class/net/eth0")).unwrap();
        let got = &read(root.path())[0];
        let is = |text: &str| Fact::Is(text.to_owned());
        assert_eq!((&got.kind, &got.driver, &got.bus), (&is("hardware"), &is("mlx5_core"), &is("0000:3b:00.0")));
        assert_eq!((&got.firmware, &got.link, &got.duplex), (&is("16.1.2"), &is("8.0 GT/s x8"), &is("full")));
        assert_eq!((got.speed, &got.mtu, got.carrier), (Some(25_000), &Fact::Is(9000), Some(true)));
        assert_eq!(got.offloads.reason(), ETHTOOL);
    }

    #[test]
    fn what_software_made_is_told_from_hardware() {
        let root = fake::root(&[
            ("sys/class/net/bond0/bonding/mode", "802.3ad 4\n"),
            ("sys/class/net/bond0/bonding/slaves", "eth0 eth1\n"),
            ("sys/class/net/br0/bridge/stp_state", "0\n"),
            ("sys/class/net/br0/brif/tap0/state", "3\n"),
            ("sys/class/net/captured/mtu", "1500\n"),
            ("sys/devices/virtual/net/dummy0/mtu", "1500\n"),
            ("sys/class/net/eth0.7/uevent", "DEVTYPE=vlan\nINTERFACE=eth0.7\n"),
            ("sys/class/net/eth0.7/lower_eth0/mtu", "1500\n"),
            ("sys/class/net/tap0/tun_flags", "0x1002\n"),
            ("sys/class/net/tun0/tun_flags", "0x1001\n"),
            ("sys/class/net/veth1/iflink", "7\n"),
            ("sys/class/net/veth1/ifindex", "8\n"),
        ]);
        symlink("../../devices/virtual/net/dummy0", root.path().join("sys/class/net/dummy0")).unwrap();
        let got: Vec<_> =
            read(root.path()).into_iter().map(|n| (n.name, n.kind.to_string(), n.over.join(" "))).collect();
        let expected = [
            ("bond0", "bond 802.3ad", "eth0 eth1"),
            ("br0", "bridge", "tap0"),
            ("captured", "sysfs does not tell", ""),
            ("dummy0", "virtual", ""),
            ("eth0.7", "vlan", "eth0"),
            ("tap0", "tap", ""),
            ("tun0", "tun", ""),
            ("veth1", "veth", ""),
        ];
        assert_eq!(got, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    }

    #[test]
    fn a_link_that_is_down_has_no_duplex() {
        let root = fake::root(&[("sys/class/net/e/operstate", "down\n"), ("sys/class/net/e/duplex", "unknown\n")]);
        let got = &read(root.path())[0];
        assert_eq!((got.carrier, got.duplex.reason(), got.bus.reason()), (Some(false), "no link", "not present"));
    }
}
