//! Bytes that no compressor shortens.

use crate::vocab::random::split_mix;

/// Generators side by side; so many that their shifts fill the registers of any CPU.
const LANES: usize = 16;

/// A source of incompressible bytes, faster than a disk: xorshift (Marsaglia 2003) on independent lanes.
pub(super) struct Bytes([u64; LANES]);

impl Bytes {
    /// A source of its own for each seed.
    pub(super) fn new(mut seed: u64) -> Self {
        // Zero is the one state that xorshift never leaves.
        Self(std::array::from_fn(|_| split_mix(&mut seed) | 1))
    }

    /// Fills `buffer` with bytes never given before.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) {
        let (blocks, rest) = buffer.as_chunks_mut::<{ LANES * 8 }>();
        let mut state = self.0;
        for block in blocks {
            step(&mut state, block);
        }
        let mut last = [0; LANES * 8];
        step(&mut state, &mut last);
        rest.copy_from_slice(&last[..rest.len()]);
        self.0 = state;
    }
}

/// Each lane's next word.
#[inline]
fn step(state: &mut [u64; LANES], block: &mut [u8; LANES * 8]) {
    for x in &mut *state {
        *x ^= *x << 13;
        *x ^= *x >> 7;
        *x ^= *x << 17;
    }
    for (bytes, x) in block.as_chunks_mut::<8>().0.iter_mut().zip(state) {
        *bytes = x.to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_evenly_spread_never_the_same_and_repeat_with_the_seed() {
        let draw = |seed| {
            let (mut source, mut twice) = (Bytes::new(seed), [vec![0_u8; 100_003], vec![0_u8; 100_003]]);
            for buffer in &mut twice {
                source.fill(buffer);
            }
            twice
        };
        let [first, second] = draw(5);
        assert!(first != second && draw(5) == [first.clone(), second] && draw(6)[0] != first);
        let mut counts = [0_u32; 256];
        for byte in first {
            counts[usize::from(byte)] += 1;
        }
        assert!(counts.iter().all(|n| (250..550).contains(n)), "{counts:?}");
    }
}
