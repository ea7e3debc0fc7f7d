//! Memory: how much there is, and the modules that the DMI table lists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::dmi::{self, Structure};
use super::fact;
use crate::agent::host;
use crate::vocab::fact::Fact;
use crate::vocab::hardware::{Module, Modules};

/// SMBIOS's numbers of structures.
const ARRAY: u8 = 16;
const DEVICE: u8 = 17;

/// An array's use as the memory of the system, and not for video, flash or cache.
const SYSTEM_MEMORY: u8 = 3;

const KINDS: [(u8, &str); 20] = [
    (0x03, "DRAM"),
    (0x07, "RAM"),
    (0x0f, "SDRAM"),
    (0x12, "DDR"),
    (0x13, "DDR2"),
    (0x14, "DDR2 FB-DIMM"),
    (0x18, "DDR3"),
    (0x19, "FBD2"),
    (0x1a, "DDR4"),
    (0x1b, "LPDDR"),
    (0x1c, "LPDDR2"),
    (0x1d, "LPDDR3"),
    (0x1e, "LPDDR4"),
    (0x1f, "non-volatile"),
    (0x20, "HBM"),
    (0x21, "HBM2"),
    (0x22, "DDR5"),
    (0x23, "LPDDR5"),
    (0x24, "HBM3"),
    (0x0d, "EDO"),
];

/// Bytes of memory that the kernel manages; 0 when nothing tells.
pub(super) fn total(root: &Path) -> u64 {
    let text = host::text(&root.join("proc/meminfo")).unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|rest| rest.split_ascii_whitespace().next()).and_then(|n| n.parse::<u64>().ok());
    match kib {
        Some(kib) => kib.saturating_mul(1024),
        None if root == Path::new("/") => sysinfo::System::new().map_or(0, |mut system| {
            system.refresh_memory();
            system.total_memory()
        }),
        None => 0,
    }
}

/// What the DMI table below `root` tells.
pub(super) fn modules(root: &Path) -> Modules {
    match dmi::table(root) {
        Ok(table) => listed(&dmi::structures(&table)),
        Err(error) => Modules {
            fitted: fact::refusal(&error),
            empty_slots: 0,
            channels: fact::refusal(&error),
            correction: fact::refusal(&error),
        },
    }
}

fn listed(structures: &[Structure<'_>]) -> Modules {
    let arrays: BTreeMap<u16, &Structure<'_>> =
        structures.iter().filter(|s| s.kind == ARRAY).map(|s| (s.handle, s)).collect();
    let of_the_system = |device: &&Structure<'_>| {
        let array = device.word(0x04).and_then(|handle| arrays.get(&handle));
        array.and_then(|array| array.byte(0x05)).is_none_or(|purpose| purpose == SYSTEM_MEMORY)
    };
    let (mut fitted, mut empty_slots) = (Vec::new(), 0);
    for device in structures.iter().filter(|s| s.kind == DEVICE).filter(of_the_system) {
        match size(device) {
            Some(0) => empty_slots += 1,
            size => fitted.push(module(device, size)),
        }
    }
    let main = arrays.values().find(|array| array.byte(0x05) == Some(SYSTEM_MEMORY));
    let channels: Option<BTreeSet<String>> =
        fitted.iter().map(|module| channel(&module.slot, module.bank.known().map_or("", String::as_str))).collect();
    Modules {
        channels: match channels {
            Some(channels) if !channels.is_empty() => Fact::Is(u32::try_from(channels.len()).unwrap_or(u32::MAX)),
            _ => Fact::Unreadable("the names of the slots do not tell".to_owned()),
        },
        correction: main.and_then(|array| array.byte(0x06)).map_or(Fact::NotPresent, correction),
        empty_slots,
        fitted: if fitted.is_empty() {
            Fact::Unreadable("the DMI table lists none".to_owned())
        } else {
            Fact::Is(fitted)
        },
    }
}

fn correction(number: u8) -> Fact {
    match number {
        3 => Fact::Is("no error correction".to_owned()),
        4 => Fact::Is("parity".to_owned()),
        5 => Fact::Is("single-bit ECC".to_owned()),
        6 => Fact::Is("multi-bit ECC".to_owned()),
        7 => Fact::Is("CRC".to_owned()),
        _ => Fact::Unreadable("the firmware does not know".to_owned()),
    }
}

/// Bytes of a module, 0 for an empty slot; none when the firmware does not know.
fn size(device: &Structure<'_>) -> Option<u64> {
    const MIB: u64 = 1 << 20;
    match device.word(0x0c)? {
        0xffff => None,
        // Too large for the field: another one has it, in MiB.
        0x7fff => Some(u64::from(device.double(0x1c)? & 0x7fff_ffff) * MIB),
        small if small & 0x8000 != 0 => Some(u64::from(small & 0x7fff) << 10),
        mib => Some(u64::from(mib) * MIB),
    }
}

fn module(device: &Structure<'_>, size: Option<u64>) -> Module {
    let unknown = || Fact::Unreadable("the firmware does not know".to_owned());
    let text = |at: usize| device.text(at).map_or(Fact::NotPresent, fact::filled);
    let speed = |at: usize, wide: usize| match device.word(at) {
        Some(0xffff) => device.double(wide).map(|speed| speed & 0x7fff_ffff).filter(|speed| *speed > 0),
        speed => speed.filter(|speed| *speed > 0).map(u32::from),
    };
    let number = |found: Option<u32>| found.map_or_else(unknown, Fact::Is);
    let kind = device.byte(0x12);
    Module {
        slot: device.text(0x10).unwrap_or_else(|| "unnamed slot".to_owned()),
        bank: text(0x11),
        size: size.map_or_else(|| Fact::Unreadable("the firmware does not know".to_owned()), Fact::Is),
        kind: match (device.byte(0x28), KINDS.iter().find(|(number, _)| Some(*number) == kind)) {
            // The kind of such a module is that of the slot.
            (Some(7), _) => Fact::Is("Optane".to_owned()),
            (_, Some((_, name))) => Fact::Is((*name).to_owned()),
            (_, None) => Fact::Unreadable("the firmware does not know".to_owned()),
        },
        speed: number(speed(0x20, 0x58)),
        rated: number(speed(0x15, 0x54)),
        ranks: number(device.byte(0x1b).map(|ranks| u32::from(ranks & 0x0f)).filter(|ranks| *ranks > 0)),
        manufacturer: text(0x17),
        part: text(0x1a),
        serial: text(0x18),
    }
}

/// The channel of a module by the names of its bank and slot (`P0 CHANNEL A`, `Node1_Channel2_Dimm0`, `P1-DIMMA1`), with the
/// processor it belongs to where that is named; none when the names do not tell.
fn channel(slot: &str, bank: &str) -> Option<String> {
    let (slot, bank) = (slot.to_ascii_lowercase(), bank.to_ascii_lowercase());
    for text in [&bank, &slot] {
        if let Some((before, after)) = text.split_once("channel") {
            let name: String = after
                .trim_start_matches([' ', '_', '-', ':'])
                .chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect();
            let processor = if before.trim().is_empty() { processor(&slot) } else { before.trim() };
            return (!name.is_empty()).then(|| format!("{processor}|{name}"));
        }
    }
    let (before, after) = slot.split_once("dimm")?;
    let mut name = after.trim_start_matches([' ', '_', '-']).chars();
    let letter = name.next().filter(char::is_ascii_alphabetic)?;
    let slots = name.next().is_some_and(|c| c.is_ascii_digit()) && name.next().is_none();
    slots.then(|| format!("{before}|{letter}"))
}

/// `p0`, `cpu1`, `node 2` at the beginning of a slot's name.
fn processor(slot: &str) -> &str {
    let letters = slot.len() - slot.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
    let rest = slot[letters..].trim_start_matches([' ', '_']);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let known = ["p", "cpu", "proc", "node", "socket"].contains(&&slot[..letters]);
    if known && digits > 0 { &slot[..slot.len() - rest.len() + digits] } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    /// A module's fields behind the head, as of version 3.3; texts 1 to 5 are slot, bank, maker, serial and part.
    fn device(array: u16, size: u16, extended: u32, kind: u8, speeds: [u16; 2]) -> Vec<u8> {
        let mut fields = vec![0; 0x5c];
        let mut put = |at: usize, bytes: &[u8]| fields[at..at + bytes.len()].copy_from_slice(bytes);
        put(0x04, &array.to_le_bytes());
        put(0x0c, &size.to_le_bytes());
        put(0x10, &[1, 2, kind]);
        put(0x15, &speeds[0].to_le_bytes());
        put(0x17, &[3, 4, 0, 5, 2]);
        put(0x1c, &extended.to_le_bytes());
        put(0x20, &speeds[1].to_le_bytes());
        put(0x54, &8800_u32.to_le_bytes());
        put(0x58, &8000_u32.to_le_bytes());
        fields.split_off(4)
    }

    fn table() -> Vec<u8> {
        let array = [3, SYSTEM_MEMORY, 6, 0, 0, 0, 0, 0, 0, 4, 0];
        let flash = [3, 5, 3, 0, 0, 0, 0, 0, 0, 1, 0];
        dmi::made(&[
            (ARRAY, 0x10, &array, &[]),
            (ARRAY, 0x11, &flash, &[]),
            (
                DEVICE,
                0x20,
                &device(0x10, 16384, 0, 0x1a, [3200, 2933]),
                &["DIMM 0", "P0 CHANNEL A", "Maker", "S1", "PN-1 "],
            ),
            (
                DEVICE,
                0x21,
                &device(0x10, 0x7fff, 65536, 0x22, [0xffff, 0xffff]),
                &["DIMM 1", "P0 CHANNEL B", "Maker", "00000000", "PN"],
            ),
            (
                DEVICE,
                0x22,
                &device(0x10, 0, 0, 2, [0, 0]),
                &["DIMM 2", "P0 CHANNEL C", "NO DIMM", "NO DIMM", "NO DIMM"],
            ),
            (DEVICE, 0x23, &device(0x10, 0xffff, 0, 2, [0, 0]), &["DIMM 3", "P0 CHANNEL B"]),
            (DEVICE, 0x24, &device(0x11, 16, 0, 9, [0, 0]), &["ROM", ""]),
            (127, 0x30, &[], &[]),
        ])
    }

    #[test]
    fn modules_empty_slots_and_channels_are_told() {
        let root = fake::root(&[]);
        fake::put(root.path(), "sys/firmware/dmi/tables/DMI", table());
        let got = modules(root.path());
        assert_eq!((got.empty_slots, got.channels, got.correction), (1, Fact::Is(2), Fact::Is("multi-bit ECC".into())));
        let fitted = got.fitted.known().unwrap();
        let sizes: Vec<_> = fitted.iter().map(|module| module.size.known().copied()).collect();
        assert_eq!(sizes, [Some(16 << 30), Some(64 << 30), None], "the flash of the BIOS is no memory");
        assert_eq!(
            (&fitted[0].kind, &fitted[0].rated, &fitted[0].speed),
            (&Fact::Is("DDR4".into()), &Fact::Is(3200), &Fact::Is(2933))
        );
        assert_eq!((&fitted[0].part, &fitted[0].ranks), (&Fact::Is("PN-1".into()), &Fact::Is(2)));
        assert_eq!(
            (&fitted[1].rated, &fitted[1].speed, &fitted[1].serial),
            (&Fact::Is(8800), &Fact::Is(8000), &Fact::NotPresent)
        );
        assert_eq!((fitted[2].kind.known(), fitted[2].speed.known()), (None, None));
    }

    #[test]
    fn a_table_that_lists_no_memory_or_is_not_there_says_so() {
        let root = fake::root(&[]);
        assert_eq!(modules(root.path()).fitted, Fact::NotPresent);
        fake::put(root.path(), "sys/firmware/dmi/tables/DMI", dmi::made(&[(127, 1, &[], &[])]));
        assert_eq!(modules(root.path()).fitted.reason(), "the DMI table lists none");
    }

    #[test]
    fn names_of_slots_tell_the_channel_or_do_not() {
        let same = |a: (&str, &str), b: (&str, &str)| channel(a.0, a.1).unwrap() == channel(b.0, b.1).unwrap();
        assert!(same(("DIMM 0", "P0 CHANNEL A"), ("DIMM 1", "P0 CHANNEL A")));
        assert!(!same(("DIMM 0", "P0 CHANNEL A"), ("DIMM 0", "P1 CHANNEL A")));
        assert!(!same(("CPU0 DIMM 0", "CHANNEL A"), ("CPU1 DIMM 0", "CHANNEL A")));
        assert!(same(("Node1_Channel2_Dimm0", ""), ("Node1_Channel2_Dimm1", "")));
        assert!(same(("P1-DIMMA1", "P0_Node0"), ("P1-DIMMA2", "")) && !same(("P1-DIMMA1", ""), ("P2-DIMMA1", "")));
        assert!(same(("DIMM_A1", "BANK 0"), ("DIMM_A2", "BANK 1")));
        for unclear in ["PROC 1 DIMM 3", "A1", "DIMM000", "M0001", "", "channel", "DIMMé1"] {
            assert_eq!(channel(unclear, "None"), None, "{unclear}");
        }
    }

    #[test]
    fn no_cut_and_no_damage_stops_the_reader() {
        let table = table();
        for end in 0..table.len() {
            listed(&dmi::structures(&table[..end]));
        }
        for at in 0..table.len() {
            for byte in [0, 4, 17, 0x7f, 0x80, 0xff] {
                let mut damaged = table.clone();
                damaged[at] = byte;
                listed(&dmi::structures(&damaged));
            }
        }
    }
}
