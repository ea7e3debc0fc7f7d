//! CPU time by state, of all CPUs together and of each, from `/proc/stat` (`Documentation/filesystems/proc.rst`).
//!
//! The kernel counts guest time in user time as well, and iowait may fall; both are left as they stand here and judged in the fold.

use std::io;
use std::path::Path;

use super::Sink;
use crate::agent::host::{Source, columns};
use crate::vocab::event::SampleKind::Counter;
use crate::vocab::unit::Unit;

const FIELDS: [&str; 10] =
    ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"];

/// Every kernel prints at least user, nice, system and idle.
const FEWEST: usize = 4;

pub(super) struct Sampler {
    stat: Source,
    ticks_per_second: f64,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            stat: Source::new(root, "proc/stat"),
            ticks_per_second: rustix::param::clock_ticks_per_second().max(1) as f64,
        }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "cpu"
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let Some(lines) = self.stat.read()? else { return Ok(()) };
        // The lines of the CPUs stand together; whatever follows the block is not looked at, however long it is.
        let mut damaged = false;
        let cpus = lines.skip_while(|line| !line.starts_with("cpu")).map_while(|line| line.strip_prefix("cpu"));
        for line in cpus {
            let Some((device, rest)) = line.split_once(' ') else { continue };
            if !device.bytes().all(|b| b.is_ascii_digit()) || !into.wants(device) {
                continue;
            }
            let (ticks, found) = columns::<10>(rest);
            if found < FEWEST {
                damaged = true;
                continue;
            }
            let mut readings = FIELDS.map(|field| (field, Counter, Unit::Seconds, f64::NAN));
            for (reading, ticks) in readings.iter_mut().zip(ticks) {
                reading.3 = ticks / self.ticks_per_second;
            }
            into.put(device, &readings[..found]);
        }
        if damaged || self.stat.torn() {
            into.skip();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const STAT: &str = "cpu  300 20 100 9000 40 0 6 7 50 0\n\
                        cpu0 100 10 50 4500 20 0 3 3 50 0\n\
                        cpu7 200 10 50 4500 20 0 3 4 0 0\n\
                        intr 5000 1 2 3\nctxt 9\ncpu  1 1 1 1\n";

    fn seconds(ticks: u32) -> String {
        (f64::from(ticks) / rustix::param::clock_ticks_per_second() as f64).to_string()
    }

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn each_cpu_is_read_by_its_number_and_a_second_capture_in_the_file_is_not() {
        let root = fake::root(&[("proc/stat", STAT)]);
        let got = read(root.path());
        assert_eq!(got.len(), 30);
        assert_eq!(got[0], format!(" user {}", seconds(300)));
        assert_eq!(got[7], format!(" steal {}", seconds(7)));
        assert_eq!(got[20], format!("7 user {}", seconds(200)));
    }

    #[test]
    fn columns_an_old_kernel_lacks_are_not_put() {
        let root = fake::root(&[("proc/stat", "cpu  1 2 3 4 5 6 7\ncpu0 1 2 3\ncpufreq 1 2 3 4 5\n")]);
        let got = read(root.path());
        assert_eq!(got.len(), 7);
        assert_eq!(got[6], format!(" softirq {}", seconds(7)));
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::cut_anywhere("proc/stat", STAT, read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
