//! The line below the header: the finding that matters most.

use ratatui::layout::Rect;

use super::look::{Brush, Signs};
use super::pane::{Pane, Rows, View};
use super::screen::foremost;
use crate::view::theme::Role;
use crate::view::{format, words};
use crate::vocab::finding::{Finding, Severity};
use crate::vocab::moment::Moment;

pub(super) const PANE: Pane = Pane { rows, draw };

/// Lines that a finding may take on a high screen, and those that what is behind it may take below.
const LINES: usize = 3;
const REASONS: usize = 3;

fn rows(view: &View<'_>, (width, height): (u16, u16)) -> Rows {
    let lines = match foremost(view.state.findings.values()) {
        Some(finding) if height >= 30 => lines(finding, usize::from(width.saturating_sub(5))).len() as u16,
        _ => 1,
    };
    Rows { least: 1, wish: lines, share: 0 }
}

/// The finding in lines of so many columns, and what is behind it; whether a line is of the latter.
fn lines(finding: &Finding, columns: usize) -> Vec<(String, bool)> {
    let said = format::wrap(&sentence(finding), columns).into_iter().take(LINES).map(|line| (line, false));
    // What is over needs no remedy now; the list and the report have it all.
    let reasons = if finding.closed.is_some() { Vec::new() } else { words::reasons(finding) };
    let below = reasons.into_iter().map(|line| (format::cut(&line, columns), true)).take(REASONS);
    said.chain(below).collect()
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

/// How bad a finding is, and how old, or how long it lasted: `FAIL 17.2 s`, `FAIL for 7.5 s`.
pub(super) fn weight(finding: &Finding, now: Moment) -> String {
    let severity = finding.severity;
    match finding.closed {
        Some(closed) => format!("{severity} for {}", closed.since(finding.onset)),
        None => format!("{severity} {}", now.since(finding.onset)),
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
    for (y, (line, below)) in (area.y..area.bottom()).zip(lines(finding, usize::from(columns))) {
        brush.text((area.x + 3, y), &line, if below { Role::Text } else { role }, columns);
    }
}
