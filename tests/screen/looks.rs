//! What a terminal gets: nothing that it cannot show.

use crate::level;
use crate::pty::{Ended, House, Window};

/// A whole session on a terminal with this environment, with help and a question opened in it.
fn session(env: &[(&str, &str)]) -> Ended {
    let house = House::new();
    house.preset("healthy", &level(&[("steady-write", 1.0)]));
    let mut terminal = house.open_as(Window { env, ..Window::default() }, &["healthy"]);
    terminal.wait_for("MEASURE");
    terminal.send("?");
    terminal.wait_for("this help");
    terminal.send("?");
    terminal.wait_for("PASS");
    terminal.wait_for("rec closed");
    terminal.send("q");
    terminal.ends_given_back(0)
}

/// The parameters of every SGR sequence, as they are written.
fn renditions(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let sequence = |rest: &str| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':')?;
        rest[end..].starts_with('m').then(|| rest[..end].to_owned())
    };
    text.split("\x1b[").skip(1).filter_map(sequence).collect()
}

/// Whether a rendition sets a colour, of whatever depth.
fn coloured(rendition: &str) -> bool {
    let numbers = rendition.split([';', ':']).filter_map(|n| n.parse::<u16>().ok());
    // 39 and 49 are the terminal's own.
    numbers.into_iter().any(|n| matches!(n, 30..=38 | 40..=48 | 90..=97 | 100..=107))
}

fn deep(rendition: &str) -> bool {
    ["38;5", "48;5", "38;2", "48;2", "38:", "48:"].iter().any(|code| rendition.contains(code))
}

/// Only ASCII, and no colours beyond the sixteen; gives the renditions that set a colour at all.
fn plain(env: &[(&str, &str)]) -> Vec<String> {
    let ended = session(env);
    let odd: Vec<u8> = ended.bytes.iter().copied().filter(|b| !b.is_ascii()).collect();
    assert!(odd.is_empty(), "not ASCII: {}", String::from_utf8_lossy(&odd));
    let renditions = renditions(&ended.bytes);
    let deep: Vec<&String> = renditions.iter().filter(|r| deep(r)).collect();
    assert!(deep.is_empty(), "colours that this terminal does not have: {deep:?}");
    renditions.into_iter().filter(|r| coloured(r)).collect()
}

#[test]
fn a_dumb_terminal_gets_ascii_and_no_colour() {
    assert_eq!(plain(&[("TERM", "dumb"), ("COLORTERM", "")]), [""; 0]);
}

#[test]
fn a_serial_terminal_gets_ascii_and_no_colour() {
    assert_eq!(plain(&[("TERM", "vt220"), ("COLORTERM", "")]), [""; 0]);
}

#[test]
fn a_locale_without_utf_8_gets_ascii() {
    plain(&[("LC_ALL", "C"), ("TERM", "xterm"), ("COLORTERM", "")]);
}

#[test]
fn the_linux_console_gets_ascii_and_its_sixteen_colours() {
    let coloured = plain(&[("TERM", "linux"), ("COLORTERM", "")]);
    assert!(!coloured.is_empty(), "no colour at all");
}

#[test]
fn who_wants_no_colour_gets_none() {
    let ended = session(&[("NO_COLOR", "1")]);
    let coloured: Vec<String> = renditions(&ended.bytes).into_iter().filter(|r| coloured(r)).collect();
    assert!(coloured.is_empty(), "{coloured:?}");
    assert!(String::from_utf8_lossy(&ended.bytes).contains('─'), "lines are no colours");
}

#[test]
fn a_good_terminal_gets_all_its_colours() {
    let ended = session(&[]);
    assert!(renditions(&ended.bytes).iter().any(|r| r.contains("38;2")), "no 24-bit colour at all");
}
