//! How fast the CPUs may be, and what slows them: frequency scaling, mitigations, microcode.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::agent::{cpuinfo, host};
use crate::vocab::text::neutral;

/// The first CPU's block of `cpuinfo` lies within; the kernel asks every CPU for its clock when the file is read to its end.
const FIRST_CPU: u64 = 4096;

pub(super) fn read(root: &Path, put: &mut impl FnMut(&str, Option<String>)) {
    let policies = policies(root);
    put("driver", policies.first().and_then(|policy| host::value(&policy.join("scaling_driver"))));
    put("governor", each(&policies, "scaling_governor"));
    put("energy_policy", each(&policies, "energy_performance_preference"));
    put("clock_limit", each(&policies, "scaling_max_freq").map(|khz| megahertz(&khz)));
    put("boost", boost(root));
    put("microcode", microcode(root));
    put("mitigations", mitigations(root));
}

/// Where CPUs are scaled together, or each for itself on old kernels (`Documentation/admin-guide/pm/cpufreq.rst`).
fn policies(root: &Path) -> Vec<PathBuf> {
    let cpu = root.join("sys/devices/system/cpu");
    let policies = cpu.join("cpufreq");
    let names = host::names(&policies).into_iter().filter(|name| name.starts_with("policy"));
    let found: Vec<PathBuf> = names.map(|name| policies.join(name)).collect();
    if !found.is_empty() {
        return found;
    }
    let by_cpu = host::names(&cpu).into_iter().map(|name| cpu.join(name).join("cpufreq"));
    by_cpu.filter(|directory| directory.join("scaling_governor").exists()).collect()
}

/// The values that the policies have, each once.
fn each(policies: &[PathBuf], file: &str) -> Option<String> {
    let values: BTreeSet<String> = policies.iter().filter_map(|policy| host::value(&policy.join(file))).collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(","))
}

/// `3500000` is 3500 MHz.
fn megahertz(list: &str) -> String {
    let one = |khz: &str| khz.parse::<u64>().map_or_else(|_| khz.to_owned(), |khz| (khz / 1000).to_string());
    format!("{} MHz", list.split(',').map(one).collect::<Vec<_>>().join(","))
}

fn boost(root: &Path) -> Option<String> {
    let cpu = root.join("sys/devices/system/cpu");
    let switch = |path: &str, on: &str| {
        let value = host::value(&cpu.join(path))?;
        Some(if value == on { "on" } else { "off" }.to_owned())
    };
    switch("intel_pstate/no_turbo", "0").or_else(|| switch("cpufreq/boost", "1"))
}

fn microcode(root: &Path) -> Option<String> {
    host::value(&root.join("sys/devices/system/cpu/cpu0/microcode/version")).or_else(|| {
        let text = host::beginning(&root.join("proc/cpuinfo"), FIRST_CPU).ok()?;
        cpuinfo::first(&text, "microcode").map(neutral)
    })
}

/// The weaknesses of the CPUs that the kernel does nothing against; the full list is long and says the same on every node.
fn mitigations(root: &Path) -> Option<String> {
    let directory = root.join("sys/devices/system/cpu/vulnerabilities");
    let names = host::names(&directory);
    let open = |name: &String| {
        let state = host::value(&directory.join(name)).filter(|state| state.starts_with("Vulnerable"))?;
        Some(format!("{}: {state}", neutral(name)))
    };
    let listed: Vec<String> = names.iter().filter_map(open).collect();
    match (names.is_empty(), listed.is_empty()) {
        (true, _) => None,
        (false, true) => Some("none vulnerable".to_owned()),
        (false, false) => Some(listed.join("; ")),
    }
}
