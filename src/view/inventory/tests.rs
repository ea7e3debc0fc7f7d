use super::*;
use crate::vocab::hardware::{Module, VirtualDrive};
use crate::vocab::node::Machine;

fn is(text: &str) -> Fact {
    Fact::Is(text.to_owned())
}

fn server() -> Inventory {
    let module = |slot: &str, serial: &str| Module {
        slot: slot.into(),
        bank: Fact::NotPresent,
        size: Fact::Is(32 << 30),
        kind: is("DDR4"),
        speed: Fact::Is(2933),
        rated: Fact::Is(3200),
        ranks: Fact::Is(2),
        manufacturer: is("Maker"),
        part: is("PN-1"),
        serial: is(serial),
    };
    Inventory {
        host: "節点07".into(),
        serial: Fact::NeedsRoot,
        product: is("Acme R1"),
        cpu: "Some CPU @ 2 GHz".into(),
        cpus: 8,
        usable_cpus: 2,
        memory: 64 << 30,
        kernel: "6.1.0".into(),
        system: "Linux 1".into(),
        virtualisation: Fact::NotPresent,
        machine: Machine {
            uuid: Fact::NeedsRoot,
            page: Fact::Is(65536),
            chassis: Fact::NotPresent,
            ..Machine::default()
        },
        modules: Modules {
            fitted: Fact::Is(vec![module("A1", "S1"), module("A2", "S2")]),
            empty_slots: 6,
            channels: Fact::Is(2),
            correction: is("multi-bit ECC"),
        },
        disks: vec![DiskItem {
            name: "sda".into(),
            size: 1_200_000_000_000,
            model: is(&"long words ".repeat(12)),
            serial: Fact::NeedsRoot,
            firmware: Fact::NotPresent,
            logical_sector: Fact::Is(512),
            physical_sector: Fact::Is(4096),
            write_cache: is("write through"),
            transport: is("sas"),
            ..DiskItem::default()
        }],
        nics: vec![NicItem { name: "eth0".into(), kind: is("hardware"), ..NicItem::default() }],
        notes: vec!["CPUs: 8 online in sysfs, 6 in /proc/stat".into()],
        ..Inventory::default()
    }
}

#[test]
fn every_line_is_ascii_and_fits_in_80_columns() {
    let drive = VirtualDrive { id: "0".into(), policy: is("WT"), default_policy: is("WB"), ..VirtualDrive::default() };
    let controller = Controller { id: "0".into(), model: is("Maker 9"), drives: vec![drive], ..Controller::default() };
    let settings = [("a", "1"), ("b", "2"), ("mitigations", &"none vulnerable, ".repeat(9)), ("c", "3")];
    let settings = Conditions(settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    for node in [server(), Inventory::default()] {
        let text = text(&node, &settings, std::slice::from_ref(&controller));
        let strange: Vec<&str> =
            text.lines().filter(|line| line.len() > 80 || !line.is_ascii() || line.ends_with(' ')).collect();
        assert!(strange.is_empty(), "{strange:#?}");
    }
}

#[test]
fn what_is_known_and_why_the_rest_is_not_are_both_there() {
    let text = text(&server(), &Conditions::default(), &[]);
    let flat = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "host ??07",
        "(chassis: not present; board, BIOS vendor, BIOS version, BIOS date, clock: not recorded; UUID: needs root)",
        "pages of 64 KiB",
        "8, 2 usable by this process",
        "DISAGREEMENT CPUs: 8 online in sysfs, 6 in /proc/stat",
        "total 64 GiB (68.7 GB)",
        "2 fitted, 6 empty slots, channels 2, multi-bit ECC",
        "2 x 32 GiB DDR4 2933 MT/s (rated 3200) Maker PN-1 A1 SN S1, A2 SN S2",
        "sectors 512/4096 B",
        "kernel's view of its cache: write through",
        "serial: needs root; firmware: not present",
    ] {
        assert!(flat.contains(words), "`{words}` is not in\n{text}");
    }
}

#[test]
fn a_policy_that_is_not_the_one_asked_for_is_seen() {
    let drive = VirtualDrive { id: "3".into(), policy: is("WT"), default_policy: is("WB"), ..VirtualDrive::default() };
    let controller = Controller {
        id: "0".into(),
        model: is("Maker 9"),
        battery: is("learning"),
        drives: vec![drive],
        ..Controller::default()
    };
    let text = text(&Inventory::default(), &Conditions::default(), &[controller]);
    assert!(text.contains("battery learning") && text.contains("policy WT (default WB)"), "{text}");
}
