//! The wire of each hardware NIC: its speed, carrier losses and errors of the receiver, from `/sys/class/net`
//! (`Documentation/ABI/testing/sysfs-class-net`, `sysfs-class-net-statistics`).
//!
//! These files may ask the driver or wait for the lock of the network stack, so they are a source of their own beside `net`.

use std::io;
use std::path::{Path, PathBuf};

use super::Sink;
use crate::agent::host::{self, Census};
use crate::agent::nic;
use crate::vocab::event::SampleKind::{self, Counter, Counter32, Gauge};
use crate::vocab::unit::Unit;

/// Counters that are files, and our fields.
const COUNTERS: [(&str, &str); 5] = [
    ("carrier_changes", "carrier_changes"),
    ("statistics/rx_crc_errors", "rx_crc_errors"),
    ("statistics/rx_missed_errors", "rx_missed_errors"),
    ("statistics/rx_fifo_errors", "rx_fifo_errors"),
    ("statistics/tx_fifo_errors", "tx_fifo_errors"),
];

pub(super) struct Sampler {
    root: PathBuf,
    kind: SampleKind,
    nics: Census<(String, PathBuf)>,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        let kind = if host::narrow(root) { Counter32 } else { Counter };
        Self { root: root.to_owned(), kind, nics: Census::new() }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "link"
    }

    fn every(&self) -> u32 {
        4
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let net = self.root.join("sys/class/net");
        let search = || nic::hardware(&self.root).into_iter().map(|name| (name.clone(), net.join(name))).collect();
        for (name, nic) in self.nics.of(search) {
            let Some(index) = host::number(&nic.join("ifindex")) else { continue };
            let mut readings = Vec::with_capacity(COUNTERS.len() + 1);
            for (file, field) in COUNTERS {
                if let Some(count) = host::number(&nic.join(file)).filter(|count| *count >= 0) {
                    readings.push((field, self.kind, Unit::Count, count as f64));
                }
            }
            // 1 Mb/s is 0.125 MB/s; 0 stands for a speed that is not known, so that a link that goes down does not keep its own.
            let speed = host::link_speed(nic).map_or(0.0, |speed| f64::from(speed) / 8.0);
            readings.push(("speed", Gauge, Unit::MegabytesPerSecond, speed));
            into.put_as(name, index as u64, &readings);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const ETH: &str = "sys/class/net/eth0";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn hardware_is_read_and_what_the_driver_does_not_know_is_zero() {
        let root = fake::root(&[
            (&format!("{ETH}/ifindex"), "2\n"),
            (&format!("{ETH}/speed"), "25000\n"),
            (&format!("{ETH}/carrier_changes"), "3\n"),
            (&format!("{ETH}/statistics/rx_crc_errors"), "8\n"),
            ("sys/class/net/eth1/ifindex", "3\n"),
            ("sys/class/net/eth1/speed", "-1\n"),
            ("sys/class/net/br0/ifindex", "4\n"),
            ("sys/class/net/br0/speed", "10\n"),
        ]);
        let expected = ["eth0 carrier_changes 3", "eth0 rx_crc_errors 8", "eth0 speed 3125", "eth1 speed 0"];
        assert_eq!(read(root.path()), expected);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        for file in ["ifindex", "speed", "carrier_changes"] {
            fake::mangle(&format!("{ETH}/{file}"), "25000\n", |root| {
                let _ = read(root);
                fake::put(root, "sys/class/net/eth1/ifindex", "2\n");
                read(root)
            });
        }
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
