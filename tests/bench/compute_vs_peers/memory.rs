//! Transfer and latency of memory beside the same in C, and beside `sysbench memory` where the two do nearly the same: threads that go
//! over a block of their own again and again, which lies in a cache.
//!
//! Ours is a mean over its time, that of C the best of ten passes: from memory it may be a little less.

use super::{ours, pairs, peer};
use crate::Options;

const SECONDS: u64 = 1;

pub fn compare(options: &Options) {
    let count = options.pairs.unwrap_or(9);
    if let Some(version) = peer::version("memory", "sysbench") {
        println!("memory: {version}; blocks of 1 MiB, a block a thread, for information");
        for (ours, theirs) in [("Read", "read"), ("Write", "write")] {
            for threads in [1, ours::cpus()] {
                let ratio = pairs::paired(
                    count,
                    || transfer(ours, threads, Some(threads as u64)),
                    || sysbench(theirs, threads),
                );
                println!("  {theirs}, {threads} threads: {ratio}");
            }
        }
    }
    let Some(gcc) = peer::version("memory", "gcc") else { return };
    let (area, directory) = (ours::area(), tempfile::tempdir().unwrap());
    let Some(program) = peer::compile("memory", directory.path(), "memory", include_str!("memory.c"), &[]) else {
        return;
    };
    println!("memory: {gcc}; areas of {} MiB", area >> 20);
    let c = |work: &str, bytes: u64, threads| {
        let words = [work.to_owned(), bytes.to_string()];
        peer::numbers(&peer::says(&program, &words, threads)?).first().copied()
    };
    for (ours, theirs) in [("Read", "read"), ("Write", "write")] {
        for threads in [1, ours::cpus()] {
            let ratio = pairs::paired(count, || transfer(ours, threads, None), || c(theirs, area, threads));
            println!("  {theirs}, {threads} threads: {ratio}");
        }
    }
    for bytes in [32 << 10, 16 << 20, area] {
        let load = format!("MemoryLatency(area: \"{bytes}B\", time: \"{SECONDS} s\")");
        let mut levels = Vec::new();
        let us = || ours::figures(&load).map(|figures| figures["ns_per_load"]).inspect(|ns| levels.push(*ns));
        let ratio = pairs::paired(count, us, || c("chase", bytes, 1));
        levels.sort_by(f64::total_cmp);
        println!("  ns a load in {} KiB: {ratio}  {:.2} ns", bytes >> 10, pairs::median(&levels));
    }
}

/// MB/s of ours in blocks of 1 MiB; over so many MiB, or over what no cache holds.
fn transfer(operation: &str, threads: usize, area: Option<u64>) -> Option<f64> {
    let area = area.map(|mib| format!(", area: \"{mib}MiB\"")).unwrap_or_default();
    let load = format!("Memory(operation: {operation}, threads: {threads}, time: \"{SECONDS} s\"{area})");
    Some(ours::figures(&load)?["mb_per_s"])
}

fn sysbench(operation: &str, threads: usize) -> Option<f64> {
    let words = format!(
        "memory --threads={threads} --memory-block-size=1M --memory-oper={operation} --memory-scope=local \
         --memory-total-size=1000T --time={SECONDS} run"
    );
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let said = peer::says("sysbench".as_ref(), &words, threads)?;
    let line = said.lines().find(|line| line.contains("MiB/sec)"))?;
    let rate: f64 = line.split_once('(')?.1.split_whitespace().next()?.parse().ok()?;
    Some(rate * 1.048_576)
}
