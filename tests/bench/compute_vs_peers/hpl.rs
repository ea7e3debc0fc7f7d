//! LINPACK beside HPL, as hpcc runs it with the BLAS that is installed: one process on one CPU. Needs hpcc with its example input, and
//! mpirun.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::pairs::{ratio, turns};
use crate::{Options, ours};

/// The input that comes with the package; its lines end in the names of what they set.
const INPUT: &str = "/usr/share/doc/hpcc/examples/_hpccinf.txt";
const ORDER: usize = 4000;
const BLOCK: usize = 128;

pub fn compare(options: &Options) {
    let Ok(input) = std::fs::read_to_string(INPUT) else {
        return println!("SKIPPED: hpl: no {INPUT}; install hpcc");
    };
    if !options.case.is_empty() && !"hpl".contains(&options.case) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("hpccinf.txt"), one_case(&input)).unwrap();
    if let Err(why) = peer(directory.path()) {
        return println!("SKIPPED: hpl: {why}");
    }
    let load = format!("Linpack(size: N({ORDER}), threads: 1)");
    let own = || ours::in_own_process(&load, 1, "gflops");
    let turns = turns(options.pairs.unwrap_or(7), own, || peer(directory.path()).ok());
    println!("hpl-{ORDER}-1t     {}  {} pairs, NB={BLOCK}, P=Q=1", ratio(&turns), turns.len());
}

/// The input with one order, one width of blocks and one process.
fn one_case(input: &str) -> String {
    let values = [("Ns", ORDER), ("NBs", BLOCK), ("Ps", 1), ("Qs", 1)];
    let line = |line: &str| {
        let named = values.iter().find(|(name, _)| line.split_whitespace().last() == Some(*name));
        named.map_or_else(|| line.to_owned(), |(name, value)| format!("{value} {name}"))
    };
    input.lines().map(|l| line(l) + "\n").collect()
}

/// GFLOPS of HPL; the other tests of the suite run as well, and are not looked at.
fn peer(directory: &Path) -> Result<f64, String> {
    let mut command = Command::new("taskset");
    command.args(["-c", "0", "mpirun", "--allow-run-as-root", "-np", "1", "hpcc"]).current_dir(directory);
    command.env("OPENBLAS_NUM_THREADS", "1").stdout(Stdio::null()).stderr(Stdio::null());
    let output = directory.join("hpccoutf.txt");
    // The suite writes behind what is there.
    let _ = std::fs::remove_file(&output);
    command.status().map_err(|why| format!("mpirun: {why}"))?;
    let text = std::fs::read_to_string(output).map_err(|why| format!("hpcc: {why}"))?;
    let value = text.lines().find_map(|line| line.strip_prefix("HPL_Tflops="));
    value.and_then(|v| v.parse::<f64>().ok()).map(|v| v * 1000.0).ok_or_else(|| "hpcc gave no HPL_Tflops".to_owned())
}
