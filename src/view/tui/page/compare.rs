//! The session beside its references: figures, and ratios as bars on a common scale.

use super::list::{Item, List, Pieces, ROWS, Room, number, piece};
use crate::analysis::compare::{Against, Cell, Comparison, Row, Told};
use crate::view::format;
use crate::view::theme::Role;
use crate::view::tui::look::Signs;
use crate::view::tui::pane::{Pane, View};
use crate::view::tui::sight::Reach;

pub(super) const PANES: [Pane; 1] =
    [Pane { rows: |_, _| ROWS, draw: |view, area, brush| TEXT.draw(view, area, brush) }];

const TEXT: List = List::text(title, |view, room| items(view, room).into(), empty);

/// Ratios from none to twice the reference have a place on a bar.
const HIGHEST: f64 = 2.0;

pub(super) fn reach(view: &View<'_>, size: (u16, u16)) -> Reach {
    TEXT.reach(view, size)
}

fn title(view: &View<'_>) -> (String, String) {
    let Some(comparison) = &view.outlook.comparison else { return ("Compare".to_owned(), String::new()) };
    let over = view.state.verdict.is_some();
    let first = comparison.machines.first().map_or("", |m| m.name.as_str());
    (format!("Against {first}"), if over { String::new() } else { "sound runs until now".to_owned() })
}

fn empty(view: &View<'_>) -> String {
    match view.outlook.missing.first() {
        Some(why) => format!("no reference: {why}"),
        None => "no reference: give --reference NAME=FILE for one that the plan names; `shakedown compare A B` sets any two \
                 sessions side by side"
            .to_owned(),
    }
}

fn items(view: &View<'_>, room: &Room) -> Vec<Item> {
    let Some(comparison) = &view.outlook.comparison else { return Vec::new() };
    let mut lines: Vec<Pieces> = Vec::new();
    for machine in &comparison.machines {
        let about = ["virtualisation", "cpu"].iter().filter_map(|name| machine.profile.conditions.get(*name));
        let about: Vec<&str> = about.map(String::as_str).collect();
        let from = if about.is_empty() { machine.profile.from.clone() } else { about.join(", ") };
        lines.push(vec![piece(machine.name.clone(), Role::Strong, 18), piece(from, Role::Dim, 0)]);
    }
    lines.push(Vec::new());
    if comparison.rows.is_empty() {
        lines.push(vec![piece("there is no figure that two of them have yet", Role::Dim, 0)]);
    }
    comparison.rows.iter().for_each(|row| figure(comparison, row, room, &mut lines));
    differences(comparison, room, &mut lines);
    let wrapped = comparison.remarks.iter().flat_map(|r| format::wrap(r, usize::from(room.width)));
    lines.extend(wrapped.map(|line| vec![piece(line, Role::Dim, 0)]));
    lines.into_iter().map(|line| Item { line, ..Item::default() }).collect()
}

fn figure(comparison: &Comparison, row: &Row, room: &Room, lines: &mut Vec<Pieces>) {
    lines.push(vec![piece(row.figure.clone(), Role::Title, 0)]);
    for (machine, cell) in comparison.machines.iter().zip(&row.cells) {
        let name = piece(format!("  {}", machine.name), Role::Text, 14);
        lines.push(match cell {
            Some(cell) => self::cell(name, row, cell, room),
            None => vec![name, piece("not measured yet", Role::Dim, 0)],
        });
    }
}

fn cell(name: super::list::Piece, row: &Row, cell: &Cell, room: &Room) -> Pieces {
    let mut line = vec![
        name,
        number(&format::quantity(cell.mean, row.unit), Role::Strong, 14),
        number(&format!("of {}", cell.n), Role::Dim, 7),
    ];
    // As many as leave room for the word behind them.
    let columns = if room.width >= 100 { 41 } else { room.width.saturating_sub(60).clamp(5, 17) };
    match &cell.against {
        None => line.push(piece(" the reference", Role::Dim, 0)),
        Some(against) => {
            line.push(number(&format!("{:.1} %", 100.0 * against.ratio), Role::Strong, 9));
            line.extend(bar(against, columns, room.signs));
            line.push(piece(format!(" {}", told(&against.told)), weight(&against.told), 0));
        }
    }
    line
}

fn told(told: &Told) -> String {
    match told {
        Told::Significant => "a difference".to_owned(),
        Told::OfSessions => "as sessions do".to_owned(),
        Told::Trifle => "a trifle".to_owned(),
        Told::Chance => "within chance".to_owned(),
        Told::NotTested(why) => format!("not tested: {why}"),
        Told::NotComparable(what) => format!("other work: {}", what.join(", ")),
    }
}

fn weight(told: &Told) -> Role {
    match told {
        Told::Significant | Told::NotComparable(_) => Role::Warn,
        _ => Role::Dim,
    }
}

/// The ratio and its interval on a scale from nothing to twice the reference, which stands in the middle.
fn bar(against: &Against, columns: u16, signs: &Signs) -> Pieces {
    let place = |ratio: f64| ((ratio / HIGHEST).clamp(0.0, 1.0) * f64::from(columns - 1)).round() as u16;
    let (low, high) = against.interval.unwrap_or((against.ratio, against.ratio));
    let (low, at, high, middle) = (place(low), place(against.ratio), place(high), place(1.0));
    let cell = |x: u16| match x {
        x if x == at => piece(signs.figure, Role::Figure, 1),
        x if x == middle => piece(signs.cursor, Role::Limit, 1),
        x if (low..=high).contains(&x) => piece(signs.frame[4], Role::Figure, 1),
        _ => piece(" ", Role::Dim, 1),
    };
    (0..columns).map(cell).collect()
}

fn differences(comparison: &Comparison, room: &Room, lines: &mut Vec<Pieces>) {
    if comparison.differences.is_empty() {
        return;
    }
    lines.push(Vec::new());
    lines.push(vec![piece("Different (! decides what was measured)", Role::Title, 0)]);
    for difference in &comparison.differences {
        let values = difference.values.iter().zip(&comparison.machines);
        let values: Vec<String> = values
            .map(|(value, machine)| format!("{} ({})", value.as_deref().unwrap_or("none"), machine.name))
            .collect();
        let of = if difference.runs.is_empty() { String::new() } else { format!(" of {}", difference.runs.join(", ")) };
        let text = format!("{}{of}: {}", difference.what, values.join(", "));
        let role = if difference.weighs { Role::Warn } else { Role::Text };
        for (i, line) in format::wrap(&text, usize::from(room.width.saturating_sub(4))).into_iter().enumerate() {
            let mark = if i == 0 && difference.weighs { "!" } else { "" };
            lines.push(vec![piece(mark, Role::Warn, 2), piece(line, role, 0)]);
        }
    }
    lines.push(Vec::new());
}
