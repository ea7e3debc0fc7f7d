//! The clock that a core is sold with: of `cpufreq` and of the firmware's performance tables. Never the time-stamp counter's nor
//! `/proc/cpuinfo`'s, which in a virtual machine are what the hypervisor says.

use std::path::Path;

use crate::agent::host;

/// The clock that a CPU's maker names, in MHz, and the file that tells it.
///
/// `base_frequency` is `intel_pstate`'s (`Documentation/admin-guide/pm/intel_pstate.rst`), `nominal_freq` the firmware's in CPPC
/// (`Documentation/admin-guide/acpi/cppc_sysfs.rst`), `cpuinfo_max_freq` what the other drivers know, boost included where they know it.
pub(super) fn nominal(root: &Path, cpu: usize) -> Option<(f64, &'static str)> {
    let cpu = root.join(format!("sys/devices/system/cpu/cpu{cpu}"));
    let places = [("cpufreq/base_frequency", 1e3), ("acpi_cppc/nominal_freq", 1.0), ("cpufreq/cpuinfo_max_freq", 1e3)];
    places.into_iter().find_map(|(file, in_a_megahertz)| {
        let mhz = host::number(&cpu.join(file)).filter(|number| *number > 0)? as f64 / in_a_megahertz;
        Some((mhz, file.rsplit('/').next().unwrap_or(file)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn the_makers_clock_comes_before_the_highest() {
        let (base, nominal_freq, most) = (
            ("sys/devices/system/cpu/cpu3/cpufreq/base_frequency", "2100000\n"),
            ("sys/devices/system/cpu/cpu3/acpi_cppc/nominal_freq", "2450\n"),
            ("sys/devices/system/cpu/cpu3/cpufreq/cpuinfo_max_freq", "3700000\n"),
        );
        let of = |files: &[(&str, &str)]| nominal(fake::root(files).path(), 3);
        assert_eq!(of(&[base, nominal_freq, most]), Some((2100.0, "base_frequency")));
        assert_eq!(of(&[nominal_freq, most]), Some((2450.0, "nominal_freq")));
        assert_eq!(of(&[most]), Some((3700.0, "cpuinfo_max_freq")));
        let nothing =
            [("sys/devices/system/cpu/cpu3/acpi_cppc/nominal_freq", "0\n"), ("proc/cpuinfo", "cpu MHz : 2600\n")];
        assert_eq!(of(&nothing), None);
    }
}
