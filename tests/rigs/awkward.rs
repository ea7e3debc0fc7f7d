//! Targets on which a disk run cannot be done, or only with care. What is refused is refused before anything is loaded.

use std::path::Path;

use shakedown::vocab::event::{Event, Outcome};

use crate::common::device::{Disk, Mounted, Zram};
use crate::common::play::{Account, Scene};
use crate::common::undo::{Room, Setting};
use crate::program;
use crate::{Played, played};

const LOAD: &str = "pattern: Write, block: \"4KiB\", depth: 4, size: \"16MiB\", time: \"1 s\"";
/// Whatever the rate is: that there is one.
const SOME: &str = "(of: \"load.mb_per_s\", at_least: Absolute(\"0.1 MB/s\"), decide: Point)";

fn on(target: &Path, load: &str) -> Account {
    Scene::disk(target, load).held_to(SOME).play().end()
}

fn full() -> Played {
    let disk = Disk::of(96, 512, "rw")?;
    Ok(on(disk.path(), LOAD))
}

fn read_only() -> Played {
    let disk = Disk::of(2048, 512, "ro")?;
    Ok(on(disk.path(), LOAD))
}

fn ramfs() -> Played {
    let room = Room::new()?;
    let mounted = Mounted::new(&room, "ramfs", "shakedown-rig", "rw")?;
    Ok(on(&mounted.path, LOAD))
}

fn zram() -> Played {
    let room = Room::new()?;
    let zram = Zram::new(2048)?;
    let mounted = Mounted::ext4(&room, &zram.path, "rw")?;
    Ok(on(&mounted.path, LOAD))
}

fn missing() -> Played {
    let room = Room::new()?;
    Ok(on(&room.path.join("not-there"), LOAD))
}

fn sectors() -> Played {
    let disk = Disk::of(2048, 4096, "rw")?;
    Ok(on(disk.path(), LOAD))
}

fn small_blocks() -> Played {
    let disk = Disk::of(2048, 4096, "rw")?;
    Ok(on(disk.path(), &LOAD.replace("4KiB", "512B")))
}

fn no_io_uring() -> Played {
    let disk = Disk::of(2048, 512, "rw")?;
    let setting = Setting::change("/proc/sys/kernel/io_uring_disabled", "2")?;
    let mut play = Scene::disk(disk.path(), LOAD).held_to(SOME).play();
    // The engine was chosen; others on this machine shall have their rings again.
    drop(setting);
    Ok(play.end())
}

/// Refused in one line on standard error, with nothing started.
fn is_refused(account: &Account, words: &[&str]) {
    assert_eq!((account.code, account.outcome()), (Some(3), None), "{}", account.line());
    let line = account.err.lines().find(|line| words.iter().all(|word| line.contains(word)));
    assert!(line.is_some(), "no line with {words:?} in: {}", account.err);
}

#[test]
fn a_small_file_system_is_not_filled() {
    let Some(account) = played("full file system", full) else { return };
    is_refused(&account, &["target", "stay free", "--target DIR"]);
}

#[test]
fn a_read_only_file_system_is_refused() {
    let Some(account) = played("read-only file system", read_only) else { return };
    is_refused(&account, &["target", "read-only file system"]);
}

#[test]
fn a_file_system_in_memory_is_refused() {
    let Some(account) = played("ramfs", ramfs) else { return };
    is_refused(&account, &["target", "lies in memory (ramfs)"]);
}

#[test]
fn a_disk_in_memory_is_refused() {
    let Some(account) = played("zram", zram) else { return };
    is_refused(&account, &["target", "lies in memory"]);
}

#[test]
fn a_target_that_is_not_there_is_refused() {
    let Some(account) = played("missing target", missing) else { return };
    is_refused(&account, &["not-there"]);
}

#[test]
fn large_sectors_are_written_in_their_own_multiples() {
    let Some(account) = played("sectors of 4096 bytes", sectors) else { return };
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Sound), Some(0)), "{}", account.line());
}

#[test]
fn blocks_below_the_sector_are_refused_with_the_unit() {
    let Some(account) = played("blocks below the sector", small_blocks) else { return };
    let Some(Outcome::Unavailable(why)) = account.outcome() else { panic!("{}", account.line()) };
    assert!(why.contains("multiples of 4096 B"), "{why}");
    assert_eq!(account.code, Some(2), "{}", account.line());
}

#[test]
fn without_io_uring_linux_aio_does_the_work_and_it_is_said() {
    let Some(account) = played("no io_uring", no_io_uring) else { return };
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Sound), Some(0)), "{}", account.line());
    let engine = |r: &shakedown::vocab::event::Record| match &r.event {
        Event::RunStarted(start) => start.labels.get("engine").cloned(),
        _ => None,
    };
    let engine = account.records.iter().find_map(engine).expect("an engine");
    assert!(engine.contains("Linux AIO (no io_uring"), "{engine}");
    assert!(program::is_closed(&account.records));
}
