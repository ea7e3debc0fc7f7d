//! Network interfaces by their kernel names: which are hardware, and which software makes up above it.

use std::path::Path;

use super::host;

/// Beginnings of names that software gives its interfaces; counts only where sysfs does not know an interface.
const MADE_UP: [&str; 24] = [
    "bond", "br", "cali", "cilium", "cni", "docker", "dummy", "erspan", "flannel", "gre", "ifb", "ip6", "lxc",
    "macvlan", "nlmon", "podman", "sit", "tap", "team", "tun", "veth", "vir", "vlan", "vx",
];

/// Whether an interface carries traffic of another one, or of programs of this node alone: bridge, bond, VLAN, veth, tunnel.
pub(super) fn made_up(root: &Path, name: &str) -> bool {
    let entry = root.join("sys/class/net").join(name);
    if let Ok(link) = std::fs::read_link(&entry) {
        return link.components().any(|part| part.as_os_str() == "virtual");
    }
    let by_name = || MADE_UP.iter().any(|stem| name.starts_with(stem)) || name.contains(['.', ':', '@']);
    if entry.is_dir() {
        return ["bridge", "bonding", "tun_flags"].iter().any(|part| entry.join(part).exists())
            || root.join("proc/net/vlan").join(name).exists()
            || !entry.join("device").exists() && by_name();
    }
    by_name()
}

/// The interfaces that are hardware, in the order of their names.
pub(super) fn hardware(root: &Path) -> Vec<String> {
    let mut names = host::names(&root.join("sys/class/net"));
    names.retain(|name| name != "lo" && !made_up(root, name));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn names_alone_tell_where_sysfs_does_not() {
        let none = tempfile::tempdir().unwrap();
        for name in
            ["br-1a2b", "virbr0", "docker0", "bond0", "eth0.100", "eth0:1", "veth12@if3", "tun0", "vxlan.calico"]
        {
            assert!(made_up(none.path(), name), "{name}");
        }
        for name in ["eth0", "enp6s0f1", "eno1", "ens3", "wlan0", "ib0", "em1"] {
            assert!(!made_up(none.path(), name), "{name}");
        }
    }

    #[test]
    fn sysfs_outranks_the_name() {
        let root = fake::root(&[
            ("sys/devices/pci0/net/bridge0/mtu", "1500\n"),
            ("sys/devices/virtual/net/uplink/mtu", "1500\n"),
            ("sys/class/net/lan/bridge/forward_delay", "1500\n"),
            ("sys/class/net/eth7/mtu", "1500\n"),
            ("sys/class/net/lo/mtu", "65536\n"),
        ]);
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(to, root.path().join("sys/class/net").join(name)).unwrap();
        };
        link("../../devices/pci0/net/bridge0", "bridge0");
        link("../../devices/virtual/net/uplink", "uplink");
        assert_eq!(hardware(root.path()), ["bridge0", "eth7"]);
    }
}
