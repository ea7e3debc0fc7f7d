//! `sysbench cpu` beside ours, for the same time.

use super::{ours, pairs, peer};
use crate::Options;

const SECONDS: u64 = 2;

pub fn compare(options: &Options) {
    let count = options.pairs.unwrap_or(9);
    let Some(version) = peer::version("integer", "sysbench") else { return };
    println!("integer: {version}; {SECONDS} s");
    for limit in [10_000, 20_000] {
        for threads in [1, ours::cpus()] {
            let load = format!("Integer(limit: {limit}, time: \"{SECONDS} s\", threads: {threads})");
            let us = || ours::figures(&load).map(|figures| figures["events_per_s"]);
            let ratio = pairs::paired(count, us, || sysbench(limit, threads));
            println!("  events/s, limit {limit}, {threads} threads: {ratio}");
        }
    }
}

fn sysbench(limit: u64, threads: usize) -> Option<f64> {
    let words = format!("cpu --threads={threads} --cpu-max-prime={limit} --time={SECONDS} run");
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let said = peer::says("sysbench".as_ref(), &words, threads)?;
    let line = said.lines().find_map(|line| line.trim().strip_prefix("events per second:"))?;
    line.trim().parse().ok()
}
