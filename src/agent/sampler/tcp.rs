//! TCP of this network namespace, from `/proc/net/snmp` and `/proc/net/netstat` (`Documentation/networking/snmp_counter.rst`).
//!
//! Both print a line of names and a line of numbers for each protocol; every kernel has its own columns, so they are found by name.

use std::io;
use std::path::Path;

use super::Sink;
use crate::agent::host::{self, Source};
use crate::vocab::event::SampleKind::{self, Counter, Counter32};
use crate::vocab::unit::Unit;

/// The kernel's protocol and name, and ours.
const FIELDS: [(&str, &str, &str); 8] = [
    ("Tcp", "InSegs", "segs_in"),
    ("Tcp", "OutSegs", "segs_out"),
    ("Tcp", "RetransSegs", "retransmits"),
    ("Tcp", "InErrs", "in_errors"),
    ("Tcp", "EstabResets", "resets"),
    ("TcpExt", "ListenOverflows", "listen_overflows"),
    ("TcpExt", "ListenDrops", "listen_drops"),
    ("TcpExt", "TCPTimeouts", "timeouts"),
];

pub(super) struct Sampler {
    files: [Source; 2],
    kind: SampleKind,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            files: ["proc/net/snmp", "proc/net/netstat"].map(|path| Source::new(root, path)),
            kind: if host::narrow(root) { Counter32 } else { Counter },
        }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "tcp"
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        for file in &mut self.files {
            let Ok(Some(lines)) = file.read() else { continue };
            let mut names: Option<(&str, &str)> = None;
            for line in lines {
                let Some((protocol, rest)) = line.split_once(':') else { continue };
                match names.take() {
                    Some((of, names)) if of == protocol => put(into, self.kind, protocol, (names, rest)),
                    _ => names = Some((protocol, rest)),
                }
            }
        }
        Ok(())
    }
}

fn put(into: &mut Sink, kind: SampleKind, protocol: &str, (names, numbers): (&str, &str)) {
    for (name, number) in names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace()) {
        let ours = FIELDS.iter().find(|(p, n, _)| *p == protocol && *n == name);
        if let (Some((.., field)), Ok(number)) = (ours, number.parse::<u64>()) {
            into.put("", &[(field, kind, Unit::Count, number as f64)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const SNMP: &str = "Ip: Forwarding DefaultTTL\nIp: 1 64\n\
                        Tcp: RtoAlgorithm MaxConn InSegs OutSegs RetransSegs InErrs\nTcp: 1 -1 500 400 7 2\n\
                        Udp: InDatagrams InErrs\nUdp: 9 9\n";
    const NETSTAT: &str = "TcpExt: ListenDrops New TCPTimeouts\nTcpExt: 3 0 5\nIpExt: InNoRoutes\nIpExt: 0\n";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn columns_are_found_by_name_and_those_of_other_protocols_are_not() {
        let root = fake::root(&[("proc/net/snmp", SNMP), ("proc/net/netstat", NETSTAT)]);
        let expected = ["segs_in 500", "segs_out 400", "retransmits 7", "in_errors 2", "listen_drops 3", "timeouts 5"];
        assert_eq!(read(root.path()), expected.map(|r| format!(" {r}")));
        let other = fake::root(&[("proc/net/snmp", "Tcp: OutSegs InSegs\nTcp: 4 5\nTcp: OutSegs\nUdp: 7\n")]);
        assert_eq!(read(other.path()), [" segs_out 4", " segs_in 5"]);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::cut_anywhere("proc/net/snmp", SNMP, read);
        fake::cut_anywhere("proc/net/netstat", NETSTAT, read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
