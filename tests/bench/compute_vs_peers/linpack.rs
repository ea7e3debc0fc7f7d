//! LU and matrix multiplication beside `OpenBLAS` (`dgesv`, `dgemm`), in a small C program that is built here and times nothing but
//! the call. Needs gcc and `OpenBLAS` with its development files (`libopenblas-dev`).

use std::cell::Cell;
use std::path::Path;
use std::process::Command;

use crate::pairs::{median, ratio, turns};
use crate::{Options, ours};

const SOURCE: &str = include_str!("openblas.c");

/// Order, and pairs where the command line does not say.
const ORDERS: [(usize, usize); 4] = [(1000, 9), (2000, 9), (4000, 7), (8000, 3)];

pub fn compare(options: &Options) {
    let directory = tempfile::tempdir().unwrap();
    let program = match build(directory.path()) {
        Ok(program) => program,
        Err(why) => return println!("SKIPPED: linpack: OpenBLAS cannot be asked: {why}"),
    };
    let about = Command::new(&program).arg("about").output().unwrap();
    println!("peer: {}", String::from_utf8_lossy(&about.stdout).trim());
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let threads: Vec<usize> = if cpus > 1 { vec![1, cpus] } else { vec![1] };
    for (call, kernel) in [("dgesv", "Linpack"), ("dgemm", "Gemm")] {
        for (n, usual) in ORDERS {
            for threads in &threads {
                let case = format!("{call}-{n}-{threads}t");
                if !case.contains(&options.case) {
                    continue;
                }
                let time = if kernel == "Gemm" { ", time: \"0 s\"" } else { "" };
                let load = format!("{kernel}(size: N({n}), threads: {threads}{time})");
                let seed = Cell::new(0);
                let next = || {
                    seed.set(seed.get() + 1);
                    seed.get()
                };
                let own = || ours::in_own_process(&load, next(), "gflops");
                let turns = turns(options.pairs.unwrap_or(usual), own, || Some(peer(&program, call, n, *threads, 1)));
                let middle = |of: fn(&(f64, f64)) -> f64| {
                    let mut values: Vec<f64> = turns.iter().map(of).collect();
                    values.sort_by(f64::total_cmp);
                    median(&values)
                };
                let (own, peer) = (middle(|t| t.0), middle(|t| t.1));
                println!("{case:<16} {}  medians: {own:.2} | {peer:.2} GFLOPS, {} pairs", ratio(&turns), turns.len());
            }
        }
    }
}

fn build(directory: &Path) -> Result<std::path::PathBuf, String> {
    let (source, program) = (directory.join("openblas.c"), directory.join("openblas"));
    std::fs::write(&source, SOURCE).map_err(|e| e.to_string())?;
    let output = Command::new("gcc").arg("-O2").arg(&source).arg("-o").arg(&program).arg("-lopenblas").output();
    let output = output.map_err(|e| format!("gcc: {e}"))?;
    if output.status.success() { Ok(program) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// One call of the peer; with one thread it is pinned to a CPU, as ours is.
fn peer(program: &Path, call: &str, n: usize, threads: usize, seed: usize) -> f64 {
    let cpus = if threads == 1 { "0".to_owned() } else { format!("0-{}", threads - 1) };
    let output = Command::new("taskset")
        .args(["-c", &cpus])
        .arg(program)
        .args([call, &n.to_string(), &seed.to_string()])
        .env("OPENBLAS_NUM_THREADS", threads.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}
