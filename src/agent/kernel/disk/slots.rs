//! The operations that one thread has in flight, each with its own buffer.

use super::access::Kind;
use super::buffer::Aligned;
use super::content::Source;
use super::job::{Course, Job, Next, Operation, Place};
use crate::agent::kernel::KernelError;

/// The slots of a thread; a slot's buffer belongs to its operation until that has ended.
pub(super) struct Slots<'a> {
    pub(super) job: &'a Job<'a>,
    /// The number of the thread's lane.
    lane: usize,
    pub(super) operations: Vec<Operation>,
    /// Slots without an operation.
    pub(super) idle: Vec<usize>,
    buffers: Aligned,
    stride: usize,
    course: Course,
    source: Source,
}

impl<'a> Slots<'a> {
    /// So many slots, all idle; the seed is the thread's own.
    pub(super) fn new(job: &'a Job<'a>, lane: usize, depth: usize, seed: u64) -> Result<Self, KernelError> {
        let access = job.access;
        let stride = access.block.next_multiple_of(job.target.alignment);
        // What a mixed load reads must not become what it writes.
        let parts = if access.is_mixed() { 2 * depth } else { depth };
        let mut buffers = Aligned::new(parts * stride, job.target.alignment)?;
        let mut source = Source::new(access.content, seed);
        for slot in 0..parts {
            // Also what will be read into: a page that nobody has touched would cost its first read a fault.
            source.prepare(buffers.part(slot * stride..(slot + 1) * stride));
        }
        let idle = (0..depth).rev().collect();
        let operations = vec![Operation::default(); depth];
        Ok(Self { job, lane, operations, idle, buffers, stride, course: Course::new(seed), source })
    }

    pub(super) fn place(&self, slot: usize) -> Place {
        Place { thread: self.lane, slot }
    }

    /// Bytes from the beginning of one buffer to that of the next.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// All buffers, for the kernel to know beforehand.
    pub(super) fn whole(&mut self) -> &mut [u8] {
        self.buffers.part(0..usize::MAX)
    }

    /// Where a slot's buffer begins, among all of them.
    fn base(&self, slot: usize) -> usize {
        let write = self.operations[slot].kind == Kind::Write && self.job.access.is_mixed();
        (slot + if write { self.operations.len() } else { 0 }) * self.stride
    }

    /// Puts the job's next operation into an idle slot, with the content that it writes.
    pub(super) fn next(&mut self, slot: usize, now: u64) -> Next {
        let next = self.job.next(&mut self.course, now);
        if let Next::Do(operation) = next {
            self.operations[slot] = operation;
            if operation.kind == Kind::Write {
                let base = self.base(slot);
                let buffer = self.buffers.part(base..base + operation.length);
                self.source.refresh(buffer);
                self.job.stamp(&operation, buffer);
            }
        }
        next
    }

    /// What of a slot's operation is still to be transferred, and to or from which offset.
    pub(super) fn rest(&mut self, slot: usize) -> (&mut [u8], u64) {
        let Operation { offset, length, done, .. } = self.operations[slot];
        let base = self.base(slot);
        (self.buffers.part(base + done..base + length), offset + done as u64)
    }
}
