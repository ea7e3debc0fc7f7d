//! What lies above the screen: the help, a question, the line of a remark.

use ratatui::layout::Rect;

use super::keys::{self, KEYS, Key, Place};
use super::look::Brush;
use super::pane::View;
use super::screen::Dialog;
use crate::view::format;
use crate::view::theme::Role;

/// Columns of the names of keys in the help.
const NAMES: u16 = 11;

/// Paints what is open, if anything is.
pub(super) fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    match &view.screen.dialog {
        // What is typed for a filter stands in the footer.
        Dialog::None | Dialog::Filter => {}
        Dialog::Help => help(area, view.screen.home(), brush),
        Dialog::Leave => question(area, "Leave?", &["The session can go on without this screen."], Place::Leave, brush),
        Dialog::StopRun => {
            // Runs that go on at the same time are stopped at the same time.
            let names: Vec<&str> = view.state.running().map(|r| &*r.name.0).collect();
            let what = if names.len() > 1 { "They" } else { "It" };
            let text = format!("Stop {}? {what} will be NOT PROVEN; the next run follows.", names.join(", "));
            question(area, "Stop the run?", &[&text], Place::Ask, brush);
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

/// The keys of a place: those that need their words a line each, then those that are soon told, two beside each other.
fn help(area: Rect, place: Place, brush: &mut Brush<'_>) {
    let width = area.width.saturating_sub(2).min(150);
    let half = width.saturating_sub(4) / 2;
    let (short, long): (Vec<&Key>, Vec<&Key>) =
        keys::of(place).partition(|key| NAMES + (format::width(key.does) as u16) < half);
    let lines: Vec<&[&Key]> = long.chunks(1).chain(short.chunks(2)).collect();
    let inner = open(area, (width, lines.len() as u16 + 2), "Keys", brush);
    for (y, line) in (inner.y..inner.bottom()).zip(&lines) {
        for (x, key) in [inner.x + 1, inner.x + 1 + half].into_iter().zip(line.iter()) {
            let room = inner.right().saturating_sub(x + NAMES);
            brush.text((x, y), key.name, Role::Key, NAMES);
            brush.text((x + NAMES, y), key.does, Role::Text, room);
        }
    }
    let hidden = lines.len().saturating_sub(usize::from(inner.height));
    if hidden > 0 && inner.height > 0 {
        let text = format!(" {hidden} more lines on a higher window ");
        brush.text_before(inner.right(), inner.bottom(), &text, Role::Warn);
    }
}

/// A question with the keys that answer it.
pub(super) fn question(area: Rect, title: &str, lines: &[&str], place: Place, brush: &mut Brush<'_>) {
    let columns = usize::from(area.width.saturating_sub(8)).min(92);
    let text: Vec<String> = lines.iter().flat_map(|l| format::wrap(l, columns)).collect();
    let answers = || KEYS.iter().filter(|k| k.place == place && !k.control);
    let widest = text.iter().map(|l| format::width(l)).chain(answers().map(|k| NAMES as usize + k.does.len())).max();
    let width = widest.unwrap_or(0).max(format::width(title) + 4) as u16 + 4;
    let height = (text.len() + answers().count()) as u16 + 3;
    let inner = open(area, (width, height), title, brush);
    let answers_from = inner.bottom().saturating_sub(answers().count() as u16);
    for (y, line) in (inner.y..answers_from.saturating_sub(1)).zip(&text) {
        brush.text((inner.x + 1, y), line, Role::Text, inner.width.saturating_sub(2));
    }
    for (y, key) in (answers_from..inner.bottom()).zip(answers()) {
        let end = brush.text((inner.x + 1, y), key.name.split(' ').next().unwrap_or(key.name), Role::Key, NAMES);
        let x = end.max(inner.x + 6) + 1;
        brush.text((x, y), key.does, Role::Text, inner.right().saturating_sub(x));
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
