//! Files as a load is to find them: written once from end to end, or empty; and on the device.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::access::Access;
use super::content::Stamps;
use super::engine::Engine;
use super::file::Target;
use super::job::{Job, Progress, Shared};
use crate::agent::kernel::{KernelError, Stop};
use crate::agent::meter::Meter;
use crate::vocab::plan::Content;

/// Bytes and operations in flight with which a file is laid out.
pub(super) const BLOCK: u64 = 1 << 20;
pub(super) const DEPTH: usize = 8;

/// Bytes of a buffered layout between two flushes, so that none takes long.
const PART: u64 = 64 << 20;
/// The same of a direct one, where it is for telling how far it is.
const DIRECT_PART: u64 = 256 << 20;

/// A file to be written once from end to end.
pub(super) struct Layout<'a> {
    pub(super) target: &'a Target,
    pub(super) engine: &'a Engine,
    /// Bytes of one operation of the load that comes after, and of the file.
    pub(super) block: u64,
    pub(super) size: u64,
    pub(super) seed: u64,
    pub(super) direct: bool,
    pub(super) content: Content,
    pub(super) stamps: Option<&'a Stamps>,
}

impl Layout<'_> {
    /// Writes it, so that reads find data and writes overwrite.
    pub(super) fn write(&self, meter: &Meter, stop: &Stop) -> Result<(), KernelError> {
        let block = BLOCK.max(self.block) / self.block * self.block;
        let access = Access {
            reads: 0,
            copy: false,
            random: false,
            block: block as usize,
            depth: DEPTH,
            fsync_every: 0,
            fdatasync_every: 0,
            content: self.content,
        };
        let piece = if self.direct { DIRECT_PART } else { PART }.next_multiple_of(block);
        let mut start = 0;
        while start < self.size {
            let shared = Shared::after(start);
            let job = Job {
                number: 0,
                target: self.target,
                source: None,
                access,
                part: start..(start + piece).min(self.size),
                seed: self.seed ^ start.rotate_left(32) ^ 0x1a70,
                window: None,
                meter: None,
                stop,
                pace: None,
                stamps: self.stamps,
                most: u64::MAX,
                progress: Progress::default(),
                shared: &shared,
            };
            self.engine.run(std::slice::from_ref(&job))?;
            stop.check()?;
            flush(&[self.target], stop, shared.bytes())?;
            meter.add_prepared(piece.min(self.size - start));
            start += piece;
        }
        Ok(())
    }
}

/// Makes a file a hole of this size.
pub(super) fn empty(target: &Target, size: u64) -> Result<(), KernelError> {
    // A device has no holes.
    if target.raw {
        return Ok(());
    }
    let result = target.file.set_len(0).and_then(|()| target.file.set_len(size));
    let errno = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    result.map_err(|error| target.meaning(errno(error), &format!("when making a hole of {size} bytes")))
}

/// Bytes that the file system has allocated for these files; none when it does not say, and for a device.
pub(super) fn allocated<'a>(targets: impl Iterator<Item = &'a Target>) -> Option<u64> {
    let blocks = |target: &Target| target.file.metadata().ok().filter(|_| !target.raw).map(|m| m.blocks());
    targets.map(|target| blocks(target).map(|blocks| blocks.saturating_mul(512))).sum()
}

/// Flushes files to their device, all at once, and says how long that took. Each flush has a thread of its own, which a stop leaves
/// behind.
pub(super) fn flush(targets: &[&Target], stop: &Stop, bytes: u64) -> Result<Duration, KernelError> {
    let start = Instant::now();
    let (done, results) = channel();
    for (number, target) in targets.iter().enumerate() {
        let (file, done) = (Arc::clone(&target.file), done.clone());
        let flushing = Builder::new().name("flush".to_owned()).spawn(move || done.send((number, sync(&file))));
        flushing.map_err(|e| KernelError::Unavailable(format!("cannot start a thread: {e}")))?;
    }
    drop(done);
    let mut left = targets.len();
    while left > 0 {
        match results.recv_timeout(Duration::from_millis(20)) {
            Ok((_, Ok(()))) => left -= 1,
            Ok((number, Err(errno))) => {
                return Err(targets[number].meaning(errno, &format!("when flushing {bytes} bytes")));
            }
            Err(RecvTimeoutError::Timeout) => stop.check()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(KernelError::Broken("the flushing thread is gone".to_owned()));
            }
        }
    }
    Ok(start.elapsed())
}

fn sync(file: &File) -> Result<(), Errno> {
    rustix::fs::fdatasync(file)
}
