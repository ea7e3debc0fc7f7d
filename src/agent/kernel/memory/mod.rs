//! Transfer of blocks: what one can read or write in a second, in whatever holds the area that they lie in.
//!
//! Near `sysbench memory`, and seldom the same: its default block of 1 KiB measures its own bookkeeping, and each of its threads goes
//! over one block again and again, so that 1 MiB stays in a cache. The figures are comparable where `area` is as large as the threads'
//! blocks are, and then say nothing of memory. Its random access draws a place for each word; here whole blocks come in random order.
//! Writes are counted once, though a line is read before it is written.

mod block;
pub(super) mod chase;
mod slice;

use std::collections::BTreeMap;
use std::time::Duration;

use super::area::{self, Area};
use super::pages;
use super::threads::{Gate, choose, each};
use super::{Description, KernelError, Measured, Stop, Takes};
use crate::agent::meter::{Lanes, Meter};
use crate::agent::resources::Resources;
use crate::vocab::event::{MeterSpec, Phase};
use crate::vocab::figure::Figure;
use crate::vocab::plan::{Memory, MemoryAccess, MemoryOperation};
use crate::vocab::size::ByteSize;
use crate::vocab::unit::Unit;
use slice::{Shape, Share, Slice};

/// A line of the cache, on nearly every machine: less than one is not moved.
const LINE: u64 = 64;

/// Reads or writes blocks.
pub(super) struct Kernel {
    load: Memory,
    seed: u64,
    /// Blocks of each thread.
    blocks: u64,
    why: String,
    fits_in: String,
    memory: u64,
    cpus: Vec<usize>,
    slices: Vec<Slice>,
}

impl Kernel {
    pub(super) fn new(load: &Memory, seed: u64, node: &Resources) -> Result<Self, KernelError> {
        let unavailable = |why: String| Err(KernelError::Unavailable(why));
        let cpus = choose(&node.cpus, load.threads.or(Some(node.cpu_threads())))?;
        let (block, threads) = (load.block.0, cpus.len() as u64);
        if block == 0 || !block.is_multiple_of(LINE) {
            return unavailable(format!("a block of {} is no multiple of {LINE} B", load.block));
        }
        let Area { bytes, why } = area::choose(load.area, node);
        let blocks = bytes / block / threads;
        if blocks == 0 {
            let (area, block) = (ByteSize(bytes), load.block);
            return unavailable(format!("an area of {area} has no block of {block} for each of {threads} threads"));
        }
        if load.access == MemoryAccess::Random && blocks > u64::from(u32::MAX) {
            return unavailable(format!("{blocks} blocks a thread are too many to shuffle; at most {}", u32::MAX));
        }
        let fits_in = area::fits_in(node, &cpus, blocks * block);
        let (load, memory) = (load.clone(), node.memory);
        Ok(Self { load, seed, blocks, why, fits_in, memory, cpus, slices: Vec::new() })
    }

    /// Bytes that are read or written in a round.
    fn area(&self) -> u64 {
        self.blocks * self.load.block.0 * self.cpus.len() as u64
    }

    fn needs(&self) -> u64 {
        let order = if self.load.access == MemoryAccess::Random { self.blocks * size_of::<u32>() as u64 } else { 0 };
        self.area().saturating_add(order * self.cpus.len() as u64)
    }

    fn corrupt(&self, wrong: impl IntoIterator<Item = Option<usize>>) -> Result<(), KernelError> {
        let Some((cpu, block)) = self.cpus.iter().zip(wrong).find_map(|(cpu, block)| Some((cpu, block?))) else {
            return Ok(());
        };
        Err(KernelError::Corrupt(format!(
            "CPU {cpu} did not find in block {block} of its {} what was put there",
            self.blocks
        )))
    }

    fn result(&self, shares: &[Share]) -> Measured {
        // Each thread over its own time, since each ends with a whole block.
        let rate: f64 = shares.iter().map(|s| s.bytes as f64 / s.elapsed.as_secs_f64()).sum();
        let figures = vec![
            Figure::new("mb_per_s", rate / 1e6, Unit::MegabytesPerSecond),
            Figure::new("blocks_per_s", rate / self.load.block.0 as f64, Unit::PerSecond),
        ];
        Measured { figures, latency: None }
    }

    fn words(&self) -> [(&'static str, &'static str); 2] {
        let operation = match self.load.operation {
            MemoryOperation::Read => ("read", "read"),
            MemoryOperation::Write => ("write", "write"),
        };
        let access = match self.load.access {
            MemoryAccess::Sequential => ("sequential", "seq"),
            MemoryAccess::Random => ("random", "rnd"),
        };
        [operation, access]
    }
}

impl super::Kernel for Kernel {
    fn takes(&self) -> Takes {
        Takes { memory: self.needs(), time: self.load.time, loads: true, ..Takes::default() }
    }

    fn describe(&self) -> Description {
        let (threads, block) = (self.cpus.len(), self.load.block);
        let [(operation, oper), (access, mode)] = self.words();
        let labels = [
            ("threads", threads.to_string()),
            ("operation", operation.to_owned()),
            ("access", access.to_owned()),
            ("block", block.to_string()),
            ("area", ByteSize(self.area()).to_string()),
            ("area_because", self.why.clone()),
            ("fits_in", self.fits_in.clone()),
            ("pages", pages::policy(false)),
        ];
        Description {
            meters: vec![MeterSpec::new("mb_per_s", Unit::MegabytesPerSecond, true)],
            lanes: Lanes { threads, depth: 0, timed: false },
            labels: labels.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<BTreeMap<_, _>>(),
            command: format!(
                "sysbench memory --threads={threads} --memory-block-size={} --memory-oper={oper} \
                 --memory-access-mode={mode} --memory-scope=local --memory-total-size=1000T --time={} run",
                block.0,
                self.load.time.as_seconds().ceil()
            ),
            cpus: self.cpus.clone(),
            bound: Some(super::Ceiling::Memory),
        }
    }

    fn prepare(&mut self, _: &Meter, stop: &Stop) -> Result<(), KernelError> {
        let Memory { operation, access, block, .. } = self.load;
        let shape = Shape { block: block.0 as usize, blocks: self.blocks as usize, operation, access };
        let gate = Gate::new(self.cpus.len());
        let make = |thread, ()| Slice::new(shape, self.seed.wrapping_add(thread as u64), stop);
        let slices = each(&self.cpus, &gate, vec![(); self.cpus.len()], make)?;
        let slices = slices.into_iter().collect::<Option<Vec<_>>>();
        self.slices = slices.ok_or_else(|| area::refused(self.needs(), self.memory))?;
        stop.check()
    }

    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError> {
        meter.phase(Phase::Measure);
        let time = Duration::from(self.load.time);
        let gate = Gate::new(self.cpus.len());
        let slices: Vec<&mut Slice> = self.slices.iter_mut().collect();
        let shares = each(&self.cpus, &gate, slices, |i, slice| slice.work(time, meter.lane(i), stop))?;
        stop.check()?;
        meter.phase(Phase::Verify);
        self.corrupt(shares.iter().map(|share| share.wrong))?;
        let slices: Vec<&Slice> = self.slices.iter().collect();
        let wrong = each(&self.cpus, &Gate::new(slices.len()), slices, |_, slice| slice.verify(stop))?;
        stop.check()?;
        self.corrupt(wrong)?;
        Ok(self.result(&shares))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Kernel as _;
    use super::*;
    use crate::agent::voice::Voice;
    use crate::vocab::moment::Span;

    fn load(operation: MemoryOperation, access: MemoryAccess) -> Memory {
        Memory {
            operation,
            access,
            block: ByteSize(4096),
            area: Some(ByteSize(1 << 20)),
            time: Span::milliseconds(20),
            threads: Some(2),
        }
    }

    fn kernel(load: &Memory) -> Kernel {
        Kernel::new(load, 5, &Resources::here(Path::new("/"))).unwrap()
    }

    fn ready(kernel: &mut Kernel) -> Meter {
        let meter = Meter::new("r".into(), 1, kernel.describe().lanes, Voice::silent());
        kernel.prepare(&meter, &Stop::default()).unwrap();
        meter
    }

    #[test]
    fn reads_and_writes_in_any_order_are_counted_and_right() {
        for operation in [MemoryOperation::Read, MemoryOperation::Write] {
            for access in [MemoryAccess::Sequential, MemoryAccess::Random] {
                let mut kernel = kernel(&load(operation, access));
                let meter = ready(&mut kernel);
                for _ in 0..2 {
                    let measured = kernel.iterate(&meter, &Stop::default()).unwrap();
                    let [mb, blocks] = &measured.figures[..] else { panic!("{measured:?}") };
                    assert!(mb.value > 1.0 && (mb.value * 1e6 / blocks.value - 4096.0).abs() < 1e-6);
                }
                assert!(meter.read(crate::clock::now(), false).done[0].is_multiple_of(4096));
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_found_and_its_block_named() {
        let mut kernel = kernel(&load(MemoryOperation::Read, MemoryAccess::Random));
        let meter = ready(&mut kernel);
        kernel.slices[1].flip(512 * 7 + 3);
        let found = kernel.iterate(&meter, &Stop::default());
        assert!(matches!(found, Err(KernelError::Corrupt(why)) if why.contains("in block 7 of its 128 what")));
    }

    #[test]
    fn what_runs_is_said_and_what_cannot_is_refused() {
        let usual = kernel(&Memory { time: Span::seconds(5), ..load(MemoryOperation::Write, MemoryAccess::Random) });
        let said = usual.describe();
        assert_eq!((said.labels["area"].as_str(), said.labels["block"].as_str()), ("1MiB", "4KiB"));
        assert!(said.command.contains("--memory-block-size=4096 --memory-oper=write --memory-access-mode=rnd"));
        assert_eq!(usual.takes().memory, (1 << 20) + 256 * 4);
        let why = |block, area, threads| {
            let load = Memory { block: ByteSize(block), area: Some(ByteSize(area)), threads, ..Memory::default() };
            Kernel::new(&load, 5, &Resources::faked()).err().unwrap().to_string()
        };
        assert_eq!(why(100, 1000, None), "a block of 100B is no multiple of 64 B");
        assert_eq!(why(0, 1000, None), "a block of 0B is no multiple of 64 B");
        assert_eq!(why(1 << 20, 1 << 20, Some(2)), "an area of 1MiB has no block of 1MiB for each of 2 threads");
    }

    #[test]
    fn refused_memory_and_a_stop_are_said() {
        let load = Memory { area: Some(ByteSize(1 << 50)), ..load(MemoryOperation::Read, MemoryAccess::Sequential) };
        let mut large = kernel(&load);
        let meter = Meter::new("r".into(), 1, large.describe().lanes, Voice::silent());
        let refused = large.prepare(&meter, &Stop::default());
        assert!(matches!(refused, Err(KernelError::Unavailable(why)) if why.starts_with("needs 1073741824 MiB")));
        let mut kernel = kernel(&Memory { area: Some(ByteSize(1 << 20)), time: Span::seconds(60), ..load });
        let (meter, stop) = (ready(&mut kernel), Stop::default());
        stop.ask();
        assert_eq!(kernel.iterate(&meter, &stop), Err(KernelError::Stopped));
    }
}
