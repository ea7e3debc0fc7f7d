//! The last line: the keys that count here, from the key map, or a word of the screen's own.

use ratatui::layout::Rect;

use super::keymap::Keys;
use super::keys::{Action, Place};
use super::look::Brush;
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
    bar(keys, screen.place(), typed.or(said).as_deref(), area, brush);
}

/// Paints the keys of a place, and what is said at the right end.
pub(super) fn bar(keys: &Keys, place: Place, said: Option<&str>, area: Rect, brush: &mut Brush<'_>) {
    brush.ground(area, Role::GroundBar);
    let mut end = area.right().saturating_sub(1);
    if let Some(said) = said {
        end = brush.text_before(end, area.y, said, Role::Warn).saturating_sub(2);
    }
    let mut x = area.x + 1;
    for (name, bound) in keys.brief(place) {
        let brief = bound.brief;
        let columns = (format::width(name) + 1 + format::width(brief)) as u16;
        if x + columns > end {
            break;
        }
        brush.touch(Rect::new(x, area.y, columns, 1), Touch::Key(bound.action));
        x = brush.text((x, area.y), name, Role::Key, columns) + 1;
        x = brush.text((x, area.y), brief, Role::Text, columns) + 2;
    }
}
