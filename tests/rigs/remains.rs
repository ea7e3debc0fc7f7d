//! What is left on a disk once a session was ended in the middle of its writes, whatever ended it; and faults that are told before
//! anything is written.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::statvfs;
use rustix::process::Signal;
use shakedown::vocab::event::{Outcome, Phase};
use shakedown::vocab::finding::Kind;
use shakedown::vocab::moment::Span;

use crate::common::device::{Disk, Loop, Mounted, Zram};
use crate::common::play::{Account, Scene};
use crate::common::slow::{Medium, Slow};
use crate::common::undo::{Bench, Room, Step, Undo, run};
use crate::program::{send, skip};
use crate::{Played, played, say};

const LOAD: &str = "pattern: Write, block: \"256KiB\", depth: 4, size: \"128MiB\", time: \"20 s\"";
/// Space comes back once the last process is gone and the journal has let go of it.
const SOON: Duration = Duration::from_secs(5);
const SOME: &str = "(of: \"load.mb_per_s\", at_least: Absolute(\"0.1 MB/s\"), decide: Point)";

fn free(path: &Path) -> u64 {
    let space = statvfs(path).unwrap();
    space.f_bfree * space.f_frsize
}

/// Times after the beginning, different ones each time.
fn moments() -> impl Iterator<Item = Duration> {
    let mut seed = u64::from(std::process::id()) ^ 0x9e37_79b9_7f4a_7c15;
    std::iter::from_fn(move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(Duration::from_millis(50 + (seed >> 33) % 1500))
    })
}

#[test]
fn whatever_ends_a_session_in_a_write_leaves_no_file_and_gives_the_space_back() {
    let name = "signals in a write";
    let built = Bench::take().and_then(|bench| Ok((bench, Disk::of(2048, 512, "rw")?)));
    let (_bench, disk) = match built {
        Ok(built) => built,
        Err(why) => return skip(name, &why),
    };
    let before = free(disk.path());
    let signals = [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL, Signal::KILL];
    for (signal, moment) in signals.into_iter().zip(moments()) {
        for direct in [true, false] {
            let mut scene = Scene::disk(disk.path(), LOAD);
            let load = format!("{LOAD}, direct: {direct}");
            if !direct {
                scene = Scene::disk(disk.path(), &load);
            }
            scene.more = vec!["--reserve".to_owned(), "64MiB".to_owned()];
            let mut play = scene.play();
            play.phase(Phase::Prepare);
            std::thread::sleep(moment);
            send(play.program(), signal);
            let account = play.end();
            let deadline = Instant::now() + SOON;
            while free(disk.path()) + (1 << 20) < before && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(50));
            }
            let names: Vec<_> = std::fs::read_dir(disk.path()).unwrap().flatten().map(|e| e.file_name()).collect();
            assert_eq!(names, ["lost+found"], "{signal:?} after {moment:?}");
            let left = before.saturating_sub(free(disk.path()));
            assert!(left <= 1 << 20, "{signal:?} after {moment:?}: {left} bytes are not back; {}", account.line());
            say(&format!("rig signals: {signal:?} after {moment:?}, direct {direct}: {}", account.line()));
        }
    }
}

fn on(target: &Path, load: &str, more: &[&str]) -> Account {
    let mut scene = Scene::disk(target, load).held_to(SOME);
    scene.more = more.iter().map(|word| (*word).to_owned()).collect();
    scene.play().end()
}

const SMALL: &str = "pattern: Write, block: \"4KiB\", depth: 4, size: \"16MiB\", time: \"1 s\"";

/// ext4 on a loop device whose file is on ext4 on a disk in memory.
fn deep() -> Played {
    let room = Room::new()?;
    let zram = Zram::new(2048)?;
    let upper = Mounted::ext4(&room, &zram.path, "rw")?;
    let inner = Room::new()?;
    let image = upper.path.join("image");
    std::fs::File::create(&image).and_then(|f| f.set_len(1500 << 20)).map_err(|e| e.to_string())?;
    let path = run(&["losetup", "-f"])?;
    let _loop = Undo::note(Step::Run(vec!["losetup".into(), "-d".into(), path.clone()])).map_err(|e| e.to_string())?;
    run(&["losetup", &path, &image.display().to_string()])?;
    let lower = Mounted::ext4(&inner, &path, "rw")?;
    Ok(on(&lower.path, SMALL, &["--reserve", "64MiB"]))
}

fn frozen() -> Played {
    let disk = Disk::of(2048, 512, "rw")?;
    let path = disk.path().display().to_string();
    let thaw = Undo::note(Step::Run(vec!["fsfreeze".into(), "-u".into(), path.clone()])).map_err(|e| e.to_string())?;
    run(&["fsfreeze", "-f", &path])?;
    let account = on(disk.path(), SMALL, &[]);
    drop(thaw);
    Ok(account)
}

fn reserve() -> Played {
    let disk = Disk::of(512, 512, "rw")?;
    Ok(on(disk.path(), SMALL, &["--reserve", "32MiB"]))
}

fn no_direct() -> Played {
    let room = Room::new()?;
    let device = Loop::new(&room, 512, 512)?;
    // A file system that takes no O_DIRECT on a device that is a disk: data goes through its journal.
    run(&["mkfs.ext4", "-q", "-F", "-m", "0", &device.path])?;
    let mounted = Mounted::new(&room, "ext4", &device.path, "data=journal")?;
    let load = format!("{SMALL}, or_buffered: true");
    Ok(on(&mounted.path, &load, &["--reserve", "32MiB"]))
}

fn limited() -> Played {
    let disk = Disk::of(2048, 512, "rw")?;
    let mut scene = Scene::disk(disk.path(), SMALL).held_to(SOME);
    scene.inside = ["prlimit", "--fsize=4194304"].map(str::to_owned).to_vec();
    Ok(scene.play().end())
}

/// A hang that begins half a second before the counted time is over, and lasts.
fn late_hang() -> Played {
    let slow = Slow::new(120e6, None)?;
    let kernel = format!("Disk({}, time: \"4 s\")", "pattern: Write, block: \"256KiB\", depth: 2, size: \"64MiB\"");
    let mut play = Scene::of(&slow.path, &kernel, ", deadline: \"14 s\"").play();
    play.measured(Span::milliseconds(3300));
    slow.hand.set(Medium { hangs: true, ..Medium::healthy(120e6) });
    Ok(play.end())
}

/// A device that hangs for ever, and somebody who presses Ctrl-C.
fn interrupted() -> Played {
    let slow = Slow::new(120e6, None)?;
    let load = "pattern: Write, block: \"256KiB\", depth: 2, size: \"64MiB\", time: \"60 s\", direct: false";
    let mut play = Scene::disk(&slow.path, load).play();
    play.measured(Span::milliseconds(1000));
    slow.hand.set(Medium { hangs: true, ..Medium::healthy(120e6) });
    std::thread::sleep(Duration::from_millis(3500));
    let asked = Instant::now();
    send(play.program(), Signal::INT);
    let account = play.end();
    Ok(Account { lasted: asked.elapsed(), ..account })
}

#[test]
fn memory_two_layers_down_is_memory() {
    let Some(account) = played("memory two layers down", deep) else { return };
    assert_eq!(account.code, Some(3), "{}", account.line());
    let stack = account.err.split_once("lies in memory (ext4 on loop").map(|(_, rest)| rest).unwrap_or_default();
    assert!(stack.contains(" on ext4 on zram"), "{}", account.err);
}

#[test]
fn a_frozen_file_system_is_refused() {
    let Some(account) = played("frozen file system", frozen) else { return };
    assert_eq!((account.code, account.outcome()), (Some(3), None), "{}", account.line());
    assert!(account.err.contains("it is frozen (fsfreeze), or its device hangs"), "{}", account.err);
}

#[test]
fn a_reserve_of_ones_own_is_heeded() {
    let Some(account) = played("reserve of 32 MiB", reserve) else { return };
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Sound), Some(0)), "{}", account.line());
    assert!(account.out.contains("32MiB stay free"), "{}", account.out);
}

#[test]
fn buffered_in_place_of_direct_is_said() {
    let Some(account) = played("no O_DIRECT, buffered allowed", no_direct) else { return };
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Sound), Some(0)), "{}", account.line());
    let label = account.out.contains("no baseline of direct access compares");
    // Newer kernels take O_DIRECT here after all.
    assert!(label || account.out.contains("path direct"), "{}", account.out);
    assert!(!label || account.out.contains("path buffered"), "{}", account.out);
}

#[test]
fn a_limit_of_the_size_of_files_is_told_and_kills_nobody() {
    let Some(account) = played("RLIMIT_FSIZE", limited) else { return };
    let Some(Outcome::Unavailable(why)) = account.outcome() else { panic!("{}{}", account.line(), account.err) };
    assert!(why.contains("files may have 4MiB here and the run needs 16MiB"), "{why}");
    assert_eq!(account.code, Some(2), "{}", account.line());
}

#[test]
fn a_hang_as_the_counted_time_ends_is_a_stall() {
    let Some(account) = played("late hang", late_hang) else { return };
    assert_eq!(account.outcome(), Some(Outcome::Stuck), "{}", account.line());
    let stalls = account.of_kind(Kind::Stall);
    assert_eq!(stalls.len(), 1, "{}", account.line());
    assert!(stalls[0].sentence.contains("the oldest for"), "{}", stalls[0].sentence);
    assert!(account.out.contains("it had not ended at its deadline of 14"), "{}", account.out);
}

#[test]
fn a_hanging_session_ends_within_two_seconds_of_ctrl_c() {
    let Some(account) = played("Ctrl-C while a device hangs", interrupted) else { return };
    assert_eq!(account.outcome(), Some(Outcome::Stuck), "{}", account.line());
    assert_eq!(account.of_kind(Kind::Stall).len(), 1, "{}", account.line());
    // Two seconds for the session, and what a busy machine takes to start and end processes.
    assert!(account.lasted < Duration::from_millis(3500), "{:?}: {}", account.lasted, account.out);
    assert!(account.out.contains("it did not heed a stop"), "{}", account.out);
}
