//! LU with partial pivoting over panels of columns, and the solve.
//!
//! Right-looking, with a look-ahead of one: while the threads subtract panel k from the columns behind it, whoever has done so for
//! the columns of panel k + 1 factors them at once, so that the next step finds its panel ready. The matrix lies by rows, so that
//! a swap of rows moves whole cache lines; b is its last column, so that the forward substitution is done on the way. L is never
//! written back, since nobody needs it once it has been subtracted.
#![allow(unsafe_code, reason = "threads update columns of one matrix with the tile kernels")]
#![allow(clippy::inline_always, reason = "what is not inlined is not compiled for the tile's CPU")]

use std::ops::Range;
use std::sync::{Mutex, PoisonError, RwLock};

use super::matrix::System;
use super::panel::{Panel, copy_values, packed_values};
use crate::agent::kernel::gemm::grid::{Grid, Matrix, product, values};
use crate::agent::kernel::gemm::micro::{ForTile, Tile};
use crate::agent::kernel::gemm::pages::Pages;
use crate::agent::kernel::gemm::team::{BLOCK, ROWS, Slivers, Team};
use crate::agent::kernel::gemm::values::dot;
use crate::agent::kernel::threads::Gate;
use crate::agent::kernel::{KernelError, Stop};
use crate::agent::meter::Lane;

/// The matrix with b behind it, and the memory to work in.
pub(super) struct Blocks {
    system: System,
    /// The columns of each panel.
    plan: Vec<Range<usize>>,
    matrix: Matrix,
    /// The panel that is subtracted, and the one that is made meanwhile.
    panels: [RwLock<Panel>; 2],
    /// The panel that is being factored, by columns.
    copy: Mutex<Pages>,
    /// What each thread packs columns into.
    packs: Vec<Mutex<Pages>>,
}

/// The columns of each panel: fewer, the less is left, as one thread factors a panel while the others subtract the one before.
fn plan(n: usize) -> Vec<Range<usize>> {
    let mut plan = Vec::new();
    let mut first = 0;
    while first < n {
        let end = (first + width(n - first)).min(n);
        plan.push(first..end);
        first = end;
    }
    plan
}

/// Columns of a panel with so many rows: whole tiles of every family.
pub(super) fn width(rows: usize) -> usize {
    match rows {
        0..=768 => 48,
        769..=1800 => 96,
        1801..=3000 => 144,
        _ => 240,
    }
}

/// Bytes that a system of order n takes on so many threads.
pub(super) fn bytes(n: usize, threads: usize) -> u64 {
    let widest = width(n);
    let panel = copy_values(n, widest) + 2 * packed_values(n, widest);
    8 * (values(n, n + 1) + panel + threads * BLOCK * widest) as u64
}

impl Blocks {
    /// Memory for a system, not touched yet; none when it is refused.
    pub(super) fn new(system: System, threads: usize) -> Option<Self> {
        let n = system.n;
        let widest = width(n);
        let packs = (0..threads).map(|_| Some(Mutex::new(Pages::new(BLOCK * widest)?)));
        Some(Self {
            system,
            plan: plan(n),
            matrix: Matrix::new(n, n + 1)?,
            panels: [RwLock::new(Panel::new(n, widest)?), RwLock::new(Panel::new(n, widest)?)],
            copy: Mutex::new(Pages::new(copy_values(n, widest))?),
            packs: packs.collect::<Option<_>>()?,
        })
    }

    /// Writes the system into the matrix, in turn by the threads, so that its memory lies spread over the nodes.
    pub(super) fn fill(&mut self, cpus: &[usize], stop: &Stop) -> Result<(), KernelError> {
        let system = self.system;
        self.matrix.fill(system.n, cpus, stop, |index, row| system.row(index, row))
    }

    /// Factors the matrix and returns x.
    pub(super) fn solve(&mut self, team: Team<'_>) -> Result<Vec<f64>, KernelError> {
        let n = self.system.n;
        let work = Factorisation {
            n,
            plan: &self.plan,
            grid: self.matrix.grid(),
            panels: &self.panels,
            copy: &self.copy,
            packs: &self.packs,
            slivers: self.plan.iter().map(|_| Slivers::default()).collect(),
            gate: Gate::new(team.cpus.len()),
            team,
        };
        // SAFETY: the family is one of this CPU's.
        unsafe { team.family.run(&work) }?;
        team.stop.check()?;
        let x = self.substitute();
        team.meter.lane(0).add(0, (n * n) as u64);
        Ok(x)
    }

    /// Back substitution: the forward one is done when b has gone through all updates.
    fn substitute(&self) -> Vec<f64> {
        let n = self.system.n;
        let mut x = vec![0.0; n];
        for i in (0..n).rev() {
            let row = self.matrix.row(i);
            x[i] = (row[n] - dot(&row[i + 1..n], &x[i + 1..])) / row[i];
        }
        x
    }

    /// Flips a bit of the matrix, as broken memory would.
    #[cfg(test)]
    pub(super) fn flip(&mut self, row: usize, column: usize) {
        let value = &mut self.matrix.row_mut(row)[column];
        *value = f64::from_bits(value.to_bits() ^ (1 << 51));
    }
}

/// One factorisation, shared by its threads.
struct Factorisation<'a> {
    n: usize,
    plan: &'a [Range<usize>],
    grid: Grid<'a>,
    panels: &'a [RwLock<Panel>; 2],
    copy: &'a Mutex<Pages>,
    packs: &'a [Mutex<Pages>],
    /// For each step the columns behind its panel.
    slivers: Vec<Slivers>,
    gate: Gate,
    team: Team<'a>,
}

impl ForTile for &Factorisation<'_> {
    type Output = Result<(), KernelError>;

    unsafe fn run<T: Tile>(self) -> Self::Output {
        // SAFETY: the tile is this CPU's.
        self.team.share(&self.gate, |thread| unsafe { self.work::<T>(thread) })
    }
}

impl Factorisation<'_> {
    /// One thread's share.
    ///
    /// # Safety
    /// The CPU must be the tile's.
    unsafe fn work<T: Tile>(&self, thread: usize) -> Result<(), KernelError> {
        let lane = self.team.meter.lane(thread);
        let mut pack = self.packs[thread].lock().unwrap_or_else(PoisonError::into_inner);
        if thread == 0 {
            // SAFETY: the others wait at the gate.
            unsafe { self.factor::<T>(0, lane) };
        }
        for step in 0..self.plan.len() {
            if !self.gate.pass() {
                return Ok(());
            }
            let panel = self.panels[step % 2].read().unwrap_or_else(PoisonError::into_inner);
            while let Some(columns) = self.take::<T>(step) {
                // SAFETY: nobody else has taken these columns, nor will before the gate is passed again.
                unsafe { self.update::<T>(&panel, columns.clone(), &mut pack, lane)? };
                if columns.start == self.plan[step].end && step + 1 < self.plan.len() {
                    // SAFETY: as above, and they are those of the next panel.
                    unsafe { self.factor::<T>(step + 1, lane) };
                }
            }
        }
        Ok(())
    }

    /// Columns behind a step's panel that nobody has taken, first those of the next panel.
    fn take<T: Tile>(&self, step: usize) -> Option<Range<usize>> {
        let behind = self.plan[step].end;
        let all = (self.n + 1 - behind).div_ceil(T::WIDE);
        let next = self.plan.get(step + 1).map_or(1, |next| next.len().div_ceil(T::WIDE));
        let taken = self.slivers[step].take(all, next, BLOCK / T::WIDE, self.team.cpus.len())?;
        Some(behind + taken.start * T::WIDE..behind + taken.end * T::WIDE)
    }

    /// Factors the panel of a step.
    ///
    /// # Safety
    /// Nobody else may touch its columns meanwhile.
    unsafe fn factor<T: Tile>(&self, step: usize, lane: &Lane) {
        let columns = &self.plan[step];
        let mut panel = self.panels[step % 2].write().unwrap_or_else(PoisonError::into_inner);
        let mut copy = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as the caller says.
        unsafe { panel.factor::<T>(self.grid, &mut copy, self.n, columns.start, columns.len()) };
        lane.add(0, panel.operations(self.n));
    }

    /// Subtracts a panel from columns behind it, whole slivers of them.
    ///
    /// # Safety
    /// Nobody else may touch them meanwhile.
    unsafe fn update<T: Tile>(
        &self,
        panel: &Panel,
        columns: Range<usize>,
        pack: &mut [f64],
        lane: &Lane,
    ) -> Result<(), KernelError> {
        let (depth, count) = (panel.width, columns.len());
        let pack = &mut pack[..depth * count];
        // SAFETY: as the caller says.
        unsafe {
            self.swap(panel, &columns);
            self.solve_rows::<T>(panel, &columns, pack);
        }
        let real = columns.end.min(self.n + 1) - columns.start;
        lane.add(0, (depth * depth * real) as u64);
        let mut row = panel.first + depth;
        for tall in panel.below::<T>().chunks(ROWS / T::TALL * T::TALL * depth) {
            self.team.stop.check()?;
            // SAFETY: as the caller says.
            unsafe { product::<T, true>(depth, tall, pack, self.grid.at(row, columns.start), self.grid.stride) };
            let rows = (tall.len() / depth).min(self.n - row);
            lane.add(0, (2 * rows * depth * real) as u64);
            row += rows;
        }
        Ok(())
    }

    /// Swaps rows as the panel's pivots say.
    ///
    /// # Safety
    /// Nobody else may touch these columns meanwhile.
    unsafe fn swap(&self, panel: &Panel, columns: &Range<usize>) {
        for (i, pivot) in panel.pivots.iter().enumerate() {
            if *pivot != i {
                let row = |i: usize| self.grid.at(panel.first + i, columns.start);
                // SAFETY: two parts of different rows, the caller's alone; columns end within the row's padding.
                unsafe { std::ptr::swap_nonoverlapping(row(i), row(*pivot), columns.len()) };
            }
        }
    }

    /// Packs the panel's rows of some columns, solves L·U = A for them, and writes U back.
    ///
    /// # Safety
    /// Nobody else may touch these columns meanwhile, and the CPU must be the tile's.
    unsafe fn solve_rows<T: Tile>(&self, panel: &Panel, columns: &Range<usize>, pack: &mut [f64]) {
        let depth = panel.width;
        for (index, sliver) in pack.chunks_exact_mut(depth * T::WIDE).enumerate() {
            let first = columns.start + index * T::WIDE;
            for (p, values) in sliver.chunks_exact_mut(T::WIDE).enumerate() {
                // SAFETY: as the caller says.
                values.copy_from_slice(unsafe { self.grid.part(panel.first + p, first, T::WIDE) });
            }
            for (index, tall) in panel.corner::<T>().chunks_exact(depth * T::TALL).enumerate() {
                let done = index * T::TALL;
                let rows = T::TALL.min(depth - done);
                // SAFETY: as the caller says; the padding of the last rows lies in the matrix's memory.
                unsafe {
                    let start = sliver.as_mut_ptr();
                    if rows == T::TALL {
                        T::multiply::<true>(done, tall.as_ptr(), start, T::WIDE, start.add(done * T::WIDE), T::WIDE);
                    }
                    T::compiled(
                        #[inline(always)]
                        || substitute::<T>(tall, sliver, if rows == T::TALL { done } else { 0 }, done, rows),
                    );
                }
            }
            for (p, values) in sliver.chunks_exact(T::WIDE).enumerate() {
                // SAFETY: as the caller says.
                unsafe { self.grid.part(panel.first + p, first, T::WIDE) }.copy_from_slice(values);
            }
        }
    }
}

/// Forward substitution in a few rows of a packed sliver, from which the rows before `from` are already subtracted.
#[inline(always)]
fn substitute<T: Tile>(tall: &[f64], sliver: &mut [f64], from: usize, done: usize, rows: usize) {
    for row in 0..rows {
        let (above, here) = sliver.split_at_mut((done + row) * T::WIDE);
        for (p, above) in above.chunks_exact(T::WIDE).enumerate().skip(from) {
            let factor = tall[p * T::TALL + row];
            for (value, above) in here[..T::WIDE].iter_mut().zip(above) {
                *value -= factor * above;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::kernel::gemm::grid::PAD;

    #[test]
    fn panels_cover_all_columns_in_whole_tiles() {
        for n in [1, 47, 48, 49, 1000, 4000, 8000] {
            let plan = plan(n);
            assert!(plan[0].start == 0 && plan.last().unwrap().end == n);
            assert!(plan.windows(2).all(|p| p[0].end == p[1].start && p[0].len().is_multiple_of(PAD)), "{plan:?}");
        }
    }
}
