//! The engine with `io_uring`: one thread, every operation in one ring.
#![allow(unsafe_code, reason = "the kernel reads and writes the buffers of queued operations")]

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use super::buffer::Aligned;
use super::cost::Cost;
use super::job::{Job, Operation, Place, Tally, nanoseconds};
use crate::agent::kernel::KernelError;
use crate::agent::kernel::random::Bytes;

/// Whether the kernel gives us a ring for so many operations, and why not.
pub(super) fn probe(depth: usize) -> Result<(), String> {
    build(depth).map(|_| ()).map_err(|error| error.to_string())
}

/// Does a job; everything is shown on lane 0, slot by slot.
pub(super) fn run(job: &Job<'_>) -> Result<Tally, KernelError> {
    let mut flight = Flight::new(job)?;
    let mut failure = None;
    let mut tally = Tally::new()?;
    let mut cost = Cost::new(job.window);
    for slot in 0..job.access.depth {
        flight.start(slot)?;
    }
    let mut ended = Vec::with_capacity(job.access.depth);
    while flight.aloft > 0 {
        match flight.ring.submit_and_wait(1) {
            Err(error) if !again(&error) => return Err(KernelError::Broken(format!("io_uring_enter: {error}"))),
            _ => {}
        }
        // One look at the clock for all that were complete when the kernel came back.
        let now = nanoseconds();
        cost.look(now);
        ended.extend(flight.ring.completion().map(|entry| (entry.user_data() as usize, entry.result())));
        for (slot, result) in ended.drain(..) {
            match flight.end(slot, result, now, &mut tally) {
                Ok(true) => flight.start(slot)?,
                Ok(false) => flight.queue(slot)?,
                Err(error) => drop(failure.get_or_insert(error)),
            }
        }
    }
    tally.took(&cost);
    failure.map_or(Ok(tally), Err)
}

/// Operations in the kernel's hands, with the memory that it may touch until they have ended.
struct Flight<'a> {
    job: &'a Job<'a>,
    ring: IoUring,
    buffers: ManuallyDrop<Aligned>,
    operations: Vec<Operation>,
    aloft: usize,
    random: u64,
    content: Bytes,
}

impl<'a> Flight<'a> {
    fn new(job: &'a Job<'a>) -> Result<Self, KernelError> {
        let depth = job.access.depth;
        let ring = build(depth).map_err(|error| KernelError::Unavailable(format!("no io_uring: {error}")))?;
        let buffers = ManuallyDrop::new(Aligned::new(depth * stride(job), job.target.alignment)?);
        let operations = vec![Operation::default(); depth];
        Ok(Self { job, ring, buffers, operations, aloft: 0, random: job.seed, content: Bytes::new(job.seed) })
    }

    /// Queues the next operation of the job in a free slot, if there is one.
    fn start(&mut self, slot: usize) -> Result<(), KernelError> {
        let Some(operation) = self.job.next(&mut self.random) else { return Ok(()) };
        if self.job.access.write {
            let start = slot * stride(self.job);
            self.content.fill(self.buffers.part(start..start + operation.length));
        }
        self.operations[slot] = operation;
        self.job.begin(&mut self.operations[slot], Place { thread: 0, slot });
        self.queue(slot)
    }

    /// Queues what is left of the operation in a slot.
    fn queue(&mut self, slot: usize) -> Result<(), KernelError> {
        let Operation { offset, length, done, .. } = self.operations[slot];
        let offset = offset + done as u64;
        let base = slot * stride(self.job);
        let start = self.buffers.part(base + done..base + length).as_mut_ptr();
        let (file, length) = (types::Fd(self.job.target.file.as_raw_fd()), (length - done) as u32);
        let entry = if self.job.access.write {
            opcode::Write::new(file, start, length).offset(offset).build()
        } else {
            opcode::Read::new(file, start, length).offset(offset).build()
        };
        // SAFETY: the buffer of a slot holds `length` bytes from `start` on, belongs to this operation until it has ended, and
        // is not freed before that (see `drop`). The job's file stays open as long.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(slot as u64)) };
        pushed.map_err(|_| KernelError::Broken("the ring is full".to_owned()))?;
        self.aloft += 1;
        Ok(())
    }

    /// Takes what the kernel says of a slot: true when its operation is complete, false when the rest must be queued.
    fn end(&mut self, slot: usize, result: i32, now: u64, tally: &mut Tally) -> Result<bool, KernelError> {
        self.aloft -= 1;
        let place = Place { thread: 0, slot };
        let operation = &mut self.operations[slot];
        match result {
            0 => Err(self.job.failed(operation, Errno::NODATA, place)),
            1.. => Ok(self.job.transferred(operation, result as usize, (place, now), tally)),
            _ => match Errno::from_raw_os_error(-result) {
                Errno::INTR | Errno::AGAIN => Ok(false),
                errno => Err(self.job.failed(operation, errno, place)),
            },
        }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        // After an error of the ring itself operations may still be under way: their memory is then given up, not freed.
        if self.aloft == 0 {
            // SAFETY: dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        }
    }
}

/// Bytes from one slot's buffer to the next.
fn stride(job: &Job<'_>) -> usize {
    job.access.block.next_multiple_of(job.target.alignment)
}

/// A ring that one thread uses, which newer kernels serve with fewer interruptions.
fn build(depth: usize) -> io::Result<IoUring> {
    let entries = (depth as u32).next_power_of_two();
    let mut builder = IoUring::builder();
    builder.setup_single_issuer().setup_defer_taskrun();
    builder.build(entries).or_else(|_| IoUring::new(entries))
}

fn again(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::INTR | Errno::AGAIN | Errno::BUSY))
}
