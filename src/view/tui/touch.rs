//! The mouse: what lies where on the screen, and what a click or the wheel there asks for.
//!
//! Whoever paints something that can be clicked says so with one line, `brush.touch(area, Touch::…)`, while it knows the area
//! anyway; what is painted over it later lies above it. Looking up is pure, and drawing changes nothing.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

use super::axis::Axis;
use super::keys::Action;
use super::screen::{Dialog, Effect, Screen};
use super::sight::Home;
use crate::analysis::state::State;

/// Lines that one step of the wheel scrolls.
const LINES: i8 = 3;
/// What stands for the key where there was none.
const NO_KEY: KeyEvent = KeyEvent::new(KeyCode::Null, KeyModifiers::NONE);

/// What can be touched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Touch {
    /// A run of the plan, by its place.
    Run(usize),
    /// A row of a list, by its place.
    Row(usize),
    /// A stretch of time whose first column this is.
    Time(u16, Axis),
    /// The name of a key that does this.
    Key(Action),
    /// Nothing, above whatever lies there.
    Nothing,
}

/// Everything that can be touched on a screen as it was drawn; what comes later lies above.
#[derive(Clone, Debug, Default)]
pub(super) struct Touches(Vec<(Rect, Touch)>);

impl Touches {
    pub(super) fn add(&mut self, area: Rect, touch: Touch) {
        self.0.push((area, touch));
    }

    /// What lies in a cell.
    pub(super) fn at(&self, mouse: Mouse) -> Touch {
        let cell = (mouse.column, mouse.row).into();
        self.0.iter().rev().find(|(area, _)| area.contains(cell)).map_or(Touch::Nothing, |(_, touch)| *touch)
    }
}

/// What is done with the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// The left button.
    Click,
    /// The wheel, away from oneself.
    Up,
    /// The wheel, towards oneself.
    Down,
}

/// What is done, and in which cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mouse {
    pub(super) does: Move,
    pub(super) column: u16,
    pub(super) row: u16,
}

impl Mouse {
    /// What of a terminal's report means something here.
    pub(super) fn of(event: MouseEvent) -> Option<Self> {
        let does = match event.kind {
            MouseEventKind::Down(MouseButton::Left) => Move::Click,
            MouseEventKind::ScrollUp => Move::Up,
            MouseEventKind::ScrollDown => Move::Down,
            _ => return None,
        };
        Some(Self { does, column: event.column, row: event.row })
    }
}

impl Screen {
    /// Takes what was done with the mouse to the screen as it was drawn; the state is only looked at.
    pub(super) fn touched(&mut self, mouse: Mouse, touches: &Touches, state: &State) -> Effect {
        let (touch, open) = (touches.at(mouse), self.dialog != Dialog::None);
        let action = match (mouse.does, touch) {
            (Move::Click, Touch::Key(action)) => action,
            (Move::Up, _) if open => Action::Scroll(-LINES),
            (Move::Down, _) if open => Action::Scroll(LINES),
            // What is open is to be answered first.
            _ if open => return Effect::None,
            (Move::Click, Touch::Run(run)) => {
                (self.chosen, self.until, self.cursor) = (Some(run), None, None);
                return Effect::None;
            }
            (Move::Click, Touch::Time(first, axis)) => {
                let column = usize::from(mouse.column.saturating_sub(first)).min(axis.columns.saturating_sub(1));
                self.cursor = Some(axis.moment(column));
                return Effect::None;
            }
            (Move::Click, Touch::Row(row)) if self.home != Home::Live && self.sight.at == Some(row) => Action::Expand,
            (Move::Click, Touch::Row(row)) => {
                self.sight.at = Some(row);
                return Effect::None;
            }
            (Move::Click, Touch::Nothing) => return Effect::None,
            (Move::Up, Touch::Time(..)) => Action::ZoomIn,
            (Move::Down, Touch::Time(..)) => Action::ZoomOut,
            (Move::Up, Touch::Run(_)) => Action::Previous,
            (Move::Down, Touch::Run(_)) => Action::Next,
            (Move::Up, _) => Action::Scroll(-LINES),
            (Move::Down, _) => Action::Scroll(LINES),
        };
        self.said = None;
        self.act(action, NO_KEY, state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::moment::Moment;

    const fn done(does: Move, column: u16, row: u16) -> Mouse {
        Mouse { does, column, row }
    }

    #[test]
    fn what_was_painted_last_lies_above() {
        let mut touches = Touches::default();
        touches.add(Rect::new(0, 0, 10, 4), Touch::Run(1));
        touches.add(Rect::new(2, 1, 3, 1), Touch::Nothing);
        assert_eq!(touches.at(done(Move::Click, 1, 1)), Touch::Run(1));
        assert_eq!(touches.at(done(Move::Click, 4, 1)), Touch::Nothing);
        assert_eq!(touches.at(done(Move::Click, 5, 1)), Touch::Run(1));
        assert_eq!(touches.at(done(Move::Click, 10, 1)), Touch::Nothing);
        assert_eq!(touches.at(done(Move::Click, u16::MAX, u16::MAX)), Touch::Nothing);
    }

    #[test]
    fn a_click_on_the_chart_sets_the_cursor_and_an_open_question_comes_first() {
        let mut touches = Touches::default();
        let axis = Axis { from: Moment(1_000), to: Moment(2_000), columns: 10 };
        touches.add(Rect::new(5, 0, 20, 4), Touch::Time(8, axis));
        let (mut screen, state) = (Screen::default(), State::default());
        for (column, at) in [(5, 1_000), (8, 1_000), (9, 1_100), (17, 1_900), (24, 1_900)] {
            assert_eq!(screen.touched(done(Move::Click, column, 1), &touches, &state), Effect::None);
            assert_eq!(screen.cursor, Some(Moment(at)), "column {column}");
        }
        (screen.cursor, screen.dialog) = (None, Dialog::Help);
        screen.touched(done(Move::Click, 9, 1), &touches, &state);
        assert_eq!(screen.cursor, None);
        touches.add(Rect::new(5, 0, 20, 4), Touch::Key(Action::Close));
        screen.touched(done(Move::Click, 9, 1), &touches, &state);
        assert_eq!(screen.dialog, Dialog::None);
    }
}
