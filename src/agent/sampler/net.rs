//! Counters of network interfaces other than loopback, from `/proc/net/dev` (`Documentation/networking/statistics.rst`).

use std::io;
use std::path::Path;

use super::Sink;
use crate::agent::host::{Source, columns};
use crate::vocab::event::SampleKind::Counter;
use crate::vocab::unit::Unit;

/// Eight received, eight sent.
const COUNTERS: usize = 16;

pub(super) struct Sampler {
    dev: Source,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self { dev: Source::new(root, "proc/net/dev") }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "net"
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let Some(lines) = self.dev.read()? else { return Ok(()) };
        for line in lines {
            // The last colon: an alias (`eth0:1`) holds one itself, and the first number may be glued to it.
            let Some((name, rest)) = line.rsplit_once(':') else { continue };
            let name = name.trim();
            if name.is_empty() || name == "lo" || name.contains(char::is_whitespace) || !into.wants(name) {
                continue;
            }
            let (counters, found) = columns::<COUNTERS>(rest);
            if found == COUNTERS {
                put(into, name, &counters);
            }
        }
        Ok(())
    }
}

fn put(into: &mut Sink, name: &str, c: &[f64; COUNTERS]) {
    into.put(
        name,
        &[
            ("rx_bytes", Counter, Unit::Bytes, c[0]),
            ("rx_packets", Counter, Unit::Count, c[1]),
            ("rx_errors", Counter, Unit::Count, c[2]),
            ("rx_drops", Counter, Unit::Count, c[3]),
            ("tx_bytes", Counter, Unit::Bytes, c[8]),
            ("tx_packets", Counter, Unit::Count, c[9]),
            ("tx_errors", Counter, Unit::Count, c[10]),
            ("tx_drops", Counter, Unit::Count, c[11]),
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
        assert_eq!(got.len(), 16, "{got:?}");
        assert_eq!(got[0], "eth0 rx_bytes 23443246382");
        assert_eq!(got[3], "eth0 rx_drops 2");
        assert_eq!(got[4], "eth0 tx_bytes 10900929232");
        assert_eq!(got[7], "eth0 tx_drops 4");
        assert_eq!(got[8], "eth0:1 rx_bytes 7");
        assert_eq!(got[12], "eth0:1 tx_bytes 3");
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::cut_anywhere("proc/net/dev", DEV, read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
