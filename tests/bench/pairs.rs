//! Measuring two programs in turn.

/// The median of paired ratios, and the interval in which the population's lies with 95 %.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} [{:.3} {:.3}]", self.median, self.low, self.high)
    }
}

/// One value of each side a pair; what either could not measure is left out.
pub(crate) fn paired(pairs: usize, ours: impl FnMut() -> Option<f64>, peer: impl FnMut() -> Option<f64>) -> Ratio {
    ratio(&turns(pairs, ours, peer))
}

/// The turns themselves, where one gives more than a number. The first pair finds cold caches, and is not counted.
pub(crate) fn turns<T>(
    pairs: usize,
    mut ours: impl FnMut() -> Option<T>,
    mut peer: impl FnMut() -> Option<T>,
) -> Vec<(T, T)> {
    let mut turns = Vec::new();
    for pair in 0..=pairs {
        let (a, b) = if pair % 2 == 0 {
            let a = ours();
            (a, peer())
        } else {
            let b = peer();
            (ours(), b)
        };
        turns.extend(a.zip(b).filter(|_| pair > 0));
    }
    turns
}

pub(crate) fn ratio(turns: &[(f64, f64)]) -> Ratio {
    let mut ratios: Vec<f64> = turns.iter().map(|(ours, peer)| ours / peer).collect();
    ratios.sort_by(f64::total_cmp);
    if ratios.is_empty() {
        return Ratio { median: f64::NAN, low: f64::NAN, high: f64::NAN };
    }
    let edge = edge(ratios.len());
    Ratio { median: median(&ratios), low: ratios[edge], high: ratios[ratios.len() - 1 - edge] }
}

pub(crate) fn median(sorted: &[f64]) -> f64 {
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

/// How many of the sorted values may be left out at each end so that the median of the population still lies between the others with
/// 95 % (each value is below it with probability 1/2, independently).
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

/// What the machine is doing.
pub(crate) fn load() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (load, pressure) = (read("/proc/loadavg"), read("/proc/pressure/cpu"));
    format!("load {}; pressure {}", load.trim(), pressure.lines().next().unwrap_or("unknown"))
}
