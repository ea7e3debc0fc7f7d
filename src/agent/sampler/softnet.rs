//! Packets on their way up from the interrupt, from `/proc/net/softnet_stat` (`net/core/net-procfs.c`): one line of hexadecimal
//! columns for each CPU.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use super::Sink;
use crate::agent::host::Source;
use crate::vocab::event::SampleKind::{Counter32, Gauge};
use crate::vocab::unit::Unit;

/// The column that names the CPU, on kernels that have it; else the lines stand for the CPUs in order.
const CPU: usize = 12;

pub(super) struct Sampler {
    file: Source,
    processed: HashMap<u32, u32>,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self { file: Source::new(root, "proc/net/softnet_stat"), processed: HashMap::new() }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "softnet"
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let Some(lines) = self.file.read()? else { return Ok(()) };
        // The kernel counts in 32 bits for each CPU; sums of such counters, taken in 32 bits, are such a counter again.
        let mut sums = [0_u32; 3];
        let (mut cpus, mut damaged) = (0, false);
        let (mut gained, mut busiest) = (0_u64, (0_u32, 0_u32));
        for line in lines {
            let mut columns = line.split_ascii_whitespace().map(|word| u32::from_str_radix(word, 16));
            let (Some(Ok(processed)), Some(Ok(dropped)), Some(Ok(squeezed))) =
                (columns.next(), columns.next(), columns.next())
            else {
                damaged = true;
                continue;
            };
            let cpu = columns.nth(CPU - 3).and_then(Result::ok).unwrap_or(cpus);
            for (sum, column) in sums.iter_mut().zip([processed, dropped, squeezed]) {
                *sum = sum.wrapping_add(column);
            }
            let before = self.processed.insert(cpu, processed).unwrap_or(processed);
            let more = processed.wrapping_sub(before);
            gained += u64::from(more);
            busiest = if more > busiest.0 { (more, cpu) } else { busiest };
            cpus += 1;
        }
        if damaged || self.file.torn() || cpus == 0 {
            // A sum that lacks a CPU would be a fall.
            into.skip();
            return Ok(());
        }
        let names = ["processed", "dropped", "squeezed"];
        for (name, sum) in names.into_iter().zip(sums) {
            into.put("", &[(name, Counter32, Unit::Count, f64::from(sum))]);
        }
        if gained > 0 {
            let share = 100.0 * f64::from(busiest.0) / gained as f64;
            into.put("", &[("busiest_cpu", Gauge, Unit::Count, f64::from(busiest.1))]);
            into.put("", &[("busiest_share", Gauge, Unit::Percent, share.round())]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const NEW: &str = "0000000a 00000001 00000002 0 0 0 0 0 0 0 0 0 00000004 0 0\n\
                       00000010 00000000 00000001 0 0 0 0 0 0 0 0 0 00000007 0 0\n";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn cpus_add_up_and_the_busiest_is_named_by_its_number() {
        let root = fake::root(&[("proc/net/softnet_stat", NEW)]);
        let mut sampler = Sampler::new(root.path());
        assert_eq!(fake::readings(&mut sampler), [" processed 26", " dropped 1", " squeezed 3"]);
        let later = NEW.replace("0000000a", "00000014").replace("00000010", "0000002e");
        fake::put(root.path(), "proc/net/softnet_stat", later);
        assert_eq!(fake::readings(&mut sampler)[3..], [" busiest_cpu 7", " busiest_share 75"]);
    }

    #[test]
    fn old_kernels_have_fewer_columns_and_a_sum_wraps_as_its_parts_do() {
        let root = fake::root(&[("proc/net/softnet_stat", "ffffffff 0 0\n00000003 0 1\n")]);
        let mut sampler = Sampler::new(root.path());
        assert_eq!(fake::readings(&mut sampler), [" processed 2", " dropped 0", " squeezed 1"]);
        fake::put(root.path(), "proc/net/softnet_stat", "ffffffff 0 0\n00000004 0 1\n");
        assert_eq!(fake::readings(&mut sampler)[3..], [" busiest_cpu 1", " busiest_share 100"]);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::mangle("proc/net/softnet_stat", NEW, read);
        let root = fake::root(&[("proc/net/softnet_stat", &NEW[..NEW.len() - 3])]);
        assert!(read(root.path()).is_empty(), "half a table is no sum");
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
