//! Devices as targets: what may never be written to, what has to be said before one is, and what is written then. The devices are loop
//! devices, which have no serial number, so they are named by their path.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use shakedown::vocab::event::Outcome;
use shakedown::vocab::finding::Kind;

use crate::common::device::Loop;
use crate::common::play::{Account, Scene};
use crate::common::undo::{Bench, Room, Step, Undo, run};
use crate::program::{Finished, Place, plan, skip};
use crate::say;

const WRITE: &str = "pattern: Write, block: \"64KiB\", depth: 4, size: \"16MiB\", time: \"1 s\"";
const READ: &str = "pattern: RandomRead, block: \"4KiB\", depth: 4, size: \"16MiB\", time: \"1 s\"";
const SOME: &str = "(of: \"load.mb_per_s\", at_least: Absolute(\"0.1 MB/s\"), decide: Point)";

/// A device of 64 MiB of zeros with a file of its own.
struct Target {
    device: Loop,
    room: Room,
}

impl Target {
    fn new() -> Result<Self, String> {
        let room = Room::new()?;
        Ok(Self { device: Loop::new(&room, 64, 512)?, room })
    }

    /// The bytes that were changed, as far as they are no zeros any more.
    fn written(&self) -> u64 {
        let mut file = fs::File::open(self.room.path.join("image-64-512")).unwrap();
        let (mut buffer, mut written) = (vec![0; 1 << 20], 0);
        while let Ok(n @ 1..) = file.read(&mut buffer) {
            written += buffer[..n].iter().filter(|byte| **byte != 0).count() as u64;
        }
        written
    }

    fn try_it(&self, load: &str, more: &[&str]) -> Account {
        let device = PathBuf::from(&self.device.path);
        let mut scene = Scene::disk(&device, load).held_to(SOME);
        scene.more = more.iter().map(|word| (*word).to_owned()).collect();
        scene.play().end()
    }

    fn destroy(&self, device: &str, serial: &[&str]) -> Account {
        self.try_it(WRITE, &[&["--destroy-data", device], serial].concat())
    }
}

/// Builds a rig of a device, or says why not.
fn rig(name: &str) -> Option<(Bench, Target)> {
    let built = Bench::take().and_then(|bench| Ok((bench, Target::new()?)));
    built.map_err(|why| skip(name, &why)).ok()
}

fn is_refused(account: &Account, word: &str) {
    assert_eq!((account.code, account.outcome()), (Some(3), None), "{}", account.line());
    assert!(account.err.contains(word) && account.err.trim().lines().count() == 1, "no `{word}`: {}", account.err);
}

#[test]
fn a_device_is_written_only_when_it_is_named_and_shown_to_be_meant() {
    let Some((_bench, target)) = rig("a device that is meant") else { return };
    let path = target.device.path.clone();
    is_refused(&target.try_it(WRITE, &[]), "a block device, not a directory");
    is_refused(&target.destroy(&path, &[]), "say that it is meant with --yes SERIAL");
    is_refused(&target.destroy(&path, &["--yes", "S123"]), "`S123` is not its path");
    is_refused(&target.destroy("/dev/null", &["--yes", "/dev/null"]), "a character device, and no block device");
    let link = target.room.path.join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    is_refused(&target.destroy(link.to_str().unwrap(), &["--yes", &path]), &format!("leads to {path}"));
    assert_eq!(target.written(), 0, "nothing was written before it was meant");
    let account = target.destroy(&path, &["--yes", &path]);
    // A device in memory may be faster than the load; then its figures prove nothing.
    let code = if account.of_kind(Kind::Generator).is_empty() { 0 } else { 2 };
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Sound), Some(code)), "{}", account.line());
    assert!(account.out.contains(&format!("ALL DATA ON THIS DEVICE IS DESTROYED: {path}")), "{}", account.out);
    assert!(target.written() > 15 << 20, "{} bytes", target.written());
    say(&format!("rig device: {}", account.line()));
}

#[test]
fn a_device_that_is_read_is_not_written() {
    let Some((_bench, target)) = rig("a device that is read") else { return };
    let account = target.try_it(READ, &["--readonly"]);
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Sound), Some(0)), "{}", account.line());
    let refused = target.try_it(WRITE, &["--readonly"]);
    let Some(Outcome::Unavailable(why)) = refused.outcome() else { panic!("{}", refused.line()) };
    assert!(why.contains("read only in this session"), "{why}");
    assert_eq!(target.written(), 0);
}

#[test]
fn a_device_in_use_is_not_written_whatever_is_said() {
    let Some((_bench, target)) = rig("a device in use") else { return };
    let path = target.device.path.clone();
    let meant = |word: &str| is_refused(&target.destroy(&path, &["--yes", &path]), word);
    // Swap space.
    run(&["mkswap", "-q", &path]).unwrap();
    let off = Undo::note(Step::Run(vec!["swapoff".into(), path.clone()])).unwrap();
    match run(&["swapon", &path]) {
        Ok(_) => meant("it is swap space"),
        Err(why) => skip("a device in use as swap", &why),
    }
    drop(off);
    // A file system.
    run(&["mkfs.ext4", "-q", "-F", &path]).unwrap();
    let point = target.room.directory("point").unwrap();
    let off = Undo::note(Step::Unmount(point.clone())).unwrap();
    run(&["mount", &path, point.to_str().unwrap()]).unwrap();
    fs::write(point.join("precious"), "data").unwrap();
    meant("it is mounted at");
    assert_eq!(fs::read(point.join("precious")).unwrap(), b"data");
    drop(off);
    // Below another device.
    let other = run(&["losetup", "-f"]).unwrap();
    let off = Undo::note(Step::Run(vec!["losetup".into(), "-d".into(), other.clone()])).unwrap();
    run(&["losetup", &other, &path]).unwrap();
    meant(&format!("is below {}", other.trim_start_matches("/dev/")));
    drop(off);
    // Held by somebody of whom nothing but the kernel knows.
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::EXCL | rustix::fs::OFlags::CLOEXEC;
    let held = rustix::fs::open(path.as_str(), flags, rustix::fs::Mode::empty()).unwrap();
    meant("the kernel has it in use");
    // It is given back while somebody waits for it, as what a ring had registered is after its process.
    let giving = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(600));
        drop(held);
    });
    let account = target.destroy(&path, &["--yes", &path]);
    giving.join().unwrap();
    assert_eq!(account.outcome(), Some(Outcome::Sound), "{}", account.line());
}

#[test]
fn a_device_whose_partition_is_in_use_is_not_written() {
    let name = "a partition in use";
    let Some((_bench, target)) = rig(name) else { return };
    let path = target.device.path.clone();
    let table = || {
        run(&["losetup", "-d", &path])?;
        run(&["losetup", "-P", &path, &target.room.path.join("image-64-512").display().to_string()])?;
        // Told to the kernel by hand: not every kernel reads tables of partitions.
        run(&["addpart", &path, "1", "2048", "40960"])?;
        let part = format!("{path}p1");
        if Path::new(&part).exists() { Ok(part) } else { Err(format!("{part} did not come")) }
    };
    let part = match table() {
        Ok(part) => part,
        Err(why) => return skip(name, &why),
    };
    run(&["mkfs.ext4", "-q", "-F", &part]).unwrap();
    let point = target.room.directory("point").unwrap();
    let off = Undo::note(Step::Unmount(point.clone())).unwrap();
    run(&["mount", &part, point.to_str().unwrap()]).unwrap();
    is_refused(&target.destroy(&path, &["--yes", &path]), "of the same disk, is mounted at");
    is_refused(&target.destroy(&part, &["--yes", &part]), "it is mounted at");
    drop(off);
}

/// What is no device and no directory is refused, and not touched.
#[test]
fn fifos_and_links_to_devices_are_no_targets() {
    let Some((_bench, target)) = rig("no targets") else { return };
    let at = |name: &str| target.room.path.join(name);
    run(&["mkfifo", at("fifo").to_str().unwrap()]).unwrap();
    std::os::unix::fs::symlink(&target.device.path, at("link")).unwrap();
    std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    let place = Place::new();
    let preset = place.preset("p", &plan(&[format!("(name: \"load\", kernel: Disk({WRITE}))")], ""));
    for (name, kind) in [("fifo", "a FIFO"), ("link", "a block device"), ("socket", "a socket")] {
        let Finished { code, err, .. } =
            place.run(&["run", &preset, "--headless", "--target", at(name).to_str().unwrap()]);
        assert_eq!(code, Some(3), "{err}");
        assert!(err.contains(&format!("{kind}, not a directory")), "{name}: {err}");
    }
    let Finished { code, err, .. } = place.run(&["run", &preset, "--headless", "--target", "/dev/null"]);
    assert!(code == Some(3) && err.contains("a character device, not a directory"), "{err}");
    assert_eq!(target.written(), 0);
}

/// A session that asks on a terminal whether the device is meant, and gets this answer; none where there is no terminal to be had.
fn asked(name: &str, target: &Target, answer: &str) -> Option<Finished> {
    if run(&["sh", "-c", "command -v script"]).is_err() {
        skip(name, "there is no script");
        return None;
    }
    let place = Place::new();
    let preset = place.preset("p", &plan(&[format!("(name: \"load\", kernel: Disk({WRITE}))")], SOME));
    let session = place.path("session.jsonl").display().to_string();
    let (program, path) = (crate::program::PROGRAM, &target.device.path);
    // The screen asks once more, with the other remarks; and once the session is over it is left.
    let line = format!(
        "{{ echo {answer}; n=0; until grep -qs SessionClosed {session} || [ $n = 100 ]; do sleep 0.3; printf y; n=$((n + 1)); done; \
         sleep 0.5; printf q; }} | script -qec '{program} run {preset} --session {session} --destroy-data {path}' /dev/null"
    );
    let done = place.start("sh", &["-c", &line]).finish(crate::program::PATIENCE);
    let question = ["ALL DATA WILL BE DESTROYED on", "Type its path to go on"];
    assert!(question.iter().all(|word| done.out.contains(word)), "{}{}", done.out, done.err);
    Some(done)
}

/// On a terminal the serial number, here the path, is asked for and typed.
#[test]
fn a_wrong_answer_on_a_terminal_destroys_nothing() {
    let name = "a wrong answer on a terminal";
    let Some((_bench, target)) = rig(name) else { return };
    let Some(Finished { code, out, err }) = asked(name, &target, "/dev/sda") else { return };
    assert!(out.contains("`/dev/sda` is not its path") && code == Some(3), "{code:?} {out}{err}");
    assert_eq!(target.written(), 0);
}

#[test]
fn the_right_answer_on_a_terminal_lets_the_session_write() {
    let name = "the right answer on a terminal";
    let Some((_bench, target)) = rig(name) else { return };
    let Some(Finished { code, out, err }) = asked(name, &target, &target.device.path) else { return };
    assert!(code == Some(0), "{code:?} {out}{err}");
    assert!(target.written() > 15 << 20, "{} bytes are written", target.written());
}
