//! Random values of matrices, made anew whenever they are needed, and what checks do with them.

use crate::vocab::random;

/// Values of one row of a random matrix: uniform in [−0.5, 0.5), as HPL has it.
pub(in crate::agent::kernel) fn uniform(seed: u64, row: usize, into: &mut [f64]) {
    let mut state = seed ^ random::split_mix(&mut (row as u64 + 1));
    for x in into {
        *x = random::uniform(&mut state) - 0.5;
    }
}

/// Scalar product, in as many sums as fill the registers of most CPUs.
pub(in crate::agent::kernel) fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 16;
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// The largest absolute value; NaN when there is one, which `f64::max` would hide.
pub(in crate::agent::kernel) fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.map(f64::abs).fold(0.0, |largest, v| if v <= largest { largest } else { v })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_repeat_and_differ() {
        let row = |seed, i| {
            let mut row = vec![0.0; 1000];
            uniform(seed, i, &mut row);
            row
        };
        let first = row(1, 0);
        assert!(first == row(1, 0) && first != row(1, 1) && first != row(2, 0));
        assert!(first.iter().all(|x| (-0.5..0.5).contains(x)) && first.iter().sum::<f64>().abs() < 50.0);
    }

    #[test]
    fn a_scalar_product_takes_all_values() {
        let a: Vec<f64> = (0..37).map(f64::from).collect();
        assert_eq!(dot(&a, &a), (0..37).map(|i| f64::from(i * i)).sum::<f64>());
    }

    #[test]
    fn nan_is_never_hidden() {
        assert!(largest([1.0, f64::NAN].into_iter()).is_nan());
        assert_eq!(largest([1.0, -3.0, 2.0].into_iter()), 3.0);
    }
}
