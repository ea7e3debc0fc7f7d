//! The host screen.

use super::super::sight::{Home, Section};
use super::machine::Machine;
use super::screens::{SMALL, snapshot};
use super::*;
use crate::vocab::event::{Event, Record};
use crate::vocab::moment::Moment;
use crate::vocab::name::NodeName;

fn opened(state: State, theme: &str, glyphs: Glyphs) -> Live {
    let mut live = live(state, theme, glyphs);
    press(&mut live, KeyCode::Char('H'));
    live
}

fn press(live: &mut Live, code: KeyCode) {
    live.press(key(code), SMALL);
}

fn small() -> State {
    let mut machine = Machine::of_size(2, 2, 1);
    machine.gauge("clock", "0", "mhz", 2_400.0);
    machine.gauge("clock", "1", "mhz", 1_900.0);
    machine.pass(8).state
}

fn large() -> Machine {
    let mut machine = Machine::of_size(480, 107, 49).pass(4);
    machine.stop("cpu", "17");
    machine.stop("cpu", "18");
    machine.pass(6)
}

#[test]
fn machines_of_every_size() {
    for (name, state) in [("host-2-cpus", small()), ("host-480-cpus", large().state)] {
        for size in [SMALL, (120, 40)] {
            let mut live = opened(state.clone(), "default", Glyphs::Braille);
            let shown = text(&drawn(&mut live, size));
            snapshot(&format!("{name}-{}x{}", size.0, size.1), &shown);
        }
        let mut live = opened(state.clone(), "default", Glyphs::Braille);
        let buffer = drawn(&mut live, SMALL);
        let roles = roles(&buffer, &live.look);
        assert!(!roles.contains('?'), "{name}: a style that no role has\n{roles}");
        snapshot(&format!("{name}-roles"), &roles);
        let shown = text(&drawn(&mut opened(state, "mono", Glyphs::Ascii), SMALL));
        assert!(shown.is_ascii(), "{name}\n{shown}");
        snapshot(&format!("{name}-ascii"), &shown);
    }
}

#[test]
fn what_is_old_is_dimmed_and_says_how_old() {
    let state = Machine::of_size(2, 2, 1).pass(8).hang(5).state;
    let mut live = opened(state, "default", Glyphs::Braille);
    let buffer = drawn(&mut live, SMALL);
    let shown = text(&buffer);
    assert!(shown.matches("5 s old").count() >= 4, "{shown}");
    snapshot("host-stale", &shown);
    snapshot("host-stale-roles", &roles(&buffer, &live.look));
    let fresh = Machine::of_size(2, 2, 1).pass(8).hang(3).state;
    assert!(!text(&drawn(&mut opened(fresh, "default", Glyphs::Braille), SMALL)).contains("old"));
}

#[test]
fn everything_is_counted_in_words() {
    let shown = text(&drawn(&mut opened(large().state, "default", Glyphs::Braille), SMALL));
    for words in [
        "480 CPUs, 2 offline",
        "busy: min 0, median 40, max 100 %",
        "102 idle",
        "45 idle",
        "total 107",
        "shakedown 0.42 %",
    ] {
        assert!(shown.contains(words), "{words} is not in\n{shown}");
    }
}

#[test]
fn a_section_gets_the_room_and_scrolls_to_its_end_and_no_further() {
    let mut live = opened(large().state, "default", Glyphs::Braille);
    press(&mut live, KeyCode::Tab);
    let shown = text(&drawn(&mut live, SMALL));
    assert!(!shown.contains("CPUs a cell") && shown.contains(" 420 "), "every CPU has its cell\n{shown}");
    press(&mut live, KeyCode::Tab);
    assert_eq!(live.screen.sight.section, Some(Section::Disks));
    snapshot("host-disks", &text(&drawn(&mut live, SMALL)));
    for _ in 0..30 {
        press(&mut live, KeyCode::PageDown);
    }
    let shown = text(&drawn(&mut live, SMALL));
    assert!(shown.contains("+sdz ") && shown.matches("more below").count() == 1, "{shown}");
    let end = live.screen.sight.clone();
    press(&mut live, KeyCode::Char('j'));
    assert_eq!(live.screen.sight, end);
    press(&mut live, KeyCode::Char('k'));
    assert_ne!(live.screen.sight, end);
}

#[test]
fn thousands_of_cpus_are_scrolled_through() {
    let mut live = opened(Machine::of_size(4_096, 1, 1).pass(3).state, "default", Glyphs::Braille);
    assert!(text(&drawn(&mut live, SMALL)).contains(" 20 CPUs a cell "));
    press(&mut live, KeyCode::Tab);
    let shown = text(&drawn(&mut live, SMALL));
    assert!(shown.contains(" 51 more below "), "{shown}");
    press(&mut live, KeyCode::PageDown);
    assert!(text(&drawn(&mut live, SMALL)).contains(" 41 more below "));
}

#[test]
fn the_screen_opens_and_closes_and_keeps_everything_else() {
    let mut live = opened(small(), "default", Glyphs::Braille);
    for close in [KeyCode::Esc, KeyCode::Char('H')] {
        assert!(text(&drawn(&mut live, SMALL)).contains("2 CPUs"));
        press(&mut live, close);
        assert!(!text(&drawn(&mut live, SMALL)).contains("2 CPUs"));
        press(&mut live, KeyCode::Char('H'));
    }
    press(&mut live, KeyCode::Char('?'));
    let help = text(&drawn(&mut live, SMALL));
    assert!(help.contains("give the room to the CPUs"), "{help}");
    press(&mut live, KeyCode::Esc);
    assert_eq!(live.screen.home, Home::Host, "closing the help leaves the screen below open");
}

#[test]
fn no_size_and_no_machine_fails() {
    let machines = [
        State::default(),
        small(),
        large().state,
        Machine::of_size(17, 0, 0).pass(2).state,
        Machine::of_size(4_096, 1, 1).pass(2).state,
    ];
    for state in machines {
        for glyphs in [Glyphs::Braille, Glyphs::Ascii] {
            let mut live = opened(state.clone(), "default", glyphs);
            for _ in 0..4 {
                for columns in (60..130).step_by(9) {
                    for rows in (16..45).step_by(4) {
                        drawn(&mut live, (columns, rows));
                    }
                }
                press(&mut live, KeyCode::Tab);
                press(&mut live, KeyCode::PageDown);
            }
        }
    }
}

#[test]
fn the_rows_below_the_chart_say_how_old_they_are() {
    let mut state = story::running("node07").state();
    let silent = Moment(state.now.0 + 7_000_000);
    let shown = text(&drawn(&mut live(state.clone(), "default", Glyphs::Braille), SMALL));
    assert!(!shown.contains(" old"), "{shown}");
    state.apply(&Record { seq: state.seq + 1, at: silent, node: NodeName::default(), event: Event::Tick });
    let shown = text(&drawn(&mut live(state, "default", Glyphs::Braille), SMALL));
    assert!(shown.contains("7 s old"), "{shown}");
}
