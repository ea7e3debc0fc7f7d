//! Every way out: by key, by signal, by a window that goes away, by a panic, by a runner that is killed. The terminal is given
//! back, and the session goes on wherever nobody has asked it to stop.

use rustix::process::Signal;
use shakedown::vocab::event::Event;
use shakedown::vocab::order::Command;
use shakedown::vocab::verdict::Decision;

use crate::pty::{House, Terminal, Window, signal, wait_until};
use crate::{level, shaped};

/// A house in whose window a long session has begun, after a short run.
fn long() -> (House, Terminal) {
    long_as(Window::default(), &["long"])
}

fn long_as(window: Window<'_>, arguments: &[&str]) -> (House, Terminal) {
    let house = House::new();
    house.preset("long", &level(&[("short-one", 0.3), ("long-one", 60.0), ("last-one", 60.0)]));
    let terminal = house.open_as(window, arguments);
    terminal.wait("the second run", |screen| {
        screen.contents().lines().next().is_some_and(|l| l.contains("long-one") && l.contains("MEASURE"))
    });
    (house, terminal)
}

#[test]
fn ctrl_c_stops_the_session_cleanly() {
    let (house, mut terminal) = long();
    terminal.send("\u{3}");
    terminal.wait_for("NOT PROVEN");
    terminal.wait_for("rec closed");
    terminal.wait_for("q leaves");
    terminal.send("q");
    let ended = terminal.ends_given_back(2);
    assert!(ended.contents.contains("VERDICT: NOT PROVEN"), "{}", ended.contents);
    assert_eq!(house.wait_for_the_end(), Decision::NotProven);
}

#[test]
fn ctrl_c_twice_stops_at_once() {
    let house = House::new();
    let deaf = shaped("deaf-one", 60.0, "Hang(after: \"0 s\")");
    house.preset("deaf", &format!("( title: \"Deaf\", about: \"Heeds no stop.\", runs: [{deaf}], checks: [] )"));
    let mut terminal = house.open(&["deaf"]);
    terminal.wait_for("MEASURE");
    terminal.send("\u{3}");
    terminal.wait_for("STOPPING");
    terminal.send("\u{3}");
    terminal.ends_given_back(2);
    assert_eq!(house.wait_for_the_end(), Decision::NotProven);
    house.wait_for_event("the second one is recorded", |e| *e == Event::Commanded(Command::StopNow));
}

#[test]
fn a_screen_is_left_and_another_attaches() {
    let (house, mut terminal) = long();
    terminal.send("q");
    terminal.wait_for("Leave?");
    terminal.send("c");
    terminal.wait_until_gone("Leave?");
    assert!(terminal.shows("MEASURE") && !terminal.has_ended(), "{}", terminal.contents());
    terminal.send("q");
    terminal.wait_for("Leave?");
    terminal.send("l");
    let ended = terminal.ends_given_back(0);
    assert!(ended.contents.contains("shakedown watch"), "no word on how to come back:\n{}", ended.contents);
    let mut watch = house.open(&["watch"]);
    watch.wait_for("rec ok");
    watch.wait("what was before", |screen| {
        screen.contents().lines().any(|l| l.contains("short-one") && l.contains("done") && l.contains("MB/s"))
    });
    watch.wait_for("MEASURE");
    watch.send("q");
    watch.wait_for("Leave?");
    watch.send("s");
    watch.wait_for("NOT PROVEN");
    watch.wait_for("rec closed");
    watch.send("q");
    let ended = watch.ends_given_back(0);
    assert!(ended.contents.contains("VERDICT: NOT PROVEN"), "{}", ended.contents);
    assert_eq!(house.wait_for_the_end(), Decision::NotProven);
}

/// Sends a signal to the screen: it is gone, its terminal is given back, and the session goes on.
fn is_told_to_go(by: Signal) {
    let (house, mut terminal) = long();
    signal(terminal.pid(), by);
    terminal.ends_given_back(0);
    assert!(house.has("runner") && house.has("worker"), "the session has not gone on");
    house.stop();
}

#[test]
fn a_screen_that_is_terminated_gives_the_terminal_back() {
    is_told_to_go(Signal::TERM);
}

#[test]
fn a_screen_that_is_hung_up_gives_the_terminal_back() {
    is_told_to_go(Signal::HUP);
}

#[test]
fn a_screen_that_is_killed_takes_nobody_with_it() {
    let (house, mut terminal) = long();
    signal(terminal.pid(), Signal::KILL);
    terminal.end();
    assert!(house.has("runner") && house.has("worker"), "the session has not gone on");
    house.stop();
}

/// Closes the window: the screen is gone and the session goes on.
fn loses_its_window(shell: &str) {
    let (house, terminal) = long_as(Window { shell, ..Window::default() }, &["long"]);
    let mut left_behind = terminal.close();
    wait_until("the screen is gone", || {
        let _ = left_behind.try_wait();
        !house.has("viewer")
    });
    assert!(house.has("runner") && house.has("worker"), "the session has not gone on");
    house.stop();
}

#[test]
fn a_screen_whose_window_is_closed_ends() {
    loses_its_window("");
}

#[test]
fn a_screen_whose_window_is_closed_ends_under_nohup() {
    loses_its_window("trap '' HUP; exec \"$0\" \"$@\"");
}

/// Here nothing is signalled: the terminal is not the one that controls the screen.
#[test]
fn a_screen_whose_window_is_closed_ends_without_a_signal() {
    loses_its_window("trap '' HUP; setsid -w \"$0\" \"$@\"");
}

#[test]
fn a_panic_is_read_on_the_main_screen_and_the_session_goes_on() {
    let house = House::new();
    house.preset("long", &level(&[("long-one", 60.0)]));
    let mut terminal = house.open(&["long", "--panic-at", "5"]);
    let ended = terminal.end();
    assert_ne!(ended.code, 0, "{}", ended.contents);
    assert!(String::from_utf8_lossy(&ended.bytes).contains("\u{1b}[?1049h"), "it never was on the other screen");
    terminal.is_given_back();
    assert!(ended.contents.contains("asked to panic at draw 5"), "{}", ended.contents);
    assert!(house.has("runner") && house.has("agent"), "the session has not gone on");
    house.stop();
}

#[test]
fn a_runner_that_is_killed_is_said_to_be_gone() {
    let (house, mut terminal) = long();
    signal(house.process("runner"), Signal::KILL);
    terminal.wait_for("CUT OFF");
    wait_until("agent and worker are gone", || house.processes().iter().all(|(_, kind)| kind == "viewer"));
    terminal.send("q");
    let ended = terminal.ends_given_back(2);
    assert!(ended.contents.contains("without a verdict"), "{}", ended.contents);
    assert!(!house.records().iter().any(|r| matches!(r.event, Event::SessionClosed { .. })));
}
