//! The floating-point roof: a loop of multiply-adds on the run's CPUs, and cores × clock × operations a cycle.

use std::collections::BTreeMap;

use super::{Node, Told, clock, cycle, sprint};
use crate::agent::{inventory, list};
use crate::vocab::plan::Basis;
use crate::vocab::unit::{Quantity, Unit};

const VIRTUAL: &str = "; vCPUs, which may be threads of one core";

pub(super) fn of(node: &Node<'_>) -> Told {
    let mut told = Told::new("cpu");
    told.put(node, Basis::Measured, measured(node));
    told.put(node, Basis::Nominal, nominal(node));
    told
}

fn measured(node: &Node<'_>) -> Result<(Quantity, String), String> {
    node.for_itself()?;
    let threads = node.cpus.len();
    let share = node.share(threads);
    let limited = share < 1.0;
    let sprint = sprint::run(&node.cpus, limited, node.stop).map_err(|error| error.to_string())?;
    let clock = sprint.megahertz.map_or_else(String::new, |mhz| format!(", {:.2} GHz", mhz / 1e3));
    let scaled = if limited {
        format!(
            "; of whole CPUs {:.1} GFLOPS by their CPU time, scaled by the quota to {:.1} %",
            sprint.gflops,
            share * 100.0
        )
    } else {
        String::new()
    };
    let source = format!(
        "FMA loop, {}, {threads} thread{}, best of {} x {} ms{clock}{}{scaled}",
        sprint.width,
        if threads == 1 { "" } else { "s" },
        sprint::WINDOWS,
        sprint::WINDOW.as_millis(),
        if node.is_virtual() { VIRTUAL } else { "" },
    );
    Ok((Quantity::new(sprint.gflops * share, Unit::Gflops), source))
}

/// Of whole cores: two threads of a core share its units.
fn nominal(node: &Node<'_>) -> Result<(Quantity, String), String> {
    let cpuinfo = node.cpuinfo();
    let cores = list::cores(node.root, &node.cpus);
    let efficient = inventory::efficient_cpus(node.root);
    let (mut total, mut kinds): (f64, BTreeMap<String, usize>) = (0.0, BTreeMap::new());
    for cpu in &cores {
        let Some((mhz, file)) = clock::nominal(node.root, *cpu) else {
            return Err(if node.is_virtual() {
                "in a virtual machine without cpufreq nothing tells the clock of its cores".to_owned()
            } else {
                format!("neither cpufreq nor the firmware tells the clock of CPU {cpu}")
            });
        };
        let (flops, name) = cycle::of(&cpuinfo, *cpu, u32::try_from(*cpu).is_ok_and(|cpu| efficient.contains(&cpu)))?;
        total += mhz * flops / 1e3;
        let kind = format!("{:.2} GHz ({file}) x {flops} flop/cycle ({name})", mhz / 1e3);
        *kinds.entry(kind).or_default() += 1;
    }
    let share = node.share(cores.len());
    let counted: Vec<String> = kinds
        .into_iter()
        .map(|(kind, count)| format!("{count} core{} x {kind}", if count == 1 { "" } else { "s" }))
        .collect();
    let scaled =
        if share < 1.0 { format!(", of which the quota leaves {:.1} %", share * 100.0) } else { String::new() };
    let threads = if node.is_virtual() { VIRTUAL } else { "" };
    Ok((Quantity::new(total * share, Unit::Gflops), format!("{}{scaled}{threads}", counted.join(" + "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;
    use crate::agent::kernel::Stop;

    const GOLD: &str = "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nmodel name : Xeon Gold 6130\nflags : fma avx2 avx512f\n";
    const CPU: &str = "sys/devices/system/cpu";

    /// Four CPUs of two cores, of which each is at 2.1 GHz.
    fn server() -> tempfile::TempDir {
        let root = fake::root(&[("proc/cpuinfo", GOLD)]);
        for cpu in 0..4 {
            fake::put(
                root.path(),
                &format!("{CPU}/cpu{cpu}/topology/core_cpus_list"),
                format!("{},{}\n", cpu % 2, cpu % 2 + 2),
            );
            fake::put(root.path(), &format!("{CPU}/cpu{cpu}/cpufreq/base_frequency"), "2100000\n");
        }
        root
    }

    fn of(root: &std::path::Path, cpus: &[usize]) -> Result<(f64, String), String> {
        let stop = Stop::default();
        nominal(&Node::faked(root, cpus, &stop)).map(|(value, source)| (value.value, source))
    }

    #[test]
    fn a_nominal_roof_counts_cores_and_not_their_threads() {
        let root = server();
        let (value, source) = of(root.path(), &[0, 1, 2, 3]).unwrap();
        assert!((value - 2.0 * 2.1 * 32.0).abs() < 1e-9, "{value}");
        assert_eq!(source, "2 cores x 2.10 GHz (base_frequency) x 32 flop/cycle (Intel Skylake-SP, 2 AVX-512 units)");
        assert!((of(root.path(), &[3]).unwrap().0 - 67.2).abs() < 1e-9);
    }

    #[test]
    fn a_quota_lowers_both_roofs_and_says_so() {
        let root = server();
        fake::put(root.path(), "proc/self/cgroup", "0::/\n");
        fake::put(root.path(), "sys/fs/cgroup/cpu.max", "50000 100000\n");
        let (value, source) = of(root.path(), &[0, 1]).unwrap();
        assert!(
            (value - 0.5 * 67.2).abs() < 1e-9 && source.contains("of which the quota leaves 25.0 %"),
            "{value} {source}"
        );
        let stop = Stop::default();
        let node = Node { limited_to: Some("0.50 CPU".to_owned()), ..Node::faked(root.path(), &[0, 0], &stop) };
        let told = super::of(&node);
        assert_eq!(told.roofs.len(), 2);
        assert!(told.roofs.iter().all(|roof| roof.source.ends_with("; limited to 0.50 CPU")), "{told:?}");
        assert!(told.roofs[0].source.contains("scaled by the quota to 25.0 %"), "{told:?}");
        assert!(told.roofs[1].source.contains("of which the quota leaves 50.0 %"), "{told:?}");
    }

    #[test]
    fn in_a_virtual_machine_without_cpufreq_the_nominal_roof_is_unknown() {
        let root = fake::root(&[("proc/cpuinfo", &GOLD.replace("flags :", "cpu MHz : 2600.0\nflags : hypervisor"))]);
        let why = of(root.path(), &[0]).unwrap_err();
        assert_eq!(why, "in a virtual machine without cpufreq nothing tells the clock of its cores");
        let bare = fake::root(&[("proc/cpuinfo", GOLD)]);
        assert!(of(bare.path(), &[0]).unwrap_err().starts_with("neither cpufreq"));
    }

    #[test]
    fn the_cores_of_a_hybrid_count_each_by_its_kind() {
        let hybrid =
            "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 151\nmodel name : x\nflags : fma avx2\n";
        let root = fake::root(&[
            ("proc/cpuinfo", hybrid),
            ("sys/devices/cpu_atom/cpus", "1\n"),
            ("sys/devices/cpu_core/cpus", "0\n"),
        ]);
        fake::put(root.path(), &format!("{CPU}/cpu0/cpufreq/base_frequency"), "3000000\n");
        fake::put(root.path(), &format!("{CPU}/cpu1/cpufreq/base_frequency"), "2000000\n");
        let (value, source) = of(root.path(), &[0, 1]).unwrap();
        assert!(
            (value - 64.0).abs() < 1e-9 && source.contains(" + ") && source.contains("Gracemont"),
            "{value} {source}"
        );
    }
}
