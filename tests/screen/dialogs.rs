//! The keys of the live screen.

use shakedown::vocab::event::{Event, Outcome};
use shakedown::vocab::order::Command;

use crate::level;
use crate::pty::{House, Terminal, Window};

fn live() -> (House, Terminal) {
    let house = House::new();
    house.preset("long", &level(&[("first-one", 60.0), ("second-one", 60.0)]));
    let terminal = house.open(&["long"]);
    terminal.wait_for("MEASURE");
    (house, terminal)
}

fn stop(house: &House, terminal: &mut Terminal) {
    terminal.send("\u{3}");
    terminal.wait_for("rec closed");
    terminal.send("q");
    terminal.ends_given_back(2);
    house.wait_for_the_end();
}

#[test]
fn help_lists_the_keys_and_closes() {
    let (house, mut terminal) = live();
    for (open, close) in [("?", "?"), ("\u{1b}OP", "\u{1b}")] {
        terminal.send(open);
        terminal.wait_for("this help");
        for key in ["Space", "Ctrl-C", "Ctrl-L", "F1", "asks whether the session goes on"] {
            assert!(terminal.shows(key), "no `{key}` in the help:\n{}", terminal.contents());
        }
        terminal.send(close);
        terminal.wait_until_gone("this help");
    }
    stop(&house, &mut terminal);
}

#[test]
fn space_freezes_the_view_and_never_the_session() {
    let (house, mut terminal) = live();
    terminal.send(" ");
    terminal.wait_for("FROZEN");
    let frozen = terminal.contents();
    let recorded = house.records().len();
    house.wait_for_event("the session goes on", |e| matches!(e, Event::Tick));
    crate::pty::wait_until("more is recorded", || house.records().len() > recorded + 30);
    assert_eq!(terminal.contents(), frozen, "a frozen view has changed");
    terminal.send(" ");
    terminal.wait_until_gone("FROZEN");
    assert_ne!(terminal.contents(), frozen);
    stop(&house, &mut terminal);
}

#[test]
fn x_asks_and_stops_the_run_under_way() {
    let (house, mut terminal) = live();
    let stopped = |e: &Event| matches!(e, Event::RunEnded { run, outcome: Outcome::Stopped } if &*run.0 == "first-one");
    terminal.send("x");
    terminal.wait_for("Stop first-one?");
    terminal.send("n");
    terminal.wait_until_gone("Stop first-one?");
    terminal.send("x");
    terminal.wait_for("Stop first-one?");
    assert!(!house.records().iter().any(|r| matches!(r.event, Event::Commanded(_))), "`no` has stopped it");
    terminal.send("y");
    house.wait_for_event("the run is stopped", stopped);
    house.wait_for_event("the next begins", |e| matches!(e, Event::RunStarted(start) if &*start.run.0 == "second-one"));
    terminal.wait("the next run on the screen", |s| {
        s.contents().lines().next().is_some_and(|l| l.contains("second-one") && l.contains("MEASURE"))
    });
    stop(&house, &mut terminal);
}

#[test]
fn a_remark_is_typed_and_recorded() {
    let (house, mut terminal) = live();
    terminal.send("n");
    terminal.wait_for("Remark");
    terminal.send("fan 3 swapped, quiet");
    terminal.send("xx\u{7f}\u{7f}");
    terminal.send("; 风扇 ok");
    terminal.wait_for("fan 3 swapped, quiet; 风扇 ok");
    terminal.send("\r");
    terminal.wait_until_gone("Remark");
    let note = Command::Note("fan 3 swapped, quiet; 风扇 ok".to_owned());
    house.wait_for_event("the remark is recorded", |e| *e == Event::Commanded(note.clone()));
    terminal.send("n");
    terminal.wait_for("Remark");
    terminal.send("not this one");
    terminal.wait_for("not this one");
    terminal.send("\u{1b}");
    terminal.wait_until_gone("Remark");
    stop(&house, &mut terminal);
    let notes = house.records().into_iter().filter(|r| matches!(r.event, Event::Commanded(Command::Note(_)))).count();
    assert_eq!(notes, 1, "a discarded remark is recorded");
}

/// Every key that a terminal can send, except those that end something; what they open is closed again.
#[test]
fn no_key_does_harm() {
    let (house, mut terminal) = live();
    for key in (' '..='~').filter(|c| !"?xnq".contains(*c)) {
        terminal.send(&key.to_string());
    }
    // The last that opens a screen was `v`.
    terminal.wait_for("Verdict so far");
    terminal.send("v");
    terminal.wait_until_gone("Verdict so far");
    for (key, opened, close) in
        [("?", "this help", "?"), ("x", "Stop the run?", "n"), ("n", "Remark", "\r"), ("q", "Leave?", "c")]
    {
        terminal.send(key);
        terminal.wait_for(opened);
        terminal.send(close);
        terminal.wait_until_gone(opened);
    }
    let cursor = ["\u{1b}[A", "\u{1b}[B", "\u{1b}[C", "\u{1b}[D", "\u{1b}[F", "\u{1b}[H", "\u{1b}[Z"];
    let pages = ["\u{1b}[5~", "\u{1b}[6~", "\u{1b}[2~", "\u{1b}[3~", "\u{1b}OQ", "\u{1b}[15~"];
    let control = ["\t", "\r", "\u{7f}", "\u{c}", "\u{1}", "\u{4}", "\u{1a}", "\u{0}", "\u{1b}a", "风", "é"];
    cursor.iter().chain(&pages).chain(&control).for_each(|key| terminal.send(key));
    terminal.send("0?");
    terminal.wait_for("this help");
    terminal.send("\u{1b}");
    terminal.wait_until_gone("this help");
    if terminal.shows("FROZEN") {
        terminal.send(" ");
    }
    terminal.wait_until_gone("FROZEN");
    terminal.wait_for("rec ok");
    terminal.wait_for("MEASURE");
    let commanded: Vec<_> = house.records().into_iter().filter(|r| matches!(r.event, Event::Commanded(_))).collect();
    assert!(commanded.is_empty(), "keys have given commands: {commanded:?}");
    assert!(house.has("worker") && !terminal.has_ended());
    stop(&house, &mut terminal);
}

#[test]
fn wide_characters_and_escapes_in_a_session_leave_the_frame_whole() {
    let house = House::new();
    let title = "机器验收\\u{1b}[2J\\u{1b}]0;owned\\u{7}测试\\u{202e}机器验收测试机器验收测试机器验收测试机器验收测试机器验收测试";
    house.preset("wide", &crate::titled(title, &[("long-one", 60.0)]));
    let mut terminal = house.open_as(Window { size: (80, 40), ..Window::default() }, &["wide"]);
    terminal.wait_for("MEASURE");
    terminal.send("n");
    terminal.wait_for("Remark");
    terminal.send("机器验收测试机器验收测试机器验收测试机器验收测试机器验收测试机器验收测试机器验收测试");
    terminal.wait_for("收测试");
    crate::pty::frame_is_whole(&terminal);
    terminal.send("\r");
    terminal.wait_until_gone("Remark");
    terminal.wait_for("机器验收");
    crate::pty::frame_is_whole(&terminal);
    assert!(terminal.look(|s| s.contents().lines().next().is_some_and(|l| l.contains("long-one"))), "no title line");
    assert!(!String::from_utf8_lossy(&terminal.bytes()).contains("owned\u{7}"), "the title of a preset is a command");
    stop(&house, &mut terminal);
}
