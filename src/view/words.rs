//! The words and marks that every view uses for the same thing.

use std::fmt::Write as _;

use crate::analysis::preflight::{Preflight, Weight};
use crate::analysis::state::State;
use crate::vocab::event::Outcome;
use crate::vocab::node::{Conditions, Inventory};
use crate::vocab::plan::Plan;
use crate::vocab::text::neutral;
use crate::vocab::unit::{Quantity, Unit, short};
use crate::vocab::verdict::Decision;

/// The sign of a decision; ASCII, so that it is the same on every terminal.
#[must_use]
pub fn mark(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "+",
        Decision::NotProven => "?",
        Decision::Fail => "x",
    }
}

/// How a run ended, in words.
#[must_use]
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Sound => "sound".to_owned(),
        Outcome::Corrupt(why) => format!("CORRUPT: {why}"),
        Outcome::Broken(why) => format!("BROKEN: {why}"),
        Outcome::Unavailable(why) => format!("NOT POSSIBLE HERE: {why}"),
        Outcome::Stuck => "STUCK: it did not end and did not heed a stop; it was left behind".to_owned(),
        Outcome::Stopped => "stopped on request".to_owned(),
    }
}

/// The findings of a session, one line each, with the time of the onset and of the saying since the beginning.
#[must_use]
pub fn findings(state: &State) -> String {
    let mut text = String::new();
    for finding in state.findings.values() {
        let node = state.found_on.get(&finding.id).cloned().unwrap_or_default();
        let (onset, said) = (state.clock(&node, finding.onset), state.clock(&node, finding.said));
        let severity = format!("{:?}", finding.severity).to_uppercase();
        let _ = writeln!(text, "{severity:<5} since {onset}, said at {said}: {}", neutral(&finding.sentence));
    }
    text
}

/// A node and its settings, one line each.
#[must_use]
pub fn inventory(node: &Inventory, conditions: &Conditions) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<16} {}", neutral(value));
    };
    line("host", &node.host);
    line("product", &node.product.to_string());
    line("serial", &node.serial.to_string());
    line("cpu", &node.cpu);
    line("cpus", &format!("{}, {} usable by this process", node.cpus, node.usable_cpus));
    line("memory", &short(Quantity::new(node.memory as f64, Unit::Bytes)));
    line("system", &format!("{}, Linux {}", node.system, node.kernel));
    line("virtualisation", &node.virtualisation.to_string());
    for disk in &node.disks {
        let kind = match disk.rotational {
            Some(true) => ", rotational",
            Some(false) => ", not rotational",
            None => "",
        };
        line(
            &format!("disk {}", disk.name),
            &format!("{}, {}{kind}", disk.model, short(Quantity::new(disk.size as f64, Unit::Bytes))),
        );
    }
    for nic in &node.nics {
        line(&format!("nic {}", nic.name), &nic.speed.map_or("speed unknown".to_owned(), |mb| format!("{mb} Mb/s")));
    }
    for (name, value) in &conditions.0 {
        line(name, value);
    }
    text
}

/// What a plan would do to its nodes, and what speaks against it.
#[must_use]
pub fn plan(plan: &Plan, preflight: &Preflight) -> String {
    let mut text = format!("{}: {}\n{}\n\n", neutral(&plan.name), neutral(&plan.title), neutral(&plan.about));
    for run in &plan.runs {
        let kernel = serde_json::to_string(&run.kernel).unwrap_or_default();
        let target = run.target.as_ref().map(|t| t.display().to_string()).unwrap_or_default();
        let _ =
            writeln!(text, "  {:<18} x {:<3} {}  in {}", run.name, run.iterations, neutral(&kernel), neutral(&target));
    }
    text.push('\n');
    text.push_str(&self::preflight(preflight));
    text
}

/// What a session takes from its nodes and what speaks against it, a line each.
#[must_use]
pub fn preflight(preflight: &Preflight) -> String {
    let bytes = |n: u64| short(Quantity::new(n as f64, Unit::Bytes));
    let mut text = String::new();
    let (time, memory, disk, writes) =
        (preflight.time, bytes(preflight.memory), bytes(preflight.disk), bytes(preflight.writes));
    let _ = writeln!(text, "about {time}; up to {memory} of memory, {disk} of disk, {writes} written");
    for remark in &preflight.remarks {
        let weight = match remark.weight {
            Weight::Note => "note",
            Weight::Ask => "careful",
            Weight::Refuse => "refused",
        };
        let _ = writeln!(text, "{weight}: {}", neutral(&remark.text));
    }
    text
}
