//! The last line: the keys that count here, from the key map, or a word of the screen's own.

use ratatui::layout::Rect;

use super::keymap::{Bound, Keys};
use super::keys::{Action, Place};
use super::look::Brush;
use super::page;
use super::pane::{Pane, Rows, View};
use super::screen::Dialog;
use super::touch::Touch;
use crate::view::format;
use crate::view::theme::Role;

pub(super) const PANE: Pane = Pane { rows: |_, _| Rows { least: 1, wish: 1, share: 0 }, draw };

fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let (screen, keys) = (view.screen, &view.screen.keys);
    let closed = (view.state.verdict.is_some() || screen.ended) && screen.place() == Place::Screen;
    let over = || format!("the session is over, {} leaves", keys.name(Place::Screen, Action::Leave));
    let said = screen.said.clone().or_else(|| screen.theme.clone()).or_else(|| closed.then(over));
    let typed = (screen.dialog == Dialog::Filter).then(|| format!("/{}_", screen.sight.filter));
    let word = |bound: &Bound| word(view, bound);
    bar((keys, screen.place()), word, typed.or(said).as_deref(), area, brush);
}

/// What a key does on this screen, in a word; none for one that does nothing now.
fn word(view: &View<'_>, bound: &Bound) -> Option<&'static str> {
    let screen = view.screen;
    let over = screen.is_over(view.state);
    match bound.action {
        // The screen that is open is left with the first key.
        Action::Show(home) if home == screen.home => None,
        Action::StopRun | Action::Note if over => None,
        Action::Freeze if !screen.live => Some(screen.replay.next(screen.ended)),
        action => page::can(screen.home, action).then_some(bound.brief),
    }
}

/// Paints the keys of a place with a word for each, and what is said at the right end.
pub(super) fn bar(
    (keys, place): (&Keys, Place),
    word: impl Fn(&Bound) -> Option<&'static str>,
    said: Option<&str>,
    area: Rect,
    brush: &mut Brush<'_>,
) {
    brush.ground(area, Role::GroundBar);
    let mut end = area.right().saturating_sub(1);
    if let Some(said) = said {
        end = brush.text_before(end, area.y, said, Role::Warn).saturating_sub(2);
    }
    let mut x = area.x + 1;
    for (name, bound) in keys.brief(place) {
        let Some(brief) = word(bound) else { continue };
        let columns = (format::width(name) + 1 + format::width(brief)) as u16;
        if x + columns > end {
            break;
        }
        brush.touch(Rect::new(x, area.y, columns, 1), Touch::Key(bound.action));
        x = brush.text((x, area.y), name, Role::Key, columns) + 1;
        x = brush.text((x, area.y), brief, Role::Text, columns) + 2;
    }
}
