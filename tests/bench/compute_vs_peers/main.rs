//! The kernels for CPU and memory beside the field's tools: the same work, sizes and threads, one after the other in pairs whose
//! order alternates. Prints the median of the paired ratios (this program to the tool) with a distribution-free interval.
//!
//! `cargo bench --bench compute_vs_peers -- [SECTION] [CASE] [pairs=9]`; `SECTION` is one of those below, `CASE` a part of a case's
//! name. Each section says what its peer needs, and is SKIPPED without it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub,
    reason = "a bench"
)]

mod linpack;
mod pairs;

use pairs::Options;

/// Its name, and what compares its cases.
type Section = (&'static str, fn(&Options));

/// One line a section.
const SECTIONS: &[Section] = &[("linpack", linpack::compare)];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [mark, load, seed] = &words[..]
        && mark == "--side"
    {
        return pairs::side(load, seed.parse().expect("a seed"));
    }
    let mut plain = words.iter().filter(|word| !word.contains('='));
    let (section, case) = (plain.next().cloned().unwrap_or_default(), plain.next().cloned().unwrap_or_default());
    let pairs = words.iter().find_map(|word| word.strip_prefix("pairs=")).map(|n| n.parse().expect("pairs"));
    for (name, compare) in SECTIONS.iter().filter(|(name, _)| name.contains(&section)) {
        println!("== {name}: ratios are shakedown to its peer; {}", pairs::machine());
        compare(&Options { case: case.clone(), pairs });
    }
}
