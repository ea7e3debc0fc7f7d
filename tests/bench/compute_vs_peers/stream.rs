//! STREAM's loops in C with OpenMP beside ours, on arrays of the same size and with as many threads.
//!
//! The fair peer is compiled with `-fno-tree-loop-distribute-patterns`: else gcc turns copy, alone of the four, into calls of
//! `memcpy`, whose stores may go past the caches. That build is shown as well.

use super::{ours, pairs, peer};
use crate::Options;

const NAMES: [&str; 4] = ["copy", "scale", "add", "triad"];

pub fn compare(options: &Options) {
    let count = options.pairs.unwrap_or(9);
    let Some(gcc) = peer::version("stream", "gcc") else { return };
    let (array, directory) = (ours::area(), tempfile::tempdir().unwrap());
    println!("stream: {gcc}; arrays of {} MiB", array >> 20);
    let elements = format!("-DN={}", array / 8);
    let builds: [(&str, &[&str]); 2] = [("regular", &["-fno-tree-loop-distribute-patterns"]), ("memcpy", &[])];
    for (build, flags) in builds {
        let flags = [&[elements.as_str(), "-mcmodel=medium"], flags].concat();
        let source = include_str!("stream.c");
        let Some(program) = peer::compile("stream", directory.path(), build, source, &flags) else { return };
        for threads in [1, ours::cpus()] {
            for stores in
                ["Regular", "NonTemporal"].into_iter().filter(|stores| build == "regular" || *stores == "Regular")
            {
                let load = format!("Stream(threads: {threads}, stores: {stores})");
                let us = || ours::figures(&load).map(|f| NAMES.map(|name| f[&format!("{name}_mb_per_s")]));
                let them = || peer::numbers(&peer::says(&program, &[], threads)?).try_into().ok();
                let turns: Vec<([f64; 4], [f64; 4])> = pairs::turns(count, us, them);
                print(&format!("{stores} to C {build}, {threads} threads"), &turns);
            }
        }
    }
}

fn print(case: &str, turns: &[([f64; 4], [f64; 4])]) {
    let of = |op: usize| turns.iter().map(|(a, b)| (a[op], b[op])).collect::<Vec<_>>();
    for (op, name) in NAMES.into_iter().enumerate() {
        let pairs = of(op);
        let middle = |side: fn(&(f64, f64)) -> f64| {
            let mut values: Vec<f64> = pairs.iter().map(side).collect();
            values.sort_by(f64::total_cmp);
            if values.is_empty() { f64::NAN } else { pairs::median(&values) }
        };
        let (ours, peer) = (middle(|t| t.0), middle(|t| t.1));
        println!("  {case:<38} {name:<6} {}  {ours:.0} | {peer:.0} MB/s", pairs::ratio(&pairs));
    }
}
