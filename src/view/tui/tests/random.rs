//! Whatever is pressed, clicked and resized, in whatever order: nothing panics, what is chosen is there, and Esc leads back.

use proptest::prelude::*;

use super::super::screen::Dialog;
use super::super::sight::Home;
use super::super::touch::{Mouse, Move};
use super::*;
use crate::view::tui::keys::KEYS;

/// From nothing at all to more than anybody has.
const SIZES: [(u16, u16); 8] = [(0, 0), (1, 1), (59, 15), (60, 16), (80, 24), (120, 40), (300, 100), (80, 1000)];

#[derive(Clone, Debug)]
enum Input {
    Key(KeyEvent),
    Mouse(Mouse),
    Size((u16, u16)),
}

fn input() -> impl Strategy<Value = Input> {
    let bound: Vec<KeyEvent> = KEYS
        .iter()
        .flat_map(|key| {
            let control = if key.control { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
            key.codes.iter().map(move |code| KeyEvent::new(*code, control))
        })
        .collect();
    let moves = prop::sample::select(vec![Move::Click, Move::Up, Move::Down]);
    prop_oneof![
        6 => prop::sample::select(bound).prop_map(Input::Key),
        1 => any::<char>().prop_map(|c| Input::Key(key(KeyCode::Char(c)))),
        4 => (moves, 0_u16..130, 0_u16..45).prop_map(|(does, column, row)| Input::Mouse(Mouse { does, column, row })),
        1 => prop::sample::select(SIZES.to_vec()).prop_map(Input::Size),
    ]
}

/// A state of any moment of a session, or of none.
fn state(which: usize) -> State {
    match which {
        0 => State::default(),
        1 => story::opened("node07").state(),
        2 => story::running("node07").state(),
        3 => story::collapsed("node07").state(),
        _ => story::ended("node07").state(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_done_breaks_a_screen(
        moments in (0_usize..5, 0_usize..5),
        is_live: bool,
        inputs in prop::collection::vec(input(), 1..30),
    ) {
        let mut live = live(state(moments.0), "default", Glyphs::Braille);
        live.screen.live = is_live;
        let mut size = (80, 24);
        drawn(&mut live, size);
        for (number, input) in inputs.iter().enumerate() {
            // Meanwhile the session goes on, or a replay leaps.
            if number == inputs.len() / 2 {
                live.state = state(moments.1);
            }
            match input {
                Input::Key(key) => drop(live.press(*key, size)),
                Input::Mouse(mouse) => drop(live.touch(*mouse, size)),
                Input::Size(new) => size = *new,
            }
            drawn(&mut live, size);
            let shown = live.screen.shown(&live.state);
            prop_assert_eq!(live.screen.run(shown).is_some(), !shown.runs.is_empty());
        }
        // An entry, a filter, a dialog and a screen are closed with a key each.
        (0..5).for_each(|_| drop(live.press(key(KeyCode::Esc), size)));
        prop_assert_eq!((&live.screen.dialog, live.screen.home), (&Dialog::None, Home::Live));
    }
}
