//! LINPACK: a dense random system, solved by LU with partial pivoting and checked by HPL's residual.

mod lu;
mod matrix;
mod panel;

use std::collections::BTreeMap;
use std::time::Instant;

use super::area;
use super::gemm::micro::Family;
use super::gemm::team::Team;
use super::gemm::{SLOW_FLOPS_PER_SECOND, fastest, order};
use super::threads::{Gate, choose, each};
use super::{Description, KernelError, Measured, Stop, Takes};
use crate::agent::meter::{Lanes, Meter};
use crate::agent::resources::Resources;
use crate::vocab::event::{MeterSpec, Phase};
use crate::vocab::figure::Figure;
use crate::vocab::moment::Span;
use crate::vocab::plan::Linpack;
use crate::vocab::unit::Unit;
use lu::Blocks;
use matrix::System;

/// HPL's limit of a good residual.
const WORST_RESIDUAL: f64 = 16.0;

/// Solves systems.
pub(super) struct Kernel {
    system: System,
    cpus: Vec<usize>,
    family: Family,
    memory: u64,
    blocks: Option<Blocks>,
}

impl Kernel {
    pub(super) fn new(load: &Linpack, seed: u64, node: &Resources) -> Result<Self, KernelError> {
        let cpus = choose(&node.cores_first(), load.threads.or(Some(node.core_threads())))?;
        let n = order(load.size, node.memory, |n| needs(n, cpus.len()))?;
        let system = System { n, seed };
        Ok(Self { system, cpus, family: fastest(), memory: node.memory, blocks: None })
    }

    fn needs(&self) -> u64 {
        needs(self.system.n, self.cpus.len())
    }

    /// 2/3 n³ + 3/2 n²: what HPL counts, whatever was really done.
    fn operations(&self) -> f64 {
        let n = self.system.n as f64;
        2.0 / 3.0 * n * n * n + 1.5 * n * n
    }

    fn verify(&self, x: &[f64]) -> Result<f64, KernelError> {
        let threads = self.cpus.len();
        let parts = each(&self.cpus, &Gate::new(threads), vec![(); threads], |thread, ()| {
            self.system.largest((thread..self.system.n).step_by(threads), x)
        })?;
        let residual = self.system.residual(&parts, x);
        // Written so that NaN is wrong too.
        if residual <= WORST_RESIDUAL {
            return Ok(residual);
        }
        Err(KernelError::Corrupt(format!(
            "residual {residual:.3e} of a system of order {}, over {WORST_RESIDUAL}: an arithmetic or memory error",
            self.system.n
        )))
    }
}

/// Bytes that a system of order n takes on so many threads: the matrix, its panels, the vectors of the check.
fn needs(n: usize, threads: usize) -> u64 {
    lu::bytes(n, threads) + 8 * (n * (2 + threads)) as u64
}

impl super::Kernel for Kernel {
    fn takes(&self) -> Takes {
        let seconds = self.operations() / (SLOW_FLOPS_PER_SECOND * self.cpus.len() as f64);
        let time = Span((seconds * 1e6) as u64 + 100_000);
        Takes { memory: self.needs(), time, loads: true, ..Takes::default() }
    }

    fn describe(&self) -> Description {
        let width = lu::width(self.system.n);
        let labels = [
            ("engine", format!("blocked LU with partial pivoting and look-ahead, {}", self.family.name())),
            ("threads", self.cpus.len().to_string()),
            ("size", self.system.n.to_string()),
            ("block_columns", width.to_string()),
        ];
        Description {
            // Not level: each panel leaves less to do for the next, and the last ones keep no thread busy.
            meters: vec![MeterSpec::new("gflops", Unit::Gflops, false)],
            lanes: Lanes { threads: self.cpus.len(), depth: 0, timed: false },
            labels: labels.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<BTreeMap<_, _>>(),
            command: format!("OMP_NUM_THREADS={} xhpl  # N={} NB={width} P=Q=1", self.cpus.len(), self.system.n),
            cpus: self.cpus.clone(),
            bound: Some(super::Ceiling::FloatingPoint),
        }
    }

    fn prepare(&mut self, _: &Meter, stop: &Stop) -> Result<(), KernelError> {
        let refused = || area::refused(self.needs(), self.memory);
        if self.needs() > self.memory {
            return Err(refused());
        }
        let mut blocks = Blocks::new(self.system, self.cpus.len()).ok_or_else(refused)?;
        blocks.fill(&self.cpus, stop)?;
        self.blocks = Some(blocks);
        Ok(())
    }

    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError> {
        let blocks = self.blocks.as_mut().ok_or_else(|| KernelError::Broken("not prepared".to_owned()))?;
        meter.phase(Phase::Ramp);
        blocks.fill(&self.cpus, stop)?;
        meter.phase(Phase::Measure);
        let start = Instant::now();
        let x = blocks.solve(Team { cpus: &self.cpus, family: self.family, meter, stop })?;
        let seconds = start.elapsed().as_secs_f64();
        meter.phase(Phase::Verify);
        let residual = self.verify(&x)?;
        let figures = vec![
            Figure::new("gflops", self.operations() / seconds / 1e9, Unit::Gflops),
            Figure::new("residual", residual, Unit::Count),
            Figure::new("seconds", seconds, Unit::Seconds),
        ];
        Ok(Measured { figures, latency: None })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Kernel as _;
    use super::*;
    use crate::agent::voice::Voice;
    use crate::vocab::size::Order;

    fn node() -> Resources {
        Resources::here(Path::new("/"))
    }

    fn kernel(n: usize, threads: u32) -> (Kernel, Meter) {
        let load = Linpack { size: Order::N(n), threads: Some(threads) };
        let kernel = Kernel::new(&load, 5, &node()).unwrap();
        let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
        (kernel, meter)
    }

    #[test]
    fn systems_of_any_order_are_solved_on_any_number_of_threads_by_any_family() {
        for family in Family::here() {
            for (n, threads) in [(1, 1), (2, 3), (47, 2), (48, 2), (49, 1), (300, 4), (517, 2), (1000, 3)] {
                let (mut kernel, meter) = kernel(n, threads);
                kernel.family = family;
                kernel.prepare(&meter, &Stop::default()).unwrap();
                for _ in 0..2 {
                    let measured = kernel.iterate(&meter, &Stop::default()).unwrap();
                    let values: Vec<f64> = measured.figures.iter().map(|f| f.value).collect();
                    assert!(values.iter().all(|v| v.is_finite()) && values[1] <= 1.0, "{family:?} n {n}: {values:?}");
                }
            }
        }
    }

    #[test]
    fn the_meter_counts_what_the_figure_counts() {
        let (mut kernel, meter) = kernel(600, 2);
        kernel.prepare(&meter, &Stop::default()).unwrap();
        kernel.iterate(&meter, &Stop::default()).unwrap();
        let done = meter.read(crate::clock::now(), false).done[0] as f64;
        assert!((done / kernel.operations() - 1.0).abs() < 0.01, "{done} of {}", kernel.operations());
    }

    #[test]
    fn a_flipped_bit_is_found() {
        let (mut kernel, meter) = kernel(400, 2);
        let stop = Stop::default();
        kernel.prepare(&meter, &stop).unwrap();
        let mut blocks = kernel.blocks.take().unwrap();
        let team = Team { cpus: &kernel.cpus, family: kernel.family, meter: &meter, stop: &stop };
        assert!(kernel.verify(&blocks.solve(team).unwrap()).is_ok());
        blocks.fill(&kernel.cpus, &stop).unwrap();
        blocks.flip(17, 391);
        let found = kernel.verify(&blocks.solve(team).unwrap());
        assert!(matches!(found, Err(KernelError::Corrupt(why)) if why.starts_with("residual")));
    }

    #[test]
    fn its_threads_are_on_cores_of_their_own_and_it_says_on_which() {
        let node = Resources { cpus: vec![0, 1, 2, 3], cores: vec![0, 2], ..Resources::faked() };
        let on = |threads| {
            let load = Linpack { size: Order::N(64), threads };
            Kernel::new(&load, 5, &node).unwrap().describe().cpus
        };
        assert_eq!((on(None), on(Some(3))), (vec![0, 2], vec![0, 2, 1]));
    }

    #[test]
    fn auto_fits_the_memory() {
        let order = |memory| order(Order::Auto, memory, |n| needs(n, 2)).unwrap();
        assert_eq!(order(64 << 30), 8000);
        for memory in [100 << 20, 256 << 20, 1 << 30] {
            let n = order(memory);
            assert!(n > 0 && n.is_multiple_of(64) && needs(n, 2) as f64 <= memory as f64 * 0.4);
            assert!(needs(n + 64, 2) as f64 > memory as f64 * 0.4);
        }
        let small = Resources { memory: 1 << 16, ..node() };
        assert!(Kernel::new(&Linpack::default(), 1, &small).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused_and_a_stop_is_heeded() {
        let (mut kernel, meter) = kernel(1_000_000, 1);
        let refused = kernel.prepare(&meter, &Stop::default());
        assert!(matches!(refused, Err(KernelError::Unavailable(why)) if why.starts_with("needs 76")));
        let (mut kernel, meter) = self::kernel(300, 2);
        kernel.prepare(&meter, &Stop::default()).unwrap();
        let stop = Stop::default();
        stop.ask();
        assert_eq!(kernel.iterate(&meter, &stop), Err(KernelError::Stopped));
    }
}
