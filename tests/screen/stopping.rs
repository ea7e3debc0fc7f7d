//! Ctrl-Z, `fg`, and a stop from elsewhere: the shell gets its terminal, the screen comes back whole, and the session goes on.

use rustix::process::Signal;
use shakedown::vocab::event::Event;

use crate::level;
use crate::pty::{House, Terminal, Window, signal, wait_until};

/// A shell with job control: says when its job has stopped, and brings it back at Enter.
const SHELL: &str = "set -m; \"$0\" \"$@\"; echo to the shell; stty -a; read line; fg; exit $?";

fn house() -> House {
    let house = House::new();
    house.preset("long", &level(&[("long-one", 60.0)]));
    house
}

fn end(house: &House, terminal: &mut Terminal) {
    terminal.send("\u{3}");
    terminal.wait_for("rec closed");
    terminal.send("q");
    let ended = terminal.ends_given_back(2);
    assert!(ended.contents.contains("VERDICT: NOT PROVEN"), "{}", ended.contents);
    house.wait_for_the_end();
}

#[test]
fn ctrl_z_goes_to_the_shell_and_fg_comes_back() {
    let house = house();
    let mut terminal = house.open_as(Window { shell: SHELL, ..Window::default() }, &["long"]);
    terminal.wait_for("MEASURE");
    terminal.send("\u{1a}");
    terminal.wait_for("to the shell");
    terminal.wait_for("echoctl");
    let shell = terminal.contents();
    assert!(!shell.contains("-icanon") && !shell.contains("-echo "), "not cooked for the shell:\n{shell}");
    assert!(terminal.look(|s| !s.alternate_screen() && !s.hide_cursor()), "{shell}");
    assert_eq!(terminal.look(vt100::Screen::mouse_protocol_mode), vt100::MouseProtocolMode::None);
    let ticks = || house.records().iter().filter(|r| matches!(r.event, Event::Tick)).count();
    let before = ticks();
    wait_until("the session goes on", || ticks() > before + 1);
    terminal.send("\r");
    terminal.wait_for("rec ok");
    assert!(terminal.look(vt100::Screen::alternate_screen));
    assert_ne!(terminal.look(vt100::Screen::mouse_protocol_mode), vt100::MouseProtocolMode::None);
    crate::pty::frame_is_whole(&terminal);
    // And once more, as often as one likes; the shell has nothing to say to it.
    end(&house, &mut terminal);
}

#[test]
fn ctrl_z_without_a_shell_leaves_the_screen_where_it_is() {
    let house = house();
    let mut terminal = house.open(&["long"]);
    terminal.wait_for("MEASURE");
    terminal.send("\u{1a}");
    wait_until("the terminal was given back and taken again", || {
        String::from_utf8_lossy(&terminal.bytes()).matches("\u{1b}[?1049h").count() == 2
    });
    terminal.wait_for("rec ok");
    crate::pty::frame_is_whole(&terminal);
    end(&house, &mut terminal);
}

#[test]
fn a_screen_stopped_and_continued_from_elsewhere_is_drawn_anew() {
    let house = house();
    let mut terminal = house.open(&["long"]);
    terminal.wait_for("MEASURE");
    signal(terminal.pid(), Signal::STOP);
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", terminal.pid())).unwrap_or_default();
    wait_until("it has stopped", || state().rsplit(')').next().is_some_and(|rest| rest.starts_with(" T")));
    signal(terminal.pid(), Signal::CONT);
    wait_until("everything is set again", || {
        String::from_utf8_lossy(&terminal.bytes()).matches("\u{1b}[?1049h").count() == 2
    });
    terminal.wait_for("rec ok");
    crate::pty::frame_is_whole(&terminal);
    end(&house, &mut terminal);
}
