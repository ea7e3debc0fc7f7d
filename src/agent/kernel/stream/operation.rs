//! The four loops, with ordinary stores and with stores past the caches.
#![allow(unsafe_code, reason = "stores past the caches are instructions that no safe code is compiled to")]

use std::hint::black_box;

use crate::vocab::plan::Stores;

pub(super) const SCALAR: f64 = 3.0;

/// What is done to a, b and c in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// c = a
    Copy,
    /// b = scalar · c
    Scale,
    /// c = a + b
    Add,
    /// a = b + scalar · c
    Triad,
}

impl Operation {
    pub(super) const ALL: [Self; 4] = [Self::Copy, Self::Scale, Self::Add, Self::Triad];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Scale => "scale",
            Self::Add => "add",
            Self::Triad => "triad",
        }
    }

    /// Bytes an element that STREAM counts: each array that is named, once.
    pub(super) fn counted(self) -> u64 {
        match self {
            Self::Copy | Self::Scale => 16,
            Self::Add | Self::Triad => 24,
        }
    }

    /// Bytes an element that pass between the caches and memory: with ordinary stores a line is first read that is then overwritten
    /// (write-allocate; "Counting Bytes and FLOPS" of STREAM's reference, cs.virginia.edu/stream/ref.html).
    pub(super) fn moved(self, stores: Stores) -> u64 {
        match stores {
            Stores::Regular => self.counted() + 8,
            Stores::NonTemporal => self.counted(),
        }
    }

    /// Does it to slices of the same length.
    pub(super) fn run(self, stores: Stores, a: &mut [f64], b: &mut [f64], c: &mut [f64]) {
        let run = match stores {
            Stores::Regular => regular,
            Stores::NonTemporal => past_caches,
        };
        match self {
            Self::Copy => run(self, c, a, a),
            Self::Scale => run(self, b, c, c),
            Self::Add => run(self, c, a, b),
            Self::Triad => run(self, a, b, c),
        }
    }
}

/// 16-byte stores: on Zen 4, wider ones were 2 to 15 % slower from memory, as the compilers' for that machine are.
fn regular(operation: Operation, to: &mut [f64], x: &[f64], y: &[f64]) {
    match operation {
        Operation::Copy => blocks(to, x, y, |x, _| x),
        Operation::Scale => blocks(to, x, y, |x, _| SCALAR * x),
        Operation::Add => blocks(to, x, y, |x, y| x + y),
        Operation::Triad => blocks(to, x, y, |x, y| x + SCALAR * y),
    }
}

/// `to[i] = f(x[i], y[i])`, with ordinary stores.
///
/// Each 128 bytes are used up by an opaque reader: the loop is then neither elided nor turned into calls of `memcpy`, whose
/// stores past the caches would make copy another operation than the other three.
#[inline]
fn blocks(to: &mut [f64], x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) {
    const BLOCK: usize = 16;
    let rest = to.len() / BLOCK * BLOCK;
    for ((to, x), y) in to.chunks_exact_mut(BLOCK).zip(x.chunks_exact(BLOCK)).zip(y.chunks_exact(BLOCK)) {
        for i in 0..BLOCK {
            to[i] = f(x[i], y[i]);
        }
        black_box(to.as_mut_ptr());
    }
    for i in rest..to.len() {
        to[i] = f(x[i], y[i]);
    }
}

/// Why a run cannot have such stores here; none when it can.
pub(super) fn refusal(stores: Stores) -> Option<String> {
    let can = stores == Stores::Regular || cfg!(target_arch = "x86_64");
    (!can).then(|| "non-temporal stores are known here on x86-64 only; use stores: Regular".to_owned())
}

/// Stores of 32 bytes where the CPU has them, else of 16. Those of 64 bytes were no faster on Zen 4.
#[cfg(target_arch = "x86_64")]
fn past_caches(operation: Operation, to: &mut [f64], x: &[f64], y: &[f64]) {
    // What the vectors do not reach: before the first aligned store, and behind the last.
    let head = to.as_ptr().align_offset(wide::BYTES).min(to.len());
    let whole = (to.len() - head) / wide::LANES * wide::LANES;
    let (first, last) = (0..head, head + whole..to.len());
    for part in [first, last] {
        regular(operation, &mut to[part.clone()], &x[part.clone()], &y[part]);
    }
    let middle = head..head + whole;
    let (to, x, y) = (&mut to[middle.clone()], &x[middle.clone()], &y[middle]);
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the CPU has AVX; the slices have the same length, a multiple of the lanes, and `to` is aligned.
        unsafe { wide::stream(operation, to, x, y) }
    } else {
        // SAFETY: every x86-64 has SSE2; the slices are as above.
        unsafe { narrow::stream(operation, to, x, y) }
    }
    // SAFETY: an instruction that orders stores; these are in memory then, before the clock is read.
    unsafe { std::arch::x86_64::_mm_sfence() }
}

#[cfg(not(target_arch = "x86_64"))]
fn past_caches(operation: Operation, to: &mut [f64], x: &[f64], y: &[f64]) {
    regular(operation, to, x, y);
}

/// The loop for one width of registers.
#[cfg(target_arch = "x86_64")]
macro_rules! stores {
    ($module:ident, $feature:literal, $lanes:literal, $load:ident, $set:ident, $add:ident, $mul:ident, $stream:ident) => {
        mod $module {
            use std::arch::x86_64::{$add, $load, $mul, $set, $stream};

            use super::{Operation, SCALAR};

            pub(super) const LANES: usize = $lanes;
            pub(super) const BYTES: usize = $lanes * size_of::<f64>();

            /// The slices must have the same length, a multiple of the lanes, and `to` begin at a multiple of their bytes.
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn stream(operation: Operation, to: &mut [f64], x: &[f64], y: &[f64]) {
                debug_assert!(to.is_empty() || to.as_ptr().align_offset(BYTES) == 0 && to.len().is_multiple_of(LANES));
                let scalar = $set(SCALAR);
                let (end, to, x, y) = (to.len(), to.as_mut_ptr(), x.as_ptr(), y.as_ptr());
                for i in (0..end).step_by(LANES) {
                    // SAFETY: `i` and the lanes behind it lie within each of the slices; loads need no alignment, and the
                    // stores have theirs.
                    unsafe {
                        let x = $load(x.add(i));
                        let value = match operation {
                            Operation::Copy => x,
                            Operation::Scale => $mul(scalar, x),
                            Operation::Add => $add(x, $load(y.add(i))),
                            Operation::Triad => $add(x, $mul(scalar, $load(y.add(i)))),
                        };
                        $stream(to.add(i), value);
                    }
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
stores!(wide, "avx", 4, _mm256_loadu_pd, _mm256_set1_pd, _mm256_add_pd, _mm256_mul_pd, _mm256_stream_pd);
#[cfg(target_arch = "x86_64")]
stores!(narrow, "sse2", 2, _mm_loadu_pd, _mm_set1_pd, _mm_add_pd, _mm_mul_pd, _mm_stream_pd);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_reached_with_either_kind_of_store() {
        for stores in [Stores::Regular, Stores::NonTemporal] {
            for (length, skip) in [(0, 0), (1, 1), (3, 1), (16, 0), (67, 0), (67, 1), (129, 3)] {
                let [mut a, mut b, mut c] = [1.0, 2.0, 0.0].map(|value| vec![value; length + skip]);
                for operation in Operation::ALL {
                    operation.run(stores, &mut a[skip..], &mut b[skip..], &mut c[skip..]);
                }
                for (array, value, before) in [(a, 15.0, 1.0), (b, 3.0, 2.0), (c, 4.0, 0.0)] {
                    assert!(array[skip..].iter().all(|x| *x == value), "{stores:?} {length} {skip}: {array:?}");
                    assert!(array[..skip].iter().all(|x| *x == before), "{stores:?} wrote outside");
                }
            }
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn both_widths_of_stores_do_the_same() {
        let pages = crate::agent::kernel::pages::Pages::new(4096, 64, false);
        let mut pages = pages.unwrap();
        let (x, y): (Vec<f64>, Vec<f64>) = (0..512).map(|i| (f64::from(i), f64::from(i * i))).unzip();
        for operation in Operation::ALL {
            // SAFETY: pages are aligned, and every x86-64 has SSE2.
            unsafe { narrow::stream(operation, pages.write(), &x, &y) };
            let narrow = pages.read::<f64>().to_vec();
            let mut usual = vec![0.0; 512];
            regular(operation, &mut usual, &x, &y);
            assert_eq!(narrow, usual, "{operation:?}");
        }
    }

    #[test]
    fn bytes_are_counted_as_stream_does_and_as_the_bus_does() {
        let bytes = |stores| Operation::ALL.map(|o| (o.counted(), o.moved(stores)));
        assert_eq!(bytes(Stores::Regular), [(16, 24), (16, 24), (24, 32), (24, 32)]);
        assert_eq!(bytes(Stores::NonTemporal), [(16, 16), (16, 16), (24, 24), (24, 24)]);
    }
}
