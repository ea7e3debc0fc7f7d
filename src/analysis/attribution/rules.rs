//! The rules by which a resource is named: one line a rule, the surest first. All that hold are listed.

use super::cpu;
use super::disk;
use super::facts::Facts;
use super::network;
use crate::vocab::finding::{Kind, Resource};

/// A row, by its source, or its source and device, and its name.
pub(super) type RowName = (&'static str, &'static str);

/// What names a resource.
pub(super) struct Rule {
    /// The resource.
    pub(super) resource: Resource,
    /// The rows without which it cannot be tried.
    pub(super) needs: &'static [RowName],
    /// Rows that prove it where they are read. Evidence names these and those above first once it holds.
    pub(super) shows: &'static [RowName],
    /// What is said where one of them is not read on this node.
    pub(super) without: &'static str,
    /// Whether it has any bearing on what runs and on what was found.
    pub(super) applies: fn(&Facts<'_>) -> bool,
    /// Whether it holds.
    pub(super) holds: fn(&Facts<'_>) -> bool,
}

/// Every rule there is.
///
/// What takes the CPU away from everything (steal, heat, a power limit, memory, a quota) explains a slow load, disk or network as
/// well, and a rate that is that of a known limit needs no other explanation: these come first. Then the side that makes the load,
/// which must be shown innocent before a device is blamed.
pub(super) const RULES: &[Rule] = &[
    Rule {
        resource: Resource::Steal,
        needs: &[("cpu", "steal")],
        shows: &[],
        without: "CPU steal (not counted by this kernel)",
        applies: |_| true,
        holds: cpu::stolen,
    },
    Rule {
        resource: Resource::Thermal,
        needs: &[("clock", "median"), ("cpu", "busy")],
        shows: &[("thermal", "temperature"), ("thermal", "throttles")],
        without: "heat (no CPU clocks)",
        applies: |_| true,
        holds: cpu::hot,
    },
    Rule {
        resource: Resource::PowerCap,
        needs: &[("clock", "median"), ("cpu", "busy")],
        shows: &[("thermal", "power limits")],
        without: "power limit (no CPU clocks)",
        applies: |_| true,
        holds: cpu::held_cool,
    },
    Rule {
        resource: Resource::Memory,
        needs: &[("memory", "swap")],
        shows: &[("pressure/memory", "full")],
        without: "memory (swapping not counted)",
        applies: |_| true,
        holds: cpu::short_of_memory,
    },
    Rule {
        resource: Resource::CgroupLimit,
        needs: &[],
        shows: &[("cgroup", "throttled"), ("cgroup", "held up")],
        without: "",
        applies: |_| true,
        holds: cpu::limited,
    },
    Rule {
        resource: Resource::Generator,
        needs: &[("cpu", "busy"), ("disk", "queue")],
        shows: &[],
        without: "load generator (no CPU or no disk counters)",
        applies: |f| f.depth().is_some() && !f.loads_cpu(),
        holds: disk::starved,
    },
    Rule {
        resource: Resource::DeviceHang,
        needs: &[],
        shows: &[("disk", "util"), ("disk", "w/s")],
        without: "",
        applies: |f| f.is_a_change() && !f.loads_cpu(),
        holds: disk::hangs,
    },
    Rule {
        resource: Resource::DiskCap,
        needs: &[("disk", "await"), ("disk", "queue")],
        shows: &[],
        without: "rate-limited disk (no counters of the run's disk)",
        applies: |f| !f.loads_cpu(),
        holds: disk::capped,
    },
    Rule {
        resource: Resource::Disk,
        needs: &[("disk", "util"), ("disk", "await")],
        shows: &[("disk", "queue"), ("cpu", "iowait")],
        without: "disk (no counters of the run's disk)",
        applies: |f| !f.loads_cpu(),
        holds: disk::saturated,
    },
    Rule {
        resource: Resource::Flush,
        needs: &[("memory", "dirty")],
        shows: &[("memory", "writeback")],
        without: "write-back bursts (no count of dirty memory)",
        applies: |f| f.scene.kind == Kind::Oscillation && !f.loads_cpu() && f.buffered() != Some(false),
        holds: disk::flushes,
    },
    Rule {
        resource: Resource::Nic,
        needs: &[("net", "link")],
        shows: &[],
        without: "network link (speed not known)",
        applies: network::matters,
        holds: network::is_full,
    },
    Rule {
        resource: Resource::NetworkPath,
        needs: &[("tcp", "retransmitted")],
        shows: &[],
        without: "network path (no TCP counters)",
        applies: network::matters,
        holds: network::loses,
    },
    Rule {
        resource: Resource::Cpu,
        needs: &[("cpu", "busy")],
        shows: &[("pressure/cpu", "some")],
        without: "CPU (no CPU counters)",
        applies: |_| true,
        holds: cpu::full,
    },
];

impl Rule {
    /// Whether the rows that it needs are read on this node; those of disks on the run's own.
    pub(super) fn can_be_tried(&self, facts: &Facts<'_>) -> bool {
        self.needs.iter().all(|(source, row)| match (*source, facts.scene.device) {
            ("disk", Some(_)) => facts.disk().is_some_and(|key| facts.counter(key, row).is_some()),
            _ => facts.tells(source, row),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::state::ROWS;

    #[test]
    fn every_row_that_a_rule_needs_exists_and_every_resource_has_one_rule() {
        for rule in RULES {
            for (source, name) in rule.needs.iter().chain(rule.shows) {
                let source = source.split('/').next().unwrap();
                assert!(ROWS.iter().any(|r| r.source == source && r.name == *name), "{source} {name}");
            }
            assert_eq!(RULES.iter().filter(|r| r.resource == rule.resource).count(), 1, "{}", rule.resource);
            assert_eq!(rule.needs.is_empty(), rule.without.is_empty());
        }
    }
}
