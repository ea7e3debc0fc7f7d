//! What accesses a load is made of.

use crate::vocab::plan::Content;

/// Order and direction of the accesses, and their size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// Percent of the operations that read; the others write.
    pub(super) reads: u32,
    /// Reads each block from the job's source before it writes it.
    pub(super) copy: bool,
    pub(super) random: bool,
    /// Bytes of one operation.
    pub(super) block: usize,
    /// Operations in flight.
    pub(super) depth: usize,
    /// A flush follows so many writes of one thread; 0 is never.
    pub(super) fsync_every: u32,
    pub(super) fdatasync_every: u32,
    pub(super) content: Content,
}

impl Access {
    /// The numbers of the meters of bytes and of operations; the first is on the chart: operations where accesses are random.
    pub(super) fn meters(self) -> (usize, usize) {
        if self.random { (1, 0) } else { (0, 1) }
    }

    pub(super) fn writes(self) -> bool {
        self.reads < 100
    }

    /// Whether reads and writes share the time.
    pub(super) fn is_mixed(self) -> bool {
        (1..100).contains(&self.reads)
    }
}

/// What one operation does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Read,
    Write,
    /// Of a copy: reads the source, and becomes a write of the same bytes.
    Fetch,
    Sync,
    DataSync,
}

impl Kind {
    pub(super) fn is_sync(self) -> bool {
        matches!(self, Self::Sync | Self::DataSync)
    }
}
