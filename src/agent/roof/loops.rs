//! The loops that are timed: fused multiply-adds for the floating-point roof, additions that wait for each other for the clock.
#![allow(
    unsafe_code,
    reason = "vector instructions beyond the build's baseline, and a chain that no compiler shortens"
)]

use std::hint::black_box;

/// A loop of multiply-adds by the width of its vectors.
pub(super) struct Width {
    /// The instruction set, as people know it.
    pub(super) name: &'static str,
    /// Floating-point operations of one round: 2 for each lane of each accumulator.
    pub(super) flops: u64,
    /// Does so many rounds.
    pub(super) run: fn(u64),
}

/// A loop over accumulators that are independent of each other: each takes x·a + b and waits only for itself. With a = 0.5 and b = 1
/// every x goes to 2, so that no operation meets a slow number. What is put in and taken out is opaque to the compiler, which could
/// else merge or drop accumulators.
macro_rules! rounds {
    ($rounds:expr, $set:expr, $step:expr, $($x:ident)+) => {{
        let (a, b) = ($set(black_box(0.5)), $set(black_box(1.0)));
        $(let mut $x = $set(black_box(1.5));)+
        for _ in 0..$rounds {
            $($x = $step($x, a, b);)+
        }
        $(black_box($x);)+
    }};
}

/// The loops that this CPU can do, the widest first. Latency times ports of the units that do them are 8 to 10 on x86 (4 or 5 cycles, 2
/// units) and 16 on ARM (4 cycles, 4 units), so as many accumulators hide the latency as the registers hold.
pub(super) fn widths() -> Vec<Width> {
    #[cfg(target_arch = "x86_64")]
    return x86::widths();
    #[cfg(target_arch = "aarch64")]
    return vec![Width { name: "NEON", flops: 16 * 2 * 2, run: arm::neon }];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return vec![Width { name: "scalar", flops: 12 * 2, run: scalar }];
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn scalar(rounds: u64) {
    let set = |x: f64| x;
    let step = |x: f64, a: f64, b: f64| x * a + b;
    rounds!(rounds, set, step, a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm_add_pd, _mm_mul_pd, _mm_set1_pd, _mm256_fmadd_pd, _mm256_set1_pd, _mm512_fmadd_pd, _mm512_set1_pd,
    };
    use std::hint::black_box;

    use super::Width;

    pub(super) fn widths() -> Vec<Width> {
        let mut widths = Vec::new();
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the CPU and the kernel were asked for AVX-512 just now, and neither takes it back.
            widths.push(Width { name: "AVX-512", flops: 16 * 8 * 2, run: |rounds| unsafe { avx512(rounds) } });
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: as above, for AVX2 and FMA.
            widths.push(Width { name: "AVX2", flops: 12 * 4 * 2, run: |rounds| unsafe { avx2(rounds) } });
        }
        if widths.is_empty() {
            widths.push(Width { name: "SSE2", flops: 12 * 2 * 2, run: sse2 });
        }
        widths
    }

    #[target_feature(enable = "avx512f")]
    fn avx512(rounds: u64) {
        rounds!(
            rounds, _mm512_set1_pd, _mm512_fmadd_pd, a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15
        );
    }

    #[target_feature(enable = "avx2,fma")]
    fn avx2(rounds: u64) {
        rounds!(rounds, _mm256_set1_pd, _mm256_fmadd_pd, a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11);
    }

    /// SSE2 is in every 64-bit x86; it has no fused form.
    #[target_feature(enable = "sse2")]
    fn sse2_rounds(rounds: u64) {
        let step = |x, a, b| _mm_add_pd(_mm_mul_pd(x, a), b);
        rounds!(rounds, _mm_set1_pd, step, a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11);
    }

    fn sse2(rounds: u64) {
        // SAFETY: the baseline of the architecture.
        unsafe { sse2_rounds(rounds) }
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::{vdupq_n_f64, vfmaq_f64};
    use std::hint::black_box;

    pub(super) fn neon(rounds: u64) {
        // SAFETY: NEON is in every 64-bit ARM that Linux runs on.
        unsafe { neon_rounds(rounds) }
    }

    #[target_feature(enable = "neon")]
    fn neon_rounds(rounds: u64) {
        let step = |x, a, b| vfmaq_f64(b, x, a);
        rounds!(rounds, vdupq_n_f64, step, a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15);
    }
}

/// Additions of one turn of [`adds`].
pub(super) const ADDS: u64 = 64;

/// So many turns of additions of which each needs the sum before it: one cycle each on every CPU that this is written for. Two registers
/// are added, since some CPUs do the addition of a constant without a cycle. False where there is no such chain.
pub(super) fn adds(turns: u64) -> bool {
    let mut x = turns;
    #[cfg(target_arch = "x86_64")]
    for _ in 0..turns {
        // SAFETY: the text changes one register and the flags, and touches neither memory nor stack.
        unsafe {
            std::arch::asm!(".rept 64", "add {x}, {y}", ".endr", x = inout(reg) x, y = in(reg) 3_u64, options(nomem, nostack));
        }
    }
    #[cfg(target_arch = "aarch64")]
    for _ in 0..turns {
        // SAFETY: as above.
        unsafe {
            std::arch::asm!(".rept 64", "add {x}, {x}, {y}", ".endr", x = inout(reg) x, y = in(reg) 3_u64, options(nomem, nostack));
        }
    }
    black_box(x);
    cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
}
