//! Memory that the operating system maps for its holder alone: at an alignment, and in huge pages where these are asked for.
#![allow(unsafe_code, reason = "the standard library has neither memory with an alignment nor huge pages")]

use std::ffi::c_void;
use std::path::Path;
use std::ptr::{NonNull, null_mut};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::agent::host;

/// Bytes of a huge page on most machines; where it is another, an alignment to this does no harm.
pub(super) const HUGE: usize = 2 << 20;

/// A type of which any bytes are a value.
pub(super) trait Plain: Copy + Send + Sync {}

impl Plain for u8 {}
impl Plain for u64 {}
impl Plain for f64 {}

/// Zeroed memory that no page stands behind yet: a page lies near the CPU that touches it first.
pub(super) struct Pages {
    start: NonNull<u8>,
    bytes: usize,
    mapping: (*mut c_void, usize),
}

// SAFETY: it owns its memory alone, like a `Box<[u8]>`.
unsafe impl Send for Pages {}
// SAFETY: shared, it is only read.
unsafe impl Sync for Pages {}

impl Pages {
    /// So many bytes, at a multiple of `alignment`, a power of two, and of a page; none when they are refused. Huge pages are a wish:
    /// [`granted`] says what became of it.
    pub(super) fn new(bytes: usize, alignment: usize, huge: bool) -> Option<Self> {
        let alignment = alignment.max(if huge { HUGE } else { rustix::param::page_size() });
        let length = bytes.max(1).checked_add(alignment)?;
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping, at no given address, takes nothing from anybody.
        let base = unsafe { mmap_anonymous(null_mut(), length, access, kind) }.ok()?;
        if huge {
            // SAFETY: the mapping is ours. A kernel without huge pages says so, and small ones do as well.
            let _ = unsafe { madvise(base, length, Advice::LinuxHugepage) };
        }
        let skipped = base.addr().next_multiple_of(alignment) - base.addr();
        // SAFETY: at most the alignment is skipped, by which the mapping is longer.
        let start = NonNull::new(unsafe { base.cast::<u8>().add(skipped) })?;
        Some(Self { start, bytes, mapping: (base, length) })
    }

    /// All of it as numbers; bytes behind the last whole one are left out.
    pub(super) fn read<T: Plain>(&self) -> &[T] {
        // SAFETY: so many lie within the mapping, which is aligned to a page, initialised, and borrowed as `self` is; any bytes are
        // a `T`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.bytes / size_of::<T>()) }
    }

    /// The same, to be written.
    pub(super) fn write<T: Plain>(&mut self) -> &mut [T] {
        // SAFETY: as in `read`, and borrowed by nobody else.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.bytes / size_of::<T>()) }
    }

    /// Where it begins, for those who must not make a reference to the whole.
    pub(super) fn start(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, and no reference to it is left.
        let _ = unsafe { munmap(self.mapping.0, self.mapping.1) };
    }
}

/// The size of a run's pages for its labels: what is asked for, and the kernel's policy, which decides.
pub(super) fn policy(huge: bool) -> String {
    let policy = host::chosen(Path::new("/sys/kernel/mm/transparent_hugepage/enabled"));
    let policy = policy.unwrap_or_else(|| "not there".to_owned());
    let asked = if huge { "huge pages asked for" } else { "as the kernel gives them" };
    format!("{asked}; transparent_hugepage is {policy}")
}

/// How much of this process lies in huge pages, for a remark: `AnonHugePages` of `/proc/self/smaps_rollup`, there since Linux 4.14.
pub(super) fn granted(bytes: u64) -> String {
    let held = host::text(Path::new("/proc/self/smaps_rollup")).ok().and_then(|text| huge_kib(&text));
    match held {
        Some(kib) => format!("{} MiB of {} MiB lie in huge pages", (kib >> 10).min(bytes >> 20), bytes >> 20),
        None => "the kernel does not say what lies in huge pages".to_owned(),
    }
}

fn huge_kib(smaps: &str) -> Option<u64> {
    let line = smaps.lines().find_map(|line| line.strip_prefix("AnonHugePages:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_aligned_and_may_be_refused() {
        let mut pages = Pages::new(10_001, 65_536, false).unwrap();
        assert_eq!(pages.start() as usize % 65_536, 0);
        assert_eq!((pages.read::<u8>().len(), pages.read::<u64>().len()), (10_001, 1250));
        assert!(pages.read::<u8>().iter().all(|b| *b == 0));
        pages.write::<f64>()[1249] = 1.5;
        assert_eq!(pages.read::<f64>()[1249], 1.5);
        assert_eq!(Pages::new(3 << 20, 64, true).unwrap().start() as usize % HUGE, 0);
        assert!(Pages::new(usize::MAX / 4, 4096, false).is_none() && Pages::new(usize::MAX, 4096, true).is_none());
    }

    #[test]
    fn huge_pages_are_read_as_the_kernel_counts_them() {
        let smaps = "55d0-7fff ---p 00000000 00:00 0    [rollup]\nRss:  900 kB\nAnonHugePages:    393216 kB\n";
        assert_eq!((huge_kib(smaps), huge_kib("Rss: 3 kB\n")), (Some(393_216), None));
        assert!(granted(5 << 20).contains("huge pages") && policy(true).starts_with("huge pages asked for"));
    }
}
