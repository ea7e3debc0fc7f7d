//! One lock a node and one a target directory, so that two sessions never test each other.
//!
//! Locks are `flock`s: they end with the process, however it ends, and work on descriptors that are open only for reading. The
//! node's is an exclusive lock for a moment, to see that nobody else is there, then a shared one, so that a second agent of the
//! same session can join and the node stays held until the last has left. A line in the file for each names the session and the
//! process. A directory is locked itself, so nothing is left behind in it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::mount::Mounts;
use crate::vocab::text::neutral;

const FILE: &str = "shakedown-node.lock";

/// Where the node's file may lie. Not every user can write to the first, so each takes all that he can open: whichever two
/// users meet, the second is theirs in common.
const PLACES: [&str; 2] = ["/run/lock", "/tmp"];

/// [`holder`] takes a lock for an instant; to be stopped by that is worth another try.
const TRIES: u32 = 4;
const BETWEEN_TRIES: Duration = Duration::from_millis(15);

/// Far more than the lines of all agents that could share a node.
const MOST: u64 = 64 << 10;

/// What this process holds, so that it does not take itself for somebody else.
static OWN: Mutex<Vec<Id>> = Mutex::new(Vec::new());

/// Device and inode.
type Id = (u64, u64);

/// The node and the directories that a session holds; given back when this is dropped, or the process ends.
#[derive(Debug)]
#[must_use = "dropping it gives the node back"]
pub struct Hold {
    nodes: Vec<Locked>,
    directories: Vec<Locked>,
}

#[derive(Debug)]
struct Locked {
    file: File,
    id: Id,
}

impl Locked {
    fn new(file: File) -> io::Result<Self> {
        let id = id(&file)?;
        own().push(id);
        Ok(Self { file, id })
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let mut own = own();
        if let Some(at) = own.iter().position(|id| *id == self.id) {
            own.swap_remove(at);
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.directories.clear();
        for node in self.nodes.drain(..) {
            // Only the last to leave gets this lock; its line is of no use to anybody any more.
            if flock(&node.file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                let _ = node.file.set_len(0);
            }
        }
    }
}

/// Takes the node for a session, together with other agents of the same session, and the directories for this process alone.
///
/// # Errors
/// Who holds the node, or which directory cannot be had and why.
pub fn take(session: &str, directories: &[PathBuf]) -> Result<Hold, String> {
    take_in(&PLACES.map(PathBuf::from), session, directories)
}

/// Who holds the node now, as `session NAME, process PID`; none when it is free, or held by this very process.
#[must_use]
pub fn holder() -> Option<String> {
    let own = own().clone();
    holder_in(&PLACES.map(PathBuf::from), &own)
}

/// Whether another process holds this directory; the path must be a local one.
pub(super) fn is_held(directory: &Path) -> bool {
    let Ok(file) = open(directory, OFlags::DIRECTORY) else { return false };
    let own = id(&file).is_ok_and(|id| own().contains(&id));
    !own && flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}

fn take_in(places: &[PathBuf], session: &str, directories: &[PathBuf]) -> Result<Hold, String> {
    let mut hold = Hold { nodes: Vec::new(), directories: Vec::new() };
    let mut refused = String::new();
    for place in places {
        match node_file(place) {
            Ok(file) => hold.nodes.push(lock_node(file, session)?),
            Err(why) => refused = format!("{}: {why}", place.join(FILE).display()),
        }
    }
    if hold.nodes.is_empty() {
        return Err(format!("the node cannot be held: {refused}"));
    }
    let mounts = Mounts::read(Path::new("/"));
    for directory in directories {
        if let Some(mount) = mounts.over(&mounts.resolve(directory)).filter(|mount| mount.is_remote()) {
            return Err(format!("{}: on a remote file system ({})", directory.display(), mount.kind));
        }
        let locked = lock_directory(directory, &hold).map_err(|why| format!("{}: {why}", directory.display()))?;
        hold.directories.extend(locked);
    }
    Ok(hold)
}

fn holder_in(places: &[PathBuf], own: &[Id]) -> Option<String> {
    places.iter().find_map(|place| {
        let file = open(&place.join(FILE), OFlags::empty()).ok()?;
        if own.contains(&id(&file).ok()?) {
            return None;
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Some(named(&lines(&file))),
            _ => None,
        }
    })
}

/// Locks the node's file, or joins those of the same session that have.
fn lock_node(file: File, session: &str) -> Result<Locked, String> {
    let session = neutral(session);
    let cannot = |why: Errno| format!("the node cannot be held: {why}");
    for attempt in 1..=TRIES {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                // A user who may only read leaves no name; the lock holds all the same.
                let _ = file.set_len(0);
            }
            Err(Errno::WOULDBLOCK) => {
                let holders = lines(&file);
                let ours = holders.iter().any(|(name, _)| *name == session);
                if !ours && (attempt == TRIES || !holders.is_empty()) {
                    return Err(format!("the node is held by {}", named(&holders)));
                }
                if !ours {
                    sleep(BETWEEN_TRIES);
                    continue;
                }
            }
            Err(why) => return Err(cannot(why)),
        }
        let _ = (&file).write_all(format!("{session} {}\n", std::process::id()).as_bytes());
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => return Locked::new(file).map_err(|why| format!("the node cannot be held: {why}")),
            Err(Errno::WOULDBLOCK) => sleep(BETWEEN_TRIES),
            Err(why) => return Err(cannot(why)),
        }
    }
    Err(format!("the node is held by {}", named(&lines(&file))))
}

/// Locks a directory; nothing when this hold has it already under another name.
fn lock_directory(path: &Path, hold: &Hold) -> Result<Option<Locked>, String> {
    let file = open(path, OFlags::DIRECTORY).map_err(|why| why.to_string())?;
    let id = id(&file).map_err(|why| why.to_string())?;
    if hold.directories.iter().any(|held| held.id == id) {
        return Ok(None);
    }
    for _ in 1..TRIES {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Locked::new(file).map(Some).map_err(|why| why.to_string()),
            Err(Errno::WOULDBLOCK) => sleep(BETWEEN_TRIES),
            Err(why) => return Err(why.to_string()),
        }
    }
    Err("in use by another session, or another node of this one".to_owned())
}

/// Opens the node's file, made when it is missing; read-only where that is all this user may do.
fn node_file(place: &Path) -> Result<File, String> {
    let path = place.join(FILE);
    let append = OFlags::RDWR | OFlags::APPEND;
    let file = match open(&path, append) {
        // Made only when it is not there: with `O_CREAT`, sticky directories refuse a file that belongs to somebody else.
        Err(Errno::NOENT) => match open(&path, append | OFlags::CREATE | OFlags::EXCL) {
            Ok(file) => {
                // Others must be able to read it, whatever the umask.
                rustix::fs::fchmod(&file, Mode::from_raw_mode(0o644)).map_err(|why| why.to_string())?;
                Ok(file)
            }
            Err(Errno::EXIST) => open(&path, OFlags::empty()),
            Err(why) => Err(why),
        },
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => open(&path, OFlags::empty()),
        other => other,
    };
    let file = file
        .map_err(|why| if why == Errno::LOOP { "a symbolic link, not followed".to_owned() } else { why.to_string() })?;
    // A second name for the file could be one that root would then write to for somebody else.
    let own = file.metadata().is_ok_and(|meta| meta.is_file() && meta.nlink() == 1);
    own.then_some(file).ok_or_else(|| "not a regular file of one name".to_owned())
}

/// Opens without following a link at the end of a file's path, and without waiting for the other end of a FIFO.
fn open(path: &Path, flags: OFlags) -> rustix::io::Result<File> {
    let follow = if flags.contains(OFlags::DIRECTORY) { OFlags::empty() } else { OFlags::NOFOLLOW };
    let flags = flags | follow | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::from_raw_mode(0o644)).map(File::from)
}

fn id(file: &File) -> io::Result<Id> {
    file.metadata().map(|meta| (meta.dev(), meta.ino()))
}

fn own() -> std::sync::MutexGuard<'static, Vec<Id>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sessions and processes that wrote their line and still live.
fn lines(file: &File) -> Vec<(String, i32)> {
    let mut bytes = Vec::new();
    // From the start: the descriptor may have been read before. Writing appends wherever it stands.
    let rewound = rustix::fs::seek(file, rustix::fs::SeekFrom::Start(0)).is_ok();
    if !rewound || file.take(MOST).read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let parsed = text.lines().filter_map(|line| {
        let (session, pid) = line.rsplit_once(' ')?;
        Some((neutral(session), pid.parse::<i32>().ok()?))
    });
    parsed.filter(|(_, pid)| lives(*pid)).collect()
}

fn lives(pid: i32) -> bool {
    // Anything but "no such process" is a sign of life, a refusal above all.
    Pid::from_raw(pid.max(0)).is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

fn named(holders: &[(String, i32)]) -> String {
    match holders.first() {
        Some((session, pid)) => format!("session {session}, process {pid}"),
        None => "a session that left no name".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Vec<PathBuf>) {
        let directory = tempfile::tempdir().unwrap();
        let places = vec![directory.path().to_owned()];
        (directory, places)
    }

    #[test]
    fn a_node_is_held_until_the_hold_is_dropped() {
        let (_keep, places) = place();
        assert_eq!(holder_in(&places, &[]), None);
        let hold = take_in(&places, "a b", &[]).unwrap();
        let who = format!("session a b, process {}", std::process::id());
        assert_eq!(holder_in(&places, &[]), Some(who.clone()));
        assert_eq!(holder_in(&places, &own().clone()), None);
        assert_eq!(take_in(&places, "other", &[]).unwrap_err(), format!("the node is held by {who}"));
        drop(hold);
        assert_eq!(holder_in(&places, &[]), None);
        assert_eq!(std::fs::read(places[0].join(FILE)).unwrap(), b"");
        drop(take_in(&places, "other", &[]).unwrap());
    }

    #[test]
    fn agents_of_one_session_share_the_node_but_no_directory() {
        let (_keep, places) = place();
        let target = tempfile::tempdir().unwrap();
        let target = target.path().to_owned();
        let first = take_in(&places, "s", &[target.clone(), target.join(".")]).unwrap();
        let second = take_in(&places, "s", &[]).unwrap();
        assert!(take_in(&places, "s", std::slice::from_ref(&target)).unwrap_err().contains("in use"));
        drop(first);
        assert!(take_in(&places, "t", &[]).unwrap_err().contains("session s"), "held until the last has left");
        let third = take_in(&places, "s", &[target]).unwrap();
        drop((second, third));
        assert_eq!(holder_in(&places, &[]), None);
    }

    #[test]
    fn either_place_being_held_is_enough() {
        let (_keep, mut places) = place();
        let (_other, more) = place();
        let hold = take_in(&places, "s", &[]).unwrap();
        places.insert(0, more[0].clone());
        places.insert(0, PathBuf::from("/proc/self/no-such-place"));
        assert!(take_in(&places, "t", &[]).unwrap_err().contains("session s"));
        assert_eq!(holder_in(&more, &[]), None, "a failed attempt gives back what it took");
        drop(hold);
    }

    #[test]
    fn a_name_left_by_the_dead_is_not_told() {
        let (_keep, places) = place();
        std::fs::write(places[0].join(FILE), "old 2147483646\nx\n\u{1b} 0\n -5\n").unwrap();
        let file = open(&places[0].join(FILE), OFlags::empty()).unwrap();
        assert_eq!(holder_in(&places, &[]), None);
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(holder_in(&places, &[]).as_deref(), Some("a session that left no name"));
        assert!(take_in(&places, "old", &[]).is_err());
    }

    #[test]
    fn links_and_fifos_in_the_place_are_refused() {
        let (keep, places) = place();
        let victim = keep.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, places[0].join(FILE)).unwrap();
        assert!(take_in(&places, "s", &[]).unwrap_err().contains("symbolic link"));
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        std::fs::remove_file(places[0].join(FILE)).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            places[0].join(FILE),
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        assert!(take_in(&places, "s", &[]).unwrap_err().contains("not a regular file of one name"));
        assert_eq!(holder_in(&places, &[]), None);
    }

    #[test]
    fn a_directory_that_is_none_is_refused_and_the_node_given_back() {
        let (keep, places) = place();
        let file = keep.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(take_in(&places, "s", &[file]).is_err());
        assert!(take_in(&places, "s", &[keep.path().join("missing")]).is_err());
        assert_eq!(holder_in(&places, &[]), None);
    }
}
