//! Reads and writes of a file, past the page cache or through it, with a number of operations in flight.

mod buffer;
mod cost;
mod figures;
mod file;
pub(super) mod fitted;
mod job;
mod pool;
mod ring;

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rustix::fs::Advice;
use rustix::io::Errno;

use super::{Description, KernelError, Measured, Stop, Takes};
use crate::agent::meter::{Lanes, Meter};
use crate::agent::resources::Resources;
use crate::vocab::event::{MeterSpec, Phase};
use crate::vocab::moment::Span;
use crate::vocab::plan::{Disk, Pattern};
use crate::vocab::unit::Unit;
use cost::Window;
use file::{Place, Target};
use job::{Access, Job, Progress, Tally, nanoseconds};

/// Under load before it counts.
const RAMP: Span = Span::milliseconds(500);

/// Bytes and operations in flight with which a file is laid out.
const LAYOUT_BLOCK: u64 = 1 << 20;
const LAYOUT_DEPTH: usize = 8;

/// Bytes of a buffered layout between two flushes, so that none takes long.
const LAYOUT_PART: u64 = 64 << 20;

/// What a fast device writes in a second, for the preflight's guess.
const FAST_BYTES_PER_SECOND: f64 = 2e9;

const DEEPEST: u32 = 4096;
const LARGEST_BLOCK: u64 = 1 << 30;

/// Loads a file.
pub(super) struct Kernel {
    load: Disk,
    seed: u64,
    target: Target,
    directory: PathBuf,
    access: Access,
    engine: Engine,
    /// Bytes of the file: whole blocks.
    size: u64,
}

/// Who keeps the operations in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Engine {
    Ring,
    /// And why not the ring.
    Threads(String),
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
        let (block, depth) = (load.block.0, load.depth);
        if !(1..=LARGEST_BLOCK).contains(&block) || load.size.0 < block {
            return unavailable(format!("blocks of {} and a file of {} do not go together", load.block, load.size));
        }
        if !(1..=DEEPEST).contains(&depth) {
            return unavailable(format!("depth {depth} is not between 1 and {DEEPEST}"));
        }
        not_yet(load)?;
        let target = Target::open(place, load.is_direct(), node)?;
        if load.is_direct() && block % target.unit as u64 != 0 {
            let (unit, directory) = (target.unit, directory.display());
            return unavailable(format!(
                "direct access in {directory} needs multiples of {unit} B, not {}",
                load.block
            ));
        }
        let access = Access {
            write: matches!(load.pattern, Pattern::Write | Pattern::RandomWrite),
            random: matches!(load.pattern, Pattern::RandomRead | Pattern::RandomWrite),
            block: block as usize,
            depth: depth as usize,
        };
        let engine = ring::probe(access.depth).map_or_else(Engine::Threads, |()| Engine::Ring);
        let size = load.size.0 / block * block;
        Ok(Self { load: load.clone(), seed, target, directory: directory.to_owned(), access, engine, size })
    }

    fn job<'a>(&'a self, stop: &'a Stop) -> Job<'a> {
        Job {
            target: &self.target,
            access: self.access,
            part: 0..self.size,
            seed: self.seed,
            window: None,
            meter: None,
            stop,
            progress: Progress::default(),
        }
    }

    fn run(&self, job: &Job<'_>) -> Result<Tally, KernelError> {
        match self.engine {
            Engine::Ring => ring::run(job),
            Engine::Threads(_) => pool::run(job),
        }
    }

    /// Writes the whole file once, so that reads find data and writes overwrite.
    fn lay_out(&self, stop: &Stop) -> Result<(), KernelError> {
        let block = LAYOUT_BLOCK.max(self.access.block as u64) / self.access.block as u64 * self.access.block as u64;
        let access = Access { write: true, random: false, block: block as usize, depth: LAYOUT_DEPTH };
        let piece = if self.load.is_direct() { self.size } else { LAYOUT_PART.next_multiple_of(block) };
        let mut start = 0;
        while start < self.size {
            let part = start..(start + piece).min(self.size);
            let seed = self.seed ^ start.rotate_left(32) ^ 0x1a70;
            let job = Job { access, part, seed, progress: Progress::after(start), ..self.job(stop) };
            self.run(&job)?;
            stop.check()?;
            self.flush(stop, job.bytes())?;
            start += piece;
        }
        Ok(())
    }

    /// Flushes to the device and says how long that took. The flush has a thread of its own, which a stop leaves behind.
    fn flush(&self, stop: &Stop, bytes: u64) -> Result<Duration, KernelError> {
        let (start, file) = (Instant::now(), Arc::clone(&self.target.file));
        let (done, result) = channel();
        let flushing = Builder::new().name("flush".to_owned()).spawn(move || done.send(sync(&file)));
        flushing.map_err(|e| KernelError::Unavailable(format!("cannot start a thread: {e}")))?;
        loop {
            match result.recv_timeout(Duration::from_millis(20)) {
                Ok(Ok(())) => return Ok(start.elapsed()),
                Ok(Err(errno)) => return Err(self.target.meaning(errno, &format!("when flushing {bytes} bytes"))),
                Err(RecvTimeoutError::Timeout) => stop.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(KernelError::Broken("the flushing thread is gone".to_owned()));
                }
            }
        }
    }

    /// Drives the engine through ramp and window, and says the phases on time even when the device does not answer.
    fn drive(&self, job: &Job<'_>, window: Window, meter: &Meter) -> Result<Tally, KernelError> {
        std::thread::scope(|scope| {
            let (alive, ended) = channel::<()>();
            let body = move || {
                let _alive = alive;
                self.run(job)
            };
            let engine = Builder::new().name("disk".to_owned()).spawn_scoped(scope, body);
            let engine = engine.map_err(|e| KernelError::Unavailable(format!("cannot start a thread: {e}")))?;
            if until(window.begin, &ended) {
                meter.phase(Phase::Measure);
                if until(window.end, &ended) {
                    meter.phase(Phase::Drain);
                }
            }
            engine.join().unwrap_or_else(|_| Err(KernelError::Broken("the disk engine panicked".to_owned())))
        })
    }

    fn labels(&self) -> BTreeMap<String, String> {
        let engine = match &self.engine {
            Engine::Ring => "io_uring".to_owned(),
            Engine::Threads(why) => format!("{} threads (no io_uring: {why})", self.access.depth),
        };
        let path = if self.load.is_direct() { "direct" } else { "buffered" };
        let mut labels = BTreeMap::from(
            [
                ("engine", engine),
                ("path", path.to_owned()),
                ("block", self.load.block.to_string()),
                ("depth", self.access.depth.to_string()),
                ("size", crate::vocab::size::ByteSize(self.size).to_string()),
                ("file_system", self.target.file_system.clone()),
                ("mount", self.target.device.clone()),
                ("content", "random, fresh in every block".to_owned()),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        if self.access.write {
            labels.insert("layout".to_owned(), "overwrite".to_owned());
        }
        if !self.access.write && !self.load.is_direct() {
            let cache = "dropped before each iteration; a file that fits in memory is then read from memory";
            labels.insert("page_cache".to_owned(), cache.to_owned());
        }
        if self.access.write && !self.load.is_direct() {
            labels.insert("mb_per_s_counts".to_owned(), "everything written, to the end of the flush".to_owned());
        }
        labels
    }

    fn command(&self) -> String {
        let pattern = match self.load.pattern {
            Pattern::Read => "read",
            Pattern::Write => "write",
            Pattern::RandomRead => "randread",
            Pattern::RandomWrite => "randwrite",
            Pattern::Mixed { .. } | Pattern::Copy => "",
        };
        let engine = if self.engine == Engine::Ring { "io_uring" } else { "psync --thread" };
        let (depth, block) = (self.access.depth, self.access.block);
        let depth =
            if self.engine == Engine::Ring { format!("--iodepth={depth}") } else { format!("--numjobs={depth}") };
        format!(
            "fio --name=shakedown --filename={}/fio.tmp --rw={pattern} --bs={block} {depth} --ioengine={engine} --direct={} \
             --size={} --ramp_time=500ms --runtime={} --time_based --refill_buffers --unlink=1",
            self.directory.display(),
            u8::from(self.load.is_direct()),
            self.size,
            self.load.time.as_seconds().ceil()
        )
    }
}

impl super::Kernel for Kernel {
    fn takes(&self) -> Takes {
        let guess = self.load.time.as_seconds() * FAST_BYTES_PER_SECOND;
        let most = (self.access.block * self.access.depth) as u64;
        Takes {
            memory: most.max(LAYOUT_BLOCK.max(self.access.block as u64) * LAYOUT_DEPTH as u64),
            disk: self.size,
            writes: self.size + if self.access.write { guess as u64 } else { 0 },
            time: Span(self.load.time.0 + RAMP.0),
            loads: true,
        }
    }

    fn describe(&self) -> Description {
        let lanes = match self.engine {
            Engine::Ring => Lanes { threads: 1, depth: self.access.depth, timed: true },
            Engine::Threads(_) => Lanes { threads: self.access.depth, depth: 1, timed: true },
        };
        let mut meters = vec![MeterSpec::new("iops", Unit::Iops, true)];
        meters.insert(self.access.meters().0, MeterSpec::new("mb_per_s", Unit::MegabytesPerSecond, true));
        Description { meters, lanes, labels: self.labels(), command: self.command() }
    }

    fn prepare(&mut self, meter: &Meter, stop: &Stop) -> Result<(), KernelError> {
        self.target.has_room(self.size)?;
        self.target.reserve(self.size)?;
        self.lay_out(stop)?;
        // A device has no blocks to give.
        if !self.target.file.metadata().is_ok_and(|m| m.is_file()) {
            return Ok(());
        }
        let stored = self.target.file.metadata().map_or(u64::MAX, |m| m.blocks().saturating_mul(512));
        if stored < self.size / 10 * 9 {
            meter.note(format!(
                "{} stores {stored} bytes for {} random ones: it compresses, deduplicates or has not stored them yet",
                self.directory.display(),
                self.size
            ));
        }
        Ok(())
    }

    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError> {
        if !self.load.is_direct() {
            // What a system keeps cached in spite of the advice, it would also keep for others.
            let _ = rustix::fs::fadvise(&self.target.file, 0, None, Advice::DontNeed);
        }
        meter.phase(Phase::Ramp);
        let start = nanoseconds();
        let begin = start + RAMP.0 * 1000;
        let window = Window { begin, end: begin + self.load.time.0.max(1) * 1000 };
        let seed = self.seed.wrapping_add(u64::from(meter.iteration()) << 32);
        let job = Job { seed, window: Some(window), meter: Some(meter), ..self.job(stop) };
        let tally = self.drive(&job, window, meter)?;
        stop.check()?;
        let flush = if self.access.write { Some(self.flush(stop, job.bytes())?.as_secs_f64()) } else { None };
        let whole = (nanoseconds() - start) as f64 / 1e9;
        figures::figures(&figures::Account {
            tally: &tally,
            seconds: (window.end - window.begin) as f64 / 1e9,
            flush,
            accepted: (self.access.write && !self.load.is_direct()).then_some((job.bytes(), whole)),
        })
    }
}

/// Refuses what a plan can say and this kernel cannot do.
fn not_yet(load: &Disk) -> Result<(), KernelError> {
    let plain =
        Disk { depth: load.depth, direct: load.direct, ..Disk::new(load.pattern, load.block, load.size, load.time) };
    let known = !matches!(load.pattern, Pattern::Mixed { .. } | Pattern::Copy) && *load == plain;
    if known { Ok(()) } else { Err(KernelError::Unavailable("this parameter of a disk run is not built".to_owned())) }
}

fn sync(file: &File) -> Result<(), Errno> {
    rustix::fs::fdatasync(file)
}

/// Waits until a moment in nanoseconds; false when the engine ended before it.
fn until(moment: u64, ended: &Receiver<()>) -> bool {
    let wait = Duration::from_nanos(moment.saturating_sub(nanoseconds()));
    matches!(ended.recv_timeout(wait), Err(RecvTimeoutError::Timeout))
}

#[cfg(test)]
mod tests;
