//! Counters of network interfaces other than loopback, from `/proc/net/dev` (`Documentation/networking/statistics.rst`).

use std::io;
use std::path::{Path, PathBuf};

use super::Sink;
use super::known::Known;
use crate::agent::host::{self, Source, columns};
use crate::agent::nic;
use crate::vocab::event::SampleKind::{self, Counter, Counter32, Gauge};
use crate::vocab::unit::Unit;

/// Eight received, eight sent.
const COUNTERS: usize = 16;

/// What is known of an interface besides its counters.
struct Nic {
    /// The kernel's number, which it never gives again.
    index: u64,
    made_up: bool,
}

pub(super) struct Sampler {
    root: PathBuf,
    dev: Source,
    nics: Known<Nic>,
    kind: SampleKind,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            dev: Source::new(root, "proc/net/dev"),
            nics: Known::new(),
            kind: if host::narrow(root) { Counter32 } else { Counter },
        }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "net"
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let Some(lines) = self.dev.read()? else { return Ok(()) };
        if into.wants_all() {
            self.nics.begin();
        }
        let mut damaged = false;
        for line in lines {
            // The last colon: an alias (`eth0:1`) holds one itself, and the first number may be glued to it.
            let Some((name, rest)) = line.rsplit_once(':') else { continue };
            let name = name.trim();
            if name.is_empty() || name == "lo" || name.contains(char::is_whitespace) || !into.wants(name) {
                continue;
            }
            let (counters, found) = columns::<COUNTERS>(rest);
            if found < COUNTERS {
                damaged = true;
                continue;
            }
            let sum = counters[0] + counters[1] + counters[8] + counters[9];
            if let Some(nic) = self.nics.of(name, (0, sum), || look(&self.root, name)) {
                put(into, name, nic, (&counters, self.kind));
            }
        }
        if damaged || self.dev.torn() {
            into.skip();
        }
        Ok(())
    }
}

fn look(root: &Path, name: &str) -> Nic {
    let index = host::number(&root.join("sys/class/net").join(name).join("ifindex")).unwrap_or(0);
    Nic { index: index as u64, made_up: nic::made_up(root, name) }
}

fn put(into: &mut Sink, name: &str, nic: &Nic, (c, kind): (&[f64; COUNTERS], SampleKind)) {
    into.put_as(
        name,
        nic.index,
        &[
            ("rx_bytes", kind, Unit::Bytes, c[0]),
            ("rx_packets", kind, Unit::Count, c[1]),
            ("rx_errors", kind, Unit::Count, c[2]),
            ("rx_drops", kind, Unit::Count, c[3]),
            ("tx_bytes", kind, Unit::Bytes, c[8]),
            ("tx_packets", kind, Unit::Count, c[9]),
            ("tx_errors", kind, Unit::Count, c[10]),
            ("tx_drops", kind, Unit::Count, c[11]),
            ("virtual", Gauge, Unit::Count, f64::from(u8::from(nic.made_up))),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const DEV: &str = "Inter-|   Receive                  |  Transmit\n \
                       face |bytes    packets errs drop fifo frame compressed multicast|bytes packets\n    \
                       lo:100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n\
                       eth0:23443246382 635 1 2 0 0 0 9 10900929232 273 3 4 0 0 0 0\n  \
                       eth0:1: 7 6 5 4 0 0 0 0 3 2 1 0 0 0 0 0\n\
                       br-5.x:   70 6 5 4 0 0 0 0 3 2\n";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn glued_and_aliased_names_are_split_at_the_last_colon() {
        let root = fake::root(&[("proc/net/dev", DEV)]);
        let got = read(root.path());
        assert_eq!(got.len(), 18, "{got:?}");
        assert_eq!(got[0], "eth0 rx_bytes 23443246382");
        assert_eq!(got[3], "eth0 rx_drops 2");
        assert_eq!(got[4], "eth0 tx_bytes 10900929232");
        assert_eq!(got[7], "eth0 tx_drops 4");
        assert_eq!(got[8], "eth0 virtual 0");
        assert_eq!(got[9], "eth0:1 rx_bytes 7");
        assert_eq!(got[13], "eth0:1 tx_bytes 3");
        assert_eq!(got[17], "eth0:1 virtual 1");
    }

    #[test]
    fn an_interface_that_is_made_anew_has_new_series_and_a_reset_has_not() {
        use crate::agent::sampler::Sampler as _;
        let line = |bytes: u64| format!("eth0: {bytes} 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
        let root = fake::root(&[("proc/net/dev", &line(500)), ("sys/class/net/eth0/ifindex", "2\n")]);
        let (mut sampler, mut sink) = (Sampler::new(root.path()), Sink::default());
        let mut next = |bytes: u64, index: &str| {
            fake::put(root.path(), "proc/net/dev", line(bytes));
            fake::put(root.path(), "sys/class/net/eth0/ifindex", index);
            sink.turn_to("net", None);
            sampler.sample(&mut sink).unwrap();
            sink.finish(std::time::Duration::ZERO);
            sink.take().0.len()
        };
        assert_eq!((next(500, "2\n"), next(600, "2\n")), (9, 0));
        assert_eq!(next(10, "2\n"), 0, "the driver was loaded again and kept the interface");
        assert_eq!(next(5, "7\n"), 9);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::cut_anywhere("proc/net/dev", DEV, read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
