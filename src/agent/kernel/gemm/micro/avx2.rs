//! AVX2 with FMA: 12 of the 16 registers hold a tile of 4 rows of 12 values.
#![allow(unsafe_code, reason = "vector instructions on packed memory")]

use std::arch::asm;
use std::arch::x86_64::{
    _MM_HINT_T0, _mm_prefetch, _mm256_add_pd, _mm256_loadu_pd, _mm256_setzero_pd, _mm256_storeu_pd, _mm256_sub_pd,
};

use super::Tile;

/// Values of a register.
const LANES: usize = 4;
/// Registers of a row.
const ACROSS: usize = 3;
const DOWN: usize = 4;

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

#[target_feature(enable = "avx2,fma")]
unsafe fn compiled<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[target_feature(enable = "avx2,fma")]
unsafe fn multiply<const SUBTRACT: bool>(
    depth: usize,
    mut tall: *const f64,
    mut wide: *const f64,
    step: usize,
    tile: *mut f64,
    stride: usize,
) {
    let mut sums = [[_mm256_setzero_pd(); ACROSS]; DOWN];
    // SAFETY: within the packed operands and the tile, as the caller says.
    unsafe {
        let [[a0, a1, a2], [b0, b1, b2], [c0, c1, c2], [d0, d1, d2]] = &mut sums;
        // One row of the tile at a time, as more misses at once would hold up the packed operands.
        let (part, rest) = (depth / DOWN, depth % DOWN);
        for row in 0..DOWN {
            _mm_prefetch::<_MM_HINT_T0>(tile.add(row * stride).cast());
            _mm_prefetch::<_MM_HINT_T0>(tile.add(row * stride + Registers::WIDE - 1).cast());
            let turns = if row == 0 { part + rest } else { part };
            if turns == 0 {
                continue;
            }
            // The compiler wants a seventeenth register here, and takes it from the sums.
            asm!(
                "2:",
                "vmovupd {w0}, [{wide}]",
                "vmovupd {w1}, [{wide} + 32]",
                "vmovupd {w2}, [{wide} + 64]",
                "add {wide}, {step}",
                "vbroadcastsd {factor}, [{tall}]",
                "vfmadd231pd {a0}, {factor}, {w0}",
                "vfmadd231pd {a1}, {factor}, {w1}",
                "vfmadd231pd {a2}, {factor}, {w2}",
                "vbroadcastsd {factor}, [{tall} + 8]",
                "vfmadd231pd {b0}, {factor}, {w0}",
                "vfmadd231pd {b1}, {factor}, {w1}",
                "vfmadd231pd {b2}, {factor}, {w2}",
                "vbroadcastsd {factor}, [{tall} + 16]",
                "vfmadd231pd {c0}, {factor}, {w0}",
                "vfmadd231pd {c1}, {factor}, {w1}",
                "vfmadd231pd {c2}, {factor}, {w2}",
                "vbroadcastsd {factor}, [{tall} + 24]",
                "vfmadd231pd {d0}, {factor}, {w0}",
                "vfmadd231pd {d1}, {factor}, {w1}",
                "vfmadd231pd {d2}, {factor}, {w2}",
                "add {tall}, 32",
                "dec {turns}",
                "jnz 2b",
                wide = inout(reg) wide,
                tall = inout(reg) tall,
                step = in(reg) step * size_of::<f64>(),
                turns = inout(reg) turns => _,
                factor = out(ymm_reg) _,
                w0 = out(ymm_reg) _, w1 = out(ymm_reg) _, w2 = out(ymm_reg) _,
                a0 = inout(ymm_reg) *a0, a1 = inout(ymm_reg) *a1, a2 = inout(ymm_reg) *a2,
                b0 = inout(ymm_reg) *b0, b1 = inout(ymm_reg) *b1, b2 = inout(ymm_reg) *b2,
                c0 = inout(ymm_reg) *c0, c1 = inout(ymm_reg) *c1, c2 = inout(ymm_reg) *c2,
                d0 = inout(ymm_reg) *d0, d1 = inout(ymm_reg) *d1, d2 = inout(ymm_reg) *d2,
                options(nostack, readonly),
            );
        }
        for (down, sums) in sums.iter().enumerate() {
            for (register, sum) in sums.iter().enumerate() {
                let place = tile.add(down * stride + register * LANES);
                let before = _mm256_loadu_pd(place);
                let after = if SUBTRACT { _mm256_sub_pd(before, *sum) } else { _mm256_add_pd(before, *sum) };
                _mm256_storeu_pd(place, after);
            }
        }
    }
}
