//! The clock of each CPU, from `cpufreq` (`Documentation/admin-guide/pm/cpufreq.rst`); virtual machines have none.
//!
//! The kernel may wake a CPU, or wait 20 ms between two looks at its counters, to say how fast it is. So the CPUs take turns: a
//! reading goes on with the CPU where the last one stopped, and ends before it takes longer than [`MOST`].

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Sink;
use crate::agent::host::{self, Census};
use crate::vocab::event::SampleKind::Gauge;
use crate::vocab::unit::Unit;

/// A reading takes no longer, but for the first CPU that it looks at.
const MOST: Duration = Duration::from_millis(5);

pub(super) struct Sampler {
    cpu: PathBuf,
    clocks: Census<(String, PathBuf)>,
    next: usize,
    /// What one CPU takes, as far as is known.
    each: Duration,
    most: Duration,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            cpu: root.join("sys/devices/system/cpu"),
            clocks: Census::new(),
            next: 0,
            each: Duration::ZERO,
            most: MOST,
        }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "clock"
    }

    fn every(&self) -> u32 {
        2
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let clocks = self.clocks.of(|| clocks(&self.cpu));
        let begun = Instant::now();
        let mut looked = 0;
        while looked < clocks.len() && (looked == 0 || begun.elapsed() + self.each <= self.most) {
            if let Some((cpu, path)) = clocks.get((self.next + looked) % clocks.len())
                && let Some(khz) = host::number(path).filter(|khz| *khz > 0)
            {
                into.put(cpu, &[("mhz", Gauge, Unit::Megahertz, (khz as f64 / 1e3).round())]);
            }
            looked += 1;
            self.each = begun.elapsed() / looked as u32;
        }
        if looked < clocks.len() {
            into.in_part();
        }
        self.next = (self.next + looked) % clocks.len().max(1);
        Ok(())
    }
}

/// Where each clock is read, by the number of the first CPU that runs at it.
fn clocks(cpu: &Path) -> Vec<(String, PathBuf)> {
    let policies = cpu.join("cpufreq");
    let numbered = |directory: &Path, stem: &str| {
        let numbers =
            host::names(directory).into_iter().filter_map(|name| name.strip_prefix(stem)?.parse::<u32>().ok());
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        numbers
    };
    let by_policy = numbered(&policies, "policy").into_iter().map(|n| (n, policies.join(format!("policy{n}"))));
    let mut found: Vec<(u32, PathBuf)> = by_policy.collect();
    if found.is_empty() {
        let by_cpu = numbered(cpu, "cpu").into_iter().map(|n| (n, cpu.join(format!("cpu{n}/cpufreq"))));
        found = by_cpu.filter(|(_, directory)| directory.is_dir()).collect();
    }
    found.into_iter().map(|(n, directory)| (n.to_string(), directory.join("scaling_cur_freq"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;
    use crate::agent::sampler::Sampler as _;

    const CPU: &str = "sys/devices/system/cpu";

    fn read(root: &Path) -> Vec<String> {
        // However slow this machine is at the moment, the fakes are read in one go.
        fake::readings(&mut Sampler { most: Duration::from_mins(1), ..Sampler::new(root) })
    }

    #[test]
    fn clocks_are_read_by_policy_and_by_cpu_on_old_kernels() {
        let root = fake::root(&[
            (&format!("{CPU}/cpufreq/policy8/scaling_cur_freq"), "2400499\n"),
            (&format!("{CPU}/cpufreq/policy10/scaling_cur_freq"), "800000\n"),
            (&format!("{CPU}/cpufreq/policy12/scaling_cur_freq"), "<unknown>\n"),
            (&format!("{CPU}/cpu8/cpufreq/scaling_cur_freq"), "1\n"),
        ]);
        assert_eq!(read(root.path()), ["8 mhz 2400", "10 mhz 800"]);
        let old = fake::root(&[
            (&format!("{CPU}/cpu3/cpufreq/scaling_cur_freq"), "3000000\n"),
            (&format!("{CPU}/cpu4/online"), "0\n"),
        ]);
        assert_eq!(read(old.path()), ["3 mhz 3000"]);
        assert!(read(fake::root(&[(&format!("{CPU}/cpu3/online"), "1\n")]).path()).is_empty(), "a virtual machine");
    }

    #[test]
    fn slow_clocks_take_turns() {
        let files: Vec<String> = (0..4).map(|n| format!("{CPU}/cpufreq/policy{n}/scaling_cur_freq")).collect();
        let root = fake::root(&files.iter().map(|f| (f.as_str(), "1000000\n")).collect::<Vec<_>>());
        let mut sampler = Sampler { most: Duration::ZERO, ..Sampler::new(root.path()) };
        // With no time to spare each reading looks at one CPU, and the next one goes on behind it.
        let mut looked = Vec::new();
        for _ in 0..5 {
            let mut sink = Sink::default();
            sink.turn_to("clock", None);
            sampler.sample(&mut sink).unwrap();
            looked.extend(sink.take().0.into_iter().map(|described| described.device));
            looked.push(sampler.next.to_string());
        }
        assert_eq!(looked, ["0", "1", "1", "2", "2", "3", "3", "0", "0", "1"]);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::mangle(&format!("{CPU}/cpufreq/policy0/scaling_cur_freq"), "2400000\n", read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
