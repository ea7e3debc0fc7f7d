//! Memory, pressure, and what the program itself takes: two lines of words.

use ratatui::layout::Rect;

use super::Shown;
use crate::view::format;
use crate::view::theme::Role;
use crate::view::tui::look::Brush;
use crate::view::tui::pane::{Pane, Rows, View};
use crate::vocab::unit::Unit;

pub(super) const PANE: Pane = Pane { rows: |_, _| Rows { least: 2, wish: 2, share: 0 }, draw };

fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let Some(shown) = Shown::of(view) else { return };
    let stale = shown.stale("memory/");
    let own = shown.host.latest("self/", "cpu").map(|share| format!("shakedown {} % CPU", format::number(share)));
    let role = if stale.is_some() { Role::Dim } else { Role::Text };
    let lines = [("memory", memory(&shown), stale), ("pressure", pressure(&shown), own)];
    for (y, (name, text, right)) in (area.y..area.bottom()).zip(lines) {
        let end = brush.text_before(area.right().saturating_sub(2), y, &right.unwrap_or_default(), Role::Dim);
        let x = brush.text((area.x + 1, y), &format::left(name, 9), Role::Title, area.width);
        brush.text((x, y), &text, role, end.saturating_sub(x + 1));
    }
}

fn memory(shown: &Shown<'_>) -> String {
    let bytes = |value| format::quantity(value, Unit::Bytes);
    let raw = |field| shown.host.raw("memory/", field);
    let row = |name| shown.host.latest("memory/", name);
    let mut parts = Vec::new();
    match (raw("available"), raw("total")) {
        (Some(available), Some(total)) => {
            let (available, total) = format::pair(available, total, Unit::Bytes);
            parts.push(format!("{available} of {total} free"));
        }
        (Some(available), None) => parts.push(format!("{} free", bytes(available))),
        (None, _) => parts.push("no data".to_owned()),
    }
    if let Some(dirty) = raw("dirty") {
        let share = row("dirty of limit").map_or_else(String::new, |p| format!(" ({} % of limit)", format::number(p)));
        parts.push(format!("dirty {}{share}", bytes(dirty)));
    }
    parts.extend(
        row("swap").filter(|s| *s > 0.0).map(|s| format!("swap {}", format::quantity(s, Unit::MegabytesPerSecond))),
    );
    parts.extend(raw("writeback").filter(|w| *w > 0.0).map(|w| format!("writeback {}", bytes(w))));
    parts.join("  ")
}

/// Shares of the time in which something (some) and everything (full) was held up.
fn pressure(shown: &Shown<'_>) -> String {
    let mut parts = Vec::new();
    for (resource, called) in [("cpu", "cpu"), ("memory", "mem"), ("io", "io")] {
        let row = |name| shown.host.latest(&format!("pressure/{resource}"), name).map(format::number);
        let full = row("full").map_or_else(String::new, |full| format!("/{full}"));
        parts.extend(row("some").map(|some| format!("{called} {some}{full}")));
    }
    if parts.is_empty() { "not counted by this kernel".to_owned() } else { parts.join("  ") + " % some/full" }
}
