//! The line below the header: the finding that matters most.

use ratatui::layout::Rect;

use super::look::{Brush, Signs};
use super::pane::{Pane, Rows, View};
use super::screen::foremost;
use crate::view::format;
use crate::view::theme::Role;
use crate::vocab::finding::{Finding, Severity};

pub(super) const PANE: Pane = Pane { rows, draw };

/// Lines that a finding may take on a high screen.
const LINES: u16 = 3;

fn rows(view: &View<'_>, (width, height): (u16, u16)) -> Rows {
    let lines = match foremost(view.state.findings.values()) {
        Some(finding) if height >= 30 => {
            format::wrap(&sentence(finding), usize::from(width.saturating_sub(5))).len().min(usize::from(LINES)) as u16
        }
        _ => 1,
    };
    Rows { least: 1, wish: lines, share: 0 }
}

/// How a finding looks: its sign and its role.
pub(super) fn appearance(finding: &Finding, signs: &Signs) -> (&'static str, Role) {
    match (finding.closed, finding.severity) {
        (Some(_), _) => (signs.wait, Role::Dim),
        (None, Severity::Info) => (signs.wait, Role::Text),
        (None, Severity::Warn) => (signs.warn, Role::Warn),
        (None, Severity::Fail | Severity::Crit) => (signs.fail, Role::Fail),
    }
}

/// What a finding says, its kind first, and that it is over when it is.
pub(super) fn sentence(finding: &Finding) -> String {
    let kind = finding.kind.to_string();
    let over = if finding.closed.is_some() { "over: " } else { "" };
    if finding.sentence.starts_with(&kind) {
        format!("{over}{}", finding.sentence)
    } else {
        format!("{over}{kind} {}", finding.sentence)
    }
}

fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let signs = brush.look.signs();
    let Some(finding) = foremost(view.state.findings.values()) else {
        brush.text((area.x + 1, area.y), signs.ok, Role::Ok, 1);
        brush.text((area.x + 3, area.y), "no findings", Role::Dim, area.width.saturating_sub(4));
        return;
    };
    let (sign, role) = appearance(finding, signs);
    brush.text((area.x + 1, area.y), sign, role, 1);
    let mut end = area.right().saturating_sub(1);
    let others = view.state.findings.values().filter(|f| f.closed.is_none() && f.id != finding.id).count();
    if others > 0 {
        end = brush.text_before(end, area.y, &format!("+{others} open"), role).saturating_sub(1);
    }
    let columns = end.saturating_sub(area.x + 3);
    if area.height == 1 {
        brush.text((area.x + 3, area.y), &sentence(finding), role, columns);
        return;
    }
    let lines = format::wrap(&sentence(finding), usize::from(columns));
    for (y, line) in (area.y..area.bottom()).zip(&lines) {
        brush.text((area.x + 3, y), line, role, columns);
    }
}
