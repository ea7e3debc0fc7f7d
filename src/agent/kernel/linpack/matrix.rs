//! The system that is solved, made anew from its seed whenever it is needed, and the check of a solution.

use crate::agent::kernel::random::split_mix;

/// A random system Ax = b of order n, of which no copy is kept: its columns are made one by one.
#[derive(Clone, Copy, Debug)]
pub(super) struct System {
    pub(super) n: usize,
    pub(super) seed: u64,
}

/// Sums over some of the columns, by row.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// Of A·x.
    product: Vec<f64>,
    /// Of |A|.
    absolute: Vec<f64>,
}

impl System {
    /// Writes column `j` of A, or b for `j` = n: uniform in [−0.5, 0.5), as HPL has it.
    pub(super) fn column(&self, j: usize, into: &mut [f64]) {
        let mut state = self.seed ^ split_mix(&mut (j as u64 + 1));
        for x in &mut into[..self.n] {
            *x = (split_mix(&mut state) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
        }
    }

    /// A·x and the rows' absolute sums over some of the columns.
    pub(super) fn sums(&self, columns: impl Iterator<Item = usize>, x: &[f64]) -> Sums {
        let mut sums = Sums { product: vec![0.0; self.n], absolute: vec![0.0; self.n] };
        let mut column = vec![0.0; self.n];
        for j in columns {
            self.column(j, &mut column);
            for ((product, absolute), a) in sums.product.iter_mut().zip(&mut sums.absolute).zip(&column) {
                *product += a * x[j];
                *absolute += a.abs();
            }
        }
        sums
    }

    /// HPL's scaled residual ‖Ax−b‖∞ / (ε (‖A‖∞ ‖x‖∞ + ‖b‖∞) n), ε = 2⁻⁵³, from the sums over all columns.
    pub(super) fn residual(&self, parts: &[Sums], x: &[f64]) -> f64 {
        let mut b = vec![0.0; self.n];
        self.column(self.n, &mut b);
        let row = |of: fn(&Sums) -> &[f64], i: usize| parts.iter().map(|p| of(p)[i]).sum::<f64>();
        let error = largest((0..self.n).map(|i| row(|p| &p.product, i) - b[i]));
        let norm = largest((0..self.n).map(|i| row(|p| &p.absolute, i)));
        let scale = norm * largest(x.iter().copied()) + largest(b.iter().copied());
        error / (f64::EPSILON / 2.0 * scale * self.n as f64)
    }
}

/// The largest absolute value; NaN when there is one, which `f64::max` would hide.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.map(f64::abs).fold(0.0, |largest, v| if v <= largest { largest } else { v })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_repeat_and_differ() {
        let system = System { n: 1000, seed: 1 };
        let column = |system: System, j| {
            let mut column = vec![0.0; 1000];
            system.column(j, &mut column);
            column
        };
        let first = column(system, 0);
        assert!(first == column(system, 0) && first != column(system, 1));
        assert!(first != column(System { n: 1000, seed: 2 }, 0));
        assert!(first.iter().all(|x| (-0.5..0.5).contains(x)) && first.iter().sum::<f64>().abs() < 50.0);
    }

    #[test]
    fn a_wrong_or_infinite_solution_has_a_large_residual() {
        // Of order 1 the solution is known.
        let system = System { n: 1, seed: 3 };
        let (mut a, mut b) = ([0.0], [0.0]);
        system.column(0, &mut a);
        system.column(1, &mut b);
        let residual = |x: f64| system.residual(&[system.sums(0..1, &[x])], &[x]);
        assert!(residual(b[0] / a[0]) <= 1.0);
        assert!(residual(b[0] / a[0] * (1.0 + 1e-12)) > 16.0);
        assert!(!residual(f64::NAN).is_finite() && !residual(f64::INFINITY).is_finite());
    }

    #[test]
    fn nan_is_never_hidden() {
        assert!(largest([1.0, f64::NAN].into_iter()).is_nan());
        assert_eq!(largest([1.0, -3.0, 2.0].into_iter()), 3.0);
    }
}
