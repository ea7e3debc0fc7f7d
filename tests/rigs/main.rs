//! Rigs: real faults on one machine, made by the kernel, while a session runs.
//!
//! They need root, and some a feature of the kernel or a program (`mkfs.ext4`, `losetup`, `ip`, `tc`); what cannot be built here
//! says `SKIPPED` and why. One rig stands at a time, over all processes, since each wants the machine for itself.
//!
//! | rig | what it is | what undoes it |
//! |---|---|---|
//! | `throttle` | ext4 on a loop device of its own; the session is in a control group whose rate for that device changes live, 100 MB/s to 1 MB/s and back, or 2000 operations a second to 20 | the group goes; unmount, `losetup -d`, the image is deleted |
//! | `natural` | buffered writes to such a disk; the device falls to 1 MB/s, the page cache takes more until its share for this device (`strict_limit`) is full | the throttle of the root group is set to 0 (it would outlive the device), `strict_limit` and `max_bytes` as before; then as above |
//! | `slow medium` | a FUSE file system served by the test itself: so many bytes fast, then slow; errors after so many bytes; hangs that no signal ends; a server that vanishes | the gate opens, unmount (by force after a while) |
//! | `awkward` | a full file system, a read-only one, sectors of 4096 bytes, no `O_DIRECT` (ramfs), memory that looks like a disk (zram), no target at all | unmount, `losetup -d`, the zram device is removed |
//! | `flagship` | the preset `disk-collapse`, made smaller, on a live throttle, on a medium with a cache, and as a copy into a full page cache | as those |
//! | `devices` | loop devices as targets: mounted, swap, below another, with a partition in use, held, free | swapoff, unmount, `losetup -d` |
//! | `remains` | signals in the middle of a write; memory two layers down, a frozen file system, a limit of the size of files, late hangs | unmount, `fsfreeze -u`, `losetup -d`, the zram device is removed |
//! | `no io_uring` | `kernel.io_uring_disabled` is 2 until the run has started | the value before |
//! | `counted` | ext4 on a loop device and on a disk in memory, whose own counters are the reference | as with `throttle` |
//! | `CPU` | a quota for the whole session; a busy neighbour in a heavier group; a load that one thread cannot make any faster | the groups go, the neighbour is killed |
//! | `limits` | half a CPU; one CPU of several; 256 MiB of memory by a control group and by `RLIMIT_AS`; a worker that the kernel kills for memory | the groups go |
//! | `network` | two network name spaces and a link shaped by `tbf`; the target sends what it stores over that link | the name spaces go, and the link with them |
//!
//! Whatever a rig changes is noted below `/run/shakedown-rig` before it is changed, with the step that undoes it. A test that
//! ends, also by a panic, undoes its own; the next rig undoes what a killed one has left. Names begin with `shakedown-rig`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

#[path = "../common/mod.rs"]
mod program;

mod attribution;
mod awkward;
mod common;
mod counted;
mod cpu;
mod devices;
mod errors;
mod flagship;
mod limits;
mod medium;
mod natural;
mod network;
mod remains;
mod throttle;

use std::sync::{Mutex, PoisonError};

use common::play::Account;
use common::undo::Bench;

/// A rig that has been played, or why it cannot be built here.
type Played = Result<Account, String>;

/// The accounts of the rigs that were played already, by name; the table of attribution reads them again.
static PLAYED: Mutex<Vec<(&str, Played)>> = Mutex::new(Vec::new());

/// Plays a rig once in this process; others who want its account get the same one.
fn once(name: &'static str, rig: fn() -> Played) -> Played {
    let known = || {
        let played = PLAYED.lock().unwrap_or_else(PoisonError::into_inner);
        played.iter().find(|(n, _)| *n == name).map(|(_, played)| played.clone())
    };
    if let Some(played) = known() {
        return played;
    }
    let _bench = Bench::take()?;
    // Somebody may have played it while we waited for our turn.
    if let Some(played) = known() {
        return played;
    }
    let played = rig();
    let line = played.as_ref().map_or_else(Clone::clone, Account::line);
    say(&format!("rig {name}: {line}"));
    PLAYED.lock().unwrap_or_else(PoisonError::into_inner).push((name, played.clone()));
    played
}

/// The account of a rig; none, said loudly, where it cannot be built.
fn played(name: &'static str, rig: fn() -> Played) -> Option<Account> {
    once(name, rig).map_err(|why| program::skip(name, &why)).ok()
}

/// Says something also where a test succeeds: what a rig did is worth knowing in any case.
fn say(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}
