//! Sizes: too small, unknown, and changing all the time.

use vt100::Screen;

use crate::level;
use crate::pty::{House, Window};

const TOO_SMALL: &str = "terminal too small";

/// The text as far as it goes in; the last column of one that is cut off says so.
fn says_too_small(screen: &Screen) -> bool {
    let columns = usize::from(screen.size().1.get());
    let contents = screen.contents();
    let shown = if columns > TOO_SMALL.len() { TOO_SMALL } else { &TOO_SMALL[..columns - 1] };
    contents.starts_with(shown) && contents.trim_end().lines().count() == 1
}

/// The lines of the screen below the first, which tells the time and where the record comes from.
fn below_the_header(screen: &Screen) -> Vec<String> {
    screen.contents().lines().skip(1).map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn a_storm_of_sizes_leaves_no_trace() {
    let house = House::new();
    house.preset("stormy", &level(&[("long-one", 60.0)]));
    let mut terminal = house.open(&["stormy"]);
    terminal.wait_for("MEASURE");
    for columns in (1..=120).step_by(7) {
        for rows in (1..=40).step_by(5) {
            terminal.resize((columns, rows));
            if columns < 60 || rows < 16 {
                terminal.wait(&format!("`{TOO_SMALL}` at {columns}x{rows}"), says_too_small);
            } else {
                terminal.wait(&format!("the whole screen at {columns}x{rows}"), |screen| {
                    ["rec ok", "long-one", "? help"].iter().all(|text| screen.contents().contains(text))
                });
            }
        }
    }
    for size in [(0, 0), (40, 10), (80, 24)] {
        terminal.resize(size);
        let last = |screen: &Screen| screen.contents().lines().nth(23).is_some_and(|l| l.contains("? help"));
        terminal.wait(&format!("the screen at {size:?}"), |screen| {
            if size == (40, 10) { says_too_small(screen) } else { last(screen) }
        });
    }
    assert!(!terminal.shows(TOO_SMALL), "{}", terminal.contents());
    terminal.send("\u{3}");
    terminal.wait_for("rec closed");
    let session = house.sessions()[0].display().to_string();
    let fresh = house.open(&["watch", &session]);
    fresh.wait_for("replay");
    fresh.wait_for("NOT PROVEN");
    let expected = || fresh.look(below_the_header);
    terminal.wait(&format!("the same as on a fresh screen:\n{}\n", fresh.contents()), |s| {
        below_the_header(s) == expected()
    });
    assert!(terminal.look(|s| s.contents().lines().next().is_some_and(|l| l.contains("long-one"))));
    terminal.send("q");
    terminal.ends_given_back(2);
}

/// Nobody waits here for what is drawn: the sizes come as fast as they can while the session runs and ends.
#[test]
fn a_session_ends_in_a_storm_of_sizes() {
    let house = House::new();
    house.preset("stormy", &level(&[("short-one", 2.0)]));
    let mut terminal = house.open(&["stormy"]);
    terminal.wait_for("MEASURE");
    let closed =
        || house.records().iter().any(|r| matches!(r.event, shakedown::vocab::event::Event::SessionClosed { .. }));
    let sizes: Vec<(u16, u16)> = (0..=40).flat_map(|rows| (0..=120).step_by(8).map(move |c| (c, rows))).collect();
    crate::pty::wait_until("the session has ended", || {
        sizes.iter().for_each(|size| terminal.resize(*size));
        closed()
    });
    terminal.resize((80, 24));
    terminal.wait_for("rec closed");
    crate::pty::frame_is_whole(&terminal);
    terminal.send("q");
    let ended = terminal.ends_given_back(0);
    assert!(ended.contents.contains("VERDICT: PASS"), "{}", ended.contents);
    assert!(!String::from_utf8_lossy(&ended.bytes).contains("panicked"));
}

/// On a terminal that does not know its size the screen has this many columns and rows.
fn takes_the_size(env: &[(&str, &str)], (columns, rows): (usize, usize)) {
    let house = House::new();
    house.preset("healthy", &level(&[("steady-write", 1.0)]));
    let mut terminal = house.open_as(Window { size: (0, 0), env, ..Window::default() }, &["healthy"]);
    terminal.wait_for("PASS");
    terminal.wait_for("rec closed");
    let lines: Vec<usize> = terminal.contents().lines().map(|l| l.trim_end().chars().count()).collect();
    assert_eq!((lines.len(), lines.iter().max()), (rows, Some(&columns)), "{}", terminal.contents());
    terminal.send("q");
    terminal.ends_given_back(0);
}

#[test]
fn a_terminal_that_does_not_know_its_size_gets_the_usual_one() {
    takes_the_size(&[], (80, 24));
}

#[test]
fn a_terminal_that_does_not_know_its_size_gets_what_the_environment_says() {
    takes_the_size(&[("COLUMNS", "70"), ("LINES", "18")], (70, 18));
}
