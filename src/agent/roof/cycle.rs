//! Floating-point operations of double precision that a core can end in a cycle, by its generation.
//!
//! A unit that multiplies and adds in one does 2 operations a lane. x86: the maker's optimisation manuals (Intel 248966; AMD 55723,
//! 56305, 56665, 57647, 58455) and Intel's tables of which Xeons have the second 512-bit unit; ARM: the Neoverse software optimisation
//! guides of the core. Cores that are not here are not guessed.

use std::collections::BTreeSet;

use crate::agent::cpuinfo;

/// Operations of a core a cycle, and the name of its kind.
pub(super) type PerCycle = (f64, &'static str);

/// Those of a CPU by what `/proc/cpuinfo` tells; `efficient` is one of a hybrid processor's smaller cores.
pub(super) fn of(cpuinfo: &str, cpu: usize, efficient: bool) -> Result<PerCycle, String> {
    let vendor = cpuinfo::vendor(cpuinfo).unwrap_or_default();
    let [family, model, _] = cpuinfo::generation(cpuinfo).map(Option::unwrap_or_default);
    let unknown = || {
        let name = cpuinfo::model(cpuinfo).unwrap_or_else(|| "this CPU".to_owned());
        format!("the floating-point units of {name} (family {family}, model {model}) are not in the table")
    };
    let numbers = family.parse::<u32>().ok().zip(model.parse::<u32>().ok());
    let features = cpuinfo::features(cpuinfo);
    let found = match (vendor.as_str(), numbers) {
        ("GenuineIntel", Some((6, model))) => intel(model, &cpuinfo::model(cpuinfo).unwrap_or_default(), efficient),
        ("AuthenticAMD", Some((family, model))) => amd(family, model),
        ("HygonGenuine", Some((24, _))) => Some((8.0, "Hygon Dhyana")),
        _ => arm(cpuinfo, cpu),
    };
    found
        .map(|core| {
            if vendor.starts_with("Genuine") || vendor.starts_with("Authentic") {
                admitted(core, &features)
            } else {
                core
            }
        })
        .ok_or_else(unknown)
}

/// What is left of it where the system or the hypervisor admits no vectors of 512 bits.
fn admitted((flops, name): PerCycle, features: &BTreeSet<&str>) -> PerCycle {
    if flops > 16.0 && !features.contains("avx512f") { (16.0, name) } else { (flops, name) }
}

fn intel(model: u32, name: &str, efficient: bool) -> Option<PerCycle> {
    Some(match model {
        60 | 63 | 69 | 70 => (16.0, "Intel Haswell"),
        61 | 71 | 79 | 86 => (16.0, "Intel Broadwell"),
        78 | 94 | 142 | 158 | 165 | 166 => (16.0, "Intel Skylake client"),
        // The second 512-bit unit is not in every model.
        85 if ["Platinum", "Gold 6", "Gold 5122", "Gold 5222"].iter().any(|with| name.contains(with)) => {
            (32.0, "Intel Skylake-SP, 2 AVX-512 units")
        }
        85 if ["Gold 5", "Silver", "Bronze"].iter().any(|with| name.contains(with)) => {
            (16.0, "Intel Skylake-SP, 1 AVX-512 unit")
        }
        106 => (32.0, "Intel Ice Lake-SP"),
        143 => (32.0, "Intel Sapphire Rapids"),
        207 => (32.0, "Intel Emerald Rapids"),
        173 => (32.0, "Intel Granite Rapids"),
        125 | 126 => (16.0, "Intel Ice Lake client"),
        140 | 141 => (16.0, "Intel Tiger Lake"),
        167 => (16.0, "Intel Rocket Lake"),
        151 | 154 | 183 | 186 | 191 if efficient => (8.0, "Intel Gracemont"),
        151 | 154 | 183 | 186 | 191 => (16.0, "Intel Golden Cove client"),
        _ => return None,
    })
}

fn amd(family: u32, model: u32) -> Option<PerCycle> {
    Some(match (family, model) {
        (23, 0..=0x2f) => (8.0, "AMD Zen 1"),
        (23, 0x30..=0xaf) => (16.0, "AMD Zen 2"),
        (25, 0..=0x0f | 0x20..=0x5f) => (16.0, "AMD Zen 3"),
        (25, 0x10..=0x1f | 0x60..=0xaf) => (16.0, "AMD Zen 4"),
        // The mobile ones between have units of 256 bits.
        (26, 0..=0x1f | 0x40..=0x4f) => (32.0, "AMD Zen 5"),
        _ => return None,
    })
}

fn arm(cpuinfo: &str, cpu: usize) -> Option<PerCycle> {
    const CORES: [(&str, f64); 8] = [
        ("ARM Neoverse-N1", 8.0),
        ("ARM Neoverse-N2", 8.0),
        ("ARM Neoverse-N3", 8.0),
        ("ARM Neoverse-V1", 16.0),
        ("ARM Neoverse-V2", 16.0),
        ("ARM Neoverse-V3", 16.0),
        ("Ampere-1", 8.0),
        ("Fujitsu A64FX", 32.0),
    ];
    let kind = cpuinfo::each(cpuinfo).remove(&u32::try_from(cpu).ok()?)?.kind?;
    CORES.into_iter().find(|(name, _)| *name == kind).map(|(name, flops)| (flops, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x86(vendor: &str, family: u32, model: u32, name: &str, flags: &str) -> Result<PerCycle, String> {
        let text = format!(
            "processor : 0\nvendor_id : {vendor}\ncpu family : {family}\nmodel : {model}\nmodel name : {name}\nflags : {flags}\n"
        );
        of(&text, 0, false)
    }

    #[test]
    fn generations_are_told_by_their_numbers() {
        let flops = |vendor, family, model, name, flags| x86(vendor, family, model, name, flags).map(|core| core.0);
        let wide = "fma avx2 avx512f";
        assert_eq!(flops("GenuineIntel", 6, 85, "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", wide), Ok(32.0));
        assert_eq!(flops("GenuineIntel", 6, 85, "Intel(R) Xeon(R) Silver 4110 CPU @ 2.10GHz", wide), Ok(16.0));
        assert_eq!(flops("GenuineIntel", 6, 63, "Intel(R) Xeon(R) CPU E5-2680 v3", "fma avx2"), Ok(16.0));
        assert_eq!(flops("GenuineIntel", 6, 106, "Xeon", "fma avx2"), Ok(16.0), "AVX-512 is hidden");
        let of_amd = |family, model| x86("AuthenticAMD", family, model, "AMD EPYC", wide).map(|core| core.1);
        assert_eq!([of_amd(23, 1), of_amd(23, 49)], [Ok("AMD Zen 1"), Ok("AMD Zen 2")]);
        assert_eq!([of_amd(25, 1), of_amd(25, 17), of_amd(26, 2)], [Ok("AMD Zen 3"), Ok("AMD Zen 4"), Ok("AMD Zen 5")]);
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        let why = x86("GenuineIntel", 6, 85, "Intel(R) Xeon(R) W-2145", "avx512f").unwrap_err();
        assert_eq!(
            why,
            "the floating-point units of Intel(R) Xeon(R) W-2145 (family 6, model 85) are not in the table"
        );
        assert!(
            x86("GenuineIntel", 6, 999, "New", "avx2").is_err()
                && x86("AuthenticAMD", 26, 0x24, "Strix", "avx512f").is_err()
        );
        assert!(of("", 0, false).is_err());
    }

    #[test]
    fn each_arm_core_is_its_own_and_the_small_cores_of_a_hybrid_do_half() {
        let arm = "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n\nprocessor : 1\nCPU implementer : 0x41\nCPU part : 0xd40\n";
        assert_eq!(
            (of(arm, 0, false), of(arm, 1, false)),
            (Ok((8.0, "ARM Neoverse-N1")), Ok((16.0, "ARM Neoverse-V1")))
        );
        assert!(of(arm, 2, false).is_err());
        let hybrid =
            "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 151\nmodel name : x\nflags : fma avx2\n";
        assert_eq!((of(hybrid, 0, false).unwrap().0, of(hybrid, 0, true).unwrap().0), (16.0, 8.0));
    }
}
