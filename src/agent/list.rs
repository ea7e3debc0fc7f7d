//! Lists of CPUs in the kernel's form: `0-15,88-103`.

use std::collections::BTreeSet;
use std::path::Path;

use super::host;

/// Far above the CPUs of any machine; a damaged list must not fill the memory.
const MOST: u32 = 1 << 16;

/// The numbers of a list; what is damaged is left out.
pub(super) fn parse(list: &str) -> BTreeSet<u32> {
    let range = |range: &str| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to) = (from.trim().parse::<u32>().ok()?, to.trim().parse::<u32>().ok()?);
        Some(from..to.min(MOST).saturating_add(1))
    };
    list.split(',').filter_map(range).flatten().collect()
}

/// The list of these numbers.
pub(super) fn print(numbers: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.saturating_add(1) == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let one = |(from, to): &(u32, u32)| if from == to { from.to_string() } else { format!("{from}-{to}") };
    ranges.iter().map(one).collect::<Vec<_>>().join(",")
}

/// The number behind a stem: 12 of `cpu12`.
pub(super) fn numbered(name: &str, stem: &str) -> Option<u32> {
    let digits = name.strip_prefix(stem)?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// CPUs of a mask in groups of 32 bits, the highest first: `00000001,00000003`.
pub(super) fn mask(text: &str) -> BTreeSet<u32> {
    let groups = text.split(',').rev().take(1 << 11).zip((0..).step_by(32));
    let bits = groups.filter_map(|(group, base)| Some((u32::from_str_radix(group.trim(), 16).ok()?, base)));
    bits.flat_map(|(group, base)| (0..32).filter(move |bit| group >> bit & 1 == 1).map(move |bit| base + bit)).collect()
}

/// One CPU of each core that one of these is a thread of.
pub(super) fn cores(root: &Path, cpus: &[usize]) -> Vec<usize> {
    let siblings = |cpu: usize| {
        let topology = root.join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
        let told = ["core_cpus_list", "thread_siblings_list"].iter().find_map(|file| host::value(&topology.join(file)));
        told.unwrap_or_else(|| cpu.to_string())
    };
    let mut seen = BTreeSet::new();
    cpus.iter().copied().filter(|cpu| seen.insert(siblings(*cpu))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_printed() {
        for list in ["0-15,88-103", "3", "", "0,2,4-5"] {
            assert_eq!(print(&parse(list)), list);
        }
        assert_eq!((parse("5-2,x,").len(), print(&parse("0,1,2, 3\u{0}"))), (0, "0-2".to_owned()));
        assert!(parse("0-4294967295").len() <= 1 << 17, "no list fills the memory");
        assert_eq!(
            (numbered("cpu12", "cpu"), numbered("cpufreq", "cpu"), numbered("cpu", "cpu")),
            (Some(12), None, None)
        );
    }

    #[test]
    fn masks_are_groups_of_32_bits() {
        assert_eq!(mask("00000001,00000003"), BTreeSet::from([0, 1, 32]));
        assert_eq!((mask("x,"), mask("")), (BTreeSet::new(), BTreeSet::new()));
    }
}
