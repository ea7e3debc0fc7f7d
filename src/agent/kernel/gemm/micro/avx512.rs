//! AVX-512: 24 of the 32 registers hold a tile of 8 rows of 24 values.
#![allow(unsafe_code, reason = "vector instructions on packed memory")]

use std::arch::x86_64::{
    _MM_HINT_T0, _mm_prefetch, _mm512_add_pd, _mm512_fmadd_pd, _mm512_loadu_pd, _mm512_set1_pd, _mm512_setzero_pd,
    _mm512_storeu_pd, _mm512_sub_pd,
};

use super::Tile;

/// Values of a register.
const LANES: usize = 8;
/// Registers of a row.
const ACROSS: usize = 3;
const DOWN: usize = 8;

pub(super) struct Registers;

impl Tile for Registers {
    const WIDE: usize = ACROSS * LANES;
    const TALL: usize = DOWN;

    unsafe fn multiply<const SUBTRACT: bool>(
        depth: usize,
        tall: *const f64,
        wide: *const f64,
        step: usize,
        tile: *mut f64,
        stride: usize,
    ) {
        // SAFETY: as the caller says.
        unsafe { multiply::<SUBTRACT>(depth, tall, wide, step, tile, stride) }
    }

    unsafe fn compiled<R>(work: impl FnOnce() -> R) -> R {
        // SAFETY: as the caller says.
        unsafe { compiled(work) }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,fma,avx2")]
unsafe fn compiled<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[target_feature(enable = "avx512f")]
unsafe fn multiply<const SUBTRACT: bool>(
    depth: usize,
    mut tall: *const f64,
    mut wide: *const f64,
    step: usize,
    tile: *mut f64,
    stride: usize,
) {
    let mut sums = [[_mm512_setzero_pd(); ACROSS]; DOWN];
    // SAFETY: within the packed operands and the tile, as the caller says.
    unsafe {
        // One row of the tile at a time, as more misses at once would hold up the packed operands.
        let (part, rest) = (depth / DOWN, depth % DOWN);
        for row in 0..DOWN {
            for register in 0..ACROSS {
                _mm_prefetch::<_MM_HINT_T0>(tile.add(row * stride + register * LANES).cast());
            }
            for _ in 0..if row == 0 { part + rest } else { part } {
                let row =
                    [_mm512_loadu_pd(wide), _mm512_loadu_pd(wide.add(LANES)), _mm512_loadu_pd(wide.add(2 * LANES))];
                for (down, sums) in sums.iter_mut().enumerate() {
                    let factor = _mm512_set1_pd(*tall.add(down));
                    for (sum, value) in sums.iter_mut().zip(row) {
                        *sum = _mm512_fmadd_pd(factor, value, *sum);
                    }
                }
                tall = tall.add(DOWN);
                wide = wide.add(step);
            }
        }
        for (down, sums) in sums.iter().enumerate() {
            for (register, sum) in sums.iter().enumerate() {
                let place = tile.add(down * stride + register * LANES);
                let before = _mm512_loadu_pd(place);
                let after = if SUBTRACT { _mm512_sub_pd(before, *sum) } else { _mm512_add_pd(before, *sum) };
                _mm512_storeu_pd(place, after);
            }
        }
    }
}
