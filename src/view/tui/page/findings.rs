//! The findings: each in a line, and of the chosen one what speaks for it, what may be behind it and what to look at next.

use super::list::{Item, Items, List, Piece, Pieces, ROWS, Room, number, paragraph, piece};
use crate::view::format;
use crate::view::theme::Role;
use crate::view::tui::finding;
use crate::view::tui::look::Signs;
use crate::view::tui::pane::{Pane, View};
use crate::view::tui::screen;
use crate::view::tui::sight::Reach;
use crate::vocab::finding::{Evidence, Finding, Severity};
use crate::vocab::unit::short;

pub(super) const PANES: [Pane; 1] =
    [Pane { rows: |_, _| ROWS, draw: |view, area, brush| LIST.draw(view, area, brush) }];

const LIST: List = List {
    title,
    heads,
    items: |view, room| items(view, room).into(),
    detail: Some(detail),
    beside: true,
    empty: |_| "no findings: nothing out of the ordinary was seen so far".to_owned(),
    rest,
};

pub(super) fn reach(view: &View<'_>, size: (u16, u16)) -> Reach {
    LIST.reach(view, size)
}

/// Columns of the longest kind that is usual.
const KIND: u16 = 15;

fn title(view: &View<'_>) -> (String, String) {
    let findings = || view.state.findings.values();
    let worst = findings().filter(|f| f.severity >= Severity::Fail).count();
    let open = findings().filter(|f| f.closed.is_none()).count();
    (format!("Findings {}", findings().count()), format!("{open} open, {worst} at FAIL or worse"))
}

fn run_columns(room: &Room) -> u16 {
    if room.width >= 100 { 22 } else { 12 }
}

fn heads(room: &Room) -> Pieces {
    let head = |text: &str, columns| piece(text, Role::Dim, columns);
    vec![
        head("", 2),
        head("", 5),
        head("kind", KIND),
        head("run", run_columns(room)),
        head("since", 8),
        head("for", 8),
        head("what", 0),
    ]
}

fn items(view: &View<'_>, room: &Room) -> Vec<Item> {
    view.state.findings.values().enumerate().map(|(place, f)| item(view, f, place, room)).collect()
}

fn item(view: &View<'_>, finding: &Finding, place: usize, room: &Room) -> Item {
    let state = view.state;
    let node = state.found_on.get(&finding.id).cloned().unwrap_or_default();
    let (sign, role) = bad(finding.severity, room.signs);
    let run = finding.run.as_ref().map_or_else(|| "the node".to_owned(), ToString::to_string);
    let run = if state.nodes.len() > 1 { format!("{node} {run}") } else { run };
    let lasted = match finding.closed {
        Some(closed) => closed.since(finding.onset).to_string(),
        None => "open".to_owned(),
    };
    let open = if finding.closed.is_none() { role } else { Role::Dim };
    let line = vec![
        piece(sign, role, 2),
        piece(finding.severity.to_string(), role, 5),
        piece(finding.kind.to_string(), Role::Strong, KIND),
        piece(run, Role::Text, run_columns(room)),
        piece(view.stopwatch(&node, finding.onset), Role::Text, 8),
        piece(lasted, open, 8),
        piece(claim(finding), Role::Text, 0),
    ];
    let run = state.runs.iter().position(|r| r.node == node && Some(&r.name) == finding.run.as_ref());
    Item { line, of: Some(place), goal: Some((run, finding.onset)) }
}

/// How bad it is or was; that it is over stands beside it.
fn bad(severity: Severity, signs: &Signs) -> (&'static str, Role) {
    match severity {
        Severity::Info => (signs.wait, Role::Text),
        Severity::Warn => (signs.warn, Role::Warn),
        Severity::Fail | Severity::Crit => (signs.fail, Role::Fail),
    }
}

/// What it says, without its kind, which has a column of its own.
fn claim(finding: &Finding) -> String {
    let kind = finding.kind.to_string();
    let sentence = finding.sentence.strip_prefix(&kind).unwrap_or(&finding.sentence);
    sentence.trim_start_matches([':', ' ']).to_owned()
}

fn rest(view: &View<'_>, items: &Items) -> usize {
    let first = screen::foremost(view.state.findings.values()).map(|f| f.id);
    let place = view.state.findings.values().position(|f| Some(f.id) == first);
    items.shown.iter().position(|item| item.of == place).unwrap_or(0)
}

fn detail(view: &View<'_>, place: usize, room: &Room) -> Vec<Pieces> {
    let Some(finding) = view.state.findings.values().nth(place) else { return Vec::new() };
    let node = view.state.found_on.get(&finding.id).cloned().unwrap_or_default();
    let (sign, role) = bad(finding.severity, room.signs);
    let weight = finding::weight(finding, view.state.node_now(&node));
    let mut lines = paragraph(&format!("{sign} {}", finding.severity), &finding::sentence(finding), role, room);
    let place = match &finding.run {
        Some(run) => format!("{run}, iteration {}", finding.iteration),
        None => "no run".to_owned(),
    };
    let at = |moment| view.stopwatch(&node, moment);
    let over = finding.closed.map_or_else(|| "still open".to_owned(), |closed| format!("over at {}", at(closed)));
    let times = format!("since {}, said at {}, {over} ({weight}); {place}", at(finding.onset), at(finding.said));
    lines.extend(paragraph("when", &times, Role::Text, room));
    lines.extend(paragraph("level", &level(finding), Role::Text, room));
    lines.extend(evidence(&finding.evidence, room));
    let held: Vec<String> = finding.held_by.iter().map(ToString::to_string).collect();
    lines.extend(paragraph("held by", &held.join(", "), Role::Strong, room));
    for (number, cause) in finding.causes.iter().enumerate() {
        let (likely, proof) = match &cause.proof {
            Some(proof) => ("likely", format!(" ({proof})")),
            None => ("possible", String::new()),
        };
        let text = format!("{likely}: {}{proof}", cause.what);
        lines.extend(paragraph(&format!("cause {}", number + 1), &text, Role::Text, room));
        lines.extend(paragraph("  check", &cause.check, Role::Key, room));
    }
    if finding.causes.is_empty() && finding.severity >= Severity::Warn {
        lines.extend(paragraph("cause", "the counters of this node speak for none", Role::Dim, room));
    }
    let text = format!("finding {} of the session file; shakedown judge prints it again", finding.id);
    lines.extend(paragraph("record", &text, Role::Dim, room));
    lines
}

fn level(finding: &Finding) -> String {
    let mut parts = Vec::new();
    if let (Some(from), Some(to)) = (finding.from, finding.to) {
        parts.push(format!("{} before, {} since", short(from), short(to)));
    }
    parts.extend(finding.work_before.map(|work| format!("after {} of work", short(work))));
    parts.extend(finding.lost.map(|lost| format!("{} of work lost", short(lost))));
    parts.extend((finding.again > 0).then(|| format!("came again {} times", finding.again)));
    parts.join(", ")
}

/// The counters that moved, as a table.
fn evidence(moved: &[Evidence], room: &Room) -> Vec<Pieces> {
    let columns = if room.width >= 100 { 30 } else { 22 };
    let row = |moved: &Evidence| {
        let (before, after) = format::pair(moved.before.value, moved.after.value, moved.after.unit);
        let times = moved.after.value / moved.before.value;
        let times =
            if times.is_finite() && times > 0.0 { format!("x{}", format::number(times)) } else { String::new() };
        let mut line: Vec<Piece> = vec![piece("", Role::Dim, 11), piece(moved.counter.clone(), Role::Host, columns)];
        line.extend([number(&before, Role::Dim, 12), number(&after, Role::Strong, 14), number(&times, Role::Text, 9)]);
        line
    };
    let mut lines: Vec<Pieces> = moved.iter().map(row).collect();
    if let Some(first) = lines.first_mut() {
        first[0] = piece("counters", Role::Title, 11);
        let mut heads: Pieces = vec![piece("", Role::Dim, 11), piece("", Role::Dim, columns)];
        heads.extend([number("before", Role::Dim, 12), number("since", Role::Dim, 14), number("times", Role::Dim, 9)]);
        lines.insert(0, heads);
    }
    lines
}
