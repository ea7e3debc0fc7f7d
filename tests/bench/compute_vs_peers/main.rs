//! The compute kernels beside the programs people trust, one after the other in pairs whose order alternates. Prints the median of the
//! paired ratios (this program to its peer) with a distribution-free interval.
//!
//! `cargo bench --bench compute_vs_peers -- [SECTION…] [pairs=9]`; all sections when none is named. A peer that is not installed is
//! skipped, and it is said.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub,
    reason = "a bench"
)]

mod integer;
mod memory;
mod ours;
mod pairs;
mod peer;
mod stream;

type Section = (&'static str, fn(usize));

const SECTIONS: [Section; 3] =
    [("stream", stream::compare), ("integer", integer::compare), ("memory", memory::compare)];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let pairs = words.iter().find_map(|word| word.strip_prefix("pairs=")).map_or(9, |n| n.parse().expect("pairs"));
    let named: Vec<&String> = words.iter().filter(|word| !word.contains('=')).collect();
    println!("{pairs} pairs; ratios are shakedown to its peer; {}", pairs::load());
    for (name, compare) in SECTIONS {
        if named.is_empty() || named.iter().any(|word| *word == name) {
            compare(pairs);
        }
    }
    println!("{}", pairs::load());
}
