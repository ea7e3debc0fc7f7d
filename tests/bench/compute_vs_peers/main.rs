//! The compute kernels beside the programs people trust, one after the other in pairs whose order alternates. Prints the median of the
//! paired ratios (this program to its peer) with a distribution-free interval.
//!
//! `cargo bench --bench compute_vs_peers -- [SECTION] [CASE] [pairs=9]`; `SECTION` is one of those below, `CASE` a part of the name of a
//! case of LINPACK. A peer that is not installed is skipped, and it is said.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub,
    reason = "a bench"
)]

mod hpl;
mod integer;
mod linpack;
mod memory;
mod ours;
#[path = "../pairs.rs"]
mod pairs;
mod peer;
mod stream;

/// What the command line asks for.
pub struct Options {
    /// A part of the names of the cases that are meant.
    pub case: String,
    /// Pairs of every case; the section's own number when not given.
    pub pairs: Option<usize>,
}

/// Its name, and what compares its cases.
type Section = (&'static str, fn(&Options));

/// One line a section.
const SECTIONS: &[Section] = &[
    ("linpack", linpack::compare),
    ("hpl", hpl::compare),
    ("stream", stream::compare),
    ("integer", integer::compare),
    ("memory", memory::compare),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [mark, load, seed] = &words[..]
        && mark == "--side"
    {
        return ours::side(load, seed.parse().expect("a seed"));
    }
    let mut plain = words.iter().filter(|word| !word.contains('='));
    let (section, case) = (plain.next().cloned().unwrap_or_default(), plain.next().cloned().unwrap_or_default());
    let pairs = words.iter().find_map(|word| word.strip_prefix("pairs=")).map(|n| n.parse().expect("pairs"));
    println!("ratios are shakedown to its peer; {}", pairs::load());
    for (_, compare) in SECTIONS.iter().filter(|(name, _)| name.contains(&section)) {
        compare(&Options { case: case.clone(), pairs });
    }
    println!("{}", pairs::load());
}
