//! The mouse: asked for where there is one, used, and given back on every way out.

use rustix::process::Signal;
use vt100::{MouseProtocolEncoding, MouseProtocolMode, Screen};

use crate::level;
use crate::pty::{House, Terminal, Window, signal};

fn open(env: &[(&str, &str)], arguments: &[&str]) -> (House, Terminal) {
    let house = House::new();
    house.preset("long", &level(&[("first-one", 60.0), ("second-one", 60.0)]));
    let arguments: Vec<&str> = ["long"].iter().chain(arguments).copied().collect();
    let terminal = house.open_as(Window { env, ..Window::default() }, &arguments);
    terminal.wait_for("MEASURE");
    (house, terminal)
}

fn has_mouse(screen: &Screen) -> bool {
    let (mode, form) = (screen.mouse_protocol_mode(), screen.mouse_protocol_encoding());
    (mode, form) == (MouseProtocolMode::PressRelease, MouseProtocolEncoding::Sgr)
}

/// Presses and releases a button at a column and a row, from 1; 64 and 65 are the wheel.
fn touch(terminal: &mut Terminal, button: u8, (column, row): (usize, usize)) {
    terminal.send(&format!("\u{1b}[<{button};{column};{row}M\u{1b}[<{button};{column};{row}m"));
}

/// Where a text stands, from 1.
fn place(terminal: &Terminal, text: &str) -> (usize, usize) {
    let contents = terminal.contents();
    let found = contents.lines().enumerate().skip(1).find_map(|(y, line)| {
        let before = &line[..line.find(text)?];
        Some((before.chars().count() + 1, y + 1))
    });
    found.unwrap_or_else(|| panic!("there is no `{text}` on\n{contents}"))
}

/// What was written switches the mouse off as often as on, and off last.
fn is_given_back(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (on, off) = ("\u{1b}[?1000h\u{1b}[?1006h", "\u{1b}[?1006l\u{1b}[?1000l");
    assert!(text.contains(on) && text.matches(on).count() == text.matches(off).count(), "{text:?}");
    assert!(text.rfind(off) > text.rfind(on), "{text:?}");
}

#[test]
fn a_click_chooses_and_the_wheel_zooms() {
    let (house, mut terminal) = open(&[], &[]);
    assert!(terminal.look(has_mouse));
    let second = place(&terminal, "second-one");
    touch(&mut terminal, 0, second);
    terminal.wait("the chosen run", |s| s.contents().contains("this run waits for its turn"));
    terminal.send("\u{1b}[F");
    terminal.wait_until_gone("this run waits for its turn");
    let axis = place(&terminal, "t min:s");
    touch(&mut terminal, 0, (axis.0 + 20, axis.1 - 3));
    terminal.wait_for("at cursor");
    terminal.send("c");
    terminal.wait_for("t min:s");
    let label = |terminal: &Terminal| terminal.contents().lines().nth(axis.1 - 1).unwrap_or_default().to_owned();
    let before = label(&terminal);
    touch(&mut terminal, 64, (axis.0 + 20, axis.1 - 3));
    terminal.wait("less time", |s| s.contents().lines().nth(axis.1 - 1).is_some_and(|l| l != before));
    let help = place(&terminal, "? help");
    touch(&mut terminal, 0, help);
    terminal.wait_for("this help");
    terminal.send("?\u{3}");
    terminal.wait_for("rec closed");
    terminal.send("q");
    is_given_back(&terminal.ends_given_back(2).bytes);
    house.wait_for_the_end();
}

#[test]
fn the_mouse_is_given_back_by_a_signal_and_by_a_panic() {
    let (house, mut terminal) = open(&[], &[]);
    signal(terminal.pid(), Signal::HUP);
    is_given_back(&terminal.ends_given_back(0).bytes);
    let mut watch = house.open(&["watch", "--panic-at", "3"]);
    let ended = watch.end();
    is_given_back(&ended.bytes);
    watch.is_given_back();
    house.stop();
}

#[test]
fn nobody_is_asked_for_a_mouse_that_is_not_there_or_not_wanted() {
    for (env, arguments) in [
        (&[][..], &["--no-mouse"][..]),
        (&[], &["--slow"]),
        (&[("TERM", "linux")], &[]),
        (&[("TERM", "vt220")], &[]),
        (&[("TERM", "screen")], &[]),
    ] {
        let (house, mut terminal) = open(env, arguments);
        signal(terminal.pid(), Signal::TERM);
        let ended = terminal.ends_given_back(0);
        assert!(!String::from_utf8_lossy(&ended.bytes).contains("\u{1b}[?1000"), "{env:?} {arguments:?}");
        house.stop();
    }
}
