//! The end: what every check came to, the worst first.

use ratatui::layout::Rect;

use super::keys::{Action, Place};
use super::look::{Brush, Signs};
use super::pane::{Pane, Rows, View};
use super::sight::Home;
use crate::view::format;
use crate::view::theme::Role;
use crate::vocab::verdict::{Decision, Line, Verdict};

pub(super) const PANE: Pane = Pane { rows, draw };

fn rows(view: &View<'_>, (_, height): (u16, u16)) -> Rows {
    let Some(verdict) = &view.state.verdict else { return Rows::default() };
    let lines = verdict.lines.len().max(1) as u16 + 2;
    Rows { least: lines.min(3), wish: lines.min(height / 3), share: 0 }
}

/// How a decision looks: its sign and its role.
pub(super) fn appearance(decision: Decision, signs: &Signs) -> (&'static str, Role) {
    match decision {
        Decision::Pass => (signs.ok, Role::Ok),
        Decision::NotProven => (signs.unproven, Role::Unproven),
        Decision::Fail => (signs.fail, Role::Fail),
    }
}

fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let Some(verdict) = &view.state.verdict else { return };
    let signs = brush.look.signs();
    let (sign, role) = appearance(verdict.decision, signs);
    let room = usize::from(area.height.saturating_sub(2));
    let hidden = verdict.lines.len().saturating_sub(room);
    let key = view.screen.keys.name(Place::Any, Action::Show(Home::Verdict));
    let more = if hidden > 0 { format!("{hidden} more: {key}") } else { String::new() };
    let inner = brush.frame(area, role, ("", &more));
    brush.text((area.x + 2, area.y), &format!(" {sign} {} ", verdict.headline()), role, area.width.saturating_sub(4));
    if verdict.lines.is_empty() {
        brush.text((inner.x + 1, inner.y), "nothing was checked", Role::Dim, inner.width.saturating_sub(2));
    }
    // A decision in brackets needs their room.
    let word = if verdict.lines.iter().any(|line| line.told) { 13 } else { 11 };
    for (y, line) in (inner.y..inner.bottom()).zip(ranked(verdict)) {
        let row = Rect::new(inner.x + 1, y, inner.width.saturating_sub(2), 1);
        self::line(line, (view.state.nodes.len() > 1, word), row, brush);
    }
}

fn ranked(verdict: &Verdict) -> Vec<&Line> {
    let mut lines: Vec<&Line> = verdict.lines.iter().collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.decision));
    lines
}

fn line(line: &Line, (name_node, word): (bool, u16), area: Rect, brush: &mut Brush<'_>) {
    let (sign, role) = appearance(line.decision, brush.look.signs());
    let wide = area.width >= 110;
    let y = area.y;
    let mut x = area.x;
    let mut put = |text: &str, role: Role, columns: u16| {
        let room = area.right().saturating_sub(x).min(columns);
        brush.text((x, y), text, role, room.saturating_sub(1));
        x += room;
    };
    put(sign, role, 2);
    put(&line.word(), role, word);
    let of = if name_node { format!("{} {}", line.node, line.of) } else { line.of.clone() };
    put(&of, Role::Text, if wide { 30 } else { 23 });
    let measured = if line.measured.is_empty() { "not measured" } else { &line.measured };
    put(&format::right(measured, if wide { 14 } else { 12 }), Role::Strong, if wide { 16 } else { 14 });
    if wide || !line.margin.is_empty() {
        put(&line.margin, role, 10);
    }
    let rest = match (wide, line.limit.is_empty()) {
        (true, false) if line.detail.is_empty() => format!("{} {}; {}", line.comparison, line.limit, line.reason),
        (true, false) => format!("{} {}; {}; {}", line.comparison, line.limit, line.detail, line.reason),
        (true, true) => format!("{}; {}", line.comparison, line.reason),
        (false, false) => match &line.numbers {
            Some(numbers) if numbers.above_is_good => format!(">= {}", line.limit),
            Some(_) => format!("<= {}", line.limit),
            None => format!("limit {}", line.limit),
        },
        // Of what holds it is enough to know what that is.
        (false, true) if line.decision == Decision::Pass => line.comparison.clone(),
        (false, true) => line.reason.clone(),
    };
    brush.text((x, y), &rest, Role::Dim, area.right().saturating_sub(x));
}
