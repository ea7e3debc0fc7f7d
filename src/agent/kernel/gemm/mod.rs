//! Dense matrix multiplication: C = A·B over and over, checked by Freivalds' method. Its parts also serve the LINPACK kernel.

pub(super) mod grid;
pub(super) mod micro;
mod multiply;
pub(super) mod pages;
pub(super) mod team;
pub(super) mod values;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::area;
use super::threads::{Gate, choose, each};
use super::{Description, KernelError, Measured, Stop, Takes};
use crate::agent::meter::{Lanes, Meter};
use crate::agent::resources::Resources;
use crate::vocab::event::{MeterSpec, Phase};
use crate::vocab::figure::Figure;
use crate::vocab::moment::Span;
use crate::vocab::plan::Gemm;
use crate::vocab::size::Order;
use crate::vocab::unit::Unit;
use micro::Family;
use multiply::{Extents, Product};
use team::Team;
use values::{dot, uniform};

/// The largest order that `Auto` chooses, and the step of its choice.
const LARGEST_AUTO: usize = 8000;
const AUTO_STEP: usize = 64;

/// The share of the memory that `Auto` takes.
const AUTO_SHARE: f64 = 0.4;

/// What a slow thread does in a second, for the preflight's guess.
pub(super) const SLOW_FLOPS_PER_SECOND: f64 = 5e9;

/// The rounding errors of so many standard deviations are no fault: λ in γ̃ₙ = λ√n u (Higham and Mary, A New Approach to
/// Probabilistic Rounding Error Analysis, 2019). Of a few thousand rows none errs by eight.
const DEVIATIONS: f64 = 8.0;

/// What A, B and the vector of the check are made from, beside the seed.
const OF_A: u64 = 0x0a;
const OF_B: u64 = 0x0b;
const OF_VECTOR: u64 = 0x0c;

/// Multiplies until its time is up.
pub(super) struct Kernel {
    n: usize,
    seed: u64,
    time: Span,
    cpus: Vec<usize>,
    family: Family,
    memory: u64,
    product: Option<Product>,
}

/// The order that is asked for, or the largest that needs no more than its share of the memory.
pub(super) fn order(size: Order, memory: u64, needs: impl Fn(usize) -> u64) -> Result<usize, KernelError> {
    let room = memory as f64 * AUTO_SHARE;
    let fits = |n: &usize| needs(*n) as f64 <= room;
    let n = match size {
        Order::Auto => (1..=LARGEST_AUTO / AUTO_STEP).rev().map(|steps| steps * AUTO_STEP).find(fits).unwrap_or(0),
        Order::N(n) => n,
    };
    // Above 2²⁴ the matrix has 2 PiB; below, no product here overflows.
    if (1..=1 << 24).contains(&n) {
        return Ok(n);
    }
    let mib = memory >> 20;
    Err(KernelError::Unavailable(format!("no matrix of order {n}; {mib} MiB of memory can be had")))
}

/// The fastest family of this CPU.
pub(super) fn fastest() -> Family {
    Family::here().first().copied().unwrap_or(Family::Portable)
}

/// Bytes that a product of order n takes on so many threads: the matrices, what is packed, and the vectors of the check.
fn needs(n: usize, threads: usize) -> u64 {
    multiply::bytes(square(n), threads) + 8 * (n * (6 + threads)) as u64
}

fn square(n: usize) -> Extents {
    Extents { rows: n, inner: n, columns: n }
}

impl Kernel {
    pub(super) fn new(load: &Gemm, seed: u64, node: &Resources) -> Result<Self, KernelError> {
        let cpus = choose(&node.cores_first(), load.threads.or(Some(node.core_threads())))?;
        let n = order(load.size, node.memory, |n| needs(n, cpus.len()))?;
        Ok(Self { n, seed, time: load.time, cpus, family: fastest(), memory: node.memory, product: None })
    }

    fn operations(&self) -> f64 {
        2.0 * (self.n as f64).powi(3)
    }

    /// Compares C·r with A·(B·r) for a random r, A and B made anew (Freivalds, Probabilistic Machines Can Use Less Running Time,
    /// 1977).
    fn verify(&self, product: &Product) -> Result<(), KernelError> {
        let (n, seed) = (self.n, self.seed);
        let mut r = vec![0.0; n];
        uniform(seed ^ OF_VECTOR, 0, &mut r);
        let absolute: Vec<f64> = r.iter().map(|x| x.abs()).collect();
        let b = self.by_rows(|i, row| {
            uniform(seed ^ OF_B, i, row);
            (dot(row, &r), sum_of_absolutes(row, &absolute))
        })?;
        let (b_r, b_absolute): (Vec<f64>, Vec<f64>) = b.into_iter().unzip();
        let rounding = DEVIATIONS * (n as f64).sqrt() * f64::EPSILON;
        let wrong = self.by_rows(|i, row| {
            uniform(seed ^ OF_A, i, row);
            let error = (dot(&product.c.row(i)[..n], &r) - dot(row, &b_r)).abs();
            let bound = rounding * sum_of_absolutes(row, &b_absolute);
            // Written so that NaN is wrong too.
            if error <= bound { None } else { Some((error, bound)) }
        })?;
        match wrong.into_iter().enumerate().find_map(|(i, wrong)| wrong.map(|wrong| (i, wrong))) {
            None => Ok(()),
            Some((row, (error, bound))) => Err(KernelError::Corrupt(format!(
                "row {row} of a product of order {n} is wrong by {error:.1e}, where rounding explains {bound:.1e}: an arithmetic \
                 or memory error"
            ))),
        }
    }

    /// What `of` makes of each row, in order.
    fn by_rows<R: Send>(&self, of: impl Fn(usize, &mut [f64]) -> R + Sync) -> Result<Vec<R>, KernelError> {
        let (n, threads) = (self.n, self.cpus.len());
        let parts = each(&self.cpus, &Gate::new(threads), vec![(); threads], |thread, ()| {
            let mut row = vec![0.0; n];
            (n * thread / threads..n * (thread + 1) / threads).map(|i| of(i, &mut row)).collect::<Vec<R>>()
        })?;
        Ok(parts.into_iter().flatten().collect())
    }
}

fn sum_of_absolutes(row: &mut [f64], factors: &[f64]) -> f64 {
    row.iter_mut().for_each(|x| *x = x.abs());
    dot(row, factors)
}

impl super::Kernel for Kernel {
    fn takes(&self) -> Takes {
        let one = self.operations() / (SLOW_FLOPS_PER_SECOND * self.cpus.len() as f64);
        let time = Span(self.time.0.max((one * 1e6) as u64) + 100_000);
        Takes { memory: needs(self.n, self.cpus.len()), time, loads: true, ..Takes::default() }
    }

    fn describe(&self) -> Description {
        let (threads, n) = (self.cpus.len(), self.n);
        let labels = [
            ("engine", format!("packed GEMM, {}", self.family.name())),
            ("threads", threads.to_string()),
            ("size", n.to_string()),
        ];
        Description {
            meters: vec![MeterSpec::new("gflops", Unit::Gflops, true)],
            lanes: Lanes { threads, depth: 0, timed: false },
            labels: labels.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<BTreeMap<_, _>>(),
            command: format!("OPENBLAS_NUM_THREADS={threads} dgemm.goto {n} {n} 1"),
            cpus: self.cpus.clone(),
            bound: Some(super::Ceiling::FloatingPoint),
        }
    }

    fn prepare(&mut self, _: &Meter, stop: &Stop) -> Result<(), KernelError> {
        let (n, seed, needs) = (self.n, self.seed, needs(self.n, self.cpus.len()));
        let refused = || area::refused(needs, self.memory);
        if needs > self.memory {
            return Err(refused());
        }
        let mut product = Product::new(square(n), self.cpus.len()).ok_or_else(refused)?;
        for (matrix, of) in [(&mut product.a, OF_A), (&mut product.b, OF_B)] {
            matrix.fill(n, &self.cpus, stop, |i, row| uniform(seed ^ of, i, &mut row[..n]))?;
        }
        product.c.fill(n, &self.cpus, stop, |_, row| row.fill(0.0))?;
        self.product = Some(product);
        Ok(())
    }

    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError> {
        let mut product = self.product.take().ok_or_else(|| KernelError::Broken("not prepared".to_owned()))?;
        meter.phase(Phase::Measure);
        let team = Team { cpus: &self.cpus, family: self.family, meter, stop };
        let (mut total, mut times, mut best) = (Duration::ZERO, 0, Duration::MAX);
        while times == 0 || total < Duration::from(self.time) {
            let start = Instant::now();
            product.multiply(square(self.n), team)?;
            let took = start.elapsed();
            total += took;
            times += 1;
            best = best.min(took);
        }
        meter.phase(Phase::Verify);
        self.verify(&product)?;
        self.product = Some(product);
        let rate = |operations: f64, time: Duration| operations / time.as_secs_f64() / 1e9;
        let figures = vec![
            Figure::new("gflops", rate(self.operations() * f64::from(times), total), Unit::Gflops),
            Figure::new("best_gflops", rate(self.operations(), best), Unit::Gflops),
            Figure::new("multiplications", f64::from(times), Unit::Count),
        ];
        Ok(Measured { figures, latency: None })
    }
}

#[cfg(test)]
mod tests;
