//! One thread's share of the memory, block after block.

use std::time::{Duration, Instant};

use super::block::{fill, sum};
use crate::agent::kernel::Stop;
use crate::agent::kernel::pages::Pages;
use crate::agent::meter::Lane;
use crate::vocab::plan::{MemoryAccess, MemoryOperation};
use crate::vocab::random::below;

/// Bytes between two additions to the meter, and looks at the clock and the stop: some 100 us of a slow memory.
const CHUNK: usize = 1 << 20;

/// Odd, so that what it is multiplied with is another number for each place and each round.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Blocks of memory, and the order in which one thread goes through them.
pub(super) struct Slice {
    pages: Pages,
    /// Words of a block.
    block: usize,
    blocks: usize,
    /// The block of each place of a round; empty where the blocks come as they lie.
    order: Vec<u32>,
    operation: MemoryOperation,
    /// The round under way, from 1, and how many of its blocks are done.
    round: u64,
    done: usize,
}

/// What a slice is made of.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Bytes of a block, a multiple of 8.
    pub(super) block: usize,
    pub(super) blocks: usize,
    pub(super) operation: MemoryOperation,
    pub(super) access: MemoryAccess,
}

/// What one thread has done in an iteration.
pub(super) struct Share {
    pub(super) bytes: u64,
    pub(super) elapsed: Duration,
    /// The first block whose words did not sum up to what was put in.
    pub(super) wrong: Option<usize>,
}

impl Slice {
    /// Touches all of its memory, so that the pages lie near the CPU it is called on; none when memory is refused.
    pub(super) fn new(shape: Shape, seed: u64, stop: &Stop) -> Option<Self> {
        let Shape { block, blocks, operation, access } = shape;
        let mut order = Vec::new();
        if access == MemoryAccess::Random {
            order.try_reserve_exact(blocks).ok()?;
            order.extend((0..blocks).map(|block| block as u32));
            shuffle(&mut order, seed);
        }
        let pages = Pages::new(block.checked_mul(blocks)?, 64, false)?;
        let mut new = Self { pages, block: block / size_of::<u64>(), blocks, order, operation, round: 1, done: 0 };
        for (chunk, first) in new.pages.write::<u64>().chunks_mut(CHUNK / 8).zip((0..).step_by(CHUNK / 8)) {
            match operation {
                MemoryOperation::Read => (first..).zip(chunk).for_each(|(at, word)| *word = put(at)),
                MemoryOperation::Write => chunk.fill(put(0)),
            }
            if stop.asked() {
                break;
            }
        }
        Some(new)
    }

    /// Goes through blocks from where it was until the time is up or it is stopped.
    pub(super) fn work(&mut self, time: Duration, lane: &Lane, stop: &Stop) -> Share {
        let start = Instant::now();
        let mut share = Share { bytes: 0, elapsed: Duration::ZERO, wrong: None };
        let mut fresh = 0;
        loop {
            let block = self.at(self.done);
            let words = &mut self.pages.write::<u64>()[block * self.block..][..self.block];
            let mut read = 0_u64;
            for chunk in words.chunks_mut(CHUNK / 8) {
                match self.operation {
                    MemoryOperation::Read => read = read.wrapping_add(sum(chunk)),
                    MemoryOperation::Write => fill(chunk, put(self.round)),
                }
                fresh += size_of_val(chunk);
                if fresh < CHUNK {
                    continue;
                }
                lane.add(0, fresh as u64);
                share.bytes += fresh as u64;
                fresh = 0;
                if stop.asked() {
                    return share;
                }
            }
            if self.operation == MemoryOperation::Read && read != self.right(block) {
                share.wrong.get_or_insert(block);
            }
            self.done += 1;
            if self.done == self.blocks {
                (self.round, self.done) = (self.round + 1, 0);
            }
            if self.block * size_of::<u64>() >= CHUNK && fresh > 0 {
                lane.add(0, fresh as u64);
                share.bytes += fresh as u64;
                fresh = 0;
            }
            if fresh == 0 {
                share.elapsed = start.elapsed();
                if share.elapsed >= time {
                    return share;
                }
            }
        }
    }

    /// Reads back what was written; the first block that holds something else.
    pub(super) fn verify(&self, stop: &Stop) -> Option<usize> {
        let words = self.pages.read::<u64>();
        let is_wrong = |place: &usize| {
            let block = self.at(*place);
            let words = &words[block * self.block..][..self.block];
            match self.operation {
                MemoryOperation::Read => {
                    let sums = words.chunks(CHUNK / 8).take_while(|_| !stop.asked()).map(sum);
                    sums.fold(0, u64::wrapping_add) != self.right(block) && !stop.asked()
                }
                MemoryOperation::Write => {
                    let value = put(if *place < self.done { self.round } else { self.round - 1 });
                    let mut chunks = words.chunks(CHUNK / 8).take_while(|_| !stop.asked());
                    !chunks.all(|chunk| chunk.iter().all(|word| *word == value))
                }
            }
        };
        (0..self.blocks).find(is_wrong).map(|place| self.at(place))
    }

    fn at(&self, place: usize) -> usize {
        self.order.get(place).map_or(place, |block| *block as usize)
    }

    /// The sum of the words that were put into a block: of an arithmetic series.
    fn right(&self, block: usize) -> u64 {
        let (n, first) = (self.block as u64, (block * self.block) as u64);
        let pairs = if n.is_multiple_of(2) { (n / 2).wrapping_mul(n + 1) } else { n.wrapping_mul(n.div_ceil(2)) };
        SPREAD.wrapping_mul(n.wrapping_mul(first).wrapping_add(pairs))
    }

    /// Turns a bit of a word over, as a faulty module would.
    #[cfg(test)]
    pub(super) fn flip(&mut self, word: usize) {
        self.pages.write::<u64>()[word] ^= 1 << 41;
    }
}

/// What stands in a word before it is read, and what a round writes.
fn put(number: u64) -> u64 {
    (number + 1).wrapping_mul(SPREAD)
}

/// Fisher and Yates, as Durstenfeld (1964) wrote it down.
fn shuffle(order: &mut [u32], mut seed: u64) {
    for i in (1..order.len()).rev() {
        order.swap(i, below(&mut seed, i as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agent::meter::{Lanes, Meter};
    use crate::agent::voice::Voice;

    fn meter() -> Meter {
        Meter::new("r".into(), 1, Lanes { threads: 1, depth: 0, timed: false }, Voice::silent())
    }

    proptest! {
        #[test]
        fn an_order_is_a_permutation_that_its_seed_repeats(n in 0_usize..300, seed: u64) {
            let make = |seed| {
                let mut order: Vec<u32> = (0..n as u32).collect();
                shuffle(&mut order, seed);
                order
            };
            let (order, again, mut sorted) = (make(seed), make(seed), make(seed));
            sorted.sort_unstable();
            prop_assert!(order == again && sorted.iter().copied().eq(0..n as u32));
        }

        #[test]
        fn right_sums_are_known_and_any_flipped_bit_is_found(
            words in 1_usize..40, blocks in 1_usize..20, writes: bool, random: bool, at: prop::sample::Index,
        ) {
            let shape = Shape {
                block: words * 8,
                blocks,
                operation: if writes { MemoryOperation::Write } else { MemoryOperation::Read },
                access: if random { MemoryAccess::Random } else { MemoryAccess::Sequential },
            };
            let (meter, stop) = (meter(), Stop::default());
            let mut slice = Slice::new(shape, 5, &stop).unwrap();
            prop_assert_eq!(slice.verify(&stop), None);
            let share = slice.work(Duration::ZERO, meter.lane(0), &stop);
            prop_assert_eq!(share.wrong, None);
            prop_assert!(share.bytes >= CHUNK as u64 && share.bytes.is_multiple_of(words as u64 * 8));
            prop_assert_eq!(share.bytes, meter.read(crate::clock::now(), false).done[0]);
            prop_assert_eq!(slice.verify(&stop), None);
            let word = at.index(words * blocks);
            slice.flip(word);
            prop_assert_eq!(slice.verify(&stop), Some(word / words));
            let share = slice.work(Duration::ZERO, meter.lane(0), &stop);
            prop_assert!(writes || share.wrong == Some(word / words));
        }
    }

    #[test]
    fn a_large_block_goes_in_chunks_and_a_stop_ends_it_within() {
        let shape =
            Shape { block: 5 * CHUNK / 2, blocks: 1, operation: MemoryOperation::Read, access: MemoryAccess::Random };
        let (meter, stop) = (meter(), Stop::default());
        let mut slice = Slice::new(shape, 5, &stop).unwrap();
        let share = slice.work(Duration::ZERO, meter.lane(0), &stop);
        assert_eq!((share.bytes, share.wrong), (5 * CHUNK as u64 / 2, None));
        stop.ask();
        assert_eq!(slice.work(Duration::from_secs(9), meter.lane(0), &stop).bytes, CHUNK as u64);
        assert_eq!(slice.verify(&stop), None);
    }
}
