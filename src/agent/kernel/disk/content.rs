//! What is written, and how it is known again: random bytes that cost little, and stamps with a checksum.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::agent::kernel::random::Bytes;
use crate::vocab::plan::Content;
use crate::vocab::random::split_mix;

/// Bytes of a stamp, at the beginning of each block: a mark, the offset, the generation, and a checksum of the block without itself.
pub(super) const STAMP: usize = 32;
const MARK: u64 = u64::from_le_bytes(*b"shakedwn");
const SUM: std::ops::Range<usize> = 24..28;

/// The source of what one thread writes. A buffer is filled with random bytes once, and each word of it is changed before each
/// write by a number that is never used again: as incompressible as before and different in every word, for one pass over it.
pub(super) struct Source {
    content: Content,
    key: u64,
}

impl Source {
    pub(super) fn new(content: Content, seed: u64) -> Self {
        Self { content, key: seed ^ 0xc0_47e4 }
    }

    /// To be called once for each buffer, with the same block for all where the content repeats itself.
    pub(super) fn prepare(&mut self, buffer: &mut [u8]) {
        match self.content {
            Content::Fresh => Bytes::new(split_mix(&mut self.key)).fill(buffer),
            Content::Zero => buffer.fill(0),
            Content::Repeated => Bytes::new(1).fill(buffer),
        }
    }

    /// To be called before each write.
    pub(super) fn refresh(&mut self, buffer: &mut [u8]) {
        if self.content != Content::Fresh {
            return;
        }
        let key = split_mix(&mut self.key);
        let (words, rest) = buffer.as_chunks_mut::<8>();
        for word in words {
            *word = (u64::from_ne_bytes(*word) ^ key).to_ne_bytes();
        }
        rest.iter_mut().zip(key.to_ne_bytes()).for_each(|(byte, key)| *byte ^= key);
    }
}

/// The stamps of one job's blocks, and which blocks have been written since the iteration began.
pub(super) struct Stamps {
    block: usize,
    /// Tells blocks of this iteration and job from older ones and from another job's.
    generation: u64,
    written: Vec<AtomicU64>,
}

impl Stamps {
    pub(super) fn new(block: usize, blocks: u64, generation: u64) -> Self {
        Self { block, generation, written: (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Stamps each block of a buffer that goes to this offset.
    pub(super) fn stamp(&self, buffer: &mut [u8], offset: u64) {
        for (number, block) in buffer.chunks_mut(self.block).enumerate() {
            if block.len() < STAMP {
                continue;
            }
            let offset = offset + (number * self.block) as u64;
            block[..8].copy_from_slice(&MARK.to_le_bytes());
            block[8..16].copy_from_slice(&offset.to_le_bytes());
            block[16..24].copy_from_slice(&self.generation.to_le_bytes());
            block[SUM.end..STAMP].fill(0);
            let sum = sum(block);
            block[SUM].copy_from_slice(&sum.to_le_bytes());
        }
    }

    /// What is wrong with a block that was read from this offset.
    pub(super) fn fault(&self, block: &[u8], offset: u64) -> Option<String> {
        let word = |at: usize| block[at..at + 8].iter().rev().fold(0_u64, |word, byte| (word << 8) | u64::from(*byte));
        if word(0) != MARK {
            return Some("no stamp: it was never written, or its beginning is damaged".to_owned());
        }
        if block[SUM] != sum(block).to_le_bytes() {
            return Some("a checksum that does not fit".to_owned());
        }
        if word(8) != offset {
            return Some(format!("the block of offset {}", word(8)));
        }
        (word(16) != self.generation).then(|| "what was there before it was written".to_owned())
    }

    /// Notes that the block at this offset is to be written.
    pub(super) fn note(&self, offset: u64) {
        let number = offset / self.block as u64;
        if let Some(word) = self.written.get((number / 64) as usize) {
            word.fetch_or(1 << (number % 64), Relaxed);
        }
    }

    /// Whether the block at this offset was written.
    pub(super) fn is_written(&self, offset: u64) -> bool {
        let number = offset / self.block as u64;
        self.written.get((number / 64) as usize).is_some_and(|word| (word.load(Relaxed) >> (number % 64)) & 1 == 1)
    }
}

fn sum(block: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&block[..SUM.start]), &block[SUM.end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_content_is_never_the_same_word_twice() {
        let mut source = Source::new(Content::Fresh, 5);
        let mut buffer = vec![0; 4099];
        source.prepare(&mut buffer);
        let mut words = Vec::new();
        for _ in 0..50 {
            source.refresh(&mut buffer);
            words.extend(buffer.as_chunks::<8>().0.iter().copied());
        }
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
    }

    #[test]
    fn zeros_and_repetitions_stay_as_they_are() {
        for (content, zero) in [(Content::Zero, true), (Content::Repeated, false)] {
            let (mut one, mut two) = ([1; 64], [2; 64]);
            let mut source = Source::new(content, 5);
            source.prepare(&mut one);
            source.prepare(&mut two);
            source.refresh(&mut one);
            assert_eq!((one == two, one == [0; 64]), (true, zero));
        }
    }

    #[test]
    fn a_stamp_finds_each_fault() {
        let stamps = Stamps::new(512, 100, 7);
        let mut buffer = vec![9; 1024];
        stamps.stamp(&mut buffer, 2048);
        assert_eq!((stamps.fault(&buffer[..512], 2048), stamps.fault(&buffer[512..], 2560)), (None, None));
        let fault = |change: &dyn Fn(&mut Vec<u8>), generation, offset| {
            let mut block = buffer[..512].to_vec();
            change(&mut block);
            Stamps::new(512, 100, generation).fault(&block, offset).unwrap_or_default()
        };
        assert!(fault(&|b| b.fill(0), 7, 2048).contains("no stamp"));
        assert!(fault(&|b| b[500] ^= 1, 7, 2048).contains("checksum"));
        assert!(fault(&|b| b[26] ^= 1, 7, 2048).contains("checksum"));
        assert_eq!(fault(&|_| (), 7, 4096), "the block of offset 2048");
        assert!(fault(&|_| (), 8, 2048).contains("before"));
        stamps.note(512 * 70);
        assert!(stamps.is_written(512 * 70) && !stamps.is_written(512 * 71) && !stamps.is_written(1 << 40));
    }
}
