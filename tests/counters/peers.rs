//! This machine's own counters beside those that `mpstat`, `iostat` and `sar` of sysstat show over the same two seconds.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::captures::Reading;
use shakedown::vocab::moment::Moment;

/// The length of the interval that all of them look at.
const SECONDS: u64 = 2;
/// An interval in which the load changes just where two tools begin at different moments says nothing; then another one is taken.
const ATTEMPTS: usize = 6;

fn skip(why: &str) {
    let _ = std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes());
}

fn is_here(tool: &str) -> bool {
    Command::new(tool).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn start(tool: &str, arguments: &[&str]) -> Child {
    let interval = SECONDS.to_string();
    let mut command = Command::new(tool);
    command.args(arguments).args([&interval, "1"]).env("LC_ALL", "C").env("S_TIME_FORMAT", "ISO");
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The line of the tool's table that holds `word`, by the names at the head of that table; the last one when there are several.
fn table(output: &str, word: &str) -> Vec<(String, f64)> {
    let mut heads: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for line in output.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.contains(&"CPU") || words.contains(&"IFACE") || words.first() == Some(&"Device") {
            heads = words;
        } else if words.contains(&word) && !heads.is_empty() {
            let behind = heads.iter().rev().zip(words.iter().rev());
            found = behind.filter_map(|(head, value)| Some(((*head).to_owned(), value.parse().ok()?))).collect();
        }
    }
    found
}

/// Where the two differ by more than 2 % of the value and more than `floor`.
fn differs(ours: Option<f64>, theirs: &[(String, f64)], (name, factor, floor): (&str, f64, f64)) -> Option<String> {
    let theirs = theirs.iter().find(|(head, _)| head == name)?.1 * factor;
    let ours = ours.unwrap_or(0.0);
    let fits = (ours - theirs).abs() <= floor.max(0.02 * theirs.abs());
    (!fits).then(|| format!("{name}: {ours} here, {theirs} there"))
}

/// One interval: what differs, and how many figures were compared.
fn compare() -> (Vec<String>, usize) {
    let mut reading = Reading::new("/".as_ref());
    // Something to see: a file that is written and flushed, over the whole interval and beyond.
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let mut writer = Command::new("dd")
        .args(["if=/dev/zero", "bs=64k", "count=1000000", "oflag=direct", "conv=notrunc"])
        .arg(format!("of={}", file.path().display()))
        .args(["status=none"])
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let children = [start("mpstat", &[]), start("iostat", &["-x", "-k", "-y"]), start("sar", &["-n", "DEV"])];
    // They need a moment to begin: a program is found, linked and started.
    std::thread::sleep(Duration::from_millis(5));
    let begun = std::time::Instant::now();
    reading.read(Moment(1_000_000));
    std::thread::sleep(Duration::from_secs(SECONDS).saturating_sub(begun.elapsed()));
    reading.read(Moment(1_000_000) + begun.elapsed().into());
    let outputs = children.map(|c| String::from_utf8_lossy(&c.wait_with_output().unwrap().stdout).into_owned());
    let _ = (writer.kill(), writer.wait());
    let host = reading.host();
    let mut compared = Vec::new();
    let mut one = |ours: Option<f64>, theirs: &[(String, f64)], how: (&str, f64, f64), what: &str| {
        if theirs.iter().any(|(head, _)| head == how.0) {
            compared.push(differs(ours, theirs, how).map(|d| format!("{what} {d}")));
        }
    };
    let cpu = table(&outputs[0], "all");
    for (row, head) in [("steal", "%steal"), ("iowait", "%iowait"), ("guest", "%guest")] {
        one(host.latest("cpu/", row), &cpu, (head, 1.0, 2.0), "cpu");
    }
    let idle = host.latest("cpu/", "idle");
    one(idle, &cpu, ("%idle", 1.0, 2.0), "cpu");
    for (disk, _) in host.of_source("disk") {
        let (key, theirs) = (format!("disk/{disk}"), table(&outputs[1], disk));
        let rows = [("read", "rkB/s", 1.024e-3, 0.05), ("write", "wkB/s", 1.024e-3, 0.05), ("r/s", "r/s", 1.0, 5.0)];
        let more = [("w/s", "w/s", 1.0, 5.0), ("util", "%util", 1.0, 2.0), ("queue", "aqu-sz", 1.0, 0.05)];
        for (row, head, factor, floor) in rows.into_iter().chain(more) {
            one(host.latest(&key, row), &theirs, (head, factor, floor), disk);
        }
    }
    for (nic, _) in host.of_source("net") {
        let (key, theirs) = (format!("net/{nic}"), table(&outputs[2], nic));
        for (row, head) in [("rx", "rxkB/s"), ("tx", "txkB/s")] {
            one(host.latest(&key, row), &theirs, (head, 1.024e-3, 0.02), nic);
        }
    }
    let count = compared.len();
    (compared.into_iter().flatten().collect(), count)
}

#[test]
fn steal_iowait_disk_and_nic_rates_agree_with_sysstat() {
    if let Some(missing) = ["mpstat", "iostat", "sar", "dd"].iter().find(|tool| !is_here(tool)) {
        return skip(&format!("{missing} is not in PATH, so the live figures are compared with nobody's"));
    }
    let mut differences = Vec::new();
    for _ in 0..ATTEMPTS {
        let (differ, compared) = compare();
        assert!(compared >= 4, "sysstat printed nothing to compare with");
        if differ.is_empty() {
            return;
        }
        differences.push(differ);
    }
    panic!("in {ATTEMPTS} intervals nothing but: {differences:#?}");
}
