//! What `/proc/cpuinfo` tells, in the many dialects of the architectures.

use std::collections::{BTreeMap, BTreeSet};

/// Keys that name the model, the most telling first: x86 and arm64, `LoongArch`, old ARM, RISC-V.
const MODELS: [&str; 5] = ["model name", "Model Name", "Processor", "uarch", "isa"];

/// Cores by the numbers that ARM CPUs are known by.
const ARM_CORES: [((u32, u32), &str); 29] = [
    ((0x41, 0xd03), "ARM Cortex-A53"),
    ((0x41, 0xd05), "ARM Cortex-A55"),
    ((0x41, 0xd07), "ARM Cortex-A57"),
    ((0x41, 0xd08), "ARM Cortex-A72"),
    ((0x41, 0xd0b), "ARM Cortex-A76"),
    ((0x41, 0xd0c), "ARM Neoverse-N1"),
    ((0x41, 0xd40), "ARM Neoverse-V1"),
    ((0x41, 0xd41), "ARM Cortex-A78"),
    ((0x41, 0xd44), "ARM Cortex-X1"),
    ((0x41, 0xd46), "ARM Cortex-A510"),
    ((0x41, 0xd47), "ARM Cortex-A710"),
    ((0x41, 0xd49), "ARM Neoverse-N2"),
    ((0x41, 0xd4d), "ARM Cortex-A715"),
    ((0x41, 0xd4e), "ARM Cortex-X3"),
    ((0x41, 0xd4f), "ARM Neoverse-V2"),
    ((0x41, 0xd83), "ARM Neoverse-V3"),
    ((0x41, 0xd84), "ARM Neoverse-V3"),
    ((0x41, 0xd85), "ARM Cortex-X925"),
    ((0x41, 0xd87), "ARM Cortex-A725"),
    ((0x41, 0xd8e), "ARM Neoverse-N3"),
    ((0x43, 0x0af), "Cavium ThunderX2"),
    ((0x46, 0x001), "Fujitsu A64FX"),
    ((0x48, 0xd01), "HiSilicon Kunpeng-920"),
    ((0x4e, 0x010), "NVIDIA Olympus"),
    ((0x50, 0x000), "APM X-Gene"),
    ((0x70, 0x662), "Phytium FTC662"),
    ((0x70, 0x663), "Phytium FTC663"),
    ((0xc0, 0xac3), "Ampere-1"),
    ((0xc0, 0xac4), "Ampere-1a"),
];

/// The lines with a colon as key and value, empty values left out.
fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key.trim(), value.trim()))
        .filter(|(_, value)| !value.is_empty())
}

/// The first value of a key, spelled exactly so.
pub(super) fn first<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    fields(text).find(|(found, _)| *found == key).map(|(_, value)| value)
}

/// The model of the CPUs; several kinds of ARM cores are joined by ` + `.
pub(super) fn model(text: &str) -> Option<String> {
    if let Some(name) = first(text, MODELS[0]).or_else(|| first(text, MODELS[1])) {
        return Some(name.to_owned());
    }
    // POWER and SPARC say it as `cpu`, MIPS as `cpu model`, Alpha in both.
    let parts: Vec<&str> = ["cpu", "cpu model"].iter().filter_map(|key| first(text, key)).collect();
    if !parts.is_empty() {
        return Some(parts.join(" ").trim_end_matches(", altivec supported").to_owned());
    }
    let other = || MODELS[2..].iter().find_map(|key| first(text, key)).map(str::to_owned);
    arm(text).or_else(|| s390(text)).or_else(|| ia64(text)).or_else(other)
}

fn arm(text: &str) -> Option<String> {
    let mut kinds = BTreeSet::new();
    let mut implementer = None;
    for (key, value) in fields(text) {
        match key {
            "CPU implementer" => implementer = hexadecimal(value),
            "CPU part" => kinds.extend(implementer.zip(hexadecimal(value))),
            _ => {}
        }
    }
    let names: Vec<String> = kinds.into_iter().map(arm_core).collect();
    (!names.is_empty()).then(|| names.join(" + "))
}

fn arm_core(kind: (u32, u32)) -> String {
    match ARM_CORES.iter().find(|(numbers, _)| *numbers == kind) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("ARM implementer {:#04x} part {:#05x}", kind.0, kind.1),
    }
}

/// `vendor_id : IBM/S390` and `processor 0: version = FF, identification = 0133E8, machine = 2964`.
fn s390(text: &str) -> Option<String> {
    let (_, processor) =
        fields(text).find(|(key, value)| key.starts_with("processor ") && value.contains("machine"))?;
    let machine = processor.split("machine").nth(1)?.trim_matches([' ', '=']);
    Some(format!("{} machine {machine}", first(text, "vendor_id").unwrap_or("IBM/S390")))
}

fn ia64(text: &str) -> Option<String> {
    let (vendor, arch) = (first(text, "vendor")?, first(text, "arch")?);
    Some(format!("{vendor} {arch} family {}", first(text, "family").unwrap_or("unknown")))
}

/// Makers of ARM cores by their number.
const ARM_MAKERS: [(u32, &str); 13] = [
    (0x41, "ARM"),
    (0x43, "Cavium"),
    (0x46, "Fujitsu"),
    (0x48, "HiSilicon"),
    (0x4e, "NVIDIA"),
    (0x50, "APM"),
    (0x51, "Qualcomm"),
    (0x53, "Samsung"),
    (0x56, "Marvell"),
    (0x61, "Apple"),
    (0x6d, "Microsoft"),
    (0x70, "Phytium"),
    (0xc0, "Ampere"),
];

/// The maker of the CPUs.
pub(super) fn vendor(text: &str) -> Option<String> {
    if let Some(name) = ["vendor_id", "vendor", "mvendorid"].iter().find_map(|key| first(text, key)) {
        return Some(name.to_owned());
    }
    let number = hexadecimal(first(text, "CPU implementer")?)?;
    let known = ARM_MAKERS.iter().find(|(maker, _)| *maker == number);
    Some(known.map_or_else(|| format!("ARM implementer {number:#04x}"), |(_, name)| (*name).to_owned()))
}

/// Family, model and stepping of the first CPU: x86's numbers, or ARM's architecture, part, variant and revision.
pub(super) fn generation(text: &str) -> [Option<String>; 3] {
    let any = |keys: &[&str]| keys.iter().find_map(|key| first(text, key)).map(str::to_owned);
    let stepping = match (first(text, "CPU variant").and_then(hexadecimal), first(text, "CPU revision")) {
        (Some(variant), Some(revision)) => Some(format!("r{variant}p{revision}")),
        _ => any(&["stepping", "revision", "cpu revision"]),
    };
    // POWER has the machine's model under this name.
    let model = any(&["model", "CPU part"]).filter(|model| model.starts_with("0x") || model.parse::<u32>().is_ok());
    [any(&["cpu family", "CPU Family", "family", "CPU architecture"]), model, stepping]
}

/// The words of the first CPU's list of features; x86 calls it flags, ARM and s390 features.
pub(super) fn features(text: &str) -> BTreeSet<&str> {
    let line = ["flags", "Features", "features"].iter().find_map(|key| first(text, key));
    line.unwrap_or_default().split_ascii_whitespace().collect()
}

/// What the file tells of one CPU, where it numbers them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct One {
    /// `physical id`, x86's number of the package.
    pub(super) package: Option<u32>,
    /// `core id`, unique within the package.
    pub(super) core: Option<u32>,
    /// Name of the core, for ARM.
    pub(super) kind: Option<String>,
}

/// The CPUs by their number. Old 32-bit ARM tells what is common to all behind the last one.
pub(super) fn each(text: &str) -> BTreeMap<u32, One> {
    let mut found: BTreeMap<u32, One> = BTreeMap::new();
    let (mut now, mut maker) = (None, None);
    for (key, value) in fields(text) {
        // s390: `processor 0: version = FF, …`
        let number = match key.strip_prefix("processor") {
            Some("") => value.parse().ok(),
            Some(rest) => rest.trim().parse().ok(),
            None => None,
        };
        if let Some(number) = number {
            found.entry(number).or_default();
            now = Some(number);
            continue;
        }
        let Some(one) = now.and_then(|number| found.get_mut(&number)) else { continue };
        match key {
            "physical id" => one.package = value.parse().ok(),
            "core id" => one.core = value.parse().ok(),
            "CPU implementer" => maker = hexadecimal(value),
            "CPU part" => one.kind = maker.zip(hexadecimal(value)).map(arm_core),
            _ => {}
        }
    }
    found
}

fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

/// Whether x86's flags tell of a hypervisor; none where there are no such flags.
pub(super) fn hypervisor(text: &str) -> Option<bool> {
    Some(first(text, "flags")?.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_architecture_names_its_model_in_its_own_way() {
        let cases = [
            ("processor\t: 0\nmodel\t\t: 1\nmodel name\t: Some CPU @ 2 GHz\n", "Some CPU @ 2 GHz"),
            ("processor : 0\ncpu : POWER9 (architected), altivec supported\nclock : 2 MHz\n", "POWER9 (architected)"),
            ("cpu : Alpha\ncpu model : EV67\n", "Alpha EV67"),
            ("system type : X\nprocessor : 0\ncpu model : Loongson-3\n", "Loongson-3"),
            ("processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n", "ARM Neoverse-N1"),
            (
                "CPU implementer : 0x41\nCPU part : 0xd08\n\nCPU implementer: 0x99\nCPU part: 0x1\n",
                "ARM Cortex-A72 + ARM implementer 0x99 part 0x001",
            ),
            (
                "vendor_id : IBM/S390\n# processors : 2\nprocessor 0: version = FF,  identification = 1,  machine = 3906\n",
                "IBM/S390 machine 3906",
            ),
            (
                "processor : 0\nvendor : GenuineIntel\narch : IA-64\nfamily : Itanium 2\n",
                "GenuineIntel IA-64 family Itanium 2",
            ),
            ("Processor : AArch64 Processor rev 0 (aarch64)\nprocessor : 0\n", "AArch64 Processor rev 0 (aarch64)"),
            ("processor : 0\nhart : 1\nisa : rv64imafdcv\n", "rv64imafdcv"),
        ];
        for (text, name) in cases {
            assert_eq!(model(text).as_deref(), Some(name));
            for end in 0..text.len() {
                model(&text[..end]);
            }
        }
        assert_eq!(model("processor : 0\nmodel name :\n"), None);
    }

    #[test]
    fn the_hypervisor_is_a_whole_flag() {
        assert_eq!(hypervisor("flags : fpu hypervisor lm\n"), Some(true));
        assert_eq!(hypervisor("flags : fpu hypervisors lm\n"), Some(false));
        assert_eq!(hypervisor("Features : fp asimd\n"), None);
    }

    #[test]
    fn each_cpu_is_told_by_its_number() {
        let x86 = "processor : 0\nphysical id : 0\ncore id : 3\n\nprocessor : 9\nphysical id : 1\ncore id : 3\n";
        let one = |package, core| One { package: Some(package), core: Some(core), kind: None };
        assert_eq!(each(x86), BTreeMap::from([(0, one(0, 3)), (9, one(1, 3))]));
        let arm = "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd05\n\nprocessor : 1\nCPU implementer : 0x41\nCPU part : 0xd44\n";
        let kinds: Vec<_> = each(arm).into_values().filter_map(|one| one.kind).collect();
        assert_eq!(kinds, ["ARM Cortex-A55", "ARM Cortex-X1"]);
        let s390 = "# processors : 2\nprocessor 0: version = FF\nprocessor 1: version = FF\n";
        assert_eq!(each(s390).len(), 2);
        assert!(each("processor\t: x\nprocessor : ARMv7\ncore id : 1\nphysical id\n").is_empty());
    }

    #[test]
    fn the_generation_is_numbers_on_x86_and_revisions_on_arm() {
        let of = |text| (vendor(text).unwrap_or_default(), generation(text).map(Option::unwrap_or_default));
        let x86 =
            "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nmodel name : X\nstepping : 4\nflags : fpu avx2\n";
        assert_eq!(of(x86), ("GenuineIntel".into(), ["6".into(), "85".into(), "4".into()]));
        assert_eq!(features(x86), BTreeSet::from(["fpu", "avx2"]));
        let arm =
            "CPU implementer : 0xc0\nCPU architecture: 8\nCPU variant : 0x3\nCPU part : 0xd0c\nCPU revision : 1\n";
        assert_eq!(of(arm), ("Ampere".into(), ["8".into(), "0xd0c".into(), "r3p1".into()]));
        assert_eq!(of("CPU implementer : 0x99\n").0, "ARM implementer 0x99");
        assert_eq!(of(""), (String::new(), Default::default()));
    }
}
