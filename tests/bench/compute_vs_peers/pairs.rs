//! Turns of the two sides, their ratios, and what the machine was doing meanwhile.

use std::path::Path;
use std::process::Command;

use shakedown::agent::kernel::{self, Stop};
use shakedown::agent::meter::Meter;
use shakedown::agent::resources::Resources;
use shakedown::agent::voice::Voice;
use shakedown::vocab::plan::Run;
use shakedown::vocab::ronfile::parse;

/// What the command line asks for.
pub struct Options {
    pub case: String,
    /// Pairs of every case; the case's own number when not given.
    pub pairs: Option<usize>,
}

/// Runs a case in pairs whose order alternates and prints its line; each side returns a rate.
pub fn compare(case: &str, unit: &str, pairs: usize, ours: impl Fn(usize) -> f64, theirs: impl Fn(usize) -> f64) {
    let before = Conditions::now();
    let turns: Vec<(f64, f64)> = (0..pairs)
        .map(|pair| {
            if pair % 2 == 0 {
                let ours = ours(pair);
                (ours, theirs(pair))
            } else {
                let theirs = theirs(pair);
                (ours(pair), theirs)
            }
        })
        .collect();
    let sorted = |of: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = turns.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let ratios = sorted(|(ours, theirs)| ours / theirs);
    let edge = edge(ratios.len());
    println!(
        "{case:<20} {:.3} [{:.3} {:.3}]  medians: {:.2} | {:.2} {unit}, {pairs} pairs, {}",
        median(&ratios),
        ratios[edge],
        ratios[ratios.len() - 1 - edge],
        median(&sorted(|t| t.0)),
        median(&sorted(|t| t.1)),
        before.since()
    );
}

pub fn median(sorted: &[f64]) -> f64 {
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

/// How many of the sorted values may be left out at each end so that the median of the population still lies between the others with
/// 95 % (each value is below it with probability 1/2, independently); with less than six values there is no such interval, and the
/// whole range is shown.
fn edge(n: usize) -> usize {
    let mut outside = 0.0;
    let mut chance = 0.5_f64.powi(n as i32);
    for k in 0..n / 2 {
        outside += chance;
        if 2.0 * outside > 0.05 {
            return k.saturating_sub(1);
        }
        chance *= (n - k) as f64 / (k + 1) as f64;
    }
    0
}

/// One iteration of a load of ours in a process of its own; returns the figure that it prints.
pub fn ours(load: &str, seed: usize, figure: &str) -> f64 {
    let exe = std::env::current_exe().unwrap();
    let output = Command::new(exe).args(["--side", load, &seed.to_string()]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let value = text.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix('=')?.parse().ok());
    value.unwrap_or_else(|| panic!("{load}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// What that process does.
pub fn side(load: &str, seed: u64) {
    let run: Run = parse("load", &format!("(name: \"r\", kernel: {load}, seed: {seed})")).expect("a run");
    let mut kernel = kernel::build(&run, Path::new("/var/tmp"), &Resources::here(Path::new("/"))).expect("a kernel");
    let description = kernel.describe();
    let meter = Meter::new(run.name.clone(), description.meters.len(), description.lanes, Voice::silent());
    kernel.prepare(&meter, &Stop::default()).expect("prepared");
    meter.next_iteration();
    for figure in kernel.iterate(&meter, &Stop::default()).expect("an iteration").figures {
        println!("{}={}", figure.name, figure.value);
    }
}

/// The CPU and the kernel.
pub fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{}, Linux {}", model.trim_start_matches(['\t', ' ', ':']), release.trim())
}

/// What the machine was doing.
struct Conditions(Vec<f64>);

impl Conditions {
    fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/stat").unwrap();
        let fields = stat.lines().next().unwrap().split_whitespace().skip(1);
        Self(fields.map(|field| field.parse().unwrap()).collect())
    }

    fn since(&self) -> String {
        let gained: Vec<f64> = Self::now().0.iter().zip(&self.0).map(|(now, then)| now - then).collect();
        let steal = 100.0 * gained[7] / gained.iter().take(8).sum::<f64>();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap();
        let pressure = std::fs::read_to_string("/proc/pressure/cpu").unwrap_or_default();
        let some = pressure.split_whitespace().find(|word| word.starts_with("avg60=")).unwrap_or("no pressure file");
        format!("load {}, CPU pressure {some}, steal {steal:.1} %", load.split(' ').next().unwrap())
    }
}
