//! What was ordered of a node against what its inventory says was found: a line for each thing that is stated.

mod parts;
#[cfg(test)]
mod tests;

use crate::vocab::fact::Fact;
use crate::vocab::node::{Conditions, Inventory};
use crate::vocab::ordered::{Cpu, Memory, Ordered, is_ecc, is_told};
use crate::vocab::unit::{Quantity, Unit, short};
use crate::vocab::verdict::{Decision, Line};

/// The class of use that all of these lines belong to.
const SECTION: &str = "ordered";

/// The kernel keeps 64 bytes of each page of 4096 for itself (1.6 %) and the firmware some more: what is less than this share of the
/// order is no whole memory. A module of 32 is 3.1 %, so that one which is missing is never taken for the kernel's share.
const KERNELS_SHARE: f64 = 0.03;
/// More than this is never the kernel's; between the two nothing tells a small crash kernel from a missing module.
const NO_KERNELS_SHARE: f64 = 0.10;

/// What is known of a node.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) node: &'a str,
    pub(super) inventory: Option<&'a Inventory>,
    pub(super) conditions: &'a Conditions,
}

/// The lines of everything that was ordered.
pub(super) fn lines(ordered: &Ordered, known: Known<'_>) -> Vec<Line> {
    let Some(inventory) = known.inventory else {
        let reason = "the node did not join, so that nothing is known of it";
        return vec![line(
            known.node,
            "",
            ("what the plan says", String::new()),
            (Decision::NotProven, reason.to_owned()),
        )];
    };
    let mut lines = Page { node: known.node, lines: Vec::new() };
    machine(&mut lines, ordered, inventory);
    if let Some(cpu) = &ordered.cpu {
        processor(&mut lines, cpu, inventory);
    }
    if let Some(ordered) = &ordered.memory {
        memory(&mut lines, ordered, inventory);
        parts::modules(&mut lines, &ordered.modules, &inventory.modules);
    }
    parts::disks(&mut lines, &ordered.disks, inventory);
    parts::nics(&mut lines, &ordered.nics, inventory);
    parts::raid(&mut lines, &ordered.raid, known.conditions);
    lines.lines
}

/// Lines about one node.
struct Page<'a> {
    node: &'a str,
    lines: Vec<Line>,
}

impl Page<'_> {
    /// A line about a part of the inventory: what was ordered, what was found, what it comes to and why.
    fn put(&mut self, of: &str, ordered: &str, found: String, came_to: (Decision, String)) {
        self.lines.push(line(self.node, of, (ordered, found), came_to));
    }
}

fn line(node: &str, of: &str, (ordered, found): (&str, String), (decision, reason): (Decision, String)) -> Line {
    let of = if of.is_empty() { "inventory".to_owned() } else { format!("inventory.{of}") };
    Line {
        decision,
        comparison: "ordered".to_owned(),
        limit: ordered.to_owned(),
        measured: if found.is_empty() { "not known".to_owned() } else { found },
        reason,
        section: SECTION.to_owned(),
        ..Line::open(node, &of)
    }
}

/// Why a fact is not known, and what to do.
fn gap<T>(fact: &Fact<T>) -> String {
    match fact {
        Fact::Is(_) => String::new(),
        Fact::NeedsRoot => "only root may read it; run shakedown as root".to_owned(),
        Fact::NotPresent => "the node does not tell".to_owned(),
        Fact::Unreadable(why) => format!("the node does not tell: {why}"),
    }
}

/// Whether a name holds another, in whatever case and with however many blanks.
fn holds(name: &str, part: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    plain(name).contains(&plain(part))
}

fn same(a: &str, b: &str) -> bool {
    a.trim().eq_ignore_ascii_case(b.trim())
}

fn bytes(count: u64) -> String {
    short(Quantity::new(count as f64, Unit::Bytes))
}

/// Memory and its modules are counted in powers of two.
fn binary(count: u64) -> String {
    let gib = count as f64 / f64::from(1 << 30);
    if gib >= 1.0 { format!("{} GiB", (gib * 100.0).round() / 100.0) } else { bytes(count) }
}

fn name(page: &mut Page<'_>, of: &str, part: &str, found: &Fact) {
    let came_to = match found {
        Fact::Is(name) if holds(name, part) => (Decision::Pass, "the name holds what was ordered".to_owned()),
        Fact::Is(_) => (Decision::Fail, format!("the name does not hold `{part}`")),
        why => (Decision::NotProven, gap(why)),
    };
    page.put(of, part, found.known().cloned().unwrap_or_default(), came_to);
}

fn machine(page: &mut Page<'_>, ordered: &Ordered, node: &Inventory) {
    if let Some(product) = &ordered.product {
        name(page, "product", product, &node.product);
    }
    if let Some(version) = &ordered.bios {
        let found = &node.machine.bios_version;
        let came_to = match found {
            Fact::Is(found) if same(found, version) => {
                (Decision::Pass, "the version is the one that was ordered".to_owned())
            }
            Fact::Is(_) => (Decision::Fail, "another version than was ordered".to_owned()),
            why => (Decision::NotProven, gap(why)),
        };
        page.put("bios", version, found.known().cloned().unwrap_or_default(), came_to);
    }
    if ordered.bare_metal {
        let (found, came_to) = match &node.virtualisation {
            Fact::NotPresent => {
                ("no hypervisor".to_owned(), (Decision::Pass, "the CPUs tell of no hypervisor".to_owned()))
            }
            Fact::Is(kind) => (kind.clone(), (Decision::Fail, "it is a virtual machine".to_owned())),
            why => (String::new(), (Decision::NotProven, gap(why))),
        };
        page.put("virtualisation", "bare metal", found, came_to);
    }
}

fn processor(page: &mut Page<'_>, ordered: &Cpu, node: &Inventory) {
    let processor = &node.processor;
    let unknown = || Fact::Unreadable("the kernel names no model".to_owned());
    if let Some(model) = &ordered.model {
        let found = if is_told(&node.cpu) { Fact::Is(node.cpu.clone()) } else { unknown() };
        name(page, "cpu.model", model, &found);
    }
    let threads = if node.cpus > 0 { Fact::Is(node.cpus) } else { Fact::NotPresent };
    let counts = [
        ("sockets", ordered.sockets, &processor.sockets),
        ("cores", ordered.cores, &processor.cores),
        ("threads", ordered.threads, &threads),
    ];
    let offline = processor.offline.known().map(|cpus| format!("; CPUs {cpus} are switched off")).unwrap_or_default();
    for (what, count, found) in counts {
        let Some(count) = count else { continue };
        let came_to = match found {
            Fact::Is(found) if *found > count => (Decision::Pass, format!("{} more than were ordered", found - count)),
            Fact::Is(found) if *found == count => (Decision::Pass, "as many as were ordered".to_owned()),
            Fact::Is(found) => (Decision::Fail, format!("{} of {count} missing{offline}", count - found)),
            why => (Decision::NotProven, gap(why)),
        };
        let found = found.known().map(ToString::to_string).unwrap_or_default();
        page.put(&format!("cpu.{what}"), &count.to_string(), found, came_to);
    }
}

fn memory(page: &mut Page<'_>, ordered: &Memory, node: &Inventory) {
    let modules = &node.modules;
    if let Some(total) = ordered.total {
        let fitted = modules.fitted.known();
        let sizes: Option<u64> = fitted.and_then(|all| all.iter().map(|module| module.size.known().copied()).sum());
        let (found, came_to) = match (sizes, node.memory) {
            (Some(sum), _) => {
                let count = fitted.map_or(0, Vec::len);
                let decision = if sum >= total.0 { Decision::Pass } else { Decision::Fail };
                (binary(sum), (decision, format!("the sizes of {count} modules, as the firmware lists them")))
            }
            (None, 0) => (String::new(), (Decision::NotProven, gap(&modules.fitted))),
            (None, managed) => (binary(managed), by_the_kernel(managed, total.0, &gap(&modules.fitted))),
        };
        page.put("memory.total", &binary(total.0), found, came_to);
    }
    if ordered.ecc {
        let found = &modules.correction;
        let came_to = match found {
            Fact::Is(how) if is_ecc(how) => (Decision::Pass, "the firmware says so".to_owned()),
            Fact::Is(_) => (Decision::Fail, "the firmware says so".to_owned()),
            why => (Decision::NotProven, gap(why)),
        };
        page.put("memory.ecc", "ECC", found.known().cloned().unwrap_or_default(), came_to);
    }
}

/// Memory by what the kernel manages, which is less than what is fitted.
fn by_the_kernel(managed: u64, total: u64, why: &str) -> (Decision, String) {
    let less = 1.0 - managed as f64 / total as f64;
    let share = if less > 0.0 {
        format!("what the kernel manages, {:.1} % less than was ordered", less * 100.0)
    } else {
        return (Decision::Pass, format!("what the kernel manages, no less than was ordered (of the modules: {why})"));
    };
    if less <= KERNELS_SHARE {
        (Decision::Pass, format!("{share}; up to 3 % are its own and the firmware's (of the modules: {why})"))
    } else if less <= NO_KERNELS_SHARE {
        (
            Decision::NotProven,
            format!("{share}; it may keep so much for itself, or a module may be missing (of the modules: {why})"),
        )
    } else {
        (Decision::Fail, format!("{share}; it never keeps so much for itself"))
    }
}
