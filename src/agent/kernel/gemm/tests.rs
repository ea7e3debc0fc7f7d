#![allow(unsafe_code, reason = "the tile kernels work on bare memory")]

use std::path::Path;

use proptest::prelude::*;

use super::super::Kernel as _;
use super::grid::{Matrix, product};
use super::micro::{ForTile, Tile};
use super::*;
use crate::agent::voice::Voice;

fn kernel(n: usize, threads: u32) -> (Kernel, Meter) {
    let load = Gemm { size: Order::N(n), threads: Some(threads), time: Span::ZERO };
    let kernel = Kernel::new(&load, 7, &Resources::here(Path::new("/"))).unwrap();
    let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
    (kernel, meter)
}

fn naive(of: Extents, a: &Matrix, b: &Matrix, i: usize, j: usize) -> f64 {
    (0..of.inner).map(|k| a.row(i)[k] * b.row(k)[j]).sum()
}

fn fill(matrix: &mut Matrix, rows: usize, columns: usize, seed: u64) {
    (0..rows).for_each(|i| uniform(seed, i, &mut matrix.row_mut(i)[..columns]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_family_multiplies_as_a_naive_loop(
        rows in 1_usize..700, inner in 1_usize..500, columns in 1_usize..300, threads in 1_usize..4, seed: u64
    ) {
        let of = Extents { rows, inner, columns };
        let cpus = vec![0; threads];
        let lanes = Lanes { threads, depth: 0, timed: false };
        for family in Family::here() {
            let meter = Meter::new("r".into(), 1, lanes, Voice::silent());
            let mut all = Product::new(of, threads).unwrap();
            fill(&mut all.a, rows, inner, seed);
            fill(&mut all.b, inner, columns, seed ^ 1);
            // What stood in C before does not matter.
            fill(&mut all.c, rows, columns, seed ^ 2);
            all.multiply(of, Team { cpus: &cpus, family, meter: &meter, stop: &Stop::default() }).unwrap();
            for i in (0..rows).step_by(7).chain([rows - 1]) {
                for j in (0..columns).step_by(5).chain([columns - 1]) {
                    let error = (all.c.row(i)[j] - naive(of, &all.a, &all.b, i, j)).abs();
                    prop_assert!(error < 1e-12, "{family:?} {of:?} {i} {j}: {error:e}");
                }
            }
            let done = meter.read(crate::clock::now(), false).done[0];
            prop_assert_eq!(done, (2 * rows * inner * columns) as u64);
        }
    }
}

/// A product of packed operands that is taken off a part of a matrix with any stride.
struct TakeOff {
    depth: usize,
    stride: usize,
}

impl ForTile for TakeOff {
    type Output = f64;

    unsafe fn run<T: Tile>(self) -> f64 {
        let (depth, stride) = (self.depth, self.stride);
        let (mut tall, mut wide) = (vec![0.0; 2 * T::TALL * depth], vec![0.0; 2 * T::WIDE * depth]);
        uniform(1, 0, &mut tall);
        uniform(2, 0, &mut wide);
        let mut part = vec![1.0; 2 * T::TALL * stride];
        // SAFETY: the part has two tiles each way.
        unsafe { product::<T, true>(depth, &tall, &wide, part.as_mut_ptr(), stride) };
        let mut worst = 0.0_f64;
        for (i, row) in part.chunks_exact(stride).enumerate() {
            for (j, value) in row.iter().enumerate() {
                let term = |p: usize| {
                    let left = tall[i / T::TALL * T::TALL * depth + p * T::TALL + i % T::TALL];
                    left * wide[j / T::WIDE * T::WIDE * depth + p * T::WIDE + j % T::WIDE]
                };
                let sum: f64 = if j < 2 * T::WIDE { (0..depth).map(term).sum() } else { 0.0 };
                worst = worst.max((1.0 - sum - value).abs());
            }
        }
        worst
    }
}

#[test]
fn a_product_is_taken_off_with_any_stride_and_nothing_beside_it_is_touched() {
    for family in Family::here() {
        for (depth, stride) in [(1, 48), (7, 51), (8, 64), (240, 49)] {
            // SAFETY: a family of this CPU.
            let worst = unsafe { family.run(TakeOff { depth, stride }) };
            assert!(worst < 1e-13, "{family:?} {depth} {stride}: {worst:e}");
        }
    }
}

#[test]
fn an_iteration_has_figures_and_the_meter_counts_its_operations() {
    let (mut kernel, meter) = kernel(333, 2);
    kernel.prepare(&meter, &Stop::default()).unwrap();
    let measured = kernel.iterate(&meter, &Stop::default()).unwrap();
    let names: Vec<&str> = measured.figures.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["gflops", "best_gflops", "multiplications"]);
    assert!(measured.figures.iter().all(|f| f.value > 0.0));
    assert_eq!(meter.read(crate::clock::now(), false).done[0] as f64, kernel.operations());
}

#[test]
fn a_flipped_bit_is_found() {
    let (mut kernel, meter) = kernel(200, 1);
    kernel.prepare(&meter, &Stop::default()).unwrap();
    kernel.iterate(&meter, &Stop::default()).unwrap();
    let mut product = kernel.product.take().unwrap();
    assert_eq!(kernel.verify(&product), Ok(()));
    // A bit of the result in the middle of its 52, and NaN.
    let right = product.c.row(113)[57];
    for wrong in [f64::from_bits(right.to_bits() ^ (1 << 26)), f64::NAN] {
        product.c.row_mut(113)[57] = wrong;
        let found = kernel.verify(&product);
        assert!(matches!(found, Err(KernelError::Corrupt(why)) if why.starts_with("row 113")));
    }
    // A bit of an operand.
    let value = &mut product.a.row_mut(5)[6];
    *value = f64::from_bits(value.to_bits() ^ (1 << 51));
    kernel.product = Some(product);
    assert!(matches!(kernel.iterate(&meter, &Stop::default()), Err(KernelError::Corrupt(_))));
}

#[test]
fn what_does_not_fit_is_refused_and_a_stop_is_heeded() {
    let (mut kernel, meter) = kernel(1_000_000, 1);
    let refused = kernel.prepare(&meter, &Stop::default());
    assert!(matches!(refused, Err(KernelError::Unavailable(why)) if why.starts_with("needs 22")));
    let (mut kernel, meter) = self::kernel(100, 2);
    kernel.prepare(&meter, &Stop::default()).unwrap();
    let stop = Stop::default();
    stop.ask();
    assert_eq!(kernel.iterate(&meter, &stop), Err(KernelError::Stopped));
}
