//! Signals that would end a process where an error code can be told instead.
#![allow(unsafe_code, reason = "the standard library sets no disposition of a signal")]

/// Ignores SIGXFSZ, in this process and those it starts: a write beyond `RLIMIT_FSIZE` then fails with EFBIG, which can be told.
pub fn ignore_file_size() {
    // SAFETY: `signal(2)` with `SIG_IGN` installs no code of ours; nothing else in this program touches this signal.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
