//! A session that is over, shown again.

use shakedown::vocab::line;
use shakedown::vocab::moment::Moment;

use crate::level;
use crate::pty::House;

/// A house with one finished session, kept without a screen.
fn finished() -> (House, String) {
    let house = House::new();
    house.preset("healthy", &level(&[("steady-write", 1.0)]));
    let output = house.run(&["run", "healthy", "--headless"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let file = house.sessions()[0].display().to_string();
    (house, file)
}

#[test]
fn a_finished_session_is_shown_with_its_figures_and_left_at_once() {
    let (house, file) = finished();
    let mut terminal = house.open(&["watch", &file]);
    terminal.wait_for("replay");
    terminal.wait_for("PASS");
    terminal.wait_for("steady-write");
    terminal.wait("the figure", |s| s.contents().lines().any(|l| l.contains("100 MB/s") || l.contains("99.")));
    terminal.send("q");
    let ended = terminal.ends_given_back(0);
    assert!(ended.contents.contains("VERDICT: PASS"), "{}", ended.contents);
}

#[test]
fn a_finished_session_is_played_many_times_as_fast() {
    let (house, file) = finished();
    let slow: String = house
        .records()
        .into_iter()
        .map(|mut record| {
            record.at = Moment(record.at.0 * 50);
            line::encode(&record).unwrap()
        })
        .collect();
    let slow_file = house.path("slow.jsonl");
    std::fs::write(&slow_file, slow).unwrap();
    std::fs::remove_file(file).unwrap();
    let mut terminal = house.open(&["watch", &slow_file.display().to_string(), "--speed", "50"]);
    terminal.wait_for("MEASURE");
    assert!(!terminal.shows("PASS"), "shown all at once:\n{}", terminal.contents());
    terminal.wait_for("PASS");
    terminal.send("q");
    terminal.ends_given_back(0);
}

#[test]
fn a_replay_is_left_in_its_middle() {
    let (house, file) = finished();
    let mut terminal = house.open(&["watch", &file, "--speed", "0.1"]);
    terminal.wait_for("MEASURE");
    terminal.send("q");
    let ended = terminal.ends_given_back(0);
    assert!(!ended.contents.contains("VERDICT"), "{}", ended.contents);
}

#[test]
fn a_replay_is_played_paused_and_ended_by_keys() {
    let (house, file) = finished();
    let mut terminal = house.open(&["watch", &file]);
    terminal.wait_for("the session is over");
    terminal.send("<< ");
    terminal.wait_for("replay 0.25x of 00:");
    terminal.wait("the session as it was", |s| !s.contents().contains("the session is over"));
    terminal.send(" ");
    terminal.wait_for("replay PAUSED");
    terminal.send(" ");
    terminal.wait_for("replay 0.25x");
    terminal.send("\u{1b}[F");
    terminal.wait_for("the session is over");
    terminal.send("q");
    let ended = terminal.ends_given_back(0);
    assert!(ended.contents.contains("VERDICT: PASS"), "{}", ended.contents);
}

#[test]
fn a_session_that_does_not_exist_is_one_line_and_no_screen() {
    let house = House::new();
    let ended = house.open(&["watch", "nobody"]).ends_given_back(3);
    let text = String::from_utf8_lossy(&ended.bytes).into_owned();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("there is no session `nobody`") && !text.contains('\u{1b}'), "{text:?}");
}
