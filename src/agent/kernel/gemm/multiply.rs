//! C = A·B in blocks for the caches (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008).
//!
//! A and B are cut into products `DEPTH` deep. For each of them the threads first pack that part of A together, then each takes
//! columns of C, packs that part of B for itself, and adds the product to its columns.
#![allow(unsafe_code, reason = "threads update columns of one matrix with the tile kernels")]
#![allow(clippy::inline_always, reason = "what is not inlined is not compiled for the tile's CPU")]

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, RwLock};

use super::grid::{Grid, Matrix, product, values};
use super::micro::{ForTile, Tile};
use super::pages::Pages;
use super::team::{BLOCK, ROWS, Slivers, Team};
use crate::agent::kernel::KernelError;
use crate::agent::kernel::threads::Gate;
use crate::agent::meter::Lane;

/// Terms that are added up in registers.
const DEPTH: usize = 240;

/// The matrices and the memory to work in.
pub(super) struct Product {
    pub(super) a: Matrix,
    pub(super) b: Matrix,
    pub(super) c: Matrix,
    /// Rows of A, by [`ROWS`], packed.
    tall: Vec<RwLock<Pages>>,
    /// What each thread packs columns of B into.
    packs: Vec<Mutex<Pages>>,
}

/// The extents of C = A·B: A is `rows` × `inner`, B is `inner` × `columns`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    pub(super) rows: usize,
    pub(super) inner: usize,
    pub(super) columns: usize,
}

/// Bytes that a product takes on so many threads.
pub(super) fn bytes(of: Extents, threads: usize) -> u64 {
    let matrices = values(of.rows, of.inner) + values(of.inner, of.columns) + values(of.rows, of.columns);
    8 * (matrices + (of.rows.next_multiple_of(ROWS) + threads * BLOCK) * DEPTH) as u64
}

impl Product {
    /// Memory for a product, not touched yet; none when it is refused.
    pub(super) fn new(of: Extents, threads: usize) -> Option<Self> {
        Some(Self {
            a: Matrix::new(of.rows, of.inner)?,
            b: Matrix::new(of.inner, of.columns)?,
            c: Matrix::new(of.rows, of.columns)?,
            tall: (0..of.rows.div_ceil(ROWS))
                .map(|_| Some(RwLock::new(Pages::new(ROWS * DEPTH)?)))
                .collect::<Option<_>>()?,
            packs: (0..threads).map(|_| Some(Mutex::new(Pages::new(BLOCK * DEPTH)?))).collect::<Option<_>>()?,
        })
    }

    /// Multiplies.
    pub(super) fn multiply(&mut self, of: Extents, team: Team<'_>) -> Result<(), KernelError> {
        let steps = of.inner.div_ceil(DEPTH);
        let work = Multiplication {
            of,
            a: &self.a,
            b: &self.b,
            c: self.c.grid(),
            tall: &self.tall,
            packs: &self.packs,
            packed: (0..steps).map(|_| AtomicUsize::new(0)).collect(),
            slivers: (0..steps).map(|_| Slivers::default()).collect(),
            gate: Gate::new(team.cpus.len()),
            team,
        };
        // SAFETY: the family is one of this CPU's.
        unsafe { team.family.run(&work) }?;
        team.stop.check()
    }
}

/// One multiplication, shared by its threads.
struct Multiplication<'a> {
    of: Extents,
    a: &'a Matrix,
    b: &'a Matrix,
    c: Grid<'a>,
    tall: &'a [RwLock<Pages>],
    packs: &'a [Mutex<Pages>],
    /// For each step, how many blocks of rows of A are taken.
    packed: Vec<AtomicUsize>,
    /// For each step, the columns of C.
    slivers: Vec<Slivers>,
    gate: Gate,
    team: Team<'a>,
}

impl ForTile for &Multiplication<'_> {
    type Output = Result<(), KernelError>;

    unsafe fn run<T: Tile>(self) -> Self::Output {
        // SAFETY: the tile is this CPU's.
        self.team.share(&self.gate, |thread| unsafe { self.work::<T>(thread) })
    }
}

impl Multiplication<'_> {
    /// One thread's share.
    ///
    /// # Safety
    /// The CPU must be the tile's.
    unsafe fn work<T: Tile>(&self, thread: usize) -> Result<(), KernelError> {
        let (lane, threads) = (self.team.meter.lane(thread), self.team.cpus.len());
        let mut pack = self.packs[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let all = self.of.columns.div_ceil(T::WIDE);
        let most = BLOCK / T::WIDE;
        for (step, (packed, slivers)) in self.packed.iter().zip(&self.slivers).enumerate() {
            let inner = step * DEPTH..self.of.inner.min((step + 1) * DEPTH);
            while let Some(block) = Some(packed.fetch_add(1, Relaxed)).filter(|block| *block < self.tall.len()) {
                self.team.stop.check()?;
                // SAFETY: as the caller says.
                unsafe { T::compiled(|| self.pack_rows::<T>(block, &inner)) };
            }
            if !self.gate.pass() {
                return Ok(());
            }
            while let Some(taken) = slivers.take(all, most.min(all.div_ceil(threads)), most, threads) {
                let columns = taken.start * T::WIDE..taken.end * T::WIDE;
                // SAFETY: nobody else has taken these columns, nor will before the gate is passed again.
                unsafe { self.add::<T>(&inner, &columns, &mut pack, lane)? };
            }
            if !self.gate.pass() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Packs a block of rows of A, of which `inner` are the columns.
    #[inline(always)]
    fn pack_rows<T: Tile>(&self, block: usize, inner: &Range<usize>) {
        let mut tall = self.tall[block].write().unwrap_or_else(PoisonError::into_inner);
        let rows = block * ROWS..(block * ROWS + ROWS).min(self.of.rows);
        for (row, sliver) in rows.step_by(T::TALL).zip(tall.chunks_exact_mut(T::TALL * inner.len())) {
            for down in 0..T::TALL {
                let values = &self.a.row(row + down)[inner.clone()];
                for (value, into) in values.iter().zip(sliver.chunks_exact_mut(T::TALL)) {
                    into[down] = *value;
                }
            }
        }
    }

    /// Adds to some columns of C, whole slivers of them, the product over `inner`.
    ///
    /// # Safety
    /// Nobody else may touch these columns of C meanwhile, and the CPU must be the tile's.
    unsafe fn add<T: Tile>(
        &self,
        inner: &Range<usize>,
        columns: &Range<usize>,
        pack: &mut [f64],
        lane: &Lane,
    ) -> Result<(), KernelError> {
        let depth = inner.len();
        let pack = &mut pack[..depth * columns.len()];
        for (first, sliver) in columns.clone().step_by(T::WIDE).zip(pack.chunks_exact_mut(depth * T::WIDE)) {
            for (row, into) in inner.clone().zip(sliver.chunks_exact_mut(T::WIDE)) {
                into.copy_from_slice(&self.b.row(row)[first..first + T::WIDE]);
            }
        }
        let real = columns.end.min(self.of.columns) - columns.start;
        for (block, tall) in self.tall.iter().enumerate() {
            self.team.stop.check()?;
            let rows = block * ROWS..(block * ROWS + ROWS).min(self.of.rows);
            let tall = tall.read().unwrap_or_else(PoisonError::into_inner);
            let tall = &tall[..rows.len().next_multiple_of(T::TALL) * depth];
            // SAFETY: as the caller says.
            unsafe {
                if inner.start == 0 {
                    rows.clone().for_each(|row| self.c.part(row, columns.start, columns.len()).fill(0.0));
                }
                product::<T, false>(depth, tall, pack, self.c.at(rows.start, columns.start), self.c.stride);
            }
            lane.add(0, (2 * rows.len() * depth * real) as u64);
        }
        Ok(())
    }
}
