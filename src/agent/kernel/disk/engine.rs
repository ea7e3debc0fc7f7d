//! Who keeps the operations in flight, and why.

use super::job::Job;
use super::tally::Tally;
use super::{aio, pool, ring};
use crate::agent::kernel::KernelError;
use crate::agent::kernel::threads::{Gate, each};
use crate::vocab::plan::{Disk, EngineChoice};

/// The engine that runs; the words say why not one before it, or that it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Ring(String),
    Aio(String),
    Threads(String),
}

impl Engine {
    /// The first that this kernel lets us have, or the one that the plan asks for.
    pub(super) fn choose(load: &Disk, depth: usize) -> Result<Self, KernelError> {
        let asked = || "as the plan says".to_owned();
        let missing = |name: &str, why: &str| format!("no {name}: {why}");
        let refused = |name: &str, why: &str| KernelError::Unavailable(missing(name, why));
        match load.engine {
            EngineChoice::Uring => {
                ring::probe(depth).map_err(|why| refused("io_uring", &why)).map(|()| Self::Ring(asked()))
            }
            EngineChoice::Aio => {
                aio::probe(depth).map_err(|why| refused("Linux AIO", &why)).map(|()| Self::Aio(asked()))
            }
            EngineChoice::Threads => Ok(Self::Threads(asked())),
            EngineChoice::Auto => Ok(Self::best(ring::probe(depth), load.is_direct(), || aio::probe(depth))),
        }
    }

    /// The first of those that can be had.
    fn best(ring: Result<(), String>, direct: bool, aio: impl FnOnce() -> Result<(), String>) -> Self {
        let Err(why) = ring else { return Self::Ring(String::new()) };
        let why = format!("no io_uring: {why}");
        if !direct {
            // It would wait for the page cache in each submission, so that the depth would be one.
            return Self::Threads(why);
        }
        match aio() {
            Ok(()) => Self::Aio(why),
            Err(none) => Self::Threads(format!("{why}; no Linux AIO: {none}")),
        }
    }

    /// For the label: `io_uring`, `Linux AIO (no io_uring: …)`, `4 threads (as the plan says)`.
    pub(super) fn words(&self, depth: u32) -> String {
        let (name, why) = match self {
            Self::Ring(why) => ("io_uring".to_owned(), why),
            Self::Aio(why) => ("Linux AIO".to_owned(), why),
            Self::Threads(why) => (format!("{depth} threads"), why),
        };
        if why.is_empty() { name } else { format!("{name} ({why})") }
    }

    /// Does jobs, each thread with a lane of its own, and adds up what they did.
    pub(super) fn run(&self, jobs: &[Job<'_>]) -> Result<Tally, KernelError> {
        let threads = |job: &Job<'_>| if matches!(self, Self::Threads(_)) { job.access.depth } else { 1 };
        let parts: Vec<(&Job<'_>, usize)> =
            jobs.iter().flat_map(|job| (0..threads(job)).map(move |i| (job, job.number * threads(job) + i))).collect();
        // Not pinned: they wait for the device, and the scheduler knows better where to wake them.
        let tallies = each(&[], &Gate::new(parts.len()), parts, |_, (job, lane)| match self {
            Self::Ring(_) => ring::run(job, lane),
            Self::Aio(_) => aio::run(job, lane),
            Self::Threads(_) => pool::run(job, lane),
        })?;
        let mut whole: Option<Tally> = None;
        for tally in tallies {
            let tally = tally?;
            match &mut whole {
                Some(whole) => whole.merge(&tally)?,
                None => whole = Some(tally),
            }
        }
        whole.ok_or_else(|| KernelError::Broken("no thread was started".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_can_be_had_is_taken_and_the_others_are_told() {
        let no = || Err("Operation not permitted".to_owned());
        assert_eq!(Engine::best(Ok(()), true, no).words(4), "io_uring");
        assert_eq!(Engine::best(no(), true, || Ok(())).words(4), "Linux AIO (no io_uring: Operation not permitted)");
        let threads = "4 threads (no io_uring: Operation not permitted; no Linux AIO: Operation not permitted)";
        assert_eq!(Engine::best(no(), true, no).words(4), threads);
        let buffered = "4 threads (no io_uring: Operation not permitted)";
        assert_eq!(Engine::best(no(), false, || Ok(())).words(4), buffered);
    }
}
