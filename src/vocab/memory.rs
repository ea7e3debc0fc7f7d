//! The parameters of the memory kernels beside STREAM.

use serde::{Deserialize, Serialize};

use super::moment::Span;
use super::size::ByteSize;
use super::typed_span;

/// Parameters of `Memory`: transfer of blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    /// What is done to a block.
    pub operation: MemoryOperation,
    /// In which order.
    pub access: MemoryAccess,
    /// Bytes of a block: a multiple of 64.
    pub block: ByteSize,
    /// Bytes of all threads together, each of which has its own share of them; four times the last-level caches, at least 64 MiB, when
    /// not given, so that the figure is that of memory. As large as the threads' blocks, it is that of a cache.
    pub area: Option<ByteSize>,
    /// Length of one iteration.
    #[serde(with = "typed_span")]
    pub time: Span,
    /// Threads; all CPUs of the worker's affinity when not given.
    pub threads: Option<u32>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            operation: MemoryOperation::default(),
            access: MemoryAccess::default(),
            block: ByteSize(1 << 20),
            area: None,
            time: Span::seconds(5),
            threads: None,
        }
    }
}

/// What is done to a block of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryOperation {
    /// All of it is summed up.
    #[default]
    Read,
    /// All of it is filled.
    Write,
}

/// The order of blocks of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryAccess {
    /// As they lie.
    #[default]
    Sequential,
    /// Shuffled by the run's seed: each once in a round, within itself from its begin to its end.
    Random,
}

/// Parameters of `MemoryLatency`. It has one thread: a second one would measure how they disturb each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryLatency {
    /// Bytes that the loads are spread over; four times the last-level caches, at least 64 MiB, when not given.
    pub area: Option<ByteSize>,
    /// Length of one iteration, which goes on to the end of a round through the area.
    #[serde(with = "typed_span")]
    pub time: Span,
}

impl Default for MemoryLatency {
    fn default() -> Self {
        Self { area: None, time: Span::seconds(2) }
    }
}
