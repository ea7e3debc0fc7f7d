//! A panel: some columns of the matrix from the diagonal down, factored in a copy by columns and packed for the threads.
#![allow(unsafe_code, reason = "the tile kernels work on bare memory")]
#![allow(clippy::inline_always, reason = "what is not inlined is not compiled for the tile's CPU")]

use crate::agent::kernel::gemm::grid::{Grid, PAD, stride};
use crate::agent::kernel::gemm::micro::Tile;
use crate::agent::kernel::gemm::pages::Pages;

/// Columns that are factored one by one.
const FEW: usize = 8;

/// A factored panel as the columns behind it need it.
pub(super) struct Panel {
    /// The row and column of its first diagonal element.
    pub(super) first: usize,
    pub(super) width: usize,
    /// For each of its columns the row, counted from `first`, that was swapped with the one of the diagonal.
    pub(super) pivots: Vec<usize>,
    /// L, with its diagonal of ones left out: slivers of [`Tile::TALL`] rows, `width` deep.
    lower: Pages,
    /// Values of `lower` in use.
    packed: usize,
}

/// Values that a panel's copy by columns takes at most.
pub(super) fn copy_values(n: usize, width: usize) -> usize {
    stride(n + 2 * PAD) * width.next_multiple_of(PAD)
}

/// Values that a packed panel takes at most.
pub(super) fn packed_values(n: usize, width: usize) -> usize {
    (n + PAD) * width
}

/// The copy by columns.
struct Columns<'a> {
    values: &'a mut [f64],
    rows: usize,
    stride: usize,
}

impl Panel {
    /// Memory for panels up to a width; none when it is refused.
    pub(super) fn new(n: usize, width: usize) -> Option<Self> {
        Some(Self { first: 0, width: 0, pivots: Vec::new(), lower: Pages::new(packed_values(n, width))?, packed: 0 })
    }

    /// Factors columns `first..first + width` of a matrix of order n, writes their U back, and keeps L and the swaps.
    ///
    /// # Safety
    /// Nobody else may touch these columns meanwhile, and the CPU must be the tile's.
    pub(super) unsafe fn factor<T: Tile>(
        &mut self,
        grid: Grid<'_>,
        copy: &mut [f64],
        n: usize,
        first: usize,
        width: usize,
    ) {
        let rows = n - first;
        let stride = stride(rows + PAD);
        let mut columns = Columns { values: &mut copy[..stride * width.next_multiple_of(PAD)], rows, stride };
        self.first = first;
        self.width = width;
        self.pivots.clear();
        self.pivots.resize(width, 0);
        // SAFETY: as the caller says.
        unsafe {
            T::compiled(
                #[inline(always)]
                || columns.gather(grid, first, width),
            );
            columns.factor::<T>(0, width, &mut self.pivots);
            columns.give_back(grid, first, width);
        }
        self.packed = rows.next_multiple_of(T::TALL) * width;
        for (index, sliver) in self.lower[..self.packed].chunks_exact_mut(T::TALL * width).enumerate() {
            for (p, values) in sliver.chunks_exact_mut(T::TALL).enumerate() {
                values.copy_from_slice(&columns.values[p * stride + index * T::TALL..][..T::TALL]);
            }
        }
    }

    /// L of the rows of the panel's diagonal; its last sliver may reach below them.
    pub(super) fn corner<T: Tile>(&self) -> &[f64] {
        &self.lower[..self.width.next_multiple_of(T::TALL) * self.width]
    }

    /// L of the rows below.
    pub(super) fn below<T: Tile>(&self) -> &[f64] {
        let corner = self.width.next_multiple_of(T::TALL) * self.width;
        &self.lower[corner.min(self.packed)..self.packed]
    }

    /// Floating-point operations of the factorisation.
    pub(super) fn operations(&self, n: usize) -> u64 {
        let (rows, width) = (n - self.first, self.width);
        (width * width * rows - width * width * width / 3) as u64
    }
}

impl Columns<'_> {
    /// Copies a panel out of the matrix, and zeros around it.
    ///
    /// # Safety
    /// Nobody may write there meanwhile.
    #[inline(always)]
    unsafe fn gather(&mut self, grid: Grid<'_>, first: usize, width: usize) {
        const LINE: usize = 8;
        self.values[width * self.stride..].fill(0.0);
        for row in (0..self.rows).step_by(LINE) {
            // SAFETY: rows behind the last are the matrix's padding; nobody writes there.
            let lines: [&[f64]; LINE] = std::array::from_fn(|i| unsafe { &*grid.part(first + row + i, first, width) });
            for (column, into) in self.values.chunks_exact_mut(self.stride).take(width).enumerate() {
                for (value, line) in into[row..row + LINE].iter_mut().zip(lines) {
                    *value = line[column];
                }
            }
        }
        for column in self.values.chunks_exact_mut(self.stride).take(width) {
            column[self.rows..].fill(0.0);
        }
    }

    /// Writes U into the matrix.
    ///
    /// # Safety
    /// Nobody else may touch these columns meanwhile.
    unsafe fn give_back(&self, grid: Grid<'_>, first: usize, width: usize) {
        for row in 0..width {
            // SAFETY: the caller's alone.
            let line = unsafe { grid.part(first + row, first + row, width - row) };
            for (value, column) in line.iter_mut().zip(row..) {
                *value = self.values[column * self.stride + row];
            }
        }
    }

    /// LU of columns `at..at + width` in the rows from `at` on, by halves.
    ///
    /// # Safety
    /// The CPU must be the tile's.
    unsafe fn factor<T: Tile>(&mut self, at: usize, width: usize, pivots: &mut [usize]) {
        if width <= FEW {
            // SAFETY: as the caller says.
            unsafe {
                T::compiled(
                    #[inline(always)]
                    || self.factor_few(at, width, pivots),
                );
            }
            return;
        }
        let left = (width / 2).next_multiple_of(FEW);
        let (middle, end) = (at + left, at + width);
        // SAFETY: as the caller says.
        unsafe {
            self.factor::<T>(at, left, pivots);
            self.swap(at..middle, middle..end, pivots);
            self.eliminate::<T>(at, left, width - left);
            self.factor::<T>(middle, width - left, pivots);
        }
        self.swap(middle..end, at..middle, pivots);
    }

    /// Swaps rows of some columns as the pivots of others say.
    fn swap(&mut self, pivots_of: std::ops::Range<usize>, columns: std::ops::Range<usize>, pivots: &[usize]) {
        for column in self.values.chunks_exact_mut(self.stride).take(columns.end).skip(columns.start) {
            for row in pivots_of.clone() {
                column.swap(row, pivots[row]);
            }
        }
    }

    /// Solves for U of the `right` columns behind `left` factored ones, and subtracts L·U below.
    ///
    /// # Safety
    /// The CPU must be the tile's.
    unsafe fn eliminate<T: Tile>(&mut self, at: usize, left: usize, right: usize) {
        let middle = at + left;
        let (stride, rows) = (self.stride, self.rows);
        let slivers = right.div_ceil(T::TALL);
        let mut upper = vec![0.0; slivers * left * T::TALL];
        let (done, behind) = self.values.split_at_mut(middle * stride);
        let done = &done[at * stride..];
        for (sliver, columns) in upper.chunks_exact_mut(left * T::TALL).zip(behind.chunks_mut(stride * T::TALL)) {
            // SAFETY: as the caller says.
            unsafe {
                T::compiled(
                    #[inline(always)]
                    || solve::<T>(sliver, left, done, columns, stride, at),
                );
            }
        }
        for row in (middle..rows).step_by(T::WIDE) {
            for (index, sliver) in upper.chunks_exact(left * T::TALL).enumerate() {
                let place = index * T::TALL * stride + row;
                // SAFETY: rows and columns are padded with zeros to whole tiles.
                unsafe {
                    let wide = done.as_ptr().add(row);
                    T::multiply::<true>(left, sliver.as_ptr(), wide, stride, behind.as_mut_ptr().add(place), stride);
                }
            }
        }
    }

    /// LU of at most [`FEW`] columns, one after the other, each made from those left of it.
    #[inline(always)]
    fn factor_few(&mut self, at: usize, width: usize, pivots: &mut [usize]) {
        let (stride, rows) = (self.stride, self.rows);
        for j in 0..width {
            let (done, rest) = self.values[at * stride..].split_at_mut(j * stride);
            let row = at + j;
            let column = &mut rest[..rows];
            let mut upper = [0.0; FEW];
            for p in 0..j {
                let factor = column[at + p];
                upper[p] = factor;
                for q in p + 1..j {
                    column[at + q] -= done[p * stride + at + q] * factor;
                }
            }
            let largest = match j {
                0 => combine::<0>(done, stride, row, &upper, &mut column[row..]),
                1 => combine::<1>(done, stride, row, &upper, &mut column[row..]),
                2 => combine::<2>(done, stride, row, &upper, &mut column[row..]),
                3 => combine::<3>(done, stride, row, &upper, &mut column[row..]),
                4 => combine::<4>(done, stride, row, &upper, &mut column[row..]),
                5 => combine::<5>(done, stride, row, &upper, &mut column[row..]),
                6 => combine::<6>(done, stride, row, &upper, &mut column[row..]),
                _ => combine::<7>(done, stride, row, &upper, &mut column[row..]),
            };
            // A column of nothing but NaN has no largest element; its diagonal then serves, and NaN reaches the solution.
            let pivot = row + column[row..].iter().position(|v| v.abs() == largest).unwrap_or(0);
            pivots[row] = pivot;
            for column in self.values[at * stride..].chunks_exact_mut(stride).take(width) {
                column.swap(row, pivot);
            }
            let column = &mut self.values[row * stride..][..rows];
            let factor = 1.0 / column[row];
            for value in &mut column[row + 1..] {
                *value *= factor;
            }
        }
    }
}

/// Takes off a column the multiples of the `DONE` ones left of it, and returns its largest absolute value.
#[inline(always)]
fn combine<const DONE: usize>(done: &[f64], stride: usize, row: usize, upper: &[f64; FEW], column: &mut [f64]) -> f64 {
    const LANES: usize = 16;
    let sources: [&[f64]; DONE] = std::array::from_fn(|p| &done[p * stride + row..][..column.len()]);
    let mut largest = [0.0_f64; LANES];
    let whole = column.len() / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        let values: &mut [f64] = &mut column[at..at + LANES];
        for p in 0..DONE {
            for (value, source) in values.iter_mut().zip(&sources[p][at..at + LANES]) {
                *value -= source * upper[p];
            }
        }
        for (largest, value) in largest.iter_mut().zip(values) {
            *largest = if value.abs() > *largest { value.abs() } else { *largest };
        }
    }
    for at in whole..column.len() {
        for p in 0..DONE {
            column[at] -= sources[p][at] * upper[p];
        }
        largest[0] = if column[at].abs() > largest[0] { column[at].abs() } else { largest[0] };
    }
    largest.into_iter().fold(0.0, f64::max)
}

/// Solves L·U = A for a sliver of columns, in packed form, and writes U back.
#[inline(always)]
fn solve<T: Tile>(sliver: &mut [f64], depth: usize, lower: &[f64], columns: &mut [f64], stride: usize, at: usize) {
    let tall = T::TALL;
    for (j, column) in columns.chunks_exact(stride).enumerate() {
        for p in 0..depth {
            sliver[p * tall + j] = column[at + p];
        }
    }
    for p in 0..depth {
        let (above, below) = sliver.split_at_mut((p + 1) * tall);
        let solved = &above[p * tall..];
        for (row, factor) in below.chunks_exact_mut(tall).zip(&lower[p * stride + at + p + 1..]) {
            for (value, solved) in row.iter_mut().zip(solved) {
                *value -= factor * solved;
            }
        }
    }
    for (j, column) in columns.chunks_exact_mut(stride).enumerate() {
        for p in 0..depth {
            column[at + p] = sliver[p * tall + j];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::kernel::gemm::grid::Matrix;
    use crate::agent::kernel::gemm::micro::{Family, ForTile};

    const N: usize = 60;
    const WIDTH: usize = 48;

    /// The largest elements lie below a diagonal of zeros.
    fn element(i: usize, j: usize) -> f64 {
        match (i + N - j) % N {
            0 => 0.0,
            7 => 100.0 + j as f64,
            _ => ((i * 31 + j * 17) % 23) as f64 / 23.0,
        }
    }

    struct Factor;

    impl ForTile for Factor {
        type Output = (Matrix, Panel, Vec<Vec<f64>>);

        unsafe fn run<T: Tile>(self) -> Self::Output {
            let mut matrix = Matrix::new(N, N).unwrap();
            for i in 0..N {
                (0..N).for_each(|j| matrix.row_mut(i)[j] = element(i, j));
            }
            let mut panel = Panel::new(N, WIDTH).unwrap();
            let mut copy = vec![0.0; copy_values(N, WIDTH)];
            // SAFETY: nobody else knows the matrix, and the tile is this CPU's.
            unsafe { panel.factor::<T>(matrix.grid(), &mut copy, N, 0, WIDTH) };
            // L by rows, out of the slivers.
            let lower = |i: usize, p: usize| panel.lower[i / T::TALL * T::TALL * WIDTH + p * T::TALL + i % T::TALL];
            let lower = (0..N).map(|i| (0..WIDTH.min(i)).map(|p| lower(i, p)).collect()).collect();
            (matrix, panel, lower)
        }
    }

    #[test]
    fn the_largest_element_is_the_pivot_and_l_times_u_is_the_matrix_with_its_rows_swapped() {
        for family in Family::here() {
            // SAFETY: a family of this CPU.
            let (matrix, panel, lower) = unsafe { family.run(Factor) };
            assert_eq!(panel.pivots[0], 7);
            assert!(lower.iter().flatten().all(|l| l.abs() <= 1.0), "a multiplier above one: {family:?}");
            let mut order: Vec<usize> = (0..N).collect();
            panel.pivots.iter().enumerate().for_each(|(i, pivot)| order.swap(i, *pivot));
            for (i, row) in order.into_iter().enumerate() {
                for j in 0..WIDTH {
                    let below: f64 = (0..i.min(j + 1)).map(|p| lower[i][p] * matrix.row(p)[j]).sum();
                    let sum = if i <= j { below + matrix.row(i)[j] } else { below };
                    assert!((sum - element(row, j)).abs() < 1e-11, "{family:?} {i} {j}: {sum}");
                }
            }
        }
    }
}
