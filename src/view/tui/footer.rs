//! The last line: the keys that count here, from the key map, or a word of the screen's own.

use ratatui::layout::Rect;

use super::keys::{self, Place};
use super::look::Brush;
use super::pane::{Pane, Rows, View};
use super::screen::Dialog;
use crate::view::format;
use crate::view::theme::Role;

pub(super) const PANE: Pane = Pane { rows: |_, _| Rows { least: 1, wish: 1, share: 0 }, draw };

fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let closed = view.state.verdict.is_some() || view.screen.ended;
    let said = view.screen.said.as_deref();
    let said = said.or((closed && view.screen.place() == Place::Screen).then_some("the session is over, q leaves"));
    let typed = format!("/{}_", view.screen.sight.filter);
    let typed = (view.screen.dialog == Dialog::Filter).then_some(typed.as_str());
    bar(view.screen.place(), typed.or(said), area, brush);
}

/// Paints the keys of a place, and what is said at the right end.
pub(super) fn bar(place: Place, said: Option<&str>, area: Rect, brush: &mut Brush<'_>) {
    brush.ground(area, Role::GroundBar);
    let mut end = area.right().saturating_sub(1);
    if let Some(said) = said {
        end = brush.text_before(end, area.y, said, Role::Warn).saturating_sub(2);
    }
    let mut x = area.x + 1;
    for (name, brief) in keys::brief(place) {
        let columns = (format::width(name) + 1 + format::width(brief)) as u16;
        if x + columns > end {
            break;
        }
        x = brush.text((x, area.y), name, Role::Key, columns) + 1;
        x = brush.text((x, area.y), brief, Role::Text, columns) + 2;
    }
}
