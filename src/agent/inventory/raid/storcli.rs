//! `storcli` and `perccli`: JSON, which differs between versions in where things stand, so names are looked for at any depth.

use serde_json::{Map, Value};

use super::{battery_state, blank, bytes, empty};
use crate::vocab::fact::Fact;
use crate::vocab::hardware::{Controller, VirtualDrive};
use crate::vocab::text::neutral;

/// The tools nest a handful of levels; answers nested deeper are not followed.
const DEPTH: u32 = 12;

/// Controllers and their virtual drives, from the answers to one or several questions.
pub(super) fn parse(answers: &[String]) -> Vec<Controller> {
    let mut found: Vec<Controller> = Vec::new();
    for answer in answers {
        // Some versions print a warning before the document.
        let start = answer.find('{').unwrap_or(answer.len());
        let mut documents = serde_json::Deserializer::from_str(&answer[start..]).into_iter::<Value>();
        let Some(Ok(document)) = documents.next() else { continue };
        for part in document.get("Controllers").and_then(Value::as_array).into_iter().flatten() {
            one(part, &mut found);
        }
    }
    found
}

fn one(part: &Value, found: &mut Vec<Controller>) {
    let status = part.get("Command Status");
    let Some(data) = part.get("Response Data").filter(|data| data.is_object()) else { return };
    let id = status.and_then(|status| status.get("Controller")).map(printed).unwrap_or_default();
    let index = found.iter().position(|controller| controller.id == id).unwrap_or_else(|| {
        found.push(empty(&id));
        found.len() - 1
    });
    let Some(controller) = found.get_mut(index) else { return };
    let fill = |own: &mut Fact, names: &[&str]| {
        if own.known().is_none() {
            *own = names.iter().find_map(|name| text(find(data, name, DEPTH)?)).map_or(Fact::NotPresent, Fact::Is);
        }
    };
    fill(&mut controller.model, &["Product Name", "Model"]);
    fill(&mut controller.serial, &["Serial Number"]);
    fill(&mut controller.firmware, &["FW Package Build", "Firmware Package Build", "FW Version", "Firmware Version"]);
    if controller.battery.known().is_none() {
        controller.battery = battery(data);
    }
    if let Some(size) = find(data, "On Board Memory Size", DEPTH).and_then(text) {
        controller.memory = bytes(&size);
    }
    drives(data, &mut controller.drives, DEPTH);
    properties(data, &mut controller.drives);
}

fn battery(data: &Value) -> Fact {
    for name in ["Cachevault_Info", "BBU_Info", "EnergyPack_Info", "Energy Pack Info"] {
        let rows = find(data, name, DEPTH).and_then(Value::as_array);
        let state = rows.and_then(|rows| rows.first()).and_then(|row| row.get("State").or_else(|| row.get("Status")));
        if let Some(state) = state.and_then(text) {
            return Fact::Is(battery_state(&state));
        }
    }
    // `show all` has a number for it where there is no list.
    match find(data, "BBU Status", DEPTH).map(printed).as_deref() {
        Some("0") => Fact::Is("optimal".to_owned()),
        Some(other) if !["NA", "-", "", "32"].contains(&other) => Fact::Is(format!("status {}", neutral(other))),
        _ => Fact::NotPresent,
    }
}

/// Rows of virtual drives stand in several lists; they are known by their key.
fn drives(data: &Value, found: &mut Vec<VirtualDrive>, depth: u32) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match data {
        Value::Array(items) => items.iter().for_each(|item| drives(item, found, depth)),
        Value::Object(map) => {
            if let Some(drive) = drive(map) {
                if !found.iter().any(|known| known.id == drive.id) {
                    found.push(drive);
                }
                return;
            }
            map.values().for_each(|value| drives(value, found, depth));
        }
        _ => {}
    }
}

fn drive(row: &Map<String, Value>) -> Option<VirtualDrive> {
    let place = text(row.get("DG/VD").or_else(|| row.get("VD"))?)?;
    let value = |names: &[&str]| names.iter().find_map(|name| text(row.get(*name)?)).map_or(Fact::NotPresent, Fact::Is);
    let cache = value(&["Cache", "CurrentCache"]);
    let (read_ahead, policy) = cache.known().map_or((None, None), |cache| caching(cache));
    let fact = |found: Option<&str>| found.map_or(Fact::NotPresent, |word| Fact::Is(word.to_owned()));
    Some(VirtualDrive {
        name: value(&["Name"]),
        level: value(&["TYPE", "Type"]),
        size: value(&["Size"]),
        state: value(&["State"]).map(|state| state_word(&state)),
        policy: fact(policy),
        read_ahead: fact(read_ahead),
        ..blank(place.rsplit('/').next().unwrap_or_default())
    })
}

fn state_word(state: &str) -> String {
    let known = [
        ("Optl", "optimal"),
        ("Dgrd", "degraded"),
        ("Pdgd", "partially degraded"),
        ("OfLn", "offline"),
        ("Rec", "recovery"),
        ("Cac", "cache CADE"),
    ];
    known.iter().find(|(short, _)| *short == state).map_or_else(|| state.to_lowercase(), |(_, word)| (*word).to_owned())
}

/// `RWBD`, `NRWTC`, `NRAWBD`, `R,WB`: read ahead, write policy, and whether reads go through the cache.
fn caching(text: &str) -> (Option<&'static str>, Option<&'static str>) {
    let upper = text.to_uppercase();
    let (read, rest) = match (upper.strip_prefix("NR"), upper.strip_prefix('R')) {
        (Some(rest), _) => (Some("NoRA"), rest),
        (None, Some(rest)) => (Some("RA"), rest),
        (None, None) => (None, upper.as_str()),
    };
    let kinds = [("AWB", "AWB"), ("FWB", "AWB"), ("WB", "WB"), ("WT", "WT")];
    let rest = rest.trim_start_matches([',', ' ']);
    (read, kinds.iter().find(|(stem, _)| rest.starts_with(stem)).map(|(_, policy)| *policy))
}

/// `"VD0 Properties": {…}`, beside the row of the drive.
fn properties(data: &Value, drives: &mut [VirtualDrive]) {
    for (name, value) in data.as_object().into_iter().flatten() {
        let id = name.strip_prefix("VD").and_then(|rest| rest.strip_suffix(" Properties"));
        let Some(drive) = drives.iter_mut().find(|drive| Some(drive.id.as_str()) == id) else { continue };
        let property = |name: &str| value.get(name).and_then(text);
        if let Some(policy) = property("Write Cache(initial setting)").or_else(|| property("Write Cache")) {
            drive.default_policy = Fact::Is(spelled(&policy));
        }
        if let Some(policy) = property("Disk Cache Policy") {
            drive.disk_cache = Fact::Is(policy);
        }
        if let Some(device) = property("OS Drive Name").filter(|device| device != "NA" && device != "N/A") {
            drive.device = Fact::Is(device.trim_start_matches("/dev/").to_owned());
        }
    }
}

fn spelled(policy: &str) -> String {
    let letters: String = policy.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_lowercase();
    match letters.as_str() {
        "writeback" | "wb" => "WB".to_owned(),
        "writethrough" | "wt" => "WT".to_owned(),
        "alwayswriteback" | "forcewriteback" | "awb" => "AWB".to_owned(),
        _ => policy.to_owned(),
    }
}

/// The first value of this name, the nearest to the top first among siblings.
fn find<'a>(value: &'a Value, name: &str, depth: u32) -> Option<&'a Value> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Object(map) => map.get(name).or_else(|| map.values().find_map(|inner| find(inner, name, depth))),
        // A row of a disk has a model, too.
        _ => None,
    }
}

/// A text or a number that says something, safe to print.
fn text(value: &Value) -> Option<String> {
    let text = printed(value);
    (!text.is_empty() && text != "-").then_some(text)
}

fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => neutral(text.trim()),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::endure;
    use super::*;

    const SHOW: &str = r#"Some warning
{ "Controllers":[ { "Command Status" : { "CLI Version" : "007.1 Nov 1, 2020", "Controller" : 0, "Status" : "Success", "Description" : "None" },
 "Response Data" : { "Product Name" : "Maker RAID 9-8i", "Serial Number" : "SV1 ", "FW Package Build" : "24.1.0-1", "FW Version" : "4.6",
   "TOPOLOGY" : [ { "DG" : 0, "Arr" : "-", "Type" : "RAID5", "State" : "Optl" } ],
   "VD LIST" : [ { "DG/VD" : "0/0", "TYPE" : "RAID5", "State" : "Optl", "Access" : "RW", "Cache" : "RWTD", "Size" : "10.913 TB", "Name" : "data" },
                 { "DG/VD" : "1/239", "TYPE" : "RAID1", "State" : "Dgrd", "Cache" : "NRAWBC", "Size" : "446.6 GB", "Name" : "" } ],
   "PD LIST" : [ { "EID:Slt" : "252:0", "Model" : "DISK9", "Size" : "3.6 TB" } ],
   "Cachevault_Info" : [ { "Model" : "CV02", "State" : "Optimal", "Temp" : "28C" } ] } },
 { "Command Status" : { "Controller" : 1, "Status" : "Failure", "Description" : "No Controller found" } } ] }"#;

    const DRIVES: &str = r#"{ "Controllers":[ { "Command Status" : { "Controller" : 0, "Status" : "Success" },
 "Response Data" : { "/c0/v0" : [ { "DG/VD" : "0/0", "TYPE" : "RAID5", "State" : "Optl", "Cache" : "RWTD", "Size" : "10.913 TB", "Name" : "data" } ],
   "PDs for VD 0" : [ { "EID:Slt" : "252:0", "Model" : "DISK9" } ],
   "VD0 Properties" : { "Strip Size" : "256 KB", "Write Cache(initial setting)" : "WriteBack", "Disk Cache Policy" : "Disk's Default", "OS Drive Name" : "/dev/sda" } } } ] }"#;

    const OLD: &str = r#"{ "Controllers":[ { "Command Status" : { "Controller" : 0, "Status" : "Success" },
 "Response Data" : { "Basics" : { "Model" : "Maker H7", "Serial Number" : 12345 }, "Version" : { "Firmware Version" : "3.1" },
   "HwCfg" : { "BBU" : "Yes", "On Board Memory Size" : "2048MB" }, "Virtual Drives" : [ { "DG/VD" : "0/1", "TYPE" : "RAID10", "State" : "OfLn", "Cache" : "-", "Size" : "1 TB" } ],
   "BBU_Info" : [ { "Model" : "BBU", "State" : "Learning" } ] } } ] }"#;

    fn is(text: &str) -> Fact {
        Fact::Is(text.to_owned())
    }

    #[test]
    fn two_answers_make_one_controller() {
        let got = parse(&[SHOW.to_owned(), DRIVES.to_owned()]);
        assert_eq!(got.len(), 1, "one that answered with a failure is none");
        let controller = &got[0];
        assert_eq!(
            (&controller.model, &controller.firmware, &controller.serial),
            (&is("Maker RAID 9-8i"), &is("24.1.0-1"), &is("SV1"))
        );
        assert_eq!((&controller.battery, controller.drives.len()), (&is("optimal"), 2));
        let [first, second] = &controller.drives[..] else { panic!() };
        assert_eq!(
            (first.policies().as_str(), &first.read_ahead, &first.device),
            ("WT (default WB)", &is("RA"), &is("sda"))
        );
        assert_eq!(
            (&first.level, &first.state, &first.disk_cache),
            (&is("RAID5"), &is("optimal"), &is("Disk's Default"))
        );
        assert_eq!((second.id.as_str(), &second.policy, &second.read_ahead), ("239", &is("AWB"), &is("NoRA")));
        assert_eq!((&second.state, &second.name), (&is("degraded"), &Fact::NotPresent));
    }

    #[test]
    fn older_answers_nest_in_another_way() {
        let got = &parse(&[OLD.to_owned()])[0];
        assert_eq!(
            (&got.model, &got.serial, &got.firmware, &got.battery),
            (&is("Maker H7"), &is("12345"), &is("3.1"), &is("learning"))
        );
        assert_eq!((&got.drives[0].policy, &got.drives[0].state), (&Fact::NotPresent, &is("offline")));
    }

    #[test]
    fn nothing_stops_the_reader() {
        for answer in [SHOW, DRIVES, OLD] {
            endure(answer, |text| drop(parse(&[text.to_owned()])));
        }
        let deep = "{\"Controllers\":[{\"Response Data\":".to_owned()
            + &"{\"a\":".repeat(100)
            + "1"
            + &"}".repeat(100)
            + "}]}";
        parse(&[deep, "{}".to_owned(), "[]".to_owned(), "{\"Controllers\":[1,null,{}]}".to_owned()]);
        for odd in ["", "W", "N", "R", "NR", "é"] {
            caching(odd);
        }
    }
}
