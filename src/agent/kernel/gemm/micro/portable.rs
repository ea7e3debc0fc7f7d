//! Any CPU: plain loops of fixed lengths, which the compiler turns into the vector instructions that every CPU of the target has.
#![allow(unsafe_code, reason = "packed memory without bounds checks")]

use super::Tile;

/// With fused multiply-adds and 32 registers as on aarch64 a tile of 4 rows of 12 values, else what 16 registers of SSE2 hold.
const WIDE: usize = if cfg!(target_arch = "aarch64") { 12 } else { 4 };
const TALL: usize = 4;

pub(super) struct Registers;

impl Tile for Registers {
    const WIDE: usize = WIDE;
    const TALL: usize = TALL;

    unsafe fn multiply<const SUBTRACT: bool>(
        depth: usize,
        mut tall: *const f64,
        mut wide: *const f64,
        step: usize,
        tile: *mut f64,
        stride: usize,
    ) {
        let mut sums = [[0.0_f64; WIDE]; TALL];
        // SAFETY: within the packed operands and the tile, as the caller says.
        unsafe {
            for _ in 0..depth {
                let row = &*wide.cast::<[f64; WIDE]>();
                let factors = &*tall.cast::<[f64; TALL]>();
                for (sums, factor) in sums.iter_mut().zip(factors) {
                    for (sum, value) in sums.iter_mut().zip(row) {
                        *sum = fused(*factor, *value, *sum);
                    }
                }
                tall = tall.add(TALL);
                wide = wide.add(step);
            }
            for (down, sums) in sums.iter().enumerate() {
                for (place, sum) in (&mut *tile.add(down * stride).cast::<[f64; WIDE]>()).iter_mut().zip(sums) {
                    *place = if SUBTRACT { *place - sum } else { *place + sum };
                }
            }
        }
    }

    unsafe fn compiled<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
}

/// One instruction where every CPU of the target has it; elsewhere it would be a call.
fn fused(factor: f64, value: f64, sum: f64) -> f64 {
    if cfg!(target_arch = "aarch64") { factor.mul_add(value, sum) } else { factor * value + sum }
}
