//! Interrupts of each CPU, from `/proc/interrupts` and `/proc/softirqs` (`Documentation/filesystems/proc.rst`).
//!
//! The first is a table of sources and CPUs that prints megabytes on a large machine, so it is read in lines and added up in
//! 32 bits, as the kernel counts: the sums are 32-bit counters as well. Machine checks stand in the same table.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::{Reading, Sink};
use crate::agent::host::Source;
use crate::vocab::event::SampleKind::Counter32;
use crate::vocab::unit::Unit;

/// Soft interrupts that matter here, by the kernel's names.
const SOFT: [(&[u8], &str); 3] = [(b"NET_RX", "net_rx"), (b"NET_TX", "net_tx"), (b"TIMER", "timer")];

/// Lines of `/proc/interrupts` that tell of the machine's health, added up over the CPUs.
const HEALTH: [(&[u8], &str); 4] =
    [(b"MCE", "machine_checks"), (b"TRM", "thermal_events"), (b"THR", "threshold_events"), (b"DFR", "deferred_errors")];

/// On s390x these hold all the interrupts, which the lines below them count again by their kinds.
const S390: [&[u8]; 3] = [b"EXT", b"I/O", b"AIO"];

pub(super) struct Sampler {
    interrupts: Source,
    softirqs: Source,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self { interrupts: Source::new(root, "proc/interrupts"), softirqs: Source::new(root, "proc/softirqs") }
    }
}

/// A table with a column for each CPU.
#[derive(Default)]
struct Table {
    cpus: Vec<u32>,
    sums: Vec<u32>,
    row: Vec<u32>,
}

impl Table {
    /// Takes the heading: `CPU0 CPU2`. False when it is none.
    fn heads(&mut self, line: &[u8]) -> bool {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let cpus = words.map(|word| number(word.strip_prefix(b"CPU")?));
        self.cpus = cpus.collect::<Option<Vec<u32>>>().unwrap_or_default();
        self.sums = vec![0; self.cpus.len()];
        !self.cpus.is_empty()
    }

    /// The name of a line that has a number for each CPU; the numbers are in `row`.
    fn split<'a>(&mut self, line: &'a [u8]) -> Option<&'a [u8]> {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, rest) = line.split_at(colon);
        self.row.clear();
        let words = rest.get(1..)?.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        self.row.extend(words.take(self.cpus.len()).map_while(number));
        (self.row.len() == self.cpus.len()).then(|| name.trim_ascii())
    }

    fn add(&mut self) {
        self.sums.iter_mut().zip(&self.row).for_each(|(sum, n)| *sum = sum.wrapping_add(*n));
    }

    fn total(&self) -> u32 {
        self.row.iter().fold(0, |sum, n| sum.wrapping_add(*n))
    }
}

/// A decimal number of 32 bits.
fn number(word: &[u8]) -> Option<u32> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0_u32, |n, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { n.checked_mul(10)?.checked_add(u32::from(digit)) }
    })
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "interrupts"
    }

    fn every(&self) -> u32 {
        2
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let mut cpus: BTreeMap<u32, Vec<Reading>> = BTreeMap::new();
        let torn = [hard(&mut self.interrupts, into, &mut cpus), soft(&mut self.softirqs, &mut cpus)];
        for (cpu, readings) in &cpus {
            into.put(&cpu.to_string(), readings);
        }
        if torn.contains(&true) {
            into.skip();
        }
        Ok(())
    }
}

fn reading(field: &'static str, value: u32) -> Reading {
    (field, Counter32, Unit::Count, f64::from(value))
}

/// Adds up `/proc/interrupts`; says whether it was cut short, and then puts nothing: a sum that lacks lines would be a fall.
fn hard(file: &mut Source, into: &mut Sink, cpus: &mut BTreeMap<u32, Vec<Reading>>) -> bool {
    let mut table = Table::default();
    let mut health = Vec::new();
    let (mut lines, mut by_kind) = (0, false);
    let whole = file.each_line(|line| {
        lines += 1;
        if lines == 1 {
            table.heads(line);
            return;
        }
        let Some(name) = table.split(line).filter(|_| !table.cpus.is_empty()) else { return };
        by_kind |= name == S390[0];
        if !by_kind || S390.contains(&name) {
            table.add();
        }
        if let Some((_, field)) = HEALTH.iter().find(|(theirs, _)| *theirs == name) {
            health.push(reading(field, table.total()));
        }
    });
    if !matches!(whole, Ok(true)) {
        return lines > 0;
    }
    into.put("", &health);
    for (cpu, sum) in table.cpus.iter().zip(&table.sums) {
        cpus.entry(*cpu).or_default().push(reading("interrupts", *sum));
    }
    false
}

/// Takes the lines that matter out of `/proc/softirqs`; says whether it was cut short.
fn soft(file: &mut Source, cpus: &mut BTreeMap<u32, Vec<Reading>>) -> bool {
    let mut table = Table::default();
    let mut lines = 0;
    let whole = file.each_line(|line| {
        lines += 1;
        if lines == 1 {
            table.heads(line);
            return;
        }
        let wanted = |line: &[u8]| SOFT.iter().any(|(theirs, _)| line.trim_ascii_start().starts_with(theirs));
        let Some(name) = wanted(line).then(|| table.split(line)).flatten() else { return };
        let Some((_, field)) = SOFT.iter().find(|(theirs, _)| *theirs == name) else { return };
        for (cpu, n) in table.cpus.iter().zip(&table.row) {
            cpus.entry(*cpu).or_default().push(reading(field, *n));
        }
    });
    lines > 0 && !matches!(whole, Ok(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const HARD: &str = "           CPU0       CPU2       \n\
                        \x20 0:         10          1   IO-APIC    2-edge      timer\n\
                        \x2024:          5 4294967295   PCI-MSI 512-edge      eth0-0\n\
                        NMI:          0          0   Non-maskable interrupts\n\
                        MCE:          2          1   Machine check exceptions\n\
                        ERR:          7\nMIS:          0\n";
    const SOFTIRQS: &str = "                    CPU0       CPU2       \n\
                            \x20         HI:          1          1\n\
                            \x20      TIMER:        100        200\n\
                            \x20     NET_RX:         50         43\n";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn columns_belong_to_the_cpus_of_the_heading_and_lines_of_one_number_to_none() {
        let root = fake::root(&[("proc/interrupts", HARD), ("proc/softirqs", SOFTIRQS)]);
        let expected = [
            " machine_checks 3",
            "0 interrupts 17",
            "0 timer 100",
            "0 net_rx 50",
            "2 interrupts 1",
            "2 timer 200",
            "2 net_rx 43",
        ];
        assert_eq!(read(root.path()), expected);
    }

    #[test]
    fn kinds_below_a_total_are_not_counted_again() {
        let text = "  CPU0 CPU1\nEXT: 10 20\nI/O: 1 2\nAIO: 3 4\n  3: 6 4\nCLK: 9 9\nNMI: 0 0\n";
        let root = fake::root(&[("proc/interrupts", text)]);
        assert_eq!(read(root.path()), ["0 interrupts 14", "1 interrupts 26"]);
    }

    #[test]
    fn a_table_that_is_cut_short_is_no_sum() {
        let root = fake::root(&[("proc/interrupts", &HARD[..HARD.len() - 1]), ("proc/softirqs", SOFTIRQS)]);
        assert_eq!(read(root.path()).len(), 4, "the other file stands for itself");
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::mangle("proc/interrupts", HARD, read);
        fake::mangle("proc/softirqs", SOFTIRQS, read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
