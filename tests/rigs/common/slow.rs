//! A file system in user space whose medium does what a test says, while it is used: pace, a cache that fills, errors, hangs.
//! It keeps its one file in memory; only data goes through the gate, so that the directory itself always answers.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyEmpty,
    ReplyEntry, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use super::undo::{Room, Step, Undo};

const TTL: Duration = Duration::from_secs(1);
const FILE: INodeNo = INodeNo(2);

/// Where the data of a write goes besides: a host at the other end of a network, say.
pub(crate) type Sink = Box<dyn FnMut(&[u8]) -> io::Result<()> + Send>;

/// What the medium does.
#[derive(Clone, Copy)]
pub(crate) struct Medium {
    /// Bytes a second while the cache has room.
    pub(crate) fast: f64,
    /// Bytes a second behind it.
    pub(crate) slow: f64,
    /// Bytes that go fast before it is full.
    pub(crate) cache: u64,
    /// An error for everything after so many bytes.
    pub(crate) error: Option<(Errno, u64)>,
    pub(crate) hangs: bool,
}

impl Medium {
    /// Nothing is the matter with it.
    pub(crate) fn healthy(fast: f64) -> Self {
        Self { fast, slow: fast, cache: u64::MAX, error: None, hangs: false }
    }
}

struct Gate {
    medium: Medium,
    /// Bytes since the medium was last changed.
    passed: u64,
    /// When the next byte may pass.
    due: Instant,
    changes: u64,
    open: bool,
}

/// The hand on the medium.
#[derive(Clone)]
pub(crate) struct Hand(Arc<(Mutex<Gate>, Condvar)>);

impl Hand {
    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the medium at once, also for what is under way.
    pub(crate) fn set(&self, medium: Medium) {
        let mut gate = self.gate();
        (gate.medium, gate.passed, gate.due) = (medium, 0, Instant::now());
        gate.changes += 1;
        self.0.1.notify_all();
    }

    fn open(&self) {
        self.gate().open = true;
        self.0.1.notify_all();
    }

    /// Waits as long as the medium takes for so many bytes.
    fn pass(&self, bytes: u64) -> Result<(), Errno> {
        let mut gate = self.gate();
        let mut seen = None;
        while !gate.open {
            let now = Instant::now();
            if gate.medium.hangs {
                gate = self.0.1.wait(gate).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            if seen != Some(gate.changes) {
                seen = Some(gate.changes);
                match gate.medium.error {
                    Some((errno, after)) if gate.passed >= after => return Err(errno),
                    _ => {}
                }
                let full = gate.passed >= gate.medium.cache;
                let rate = if full { gate.medium.slow } else { gate.medium.fast };
                gate.passed += bytes;
                gate.due = gate.due.max(now) + Duration::from_secs_f64(bytes as f64 / rate);
            }
            if now >= gate.due {
                break;
            }
            let rest = gate.due - now;
            gate = self.0.1.wait_timeout(gate, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }
}

type Work = Box<dyn FnOnce(&mut Option<Sink>) + Send>;

struct Files {
    hand: Hand,
    data: Arc<Mutex<Vec<u8>>>,
    worker: Mutex<Sender<Work>>,
}

impl Files {
    fn size(&self) -> u64 {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    fn attributes(&self, ino: INodeNo) -> FileAttr {
        let size = if ino == FILE { self.size() } else { 0 };
        let (kind, perm) = if ino == FILE { (FileType::RegularFile, 0o600) } else { (FileType::Directory, 0o755) };
        let time = UNIX_EPOCH;
        let (blocks, blksize, nlink) = (size.div_ceil(512), 4096, 1);
        let (atime, mtime, ctime, crtime) = (time, time, time, time);
        let (uid, gid, rdev, flags) = (0, 0, 0, 0);
        FileAttr { ino, size, blocks, atime, mtime, ctime, crtime, kind, perm, nlink, uid, gid, rdev, blksize, flags }
    }

    fn later(&self, work: Work) {
        let _ = self.worker.lock().unwrap_or_else(PoisonError::into_inner).send(work);
    }
}

impl Filesystem for Files {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let _ = config.set_max_write(1 << 20);
        let _ = config.set_max_background(64);
        Ok(())
    }

    fn lookup(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEntry) {
        reply.error(Errno::ENOENT);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&TTL, &self.attributes(ino));
    }

    fn create(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).clear();
        reply.created(&TTL, &self.attributes(FILE), Generation(0), FileHandle(1), FopenFlags::empty());
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        if let Some(size) = size {
            self.data.lock().unwrap_or_else(PoisonError::into_inner).resize(size as usize, 0);
        }
        reply.attr(&TTL, &self.attributes(ino));
    }

    fn unlink(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.ok();
    }

    fn access(&self, _: &Request, _: INodeNo, _: fuser::AccessFlags, reply: ReplyEmpty) {
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(1 << 21, 1 << 20, 1 << 20, 10, 7, 4096, 255, 4096);
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let hand = self.hand.clone();
        self.later(Box::new(move |_| match hand.pass(0) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }));
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let (hand, data) = (self.hand.clone(), Arc::clone(&self.data));
        self.later(Box::new(move |_| match hand.pass(u64::from(size)) {
            Ok(()) => {
                let data = data.lock().unwrap_or_else(PoisonError::into_inner);
                let start = data.len().min(offset as usize);
                reply.data(&data[start..data.len().min(start + size as usize)]);
            }
            Err(errno) => reply.error(errno),
        }));
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        bytes: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let (hand, data, bytes) = (self.hand.clone(), Arc::clone(&self.data), bytes.to_vec());
        self.later(Box::new(move |sink| {
            let passed = hand.pass(bytes.len() as u64);
            let sent = sink.as_mut().map_or(Ok(()), |sink| sink(&bytes));
            match passed.and(sent.map_err(|_| Errno::EIO)) {
                Ok(()) => {
                    let mut data = data.lock().unwrap_or_else(PoisonError::into_inner);
                    let (start, end) = (offset as usize, offset as usize + bytes.len());
                    if data.len() < end {
                        data.resize(end, 0);
                    }
                    data[start..end].copy_from_slice(&bytes);
                    reply.written(bytes.len() as u32);
                }
                Err(errno) => reply.error(errno),
            }
        }));
    }
}

/// The file system, mounted until this is dropped; whatever hangs in it is let go then.
pub(crate) struct Slow {
    pub(crate) path: PathBuf,
    pub(crate) hand: Hand,
    _undo: Undo,
    _session: BackgroundSession,
    _room: Room,
}

impl Slow {
    pub(crate) fn new(fast: f64, mut sink: Option<Sink>) -> Result<Self, String> {
        if !Path::new("/dev/fuse").exists() {
            return Err("there is no /dev/fuse".to_owned());
        }
        let room = Room::new()?;
        let path = room.directory("slow")?;
        let gate = Gate { medium: Medium::healthy(fast), passed: 0, due: Instant::now(), changes: 0, open: false };
        let hand = Hand(Arc::new((Mutex::new(gate), Condvar::new())));
        let (worker, works) = channel::<Work>();
        std::thread::spawn(move || works.into_iter().for_each(|work| work(&mut sink)));
        let files = Files { hand: hand.clone(), data: Arc::default(), worker: Mutex::new(worker) };
        let undo = Undo::note(Step::Unmount(path.clone())).map_err(|e| e.to_string())?;
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("shakedown-rig".to_owned())];
        let session = fuser::spawn_mount(files, &path, &config).map_err(|e| format!("no FUSE mount: {e}"))?;
        Ok(Self { path, hand, _undo: undo, _session: session, _room: room })
    }

    /// The server is gone in the middle of the work: everything under way fails.
    pub(crate) fn vanish(&self) {
        let _ = super::undo::run(&["umount", "-f", &self.path.display().to_string()]);
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.hand.open();
    }
}
