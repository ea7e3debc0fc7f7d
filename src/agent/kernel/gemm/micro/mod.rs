//! The innermost loop, once for each family of CPUs, and which of them this one takes.
#![allow(unsafe_code, reason = "vector instructions that not every CPU has")]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

/// A rectangle of values that stays in the registers of a CPU while products are added up in it.
pub(in crate::agent::kernel) trait Tile {
    /// Values of a row, which lie side by side.
    const WIDE: usize;
    /// Rows.
    const TALL: usize;

    /// Adds to a tile, or with `SUBTRACT` takes off, the sums over p < `depth` of `tall[p * TALL + row] * wide[p * step + column]`.
    /// A row of the tile begins `stride` values after the one before.
    ///
    /// # Safety
    /// All these values must be there, those of the tile must be nobody else's, and the CPU must be of the tile's
    /// family.
    unsafe fn multiply<const SUBTRACT: bool>(
        depth: usize,
        tall: *const f64,
        wide: *const f64,
        step: usize,
        tile: *mut f64,
        stride: usize,
    );

    /// Does some work, compiled for the instructions of the tile's CPU as far as it is inlined.
    ///
    /// # Safety
    /// The CPU must be of the tile's family.
    unsafe fn compiled<R>(work: impl FnOnce() -> R) -> R;
}

/// Work that is compiled once for each tile.
pub(in crate::agent::kernel) trait ForTile {
    /// What comes of it.
    type Output;
    /// Does the work.
    ///
    /// # Safety
    /// The CPU must be of the tile's family.
    unsafe fn run<T: Tile>(self) -> Self::Output;
}

/// The families of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent::kernel) enum Family {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Family {
    /// The families that this CPU belongs to, the fastest first.
    pub(in crate::agent::kernel) fn here() -> Vec<Self> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            // All that the family's code is compiled for: the first CPUs with AVX-512 lack two of them.
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
            {
                found.push(Self::Avx512);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                found.push(Self::Avx2);
            }
        }
        found.push(Self::Portable);
        found
    }

    /// As the field calls it.
    pub(in crate::agent::kernel) fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "AVX-512",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "AVX2",
            Self::Portable => "portable",
        }
    }

    /// Does work with the tile of the family.
    ///
    /// # Safety
    /// The family must be one of [`Family::here`].
    pub(in crate::agent::kernel) unsafe fn run<W: ForTile>(self, work: W) -> W::Output {
        // SAFETY: as the caller says.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Self::Avx512 => work.run::<avx512::Registers>(),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2 => work.run::<avx2::Registers>(),
                Self::Portable => work.run::<portable::Registers>(),
            }
        }
    }
}
