//! NUMA nodes.

use std::path::Path;

use crate::agent::{host, list};
use crate::vocab::hardware::NumaNode;

/// The nodes in the order of their numbers, which may have gaps.
pub(super) fn read(root: &Path) -> Vec<NumaNode> {
    let directory = root.join("sys/devices/system/node");
    let mut numbers: Vec<u32> =
        host::names(&directory).iter().filter_map(|name| list::numbered(name, "node")).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|number| node(&directory.join(format!("node{number}")), number)).collect()
}

fn node(directory: &Path, number: u32) -> NumaNode {
    let value = |name: &str| host::value(&directory.join(name));
    let listed = value("cpulist").map(|text| list::parse(&text));
    let cpus = listed.or_else(|| Some(list::mask(&value("cpumap")?))).unwrap_or_default();
    let distances = value("distance").unwrap_or_default();
    NumaNode {
        number,
        cpus: list::print(&cpus),
        memory: host::text(&directory.join("meminfo")).ok().and_then(|text| total(&text)),
        distances: distances.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect(),
    }
}

/// `Node 0 MemTotal:  131072 kB`.
fn total(meminfo: &str) -> Option<u64> {
    let kib = meminfo.lines().find_map(|line| line.split_once("MemTotal:"))?.1.split_ascii_whitespace().next()?;
    kib.parse::<u64>().ok().map(|kib| kib.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn nodes_may_lack_numbers_cpus_and_memory() {
        let root = fake::root(&[
            ("sys/devices/system/node/node0/cpulist", "0-3\n"),
            ("sys/devices/system/node/node0/meminfo", "\nNode 0 MemTotal:   2048 kB\nNode 0 MemFree: 1 kB\n"),
            ("sys/devices/system/node/node0/distance", "10 21 x\n"),
            ("sys/devices/system/node/node10/cpulist", "\n"),
            ("sys/devices/system/node/node9/cpumap", "00000030\n"),
            ("sys/devices/system/node/possible", "0-15\n"),
        ]);
        let node = |number, cpus: &str, memory, distances| NumaNode { number, cpus: cpus.into(), memory, distances };
        let expected =
            [node(0, "0-3", Some(2 << 20), vec![10, 21]), node(9, "4-5", None, vec![]), node(10, "", None, vec![])];
        assert_eq!(read(root.path()), expected);
    }

    #[test]
    fn no_cut_or_damage_stops_the_reader() {
        let path = "sys/devices/system/node/node0/meminfo";
        fake::cut_anywhere(path, "Node 0 MemTotal:  16 kB\n", |root| {
            read(root);
            Vec::new()
        });
    }
}
