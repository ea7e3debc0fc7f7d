//! What lies above the screen: the help, a question, the line of a remark.

use ratatui::layout::Rect;

use super::keymap::{Bound, Keys};
use super::keys::Place;
use super::look::Brush;
use super::page;
use super::pane::View;
use super::screen::Dialog;
use super::touch::Touch;
use crate::view::format;
use crate::view::theme::Role;

/// Columns of the names of keys in the help.
const NAMES: u16 = 11;

/// Paints what is open, if anything is.
pub(super) fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let keys = &view.screen.keys;
    match &view.screen.dialog {
        // What is typed for a filter stands in the footer.
        Dialog::None | Dialog::Filter => {}
        Dialog::Help => help(view, area, brush),
        Dialog::Leave => {
            question(area, ("Leave?", &["The session can go on without this screen."]), (keys, Place::Leave), brush);
        }
        Dialog::StopRun => {
            // Runs that go on at the same time are stopped at the same time.
            let names: Vec<&str> = view.state.running().map(|r| &*r.name.0).collect();
            let what = if names.len() > 1 { "They" } else { "It" };
            let text = format!("Stop {}? {what} will be NOT PROVEN; the next run follows.", names.join(", "));
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

/// Columns of the help, and of the half of it.
fn help_columns(width: u16) -> (u16, u16) {
    let width = width.saturating_sub(2).min(150);
    (width, width.saturating_sub(4) / 2)
}

fn help_lines<'a>(view: &View<'a>, half: u16) -> Vec<Vec<&'a Bound>> {
    let (keys, home) = (&view.screen.keys, view.screen.home);
    let here = keys.of(view.screen.home()).filter(|key| page::can(home, key.action));
    let (short, long): (Vec<&Bound>, Vec<&Bound>) =
        here.partition(|key| NAMES + (format::width(key.does) as u16) < half);
    long.chunks(1).chain(short.chunks(2)).map(<[&Bound]>::to_vec).collect()
}

/// How many lines of the help can be scrolled away on a screen of this size.
pub(super) fn help_reach(view: &View<'_>, (width, height): (u16, u16)) -> usize {
    help_lines(view, help_columns(width).1).len().saturating_sub(usize::from(height.saturating_sub(2)))
}

/// The keys of a place: those that need their words a line each, then those that are soon told, two beside each other.
fn help(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let (width, half) = help_columns(area.width);
    let lines = help_lines(view, half);
    let inner = open(area, (width, lines.len() as u16 + 2), "Keys", brush);
    let fit = usize::from(inner.height);
    let skipped = view.screen.scrolled.min(lines.len().saturating_sub(fit));
    for (y, line) in (inner.y..inner.bottom()).zip(lines.iter().skip(skipped)) {
        for (x, key) in [inner.x + 1, inner.x + 1 + half].into_iter().zip(line.iter()) {
            let room = inner.right().saturating_sub(x + NAMES);
            brush.text((x, y), &key.name, Role::Key, NAMES);
            brush.text((x + NAMES, y), key.does, Role::Text, room);
        }
    }
    if lines.len() > fit && inner.height > 0 {
        let text = format!(" {} to {} of {} ", skipped + 1, skipped + fit, lines.len());
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
