//! The engine for kernels without asynchronous access: one thread for each operation in flight.

use std::os::unix::fs::FileExt;

use rustix::io::Errno;

use super::access::Kind;
use super::cost::Cost;
use super::job::{Job, Next, nanoseconds, nap};
use super::slots::Slots;
use super::tally::Tally;
use crate::agent::kernel::KernelError;

/// Does a thread's part of a job, shown on this lane.
pub(super) fn run(job: &Job<'_>, lane: usize) -> Result<Tally, KernelError> {
    let mut slots = Slots::new(job, lane, 1, job.seed.wrapping_add(lane as u64))?;
    let (mut tally, mut cost) = (Tally::new(job.access)?, Cost::new(job.window));
    let mut now = nanoseconds();
    loop {
        match slots.next(0, now) {
            Next::Do(operation) => {
                // What was written into the buffer took time that is not the device's.
                let start = if operation.kind == Kind::Write { nanoseconds() } else { now };
                let place = slots.place(0);
                job.begin(&mut slots.operations[0], place, start);
            }
            Next::Wait(until) => {
                nap(until);
                now = nanoseconds();
                continue;
            }
            Next::Over => break,
        }
        loop {
            let result = transfer(&mut slots);
            now = nanoseconds();
            cost.look(now);
            let place = slots.place(0);
            if job.ended(&mut slots.operations[0], result, (place, now), &mut tally)? {
                break;
            }
        }
    }
    tally.took(&cost);
    Ok(tally)
}

fn transfer(slots: &mut Slots<'_>) -> Result<usize, Errno> {
    let (job, kind) = (slots.job, slots.operations[0].kind);
    let file = &job.file(kind).file;
    let (rest, offset) = slots.rest(0);
    let result = match kind {
        Kind::Sync => return rustix::fs::fsync(file).map(|()| 0),
        Kind::DataSync => return rustix::fs::fdatasync(file).map(|()| 0),
        Kind::Read | Kind::Fetch => file.read_at(rest, offset),
        Kind::Write => file.write_at(rest, offset),
    };
    result.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
