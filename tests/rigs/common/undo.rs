//! Every change to the machine is written down before it is made, together with what undoes it. It is undone when its guard is
//! dropped, also by a panic; what a killed test has left is undone by the next one, from the same notes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

/// Begins the name of everything that a rig makes: directories, control groups, network name spaces.
pub(crate) const PREFIX: &str = "shakedown-rig";
/// Notes and lock; only root can write below `/run`, and a reboot clears it together with what the notes are about.
const NOTES: &str = "/run/shakedown-rig";
/// Bulk data.
const BULK: &str = "/var/tmp";
/// How long a device may stay busy with a worker that is about to go.
const BUSY: Duration = Duration::from_secs(15);

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
static NUMBER: AtomicU32 = AtomicU32::new(1);

/// The right to change the machine; one rig has it at a time, over all processes.
pub(crate) struct Bench {
    _file: fs::File,
    _turn: MutexGuard<'static, ()>,
}

impl Bench {
    /// Waits for its turn and takes down what an earlier rig has left. The error says why no rig can be built here.
    pub(crate) fn take() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("rigs need root".to_owned());
        }
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        fs::create_dir_all(NOTES).map_err(|e| format!("{NOTES}: {e}"))?;
        let file = fs::File::create(Path::new(NOTES).join("lock")).map_err(|e| format!("{NOTES}: {e}"))?;
        flock(&file, FlockOperation::LockExclusive).map_err(|e| format!("{NOTES}: {e}"))?;
        take_down_leftovers();
        Ok(Self { _file: file, _turn: turn })
    }
}

fn take_down_leftovers() {
    let mut left: Vec<PathBuf> = fs::read_dir(NOTES).into_iter().flatten().flatten().map(|e| e.path()).collect();
    left.retain(|path| path.extension().is_some_and(|e| e == "json"));
    left.sort();
    for note in left.iter().rev() {
        if let Some(step) = fs::read(note).ok().and_then(|text| serde_json::from_slice::<Step>(&text).ok()) {
            step.done();
        }
        let _ = fs::remove_file(note);
    }
}

/// How one change is undone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Step {
    /// Write this text to that file of the kernel.
    Write(PathBuf, String),
    /// Run this command.
    Run(Vec<String>),
    /// Unmount; by force where a server is gone or hangs.
    Unmount(PathBuf),
    /// Take away a control group, once it is empty.
    Group(PathBuf),
    /// Take away a directory of our own with all that is in it.
    Tree(PathBuf),
}

impl Step {
    /// Does it; whether nothing is left of the change.
    fn done(&self) -> bool {
        match self {
            Self::Write(path, text) => fs::write(path, text).is_ok(),
            Self::Run(words) => run(&words.iter().map(String::as_str).collect::<Vec<_>>()).is_ok(),
            Self::Unmount(path) => unmount(path),
            Self::Group(path) => patiently(|| !path.exists() || fs::remove_dir(path).is_ok()),
            Self::Tree(path) => {
                let ours = path.starts_with(BULK) && path.to_string_lossy().contains(PREFIX);
                ours && !is_mounted_below(path) && fs::remove_dir_all(path).is_ok()
            }
        }
    }
}

fn unmount(path: &Path) -> bool {
    let shown = path.display().to_string();
    if patiently(|| !is_mounted_below(path) || run(&["umount", &shown]).is_ok()) {
        return true;
    }
    let _ = run(&["umount", "-f", &shown]);
    run(&["umount", "-l", &shown]).is_ok()
}

fn is_mounted_below(path: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts.lines().filter_map(|line| line.split(' ').nth(4)).any(|point| Path::new(point).starts_with(path))
}

fn patiently(mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + BUSY;
    while !done() {
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    true
}

/// A change that is undone when this is dropped.
#[must_use = "dropping it undoes the change"]
pub(crate) struct Undo {
    note: PathBuf,
    step: Step,
}

impl Undo {
    /// To be called before the change is made.
    pub(crate) fn note(step: Step) -> io::Result<Self> {
        let number = NUMBER.fetch_add(1, Relaxed);
        let note = Path::new(NOTES).join(format!("{number:06}.json"));
        fs::write(&note, serde_json::to_vec(&step)?)?;
        Ok(Self { note, step })
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        if !self.step.done() {
            crate::say(&format!("rig: NOT UNDONE: {:?}", self.step));
        }
        let _ = fs::remove_file(&self.note);
    }
}

/// A setting of the kernel, changed until this is dropped.
pub(crate) struct Setting {
    _undo: Undo,
}

impl Setting {
    /// Only notes what it is now; for one that changes together with another.
    pub(crate) fn keep(path: &str) -> Result<Self, String> {
        let before = fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
        let undo = Undo::note(Step::Write(path.into(), before.trim().to_owned())).map_err(|e| e.to_string())?;
        Ok(Self { _undo: undo })
    }

    pub(crate) fn change(path: &str, text: &str) -> Result<Self, String> {
        let setting = Self::keep(path)?;
        write(path, text)?;
        Ok(setting)
    }
}

/// Changes a setting that comes back with another, which was kept before.
pub(crate) fn write(path: &str, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("{path}: {e}"))
}

/// A directory for bulk data, on a disk.
pub(crate) struct Room {
    pub(crate) path: PathBuf,
    _undo: Undo,
}

impl Room {
    pub(crate) fn new() -> Result<Self, String> {
        let number = NUMBER.fetch_add(1, Relaxed);
        let path = Path::new(BULK).join(format!("{PREFIX}-{}-{number}", std::process::id()));
        let undo = Undo::note(Step::Tree(path.clone())).map_err(|e| e.to_string())?;
        fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self { path, _undo: undo })
    }

    pub(crate) fn directory(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.path.join(name);
        fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path)
    }
}

/// Runs a command to its end; what it printed, or why it could not do it, in one line.
pub(crate) fn run(words: &[&str]) -> Result<String, String> {
    let mut command = Command::new(words[0]);
    let done = command.args(&words[1..]).stdin(Stdio::null()).output();
    let done = done.map_err(|e| format!("{}: {e}", words[0]))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().replace('\n', " ");
    if done.status.success() { Ok(text(&done.stdout)) } else { Err(format!("{}: {}", words[0], text(&done.stderr))) }
}
