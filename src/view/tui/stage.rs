//! The frame around what shares the time axis: the chart, the axis itself, and the host's rows, column below column.
//!
//! ```text
//! ╭ disk-write  MB/s  vda direct ───────────── median 1.2 of 20 ╮
//! │ 400 ⠤⠤⠤⠤⠤⠤⡄                                  now      1.1   │  chart
//! │ 250 ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  floor    250   │
//! │   0        ⠣⠤⠤⠤⠤⠤⠤⠤⠤⠤                                       │
//! │     ┴03:00━━━━━━━━━━┴03:10──────────┴03:20   before   now   │  axis
//! │ vda await  ▁▁▁▁▇▇▇▇▇▇                          8 ms 480 ms  │  host
//! ╰─────────────────────────────────────────────────────────────╯
//!   gutter     plot                              margin
//! ```

use ratatui::layout::Rect;

use super::grid::Grid;
use super::look::{Brush, Signs};
use super::pane::{Pane, Rows, View};
use super::touch::Touch;
use super::{chart, hosts, verdict};
use crate::analysis::state::RunState;
use crate::view::format;
use crate::view::theme::Role;
use crate::vocab::finding::{Finding, Severity};
use crate::vocab::moment::Moment;
use crate::vocab::stat;

pub(super) const PANE: Pane = Pane { rows: |_, _| Rows { least: 9, wish: 16, share: 4 }, draw };

/// The labels of a run that say most, first.
const FIRST: [&str; 11] =
    ["device", "file_system", "path", "io", "block", "depth", "size", "jobs", "threads", "engine", "vector"];
/// Rows of the chart that are never given to the host's rows.
const CHART: u16 = 6;

fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let Some(run) = view.run else {
        let inner = brush.frame(area, Role::Frame, ("", ""));
        brush.text((inner.x + 1, inner.y), "nothing has been recorded yet", Role::Dim, inner.width.saturating_sub(2));
        return;
    };
    let right = right_title(run);
    let inner = brush.frame(area, Role::Frame, (&left_title(view, run, area.width, &right), &right));
    let grid = Grid::new(view, run, inner);
    brush.touch(inner, Touch::Time(grid.plot, grid.axis));
    let (rows, missing) = hosts::rows(view, run);
    below(view, run, (&missing, area), brush);
    let (each, count) = host_heights(inner.height, rows.len() as u16);
    let chart = Rect { height: inner.height.saturating_sub(1 + each * count), ..inner };
    let below = Rect { y: chart.bottom() + 1, height: each * count, ..inner };
    let spans = spans(view, run, &grid);
    shade(&spans, &grid, inner, brush);
    chart::draw(view, run, (&grid, chart), brush);
    axis(view, (run, &spans), (&grid, chart.bottom()), brush);
    hosts::draw(view, &rows[..usize::from(count)], (&grid, below), brush);
    if let Some(x) = view.screen.cursor.and_then(|at| grid.axis.column(at)).map(|c| grid.x(c)) {
        (inner.y..inner.bottom()).for_each(|y| brush.cursor(x, y));
    }
}

/// The lower side of the frame: the statistic so far against its limit, and the counters that nobody reads here.
fn below(view: &View<'_>, run: &RunState, (missing, area): (&[String], Rect), brush: &mut Brush<'_>) {
    let y = area.bottom().saturating_sub(1);
    let mut end = area.x + 2;
    if let Some((text, role)) = standing(view, run) {
        end = brush.text((end, y), &format!(" {text} "), role, area.width.saturating_sub(4)) + 1;
    }
    let room = usize::from((area.right().saturating_sub(2)).saturating_sub(end));
    if !missing.is_empty() && run.started.is_some() && room > 20 {
        let text = format::cut(&format!(" not read here: {} ", missing.join(", ")), room);
        brush.text_before(area.right() - 2, y, &text, Role::Dim);
    }
}

/// What the run's main figure comes to until now: `mean of 2 76.1 MB/s, at least 60 MB/s: +26.8 %`.
fn standing(view: &View<'_>, run: &RunState) -> Option<(String, Role)> {
    let (figure, _) = run.main_figure()?;
    let of = format!("{}.{figure}", run.name);
    let mut lines = view.outlook.so_far.lines();
    let (line, settled) =
        lines.find(|(line, _)| line.of == of && *line.node == *run.node.0 && line.numbers.is_some())?;
    let numbers = line.numbers.as_ref()?;
    let limit = line.limit.split(" (").next().unwrap_or_default();
    let (statistic, side) = line.comparison.split_at(line.comparison.find(" at ")?);
    let good = (numbers.value >= numbers.limit) == numbers.above_is_good;
    let role = if settled { verdict::appearance(line.decision, view.signs).1 } else { Role::Limit };
    let (sign, open) = (if good { view.signs.ok } else { view.signs.fail }, if settled { "" } else { " so far" });
    Some((format!("{sign} {statistic}{open} {},{side} {limit}: {}", line.measured, line.margin), role))
}

fn left_title(view: &View<'_>, run: &RunState, width: u16, right: &str) -> String {
    let unit = run.main_figure().map_or("", |(_, unit)| unit.symbol());
    let mut labels: Vec<_> = run.start.iter().flat_map(|s| &s.labels).collect();
    labels.sort_by_key(|(name, _)| FIRST.iter().position(|f| f == name).unwrap_or(FIRST.len()));
    // A bare number says nothing without its name.
    let label = |(name, value): (&String, &String)| {
        if value.bytes().all(|b| b.is_ascii_digit()) { format!("{name} {value}") } else { value.clone() }
    };
    let mut what: Vec<String> = labels.into_iter().map(label).collect();
    if run.disk().is_some() {
        what.splice(0..0, target(view, run));
    }
    let title = format!("{}  {unit}   {}", run.name, what.join("  "));
    format::cut(title.trim_end(), usize::from(width).saturating_sub(format::width(right) + 11))
}

/// Where a run works: its directory or device as it was given, and how the device below caches writes as far as its kernel knows.
fn target(view: &View<'_>, run: &RunState) -> Vec<String> {
    let plan = view.state.opening.as_ref().map(|o| &o.plan);
    let planned = plan.and_then(|plan| plan.runs.iter().find(|planned| planned.name == run.name));
    let path = planned.and_then(|planned| planned.target.as_ref()).map(|path| path.display().to_string());
    let device = run.device().map(|device| device.trim_start_matches("/dev/"));
    let inventory = view.state.nodes.get(&run.node).and_then(|node| node.inventory.as_ref());
    let disk = inventory.and_then(|i| i.disks.iter().find(|disk| Some(disk.name.as_str()) == device));
    let cache = disk.and_then(|disk| disk.write_cache.known()).cloned();
    path.into_iter().chain(cache).collect()
}

fn right_title(run: &RunState) -> String {
    let Some((name, _)) = run.main_figure() else { return String::new() };
    let values: Vec<f64> = run.figure(name).iter().map(|(value, ..)| *value).collect();
    let median = stat::median(&values).map(format::number);
    median.map_or_else(String::new, |median| format!("median {median} of {}", values.len()))
}

/// How high each of the host's rows is, and how many there is room for.
fn host_heights(height: u16, wanted: u16) -> (u16, u16) {
    let each = match height {
        0..26 => 1,
        26..46 => 2,
        _ => 3,
    };
    let room = height.saturating_sub(CHART + 1);
    (each, wanted.min(room / each))
}

/// Lays the ground of the findings' spans, over the chart and the host's rows alike. What is only told has none: its mark on the
/// axis is enough.
fn shade(spans: &[Option<&Finding>], grid: &Grid, inner: Rect, brush: &mut Brush<'_>) {
    for (column, finding) in spans.iter().enumerate() {
        if finding.is_some_and(|finding| finding.severity >= Severity::Warn) {
            brush.ground(Rect::new(grid.x(column), inner.y, 1, inner.height), Role::GroundShade);
        }
    }
}

/// The worst finding of the run in each column, from its onset to its end or to now.
fn spans<'a>(view: &View<'a>, run: &'a RunState, grid: &Grid) -> Vec<Option<&'a Finding>> {
    let end = run.ended.unwrap_or_else(|| view.state.node_now(&run.node));
    let mut spans = vec![None; grid.axis.columns];
    for finding in view.state.findings_of(run) {
        let to = finding.closed.unwrap_or(end.max(finding.onset));
        let Some((from, to)) = grid.axis.columns_of(finding.onset, to) else { continue };
        for span in spans.iter_mut().take(to + 1).skip(from) {
            let worst = span.filter(|other: &&Finding| other.severity > finding.severity);
            *span = worst.or(Some(finding));
        }
    }
    spans
}

/// How the span of a finding is marked on the axis. The mark tells it where a theme has no ground to shade with.
fn mark(finding: &Finding, signs: &Signs) -> (&'static str, Role) {
    match finding.severity {
        Severity::Info => (signs.wait, Role::Dim),
        Severity::Warn => (signs.mark, Role::Warn),
        Severity::Fail | Severity::Crit => (signs.mark, Role::Fail),
    }
}

/// The axis: times, the spans of findings, and remarks.
fn axis(
    view: &View<'_>,
    (run, spans): (&RunState, &[Option<&Finding>]),
    (grid, y): (&Grid, u16),
    brush: &mut Brush<'_>,
) {
    let signs = brush.look.signs();
    let columns = grid.axis.columns;
    for (column, finding) in spans.iter().enumerate() {
        let (sign, role) = finding.map_or((signs.frame[4], Role::Frame), |finding| mark(finding, signs));
        brush.sign(grid.x(column), y, sign, role);
    }
    let label = view.stopwatch(&run.node, grid.axis.to);
    let step = (format::width(&label) + 9).max(columns / 8).max(1);
    let mut column = 0;
    while column + format::width(&label) + 2 < columns {
        brush.sign(grid.x(column), y, signs.tick, Role::Frame);
        let time = view.stopwatch(&run.node, grid.axis.moment(column));
        brush.text((grid.x(column) + 1, y), &time, Role::Dim, 9);
        column += step;
    }
    for remark in view.state.remarks.iter().filter(|r| r.node == run.node || r.node.is_runner()) {
        let ahead = view.state.node_now(&run.node).0 as i64 - view.state.now.0 as i64;
        let at = if remark.node.is_runner() { Moment(remark.at.0.saturating_add_signed(ahead)) } else { remark.at };
        if let Some(column) = grid.axis.column(at) {
            brush.sign(grid.x(column), y, "n", Role::Key);
        }
    }
    let zoom = if view.screen.cursor.is_some() { "at cursor" } else { "t min:s" };
    brush.text((grid.gutter.0 + 1, y), zoom, Role::Dim, grid.gutter.1);
    hosts::heads(view, (grid, y), brush);
}
