//! The engine for kernels without `io_uring`: one thread for each operation in flight.

use std::os::unix::fs::FileExt;

use rustix::io::Errno;

use super::buffer::Aligned;
use super::cost::Cost;
use super::job::{Job, Place, Tally, nanoseconds};
use crate::agent::kernel::KernelError;
use crate::agent::kernel::random::Bytes;
use crate::agent::kernel::threads::{Gate, each};

/// Does a job; thread i is shown on lane i.
pub(super) fn run(job: &Job<'_>) -> Result<Tally, KernelError> {
    let depth = job.access.depth;
    // Not pinned: they wait for the device, and the scheduler knows better where to wake them.
    let tallies = each(&[], &Gate::new(depth), vec![(); depth], |thread, ()| work(job, thread))?;
    let mut whole = Tally::new()?;
    for tally in tallies {
        whole.merge(&tally?)?;
    }
    Ok(whole)
}

fn work(job: &Job<'_>, thread: usize) -> Result<Tally, KernelError> {
    let place = Place { thread, slot: 0 };
    let mut tally = Tally::new()?;
    let mut buffer = Aligned::new(job.access.block, job.target.alignment)?;
    let mut random = job.seed.wrapping_add(thread as u64);
    let mut content = Bytes::new(random);
    let mut cost = Cost::new(job.window);
    while let Some(mut operation) = job.next(&mut random) {
        if job.access.write {
            content.fill(buffer.part(0..operation.length));
        }
        job.begin(&mut operation, place);
        loop {
            let offset = operation.offset + operation.done as u64;
            let rest = buffer.part(operation.done..operation.length);
            let file = &job.target.file;
            let result = if job.access.write { file.write_at(rest, offset) } else { file.read_at(rest, offset) };
            match result {
                Ok(0) => return Err(job.failed(&operation, Errno::NODATA, place)),
                Ok(bytes) => {
                    let now = nanoseconds();
                    cost.look(now);
                    if job.transferred(&mut operation, bytes, (place, now), &mut tally) {
                        break;
                    }
                }
                Err(error) => match Errno::from_io_error(&error).unwrap_or(Errno::IO) {
                    Errno::INTR | Errno::AGAIN => {}
                    errno => return Err(job.failed(&operation, errno, place)),
                },
            }
        }
    }
    tally.took(&cost);
    Ok(tally)
}
