//! Memory at an address that direct access takes.
#![allow(unsafe_code, reason = "the standard library has no memory with an alignment")]

use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{NonNull, null_mut};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::agent::kernel::KernelError;

/// Bytes of a huge page on most machines; where it is another, an alignment to this does no harm.
const HUGE: usize = 2 << 20;

/// Zeroed bytes at a multiple of their alignment, in huge pages where there are enough of them: a large block is then a few pieces
/// to the device in place of hundreds.
pub(super) struct Aligned {
    start: NonNull<u8>,
    bytes: usize,
    mapping: (*mut c_void, usize),
}

// SAFETY: it owns its memory alone, like a `Box<[u8]>`.
unsafe impl Send for Aligned {}

impl Aligned {
    /// So many bytes, a power of two as alignment; refused memory is no reason to end the process.
    pub(super) fn new(bytes: usize, alignment: usize) -> Result<Self, KernelError> {
        let refused = || KernelError::Unavailable(format!("no {} KiB of memory for buffers", bytes >> 10));
        let alignment = if bytes >= HUGE { alignment.max(HUGE) } else { alignment };
        let length = bytes.max(1).checked_add(alignment).ok_or_else(refused)?;
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping, at no given address, takes nothing from anybody.
        let base = unsafe { mmap_anonymous(null_mut(), length, access, kind) }.map_err(|_| refused())?;
        if bytes >= HUGE {
            // SAFETY: the mapping is ours. A kernel without huge pages says so, and small ones do as well.
            let _ = unsafe { madvise(base, length, Advice::LinuxHugepage) };
        }
        let skipped = base.addr().next_multiple_of(alignment) - base.addr();
        // SAFETY: at most the alignment is skipped, by which the mapping is longer.
        let start = NonNull::new(unsafe { base.cast::<u8>().add(skipped) }).ok_or_else(refused)?;
        Ok(Self { start, bytes: bytes.max(1), mapping: (base, length) })
    }

    /// A part of it, cut to what there is; no reference is made to the other parts, which the kernel may be writing.
    pub(super) fn part(&mut self, range: Range<usize>) -> &mut [u8] {
        let end = range.end.min(self.bytes);
        let start = range.start.min(end);
        // SAFETY: `start..end` lies within the mapping, is initialised, and is borrowed as `self` is.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(start), end - start) }
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, and no reference to it is left.
        let _ = unsafe { munmap(self.mapping.0, self.mapping.1) };
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
