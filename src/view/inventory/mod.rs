//! An inventory as text: what the node is, group by group, and why the rest is not known.

mod page;
#[cfg(test)]
mod tests;

use self::page::{Page, binary, bytes, gaps, told};
use super::format::quantity;
use crate::vocab::fact::Fact;
use crate::vocab::hardware::{Adapter, Array, Controller, DiskItem, Modules, NicItem, Processor};
use crate::vocab::node::{Conditions, Inventory};
use crate::vocab::unit::Unit;

/// From so many modules of one kind on they are one line.
const MANY: usize = 4;

/// The whole inventory.
#[must_use]
pub fn text(node: &Inventory, conditions: &Conditions, controllers: &[Controller]) -> String {
    let mut page = Page::default();
    system(&mut page, node);
    processor(&mut page, node);
    memory(&mut page, node.memory, &node.modules);
    storage(&mut page, node, controllers);
    page.group("Network");
    node.nics.iter().for_each(|nic| interface(&mut page, nic));
    page.group("Settings");
    page.pairs(&conditions.0);
    page.text
}

fn system(page: &mut Page, node: &Inventory) {
    let machine = &node.machine;
    page.group("System");
    page.line("host", [node.host.clone()]);
    page.line("product", [node.product.to_string(), told("", &machine.chassis), told("board ", &machine.board)]);
    page.line("serial", [node.serial.to_string(), told("UUID ", &machine.uuid)]);
    page.line(
        "bios",
        [told("", &machine.bios_vendor), told("", &machine.bios_version), told("of ", &machine.bios_date)],
    );
    page.line(
        "system",
        [
            node.system.clone(),
            format!("Linux {}", node.kernel),
            machine.page.known().map(|page| format!("pages of {}", binary(u64::from(*page)))).unwrap_or_default(),
            told("clock ", &machine.clocksource),
        ],
    );
    page.line("virtualisation", [node.virtualisation.to_string()]);
    unknown(
        page,
        &[
            ("chassis", machine.chassis.reason()),
            ("board", machine.board.reason()),
            ("UUID", machine.uuid.reason()),
            ("BIOS vendor", machine.bios_vendor.reason()),
            ("BIOS version", machine.bios_version.reason()),
            ("BIOS date", machine.bios_date.reason()),
            ("page size", machine.page.reason()),
            ("clock", machine.clocksource.reason()),
        ],
    );
}

fn unknown(page: &mut Page, facts: &[(&str, &str)]) {
    let gaps = gaps(facts);
    if !gaps.is_empty() {
        page.line("", [format!("({gaps})")]);
    }
}

fn processor(page: &mut Page, node: &Inventory) {
    let processor = &node.processor;
    page.group("Processor");
    page.line("model", [node.cpu.clone()]);
    page.line(
        "",
        [
            told("", &processor.vendor),
            told("family ", &processor.family),
            told("model ", &processor.model),
            told("stepping ", &processor.stepping),
            told("microcode ", &processor.microcode),
            told("up to ", &processor.max_mhz.clone().map(|mhz| quantity(f64::from(mhz), Unit::Megahertz))),
        ],
    );
    page.line(
        "cpus",
        [
            format!("{}, {} usable by this process", node.cpus, node.usable_cpus),
            told("online ", &processor.online),
            told("OFFLINE ", &processor.offline),
        ],
    );
    let count = |fact: &Fact<u32>, one: &str, many: &str| {
        fact.known().map(|n| format!("{n} {}", if *n == 1 { one } else { many })).unwrap_or_default()
    };
    page.line(
        "topology",
        [
            count(&processor.sockets, "socket", "sockets"),
            count(&processor.cores, "core", "cores"),
            count(&processor.threads_per_core, "thread per core", "threads per core"),
        ],
    );
    unknown(
        page,
        &[
            ("vendor", processor.vendor.reason()),
            ("microcode", processor.microcode.reason()),
            ("highest clock", processor.max_mhz.reason()),
            ("sockets", processor.sockets.reason()),
            ("cores", processor.cores.reason()),
            ("offline CPUs", if processor.offline == Fact::NotPresent { "" } else { processor.offline.reason() }),
        ],
    );
    if !processor.flags.is_empty() {
        page.line("flags", [processor.flags.join(" ")]);
    }
    strengths(page, processor);
    node.notes.iter().for_each(|note| page.line("DISAGREEMENT", [note.clone()]));
}

fn strengths(page: &mut Page, processor: &Processor) {
    for class in &processor.classes {
        page.line(
            "class",
            [
                class.name.clone(),
                format!("{} CPUs: {}", class.count, class.cpus),
                class.capacity.map(|capacity| format!("capacity {capacity}")).unwrap_or_default(),
                class.max_mhz.map(|mhz| quantity(f64::from(mhz), Unit::Megahertz)).unwrap_or_default(),
            ],
        );
    }
    let caches = processor.caches.iter().map(|cache| {
        let kind = match cache.kind.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        let shared = if cache.shared_by > 1 { format!(" by {} CPUs", cache.shared_by) } else { String::new() };
        format!("L{}{kind} {} x {}{shared}", cache.level, cache.count, binary(cache.size))
    });
    if processor.caches.is_empty() {
        page.line("caches", ["not told by sysfs".to_owned()]);
    } else {
        page.line("caches", caches);
    }
    for node in &processor.nodes {
        let distances: Vec<String> = node.distances.iter().map(u32::to_string).collect();
        page.line(
            &format!("numa {}", node.number),
            [
                if node.cpus.is_empty() { "no CPUs".to_owned() } else { format!("CPUs {}", node.cpus) },
                node.memory.map_or("memory unknown".to_owned(), binary),
                if processor.nodes.len() > 1 { format!("distances {}", distances.join(" ")) } else { String::new() },
            ],
        );
    }
}

fn memory(page: &mut Page, total: u64, modules: &Modules) {
    page.group("Memory");
    let total = if total == 0 { "unknown".to_owned() } else { format!("{} ({})", binary(total), bytes(total)) };
    page.line("total", [total]);
    let Some(fitted) = modules.fitted.known() else {
        page.line("modules", [modules.fitted.reason().to_owned()]);
        return;
    };
    let mut groups: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
    for module in fitted {
        let speed = match (&module.speed, &module.rated) {
            (Fact::Is(now), Fact::Is(rated)) if now != rated => format!("{now} MT/s (rated {rated})"),
            (Fact::Is(speed), _) => format!("{speed} MT/s"),
            (_, rated) => rated.known().map_or("speed unknown".to_owned(), |rated| format!("rated {rated} MT/s")),
        };
        let size = module.size.known().map_or("size unknown".to_owned(), |size| binary(*size));
        let what = [size, told("", &module.kind), speed, told("", &module.manufacturer), told("", &module.part)];
        let what = what.into_iter().filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(" ");
        let serial = told("", &module.serial);
        match groups.iter_mut().find(|(known, ..)| *known == what) {
            Some((_, slots, serials)) => {
                slots.push(module.slot.clone());
                serials.push(serial);
            }
            None => groups.push((what, vec![module.slot.clone()], vec![serial])),
        }
    }
    page.line(
        "modules",
        [
            format!("{} fitted", fitted.len()),
            format!("{} empty slots", modules.empty_slots),
            told("channels ", &modules.channels),
            told("", &modules.correction),
        ],
    );
    unknown(page, &[("channels", modules.channels.reason()), ("error correction", modules.correction.reason())]);
    for (what, slots, serials) in groups {
        let many = slots.len() >= MANY;
        let slot =
            |(slot, serial): (String, String)| if serial.is_empty() { slot } else { format!("{slot} SN {serial}") };
        page.line(&format!("{} x", slots.len()), [what]);
        if many {
            page.line("", [slots.join(" ")]);
        } else {
            page.line("", slots.into_iter().zip(serials).map(slot));
        }
    }
}

fn storage(page: &mut Page, node: &Inventory, controllers: &[Controller]) {
    page.group("Storage");
    node.adapters.iter().for_each(|adapter| page.line("controller", adapter_pieces(adapter)));
    controllers.iter().for_each(|controller| raid(page, controller));
    if controllers.is_empty() && node.adapters.iter().any(|adapter| adapter.kind == "RAID") {
        page.line("", ["policies unknown: no storcli, perccli, MegaCli or ssacli answered".to_owned()]);
    }
    node.arrays.iter().for_each(|array| software(page, array));
    node.disks.iter().for_each(|disk| device(page, disk));
}

fn adapter_pieces(adapter: &Adapter) -> [String; 4] {
    let driver = adapter.driver.known().map_or("no driver".to_owned(), |driver| format!("driver {driver}"));
    [
        format!("{} at {}", adapter.kind, adapter.bus),
        format!("id {}", adapter.ids),
        driver,
        told("link ", &adapter.link),
    ]
}

fn raid(page: &mut Page, controller: &Controller) {
    page.line(
        &format!("raid {}", controller.id),
        [
            controller.model.to_string(),
            told("firmware ", &controller.firmware),
            if controller.model.known().is_some() { format!("battery {}", controller.battery) } else { String::new() },
            told("cache ", &controller.cache),
            told("SN ", &controller.serial),
            format!("by {}", controller.tool),
        ],
    );
    for drive in &controller.drives {
        page.line(
            &format!("  vd {}", drive.id),
            [
                told("", &drive.device),
                told("", &drive.level),
                told("", &drive.size),
                told("", &drive.state),
                format!("policy {}", drive.policies()),
                told("", &drive.read_ahead),
                told("disk cache ", &drive.disk_cache),
                told("name ", &drive.name),
            ],
        );
    }
}

fn software(page: &mut Page, array: &Array) {
    let missing = array.degraded.known().filter(|n| **n > 0).map(|n| format!("DEGRADED, {n} missing"));
    page.line(
        &array.name,
        [
            told("", &array.level),
            told("", &array.state),
            told("members ", &array.disks),
            missing.unwrap_or_default(),
            told("", &array.action),
            array.members.join(" "),
        ],
    );
}

fn device(page: &mut Page, disk: &DiskItem) {
    let kind = match disk.rotational {
        Some(true) => "rotational",
        Some(false) => "not rotational",
        None => "",
    };
    let sectors = match (disk.logical_sector.known(), disk.physical_sector.known()) {
        (Some(logical), Some(physical)) => format!("sectors {logical}/{physical} B"),
        (Some(logical), None) => format!("sectors {logical} B"),
        _ => String::new(),
    };
    let over = if disk.over.is_empty() { String::new() } else { format!("over {}", disk.over.join(" ")) };
    page.line(
        &disk.name,
        [
            bytes(disk.size),
            told("", &disk.transport),
            told("", &disk.model),
            kind.to_owned(),
            over,
            told("SN ", &disk.serial),
            told("firmware ", &disk.firmware),
            told("", &disk.wwid),
            sectors,
            told("scheduler ", &disk.scheduler),
            disk.write_cache.known().map(|cache| format!("kernel's view of its cache: {cache}")).unwrap_or_default(),
            told("driver ", &disk.driver),
            told("", &disk.controller),
            told("at ", &disk.bus),
        ],
    );
    // What is made of others has none of its own.
    if disk.over.is_empty() && disk.transport.known().is_none_or(|kind| kind != "virtual") {
        unknown(
            page,
            &[
                ("model", disk.model.reason()),
                ("serial", disk.serial.reason()),
                ("firmware", disk.firmware.reason()),
                ("sectors", disk.logical_sector.reason()),
                ("scheduler", disk.scheduler.reason()),
                ("write cache", disk.write_cache.reason()),
                ("transport", disk.transport.reason()),
            ],
        );
    }
}

fn interface(page: &mut Page, nic: &NicItem) {
    let over = if nic.over.is_empty() { String::new() } else { format!("over {}", nic.over.join(" ")) };
    let link = match nic.carrier {
        Some(false) => "no link".to_owned(),
        Some(true) => "link up".to_owned(),
        None => String::new(),
    };
    page.line(
        &nic.name,
        [
            told("", &nic.kind),
            over,
            link,
            nic.speed.map_or("speed unknown".to_owned(), |mb| format!("{mb} Mb/s")),
            nic.duplex.known().map(|duplex| format!("{duplex} duplex")).unwrap_or_default(),
            told("MTU ", &nic.mtu),
            told("", &nic.mac),
            told("driver ", &nic.driver),
            told("firmware ", &nic.firmware),
            told("at ", &nic.bus),
            told("PCIe ", &nic.link),
            nic.member_of.as_ref().map(|master| format!("member of {master}")).unwrap_or_default(),
        ],
    );
    if nic.bus != Fact::NotPresent {
        unknown(
            page,
            &[
                ("driver", nic.driver.reason()),
                ("firmware", nic.firmware.reason()),
                ("offloads", nic.offloads.reason()),
            ],
        );
    }
}
