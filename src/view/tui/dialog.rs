//! What lies above the screen: the help, a question, the line of a remark.

use ratatui::layout::Rect;

use super::keymap::{Bound, Keys};
use super::keys::Place;
use super::look::Brush;
use super::pane::View;
use super::screen::Dialog;
use super::touch::Touch;
use crate::view::format;
use crate::view::theme::Role;

/// Columns of the names of keys in the help.
const NAMES: u16 = 12;

/// Paints what is open, if anything is.
pub(super) fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let keys = &view.screen.keys;
    match &view.screen.dialog {
        Dialog::None => {}
        Dialog::Help => help(area, (keys, view.screen.home(), view.screen.scrolled), brush),
        Dialog::Leave => {
            question(area, ("Leave?", &["The session can go on without this screen."]), (keys, Place::Leave), brush);
        }
        Dialog::StopRun => {
            let name = view.state.running().next().map_or_else(String::new, |r| r.name.to_string());
            let text = format!("Stop {name}? It will be NOT PROVEN; the next run follows.");
            question(area, ("Stop the run?", &[&text]), (keys, Place::Ask), brush);
        }
        Dialog::Note(text) => note(area, text, brush),
    }
}

fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height)
}

fn open(area: Rect, size: (u16, u16), title: &str, brush: &mut Brush<'_>) -> Rect {
    let place = centred(area, size.0, size.1);
    brush.clear(place);
    brush.frame(place, Role::FrameFocus, (title, ""))
}

fn help(area: Rect, (keys, place, scrolled): (&Keys, Place, usize), brush: &mut Brush<'_>) {
    let all: Vec<&Bound> = keys.of(place).collect();
    let inner = open(area, (78, all.len() as u16 + 2), "Keys", brush);
    let fit = usize::from(inner.height);
    let skipped = scrolled.min(all.len().saturating_sub(fit));
    for (y, key) in (inner.y..inner.bottom()).zip(all.iter().skip(skipped)) {
        brush.text((inner.x + 1, y), &format::left(&key.name, usize::from(NAMES)), Role::Key, NAMES);
        let columns = inner.width.saturating_sub(NAMES + 3);
        brush.text((inner.x + 2 + NAMES, y), key.does, Role::Text, columns);
    }
    if all.len() > fit && inner.height > 0 {
        let text = format!(" {} to {} of {} ", skipped + 1, skipped + fit, all.len());
        brush.text_before(inner.right().saturating_sub(1), inner.bottom(), &text, Role::Dim);
    }
}

/// A question with its title and lines, and the keys that answer it.
pub(super) fn question(
    area: Rect,
    (title, lines): (&str, &[&str]),
    (keys, place): (&Keys, Place),
    brush: &mut Brush<'_>,
) {
    let columns = usize::from(area.width.saturating_sub(8)).min(92);
    let text: Vec<String> = lines.iter().flat_map(|l| format::wrap(l, columns)).collect();
    let answers = || keys.of(place).filter(|b| !b.is_control());
    let widest = text.iter().map(|l| format::width(l)).chain(answers().map(|b| NAMES as usize + b.does.len())).max();
    let width = widest.unwrap_or(0).max(format::width(title) + 4) as u16 + 4;
    let height = (text.len() + answers().count()) as u16 + 3;
    let inner = open(area, (width, height), title, brush);
    let answers_from = inner.bottom().saturating_sub(answers().count() as u16);
    for (y, line) in (inner.y..answers_from.saturating_sub(1)).zip(&text) {
        brush.text((inner.x + 1, y), line, Role::Text, inner.width.saturating_sub(2));
    }
    for (y, bound) in (answers_from..inner.bottom()).zip(answers()) {
        let end = brush.text((inner.x + 1, y), bound.first(), Role::Key, NAMES);
        let x = end.max(inner.x + 6) + 1;
        let end = brush.text((x, y), bound.does, Role::Text, inner.right().saturating_sub(x));
        brush.touch(Rect::new(inner.x + 1, y, end.saturating_sub(inner.x + 1), 1), Touch::Key(bound.action));
    }
}

fn note(area: Rect, text: &str, brush: &mut Brush<'_>) {
    let inner = open(area, (70, 3), "Remark", brush);
    let columns = usize::from(inner.width.saturating_sub(3));
    // The end of a long remark is what is being typed.
    let hidden = text.chars().count().saturating_sub(columns);
    let mut shown: String = text.chars().skip(hidden).collect();
    while format::width(&shown) > columns {
        shown.remove(0);
    }
    let x = brush.text((inner.x + 1, inner.y), &shown, Role::Strong, columns as u16);
    brush.text((x, inner.y), "_", Role::Cursor, 1);
}
