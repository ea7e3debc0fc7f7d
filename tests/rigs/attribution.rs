//! What the findings of each rig were put down to, beside what really was the matter.

use std::panic::catch_unwind;

use shakedown::vocab::finding::{Kind, Resource};

use crate::common::play::Account;
use crate::{Played, cpu, medium, natural, network, once, program, say, throttle};

/// Set once the findings name what held the work up: from then on so much of the table must be right.
const ATTRIBUTED: bool = false;
const RIGHT: f64 = 0.9;

/// A rig, and the resources that a finding of it may name first. Where the counters cannot tell, naming none is right as well.
struct Row {
    name: &'static str,
    rig: fn() -> Played,
    expected: &'static [Resource],
    or_none: bool,
}

/// The first of the resources is what really was the matter, the others follow from it.
const TABLE: &[Row] = &[
    row("throttled write", throttle::write, &[Resource::CgroupLimit, Resource::DiskCap, Resource::Disk]),
    row("throttled read", throttle::read, &[Resource::CgroupLimit, Resource::DiskCap, Resource::Disk]),
    row("throttled operations", throttle::operations, &[Resource::CgroupLimit, Resource::DiskCap, Resource::Disk]),
    row(
        "natural collapse",
        natural::collapse,
        &[Resource::DiskCap, Resource::CgroupLimit, Resource::Disk, Resource::Flush, Resource::DeviceHang],
    ),
    // A file system in user space has no counters of its own; what is in flight at the meter tells a hang, and no more.
    Row {
        or_none: true,
        ..row("full cache", medium::cache, &[Resource::Disk, Resource::DiskCap, Resource::DeviceHang])
    },
    row("hang of 6 s", medium::hang, &[Resource::DeviceHang]),
    row("dead device", medium::dead, &[Resource::DeviceHang]),
    row("deaf worker", medium::deaf, &[Resource::DeviceHang]),
    row("CPU quota", cpu::quota, &[Resource::CgroupLimit]),
    row("busy neighbour", cpu::neighbour, &[Resource::Cpu]),
    row("CPU-bound load", cpu::generator, &[Resource::Generator, Resource::Cpu]),
    row("narrow link", network::narrow, &[Resource::Nic, Resource::NetworkPath]),
];

const fn row(name: &'static str, rig: fn() -> Played, expected: &'static [Resource]) -> Row {
    Row { name, rig, expected, or_none: false }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Right,
    Wrong,
    Unknown,
    Skipped,
}

/// What the finding that a person would read first was put down to. Only the first resource counts: on a machine with other
/// work the CPUs may truly be full besides.
fn held_by(account: &Account) -> Vec<Resource> {
    let findings = account.findings();
    let of = |kind: Kind| findings.iter().find(|f| f.kind == kind);
    match of(Kind::Collapse).or(of(Kind::Stall)).or(of(Kind::Generator)) {
        // This kind says by itself what the limit was.
        Some(finding) if finding.kind == Kind::Generator => vec![Resource::Generator],
        Some(finding) => finding.held_by.clone(),
        None => Vec::new(),
    }
}

fn mark(row: &Row, held: &[Resource]) -> Mark {
    match held.first() {
        None if row.or_none => Mark::Right,
        None => Mark::Unknown,
        Some(first) if row.expected.contains(first) => Mark::Right,
        Some(_) => Mark::Wrong,
    }
}

/// One line of the table, and its mark.
fn line(row: &Row) -> (String, Mark) {
    let played = catch_unwind(|| once(row.name, row.rig)).unwrap_or_else(|_| Err("it failed".to_owned()));
    let (held, mark) = match &played {
        Ok(account) => {
            let held = held_by(account);
            let names: Vec<String> = held.iter().map(Resource::to_string).collect();
            (if names.is_empty() { "unknown".to_owned() } else { names.join(", ") }, mark(row, &held))
        }
        Err(why) => (why.clone(), Mark::Skipped),
    };
    let word = match mark {
        Mark::Right => "right",
        Mark::Wrong => "WRONG",
        Mark::Unknown => "unknown",
        Mark::Skipped => "not played",
    };
    (format!("{:<22} | {:<20} | {held:<36} | {word}", row.name, row.expected[0].to_string()), mark)
}

#[test]
fn findings_are_put_down_to_what_was_the_matter() {
    let lines: Vec<(String, Mark)> = TABLE.iter().map(line).collect();
    let count = |mark| lines.iter().filter(|(_, m)| *m == mark).count();
    say(&format!("{:<22} | {:<20} | {:<36} | right?", "rig", "expected", "held_by"));
    lines.iter().for_each(|(line, _)| say(line));
    let (right, wrong, unknown, skipped) =
        (count(Mark::Right), count(Mark::Wrong), count(Mark::Unknown), count(Mark::Skipped));
    say(&format!("attribution: {right} right, {wrong} wrong, {unknown} unknown, {skipped} not played"));
    if skipped == lines.len() {
        return program::skip("attribution", "no rig can be built here");
    }
    assert_eq!(wrong, 0, "findings were put down to what was not the matter");
    if ATTRIBUTED {
        let share = right as f64 / (right + unknown) as f64;
        assert!(share >= RIGHT, "only {:.0} % of the rigs are put down to the right resource", 100.0 * share);
    }
}
