//! A session from its beginning to its verdict on the screen.

use shakedown::vocab::verdict::Decision;

use crate::pty::House;
use crate::{level, shaped};

#[test]
fn a_session_is_shown_to_its_verdict_and_the_verdict_stays() {
    let house = House::new();
    house.preset("healthy", &level(&[("steady-write", 2.0)]));
    let mut terminal = house.open(&["healthy"]);
    terminal.wait_for("healthy");
    terminal.wait_for("steady-write");
    terminal.wait_for("MEASURE");
    let braille = |text: &str| text.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c));
    terminal.wait("a chart", |screen| braille(&screen.contents()));
    terminal.wait_for("PASS");
    terminal.wait_for("rec closed");
    assert!(terminal.look(vt100::Screen::alternate_screen), "the screen is left before anybody has asked for it");
    terminal.send("q");
    let ended = terminal.ends_given_back(0);
    assert!(ended.contents.contains("VERDICT: PASS"), "{}", ended.contents);
    assert!(ended.contents.contains("session file:"), "{}", ended.contents);
    assert_eq!(house.wait_for_the_end(), Decision::Pass);
}

#[test]
fn a_device_that_collapses_is_said_so_live_and_fails() {
    let house = House::new();
    let run = shaped("sick-write", 8.0, "Collapse(after: \"150MB\", to: \"1 MB/s\")");
    let check = "( of: \"sick-write.mb_per_s\", at_least: Absolute(\"80 MB/s\"), decide: Point, why: \"as promised\" )";
    let preset = format!("( title: \"A sick device\", about: \"Collapses.\", runs: [{run}], checks: [{check}] )");
    house.preset("sick", &preset);
    let mut terminal = house.open(&["sick"]);
    terminal.wait_for("COLLAPSE");
    assert!(terminal.shows("MEASURE"), "the finding comes after the run:\n{}", terminal.contents());
    terminal.wait_for("FAIL");
    terminal.wait_for("rec closed");
    terminal.send("q");
    let ended = terminal.ends_given_back(1);
    assert!(ended.contents.contains("VERDICT: FAIL"), "{}", ended.contents);
    assert!(ended.contents.contains("COLLAPSE"), "{}", ended.contents);
    let bytes = String::from_utf8_lossy(&ended.bytes);
    let titles: Vec<&str> = bytes.split("\x1b]0;").skip(1).filter_map(|t| t.split('\x07').next()).collect();
    assert!(titles.iter().any(|t| t.contains("COLLAPSE")), "the window's title never says so: {titles:?}");
    assert!(titles.last().is_some_and(|t| t.ends_with(": FAIL")), "{titles:?}");
    assert_eq!(house.wait_for_the_end(), Decision::Fail);
}
