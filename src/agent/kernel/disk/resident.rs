//! How much of a file the page cache holds.
#![allow(unsafe_code, reason = "mincore(2) has no safe wrapper")]

use std::fs::File;
use std::os::fd::AsRawFd;

/// Bytes of a file that are in the page cache, of the first `size`; none where the kernel does not say. No page is touched: the file is
/// mapped a part at a time, and each mapping is asked about and given back.
pub(super) fn resident(file: &File, size: u64, page: usize) -> Option<u64> {
    /// Bytes of one mapping: its answer takes a byte a page.
    const PART: usize = 1 << 30;
    let mut pages = 0;
    let mut answer = vec![0_u8; PART.div_ceil(page)];
    let mut start = 0;
    while start < size {
        let length = usize::try_from(size - start).map_or(PART, |left| left.min(PART));
        pages += in_part(file, start, length, answer.get_mut(..length.div_ceil(page))?)?;
        start += length as u64;
    }
    Some(pages.saturating_mul(page as u64).min(size))
}

fn in_part(file: &File, start: u64, length: usize, answer: &mut [u8]) -> Option<u64> {
    // SAFETY: a new private mapping that nothing is ever read or written through; the address is only handed back to the kernel.
    let mapped = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_NONE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            start as libc::off_t,
        )
    };
    if mapped == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the mapping is `length` bytes long and `answer` has a byte for each of its pages.
    let told = unsafe { libc::mincore(mapped, length, answer.as_mut_ptr()) };
    // SAFETY: mapped above with this length, and not used afterwards.
    unsafe { libc::munmap(mapped, length) };
    (told == 0).then(|| answer.iter().filter(|page| **page & 1 == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_just_written_is_there_and_what_was_dropped_is_not() {
        let mut file = tempfile::tempfile_in("/var/tmp").unwrap();
        file.write_all(&vec![7; 3 << 20]).unwrap();
        assert_eq!(resident(&file, 3 << 20, 4096), Some(3 << 20));
        file.sync_all().unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        // A file system in memory keeps everything.
        let left = resident(&file, 3 << 20, 4096).unwrap();
        assert!(left == 0 || left == 3 << 20, "{left}");
    }
}
