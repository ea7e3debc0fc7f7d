//! The engine with Linux asynchronous I/O (`io_submit(2)`), for kernels without `io_uring`: one thread and one context for a job.
#![allow(
    unsafe_code,
    reason = "the C library has no such calls; the kernel reads and writes the buffers of submitted operations"
)]

use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;

use rustix::io::Errno;

use super::access::Kind;
use super::cost::Cost;
use super::job::{Job, Next, nanoseconds, nap};
use super::slots::Slots;
use super::tally::Tally;
use crate::agent::kernel::KernelError;

/// `IOCB_CMD_PREAD` and `IOCB_CMD_PWRITE` of `linux/aio_abi.h`.
const PREAD: u16 = 0;
const PWRITE: u16 = 1;

/// `struct iocb` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Block {
    data: u64,
    /// `aio_key` and `aio_rw_flags`, whose order depends on the byte order; both are zero here.
    key_and_flags: [u32; 2],
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_file: u32,
}

/// `struct io_event` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    block: u64,
    result: i64,
    result2: i64,
}

/// An `aio_context_t`.
struct Context(libc::c_ulong);

impl Context {
    fn new(depth: usize) -> Result<Self, Errno> {
        let mut id: libc::c_ulong = 0;
        // SAFETY: the kernel writes a context's number to `id`, which is zero as it must be.
        checked(unsafe { libc::syscall(libc::SYS_io_setup, depth as libc::c_ulong, &raw mut id) })?;
        Ok(Self(id))
    }

    /// How many of the blocks the kernel has taken.
    ///
    /// # Safety
    /// The blocks point to buffers that nobody touches, moves or frees until their operations have ended.
    unsafe fn submit(&self, blocks: &mut [*mut Block]) -> Result<usize, Errno> {
        let number = blocks.len() as libc::c_long;
        // SAFETY: so many pointers to blocks, which the kernel copies; the caller answers for the buffers.
        checked(unsafe { libc::syscall(libc::SYS_io_submit, self.0, number, blocks.as_mut_ptr()) })
    }

    /// Waits for at least one event, until that moment at the latest.
    fn wait(&self, events: &mut [Event], until: Option<u64>) -> Result<usize, Errno> {
        let left = until.map(|until| libc::timespec {
            tv_sec: 0,
            tv_nsec: until.saturating_sub(nanoseconds()).min(999_999_999) as libc::c_long,
        });
        let left = left.as_ref().map_or(std::ptr::null(), |left| &raw const *left);
        let room = events.len() as libc::c_long;
        // SAFETY: the kernel writes no more events than there is room for; the time is null or lives through the call.
        let got = unsafe {
            libc::syscall(libc::SYS_io_getevents, self.0, 1 as libc::c_long, room, events.as_mut_ptr(), left)
        };
        checked(got)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it is ours and not used afterwards; the call waits for what is under way.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

fn checked(result: libc::c_long) -> Result<usize, Errno> {
    let errno = || Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO);
    usize::try_from(result).map_err(|_| errno())
}

/// Whether the kernel gives us a context for so many operations, and why not.
pub(super) fn probe(depth: usize) -> Result<(), String> {
    Context::new(depth).map(|_| ()).map_err(|errno| std::io::Error::from(errno).to_string())
}

/// Does a job, shown on this lane slot by slot.
pub(super) fn run(job: &Job<'_>, lane: usize) -> Result<Tally, KernelError> {
    let mut flight = Flight::new(job, lane)?;
    let (mut tally, mut cost) = (Tally::new(job.access)?, Cost::new(job.window));
    let mut events = vec![Event::default(); job.access.depth];
    let (mut failure, mut now) = (None, nanoseconds());
    loop {
        let until = flight.refill(now, &mut tally)?;
        if flight.aloft == 0 {
            let Some(until) = until else { break };
            nap(until);
            now = nanoseconds();
            continue;
        }
        let got = match flight.context.wait(&mut events, until) {
            Err(Errno::INTR | Errno::AGAIN) => 0,
            other => other.map_err(|errno| broken("io_getevents", errno))?,
        };
        now = nanoseconds();
        cost.look(now);
        flight.aloft -= got;
        for event in &events[..got] {
            let slot = event.data as usize;
            let result = usize::try_from(event.result).map_err(|_| Errno::from_raw_os_error(-event.result as i32));
            let place = flight.slots.place(slot);
            match job.ended(&mut flight.slots.operations[slot], result, (place, now), &mut tally) {
                Ok(true) => flight.slots.idle.push(slot),
                Ok(false) => flight.submit(slot)?,
                Err(error) => drop(failure.get_or_insert(error)),
            }
        }
    }
    tally.took(&cost);
    failure.map_or(Ok(tally), Err)
}

fn broken(call: &str, errno: Errno) -> KernelError {
    KernelError::Broken(format!("{call}: {}", std::io::Error::from(errno)))
}

/// Operations in the kernel's hands, with the memory that it may touch until they have ended.
struct Flight<'a> {
    context: ManuallyDrop<Context>,
    slots: ManuallyDrop<Slots<'a>>,
    blocks: Vec<Block>,
    aloft: usize,
}

impl<'a> Flight<'a> {
    fn new(job: &'a Job<'a>, lane: usize) -> Result<Self, KernelError> {
        let depth = job.access.depth;
        let refused = |errno| KernelError::Unavailable(format!("no Linux AIO: {}", std::io::Error::from(errno)));
        let context = ManuallyDrop::new(Context::new(depth).map_err(refused)?);
        let slots = ManuallyDrop::new(Slots::new(job, lane, depth, job.seed)?);
        Ok(Self { context, slots, blocks: vec![Block::default(); depth], aloft: 0 })
    }

    /// Gives every idle slot an operation; when the job has none before a moment, that moment.
    fn refill(&mut self, now: u64, tally: &mut Tally) -> Result<Option<u64>, KernelError> {
        let mut now = now;
        while let Some(slot) = self.slots.idle.pop() {
            match self.slots.next(slot, now) {
                Next::Do(operation) => {
                    now = nanoseconds();
                    let (job, place) = (self.slots.job, self.slots.place(slot));
                    job.begin(&mut self.slots.operations[slot], place, now);
                    if operation.kind.is_sync() { self.sync(slot, tally)? } else { self.submit(slot)? }
                }
                next => {
                    self.slots.idle.push(slot);
                    return Ok(if let Next::Wait(until) = next { Some(until) } else { None });
                }
            }
        }
        Ok(None)
    }

    /// A flush at once: kernels before 4.18 know no other, and fio's `libaio` does the same.
    fn sync(&mut self, slot: usize, tally: &mut Tally) -> Result<(), KernelError> {
        let (job, place) = (self.slots.job, self.slots.place(slot));
        let file = &job.target.file;
        let all = self.slots.operations[slot].kind == Kind::Sync;
        let result = if all { rustix::fs::fsync(file) } else { rustix::fs::fdatasync(file) };
        let operation = &mut self.slots.operations[slot];
        job.ended(operation, result.map(|()| 0), (place, nanoseconds()), tally)?;
        self.slots.idle.push(slot);
        Ok(())
    }

    /// Submits what is left of the operation in a slot.
    fn submit(&mut self, slot: usize) -> Result<(), KernelError> {
        let kind = self.slots.operations[slot].kind;
        let file = self.slots.job.file(kind).file.as_raw_fd();
        let (rest, offset) = self.slots.rest(slot);
        self.blocks[slot] = Block {
            data: slot as u64,
            opcode: if kind == Kind::Write { PWRITE } else { PREAD },
            file: file as u32,
            buffer: rest.as_mut_ptr() as u64,
            bytes: rest.len() as u64,
            offset: offset as i64,
            ..Block::default()
        };
        loop {
            // SAFETY: the buffer of a slot belongs to its operation until that has ended, and is not freed before (see `drop`).
            let taken = unsafe { self.context.submit(&mut [&raw mut self.blocks[slot]]) };
            match taken {
                Ok(_) => break,
                Err(Errno::INTR | Errno::AGAIN) => std::thread::yield_now(),
                Err(errno) => {
                    let place = self.slots.place(slot);
                    return Err(self.slots.job.failed(&self.slots.operations[slot], errno, place));
                }
            }
        }
        self.aloft += 1;
        Ok(())
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        // SAFETY: each is dropped once, here, and not used afterwards; the context first, which waits for what is under way, so
        // that the buffers are free when they go.
        unsafe {
            ManuallyDrop::drop(&mut self.context);
            ManuallyDrop::drop(&mut self.slots);
        }
    }
}
