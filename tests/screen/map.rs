//! The user's own key map and themes.

use crate::level;
use crate::pty::House;

fn house(keys: &str) -> House {
    let house = House::new();
    house.preset("long", &level(&[("long-one", 60.0)]));
    std::fs::write(house.path("config/shakedown/keys.ron"), keys).unwrap();
    house
}

#[test]
fn a_key_of_ones_own_does_what_it_says_and_so_do_help_and_footer() {
    let house = house("{ \"Screen\": { \"F5\": \"Freeze\", \"Space\": \"None\" } } // my own");
    let mut terminal = house.open(&["long"]);
    terminal.wait_for("MEASURE");
    terminal.wait_for("F5 freeze");
    terminal.send("?");
    terminal.wait_for("F5         freeze the view");
    terminal.send("\u{1b}");
    terminal.wait_until_gone("this help");
    terminal.send(" \u{1b}[15~");
    terminal.wait_for("FROZEN");
    terminal.send("\u{1b}[15~");
    terminal.wait_until_gone("FROZEN");
    terminal.send("p");
    terminal.wait_for("theme gruvbox");
    terminal.send("P");
    terminal.wait_for("theme default");
    terminal.send("\u{3}");
    terminal.wait_for("rec closed");
    terminal.send("q");
    terminal.ends_given_back(2);
}

#[test]
fn a_map_with_a_mistake_is_one_line_and_no_screen() {
    let house = house("{\n  \"Screen\": { \"F5\": \"Frieze\" },\n}");
    for arguments in [&["long"][..], &[], &["keys"]] {
        let ended = house.open(arguments).ends_given_back(3);
        let text = String::from_utf8_lossy(&ended.bytes).into_owned();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.contains("keys.ron:2:22: `Frieze` is no action of Screen") && !text.contains('\u{1b}'),
            "{text:?}"
        );
    }
    assert!(house.sessions().is_empty(), "a session was begun all the same");
    let output = house.run(&["keys"]);
    assert_eq!(output.status.code(), Some(3));
}
