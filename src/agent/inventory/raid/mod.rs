//! RAID controllers, by the tool of their maker where one is in `PATH`.
//!
//! The controller's own policy decides what a write costs, and no file of the kernel tells it. The tools can hang with their
//! controller, so all of them together have one time limit, and nothing waits for what will not die.

mod ask;
mod megacli;
mod ssacli;
mod storcli;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::vocab::fact::Fact;
use crate::vocab::hardware::{Controller, VirtualDrive};
use crate::vocab::node::Conditions;

/// How a family of tools is asked, and how its answers are read.
struct Family {
    /// The same tool under the names that makers of servers gave it; the first that is there is asked.
    names: &'static [&'static str],
    /// One call each.
    questions: &'static [&'static [&'static str]],
    parse: fn(&[String]) -> Vec<Controller>,
}

/// Two of them speak to the same controllers: the second is asked only if the first has found none.
const LSI: [Family; 2] = [
    Family {
        names: &["storcli64", "storcli", "perccli64", "perccli", "storcli2", "perccli2"],
        questions: &[&["/call", "show", "J", "nolog"], &["/call/vall", "show", "all", "J", "nolog"]],
        parse: storcli::parse,
    },
    Family {
        names: &["MegaCli64", "MegaCli", "megacli"],
        questions: &[
            &["-AdpAllInfo", "-aALL", "-NoLog"],
            &["-LDInfo", "-Lall", "-aALL", "-NoLog"],
            &["-AdpBbuCmd", "-GetBbuStatus", "-aALL", "-NoLog"],
        ],
        parse: megacli::parse,
    },
];

const HPE: Family = Family {
    names: &["ssacli", "hpssacli", "hpacucli"],
    questions: &[&["ctrl", "all", "show", "config", "detail"]],
    parse: ssacli::parse,
};

/// What a tool's answers say, one a question; nothing for a name that is none of the tools'.
#[must_use]
pub fn parse(tool: &str, answers: &[String]) -> Vec<Controller> {
    let family = LSI.iter().chain([&HPE]).find(|family| family.names.contains(&tool));
    family.map_or_else(Vec::new, |family| (family.parse)(answers))
}

/// Asks the tools that are there, all within `timeout`. A tool that gave no answer is a controller whose model says why.
#[must_use]
pub fn read(timeout: Duration) -> Vec<Controller> {
    let until = Instant::now() + timeout;
    let mut found = Vec::new();
    for family in &LSI {
        found.extend(asked(family, until));
        if found.iter().any(|controller| controller.model.known().is_some()) {
            break;
        }
    }
    found.extend(asked(&HPE, until));
    found
}

fn asked(family: &Family, until: Instant) -> Vec<Controller> {
    let Some((name, path)) = family.names.iter().find_map(|name| Some((*name, ask::in_path(name)?))) else {
        return Vec::new();
    };
    let mut answers = Vec::new();
    let mut why = None;
    for question in family.questions {
        match ask::ask(&path, question, until) {
            Ok(answer) => answers.push(answer),
            Err(refused) => {
                why = Some(refused);
                break;
            }
        }
    }
    let mut controllers = (family.parse)(&answers);
    if let (true, Some(why)) = (controllers.is_empty(), why) {
        let model = Fact::Unreadable(format!("{name} {why}"));
        controllers.push(Controller { model, ..empty("?") });
    }
    for controller in &mut controllers {
        name.clone_into(&mut controller.tool);
    }
    controllers
}

/// Bytes of all controllers' own memory, where at least one tells.
#[must_use]
pub fn memory(controllers: &[Controller]) -> Option<u64> {
    controllers.iter().filter_map(|controller| controller.memory.known().copied()).reduce(u64::saturating_add)
}

/// A size as the tools print it: `2048MB`, `512 MB`, `2.0`, which is in GB.
fn bytes(printed: &str) -> Fact<u64> {
    let end = printed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(printed.len());
    let (number, unit) = printed.split_at(end);
    let unit = match unit.trim() {
        "GB" => 1_u64 << 30,
        "" if number.contains('.') => 1 << 30,
        "MB" | "" => 1 << 20,
        _ => return Fact::NotPresent,
    };
    let size = number.parse::<f64>().ok().filter(|n| (0.1..1e6).contains(n)).map(|n| (n * unit as f64) as u64);
    size.map_or(Fact::NotPresent, Fact::Is)
}

/// A controller of which nothing is known yet.
fn empty(id: &str) -> Controller {
    let gone = || Fact::NotPresent;
    Controller {
        tool: String::new(),
        id: id.to_owned(),
        model: gone(),
        serial: gone(),
        firmware: gone(),
        battery: gone(),
        cache: gone(),
        memory: Fact::NotPresent,
        drives: Vec::new(),
    }
}

/// A virtual drive of which nothing is known yet.
fn blank(id: &str) -> VirtualDrive {
    let gone = || Fact::NotPresent;
    VirtualDrive {
        id: id.to_owned(),
        name: gone(),
        device: gone(),
        level: gone(),
        size: gone(),
        state: gone(),
        policy: gone(),
        default_policy: gone(),
        read_ahead: gone(),
        disk_cache: gone(),
    }
}

/// What of it can change under a run, by names such as `raid0_battery` and `raid0_vd1_policy`; controllers are numbered in the
/// order of the reading.
#[must_use]
pub fn conditions(controllers: &[Controller]) -> Conditions {
    let mut found = BTreeMap::new();
    for (number, controller) in controllers.iter().enumerate() {
        let mut put = |name: &str, fact: &Fact| {
            if let Fact::Is(text) | Fact::Unreadable(text) = fact {
                found.insert(format!("raid{number}_{name}"), text.clone());
            }
        };
        put("model", &controller.model);
        put("firmware", &controller.firmware);
        put("battery", &controller.battery);
        put("cache", &controller.cache);
        for drive in &controller.drives {
            let mut put = |name: &str, fact: &Fact| put(&format!("vd{}_{name}", drive.id), fact);
            put("state", &drive.state);
            put("level", &drive.level);
            put("read_ahead", &drive.read_ahead);
            put("disk_cache", &drive.disk_cache);
            if drive.policy.known().is_some() {
                put("policy", &Fact::Is(drive.policies()));
            }
        }
    }
    Conditions(found)
}

/// The state of a battery or capacitor in one word for the usual cases, else as the tool says it.
fn battery_state(said: &str) -> String {
    let lower = said.to_ascii_lowercase();
    let known = [
        ("learn", "learning"),
        ("not optimal", "not optimal"),
        ("optimal", "optimal"),
        ("operational", "optimal"),
        ("ok", "optimal"),
        ("optl", "optimal"),
        ("fail", "failed"),
        ("msng", "missing"),
        ("missing", "missing"),
        ("dgd", "degraded"),
        ("degraded", "degraded"),
        ("charging", "charging"),
    ];
    known.iter().find(|(stem, _)| lower.starts_with(stem)).map_or(lower.clone(), |(_, word)| (*word).to_owned())
}

/// Fixtures are changed in every way that a tool's next version, or a cut pipe, might.
#[cfg(test)]
fn endure(answer: &str, parse: impl Fn(&str)) {
    for (end, _) in answer.char_indices() {
        parse(&answer[..end]);
    }
    for at in 0..answer.len() {
        for byte in [b' ', b'\n', b':', b'0', b'"', 0xff] {
            let mut damaged = answer.as_bytes().to_vec();
            damaged[at] = byte;
            parse(&String::from_utf8_lossy(&damaged));
        }
    }
    let lines: Vec<&str> = answer.lines().collect();
    for step in 1..lines.len().min(12) {
        let mixed: Vec<&str> = (0..lines.len()).map(|n| lines[n * step % lines.len()]).collect();
        parse(&mixed.join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_carry_the_policy_and_why_a_tool_was_silent() {
        let is = |text: &str| Fact::Is(text.to_owned());
        let drive = VirtualDrive {
            id: "3".into(),
            policy: is("WT"),
            default_policy: is("WB"),
            state: is("optimal"),
            level: is("RAID5"),
            read_ahead: Fact::NotPresent,
            disk_cache: Fact::NotPresent,
            ..VirtualDrive::default()
        };
        let first = Controller { battery: is("learning"), drives: vec![drive], ..empty("0") };
        let second = Controller { model: Fact::Unreadable("ssacli did not answer".into()), ..empty("?") };
        let got: Vec<_> = conditions(&[first, second]).0.into_iter().collect();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [
            pair("raid0_battery", "learning"),
            pair("raid0_vd3_level", "RAID5"),
            pair("raid0_vd3_policy", "WT (default WB)"),
            pair("raid0_vd3_state", "optimal"),
            pair("raid1_model", "ssacli did not answer"),
        ];
        assert_eq!(got, expected);
    }

    #[test]
    fn states_of_batteries_are_one_word_in_the_usual_cases() {
        for (said, word) in [
            ("Optimal", "optimal"),
            ("Optl", "optimal"),
            ("Learning", "learning"),
            ("Failed", "failed"),
            ("Dgd (Needs Attention)", "degraded"),
            ("OK", "optimal"),
            ("Not Optimal", "not optimal"),
            ("Something New", "something new"),
        ] {
            assert_eq!(battery_state(said), word);
        }
    }
}
