//! What a disk run does to its files. A field that a plan leaves out has the value that is said here, so that plans and
//! records of before its time read as they were meant.

use serde::{Deserialize, Serialize};

use super::moment::Span;
use super::size::{ByteSize, FileSize};
use super::typed_span;
use super::unit::Quantity;

/// Under load before it counts, where the plan does not say.
const RAMP: Span = Span::milliseconds(500);

/// The label of a run whose device hangs on a RAID controller: bytes of cache that lie in front of its disks.
pub const CONTROLLER_CACHE: &str = "controller_cache";
/// A file of so many times a controller's cache has three quarters of its blocks on the disks, however the cache is filled.
pub const TIMES_CACHE: u64 = 4;

/// How a disk run touches its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pattern {
    /// From the first block to the last, again and again.
    Read,
    /// The same, writing.
    Write,
    /// Uniformly random blocks.
    RandomRead,
    /// The same, writing.
    RandomWrite,
    /// Reads and writes by chance, block by block.
    Mixed {
        /// Share of the reads in percent, 1 to 99.
        reads: u32,
        /// Random blocks; else from the first to the last, as with fio's `rw=rw`.
        #[serde(default = "yes")]
        random: bool,
    },
    /// Reads one file from the first block to the last and writes each block to another, as `cp` does; rates count what is
    /// written.
    Copy,
}

impl Pattern {
    /// Whether it reads; a copy does both.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::RandomRead | Self::Mixed { .. } | Self::Copy)
    }

    /// Whether it writes; a copy does both.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::RandomWrite | Self::Mixed { .. } | Self::Copy)
    }

    /// Whether blocks come in random order.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandomRead | Self::RandomWrite | Self::Mixed { random: true, .. })
    }
}

/// Parameters of `Disk`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// Order and direction of the accesses.
    pub pattern: Pattern,
    /// Bytes of one operation.
    pub block: ByteSize,
    /// Operations in flight, of each job.
    #[serde(default = "one")]
    pub depth: u32,
    /// Threads, each with a file of its own.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub jobs: u32,
    /// Past the page cache (`O_DIRECT`) or through it; when not given, past it, but a copy through it. See [`Disk::is_direct`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Where the file system refuses `O_DIRECT`, goes through the page cache instead and says so; else the run is not possible there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub or_buffered: bool,
    /// Size of each job's file, as with fio's `size`; a copy has two such files.
    pub size: FileSize,
    /// Length of one iteration; with another bound, its greatest length.
    #[serde(with = "typed_span")]
    pub time: Span,
    /// What else ends an iteration.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bound: Bound,
    /// Under load before it counts. When not given: half a second, but nothing where an iteration is bounded by bytes or begins with
    /// holes, which are then measured whole. See [`Disk::ramp`].
    #[serde(default, with = "typed_span::option", skip_serializing_if = "Option::is_none")]
    pub ramp: Option<Span>,
    /// `fsync` after so many writes of a job; 0 is never.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fsync_every: u32,
    /// `fdatasync` after so many writes of a job; 0 is never.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fdatasync_every: u32,
    /// Each write is on the device before it returns (`O_DSYNC`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub dsync: bool,
    /// No more than this over all jobs: `"100 MB/s"`, `"500 IOPS"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Quantity>,
    /// Each block written carries its offset and a checksum, and is read back and compared after the iteration.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify: bool,
    /// What is written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub content: Content,
    /// Who keeps the operations in flight.
    #[serde(default, skip_serializing_if = "is_default")]
    pub engine: EngineChoice,
    /// Whether writes find blocks that were written before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub layout: Layout,
}

impl Disk {
    /// A load with everything else as a plan that does not mention it.
    #[must_use]
    pub fn new(pattern: Pattern, block: ByteSize, size: impl Into<FileSize>, time: Span) -> Self {
        Self {
            pattern,
            block,
            depth: 1,
            jobs: 1,
            direct: None,
            or_buffered: false,
            size: size.into(),
            time,
            bound: Bound::default(),
            ramp: None,
            fsync_every: 0,
            fdatasync_every: 0,
            dsync: false,
            rate: None,
            verify: false,
            content: Content::default(),
            engine: EngineChoice::default(),
            layout: Layout::default(),
        }
    }

    /// Whether accesses go past the page cache.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.direct.unwrap_or(self.pattern != Pattern::Copy)
    }

    /// How long an iteration is under load before it counts.
    #[must_use]
    pub fn ramp(&self) -> Span {
        let whole = self.bound != Bound::Time || self.is_first_write();
        self.ramp.unwrap_or(if whole { Span::ZERO } else { RAMP })
    }

    /// Whether writes fill holes.
    #[must_use]
    pub fn is_first_write(&self) -> bool {
        self.pattern.writes() && self.layout == Layout::FirstWrite
    }
}

/// What ends an iteration before its time is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bound {
    /// Nothing.
    #[default]
    Time,
    /// Each job has touched as many bytes as its file has: sequential writes have then written it once.
    Size,
    /// So many bytes over all jobs, which have equal shares.
    Bytes(ByteSize),
}

/// What a disk run writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// Random bytes, never the same twice: nothing to compress, nothing to find a second time.
    #[default]
    Fresh,
    /// Zeros, which some storage does not store at all.
    Zero,
    /// One random block again and again: nothing to compress within it, everything to deduplicate.
    Repeated,
}

/// By which calls a disk run reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EngineChoice {
    /// The first of the others that this kernel lets us have.
    #[default]
    Auto,
    /// `io_uring`, or the run is unavailable.
    Uring,
    /// Linux asynchronous I/O (`io_submit`), or the run is unavailable. Without `O_DIRECT` its submissions wait for the page cache.
    Aio,
    /// `pread` and `pwrite` on a thread for each operation in flight.
    Threads,
}

/// What writes find below them. Thin volumes and copy-on-write file systems allocate at the first write and not at the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layout {
    /// Blocks that were all written before.
    #[default]
    Overwrite,
    /// Holes: each iteration begins with empty files and ends at the latest when as many bytes are written as they have, so that
    /// sequential writes meet no block twice.
    FirstWrite,
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(n: &u32) -> bool {
    *n == 1
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::plan::Load;
    use crate::vocab::ronfile::parse;

    fn disk(text: &str) -> Disk {
        let Ok(Load::Disk(disk)) = parse("p", &format!("Disk({text}, block: \"4KiB\", size: \"1GiB\", time: \"5 s\")"))
        else {
            panic!("{text}")
        };
        disk
    }

    #[test]
    fn what_is_left_out_is_as_before_and_not_written() {
        let old = r#"{"pattern":"Write","block":"4KiB","depth":1,"direct":true,"size":"1GiB","time":"5 s"}"#;
        let read: Disk = serde_json::from_str(old).unwrap();
        assert_eq!(read, disk("pattern: Write, direct: true"));
        assert_eq!(serde_json::to_string(&read).unwrap(), old);
        assert!(disk("pattern: Write").is_direct() && !disk("pattern: Copy").is_direct());
        assert!(!disk("pattern: Read, direct: false").is_direct() && disk("pattern: Copy, direct: true").is_direct());
    }

    #[test]
    fn what_is_bounded_by_bytes_is_measured_whole() {
        assert_eq!(disk("pattern: Write").ramp(), RAMP);
        for whole in ["bound: Size", "bound: Bytes(\"1GiB\")", "layout: FirstWrite"] {
            assert_eq!(disk(&format!("pattern: Write, {whole}")).ramp(), Span::ZERO);
            assert_eq!(disk(&format!("pattern: Write, {whole}, ramp: \"1 s\"")).ramp(), Span::seconds(1));
        }
        assert_eq!(disk("pattern: Read, layout: FirstWrite").ramp(), RAMP);
    }

    #[test]
    fn every_field_is_typed_and_reads_back() {
        let full = disk(
            "pattern: Mixed(reads: 70), depth: 8, jobs: 4, bound: Bytes(\"2GiB\"), ramp: \"2 s\", fsync_every: 16, \
             fdatasync_every: 4, dsync: true, rate: \"100 MB/s\", verify: true, content: Repeated, engine: Aio, \
             layout: FirstWrite",
        );
        assert_eq!((full.pattern, full.ramp()), (Pattern::Mixed { reads: 70, random: true }, Span::seconds(2)));
        let text = serde_json::to_string(&full).unwrap();
        assert_eq!(serde_json::from_str::<Disk>(&text).unwrap(), full);
        assert!(full.pattern.reads() && full.pattern.writes() && full.pattern.is_random());
    }
}
