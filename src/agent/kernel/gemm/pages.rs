//! Memory of whole pages for matrices and packed operands.
#![allow(unsafe_code, reason = "the standard library has no memory in huge pages")]

use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Bytes of a huge page on most machines; where it is another, an alignment to this does no harm.
const HUGE: usize = 2 << 20;

/// Zeros at the beginning of a page, in huge pages where the kernel has them: a column of tiles is then a few entries of the TLB
/// in place of one a row. Not touched before it is used, so that each page lies near the thread that writes it first.
pub(in crate::agent::kernel) struct Pages {
    start: NonNull<f64>,
    values: usize,
    mapping: (*mut c_void, usize),
}

// SAFETY: it owns its memory alone, like a `Box<[f64]>`.
unsafe impl Send for Pages {}
// SAFETY: as above; what is shared is only read.
unsafe impl Sync for Pages {}

impl Pages {
    /// So many zeros; none when the memory is refused.
    pub(in crate::agent::kernel) fn new(values: usize) -> Option<Self> {
        let bytes = values.max(1).checked_mul(size_of::<f64>())?;
        let length = if bytes >= HUGE { bytes.checked_add(HUGE)? } else { bytes };
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping, at no given address, takes nothing from anybody.
        let base = unsafe { mmap_anonymous(null_mut(), length, access, kind) }.ok()?;
        let mut skipped = 0;
        if bytes >= HUGE {
            // SAFETY: the mapping is ours. A kernel without huge pages says so, and small ones do as well.
            let _ = unsafe { madvise(base, length, Advice::LinuxHugepage) };
            skipped = base.addr().next_multiple_of(HUGE) - base.addr();
        }
        // SAFETY: less than a huge page is skipped, by which the mapping is longer.
        let start = NonNull::new(unsafe { base.cast::<f64>().add(skipped / size_of::<f64>()) })?;
        Some(Self { start, values, mapping: (base, length) })
    }
}

impl Deref for Pages {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        // SAFETY: so many values lie in the mapping; every bit pattern is an `f64`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.values) }
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [f64] {
        // SAFETY: so many values lie in the mapping, and they are borrowed as `self` is.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.values) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, and no reference to it is left.
        let _ = unsafe { munmap(self.mapping.0, self.mapping.1) };
    }
}
