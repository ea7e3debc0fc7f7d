use proptest::prelude::*;

use super::*;
use crate::vocab::hardware::{DiskItem, Module, Modules, NicItem, Processor};
use crate::vocab::node::Machine;
use crate::vocab::ordered;
use crate::vocab::ronfile;

const GIB: u64 = 1 << 30;

fn is(text: &str) -> Fact {
    Fact::Is(text.to_owned())
}

fn module(n: usize) -> Module {
    Module {
        slot: format!("A{n}"),
        bank: Fact::NotPresent,
        size: Fact::Is(32 * GIB),
        kind: is("DDR5"),
        speed: Fact::Is(4800),
        rated: Fact::Is(4800),
        ranks: Fact::Is(2),
        manufacturer: is("Maker"),
        part: is("P"),
        serial: is("S"),
    }
}

fn disk(n: usize, size: u64) -> DiskItem {
    DiskItem {
        name: format!("nvme{n}n1"),
        model: is("MAKER MZQL23T8HCLS"),
        size,
        serial: is(&format!("S{n}")),
        firmware: is("GDC56"),
        transport: is("nvme"),
        ..DiskItem::default()
    }
}

fn nic(n: usize) -> NicItem {
    NicItem {
        name: format!("eth{n}"),
        speed: Some(25_000),
        driver: is("mlx5_core"),
        kind: is("hardware"),
        ..NicItem::default()
    }
}

fn node() -> Inventory {
    Inventory {
        cpu: "AMD EPYC  9354 32-Core Processor".to_owned(),
        cpus: 128,
        memory: 252 * GIB,
        product: is("Maker R7"),
        virtualisation: Fact::NotPresent,
        machine: Machine { bios_version: is("2.14"), ..Machine::default() },
        processor: Processor { sockets: Fact::Is(2), cores: Fact::Is(64), ..Processor::default() },
        modules: Modules {
            fitted: Fact::Is((0..8).map(module).collect()),
            correction: is("multi-bit ECC"),
            ..Modules::default()
        },
        disks: (0..8).map(|n| disk(n, 3_840_755_982_336)).chain([disk(8, 480_103_981_056)]).collect(),
        nics: (0..2).map(nic).collect(),
        ..Inventory::default()
    }
}

fn conditions() -> Conditions {
    let told = [
        ("governor", "performance"),
        ("raid0_model", "PERC H755 Front"),
        ("raid0_battery", "optimal"),
        ("raid0_vd1_policy", "WB"),
        ("raid0_vd1_level", "RAID5"),
        ("raid0_vd1_disk_cache", "off"),
    ];
    Conditions(told.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

const ORDER: &str = r#"(
    product: "R7", bios: "2.14", bare_metal: true,
    cpu: (model: "epyc 9354", sockets: 2, cores: 64, threads: 128),
    memory: (total: "256GiB", ecc: true, modules: [(count: 8, size: "32GiB", kind: "DDR5", speed: 4800)]),
    disks: [(count: 8, model: "mzql23t8", size: "3.84TB", firmware: "GDC56", transport: "nvme")],
    nics: [(count: 2, driver: "mlx5_core", speed: "25 Gbit/s")],
    raid: [(controller: "H755", level: "RAID-5", policy: "WB")],
)"#;

fn order(text: &str) -> Ordered {
    ronfile::parse("o", text).unwrap()
}

fn judged(ordered: &Ordered, node: &Inventory, conditions: &Conditions) -> Vec<Line> {
    lines(ordered, Known { node: "n", inventory: Some(node), conditions })
}

/// Decision, what was found and the reason of the line about a part, after a change of the node.
fn told(of: &str, change: impl FnOnce(&mut Inventory, &mut Conditions)) -> (Decision, String, String) {
    let (mut node, mut conditions) = (node(), conditions());
    change(&mut node, &mut conditions);
    let lines = judged(&order(ORDER), &node, &conditions);
    let line = lines.into_iter().find(|line| line.of == format!("inventory.{of}")).unwrap();
    (line.decision, line.measured, line.reason)
}

fn worst(ordered: &Ordered, node: &Inventory) -> Option<Decision> {
    judged(ordered, node, &conditions()).into_iter().map(|line| line.decision).max()
}

#[test]
fn what_was_ordered_and_is_there_passes_line_by_line() {
    let lines = judged(&order(ORDER), &node(), &conditions());
    let of: Vec<&str> = lines.iter().map(|line| line.of.trim_start_matches("inventory.")).collect();
    let expected = [
        "product",
        "bios",
        "virtualisation",
        "cpu.model",
        "cpu.sockets",
        "cpu.cores",
        "cpu.threads",
        "memory.total",
        "memory.ecc",
        "memory.modules",
        "disks",
        "nics",
        "raid",
    ];
    assert_eq!(of, expected);
    assert!(lines.iter().all(|line| line.decision == Decision::Pass && line.section == "ordered"), "{lines:#?}");
    let disks = &lines[10];
    assert_eq!(
        (disks.limit.as_str(), disks.measured.as_str()),
        ("8 x mzql23t8, 3.84 TB, nvme, firmware GDC56", "8 of 8")
    );
    assert_eq!(disks.reason, "all that was ordered is there; more than that: nvme8n1 (serial S8)");
}

#[test]
fn a_part_that_is_missing_or_another_is_named() {
    let (decision, found, reason) = told("disks", |node, _| node.disks[3].size = 1_920_383_410_176);
    assert_eq!((decision, found.as_str()), (Decision::Fail, "7 of 8"));
    assert_eq!(reason, "1 is missing: nvme3n1 (serial S3) is 1.92 TB; nvme8n1 (serial S8) is 480 GB");
    let (decision, _, reason) = told("disks", |node, _| node.disks[0].firmware = is("GDC55"));
    assert_eq!(
        (decision, reason.contains("nvme0n1 (serial S0) has firmware GDC55")),
        (Decision::Fail, true),
        "{reason}"
    );
    let slow = |node: &mut Inventory, _: &mut Conditions| match &mut node.modules.fitted {
        Fact::Is(fitted) => fitted[5].speed = Fact::Is(4400),
        _ => panic!(),
    };
    let (decision, found, reason) = told("memory.modules", slow);
    assert_eq!(
        (decision, found.as_str(), reason.as_str()),
        (Decision::Fail, "7 of 8", "1 is missing: A5 runs at 4400 MT/s (rated 4800)")
    );
    let (decision, _, reason) = told("nics", |node, _| node.nics[1].speed = Some(10_000));
    assert_eq!((decision, reason.as_str()), (Decision::Fail, "1 is missing: eth1 links at 10 Gbit/s"));
    let (decision, found, reason) = told("cpu.cores", |node, _| node.processor.cores = Fact::Is(60));
    assert_eq!((decision, found.as_str(), reason.as_str()), (Decision::Fail, "60", "4 of 64 missing"));
    let (decision, _, reason) =
        told("raid", |_, conditions| _ = conditions.0.insert("raid0_vd1_policy".into(), "WT (default WB)".into()));
    assert_eq!(
        (decision, reason.as_str()),
        (Decision::Fail, "1 is missing: drive 1 of controller 0 has write policy WT (default WB)")
    );
    assert_eq!(told("virtualisation", |node, _| node.virtualisation = is("KVM")).0, Decision::Fail);
    assert_eq!(told("cpu.model", |node, _| node.cpu = "AMD EPYC 9334".to_owned()).0, Decision::Fail);
    assert_eq!(told("bios", |node, _| node.machine.bios_version = is("2.13")).0, Decision::Fail);
    assert_eq!(told("memory.ecc", |node, _| node.modules.correction = is("no error correction")).0, Decision::Fail);
}

#[test]
fn more_than_ordered_passes_with_a_remark() {
    let (decision, _, reason) = told("cpu.sockets", |node, _| node.processor.sockets = Fact::Is(4));
    assert_eq!((decision, reason.as_str()), (Decision::Pass, "2 more than were ordered"));
    assert_eq!(told("nics", |node, _| node.nics[0].speed = Some(100_000)).0, Decision::Pass);
}

#[test]
fn what_the_node_does_not_tell_proves_nothing_and_says_what_to_do() {
    let root = |node: &mut Inventory, _: &mut Conditions| {
        node.modules.fitted = Fact::NeedsRoot;
        node.modules.correction = Fact::NeedsRoot;
    };
    let (decision, _, reason) = told("memory.modules", root);
    assert_eq!((decision, reason.as_str()), (Decision::NotProven, "only root may read it; run shakedown as root"));
    assert_eq!(told("memory.ecc", root).0, Decision::NotProven);
    let (decision, found, reason) = told("memory.total", root);
    assert_eq!((decision, found.as_str()), (Decision::Pass, "252 GiB"), "{reason}");
    let kernel = |managed: u64| {
        told("memory.total", |node, conditions| {
            root(node, conditions);
            node.memory = managed * GIB;
        })
    };
    assert_eq!(
        (kernel(247).0, kernel(231).0, kernel(230).0),
        (Decision::NotProven, Decision::NotProven, Decision::Fail)
    );
    let (decision, _, reason) = told("nics", |node, _| node.nics[1].speed = None);
    assert_eq!(
        (decision, reason.contains("eth1: tells no speed; connect it")),
        (Decision::NotProven, true),
        "{reason}"
    );
    let (decision, _, reason) = told("raid", |_, conditions| conditions.0.clear());
    assert_eq!((decision, reason.contains("install storcli")), (Decision::NotProven, true), "{reason}");
    let mute = |_: &mut Inventory, conditions: &mut Conditions| {
        *conditions = Conditions([("raid0_model".to_owned(), "storcli did not answer".to_owned())].into());
    };
    let (decision, _, reason) = told("raid", mute);
    assert_eq!(
        (decision, reason.as_str()),
        (Decision::NotProven, "a RAID controller did not tell: storcli did not answer")
    );
    let old = |_: &mut Inventory, conditions: &mut Conditions| _ = conditions.0.remove("raid0_vd1_level");
    assert_eq!(told("raid", old).0, Decision::NotProven);
    let nothing = lines(&order(ORDER), Known { node: "n", inventory: None, conditions: &conditions() });
    assert_eq!((nothing.len(), nothing[0].decision), (1, Decision::NotProven));
    let empty = judged(&order(ORDER), &Inventory::default(), &Conditions::default());
    let proven = empty.iter().filter(|line| line.decision == Decision::Pass).map(|line| &line.of);
    assert_eq!(proven.count(), 0, "{empty:#?}");
}

#[test]
fn a_disk_with_two_paths_is_one_and_what_is_made_of_others_is_none() {
    let mut twice = node();
    twice.disks.iter_mut().for_each(|disk| disk.wwid = disk.serial.clone());
    let again: Vec<DiskItem> =
        twice.disks.iter().map(|disk| DiskItem { name: format!("{}b", disk.name), ..disk.clone() }).collect();
    twice.disks.extend(again);
    twice.disks.push(DiskItem { over: vec!["nvme0n1".to_owned()], ..disk(20, 3_840_755_982_336) });
    twice.disks.remove(0);
    assert_eq!(ordered::disks(&twice).len(), 9);
    twice.disks.retain(|disk| !disk.name.starts_with("nvme0n1"));
    assert_eq!(worst(&order(ORDER), &twice), Some(Decision::Fail));
}

#[test]
fn a_node_meets_its_own_order() {
    let found = Ordered::found(&node(), &[]);
    assert_eq!(found.fault(), None);
    assert_eq!((found.disks[0].count, found.disks.len(), found.nics[0].count), (8, 2, 2));
    assert_eq!(worst(&found, &node()), Some(Decision::Pass), "{:#?}", judged(&found, &node(), &conditions()));
    assert_eq!(Ordered::found(&Inventory::default(), &[]), Ordered::default());
}

proptest! {
    #[test]
    fn a_part_that_is_taken_away_never_makes_the_verdict_better(
        size in prop::collection::vec(0_usize..3, 9), speed in prop::collection::vec(prop::option::of(0_usize..2), 2),
        slow in prop::collection::vec(any::<bool>(), 8), gone in 0_usize..19,
    ) {
        let mut all = node();
        for (disk, size) in all.disks.iter_mut().zip(size) {
            disk.size = [3_840_755_982_336, 480_103_981_056, 7_680_000_000_000][size];
        }
        for (nic, speed) in all.nics.iter_mut().zip(speed) {
            nic.speed = speed.map(|speed| [25_000, 10_000][speed]);
        }
        let Fact::Is(fitted) = &mut all.modules.fitted else { return Ok(()) };
        for (module, slow) in fitted.iter_mut().zip(slow) {
            module.speed = if slow { Fact::Is(4400) } else { Fact::Is(4800) };
        }
        let mut fewer = all.clone();
        match gone {
            0..9 => _ = fewer.disks.remove(gone),
            9..11 => _ = fewer.nics.remove(gone - 9),
            _ => if let Fact::Is(fitted) = &mut fewer.modules.fitted { fitted.remove(gone - 11); },
        }
        let two = order(r#"(disks: [(count: 2, size: "480GB"), (count: 5, size: "3.84TB")], nics: [(count: 1, speed: "25 Gbit/s")],
            memory: (total: "224GiB", modules: [(count: 4, speed: 4800), (count: 3, size: "32GiB")]))"#);
        for ordered in [order(ORDER), two] {
            prop_assert!(worst(&ordered, &fewer) >= worst(&ordered, &all));
        }
    }
}
