//! Memory at an address that direct access takes.
#![allow(unsafe_code, reason = "the standard library has no vector with an alignment")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::Range;
use std::ptr::NonNull;

use crate::agent::kernel::KernelError;

/// Zeroed bytes at a multiple of their alignment.
pub(super) struct Aligned {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns its memory alone, like a `Box<[u8]>`.
unsafe impl Send for Aligned {}

impl Aligned {
    /// So many bytes, a power of two as alignment; refused memory is no reason to end the process.
    pub(super) fn new(bytes: usize, alignment: usize) -> Result<Self, KernelError> {
        let refused = || KernelError::Unavailable(format!("no {} KiB of memory for buffers", bytes >> 10));
        let layout = Layout::from_size_align(bytes.max(1), alignment).map_err(|_| refused())?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(refused)?;
        Ok(Self { start, layout })
    }

    /// A part of it, cut to what there is; no reference is made to the other parts, which the kernel may be writing.
    pub(super) fn part(&mut self, range: Range<usize>) -> &mut [u8] {
        let end = range.end.min(self.layout.size());
        let start = range.start.min(end);
        // SAFETY: `start..end` lies within the allocation, is initialised, and is borrowed as `self` is.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(start), end - start) }
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
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
        assert!(Aligned::new(usize::MAX / 4, 4096).is_err());
    }
}
