//! What the rows of devices were over the last minutes, where the numbers of now leave room.

use ratatui::layout::Rect;

use super::Shown;
use crate::view::format;
use crate::view::theme::Role;
use crate::view::tui::axis::Axis;
use crate::view::tui::hosts::{least_scale, unit};
use crate::view::tui::look::Brush;
use crate::view::tui::plot;
use crate::vocab::moment::{Moment, Span};

/// As far back as readings are kept as they came.
const LENGTH: Span = Span::seconds(600);
/// Columns of a name.
const NAME: u16 = 18;
/// Columns of the highest value with its unit.
const HIGHEST: u16 = 12;
/// Lines of a row at most: higher ones say no more.
const TALLEST: u16 = 3;

/// A row of a device, by its key, and what it is called here.
pub(super) struct Past {
    pub(super) key: String,
    pub(super) row: &'static str,
    pub(super) called: String,
}

/// Lines that so many rows need with their heads.
pub(super) const fn lines(rows: u16) -> u16 {
    rows + 1
}

/// Paints as many rows as have room, each as high as they share it, below a line that says what they are.
pub(super) fn draw(shown: &Shown<'_>, past: &[Past], area: Rect, brush: &mut Brush<'_>) {
    let known: Vec<&Past> = past.iter().filter(|past| shown.host.row(&past.key, past.row).is_some()).collect();
    let count = (known.len() as u16).min(area.height.saturating_sub(1));
    let columns = area.width.saturating_sub(NAME + HIGHEST + 3);
    if count == 0 || columns == 0 {
        return;
    }
    let each = ((area.height - 1) / count).clamp(1, TALLEST);
    let (plot, end) = (area.x + 1 + NAME, area.right() - 1);
    brush.text((area.x + 1, area.y), "last 10 minutes", Role::Dim, NAME);
    brush.text_before(end, area.y, "highest", Role::Dim);
    let to = shown.now;
    let axis = Axis { from: Moment(to.0.saturating_sub(LENGTH.0)), to, columns: usize::from(columns) };
    for (place, past) in (0..count).zip(known) {
        let Some(series) = shown.host.row(&past.key, past.row) else { continue };
        let (top, bottom) = (area.y + 1 + place * each, area.y + (place + 1) * each);
        let points = series.between(axis.from, axis.to);
        let unit = unit(&past.key, past.row);
        let highest = points.iter().map(|point| point.value).reduce(f64::max);
        let max = highest.unwrap_or(0.0).max(least_scale(unit));
        let bars = plot::bars(brush.look.signs(), &axis.spread(&points), max, usize::from(each));
        for (y, bar) in (top..=bottom).zip(&bars) {
            brush.signs((plot, y), bar, Role::Host);
        }
        brush.text((area.x + 1, bottom), &past.called, Role::Text, NAME - 1);
        let highest = highest.map_or_else(|| "-".to_owned(), |value| format::quantity(value, unit));
        brush.text_before(end, bottom, &highest, Role::Dim);
    }
}
