//! `MegaCli`: lines of `Name : Value` under headings, for adapters, virtual drives and batteries.

use super::{battery_state, blank, bytes, empty};
use crate::vocab::fact::Fact;
use crate::vocab::hardware::{Controller, VirtualDrive};
use crate::vocab::text::neutral;

/// Adapters and their virtual drives, from the answers to one or several questions in any order.
pub(super) fn parse(answers: &[String]) -> Vec<Controller> {
    let mut found: Vec<Controller> = Vec::new();
    for answer in answers {
        let mut adapter = None;
        let mut drive = None;
        for line in answer.lines() {
            if let Some(id) = heading(line) {
                adapter = Some(position(&mut found, &id));
                drive = None;
                // `Adapter 0: Get BBU Status Failed.` is both.
            }
            let Some(controller) = adapter.and_then(|at: usize| found.get_mut(at)) else { continue };
            let Some((name, value)) = pair(line) else { continue };
            if matches!(name.as_str(), "virtual drive" | "virtual disk") {
                let id = value.split([' ', '(']).next().unwrap_or_default();
                controller.drives.push(blank(id));
                drive = Some(controller.drives.len() - 1);
            } else if let Some(drive) = drive.and_then(|at| controller.drives.get_mut(at)) {
                of_drive(drive, &name, &value);
            } else {
                of_adapter(controller, &name, &value);
            }
        }
    }
    found
}

/// The adapter's number in `Adapter #0`, `Adapter 0 -- Virtual Drive Information:`, `BBU status for Adapter: 0`.
fn heading(line: &str) -> Option<String> {
    let line = line.trim();
    let rest = line.strip_prefix("Adapter").or_else(|| line.strip_prefix("BBU status for Adapter"))?;
    let digits: String = rest.trim_start_matches([' ', '#', ':']).chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

fn position(found: &mut Vec<Controller>, id: &str) -> usize {
    found.iter().position(|controller| controller.id == id).unwrap_or_else(|| {
        found.push(empty(id));
        found.len() - 1
    })
}

/// Name in small letters, and value.
fn pair(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    Some((name.trim().to_lowercase(), neutral(value.trim())))
}

fn of_adapter(controller: &mut Controller, name: &str, value: &str) {
    let is = |value: &str| Fact::Is(value.to_owned());
    let yes = value.eq_ignore_ascii_case("yes");
    match name {
        _ if value.is_empty() => {}
        "product name" => controller.model = is(value),
        "serial no" => controller.serial = is(value),
        "fw package build" => controller.firmware = is(value),
        "memory size" => controller.memory = bytes(value),
        "battery state" => controller.battery = is(&battery_state(value)),
        // What the single flags tell outranks the summary, which older firmware does not have.
        "battery pack missing" if yes => controller.battery = is("missing"),
        "battery replacement required" if yes => controller.battery = is("failed: replacement required"),
        "learn cycle active" if yes => controller.battery = is("learning"),
        "learn cycle active" | "battery pack missing" if controller.battery.known().is_none() => {
            controller.battery = is("optimal");
        }
        "fw error description" => controller.battery = Fact::NotPresent,
        _ if name.starts_with("adapter") && value.to_lowercase().contains("bbu status failed") => {
            controller.battery = Fact::NotPresent;
        }
        _ => {}
    }
}

fn of_drive(drive: &mut VirtualDrive, name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    let is = |value: &str| Fact::Is(value.to_owned());
    match name {
        "name" => drive.name = is(value),
        "raid level" => drive.level = is(&level(value)),
        "span depth" if value != "1" && drive.level == is("RAID1") => drive.level = is("RAID10"),
        "size" => drive.size = is(value),
        "state" => drive.state = is(&value.to_lowercase()),
        "default cache policy" => drive.default_policy = policy(value).map_or(Fact::NotPresent, is),
        "current cache policy" => {
            drive.policy = policy(value).map_or(Fact::NotPresent, is);
            drive.read_ahead = read_ahead(value).map_or(Fact::NotPresent, is);
        }
        "disk cache policy" => drive.disk_cache = is(value),
        _ => {}
    }
}

/// `Primary-5, Secondary-3, RAID Level Qualifier-3` is a RAID50.
fn level(value: &str) -> String {
    let number = |name: &str| {
        let rest = value.split(name).nth(1)?;
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u32>().ok()
    };
    match (number("Primary-"), number("Secondary-")) {
        (Some(primary), Some(0) | None) => format!("RAID{primary}"),
        (Some(0), Some(_)) => "RAID0".to_owned(),
        (Some(primary), Some(_)) => format!("RAID{primary}0"),
        (None, _) => value.to_owned(),
    }
}

fn policy(value: &str) -> Option<&'static str> {
    let lower = value.to_lowercase();
    if lower.contains("writethrough") {
        Some("WT")
    } else if lower.contains("writeback") || lower.contains("write back") {
        Some(if lower.contains("write cache ok if bad bbu") { "AWB" } else { "WB" })
    } else {
        None
    }
}

fn read_ahead(value: &str) -> Option<&'static str> {
    let lower = value.to_lowercase();
    let kinds = [("readaheadnone", "NoRA"), ("readadaptive", "ADRA"), ("readahead", "RA")];
    kinds.iter().find(|(word, _)| lower.contains(word)).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::super::endure;
    use super::*;

    const ADAPTERS: &str = "
Adapter #0

==============================================================================
                    Versions
                ================
Product Name    : Maker H7 Mini
Serial No       : 12A
FW Package Build: 21.1.0-7

                Device Present
                ================
Virtual Drives    : 1
  Degraded        : 0

Adapter #1
Product Name    : Maker H8
";

    const DRIVES: &str = "

Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Name                :data
RAID Level          : Primary-5, Secondary-3, RAID Level Qualifier-3
Size                : 1.089 TB
State               : Optimal
Span Depth          : 2
Default Cache Policy: WriteBack, ReadAdaptive, Direct, No Write Cache if Bad BBU
Current Cache Policy: WriteThrough, ReadAdaptive, Direct, No Write Cache if Bad BBU
Disk Cache Policy   : Disk's Default
Virtual Drive: 1 (Target Id: 1)
Name                :
RAID Level          : Primary-1, Secondary-0, RAID Level Qualifier-0
State               : Degraded
Span Depth          : 3
Default Cache Policy: WriteBack, ReadAheadNone, Cached, Write Cache OK if Bad BBU
Current Cache Policy: WriteBack, ReadAheadNone, Cached, Write Cache OK if Bad BBU


Adapter 1 -- Virtual Drive Information:
Adapter 1: No Virtual Drive Configured.

Exit Code: 0x00
";

    const BATTERIES: &str = "
BBU status for Adapter: 0

BatteryType: BBU
Voltage: 4028 mV
Battery State     : Operational
BBU Firmware Status:

  Charging Status              : None
  Learn Cycle Active                      : Yes
  Battery Pack Missing                    : No
  Battery Replacement required            : No

Adapter 1: Get BBU Status Failed.
FW error description:
 The required hardware component is not present.

Exit Code: 0x01
";

    fn is(text: &str) -> Fact {
        Fact::Is(text.to_owned())
    }

    #[test]
    fn three_answers_make_the_adapters() {
        let got = parse(&[ADAPTERS, DRIVES, BATTERIES].map(str::to_owned));
        assert_eq!(got.len(), 2);
        assert_eq!(
            (&got[0].model, &got[0].firmware, &got[0].battery),
            (&is("Maker H7 Mini"), &is("21.1.0-7"), &is("learning"))
        );
        let [first, second] = &got[0].drives[..] else { panic!() };
        assert_eq!(
            (first.policies().as_str(), &first.read_ahead, &first.level),
            ("WT (default WB)", &is("ADRA"), &is("RAID50"))
        );
        assert_eq!((&first.name, &first.size, &first.state), (&is("data"), &is("1.089 TB"), &is("optimal")));
        assert_eq!(
            (second.policies().as_str(), &second.level, &second.name),
            ("AWB", &is("RAID10"), &Fact::NotPresent)
        );
        assert_eq!((&got[1].model, &got[1].battery, got[1].drives.len()), (&is("Maker H8"), &Fact::NotPresent, 0));
    }

    #[test]
    fn batteries_tell_their_worst() {
        let state = |lines: &str| parse(&[format!("BBU status for Adapter: 0\n{lines}")])[0].battery.to_string();
        assert_eq!(
            state("Battery Replacement required : Yes\nLearn Cycle Active : No\n"),
            "failed: replacement required"
        );
        assert_eq!(state("Learn Cycle Active : No\nBattery Pack Missing : No\n"), "optimal");
        assert_eq!(state("Battery Pack Missing : Yes\n"), "missing");
        assert_eq!(state("Battery State: Failed\n"), "failed");
    }

    #[test]
    fn nothing_stops_the_reader() {
        for answer in [ADAPTERS, DRIVES, BATTERIES] {
            endure(answer, |text| drop(parse(&[text.to_owned()])));
        }
        assert_eq!(level("Primary-x"), "Primary-x");
    }
}
