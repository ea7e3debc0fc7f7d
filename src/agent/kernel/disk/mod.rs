//! Reads and writes of files, past the page cache or through it, with a number of operations in flight.

mod access;
mod aio;
mod buffer;
mod command;
mod content;
mod cost;
mod engine;
mod figures;
mod file;
pub(super) mod fitted;
mod job;
mod labels;
mod layout;
mod pace;
mod pool;
mod resident;
mod ring;
mod sense;
mod slots;
mod tally;
mod verify;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use rustix::fs::Advice;

use super::threads::{Gate, each};
use super::{Description, KernelError, Measured, Stop, Takes};
use crate::agent::meter::{Lanes, Meter};
use crate::agent::resources::Resources;
use crate::vocab::event::{MeterSpec, Phase};
use crate::vocab::figure::Figure;
use crate::vocab::moment::Span;
use crate::vocab::plan::{Bound, Disk, Pattern};
use crate::vocab::unit::{Quantity, Unit};
use access::Access;
use content::Stamps;
use cost::Window;
use engine::Engine;
use file::{Place, Target};
use job::{Job, Progress, Shared, nanoseconds};
use layout::Layout;
use pace::Pace;
use tally::Tally;
use verify::ReadBack;

/// What a fast device writes in a second, for the preflight's guess.
const FAST_BYTES_PER_SECOND: f64 = 2e9;

/// What a slow device reads in a second, for the guess at how long a verification takes.
const SLOW_BYTES_PER_SECOND: f64 = 1e8;

/// Percent of its bytes that a file of random ones takes at least where nothing compresses them.
const STORED: f64 = 90.0;

/// Loads files.
pub(super) struct Kernel {
    load: Disk,
    seed: u64,
    files: Vec<Files>,
    directory: PathBuf,
    access: Access,
    engine: Engine,
    /// Bytes of each file: whole blocks.
    size: u64,
}

/// What one job works on.
struct Files {
    target: Target,
    /// What a copy reads.
    source: Option<Target>,
}

impl Kernel {
    pub(super) fn new<'a>(
        load: &Disk,
        seed: u64,
        place: impl Into<Place<'a>>,
        node: &Resources,
    ) -> Result<Self, KernelError> {
        let place = place.into();
        let directory = place.path;
        let unavailable = |why: String| Err(KernelError::Unavailable(why));
        if let Some(why) = sense::nonsense(load) {
            return unavailable(why);
        }
        let open = || Target::open(place, load.is_direct(), load.dsync, node);
        let pair = |_| {
            let source = if load.pattern == Pattern::Copy { Some(open()?) } else { None };
            Ok(Files { target: open()?, source })
        };
        let files = (0..load.jobs).map(pair).collect::<Result<Vec<Files>, KernelError>>()?;
        let (block, unit) = (load.block.0, files.first().map_or(1, |files| files.target.unit));
        if load.is_direct() && !block.is_multiple_of(unit as u64) {
            let directory = directory.display();
            return unavailable(format!(
                "direct access in {directory} needs multiples of {unit} B, not {}",
                load.block
            ));
        }
        let access = Access {
            reads: match load.pattern {
                Pattern::Read | Pattern::RandomRead => 100,
                Pattern::Mixed { reads, .. } => reads,
                Pattern::Write | Pattern::RandomWrite | Pattern::Copy => 0,
            },
            copy: load.pattern == Pattern::Copy,
            random: load.pattern.is_random(),
            block: block as usize,
            depth: load.depth as usize,
            fsync_every: load.fsync_every,
            fdatasync_every: load.fdatasync_every,
            content: load.content,
        };
        let engine = Engine::choose(load, access.depth)?;
        let size = load.size.0 / block * block;
        Ok(Self { load: load.clone(), seed, files, directory: directory.to_owned(), access, engine, size })
    }

    /// Bytes of all files.
    fn whole(&self) -> u64 {
        let each = if self.access.copy { 2 } else { 1 };
        self.size.saturating_mul(u64::from(self.load.jobs)).saturating_mul(each)
    }

    /// Bytes after which each job is through.
    fn most(&self) -> u64 {
        let most = match self.load.bound {
            Bound::Time => u64::MAX,
            Bound::Size => self.size,
            Bound::Bytes(bytes) => (bytes.0 / u64::from(self.load.jobs)).max(1),
        };
        if self.load.is_first_write() { most.min(self.size) } else { most }
    }

    /// Bytes that the plan's own rate lets through in an iteration.
    fn paced(&self) -> u64 {
        let bytes = |rate: Quantity| match rate.unit {
            Unit::Iops => rate.value * self.access.block as f64,
            unit => rate.value * unit.things(),
        };
        let seconds = self.load.time.as_seconds() + self.load.ramp().as_seconds();
        self.load.rate.map_or(u64::MAX, |rate| (bytes(rate) * seconds).ceil() as u64)
    }

    /// Whether MB/s is reckoned to the end of the flush, as the page cache took the writes.
    fn counts_the_flush(&self) -> bool {
        self.access.writes() && !self.load.is_direct() && !self.access.is_mixed()
    }

    fn targets(&self) -> impl Iterator<Item = &Target> {
        self.files.iter().map(|files| &files.target)
    }

    /// The stamps of a job: of what an iteration writes, or, counted from 0, of what a layout does.
    fn stamps(&self, number: usize, iteration: u32) -> Option<Stamps> {
        let generation = (u64::from(iteration) << 32) | (number as u64 + 1);
        self.load.verify.then(|| Stamps::new(self.access.block, self.size / self.access.block as u64, generation))
    }

    /// Writes what reads are to find, and what writes are to overwrite.
    fn lay_out(&self, meter: &Meter, stop: &Stop) -> Result<(), KernelError> {
        let each = |files: &Files| files.source.iter().count() + usize::from(!self.load.is_first_write());
        meter.prepare(self.files.iter().map(each).sum::<usize>() as u64 * self.size);
        for (number, files) in self.files.iter().enumerate() {
            let stamps = self.stamps(number, 0);
            let overwritten = (!self.load.is_first_write()).then_some(&files.target);
            for (target, salt) in files.source.iter().zip([1]).chain(overwritten.into_iter().zip([2])) {
                let layout = Layout {
                    target,
                    engine: &self.engine,
                    block: self.access.block as u64,
                    size: self.size,
                    seed: self.seed ^ ((number as u64) << 8) ^ salt,
                    direct: self.load.is_direct(),
                    content: self.load.content,
                    stamps: stamps.as_ref(),
                };
                layout.write(meter, stop)?;
            }
        }
        Ok(())
    }

    /// Files as each iteration is to find them: out of the page cache, and empty where first writes are measured.
    fn make_ready(&self) -> Result<(), KernelError> {
        for target in self.files.iter().flat_map(|files| files.source.iter().chain([&files.target])) {
            if !self.load.is_direct() {
                // What a system keeps cached in spite of the advice, it would also keep for others.
                let _ = rustix::fs::fadvise(&target.file, 0, None, Advice::DontNeed);
            }
        }
        if self.load.is_first_write() {
            self.targets().try_for_each(|target| layout::empty(target, self.size))?;
        }
        Ok(())
    }

    /// Drives the engine through ramp and window, and says the phases on time even when the device does not answer.
    fn drive(&self, jobs: &[Job<'_>], window: Window, meter: &Meter) -> Result<Tally, KernelError> {
        let (result, drained) = std::thread::scope(|scope| {
            let (alive, ended) = channel::<()>();
            let body = move || {
                let _alive = alive;
                self.engine.run(jobs)
            };
            let engine = Builder::new().name("disk".to_owned()).spawn_scoped(scope, body);
            let engine = engine.map_err(|e| KernelError::Unavailable(format!("cannot start a thread: {e}")))?;
            let mut drained = false;
            if until(window.begin, &ended) {
                meter.phase(Phase::Measure);
                drained = until(window.end, &ended);
                if drained {
                    meter.phase(Phase::Drain);
                }
            }
            let broken = |_| Err(KernelError::Broken("the disk engine panicked".to_owned()));
            Ok::<_, KernelError>((engine.join().unwrap_or_else(broken), drained))
        })?;
        let tally = result?;
        if !drained {
            meter.phase(Phase::Drain);
        }
        Ok(tally)
    }

    /// The window's length in seconds; of a load that was through before its end, the time to its last completion.
    fn seconds(&self, window: Window, ended: u64, tally: &Tally) -> Result<f64, KernelError> {
        let end = if ended < window.end && self.most() < u64::MAX { tally.last } else { window.end };
        if end <= window.begin {
            let why = "the bound was reached before the ramp was over, so nothing was measured";
            return Err(KernelError::Broken(why.to_owned()));
        }
        Ok((end - window.begin) as f64 / 1e9)
    }

    /// Percent of what was written that the file system has allocated; none where nobody can say.
    fn allocated(&self, written: u64) -> Option<f64> {
        let whole = self.size * u64::from(self.load.jobs);
        let expected = match (self.load.is_first_write(), self.access.random) {
            (false, _) => whole,
            (true, false) => written.min(whole),
            // Some blocks were written twice.
            (true, true) => return None,
        };
        let allocated = layout::allocated(self.targets())?;
        (expected > 0).then(|| 100.0 * allocated as f64 / expected as f64)
    }

    /// Reads back what was written, and says how many blocks were compared.
    fn verify(&self, stamps: &[Option<Stamps>], meter: &Meter, stop: &Stop) -> Result<Option<Figure>, KernelError> {
        let lanes = if matches!(self.engine, Engine::Threads(_)) { self.access.depth } else { 1 };
        let all = self.targets().zip(stamps).enumerate().filter_map(|(number, (target, stamps))| {
            let stamps = stamps.as_ref()?;
            let (block, size) = (self.access.block, self.size);
            Some(ReadBack { target, stamps, block, size, meter, lane: number * lanes })
        });
        let all: Vec<ReadBack<'_>> = all.collect();
        if all.is_empty() {
            return Ok(None);
        }
        meter.phase(Phase::Verify);
        let gate = Gate::new(all.len());
        let compared = each(&[], &gate, all, |_, job| job.compare(stop))?;
        let compared = compared.into_iter().sum::<Result<u64, KernelError>>()?;
        Ok(Some(Figure::new("verified_blocks", compared as f64, Unit::Count)))
    }
}

impl super::Kernel for Kernel {
    fn takes(&self) -> Takes {
        let guess = (self.load.time.as_seconds() * FAST_BYTES_PER_SECOND) as u64;
        let buffers = if self.access.is_mixed() { 2 } else { 1 };
        let most = (self.access.block * self.access.depth * self.load.jobs as usize * buffers) as u64;
        let layout = layout::BLOCK.max(self.access.block as u64) * layout::DEPTH as u64;
        let bits = if self.load.verify { self.whole() / self.access.block as u64 / 8 } else { 0 };
        let iteration =
            if self.access.writes() { guess.min(self.most().saturating_mul(u64::from(self.load.jobs))) } else { 0 };
        // Microseconds.
        let read_back = if self.load.verify { (self.whole() as f64 / SLOW_BYTES_PER_SECOND * 1e6) as u64 } else { 0 };
        Takes {
            memory: most.max(layout) + bits,
            disk: self.whole(),
            laid_out: self.whole(),
            writes: iteration.min(self.paced()),
            time: Span(self.load.time.0 + self.load.ramp().0 + read_back),
            loads: true,
        }
    }

    fn describe(&self) -> Description {
        let (jobs, depth) = (self.load.jobs as usize, self.access.depth);
        let lanes = match self.engine {
            Engine::Ring(_) | Engine::Aio(_) => Lanes { threads: jobs, depth, timed: true },
            Engine::Threads(_) => Lanes { threads: jobs * depth, depth: 1, timed: true },
        };
        let mut meters = vec![MeterSpec::new("iops", Unit::Iops, true)];
        meters.insert(self.access.meters().0, MeterSpec::new("mb_per_s", Unit::MegabytesPerSecond, true));
        let command = command::command(&self.load, &self.engine, self.size, &self.directory);
        Description { meters, lanes, labels: labels::labels(self), command, cpus: Vec::new(), bound: None }
    }

    fn prepare(&mut self, meter: &Meter, stop: &Stop) -> Result<(), KernelError> {
        if let Some(target) = self.targets().next() {
            target.has_room(self.whole())?;
        }
        for files in &self.files {
            let overwritten = (!self.load.is_first_write()).then_some(&files.target);
            files.source.iter().chain(overwritten).try_for_each(|target| target.reserve(self.size))?;
        }
        self.lay_out(meter, stop)?;
        let stored = if self.load.is_first_write() { None } else { self.allocated(0) };
        if let Some(stored) = stored.filter(|stored| *stored < STORED) {
            meter.note(format!(
                "{} has allocated {stored:.0} % of what was laid out: it compresses, deduplicates or has not stored it yet",
                self.directory.display(),
            ));
        }
        Ok(())
    }

    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError> {
        self.make_ready()?;
        let iteration = if self.access.copy { 0 } else { meter.iteration() };
        let stamps: Vec<_> = (0..self.files.len()).map(|number| self.stamps(number, iteration)).collect();
        let pace = self.load.rate.and_then(|rate| Pace::of(rate).ok());
        let shared = Shared::default();
        meter.phase(Phase::Ramp);
        let start = nanoseconds();
        let begin = start + self.load.ramp().0 * 1000;
        let window = Window { begin, end: begin + self.load.time.0.max(1) * 1000 };
        let seed = self.seed.wrapping_add(u64::from(meter.iteration()) << 32);
        let job = |(number, files): (usize, _)| {
            let Files { target, source }: &Files = files;
            Job {
                number,
                target,
                source: source.as_ref(),
                access: self.access,
                part: 0..self.size,
                seed: seed.wrapping_add((number as u64) << 20),
                window: Some(window),
                meter: Some(meter),
                stop,
                pace: pace.as_ref(),
                stamps: stamps[number].as_ref(),
                most: self.most(),
                progress: Progress::default(),
                shared: &shared,
            }
        };
        let jobs: Vec<Job<'_>> = self.files.iter().enumerate().map(job).collect();
        let tally = self.drive(&jobs, window, meter)?;
        let seconds = self.seconds(window, nanoseconds(), &tally);
        stop.check()?;
        let mut flushed = None;
        if self.access.writes() {
            let time = layout::flush(&self.targets().collect::<Vec<_>>(), stop, shared.bytes())?.as_secs_f64();
            let since = (nanoseconds() - start) as f64 / 1e9;
            flushed = Some(figures::Flush { time, bytes: shared.written(), since, buffered: self.counts_the_flush() });
        }
        let allocated = if self.access.writes() { self.allocated(shared.written()) } else { None };
        let account = figures::Account { tally: &tally, seconds: seconds?, flush: flushed, allocated };
        let mut measured = figures::figures(&account)?;
        measured.figures.extend(self.verify(&stamps, meter, stop)?);
        Ok(measured)
    }
}

/// Waits until a moment in nanoseconds; false when the engine ended before it.
fn until(moment: u64, ended: &Receiver<()>) -> bool {
    let wait = Duration::from_nanos(moment.saturating_sub(nanoseconds()));
    matches!(ended.recv_timeout(wait), Err(RecvTimeoutError::Timeout))
}

#[cfg(test)]
mod tests;
