//! Parts of which several of a kind were ordered: memory modules, disks, network ports, virtual drives.

use std::collections::BTreeMap;

use super::{Page, binary, bytes, gap, holds, same};
use crate::analysis::verdict::fit::{Fit, Kind, compare};
use crate::vocab::fact::Fact;
use crate::vocab::hardware::{DiskItem, Module, NicItem};
use crate::vocab::node::{Conditions, Inventory};
use crate::vocab::ordered::{self, Disks, LinkSpeed, Modules, Nics, Raid};
use crate::vocab::verdict::Decision;

/// Makers round the sizes of their disks.
const DISK_SIZE: f64 = 0.99;
/// Characters that SCSI's field for the revision of a firmware has room for.
const REVISION: usize = 4;

/// Holds kinds against parts and gives each kind its line.
fn put<K, P>(page: &mut Page<'_>, of: &str, kinds: &[K], parts: &[(String, P)], words: &Words<'_, K, P>) {
    let kind = |kind: &K| Kind {
        count: (words.count)(kind),
        fits: parts.iter().map(|(_, part)| (words.fit)(kind, part)).collect(),
    };
    let names: Vec<String> = parts.iter().map(|(name, _)| name.clone()).collect();
    let all: Vec<Kind> = kinds.iter().map(kind).collect();
    for (kind, found) in kinds.iter().zip(compare(&all, &names)) {
        let came_to = match words.blind {
            Some(why) if found.decision == Decision::Fail => (Decision::NotProven, why.to_owned()),
            _ => (found.decision, found.reason),
        };
        page.put(of, &format!("{} x {}", (words.count)(kind), (words.text)(kind)), found.measured, came_to);
    }
}

/// How kinds are counted, named and compared with parts.
struct Words<'a, K, P> {
    count: fn(&K) -> u32,
    text: fn(&K) -> String,
    fit: fn(&K, &P) -> Fit,
    /// Why there may be parts that nobody sees, so that none is shown to be missing.
    blind: Option<&'a str>,
}

fn joined<const N: usize>(parts: [Option<String>; N], else_: &str) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { else_.to_owned() } else { parts.join(", ") }
}

/// A property that is known, and is as ordered or not.
fn fact<T>(what: &str, found: &Fact<T>, is: impl FnOnce(&T) -> bool, differs: impl FnOnce(&T) -> String) -> Fit {
    match found {
        Fact::Is(found) if is(found) => Fit::Yes,
        Fact::Is(found) => Fit::No(differs(found)),
        why => Fit::Open(format!("{what}: {}", gap(why))),
    }
}

pub(super) fn modules(page: &mut Page<'_>, kinds: &[Modules], found: &crate::vocab::hardware::Modules) {
    let fitted = found.fitted.known().map(Vec::as_slice).unwrap_or_default();
    let parts: Vec<(String, &Module)> = fitted.iter().map(|module| (module.slot.clone(), module)).collect();
    let why = gap(&found.fitted);
    let words = Words {
        count: |kind: &Modules| kind.count,
        text: |kind| {
            let (size, speed) =
                (kind.size.map(|size| binary(size.0)), kind.speed.map(|speed| format!("at {speed} MT/s")));
            joined([size, kind.kind.clone(), speed], "module")
        },
        fit: |kind, module: &&Module| module_fit(kind, module),
        blind: Some(why.as_str()).filter(|why| !why.is_empty()),
    };
    put(page, "memory.modules", kinds, &parts, &words);
}

fn module_fit(kind: &Modules, module: &Module) -> Fit {
    let size = kind
        .size
        .map(|size| fact("size", &module.size, |found| *found >= size.0, |found| format!("has {}", binary(*found))));
    let speed = kind.speed.map(|speed| {
        let rated = module.rated.known().map(|rated| format!(" (rated {rated})")).unwrap_or_default();
        fact("speed", &module.speed, |found| *found >= speed, |found| format!("runs at {found} MT/s{rated}"))
    });
    let family = kind
        .kind
        .as_ref()
        .map(|family| fact("kind", &module.kind, |found| same(found, family), |found| format!("is {found}")));
    Fit::all(size.into_iter().chain(family).chain(speed))
}

pub(super) fn disks(page: &mut Page<'_>, kinds: &[Disks], node: &Inventory) {
    let name = |disk: &DiskItem| match &disk.serial {
        Fact::Is(serial) => format!("{} (serial {serial})", disk.name),
        _ => format!("{} (no serial)", disk.name),
    };
    let parts: Vec<(String, &DiskItem)> = ordered::disks(node).into_iter().map(|disk| (name(disk), disk)).collect();
    let words = Words {
        count: |kind: &Disks| kind.count,
        text: |kind| {
            let firmware = kind.firmware.as_ref().map(|revision| format!("firmware {revision}"));
            joined([kind.model.clone(), kind.size.map(|size| bytes(size.0)), kind.transport.clone(), firmware], "disk")
        },
        fit: |kind, disk: &&DiskItem| disk_fit(kind, disk),
        blind: None,
    };
    put(page, "disks", kinds, &parts, &words);
}

fn disk_fit(kind: &Disks, disk: &DiskItem) -> Fit {
    let size = kind.size.map(|size| {
        let is = disk.size as f64 >= size.0 as f64 * DISK_SIZE;
        if is { Fit::Yes } else { Fit::No(format!("is {}", bytes(disk.size))) }
    });
    let model = kind
        .model
        .as_ref()
        .map(|model| fact("model", &disk.model, |found| holds(found, model), |found| format!("is a {found}")));
    let transport = kind.transport.as_ref().map(|transport| {
        fact("transport", &disk.transport, |found| same(found, transport), |found| format!("hangs on {found}"))
    });
    let firmware = kind.firmware.as_ref().map(|revision| {
        fact("firmware", &disk.firmware, |found| is_revision(found, revision), |found| format!("has firmware {found}"))
    });
    Fit::all(size.into_iter().chain(model).chain(transport).chain(firmware))
}

/// Of a longer revision SCSI tells four characters, the first or the last, as the kernel has found them.
fn is_revision(found: &str, ordered: &str) -> bool {
    let cut = found.len() == REVISION && ordered.len() > REVISION;
    same(found, ordered) || (cut && (ordered.starts_with(found) || ordered.ends_with(found)))
}

pub(super) fn nics(page: &mut Page<'_>, kinds: &[Nics], node: &Inventory) {
    let parts: Vec<(String, &NicItem)> = ordered::ports(node).into_iter().map(|nic| (nic.name.clone(), nic)).collect();
    let words = Words {
        count: |kind: &Nics| kind.count,
        text: |kind| joined([kind.driver.clone(), kind.speed.map(|speed| speed.to_string())], "port"),
        fit: |kind, nic: &&NicItem| nic_fit(kind, nic),
        blind: None,
    };
    put(page, "nics", kinds, &parts, &words);
}

fn nic_fit(kind: &Nics, nic: &NicItem) -> Fit {
    let driver = kind.driver.as_ref().map(|driver| {
        fact("driver", &nic.driver, |found| same(found, driver), |found| format!("is driven by {found}"))
    });
    let speed = kind.speed.map(|speed| match nic.speed {
        Some(found) if found >= speed.0 => Fit::Yes,
        Some(found) => Fit::No(format!("links at {}", LinkSpeed(found))),
        None => Fit::Open("tells no speed; connect it and bring it up (ip link set NAME up)".to_owned()),
    });
    Fit::all(driver.into_iter().chain(speed))
}

/// A virtual drive of a RAID controller, as the conditions of the node tell of it.
#[derive(Clone, Default)]
struct Drive<'a> {
    controller: Option<&'a str>,
    fields: BTreeMap<&'a str, &'a str>,
}

/// What the conditions tell of a controller.
#[derive(Default)]
struct Told<'a> {
    /// How many conditions there are of it.
    count: usize,
    model: Option<&'a str>,
    drives: BTreeMap<&'a str, Drive<'a>>,
}

pub(super) fn raid(page: &mut Page<'_>, kinds: &[Raid], conditions: &Conditions) {
    let (parts, mute) = drives(conditions);
    let none = "no tool of a RAID controller has answered; install storcli, perccli, MegaCli or ssacli, and run shakedown as root";
    let mute = mute.map(|why| format!("a RAID controller did not tell: {why}"));
    let nothing_told = !conditions.0.keys().any(|name| numbered(name).is_some());
    let words = Words {
        count: |kind: &Raid| kind.count,
        text: |kind| {
            let policy = kind.policy.as_ref().map(|policy| format!("write policy {policy}"));
            joined(
                [kind.level.clone(), policy, kind.controller.as_ref().map(|model| format!("on {model}"))],
                "virtual drive",
            )
        },
        fit: |kind, drive: &Drive<'_>| drive_fit(kind, drive),
        blind: if nothing_told { Some(none) } else { mute.as_deref() },
    };
    put(page, "raid", kinds, &parts, &words);
}

fn drive_fit(kind: &Raid, drive: &Drive<'_>) -> Fit {
    let text = |what: &str, found: Option<&str>, is: &dyn Fn(&str) -> bool| match found {
        Some(found) if is(found) => Fit::Yes,
        Some(found) => Fit::No(format!("has {what} {found}")),
        None => Fit::Open(format!("the record does not tell its {what}")),
    };
    let field = |name: &str| drive.fields.get(name).copied();
    let plain = |level: &str| level.to_ascii_lowercase().replace(['-', ' '], "");
    let model =
        kind.controller.as_ref().map(|model| text("controller", drive.controller, &|found| holds(found, model)));
    let level = kind.level.as_ref().map(|level| text("level", field("level"), &|found| plain(found) == plain(level)));
    // Behind the policy in force stands the one that was asked for, where that is another.
    let in_force = |found: &str| found.split(' ').next().unwrap_or_default().to_owned();
    let policy = kind
        .policy
        .as_ref()
        .map(|policy| text("write policy", field("policy"), &|found| same(&in_force(found), policy)));
    // Nobody orders an array that has lost a member, whatever else of it is as ordered.
    let state = field("state").map(|state| text("state", Some(state), &|found| found == "optimal"));
    Fit::all(model.into_iter().chain(level).chain(policy).chain(state))
}

/// The number of the controller that a condition is of, and the rest of its name.
fn numbered(name: &str) -> Option<(u32, &str)> {
    let (number, rest) = name.strip_prefix("raid")?.split_once('_')?;
    Some((number.parse().ok()?, rest))
}

/// The virtual drives by name; and why a controller told nothing, where one did not: of it there is a model only, which then says why.
fn drives(conditions: &Conditions) -> (Vec<(String, Drive<'_>)>, Option<&str>) {
    const FIELDS: [&str; 5] = ["state", "level", "policy", "read_ahead", "disk_cache"];
    let mut controllers: BTreeMap<u32, Told<'_>> = BTreeMap::new();
    for (name, value) in &conditions.0 {
        let Some((number, rest)) = numbered(name) else { continue };
        let told = controllers.entry(number).or_default();
        told.count += 1;
        let drive = rest.strip_prefix("vd").and_then(|rest| {
            let field = FIELDS.into_iter().find(|field| rest.ends_with(&format!("_{field}")))?;
            Some((&rest[..rest.len() - field.len() - 1], field))
        });
        match drive {
            Some((id, field)) => _ = told.drives.entry(id).or_default().fields.insert(field, value),
            None if rest == "model" => told.model = Some(value),
            None => {}
        }
    }
    let mute = controllers.values().find(|told| told.count == 1).and_then(|told| told.model);
    let parts = controllers.into_iter().flat_map(|(number, told)| {
        let named = move |(id, drive)| {
            (format!("drive {id} of controller {number}"), Drive { controller: told.model, ..drive })
        };
        told.drives.into_iter().map(named)
    });
    (parts.collect(), mute)
}
