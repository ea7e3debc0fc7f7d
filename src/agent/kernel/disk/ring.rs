//! The engine with `io_uring`: one thread and one ring for a job.
#![allow(unsafe_code, reason = "the kernel reads and writes the buffers of queued operations")]

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use rustix::io::Errno;

use super::access::Kind;
use super::cost::Cost;
use super::job::{Job, Next, nanoseconds, nap};
use super::slots::Slots;
use super::tally::Tally;
use crate::agent::kernel::KernelError;

/// Numbers of the registered files.
const TARGET: Fixed = Fixed(0);
const SOURCE: Fixed = Fixed(1);

/// Operations that go to the kernel in one call. One by one the device never waits for us, and every operation pays for its call;
/// all at once, it has nothing to do while they are made ready. Measured at depth 32: four take two thirds of the CPU time of one, at
/// the same rate on a real disk and half as much again in memory.
const CHUNK: usize = 4;
/// The largest block of which four are made ready in no time, in bytes.
const SMALL: usize = 16 << 10;

/// Whether the kernel gives us a ring for so many operations, and why not.
pub(super) fn probe(depth: usize) -> Result<(), String> {
    build(depth).map(|_| ()).map_err(|error| error.to_string())
}

/// Does a job, shown on this lane slot by slot.
pub(super) fn run(job: &Job<'_>, lane: usize) -> Result<Tally, KernelError> {
    let mut flight = Flight::new(job, lane)?;
    let (mut tally, mut cost) = (Tally::new(job.access)?, Cost::new(job.window));
    let mut failure = None;
    let mut ended = Vec::with_capacity(job.access.depth);
    let mut now = nanoseconds();
    loop {
        let until = flight.refill(now)?;
        if flight.aloft == 0 {
            let Some(until) = until else { break };
            nap(until);
            now = nanoseconds();
            continue;
        }
        flight.wait(until)?;
        // One look at the clock for all that were complete when the kernel came back.
        now = nanoseconds();
        cost.look(now);
        ended.extend(flight.ring.completion().map(|entry| (entry.user_data() as usize, entry.result())));
        flight.aloft -= ended.len();
        for (slot, result) in ended.drain(..) {
            let result = if result < 0 { Err(Errno::from_raw_os_error(-result)) } else { Ok(result as usize) };
            let place = flight.slots.place(slot);
            match job.ended(&mut flight.slots.operations[slot], result, (place, now), &mut tally) {
                Ok(true) => flight.slots.idle.push(slot),
                Ok(false) => flight.push(slot)?,
                Err(error) => drop(failure.get_or_insert(error)),
            }
        }
    }
    tally.took(&cost);
    failure.map_or(Ok(tally), Err)
}

/// Operations in the kernel's hands, with the memory that it may touch until they have ended.
struct Flight<'a> {
    ring: IoUring,
    slots: ManuallyDrop<Slots<'a>>,
    /// Whether the kernel knows the buffers beforehand.
    fixed: bool,
    /// Pushed and not yet ended.
    aloft: usize,
    /// Slots that were pushed and are not yet submitted for the first time.
    fresh: Vec<usize>,
    chunk: usize,
}

impl<'a> Flight<'a> {
    fn new(job: &'a Job<'a>, lane: usize) -> Result<Self, KernelError> {
        let depth = job.access.depth;
        let refused = |error: io::Error| KernelError::Unavailable(format!("no io_uring: {error}"));
        let ring = build(depth).map_err(refused)?;
        let mut slots = Slots::new(job, lane, depth, job.seed)?;
        let source = job.source.unwrap_or(job.target);
        ring.submitter().register_files(&[job.target.file.as_raw_fd(), source.file.as_raw_fd()]).map_err(refused)?;
        let stride = slots.stride();
        let vectors: Vec<libc::iovec> = slots
            .whole()
            .chunks_mut(stride)
            .map(|part| libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() })
            .collect();
        // SAFETY: the buffers are freed after the ring is (see `drop`), or never.
        let fixed = unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        let chunk = if job.access.block <= SMALL { CHUNK } else { 1 };
        let fresh = Vec::with_capacity(depth);
        Ok(Self { ring, slots: ManuallyDrop::new(slots), fixed, aloft: 0, fresh, chunk })
    }

    /// Gives every idle slot an operation; when the job has none before a moment, that moment.
    fn refill(&mut self, mut now: u64) -> Result<Option<u64>, KernelError> {
        while let Some(slot) = self.slots.idle.pop() {
            match self.slots.next(slot, now) {
                Next::Do(_) => {
                    self.push(slot)?;
                    self.fresh.push(slot);
                }
                next => {
                    self.slots.idle.push(slot);
                    self.begin(nanoseconds());
                    return Ok(if let Next::Wait(until) = next { Some(until) } else { None });
                }
            }
            if self.fresh.len() >= self.chunk && !self.slots.idle.is_empty() {
                now = nanoseconds();
                self.begin(now);
                self.submit(0, None)?;
            }
        }
        if !self.fresh.is_empty() {
            self.begin(nanoseconds());
        }
        Ok(None)
    }

    /// Notes that what was pushed goes to the kernel now.
    fn begin(&mut self, now: u64) {
        for slot in self.fresh.drain(..) {
            let place = self.slots.place(slot);
            let job = self.slots.job;
            job.begin(&mut self.slots.operations[slot], place, now);
        }
    }

    /// Submits what is pushed and waits for a completion, until that moment at the latest.
    fn wait(&mut self, until: Option<u64>) -> Result<(), KernelError> {
        self.submit(1, until)
    }

    fn submit(&self, want: usize, until: Option<u64>) -> Result<(), KernelError> {
        let submitter = self.ring.submitter();
        let result = match until {
            None if want == 0 => submitter.submit(),
            Some(until) if self.ring.params().is_feature_ext_arg() => {
                let left = Timespec::new().nsec((until.saturating_sub(nanoseconds())).min(999_999_999) as u32);
                submitter.submit_with_args(want, &SubmitArgs::new().timespec(&left))
            }
            Some(until) => {
                nap(until);
                submitter.submit()
            }
            None => submitter.submit_and_wait(want),
        };
        match result {
            Err(error) if !again(&error) => Err(KernelError::Broken(format!("io_uring_enter: {error}"))),
            _ => Ok(()),
        }
    }

    /// Queues what is left of the operation in a slot.
    fn push(&mut self, slot: usize) -> Result<(), KernelError> {
        let entry = self.entry(slot).user_data(slot as u64);
        // SAFETY: the buffer of a slot belongs to its operation until that has ended, and is not freed before (see `drop`). The
        // job's files stay open as long.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.map_err(|_| KernelError::Broken("the ring is full".to_owned()))?;
        self.aloft += 1;
        Ok(())
    }

    fn entry(&mut self, slot: usize) -> squeue::Entry {
        let kind = self.slots.operations[slot].kind;
        let mixed = self.slots.operations.len() * usize::from(self.slots.job.access.is_mixed() && kind == Kind::Write);
        let number = (slot + mixed) as u16;
        let (rest, offset) = self.slots.rest(slot);
        let (start, length) = (rest.as_mut_ptr(), rest.len() as u32);
        let file = if kind == Kind::Fetch { SOURCE } else { TARGET };
        match (kind, self.fixed) {
            (Kind::Sync, _) => opcode::Fsync::new(TARGET).build(),
            (Kind::DataSync, _) => opcode::Fsync::new(TARGET).flags(FsyncFlags::DATASYNC).build(),
            (Kind::Write, true) => opcode::WriteFixed::new(file, start, length, number).offset(offset).build(),
            (Kind::Write, false) => opcode::Write::new(file, start, length).offset(offset).build(),
            (_, true) => opcode::ReadFixed::new(file, start, length, number).offset(offset).build(),
            (_, false) => opcode::Read::new(file, start, length).offset(offset).build(),
        }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        // After an error of the ring itself operations may still be under way: their memory is then given up, not freed.
        if self.aloft == 0 {
            // SAFETY: dropped once, here, and not used afterwards; no operation is under way that could touch the buffers.
            unsafe { ManuallyDrop::drop(&mut self.slots) };
        }
    }
}

/// A ring that one thread uses, which newer kernels serve with fewer interruptions.
fn build(depth: usize) -> io::Result<IoUring> {
    let entries = (depth as u32).next_power_of_two();
    let mut builder = IoUring::builder();
    builder.setup_single_issuer().setup_defer_taskrun();
    builder.build(entries).or_else(|_| IoUring::new(entries))
}

fn again(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::INTR | Errno::AGAIN | Errno::BUSY | Errno::TIME))
}
