//! The system that is solved, made anew from its seed whenever it is needed, and the check of a solution.

use crate::agent::kernel::gemm::values::{dot, largest, uniform};

/// A random system Ax = b of order n, of which no copy is kept: its rows are made one by one.
#[derive(Clone, Copy, Debug)]
pub(super) struct System {
    pub(super) n: usize,
    pub(super) seed: u64,
}

/// The largest of what the check sums up by row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Largest {
    /// Of |Ax − b|.
    error: f64,
    /// Of the sums of |A|.
    norm: f64,
    /// Of |b|.
    right: f64,
}

impl System {
    /// Writes row `i` of A, with b's element behind it.
    pub(super) fn row(&self, i: usize, into: &mut [f64]) {
        uniform(self.seed, i, &mut into[..=self.n]);
    }

    /// What the check needs of some of the rows.
    pub(super) fn largest(&self, rows: impl Iterator<Item = usize>, x: &[f64]) -> Largest {
        let (mut found, mut row) = (Largest::default(), vec![0.0; self.n + 1]);
        for i in rows {
            self.row(i, &mut row);
            let (a, b) = (&row[..self.n], row[self.n]);
            found.error = largest([found.error, dot(a, x) - b].into_iter());
            found.norm = found.norm.max(a.iter().map(|a| a.abs()).sum());
            found.right = found.right.max(b.abs());
        }
        found
    }

    /// HPL's scaled residual ‖Ax−b‖∞ / (ε (‖A‖∞ ‖x‖∞ + ‖b‖∞) n), ε = 2⁻⁵³, from the parts of the check of all rows.
    pub(super) fn residual(&self, parts: &[Largest], x: &[f64]) -> f64 {
        let of = |part: fn(&Largest) -> f64| largest(parts.iter().map(part));
        let scale = of(|p| p.norm) * largest(x.iter().copied()) + of(|p| p.right);
        of(|p| p.error) / (f64::EPSILON / 2.0 * scale * self.n as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_or_infinite_solution_has_a_large_residual() {
        // Of order 1 the solution is known.
        let system = System { n: 1, seed: 3 };
        let mut row = [0.0; 2];
        system.row(0, &mut row);
        let residual = |x: f64| system.residual(&[system.largest(0..1, &[x])], &[x]);
        assert!(residual(row[1] / row[0]) <= 1.0);
        assert!(residual(row[1] / row[0] * (1.0 + 1e-12)) > 16.0);
        assert!(!residual(f64::NAN).is_finite() && !residual(f64::INFINITY).is_finite());
    }
}
