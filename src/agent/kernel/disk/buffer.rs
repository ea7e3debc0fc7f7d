//! Memory at an address that direct access takes.
#![allow(unsafe_code, reason = "parts of it are written by the kernel while others are borrowed")]

use std::ops::Range;

use crate::agent::kernel::KernelError;
use crate::agent::kernel::pages::{HUGE, Pages};

/// Zeroed bytes at a multiple of their alignment, in huge pages where there are enough of them: a large block is then a few pieces
/// to the device in place of hundreds.
pub(super) struct Aligned {
    pages: Pages,
    bytes: usize,
}

impl Aligned {
    /// So many bytes, a power of two as alignment; refused memory is no reason to end the process.
    pub(super) fn new(bytes: usize, alignment: usize) -> Result<Self, KernelError> {
        let refused = || KernelError::Unavailable(format!("no {} KiB of memory for buffers", bytes >> 10));
        let held = bytes.max(1);
        Ok(Self { pages: Pages::new(held, alignment, bytes >= HUGE).ok_or_else(refused)?, bytes: held })
    }

    /// A part of it, cut to what there is; no reference is made to the other parts, which the kernel may be writing.
    pub(super) fn part(&mut self, range: Range<usize>) -> &mut [u8] {
        let end = range.end.min(self.bytes);
        let start = range.start.min(end);
        // SAFETY: `start..end` lies within the pages, is initialised, and is borrowed as `self` is.
        unsafe { std::slice::from_raw_parts_mut(self.pages.start().add(start), end - start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_lie_where_they_must() {
        let mut buffer = Aligned::new(10_000, 65_536).unwrap();
        let all = buffer.part(0..20_000);
        assert_eq!((all.as_ptr() as usize % 65_536, all.len()), (0, 10_000));
        assert!(all.iter().all(|b| *b == 0));
        assert_eq!((buffer.part(9_000..9_500).len(), buffer.part(30_000..40_000).len()), (500, 0));
        let huge = Aligned::new(3 << 20, 4096).unwrap().part(0..1).as_ptr() as usize;
        assert_eq!(huge % HUGE, 0);
        assert!(Aligned::new(usize::MAX / 4, 4096).is_err() && Aligned::new(usize::MAX, 4096).is_err());
    }
}
