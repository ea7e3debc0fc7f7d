//! The plan: every run with its state, its figure and the shape of its rate so far.

use ratatui::layout::Rect;

use super::axis::Axis;
use super::look::{Brush, Signs};
use super::outlook::Standing;
use super::pane::{Pane, Rows, View};
use super::plot;
use super::touch::Touch;
use crate::analysis::state::{RunState, Status};
use crate::view::format;
use crate::view::theme::Role;
use crate::vocab::event::Outcome;
use crate::vocab::finding::Severity;
use crate::vocab::verdict::Decision;

pub(super) const PANE: Pane = Pane { rows, draw };

/// Columns of a run beside others.
const NARROW: u16 = 38;
/// Columns of a run that has room.
const WIDE: u16 = 58;
/// Columns of the shape of a rate, at least.
const SPARK: u16 = 5;
/// Columns of the shape of a rate, at most.
const LONGEST: u16 = 60;
/// Columns of a run that has room for a share of its roof as well.
const AMPLE: u16 = 78;
/// Columns of a share of a roof.
const SHARE: u16 = 10;
/// Columns of a figure with its unit.
const FIGURE: usize = 13;

fn rows(view: &View<'_>, (width, height): (u16, u16)) -> Rows {
    let count = view.state.runs.len().max(1) as u16;
    // A quarter of the screen at most: the plan says where one is, the chart is what one looks at.
    let most = (height / 4).saturating_sub(3).max(1);
    let columns = columns_for(count, most, width.saturating_sub(2));
    Rows { least: 3, wish: 2 + count.div_ceil(columns).min(most), share: 0 }
}

/// How many runs stand beside each other: one while the rows suffice.
fn columns_for(count: u16, rows: u16, width: u16) -> u16 {
    count.div_ceil(rows.max(1)).clamp(1, (width / NARROW).max(1))
}

fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let session = view.state.opening.as_ref().map_or("", |o| o.session.as_str());
    let title = title(view, area.width);
    let room = usize::from(area.width).saturating_sub(format::width(&title) + 12);
    let inner = brush.frame(area, Role::Frame, (&title, &format::cut(session, room)));
    let runs = &view.state.runs;
    if runs.is_empty() {
        brush.text((inner.x + 1, inner.y), "no plan yet", Role::Dim, inner.width.saturating_sub(2));
        return;
    }
    let columns = usize::from(columns_for(runs.len() as u16, inner.height, inner.width));
    let rows = runs.len().div_ceil(columns);
    let chosen = view.run.and_then(|run| runs.iter().position(|r| std::ptr::eq(r, run))).unwrap_or(0);
    // Scrolled so that the chosen run is seen.
    let skipped = (chosen % rows + 1).saturating_sub(usize::from(inner.height));
    let width = inner.width / columns as u16;
    let longest = runs.iter().map(|r| format::width(&name(view, r)) as u16 + 2).max().unwrap_or(0);
    for index in 0..runs.len() {
        let (column, row) = (index / rows, index % rows);
        let Some(row) = row.checked_sub(skipped).filter(|r| *r < usize::from(inner.height)) else { continue };
        let cell = Rect::new(inner.x + column as u16 * width, inner.y + row as u16, width, 1);
        if index == chosen {
            brush.ground(cell, Role::GroundSelect);
        }
        brush.touch(cell, Touch::Run(index));
        entry(view, (index, longest), cell, brush);
    }
}

fn title(view: &View<'_>, width: u16) -> String {
    let state = view.state;
    let name = state.opening.as_ref().map_or("Plan", |o| o.plan.name.as_str());
    let name = if name.is_empty() { "Plan" } else { name };
    let name = format::cut(name, 24);
    let so_far = &view.outlook.so_far;
    let decisions = [Decision::Pass, Decision::Fail, Decision::NotProven];
    // Where there is little room it is the session's name that is needed, and not what has not happened.
    let counts = decisions.into_iter().map(|d| (d, so_far.count(d))).filter(|(_, n)| *n > 0 || width >= 100);
    let counts: String = counts.fold(String::new(), |text, (decision, n)| text + &format!("  {decision} {n}"));
    if state.verdict.is_some() {
        return format!("{name}{counts}");
    }
    let left = so_far.left();
    let passed = state.now.since(state.opened);
    let ends = state.remaining().map(|r| view.wall(crate::vocab::moment::Span(passed.0 + r.0), "%H:%M"));
    let ends = ends.filter(|e| !e.is_empty()).map_or_else(String::new, |e| format!("  ends ~{e}"));
    format!("{name}{counts}  left {left}{ends}")
}

/// How a run looks: its sign, its word, a shorter word, and its role.
fn appearance(view: &View<'_>, run: &RunState, signs: &Signs) -> (&'static str, &'static str, &'static str, Role) {
    let worst = view.state.findings_of(run).map(|f| f.severity).max();
    match &run.status {
        // Not done in this session, which amends the one that it was to be done in.
        Status::Waiting if run.earlier => (signs.unproven, "not run", "none", Role::Unproven),
        Status::Waiting => (signs.wait, "waits", "wait", Role::Dim),
        Status::Running if worst >= Some(Severity::Fail) => (signs.fail, "running", "run", Role::Fail),
        Status::Running if worst >= Some(Severity::Warn) => (signs.warn, "running", "run", Role::Warn),
        Status::Running => (signs.run, "running", "run", Role::Active),
        Status::Ended(Outcome::Sound) if worst >= Some(Severity::Warn) => (signs.warn, "done", "done", Role::Warn),
        Status::Ended(Outcome::Sound) if run.earlier => (signs.ok, "earlier", "old", Role::Ok),
        Status::Ended(Outcome::Sound) => (signs.ok, "done", "done", Role::Ok),
        Status::Ended(Outcome::Corrupt(_)) => (signs.fail, "corrupt", "bad", Role::Fail),
        Status::Ended(Outcome::Broken(_)) => (signs.unproven, "broken", "brkn", Role::Unproven),
        Status::Ended(Outcome::Unavailable(_)) => (signs.unproven, "not here", "n/a", Role::Unproven),
        Status::Ended(Outcome::Stuck) => (signs.fail, "stuck", "hung", Role::Fail),
        Status::Ended(Outcome::Stopped) => (signs.unproven, "stopped", "stop", Role::Unproven),
    }
}

/// A run's name, with its node's where there are several.
fn name(view: &View<'_>, run: &RunState) -> String {
    if view.state.nodes.len() > 1 { format!("{} {}", run.node, run.name) } else { run.name.to_string() }
}

/// Paints the run of this place; `longest` is what the longest name needs.
fn entry(view: &View<'_>, (index, longest): (usize, u16), cell: Rect, brush: &mut Brush<'_>) {
    let Some(run) = view.state.runs.get(index) else { return };
    let standing = view.outlook.runs.get(index);
    let signs = brush.look.signs();
    let (sign, word, short, role) = appearance(view, run, signs);
    let wide = cell.width >= WIDE;
    let word_columns: u16 = if wide { 9 } else { 5 };
    let roof_columns: u16 = if cell.width >= AMPLE && view.outlook.has_roofs { SHARE } else { 0 };
    let figure_columns = FIGURE as u16 + 1 + roof_columns;
    let steps_columns: u16 = if wide { 8 } else { 0 };
    let fixed = 3 + word_columns + figure_columns + steps_columns + 1;
    // Beside others a name is worth more than a shape: runs often differ in their last letters alone.
    let least = if wide { SPARK } else { 0 };
    let name_columns = longest.min(cell.width.saturating_sub(fixed + least));
    let most = if wide { LONGEST } else { SPARK };
    let spark_columns = cell.width.saturating_sub(fixed + name_columns + u16::from(wide)).min(most);
    let name = name(view, run);
    let mut x = cell.x + 1;
    brush.text((x, cell.y), sign, role, 1);
    x += 2;
    brush.text((x, cell.y), &name, Role::Text, name_columns.saturating_sub(1));
    x += name_columns;
    brush.text((x, cell.y), if wide { word } else { short }, role, word_columns - 1);
    x += word_columns;
    if wide {
        let steps = run.counted(run.done.len());
        brush.text((x, cell.y), &steps, Role::Dim, steps_columns - 1);
        x += steps_columns;
    }
    let (figure, figure_role) = figure(run, standing);
    brush.text((x, cell.y), &format::right(&figure, FIGURE), figure_role, FIGURE as u16);
    if let (Some(share), 1..) = (standing.and_then(|s| s.share.as_deref()), roof_columns) {
        brush.text((x + FIGURE as u16, cell.y), &format::right(share, usize::from(SHARE)), Role::Dim, SHARE);
    }
    x += figure_columns;
    brush.signs((x, cell.y), &spark(run, usize::from(spark_columns), signs), Role::Series);
}

/// The live rate while a run goes on, else the median of its official figures.
fn figure(run: &RunState, standing: Option<&Standing>) -> (String, Role) {
    let live = run.meters.first().and_then(|m| Some((m.rate.last()?.value, m.spec.unit)));
    if matches!(run.status, Status::Running) {
        return live
            .map_or_else(|| (String::new(), Role::Dim), |(value, unit)| (format::quantity(value, unit), Role::Strong));
    }
    let official = standing.and_then(|s| s.median.clone());
    official.map_or_else(|| (String::new(), Role::Dim), |text| (text, Role::Figure))
}

fn spark(run: &RunState, columns: usize, signs: &Signs) -> Vec<&'static str> {
    let Some((rate, from)) = run.meters.first().map(|m| &m.rate).and_then(|r| Some((r, r.first_at()?))) else {
        return Vec::new();
    };
    let to = rate.last().map_or(from, |p| p.at);
    let values = Axis { from, to, columns }.spread(&rate.between(from, to));
    let max = values.iter().flatten().copied().fold(0.0, f64::max);
    plot::bars(signs, &values, max, 1).concat()
}
