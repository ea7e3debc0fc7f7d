//! Whether the means of a series fall slowly or fell at once: a level with a line behind a knot against two levels, by least
//! squares over the same blocks.

use super::blocks::{BLOCKS, Block};
use crate::vocab::moment::Moment;

/// Line and step have as many parameters, so twice the difference of their log-likelihoods, `m·ln(S_step/S_line)`, tells which
/// fits better; from four on it is clear.
const CLEAR: f64 = 4.0;
/// Blocks behind the knot at least.
const TAIL: usize = 8;

/// The best line behind a knot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::analysis) struct Trend {
    /// When it begins.
    pub(in crate::analysis) onset: Moment,
    /// The level before it.
    pub(in crate::analysis) from: f64,
    /// The level it has come to.
    pub(in crate::analysis) to: f64,
    /// Slope over its standard error, widened by the first autocorrelation ρ of the residuals: × √((1−ρ)/(1+ρ)).
    pub(in crate::analysis) t: f64,
    /// Whether it explains the blocks clearly better than one step does.
    pub(in crate::analysis) is_line: bool,
}

/// Weighted sums over the blocks from one on.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    w: f64,
    t: f64,
    tt: f64,
    y: f64,
    ty: f64,
    yy: f64,
}

impl Sums {
    fn add(self, w: f64, t: f64, y: f64) -> Self {
        Self {
            w: self.w + w,
            t: self.t + w * t,
            tt: self.tt + w * t * t,
            y: self.y + w * y,
            ty: self.ty + w * t * y,
            yy: self.yy + w * y * y,
        }
    }

    /// The squares that are left around the mean of these blocks.
    fn around_mean(self) -> f64 {
        if self.w > 0.0 { (self.yy - self.y * self.y / self.w).max(0.0) } else { 0.0 }
    }
}

/// A level up to a knot and a line behind it.
#[derive(Clone, Copy)]
struct Hinge {
    knot: usize,
    level: f64,
    slope: f64,
    left: f64,
    sxx: f64,
}

impl Trend {
    /// Fits the blocks; none with too few of them.
    pub(in crate::analysis) fn of(blocks: &[Block]) -> Option<Self> {
        let m = blocks.len();
        if m < 2 * TAIL {
            return None;
        }
        let origin = blocks[0].from;
        // Around a middle value, so that squares do not drown what is looked for.
        let middle = blocks[m / 2].mean();
        let point = |b: &Block| (b.n, b.middle(origin), b.mean() - middle);
        let mut after = [Sums::default(); BLOCKS + 1];
        for (i, block) in blocks.iter().enumerate().rev() {
            let (w, t, y) = point(block);
            after[i] = after[i + 1].add(w, t, y);
        }
        let best = (0..=m - TAIL)
            .map(|knot| hinge(&after, knot, point(&blocks[knot]).1))
            .min_by(|a, b| a.left.total_cmp(&b.left))?;
        let step = (1..m).map(|i| step(&after, i)).fold(f64::INFINITY, f64::min);
        let knot = point(&blocks[best.knot]).1;
        let fitted = |t: f64| best.level + best.slope * (t - knot).max(0.0);
        let t = significance(blocks, &best, |block| point(block).2 - fitted(point(block).1));
        let is_line = m as f64 * (step / best.left.max(f64::MIN_POSITIVE)).ln() > CLEAR;
        let to = fitted(point(&blocks[m - 1]).1) + middle;
        Some(Self { onset: blocks[best.knot].from, from: best.level + middle, to, t, is_line })
    }
}

fn hinge(after: &[Sums; BLOCKS + 1], knot: usize, at: f64) -> Hinge {
    let (all, tail) = (after[0], after[knot]);
    // With u = max(0, t − knot): its weighted sums come from those of the blocks behind the knot.
    let su = tail.t - at * tail.w;
    let suu = tail.tt - 2.0 * at * tail.t + at * at * tail.w;
    let suy = tail.ty - at * tail.y;
    let sxx = suu - su * su / all.w;
    let sxy = suy - su * all.y / all.w;
    let slope = if sxx > 0.0 { sxy / sxx } else { 0.0 };
    let level = (all.y - slope * su) / all.w;
    Hinge { knot, level, slope, left: (all.around_mean() - slope * sxy).max(0.0), sxx }
}

fn step(after: &[Sums; BLOCKS + 1], at: usize) -> f64 {
    let (all, tail) = (after[0], after[at]);
    let head = Sums { w: all.w - tail.w, y: all.y - tail.y, yy: all.yy - tail.yy, ..Sums::default() };
    head.around_mean() + tail.around_mean()
}

fn significance(blocks: &[Block], fit: &Hinge, residual: impl Fn(&Block) -> f64) -> f64 {
    let m = blocks.len() as f64;
    let (mut squares, mut products, mut last) = (0.0, 0.0, None);
    for block in blocks {
        let r = residual(block);
        squares += r * r;
        products += last.map_or(0.0, |last: f64| last * r);
        last = Some(r);
    }
    let rho = products / squares.max(f64::MIN_POSITIVE);
    // The first autocorrelation of few readings is too small by about (1+4ρ)/m (Kendall, 1954).
    let rho = (rho + (1.0 + 4.0 * rho.max(0.0)) / m).clamp(0.0, 0.97);
    let variance = (fit.left / (m - 3.0)).max(1e-12 * fit.level.abs().max(1e-12).powi(2));
    fit.slope / (variance / fit.sxx.max(f64::MIN_POSITIVE)).sqrt() * ((1.0 - rho) / (1.0 + rho)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(level: impl Fn(f64) -> f64) -> Vec<Block> {
        let wobble = |i: u64| ((i * 7919) % 13) as f64 / 13.0 - 0.5;
        (0..60)
            .map(|i| {
                let at = Moment(i * 1_000_000);
                Block { from: at, to: at, n: 1.0, sum: level(i as f64) + wobble(i) }
            })
            .collect()
    }

    #[test]
    fn a_slow_fall_is_a_line_with_its_knot_and_a_sudden_one_a_step() {
        let slow = Trend::of(&blocks(|t| 100.0 - (t - 20.0).max(0.0) / 2.0)).unwrap();
        assert!(slow.is_line && slow.t < -20.0, "{slow:?}");
        assert!((slow.from - 100.0).abs() < 0.5 && (slow.to - 80.5).abs() < 0.5, "{slow:?}");
        assert!((17_000_000..=23_000_000).contains(&slow.onset.0), "{slow:?}");
        assert!(!Trend::of(&blocks(|t| if t < 30.0 { 100.0 } else { 80.0 })).unwrap().is_line);
        assert!(Trend::of(&blocks(|_| 100.0)).unwrap().t.abs() < 4.0);
        assert_eq!(Trend::of(&blocks(|_| 100.0)[..10]), None);
    }
}
