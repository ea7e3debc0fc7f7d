//! Before a session: the list of presets, questions and refusals.

use crate::pty::{House, Terminal, frame_is_whole, wait_until};
use crate::{level, shaped, titled};

fn nothing_has_begun(house: &House) {
    assert!(house.sessions().is_empty(), "there is a session already: {:?}", house.sessions());
    let processes = house.processes();
    assert!(processes.iter().all(|(_, kind)| kind == "viewer"), "something is at work already: {processes:?}");
}

#[test]
fn the_list_starts_nothing_and_is_left() {
    let house = House::new();
    let mut terminal = house.open(&[]);
    terminal.wait_for("quick");
    terminal.wait_for("synthetic-collapse");
    nothing_has_begun(&house);
    // The smoke test is chosen at first, which does least.
    terminal.wait_for("Smoke test: does everything work?");
    terminal.send("kk");
    terminal.wait_for("Memory acceptance");
    terminal.send("jjjj");
    terminal.wait_for("The flagship fault");
    // After the last comes the first.
    terminal.send("j");
    terminal.wait_until_gone("The flagship fault");
    nothing_has_begun(&house);
    terminal.send("q");
    terminal.ends_given_back(0);
    nothing_has_begun(&house);
}

#[test]
fn what_is_chosen_from_the_list_is_run() {
    let house = House::new();
    house.preset("zz-small", &level(&[("small-one", 1.0)]));
    let mut terminal = house.open(&[]);
    terminal.wait_for("zz-small");
    terminal.send("jjj");
    terminal.wait_for("A healthy device");
    nothing_has_begun(&house);
    terminal.send("\r");
    terminal.wait_for("small-one");
    terminal.wait_for("PASS");
    terminal.wait_for("rec closed");
    terminal.send("q");
    terminal.ends_given_back(0);
    assert!(house.sessions()[0].display().to_string().contains("zz-small"));
}

#[test]
fn a_preset_that_cannot_be_read_is_shown_and_not_started() {
    let house = House::new();
    house.preset("aa-broken", "( title: \"Broken\", runs: [] )");
    let mut terminal = house.open(&[]);
    terminal.wait_for("aa-broken");
    // After the last comes the first.
    terminal.send("jjj");
    terminal.wait_for("cannot be used");
    terminal.send("\r");
    terminal.wait_for("refused");
    nothing_has_begun(&house);
    terminal.send("q");
    terminal.ends_given_back(0);
}

#[test]
fn wide_characters_and_escapes_in_a_title_leave_the_list_whole() {
    let house = House::new();
    let title = "验收\\u{1b}[2J\\u{1b}[999;999H测试验收测试验收测试验收测试验收测试验收测试验收测试";
    house.preset("zz-wide", &titled(title, &[("small-one", 1.0)]));
    let mut terminal = house.open(&[]);
    terminal.wait_for("quick");
    terminal.send("jjj");
    terminal.wait_for("验收");
    frame_is_whole(&terminal);
    assert!(!String::from_utf8_lossy(&terminal.bytes()).contains("\u{1b}[999"), "the title of a preset is a command");
    terminal.send("q");
    terminal.ends_given_back(0);
}

#[test]
fn what_the_preflight_refuses_is_one_line_and_no_screen() {
    let house = House::new();
    let disk = "( name: \"disk-write\", kernel: Disk(pattern: Write, block: \"1MiB\", depth: 4, size: \"64MiB\", time: \"1 s\") )";
    house.preset("disk", &format!("( title: \"A disk\", about: \"Writes.\", runs: [{disk}], checks: [] )"));
    let memory = "/dev/shm";
    if !rustix::fs::statfs(memory).is_ok_and(|s| s.f_type == 0x0102_1994) {
        eprintln!("SKIPPED: {memory} is no tmpfs here");
        return;
    }
    let ended = open_while_nobody_tests(&house, &["disk", "--target", memory]).ends_given_back(3);
    let text = String::from_utf8_lossy(&ended.bytes).into_owned();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("lies in memory"), "{text}");
    assert!(!text.contains('\u{1b}'), "the screen was taken over: {text:?}");
    nothing_has_begun(&house);
}

/// A run that cannot be done counts as a load, so here the preflight asks, and two sessions are denied to each other.
#[test]
fn a_question_of_the_preflight_is_denied_and_affirmed() {
    let house = House::new();
    let odd = shaped("odd-one", 1.0, "Collapse(after: \"1MB\", to: \"3 IOPS\")");
    let runs = format!("{odd}{}", shaped("small-one", 1.0, "Level"));
    house.preset("odd", &format!("( title: \"Odd\", about: \"Asks.\", runs: [{runs}], checks: [] )"));
    let mut terminal = open_while_nobody_tests(&house, &["odd"]);
    terminal.wait_for("cannot be done here");
    nothing_has_begun(&house);
    terminal.send("n");
    let ended = terminal.ends_given_back(3);
    assert!(ended.contents.contains("not started"), "{}", ended.contents);
    nothing_has_begun(&house);
    let mut terminal = open_while_nobody_tests(&house, &["odd"]);
    terminal.wait_for("cannot be done here");
    terminal.send("y");
    terminal.wait_for("NOT PROVEN");
    terminal.wait_for("rec closed");
    terminal.send("q");
    terminal.ends_given_back(2);
}

/// Somebody else may be testing this node for a while; what is tried here needs it alone.
fn open_while_nobody_tests(house: &House, arguments: &[&str]) -> Terminal {
    let mut terminal = house.open(arguments);
    wait_until("nobody else tests this node", || {
        let answers = ["under test already", "cannot be done here", "lies in memory"];
        terminal.wait("an answer", |screen| answers.iter().any(|a| screen.contents().contains(a)));
        if !terminal.shows("under test already") {
            return true;
        }
        terminal.end();
        terminal = house.open(arguments);
        false
    });
    terminal
}
