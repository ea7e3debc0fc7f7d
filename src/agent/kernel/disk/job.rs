//! What an engine is to do, and the account of what it did; the same for all engines.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use super::access::{Access, Kind};
use super::content::Stamps;
use super::cost::Window;
use super::file::Target;
use super::pace::Pace;
use super::tally::Tally;
use crate::agent::kernel::{KernelError, Stop};
use crate::agent::meter::{Lane, Meter};
use crate::vocab::moment::Moment;
use crate::vocab::random::{below, split_mix};

/// The longest that anything waits without a look at the stop, in nanoseconds.
const PATIENCE: u64 = 50_000_000;

/// Accesses to a part of a file: one pass over it, or until a window ends.
pub(super) struct Job<'a> {
    /// Counted from 0.
    pub(super) number: usize,
    pub(super) target: &'a Target,
    /// What a copy reads.
    pub(super) source: Option<&'a Target>,
    pub(super) access: Access,
    /// Bytes of the file that are accessed.
    pub(super) part: std::ops::Range<u64>,
    pub(super) seed: u64,
    pub(super) window: Option<Window>,
    /// None while a file is laid out, which is not counted.
    pub(super) meter: Option<&'a Meter>,
    pub(super) stop: &'a Stop,
    pub(super) pace: Option<&'a Pace>,
    pub(super) stamps: Option<&'a Stamps>,
    /// Bytes after which no other operation starts.
    pub(super) most: u64,
    pub(super) progress: Progress,
    pub(super) shared: &'a Shared,
}

/// What the threads of a job share.
#[derive(Default)]
pub(super) struct Progress {
    next: AtomicU64,
    begun: AtomicU64,
}

/// What all jobs share.
#[derive(Default)]
pub(super) struct Shared {
    /// Bytes transferred so far, within the window and out of it; of a copy, those written.
    bytes: AtomicU64,
    /// Those of them that were written.
    written: AtomicU64,
    failed: AtomicBool,
}

impl Shared {
    /// Goes on where others have done so many bytes.
    pub(super) fn after(bytes: u64) -> Self {
        Self { bytes: AtomicU64::new(bytes), ..Self::default() }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    pub(super) fn written(&self) -> u64 {
        self.written.load(Relaxed)
    }
}

/// What one thread keeps from one operation to the next.
pub(super) struct Course {
    random: u64,
    unsynced: (u32, u32),
}

impl Course {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: seed, unsynced: (0, 0) }
    }
}

/// An operation under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    pub(super) offset: u64,
    pub(super) length: usize,
    /// Bytes of it that earlier, short transfers have done.
    pub(super) done: usize,
    started: u64,
}

/// What a thread does next.
pub(super) enum Next {
    Do(Operation),
    /// Nothing before this moment, in nanoseconds.
    Wait(u64),
    /// The job is over, stopped or has failed.
    Over,
}

/// Where an operation is shown: the lane of its thread, and its slot there.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) thread: usize,
    pub(super) slot: usize,
}

/// Now, in nanoseconds of the clock that moments are made of.
pub(super) fn nanoseconds() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sleeps until a moment, or for as long as a stop may wait.
pub(super) fn nap(until: u64) {
    std::thread::sleep(std::time::Duration::from_nanos(until.saturating_sub(nanoseconds()).min(PATIENCE)));
}

impl Job<'_> {
    /// The next operation at `now`.
    pub(super) fn next(&self, course: &mut Course, now: u64) -> Next {
        let over = self.window.is_some_and(|w| now >= w.end);
        if over || self.stop.asked() || self.shared.failed.load(Relaxed) {
            return Next::Over;
        }
        if let Some(kind) = self.sync_due(course) {
            return Next::Do(Operation { kind, ..Operation::default() });
        }
        let block = self.access.block as u64;
        if self.progress.begun.load(Relaxed) >= self.most {
            return Next::Over;
        }
        if let Some(until) = self.pace.and_then(|pace| pace.take(self.access.block, now).err()) {
            return Next::Wait(until.min(now + PATIENCE));
        }
        if self.most < u64::MAX && self.progress.begun.fetch_add(block, Relaxed) >= self.most {
            return Next::Over;
        }
        let blocks = (self.part.end - self.part.start).div_ceil(block).max(1);
        let number = if self.access.random {
            below(&mut course.random, blocks)
        } else {
            self.progress.next.fetch_add(1, Relaxed)
        };
        if self.window.is_none() && number >= blocks {
            return Next::Over;
        }
        let offset = self.part.start + number % blocks * block;
        let kind = self.kind(course);
        Next::Do(Operation { kind, offset, length: block.min(self.part.end - offset) as usize, done: 0, started: 0 })
    }

    fn kind(&self, course: &mut Course) -> Kind {
        let kind = match self.access {
            Access { copy: true, .. } => Kind::Fetch,
            Access { reads: 0, .. } => Kind::Write,
            Access { reads: 100.., .. } => Kind::Read,
            Access { reads, .. } if split_mix(&mut course.random) % 100 < u64::from(reads) => Kind::Read,
            _ => Kind::Write,
        };
        if kind != Kind::Read {
            course.unsynced = (course.unsynced.0 + 1, course.unsynced.1 + 1);
        }
        kind
    }

    /// The flush that so many writes of this thread ask for.
    fn sync_due(&self, course: &mut Course) -> Option<Kind> {
        let is_due = |every: u32, writes: u32| every > 0 && writes >= every;
        if is_due(self.access.fsync_every, course.unsynced.0) {
            course.unsynced = (0, 0);
            return Some(Kind::Sync);
        }
        is_due(self.access.fdatasync_every, course.unsynced.1).then(|| {
            course.unsynced.1 = 0;
            Kind::DataSync
        })
    }

    /// The file that an operation is for; an operation of a copy changes it.
    pub(super) fn file(&self, kind: Kind) -> &Target {
        if kind == Kind::Fetch { self.source.unwrap_or(self.target) } else { self.target }
    }

    fn lane(&self, place: Place) -> Option<&Lane> {
        self.meter.map(|meter| meter.lane(place.thread))
    }

    /// To be called before a write goes to the kernel, with its whole buffer, its content already in it.
    pub(super) fn stamp(&self, operation: &Operation, buffer: &mut [u8]) {
        if let Some(stamps) = self.stamps {
            stamps.stamp(buffer, operation.offset);
            stamps.note(operation.offset);
        }
    }

    /// To be called right before the operation goes to the kernel, at `now`.
    pub(super) fn begin(&self, operation: &mut Operation, place: Place, now: u64) {
        operation.started = now;
        if let Some(lane) = self.lane(place) {
            lane.begin(place.slot, Moment(now / 1000));
        }
    }

    /// To be called with what the kernel said of an operation; true when it is complete, false when what is left of it must go to
    /// the kernel again.
    pub(super) fn ended(
        &self,
        operation: &mut Operation,
        result: Result<usize, Errno>,
        (place, now): (Place, u64),
        tally: &mut Tally,
    ) -> Result<bool, KernelError> {
        match result {
            Err(Errno::INTR | Errno::AGAIN) => Ok(false),
            Err(errno) => Err(self.failed(operation, errno, place)),
            Ok(_) if operation.kind.is_sync() => {
                self.close(operation, (place, now), tally);
                Ok(true)
            }
            Ok(0) => Err(self.failed(operation, Errno::NODATA, place)),
            Ok(bytes) => Ok(self.transferred(operation, bytes, (place, now), tally)),
        }
    }

    fn transferred(&self, operation: &mut Operation, bytes: usize, at: (Place, u64), tally: &mut Tally) -> bool {
        operation.done += bytes;
        let whole = operation.done >= operation.length;
        if operation.kind == Kind::Fetch {
            if whole {
                (operation.kind, operation.done) = (Kind::Write, 0);
                if let Some(stamps) = self.stamps {
                    stamps.note(operation.offset);
                }
            }
            return false;
        }
        self.shared.bytes.fetch_add(bytes as u64, Relaxed);
        if operation.kind == Kind::Write {
            self.shared.written.fetch_add(bytes as u64, Relaxed);
        }
        if let Some(lane) = self.lane(at.0) {
            lane.add(self.access.meters().0, bytes as u64);
        }
        if whole {
            self.close(operation, at, tally);
        }
        whole
    }

    fn close(&self, operation: &Operation, (place, now): (Place, u64), tally: &mut Tally) {
        let took = now.saturating_sub(operation.started);
        if let Some(lane) = self.lane(place) {
            lane.end(place.slot);
            if !operation.kind.is_sync() {
                lane.add(self.access.meters().1, 1);
                lane.took(took);
            }
        }
        if self.window.is_some_and(|w| (w.begin..w.end).contains(&now)) {
            tally.count(operation.kind, operation.length as u64, took, now);
        }
    }

    /// To be called for an operation that failed; no other starts after it.
    pub(super) fn failed(&self, operation: &Operation, errno: Errno, place: Place) -> KernelError {
        self.shared.failed.store(true, Relaxed);
        if let Some(lane) = self.lane(place) {
            lane.end(place.slot);
        }
        let bytes = self.shared.bytes();
        if operation.kind.is_sync() {
            return self.target.meaning(errno, &format!("when flushing after {bytes} bytes"));
        }
        let offset = operation.offset + operation.done as u64;
        self.file(operation.kind).meaning(errno, &format!("at offset {offset} after {bytes} bytes"))
    }
}
