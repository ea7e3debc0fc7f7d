//! Loads and stores of whole registers.
#![allow(unsafe_code, reason = "a function for wider registers may be called where the CPU has them only")]

use std::hint::black_box;

/// Words that are summed up side by side: eight registers of 32 bytes, more than the latency of an addition hides.
const LANES: usize = 32;

/// What is done to a block, in the widest registers of this CPU that are known here.
#[derive(Clone, Copy)]
pub(super) struct Wide {
    /// The sum of all words, modulo 2⁶⁴.
    pub(super) sum: fn(&[u64]) -> u64,
    /// Fills with a word, with stores through the caches.
    pub(super) fill: fn(&mut [u64], u64),
}

impl Wide {
    pub(super) fn here() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Self {
                // SAFETY: the CPU has AVX2.
                sum: |words| unsafe { sum_avx2(words) },
                // SAFETY: as above.
                fill: |words, value| unsafe { fill_avx2(words, value) },
            };
        }
        Self { sum, fill }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2(words: &[u64]) -> u64 {
    sum(words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2(words: &mut [u64], value: u64) {
    fill(words, value);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled anew within each function for wider registers")]
fn sum(words: &[u64]) -> u64 {
    // Opaque: who reads the same block twice must not be given the first sum again.
    let (lines, rest) = black_box(words).as_chunks::<LANES>();
    let mut lanes = [0_u64; LANES];
    for line in lines {
        for (lane, word) in lanes.iter_mut().zip(line) {
            *lane = lane.wrapping_add(*word);
        }
    }
    lanes.iter().chain(rest).fold(0, |sum, word| sum.wrapping_add(*word))
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn fill(words: &mut [u64], value: u64) {
    // Opaque: of two fills of one block none may be left out.
    black_box(words).fill(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_widths_reach_every_word() {
        for length in [0, 1, 8, 31, 32, 33, 200] {
            let words: Vec<u64> = (0..length).map(|i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let right = words.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word));
            assert_eq!((sum(&words), (Wide::here().sum)(&words)), (right, right), "{length}");
            let mut filled = words.clone();
            (Wide::here().fill)(&mut filled, 7);
            assert!(filled.iter().all(|word| *word == 7));
        }
    }
}
