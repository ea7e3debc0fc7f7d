//! A node at two times: whether it is the same machine, and what has changed of its parts, firmware and settings. A test that is
//! repeated after a repair is of the machine that the first one was of.

use std::collections::BTreeMap;

use super::reference;
use super::state::State;
use crate::vocab::fact::Fact;
use crate::vocab::hardware::{DiskItem, Module, NicItem};
use crate::vocab::name::NodeName;
use crate::vocab::node::{Conditions, Inventory};
use crate::vocab::reference::Profile;
use crate::vocab::text::neutral;
use crate::vocab::unit::{Quantity, Unit, short};

/// A node as it was found at one time.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Its parts.
    pub inventory: &'a Inventory,
    /// Its settings.
    pub conditions: &'a Conditions,
}

/// Whether two looks are at one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// It is the same, and by what that is known: `serial number X`.
    Same(String),
    /// It is another one: `serial number X before, Y now`.
    Other(String),
    /// Nothing tells, and why.
    Unknown(String),
}

/// Whether it is the same machine, by its serial number or its UUID (SMBIOS, system information). A board that was replaced brings
/// another UUID, and a chassis keeps its serial number: one of the two suffices.
#[must_use]
pub fn identity(before: &Inventory, now: &Inventory) -> Identity {
    let marks = [("serial number", &before.serial, &now.serial), ("UUID", &before.machine.uuid, &now.machine.uuid)];
    let known: Vec<(&str, &String, &String)> =
        marks.into_iter().filter_map(|(what, before, now)| Some((what, before.known()?, now.known()?))).collect();
    let same = known.iter().find(|(_, before, now)| before.eq_ignore_ascii_case(now));
    match (same, known.first()) {
        (Some((what, _, now)), _) => Identity::Same(format!("{what} {}", neutral(now))),
        (None, Some((what, before, now))) => {
            Identity::Other(format!("{what} {} before, {} now", neutral(before), neutral(now)))
        }
        (None, None) => {
            let said = marks.map(|(what, before, now)| format!("{what}: {} before, {} now", word(before), word(now)));
            Identity::Unknown(said.join("; "))
        }
    }
}

/// A fact in words, or why it is not known.
fn word(fact: &Fact) -> String {
    neutral(&fact.to_string())
}

/// What has changed on a node of both sessions, as far as both tell what it is.
#[must_use]
pub fn since(before: &State, now: &State, node: &NodeName) -> Option<Vec<String>> {
    Some(changes(look(before, node)?, look(now, node)?))
}

/// A node as its session tells it now.
#[must_use]
pub fn look<'a>(state: &'a State, node: &NodeName) -> Option<Look<'a>> {
    let node = state.nodes.get(node)?;
    Some(Look { inventory: node.inventory.as_ref()?, conditions: &node.conditions })
}

/// What has changed on a node, a line each: identity and board, parts, then settings in the order in which comparisons tell them. What
/// is known at one time only is no change; a RAID controller's policy is asked for only while a session goes on.
#[must_use]
pub fn changes(before: Look<'_>, now: Look<'_>) -> Vec<String> {
    let mut lines = machine(before.inventory, now.inventory);
    let [then, here] = [before, now].map(|look| parts(look.inventory));
    for kind in ["disk", "memory module", "NIC", "controller", "array"] {
        let of = |parts: &[Part]| parts.iter().filter(|part| part.kind == kind).cloned().collect::<Vec<_>>();
        let modules = [before, now].iter().all(|look| look.inventory.modules.fitted.known().is_some());
        if kind != "memory module" || modules {
            exchanged(&of(&then), &of(&here), &mut lines);
        }
    }
    let boots = [before, now].map(|look| look.conditions.0.get("boot_id"));
    if matches!(boots, [Some(before), Some(now)] if before != now) {
        lines.push("the node was started anew".to_owned());
    }
    lines.extend(settings(before, now));
    lines
}

fn settings(before: Look<'_>, now: Look<'_>) -> Vec<String> {
    let [before, now] = [before, now].map(|look| Profile {
        conditions: reference::conditions(Some(look.inventory), look.conditions),
        ..Profile::default()
    });
    let differ = reference::conditions_that_differ(&before, &now);
    let line = |d: &reference::Differs<'_>| {
        Some(format!("{}: {} before, {} now", neutral(d.what), neutral(d.one?), neutral(d.other?)))
    };
    differ.iter().filter_map(line).collect()
}

fn machine(before: &Inventory, now: &Inventory) -> Vec<String> {
    let facts = [
        ("serial number", &before.serial, &now.serial),
        ("UUID", &before.machine.uuid, &now.machine.uuid),
        ("board", &before.machine.board, &now.machine.board),
        ("BIOS date", &before.machine.bios_date, &now.machine.bios_date),
    ];
    let differs = |(what, before, now): (&str, &Fact, &Fact)| {
        let (before, now) = (before.known()?, now.known()?);
        (before != now).then(|| format!("{what}: {} before, {} now", neutral(before), neutral(now)))
    };
    facts.into_iter().filter_map(differs).collect()
}

/// A part that can be taken out.
#[derive(Clone, Debug)]
struct Part {
    kind: &'static str,
    /// Where it is: `sda`, `DIMM A1`.
    place: String,
    /// What it is known by wherever it is.
    serial: Option<String>,
    /// What is known of it.
    about: BTreeMap<&'static str, String>,
}

impl Part {
    fn new(kind: &'static str, place: &str, serial: &Fact, about: &[(&'static str, &Fact)]) -> Self {
        let about = about.iter().filter_map(|(name, fact)| Some((*name, fact.known()?.clone()))).collect();
        Self { kind, place: place.to_owned(), serial: serial.known().cloned(), about }
    }

    /// `disk sda`.
    fn name(&self) -> String {
        format!("{} {}", self.kind, self.place)
    }

    /// `Maker X, serial number 7`.
    fn words(&self) -> String {
        let about = self.about.iter().map(|(name, value)| format!("{name} {value}"));
        let serial = self.serial.iter().map(|serial| format!("serial number {serial}"));
        about.chain(serial).collect::<Vec<_>>().join(", ")
    }

    /// Whether it is the same part, or may be as far as is known.
    fn is(&self, other: &Self) -> bool {
        match (&self.serial, &other.serial) {
            (Some(one), Some(other)) => one == other,
            _ => self.place == other.place,
        }
    }
}

fn parts(inventory: &Inventory) -> Vec<Part> {
    let mut parts: Vec<Part> = inventory.disks.iter().filter(|disk| disk.over.is_empty()).map(disk).collect();
    parts.extend(inventory.modules.fitted.known().into_iter().flatten().map(module));
    let card = |nic: &&NicItem| nic.kind.known().is_some_and(|kind| kind == "hardware");
    parts.extend(inventory.nics.iter().filter(card).map(|nic| {
        Part::new(
            "NIC",
            &nic.name,
            &nic.mac,
            &[("driver", &nic.driver), ("firmware", &nic.firmware), ("link", &nic.link)],
        )
    }));
    parts.extend(inventory.adapters.iter().map(|adapter| {
        let model = Fact::Is(format!("{} {}", adapter.kind, adapter.ids));
        Part::new(
            "controller",
            &adapter.bus,
            &Fact::NotPresent,
            &[("model", &model), ("driver", &adapter.driver), ("link", &adapter.link)],
        )
    }));
    parts.extend(inventory.arrays.iter().map(|array| {
        let members = Fact::Is(array.members.join(" "));
        Part::new("array", &array.name, &Fact::NotPresent, &[("level", &array.level), ("members", &members)])
    }));
    parts
}

fn disk(disk: &DiskItem) -> Part {
    let size = Fact::Is(short(Quantity::new(disk.size as f64, Unit::Bytes)));
    let about = [
        ("model", &disk.model),
        ("firmware", &disk.firmware),
        ("size", &size),
        ("write cache", &disk.write_cache),
        ("driver", &disk.driver),
    ];
    let serial = disk.serial.clone().or_else(|| disk.wwid.clone());
    Part::new("disk", &disk.name, &serial, &about)
}

fn module(module: &Module) -> Part {
    let size = module.size.clone().map(|size| short(Quantity::new(size as f64, Unit::Bytes)));
    let speed = module.speed.clone().map(|speed| format!("{speed} MT/s"));
    Part::new(
        "memory module",
        &module.slot,
        &module.serial,
        &[("part", &module.part), ("size", &size), ("speed", &speed)],
    )
}

/// What of one kind of part is gone, new, in the place of another, or another in itself.
fn exchanged(before: &[Part], now: &[Part], lines: &mut Vec<String>) {
    let mut say = |part: &Part, text: String| lines.push(format!("{}: {}", neutral(&part.name()), neutral(&text)));
    for part in before.iter().filter(|part| !now.iter().any(|other| part.is(other))) {
        let place = now.iter().find(|other| other.place == part.place && !before.iter().any(|known| known.is(other)));
        match place {
            Some(other) => say(part, format!("replaced: {} before, {} now", part.words(), other.words())),
            None => say(part, format!("gone: {}", part.words())),
        }
    }
    for part in now {
        match before.iter().find(|known| known.is(part)) {
            Some(known) => {
                for (name, value) in &part.about {
                    if let Some(before) = known.about.get(name).filter(|before| *before != value) {
                        say(part, format!("{name} {before} before, {value} now"));
                    }
                }
            }
            None if before.iter().any(|known| known.place == part.place && !now.iter().any(|p| p.is(known))) => {}
            None => say(part, format!("new: {}", part.words())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(text: &str) -> Fact {
        Fact::Is(text.to_owned())
    }

    fn node(serial: Fact, uuid: Fact) -> Inventory {
        let mut inventory = Inventory { serial, ..Inventory::default() };
        inventory.machine.uuid = uuid;
        inventory
    }

    #[test]
    fn a_machine_is_known_by_its_serial_number_or_its_uuid() {
        let one = node(is("S1"), is("ABC"));
        assert_eq!(identity(&one, &one), Identity::Same("serial number S1".to_owned()));
        assert_eq!(identity(&one, &node(is("S2"), is("abc"))), Identity::Same("UUID abc".to_owned()), "another board");
        assert_eq!(
            identity(&one, &node(is("S2"), is("DEF"))),
            Identity::Other("serial number S1 before, S2 now".to_owned())
        );
        assert_eq!(
            identity(&one, &node(Fact::NeedsRoot, is("DEF"))),
            Identity::Other("UUID ABC before, DEF now".to_owned())
        );
        let Identity::Unknown(why) = identity(&one, &node(Fact::NeedsRoot, Fact::NeedsRoot)) else { panic!() };
        assert!(why.starts_with("serial number: S1 before, "), "{why}");
    }

    fn disk(name: &str, serial: &str, firmware: &str) -> DiskItem {
        DiskItem {
            name: name.to_owned(),
            serial: is(serial),
            firmware: is(firmware),
            size: 1000,
            ..DiskItem::default()
        }
    }

    #[test]
    fn parts_are_followed_by_their_serial_numbers_and_settings_by_their_names() {
        let mut before = node(is("S1"), Fact::NeedsRoot);
        let mut now = before.clone();
        before.disks = vec![disk("sda", "1", "A"), disk("sdb", "2", "A"), disk("sdc", "3", "A")];
        // The first has new firmware and another name, the second was replaced, the third is gone, a fourth is new.
        now.disks = vec![disk("sdd", "1", "B"), disk("sdb", "9", "A"), disk("sde", "4", "A")];
        (before.kernel, now.kernel) = ("6.1".to_owned(), "6.2".to_owned());
        let settings = |governor: &str, boot: &str| {
            Conditions([("governor", governor), ("boot_id", boot)].map(|(n, v)| (n.to_owned(), v.to_owned())).into())
        };
        let (then, here) = (settings("powersave", "a"), settings("performance", "b"));
        let got = changes(Look { inventory: &before, conditions: &then }, Look { inventory: &now, conditions: &here });
        let expected = [
            "disk sdb: replaced: firmware A, size 1 kB, serial number 2 before, firmware A, size 1 kB, serial number 9 now",
            "disk sdc: gone: firmware A, size 1 kB, serial number 3",
            "disk sdd: firmware A before, B now",
            "disk sde: new: firmware A, size 1 kB, serial number 4",
            "the node was started anew",
            "kernel: 6.1 before, 6.2 now",
            "governor: powersave before, performance now",
        ];
        assert_eq!(got, expected);
        let same = Look { inventory: &now, conditions: &here };
        assert!(changes(same, same).is_empty());
    }
}
