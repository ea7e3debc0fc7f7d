//! A table of devices: the total first, then the busy ones in the order of the fold, the idle ones folded into a number.

use ratatui::layout::Rect;

use super::history::{self, Past};
use super::{Section, Shown};
use crate::view::format;
use crate::view::theme::Role;
use crate::view::tui::look::Brush;
use crate::view::tui::pane::Rows;

/// Columns of the age behind a line.
const AGE: u16 = 8;

/// A column: its head, how wide it is, and the text of a device (key and name) in it.
#[derive(Clone, Copy)]
pub(super) struct Column {
    pub(super) head: &'static str,
    pub(super) width: u16,
    pub(super) text: fn(&Shown<'_>, (&str, &str)) -> Option<String>,
}

/// What is in a table.
pub(super) struct Table {
    pub(super) section: Section,
    pub(super) source: &'static str,
    pub(super) title: &'static str,
    /// Columns of the names.
    pub(super) names: u16,
    /// From left to right; the last ones are left out where they have no room.
    pub(super) columns: &'static [Column],
    /// The rows of a device whose last minutes are shown where the lines leave room.
    pub(super) past: &'static [&'static str],
}

impl Table {
    /// The devices that have a line, and how many are idle and gone.
    fn devices<'a>(&self, shown: &Shown<'a>) -> (Vec<&'a str>, usize, usize) {
        let order = shown.host.by_activity(self.source);
        let listed = order.iter().map(String::as_str).filter(|name| shown.sight.lists(name));
        let (busy, idle): (Vec<&str>, Vec<&str>) =
            listed.partition(|name| shown.host.activity(self.source, name) > 0.0);
        let gone = shown.host.of_source(self.source).filter(|(_, d)| d.gone.is_some()).count();
        let folded = idle.len();
        // With the room for itself it shows them all.
        if shown.is_wide(self.section) || !shown.sight.filter.is_empty() {
            ([busy, idle].concat(), folded, gone)
        } else {
            (busy, folded, gone)
        }
    }

    /// How high it wants to be.
    pub(super) fn rows(&self, shown: Option<&Shown<'_>>, height: u16) -> Rows {
        let Some(shown) = shown else { return Rows { least: 3, wish: 3, share: 1 } };
        let lines = self.devices(shown).0.len().min(1_000) as u16;
        match shown.sight.section {
            Some(section) if section == self.section => {
                Rows { least: 8, wish: (4 + lines).clamp(8, height.max(8)), share: 8 }
            }
            // Its head and its total.
            Some(_) => Rows { least: 4, wish: 4, share: 0 },
            None => Rows { least: 5, wish: (4 + lines).clamp(5, (height / 4 + 1).max(5)), share: 1 },
        }
    }

    /// Paints it.
    pub(super) fn draw(&self, shown: Option<&Shown<'_>>, area: Rect, brush: &mut Brush<'_>) {
        let Some(shown) = shown else {
            brush.frame(area, Role::Frame, (self.title, ""));
            return;
        };
        let (devices, idle, gone) = self.devices(shown);
        let leaves = shown.host.total_of(self.source);
        let filter = &shown.sight.filter;
        let mut right = if filter.is_empty() { vec![] } else { vec![format!("those with \"{filter}\"")] };
        right.push(format!("{idle} idle"));
        right.extend((gone > 0).then(|| format!("{gone} gone")));
        right.push("+ in the total".to_owned());
        let inner = brush.frame(area, shown.frame(self.section), (self.title, &right.join(", ")));
        self.line(inner, inner.y, ("", |c: &Column| Some(c.head.to_owned())), Role::Dim, brush);
        // Read at another moment, the sum of one device would differ from that device.
        let total = match &leaves[..] {
            [only] => format!("{}/{only}", self.source),
            _ => format!("{}/*", self.source),
        };
        if shown.host.devices.contains_key(&total) {
            self.device(shown, (inner, inner.y + 1), (&format!("total {}", leaves.len()), &total, "*"), brush);
        }
        let lines = usize::from(inner.height.saturating_sub(2));
        let skipped = shown.skipped(self.section, (devices.len(), lines));
        for (y, name) in (inner.y + 2..inner.bottom()).zip(devices.iter().skip(skipped)) {
            let key = format!("{}/{name}", self.source);
            let mark = if leaves.binary_search(name).is_ok() { "+" } else { " " };
            self.device(shown, (inner, y), (&format!("{mark}{name}"), &key, name), brush);
        }
        self.past(shown, &devices, inner, brush);
        let hidden = devices.len().saturating_sub(skipped + lines);
        if hidden > 0 && inner.height > 0 {
            brush.text_before(inner.right(), inner.bottom(), &format!(" {hidden} more below "), Role::Dim);
        }
    }

    /// The last minutes of the busiest devices, or of all of them together while none is busy.
    fn past(&self, shown: &Shown<'_>, devices: &[&str], inner: Rect, brush: &mut Brush<'_>) {
        let all = ["*"];
        let devices = if devices.is_empty() { &all } else { devices };
        let taken = (2 + devices.len()).min(usize::from(inner.height)) as u16;
        let called = |name: &str, row: &str| format!("{} {row}", if name == "*" { "total" } else { name });
        let of = |name: &&str| {
            let (key, name) = (format!("{}/{name}", self.source), (*name).to_owned());
            self.past.iter().map(move |row| Past { key: key.clone(), row, called: called(&name, row) })
        };
        let past: Vec<Past> = devices.iter().flat_map(of).collect();
        let area = Rect { y: inner.y + taken, height: inner.height - taken, ..inner };
        history::draw(shown, &past, area, brush);
    }

    /// The line of a device: what it is called here, its key, its name.
    fn device(
        &self,
        shown: &Shown<'_>,
        (inner, y): (Rect, u16),
        (called, key, name): (&str, &str, &str),
        brush: &mut Brush<'_>,
    ) {
        let stale = shown.stale(key).filter(|_| y < inner.bottom());
        let role = match (&stale, name) {
            (Some(_), _) => Role::Dim,
            (None, "*") => Role::Strong,
            (None, _) => Role::Text,
        };
        self.line(inner, y, (called, |c: &Column| (c.text)(shown, (key, name))), role, brush);
        if let Some(age) = stale {
            brush.text_before(inner.right() - 1, y, &age, Role::Dim);
        }
    }

    fn line<F>(&self, inner: Rect, y: u16, (name, text): (&str, F), role: Role, brush: &mut Brush<'_>)
    where
        F: Fn(&Column) -> Option<String>,
    {
        if y >= inner.bottom() {
            return;
        }
        let end = inner.right().saturating_sub(1 + AGE);
        let mut x = brush.text((inner.x + 1, y), &format::left(name, usize::from(self.names)), role, self.names);
        for column in self.columns {
            if x + column.width > end {
                break;
            }
            let text = text(column).unwrap_or_else(|| "-".to_owned());
            x = brush.text((x, y), &format::right(&text, usize::from(column.width)), role, column.width);
        }
    }
}
