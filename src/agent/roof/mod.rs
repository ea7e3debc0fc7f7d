//! Roofs: the most that this node could give of something, with the way in which that is known. One file a class, one variant of
//! [`Ceiling`], one line in [`of`].
//!
//! A *measured* roof is what the same CPUs could do just now; a *nominal* one is what the hardware says that it is. What is not known
//! is said to be so and why, and nothing is made up.

mod clock;
mod cpu;
mod cycle;
mod loops;
mod memory;
mod sprint;

use std::path::Path;

use super::kernel::{Ceiling, Stop};
use super::{cgroup, cpuinfo, host};
use crate::vocab::figure::Roof;
use crate::vocab::plan::Basis;
use crate::vocab::unit::Quantity;

/// What a run has of the node, by which its roofs are told.
pub(super) struct Node<'a> {
    /// Stands for `/`.
    pub(super) root: &'a Path,
    /// The CPU of each of the run's threads.
    pub(super) cpus: Vec<usize>,
    /// What keeps the run from the whole node, in words.
    pub(super) limited_to: Option<String>,
    /// Whether it has the node for itself: beside others a loop would measure what they leave.
    pub(super) alone: bool,
    /// Seen between two windows of a measurement.
    pub(super) stop: &'a Stop,
}

/// What is known of one class.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Told {
    /// Its name: `cpu`, `memory`.
    pub(super) name: &'static str,
    /// The roofs.
    pub(super) roofs: Vec<Roof>,
    /// What is not known, and why.
    pub(super) unknown: Vec<(Basis, String)>,
}

/// The roofs of a class, measured where a short loop measures them; takes 0.3 s at most, a little longer below a CPU quota.
pub(super) fn of(ceiling: Ceiling, node: &Node<'_>) -> Told {
    match ceiling {
        Ceiling::FloatingPoint => cpu::of(node),
        Ceiling::Memory => memory::of(node),
    }
}

impl Told {
    fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    /// Takes in a roof of one basis with its source, or why there is none.
    fn put(&mut self, node: &Node<'_>, basis: Basis, found: Result<(Quantity, String), String>) {
        match found {
            Ok((value, source)) => {
                let source = match &node.limited_to {
                    Some(limit) => format!("{source}; limited to {limit}"),
                    None => source,
                };
                self.roofs.push(Roof { name: self.name.to_owned(), value, basis, source });
            }
            Err(why) => self.unknown.push((basis, why)),
        }
    }
}

impl Node<'_> {
    /// Refuses a measurement beside others.
    fn for_itself(&self) -> Result<(), String> {
        if self.alone { Ok(()) } else { Err("beside others a loop measures what they leave".to_owned()) }
    }

    /// The share of so many CPUs that a quota leaves; 1 where there is none that is less.
    fn share(&self, cpus: usize) -> f64 {
        let quota = cgroup::limit(self.root, "cpu", cgroup::cpu_quota).unwrap_or(f64::INFINITY);
        (quota / cpus.max(1) as f64).min(1.0)
    }

    fn cpuinfo(&self) -> String {
        host::text(&self.root.join("proc/cpuinfo")).unwrap_or_default()
    }

    fn is_virtual(&self) -> bool {
        cpuinfo::hypervisor(&self.cpuinfo()) == Some(true)
    }
}

#[cfg(test)]
impl<'a> Node<'a> {
    /// A node of these files on these CPUs, for tests.
    fn faked(root: &'a Path, cpus: &[usize], stop: &'a Stop) -> Self {
        Self { root, cpus: cpus.to_vec(), limited_to: None, alone: true, stop }
    }
}
