//! What `/proc/cpuinfo` tells, in the many dialects of the architectures.

use std::collections::BTreeSet;

/// Keys that name the model, the most telling first: x86 and arm64, `LoongArch`, old ARM, RISC-V.
const MODELS: [&str; 5] = ["model name", "Model Name", "Processor", "uarch", "isa"];

/// Server cores by the numbers that ARM CPUs are known by.
const ARM_CORES: [((u32, u32), &str); 19] = [
    ((0x41, 0xd03), "ARM Cortex-A53"),
    ((0x41, 0xd07), "ARM Cortex-A57"),
    ((0x41, 0xd08), "ARM Cortex-A72"),
    ((0x41, 0xd0b), "ARM Cortex-A76"),
    ((0x41, 0xd0c), "ARM Neoverse-N1"),
    ((0x41, 0xd40), "ARM Neoverse-V1"),
    ((0x41, 0xd49), "ARM Neoverse-N2"),
    ((0x41, 0xd4f), "ARM Neoverse-V2"),
    ((0x41, 0xd83), "ARM Neoverse-V3"),
    ((0x41, 0xd84), "ARM Neoverse-V3"),
    ((0x41, 0xd8e), "ARM Neoverse-N3"),
    ((0x43, 0x0af), "Cavium ThunderX2"),
    ((0x46, 0x001), "Fujitsu A64FX"),
    ((0x48, 0xd01), "HiSilicon Kunpeng-920"),
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
        let number = || u32::from_str_radix(value.trim_start_matches("0x"), 16).ok();
        match key {
            "CPU implementer" => implementer = number(),
            "CPU part" => kinds.extend(implementer.zip(number())),
            _ => {}
        }
    }
    let name = |kind: &(u32, u32)| match ARM_CORES.iter().find(|(numbers, _)| numbers == kind) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("ARM implementer {:#04x} part {:#05x}", kind.0, kind.1),
    };
    let names: Vec<String> = kinds.iter().map(name).collect();
    (!names.is_empty()).then(|| names.join(" + "))
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
}
