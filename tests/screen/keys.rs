//! Every key of every screen, while a session goes on.

use std::path::Path;

use crate::level;
use crate::pty::House;

/// The key of each screen, and words that stand on no other.
const SCREENS: [(&str, &str); 6] = [
    ("f", "no findings: nothing"),
    ("v", "Verdict so far"),
    ("H", "NICs"),
    ("L", "follows the end"),
    ("i", "as read at the start"),
    ("C", "--reference NAME=FILE"),
];

/// Down, up, first, last, both pages, Home, End, Tab, open and close, bits, frozen and not, draw anew.
const MOVES: &str = "jkgG\u{1b}[6~\u{1b}[5~\u{1b}[H\u{1b}[F\u{1b}[A\u{1b}[B\teeb  \u{c}";

/// Too small, the smallest, wide, high, and back again.
const SIZES: [(u16, u16); 6] = [(20, 5), (59, 15), (60, 16), (300, 100), (80, 400), (80, 24)];

/// The text files in a directory.
fn pictures(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap().flatten().map(|e| e.path());
    let pictures = entries.filter(|path| path.extension().is_some_and(|e| e == "txt"));
    pictures.map(|path| path.display().to_string()).collect()
}

#[test]
fn every_key_of_every_screen_leaves_a_session_that_stops_cleanly() {
    let house = House::new();
    house.preset("long", &level(&[("first-one", 60.0)]));
    let mut terminal = house.open(&["long"]);
    terminal.wait_for("MEASURE");
    for (number, (key, words)) in SCREENS.into_iter().enumerate() {
        terminal.send(key);
        terminal.wait_for(words);
        terminal.send(MOVES);
        for size in SIZES {
            terminal.resize(size);
            terminal.send("jk");
        }
        terminal.wait_for(words);
        terminal.send("?");
        terminal.wait_for("this help");
        terminal.send("?");
        terminal.wait_until_gone("this help");
        terminal.send("/zzz\r");
        terminal.wait_for("those with \"zzz\"");
        terminal.send("\u{1b}");
        terminal.wait_until_gone("those with");
        terminal.send("s");
        terminal.wait_for("picture in");
        let names = pictures(&house.path("home"));
        assert_eq!(names.len(), number + 1, "{names:?}");
        terminal.send(key);
        terminal.wait_until_gone(words);
        terminal.wait_for("first-one");
    }
    // Those of the live screen that ask nothing.
    terminal.send("\tjk12+-0hlc\u{1b}[D\u{1b}[Cc\u{1b}[Fb  ");
    terminal.send("\u{3}");
    terminal.wait_for("rec closed");
    terminal.send("q");
    terminal.ends_given_back(2);
    house.wait_for_the_end();
}
