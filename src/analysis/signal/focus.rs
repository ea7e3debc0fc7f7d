//! `FOCuS`: the likelihood ratio of a change in the mean, maximised over every moment at which it may have happened.
//!
//! After Romano, Eckley, Fearnhead and Rigaill, "Fast online changepoint detection via functional pruning CUSUM statistics",
//! JMLR 24(81), 2023: only the vertices of the convex hulls of the cumulative sums can be the best moment. The ratio is divided
//! by the running variance × (1+ρ)/(1−ρ), the long-run variance of an AR(1) series, without which autocorrelated noise
//! alarms by the dozen.

/// Vertices kept of each hull. Its expected length is the logarithm of the number of readings: 15 after 72 hours at 10 Hz.
const VERTICES: usize = 24;
/// Above this the variance is frozen: a change that is being found out must not explain itself away.
const FROZEN: f64 = 15.0;
/// While nothing is likely, the hulls are looked at every so many readings only.
const EVERY: usize = 3;
const LIKELY: f64 = 8.0;
/// Readings that have not yet been let into the variance: before that, a change would explain itself away unseen.
const LAG: usize = 16;
/// Readings without which there is no variance to freeze: a correlated series would seem to change at once, and for ever.
const FEWEST: f64 = 64.0;
/// The most that one reading may weigh; a single outlier is no change.
const CLIP: f64 = 8.0;

/// A moment at which the mean may have changed: readings before it, their sum.
#[derive(Clone, Copy, Debug, Default)]
struct Vertex {
    n: f64,
    sum: f64,
}

/// The upper (or, with sums negated, lower) hull of the cumulative sums.
#[derive(Clone, Debug, Default)]
struct Hull {
    vertices: [Vertex; VERTICES],
    len: usize,
}

impl Hull {
    fn push(&mut self, new: Vertex) {
        while self.len >= 2 && below(self.vertices[self.len - 2], self.vertices[self.len - 1], new) {
            self.len -= 1;
        }
        if self.len == VERTICES {
            self.drop_flattest();
        }
        self.vertices[self.len] = new;
        self.len += 1;
    }

    /// The vertex whose loss changes the hull least: that of the smallest triangle with its neighbours.
    fn drop_flattest(&mut self) {
        let area = |i: usize| {
            let (a, b, c) = (self.vertices[i - 1], self.vertices[i], self.vertices[i + 1]);
            ((b.n - a.n) * (c.sum - a.sum) - (c.n - a.n) * (b.sum - a.sum)).abs()
        };
        let flattest = (1..self.len - 1).min_by(|a, b| area(*a).total_cmp(&area(*b))).unwrap_or(1);
        self.vertices.copy_within(flattest + 1..self.len, flattest);
        self.len -= 1;
    }

    /// The largest likelihood ratio over the vertices, and the readings before that vertex.
    fn best(&self, n: f64, sum: f64) -> (f64, f64) {
        let slope = sum / n;
        let mut best = (0.0, 0.0);
        for vertex in &self.vertices[..self.len] {
            let above = vertex.sum - vertex.n * slope;
            let ratio = above * above * n / (vertex.n * (n - vertex.n));
            if above > 0.0 && ratio > best.0 {
                best = (ratio, vertex.n);
            }
        }
        best
    }
}

/// Whether the middle of three points lies on or below the line through the outer ones.
fn below(a: Vertex, b: Vertex, c: Vertex) -> bool {
    (b.sum - a.sum) * (c.n - a.n) <= (c.sum - a.sum) * (b.n - a.n)
}

/// The likeliest change so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Candidate {
    /// The self-normalised likelihood ratio.
    pub(super) ratio: f64,
    /// Readings since.
    pub(super) after: usize,
    /// Whether the mean fell.
    pub(super) down: bool,
}

/// The test of one segment.
#[derive(Clone, Debug, Default)]
pub(super) struct Focus {
    falls: Hull,
    rises: Hull,
    n: f64,
    sum: f64,
    moments: Moments,
    waiting: [f64; LAG],
    last: Candidate,
}

/// Sums for variance and first autocorrelation.
#[derive(Clone, Debug, Default)]
struct Moments {
    n: f64,
    sum: f64,
    squares: f64,
    products: f64,
    last: Option<f64>,
}

impl Moments {
    fn push(&mut self, z: f64) {
        self.n += 1.0;
        self.sum += z;
        self.squares += z * z;
        self.products += self.last.map_or(0.0, |last| last * z);
        self.last = Some(z);
    }

    /// Variance × (1+ρ)/(1−ρ), at least 1: the scale's own guess is not undercut. ρ is taken at the upper end of its standard
    /// error, since a short piece of a correlated series looks less correlated than it is.
    fn inflation(&self) -> f64 {
        if self.n < 2.0 {
            return 1.0;
        }
        let mean = self.sum / self.n;
        let variance = (self.squares / self.n - mean * mean).max(1e-12);
        let pairs = (self.n - 1.0).max(1.0);
        let rho = (self.products / pairs - mean * mean) / variance;
        let rho = (rho + (1.0 + 4.0 * rho.max(0.0)) / self.n + 0.5 / self.n.sqrt()).clamp(0.0, 0.95);
        (variance * (1.0 + rho) / (1.0 - rho)).max(1.0)
    }
}

impl Focus {
    /// Takes in a reading, scaled; gives the likeliest change so far. With `closely` the hulls are looked at each time.
    pub(super) fn push(&mut self, z: f64, closely: bool) -> Candidate {
        let z = z.clamp(-CLIP, CLIP);
        if self.n > 0.0 {
            let here = Vertex { n: self.n, sum: self.sum };
            self.falls.push(here);
            self.rises.push(Vertex { sum: -here.sum, ..here });
        }
        self.n += 1.0;
        self.sum += z;
        let place = self.n as usize % LAG;
        let old = std::mem::replace(&mut self.waiting[place], z);
        let settled = self.moments.n >= FEWEST;
        if settled && self.last.ratio > FROZEN {
            self.moments.last = None;
        } else if self.n > LAG as f64 {
            self.moments.push(old);
        }
        if closely || self.last.ratio > LIKELY || (self.n as usize).is_multiple_of(EVERY) {
            self.last = self.likeliest();
            return self.last;
        }
        Candidate::default()
    }

    fn likeliest(&self) -> Candidate {
        let (fall, rise) = (self.falls.best(self.n, self.sum), self.rises.best(self.n, -self.sum));
        let down = fall.0 >= rise.0;
        let (ratio, before) = if down { fall } else { rise };
        Candidate { ratio: ratio / self.moments.inflation(), after: (self.n - before) as usize, down }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::random::uniform;

    /// Close to normal: the sum of twelve uniform numbers of `SplitMix64`.
    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || (0..12).fold(-6.0, |sum, _| sum + uniform(&mut state))
    }

    #[test]
    fn a_change_is_found_where_it_was() {
        let (mut focus, mut noise) = (Focus::default(), noise(1));
        (0..1000).for_each(|_| assert!(focus.push(noise(), true).ratio < 30.0));
        let found = (1..100).map(|_| focus.push(noise() - 3.0, true)).find(|c| c.ratio > 30.0).unwrap();
        assert!(found.down && (3..=8).contains(&found.after), "{found:?}");
    }

    #[test]
    fn the_hull_is_the_maximum_over_every_moment() {
        let (mut focus, mut noise) = (Focus::default(), noise(7));
        let mut sums = vec![0.0];
        for i in 0..300 {
            let z = noise() + if i > 200 { 1.0 } else { 0.0 };
            sums.push(sums[i] + z.clamp(-CLIP, CLIP));
            focus.push(z, true);
            let n = (i + 1) as f64;
            let ratio = |tau: usize| {
                let d = sums[tau] - tau as f64 / n * sums[i + 1];
                d * d * n / (tau as f64 * (n - tau as f64))
            };
            let every = (1..=i).map(ratio).fold(0.0, f64::max);
            let hulls = focus.falls.best(n, sums[i + 1]).0.max(focus.rises.best(n, -sums[i + 1]).0);
            assert!((every - hulls).abs() <= 1e-6 * every.max(1.0), "{i}: {every} and {hulls}");
        }
    }

    #[test]
    fn an_outlier_is_clipped_and_correlated_noise_is_quiet() {
        let (mut focus, mut noise) = (Focus::default(), noise(3));
        let (mut x, mut most) = (0.0, 0.0_f64);
        for i in 0..100_000 {
            x = 0.9 * x + 0.436 * noise();
            let ratio = focus.push(x, true).ratio;
            most = if i < 100 { 0.0 } else { most.max(ratio) };
        }
        assert!(most < 30.0, "{most}");
    }
}
