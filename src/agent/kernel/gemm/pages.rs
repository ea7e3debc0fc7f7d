//! Memory of whole pages for matrices and packed operands.

use std::ops::{Deref, DerefMut};

use crate::agent::kernel::pages::{self, HUGE};

/// Bytes of a cache line, by which packed operands begin.
const LINE: usize = 64;

/// Zeros, in huge pages where the kernel has them: a column of tiles is then a few entries of the TLB in place of one a row. Not touched
/// before it is used, so that each page lies near the thread that writes it first.
pub(in crate::agent::kernel) struct Pages(pages::Pages);

impl Pages {
    /// So many zeros; none when the memory is refused.
    pub(in crate::agent::kernel) fn new(values: usize) -> Option<Self> {
        let bytes = values.checked_mul(size_of::<f64>())?;
        pages::Pages::new(bytes, LINE, bytes >= HUGE).map(Self)
    }
}

impl Deref for Pages {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        self.0.read()
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [f64] {
        self.0.write()
    }
}
