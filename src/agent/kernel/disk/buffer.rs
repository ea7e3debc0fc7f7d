//! Memory at an address that direct access takes.
#![allow(unsafe_code, reason = "the standard library has no vector with an alignment")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
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

    /// All of it.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `start` is good for the layout's size, initialised, and borrowed as `self` is.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
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
        assert_eq!((buffer.bytes().as_ptr() as usize % 65_536, buffer.bytes().len()), (0, 10_000));
        assert!(buffer.bytes().iter().all(|b| *b == 0));
        assert!(Aligned::new(usize::MAX / 4, 4096).is_err());
    }
}
