//! The memory roof: transfers a second × 8 bytes × channels, as the firmware's table lists the modules (JEDEC: a channel of DDR moves 64
//! bits a transfer, of DDR5 in two halves). What the bus moves counts, so a figure that leaves out what is read before it is written
//! cannot reach it.

use super::{Node, Told};
use crate::agent::inventory;
use crate::vocab::fact::Fact;
use crate::vocab::hardware::{Module, Modules};
use crate::vocab::plan::Basis;
use crate::vocab::unit::{Quantity, Unit};

/// Bytes that a channel moves in a transfer.
const WIDTH: u32 = 8;

pub(super) fn of(node: &Node<'_>) -> Told {
    let mut told = Told::new("memory");
    told.put(node, Basis::Nominal, nominal(node));
    told
}

fn nominal(node: &Node<'_>) -> Result<(Quantity, String), String> {
    if node.is_virtual() {
        return Err("in a virtual machine the modules of memory are not told".to_owned());
    }
    listed(inventory::memory_modules(node.root))
}

fn listed(Modules { fitted, channels, .. }: Modules) -> Result<(Quantity, String), String> {
    let Some(modules) = fitted.known() else { return Err(format!("modules of memory: {}", fitted.reason())) };
    let Fact::Is(channels) = channels else { return Err(format!("channels of memory: {}", channels.reason())) };
    if let Some(other) = modules.iter().find(|module| !is_ddr(module)) {
        return Err(format!("the width of a channel of {} is not known ({})", other.kind, other.slot));
    }
    let speeds: Option<Vec<u32>> = modules.iter().map(|module| module.speed.known().copied()).collect();
    let slowest = speeds.and_then(|speeds| speeds.into_iter().min());
    let Some(slowest) = slowest else { return Err("the modules' speed is not told".to_owned()) };
    let kind = modules.first().map_or("", |module| module.kind.known().map_or("", String::as_str));
    let source =
        format!("{channels} channels x {slowest} MT/s x {WIDTH} B ({} modules of {kind} by DMI)", modules.len());
    let megabytes = f64::from(channels) * f64::from(slowest) * f64::from(WIDTH);
    Ok((Quantity::new(megabytes, Unit::MegabytesPerSecond), source))
}

/// Low-power and stacked memory has channels of other widths.
fn is_ddr(module: &Module) -> bool {
    module.kind.known().is_some_and(|kind| kind.starts_with("DDR"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;
    use crate::agent::kernel::Stop;

    fn of(root: &std::path::Path) -> Result<(Quantity, String), String> {
        let stop = Stop::default();
        nominal(&Node::faked(root, &[0], &stop))
    }

    fn module(kind: &str, speed: Fact<u32>) -> Module {
        Module {
            slot: "A1".to_owned(),
            bank: Fact::NotPresent,
            size: Fact::Is(16 << 30),
            kind: Fact::Is(kind.to_owned()),
            speed,
            rated: Fact::NotPresent,
            ranks: Fact::NotPresent,
            manufacturer: Fact::NotPresent,
            part: Fact::NotPresent,
            serial: Fact::NotPresent,
        }
    }

    fn modules(fitted: Vec<Module>, channels: Fact<u32>) -> Modules {
        Modules { fitted: Fact::Is(fitted), channels, ..Modules::default() }
    }

    #[test]
    fn channels_by_transfers_by_width() {
        let two = vec![module("DDR4", Fact::Is(3200)), module("DDR4", Fact::Is(2933))];
        let (value, source) = listed(modules(two, Fact::Is(2))).unwrap();
        assert_eq!(value, Quantity::new(2.0 * 2933.0 * 8.0, Unit::MegabytesPerSecond));
        assert_eq!(source, "2 channels x 2933 MT/s x 8 B (2 modules of DDR4 by DMI)");
    }

    #[test]
    fn nothing_is_made_up() {
        let why = |modules| listed(modules).unwrap_err();
        let unnamed = || Fact::Unreadable("the names of the slots do not tell".to_owned());
        let ddr = || vec![module("DDR5", Fact::Is(4800))];
        assert_eq!(why(modules(ddr(), unnamed())), "channels of memory: the names of the slots do not tell");
        assert!(why(modules(vec![module("LPDDR5", Fact::Is(6400))], Fact::Is(4))).contains("channel of LPDDR5"));
        assert_eq!(why(modules(vec![module("DDR5", Fact::NotPresent)], Fact::Is(1))), "the modules' speed is not told");
    }

    #[test]
    fn without_a_table_and_in_a_virtual_machine_it_is_unknown() {
        assert_eq!(of(fake::root(&[]).path()).unwrap_err(), "modules of memory: not present");
        let guest = fake::root(&[("proc/cpuinfo", "flags : fpu hypervisor\n")]);
        assert!(of(guest.path()).unwrap_err().starts_with("in a virtual machine"));
    }
}
