//! Reads back what an iteration has written, and compares it with its stamps.

use std::os::unix::fs::FileExt;

use rustix::fs::Advice;

use super::buffer::Aligned;
use super::content::Stamps;
use super::file::Target;
use super::job::nanoseconds;
use crate::agent::kernel::{KernelError, Stop};
use crate::agent::meter::Meter;
use crate::vocab::moment::Moment;

/// Bytes of one read, where blocks are smaller.
const PIECE: usize = 1 << 20;

/// What is read back of one job, and where it is shown while it is.
pub(super) struct ReadBack<'a> {
    pub(super) target: &'a Target,
    pub(super) stamps: &'a Stamps,
    pub(super) block: usize,
    pub(super) size: u64,
    pub(super) meter: &'a Meter,
    pub(super) lane: usize,
}

impl ReadBack<'_> {
    /// The number of blocks that were compared; the first that is wrong ends it.
    pub(super) fn compare(&self, stop: &Stop) -> Result<u64, KernelError> {
        // Direct reads come from the device in any case.
        let _ = rustix::fs::fadvise(&self.target.file, 0, None, Advice::DontNeed);
        let piece = (PIECE / self.block).max(1) * self.block;
        let mut buffer = Aligned::new(piece, self.target.alignment)?;
        let mut compared = 0;
        for start in (0..self.size).step_by(piece) {
            stop.check()?;
            let end = (start + piece as u64).min(self.size);
            let offsets = (start..end).step_by(self.block);
            if !offsets.clone().any(|offset| self.stamps.is_written(offset)) {
                continue;
            }
            let bytes = buffer.part(0..(end - start) as usize);
            self.read(bytes, start)?;
            for (block, offset) in bytes.chunks(self.block).zip(offsets).filter(|(_, o)| self.stamps.is_written(*o)) {
                if let Some(fault) = self.stamps.fault(block, offset) {
                    let found =
                        format!("verification: the block of {} bytes at offset {offset} has {fault}", self.block);
                    return Err(KernelError::Corrupt(found));
                }
                compared += 1;
            }
        }
        Ok(compared)
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<(), KernelError> {
        let lane = self.meter.lane(self.lane);
        lane.begin(0, Moment(nanoseconds() / 1000));
        let read = self.target.file.read_exact_at(bytes, offset);
        lane.end(0);
        read.map_err(|error| {
            let errno = rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::NODATA);
            self.target.meaning(errno, &format!("at offset {offset} when reading back"))
        })
    }
}
