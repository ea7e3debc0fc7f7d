//! A matrix by rows that several threads write at once, each its own columns; and the product of packed operands.
#![allow(unsafe_code, reason = "threads write columns of one matrix, which no slice can be")]

use std::marker::PhantomData;

use super::micro::Tile;
use super::pages::Pages;
use super::team::ROWS;
use crate::agent::kernel::threads::{Gate, each};
use crate::agent::kernel::{KernelError, Stop};

/// All tiles are a part of this wide and high, so that memory which is padded to it needs no care for edges.
pub(in crate::agent::kernel) const PAD: usize = 24;

/// A matrix by rows, padded with zeros to whole tiles on the right and below.
pub(in crate::agent::kernel) struct Matrix {
    values: Pages,
    stride: usize,
}

/// Values from one row to the next: whole cache lines, and never a multiple of 4 KiB, which would put a column into a few sets.
pub(in crate::agent::kernel) fn stride(columns: usize) -> usize {
    let whole = columns.next_multiple_of(8);
    if whole.is_multiple_of(512) { whole + 8 } else { whole }
}

/// Values that a matrix takes.
pub(in crate::agent::kernel) fn values(rows: usize, columns: usize) -> usize {
    (rows + PAD) * stride(columns + PAD)
}

impl Matrix {
    /// Zeros; none when the memory is refused.
    pub(in crate::agent::kernel) fn new(rows: usize, columns: usize) -> Option<Self> {
        Some(Self { values: Pages::new(values(rows, columns))?, stride: stride(columns + PAD) })
    }

    /// A row, its padding included.
    pub(in crate::agent::kernel) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.stride..][..self.stride]
    }

    /// A row that is written to, its padding included.
    #[cfg(test)]
    pub(in crate::agent::kernel) fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.stride..][..self.stride]
    }

    /// Writes the first rows, in turn by the threads, so that their memory lies spread over the nodes.
    pub(in crate::agent::kernel) fn fill(
        &mut self,
        rows: usize,
        cpus: &[usize],
        stop: &Stop,
        write: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<(), KernelError> {
        let mut shares: Vec<Vec<(usize, &mut [f64])>> = cpus.iter().map(|_| Vec::new()).collect();
        for (index, row) in self.values.chunks_exact_mut(self.stride).take(rows).enumerate() {
            shares[index / ROWS % cpus.len()].push((index, row));
        }
        each(cpus, &Gate::new(cpus.len()), shares, |_, rows| {
            rows.into_iter().take_while(|_| !stop.asked()).for_each(|(index, row)| write(index, row));
        })?;
        stop.check()
    }

    /// The whole, to be shared by threads.
    pub(in crate::agent::kernel) fn grid(&mut self) -> Grid<'_> {
        Grid { start: self.values.as_mut_ptr(), stride: self.stride, values: self.values.len(), matrix: PhantomData }
    }
}

/// A matrix whose borrower sees to it that no two threads touch the same value at once.
#[derive(Clone, Copy)]
pub(in crate::agent::kernel) struct Grid<'a> {
    start: *mut f64,
    values: usize,
    /// Values from one row to the next.
    pub(in crate::agent::kernel) stride: usize,
    matrix: PhantomData<&'a mut [f64]>,
}

// SAFETY: each access is unsafe, and says what its caller has to see to.
unsafe impl Send for Grid<'_> {}
// SAFETY: as above.
unsafe impl Sync for Grid<'_> {}

impl<'a> Grid<'a> {
    /// The place of a value.
    pub(in crate::agent::kernel) fn at(self, row: usize, column: usize) -> *mut f64 {
        let index = row * self.stride + column;
        assert!(index < self.values, "row {row}, column {column}");
        // SAFETY: within the matrix.
        unsafe { self.start.add(index) }
    }

    /// Some columns of a row.
    ///
    /// # Safety
    /// Nobody else may touch them meanwhile.
    pub(in crate::agent::kernel) unsafe fn part(self, row: usize, first: usize, columns: usize) -> &'a mut [f64] {
        assert!(first + columns <= self.stride);
        // SAFETY: within the row, and the caller's alone.
        unsafe { std::slice::from_raw_parts_mut(self.at(row, first), columns) }
    }
}

/// Adds to a part of a matrix, or takes off, the product of packed operands: slivers of [`Tile::TALL`] rows and of [`Tile::WIDE`]
/// columns, `depth` deep.
///
/// A sliver of rows stays in the first cache while the columns, a block of which is made for the second, pass by.
///
/// # Safety
/// The part, padded to whole tiles, must lie in the matrix and be nobody else's, and the CPU must be the tile's.
pub(in crate::agent::kernel) unsafe fn product<T: Tile, const SUBTRACT: bool>(
    depth: usize,
    tall: &[f64],
    wide: &[f64],
    part: *mut f64,
    stride: usize,
) {
    for (down, tall) in tall.chunks_exact(T::TALL * depth).enumerate() {
        for (across, wide) in wide.chunks_exact(T::WIDE * depth).enumerate() {
            // SAFETY: the operands are as long as the depth says; the rest is the caller's word.
            unsafe {
                let tile = part.add(down * T::TALL * stride + across * T::WIDE);
                T::multiply::<SUBTRACT>(depth, tall.as_ptr(), wide.as_ptr(), T::WIDE, tile, stride);
            }
        }
    }
}
