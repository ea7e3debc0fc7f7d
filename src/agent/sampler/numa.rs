//! Where memory was had from, from `numastat` of each NUMA node (`Documentation/admin-guide/numastat.rst`); counted in pages.

use std::io;
use std::path::{Path, PathBuf};

use super::Sink;
use crate::agent::host::{self, Census, Source, columns};
use crate::vocab::event::SampleKind::Counter;
use crate::vocab::unit::Unit;

/// The fields, by the kernel's names.
const FIELDS: [&str; 6] = ["numa_hit", "numa_miss", "numa_foreign", "interleave_hit", "local_node", "other_node"];

pub(super) struct Sampler {
    root: PathBuf,
    nodes: Census<String>,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), nodes: Census::new() }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "numa"
    }

    fn every(&self) -> u32 {
        2
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        for node in self.nodes.of(|| numbers(&self.root)) {
            let mut file = Source::new(&self.root, &format!("{NODES}/node{node}/numastat"));
            let Ok(Some(lines)) = file.read() else { continue };
            for line in lines {
                let Some((name, rest)) = line.split_once(' ') else { continue };
                if let Some(field) = FIELDS.iter().find(|field| **field == name) {
                    let ([pages], _) = columns::<1>(rest);
                    into.put(node, &[(field, Counter, Unit::Count, pages)]);
                }
            }
        }
        Ok(())
    }
}

const NODES: &str = "sys/devices/system/node";

/// The numbers of the nodes there are.
fn numbers(root: &Path) -> Vec<String> {
    let names = host::names(&root.join(NODES)).into_iter();
    names.filter_map(|name| name.strip_prefix("node")?.parse::<u32>().ok().map(|n| n.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const STAT: &str = "numa_hit 700\nnuma_miss 3\nnuma_foreign 0\ninterleave_hit 1\nlocal_node 690\nother_node 13\n";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn every_node_is_read_whatever_its_number() {
        let root = fake::root(&[
            ("sys/devices/system/node/node2/numastat", STAT),
            ("sys/devices/system/node/node10/numastat", "numa_hit 5\nnuma_x 1\n"),
            ("sys/devices/system/node/node11/cpulist", "\n"),
            ("sys/devices/system/node/online", "2,10-11\n"),
        ]);
        let got = read(root.path());
        assert_eq!(got.len(), 7);
        assert_eq!((got[0].as_str(), got[6].as_str()), ("10 numa_hit 5", "2 other_node 13"));
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::cut_anywhere("sys/devices/system/node/node0/numastat", STAT, read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
