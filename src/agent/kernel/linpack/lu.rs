//! LU with partial pivoting over blocks of columns, and the solve.
//!
//! Right-looking, with a look-ahead of one: while the threads subtract panel k from the blocks behind it, whoever has done so
//! for block k + 1 factors that block at once, so that the next step finds its panel ready. faer does the arithmetic of each
//! block. b is the last block, so that the forward substitution is done on the way, and rows left of a panel are never swapped.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_unit_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par};

use super::matrix::System;
use crate::agent::kernel::threads::{Gate, each};
use crate::agent::kernel::{KernelError, Stop};
use crate::agent::meter::Meter;

/// Columns of the matrix that are stored and worked on together.
pub(super) struct Block {
    values: Vec<f64>,
    columns: usize,
    /// For each column of a factored panel, the row that it was swapped with.
    pivots: Vec<usize>,
}

/// The matrix with b behind it.
pub(super) struct Blocks {
    system: System,
    width: usize,
    /// Values from one column to the next.
    stride: usize,
    all: Vec<RwLock<Block>>,
}

/// Where the work is done, and who watches.
#[derive(Clone, Copy)]
pub(super) struct Team<'a> {
    pub(super) cpus: &'a [usize],
    pub(super) meter: &'a Meter,
    pub(super) stop: &'a Stop,
}

/// Bytes that the blocks of a system of order n take.
pub(super) fn bytes(n: usize) -> u64 {
    (stride(n) as u64) * (n as u64 + 1) * 8
}

/// Cache lines of a column stay apart from those of the next: a multiple of 4 KiB would put them into the same few sets.
fn stride(n: usize) -> usize {
    let whole = n.next_multiple_of(8);
    if whole.is_multiple_of(512) { whole + 8 } else { whole }
}

impl Blocks {
    /// Memory for a system, not touched yet; none when it is refused.
    pub(super) fn new(system: System, width: usize) -> Option<Self> {
        let (n, stride) = (system.n, stride(system.n));
        let widths = (0..n).step_by(width).map(|first| width.min(n - first)).chain([1]);
        let block = |columns: usize| {
            let mut values = Vec::new();
            values.try_reserve_exact(columns * stride).ok()?;
            Some(RwLock::new(Block { values, columns, pivots: Vec::new() }))
        };
        Some(Self { system, width, stride, all: widths.map(block).collect::<Option<_>>()? })
    }

    /// Writes the system into the blocks, in turn by the threads, so that their memory lies spread over the nodes.
    pub(super) fn fill(&self, cpus: &[usize], stop: &Stop) -> Result<(), KernelError> {
        each(cpus, &Gate::new(cpus.len()), vec![(); cpus.len()], |thread, ()| {
            for index in (thread..self.all.len()).step_by(cpus.len()) {
                let mut block = self.write(index);
                let columns = block.columns;
                block.values.resize(columns * self.stride, 0.0);
                for (j, column) in block.values.chunks_exact_mut(self.stride).enumerate() {
                    if stop.asked() {
                        return;
                    }
                    // b is column n, also where the last panel is narrow.
                    let number = if index == self.panels() { self.system.n } else { index * self.width + j };
                    self.system.column(number, column);
                }
            }
        })?;
        stop.check()
    }

    /// Factors the matrix and returns x.
    pub(super) fn solve(&self, team: Team<'_>) -> Result<Vec<f64>, KernelError> {
        let (threads, gate) = (team.cpus.len(), Gate::new(team.cpus.len()));
        let taken: Vec<AtomicUsize> = (0..self.panels()).map(|_| AtomicUsize::new(0)).collect();
        let results = each(team.cpus, &gate, vec![(); threads], |thread, ()| {
            let result = self.work(thread, &taken, &gate, team);
            if result.is_err() {
                gate.destroy();
            }
            result
        })?;
        team.stop.check()?;
        results.into_iter().collect::<Result<Vec<()>, _>>()?;
        let x = self.substitute();
        team.meter.lane(0).add(0, (self.system.n * self.system.n) as u64);
        Ok(x)
    }

    /// One thread's share of the factorisation.
    fn work(&self, thread: usize, taken: &[AtomicUsize], gate: &Gate, team: Team<'_>) -> Result<(), KernelError> {
        let lane = team.meter.lane(thread);
        if thread == 0 {
            lane.add(0, self.factor(0, &mut self.write(0))?);
        }
        for (k, taken) in taken.iter().enumerate() {
            if !gate.pass() {
                return Ok(());
            }
            let panel = self.read(k);
            loop {
                let index = k + 1 + taken.fetch_add(1, Relaxed);
                if index >= self.all.len() {
                    break;
                }
                team.stop.check()?;
                let mut block = self.write(index);
                lane.add(0, self.update(k, &panel, &mut block));
                if index == k + 1 && index < self.panels() {
                    lane.add(0, self.factor(index, &mut block)?);
                }
            }
        }
        Ok(())
    }

    /// LU of the rows of panel k from its diagonal on; returns the floating-point operations.
    fn factor(&self, k: usize, panel: &mut Block) -> Result<u64, KernelError> {
        let first = k * self.width;
        let (rows, columns) = (self.system.n - first, panel.columns);
        let memory = lu_in_place_scratch::<usize, f64>(rows, columns, Par::Seq, faer::prelude::default());
        let mut memory = MemBuffer::try_new(memory)
            .map_err(|_| KernelError::Unavailable("memory for a panel was refused".to_owned()))?;
        let (mut order, mut inverse) = (vec![0_usize; rows], vec![0_usize; rows]);
        lu_in_place(
            self.matrix_mut(panel).submatrix_mut(first, 0, rows, columns),
            &mut order,
            &mut inverse,
            Par::Seq,
            MemStack::new(&mut memory),
            faer::prelude::default(),
        );
        panel.pivots = swaps(&order, columns);
        Ok((columns * columns * rows - columns * columns * columns / 3) as u64)
    }

    /// Subtracts panel k from a block behind it; returns the floating-point operations.
    fn update(&self, k: usize, panel: &Block, block: &mut Block) -> u64 {
        let (first, width, columns) = (k * self.width, panel.columns, block.columns);
        let rest = self.system.n - first - width;
        for column in block.values.chunks_exact_mut(self.stride) {
            let column = &mut column[first..];
            for (i, row) in panel.pivots.iter().enumerate() {
                column.swap(i, *row);
            }
        }
        let panel = self.matrix(panel);
        let (diagonal, below) = (panel.submatrix(first, 0, width, width), panel.subrows(first + width, rest));
        let (upper, lower) = self.matrix_mut(block).split_at_row_mut(first + width);
        let mut upper = upper.subrows_mut(first, width);
        solve_unit_lower_triangular_in_place(diagonal, upper.as_mut(), Par::Seq);
        matmul(lower, Accum::Add, below, upper.as_ref(), -1.0, Par::Seq);
        (width * columns * (width + 2 * rest)) as u64
    }

    /// Back substitution: the forward one is done when b, the last block, has gone through all updates.
    fn substitute(&self) -> Vec<f64> {
        let n = self.system.n;
        let mut x = self.read(self.panels()).values[..n].to_vec();
        for k in (0..self.panels()).rev() {
            let panel = self.read(k);
            let first = k * self.width;
            let matrix = self.matrix(&panel);
            let (above, here) = x[..first + panel.columns].split_at_mut(first);
            let here = MatMut::from_column_major_slice_mut(here, panel.columns, 1);
            let above = MatMut::from_column_major_slice_mut(above, first, 1);
            let mut here = here;
            let diagonal = matrix.submatrix(first, 0, panel.columns, panel.columns);
            solve_upper_triangular_in_place(diagonal, here.as_mut(), Par::Seq);
            matmul(above, Accum::Add, matrix.subrows(0, first), here.as_ref(), -1.0, Par::Seq);
        }
        x
    }

    /// Blocks of A; the one behind them holds b.
    fn panels(&self) -> usize {
        self.all.len() - 1
    }

    fn matrix<'a>(&self, block: &'a Block) -> MatRef<'a, f64> {
        MatRef::from_column_major_slice_with_stride(&block.values, self.system.n, block.columns, self.stride)
    }

    fn matrix_mut<'a>(&self, block: &'a mut Block) -> MatMut<'a, f64> {
        let columns = block.columns;
        MatMut::from_column_major_slice_with_stride_mut(&mut block.values, self.system.n, columns, self.stride)
    }

    fn read(&self, index: usize) -> RwLockReadGuard<'_, Block> {
        // A thread that panicked has broken the whole run already.
        self.all[index].read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, index: usize) -> RwLockWriteGuard<'_, Block> {
        self.all[index].write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes one value, as bad memory would.
    #[cfg(test)]
    pub(super) fn flip(&self, row: usize, column: usize) {
        let mut block = self.write(column / self.width);
        let at = column % self.width * self.stride + row;
        block.values[at] = f64::from_bits(block.values[at].to_bits() ^ 1 << 40);
    }
}

/// The row exchanges, one a column, that lead to an order of the rows: `order[i]` is the row that ends at i.
fn swaps(order: &[usize], columns: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..order.len()).collect();
    let mut place = rows.clone();
    let exchange = |i: usize| {
        let from = place[order[i]];
        rows.swap(i, from);
        place[rows[i]] = i;
        place[rows[from]] = from;
        from
    };
    (0..columns).map(exchange).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_lead_to_the_order() {
        let order = [3, 0, 4, 1, 2];
        let mut rows = [0, 1, 2, 3, 4];
        for (i, from) in swaps(&order, 5).into_iter().enumerate() {
            rows.swap(i, from);
        }
        assert_eq!(rows, order);
    }

    #[test]
    fn columns_never_lie_a_page_apart() {
        for n in [1, 511, 512, 4000, 4096, 8000] {
            assert!(stride(n) >= n && !stride(n).is_multiple_of(512) && stride(n).is_multiple_of(8));
        }
    }
}
