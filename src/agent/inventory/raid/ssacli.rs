//! `ssacli` and its older names: indented lines of `Name: Value` under controllers, arrays, logical and physical drives.

use super::{battery_state, blank, bytes, empty};
use crate::vocab::fact::Fact;
use crate::vocab::hardware::{Controller, VirtualDrive};
use crate::vocab::text::neutral;

/// What the lines belong to.
#[derive(Clone, Copy, PartialEq)]
enum Under {
    Controller,
    Drive,
    /// Arrays, disks, enclosures and expanders, whose lines have the same names.
    Other,
}

/// Controllers and their logical drives.
pub(super) fn parse(answers: &[String]) -> Vec<Controller> {
    let mut found: Vec<Controller> = Vec::new();
    let mut under = Under::Other;
    for line in answers.iter().flat_map(|answer| answer.lines()) {
        if let Some((model, slot)) = heading(line) {
            found.push(Controller { model: Fact::Is(model), ..empty(&slot) });
            under = Under::Controller;
            continue;
        }
        let Some(controller) = found.last_mut() else { continue };
        let trimmed = line.trim();
        let (name, value) = trimmed.split_once(':').unwrap_or((trimmed, ""));
        let value = neutral(value.trim());
        if name == "Logical Drive" || name == "logicaldrive" {
            controller.drives.push(blank(&value));
            under = Under::Drive;
        } else if opens_other(name) {
            under = Under::Other;
        } else if under == Under::Controller {
            of_controller(controller, name, &value);
        } else if let (Under::Drive, Some(drive)) = (under, controller.drives.last_mut()) {
            of_drive(drive, name, &value);
        }
    }
    found.iter_mut().for_each(settle);
    found
}

/// `Smart Array P440ar in Slot 0 (Embedded)`.
fn heading(line: &str) -> Option<(String, String)> {
    if line.starts_with(' ') || line.starts_with('\t') {
        return None;
    }
    let (model, rest) = line.split_once(" in Slot ")?;
    let slot = rest.split([' ', '(']).next().filter(|slot| !slot.is_empty())?;
    Some((neutral(model.trim()), neutral(slot.trim())))
}

fn opens_other(name: &str) -> bool {
    let stems = [
        "physicaldrive",
        "Port Name",
        "SEP",
        "Enclosure",
        "Expander",
        "Unassigned",
        "Internal Drive Cage",
        "Mirror Group",
    ];
    // `Array Type` is a line of what it stands in.
    name == "Array" || stems.iter().any(|stem| name.starts_with(stem))
}

fn of_controller(controller: &mut Controller, name: &str, value: &str) {
    let is = |value: &str| Fact::Is(value.to_owned());
    match name {
        _ if value.is_empty() => {}
        "Serial Number" => controller.serial = is(value),
        "Firmware Version" => controller.firmware = is(value),
        "Cache Status" => controller.cache = is(value),
        "Total Cache Size" => controller.memory = bytes(value),
        "Battery/Capacitor Status" => controller.battery = is(&battery_state(value)),
        _ => {}
    }
}

fn of_drive(drive: &mut VirtualDrive, name: &str, value: &str) {
    let is = |value: &str| Fact::Is(value.to_owned());
    match name {
        _ if value.is_empty() => {}
        "Size" => drive.size = is(value),
        "Fault Tolerance" => {
            let level = value.trim_start_matches("RAID ").replace("1+0", "10");
            drive.level = is(&format!("RAID{level}"));
        }
        "Status" => drive.state = is(&if value == "OK" { "optimal".to_owned() } else { value.to_lowercase() }),
        "Caching" => drive.default_policy = is(if value == "Enabled" { "WB" } else { "WT" }),
        // The path around the cache, straight to the disks.
        "LD Acceleration Method" if value.contains("Smart Path") => drive.policy = is("WT"),
        "Disk Name" => drive.device = is(value.split(' ').next().unwrap_or_default().trim_start_matches("/dev/")),
        "Logical Drive Label" => drive.name = is(value),
        _ => {}
    }
}

/// The drives ask for the cache, and the controller decides whether it is to be had.
fn settle(controller: &mut Controller) {
    let refused = controller.cache.known().is_some_and(|cache| {
        let cache = cache.to_lowercase();
        cache.contains("disabled") || cache.contains("not configured") || cache.contains("fail")
    });
    for drive in &mut controller.drives {
        if drive.policy.known().is_none() {
            drive.policy = match &drive.default_policy {
                Fact::Is(asked) if asked == "WB" && refused => Fact::Is("WT".to_owned()),
                asked => asked.clone(),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::endure;
    use super::*;

    const DETAIL: &str = "
Smart Array P9 in Slot 0 (Embedded)
   Bus Interface: PCI
   Slot: 0
   Serial Number: PD1
   Controller Status: OK
   Firmware Version: 6.60
   Cache Status: Temporarily Disabled
   Cache Status Details: The capacitor is charging.
   Total Cache Size: 2.0
   Cache Ratio: 10% Read / 90% Write
   Battery/Capacitor Count: 1
   Battery/Capacitor Status: Recharging

   Internal Drive Cage at Port 1I, Box 1, OK
      Power Supply Status: Not Redundant

   Array: A
      Interface Type: SAS
      Status: OK

      Logical Drive: 1
         Size: 279.37 GB
         Fault Tolerance: 1+0
         Status: OK
         Caching:  Enabled
         Disk Name: /dev/sda          Mount Points: / 20 GB
         Logical Drive Label: root
         Mirror Group 1:
            physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 300 GB, OK)

      physicaldrive 1I:1:1
         Status: Failed
         Firmware Revision: HP1
         Size: 300 GB

HPE Smart Array E2 in Slot 3 (RAID Mode)
   Firmware Version: 1.2
   Cache Status: OK
   Array: B
      Logical Drive: 7
         Fault Tolerance: 6
         Status: Interim Recovery Mode
         Caching:  Enabled
      Logical Drive: 8
         Caching:  Disabled
";

    fn is(text: &str) -> Fact {
        Fact::Is(text.to_owned())
    }

    #[test]
    fn the_cache_that_is_asked_for_may_not_be_had() {
        let got = parse(&[DETAIL.to_owned()]);
        assert_eq!(got.len(), 2);
        let first = &got[0];
        assert_eq!((&first.model, first.id.as_str(), &first.firmware), (&is("Smart Array P9"), "0", &is("6.60")));
        assert_eq!(
            (&first.battery, &first.cache, &first.serial),
            (&is("recharging"), &is("Temporarily Disabled"), &is("PD1"))
        );
        let drive = &first.drives[0];
        assert_eq!(
            (drive.policies().as_str(), &drive.level, &drive.device),
            ("WT (default WB)", &is("RAID10"), &is("sda"))
        );
        assert_eq!((&drive.state, &drive.size, &drive.name), (&is("optimal"), &is("279.37 GB"), &is("root")));
        let others: Vec<_> =
            got[1].drives.iter().map(|drive| (drive.id.as_str(), drive.policies(), drive.state.to_string())).collect();
        assert_eq!(
            others,
            [
                ("7", "WB".to_owned(), "interim recovery mode".to_owned()),
                ("8", "WT".to_owned(), "not present".to_owned()),
            ]
        );
    }

    #[test]
    fn nothing_stops_the_reader() {
        endure(DETAIL, |text| drop(parse(&[text.to_owned()])));
        assert!(parse(&["Error: No controllers detected.\n".to_owned()]).is_empty());
    }
}
