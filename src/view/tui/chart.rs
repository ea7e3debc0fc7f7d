//! The live rate of a run, its official figures, and the limits it is held against.

use ratatui::layout::Rect;

use super::grid::Grid;
use super::look::Brush;
use super::pane::View;
use super::plot::{self, Curve};
use crate::analysis::roof;
use crate::analysis::series::Point;
use crate::analysis::state::{MeterState, RunState, Status};
use crate::view::format;
use crate::view::theme::Role;
use crate::vocab::event::Outcome;
use crate::vocab::latency::Buckets;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::plan::{Check, Limit, Plan};
use crate::vocab::stat;
use crate::vocab::unit::Unit;

/// An operation in flight for longer than this is worth a line.
const OLD: Span = Span::seconds(1);

/// Columns to each side within which a curve that wavers between two rows is filled evenly.
const NEAR: usize = 6;

/// A limit on the chart.
struct Line {
    value: f64,
    label: String,
}

/// What is drawn, on one scale.
struct Drawing<'a> {
    meter: &'a MeterState,
    points: Vec<Point>,
    /// The least and the most of the readings behind the points, of which old ones are means.
    extremes: Option<(f64, f64)>,
    figures: Vec<Point>,
    limits: Vec<Line>,
    ghost: Option<Ghost>,
    max: f64,
}

/// What another machine did in the same iterations.
struct Ghost {
    /// From when to when, and its figure.
    steps: Vec<(Moment, Moment, f64)>,
    name: String,
}

/// Paints the chart into its area of the stage.
pub(super) fn draw(view: &View<'_>, run: &RunState, (grid, area): (&Grid, Rect), brush: &mut Brush<'_>) {
    let Some(drawing) = Drawing::of(view, run, grid) else {
        let text = nothing(run);
        brush.text((grid.plot, area.y + area.height / 2), &text, Role::Dim, grid.axis.columns as u16);
        return;
    };
    let rows = usize::from(area.height);
    let curve = plot::curve(brush.look.glyphs, &grid.axis, &drawing.points, rows, drawing.max);
    fill(&curve, grid, area, brush);
    // The limits come first, so that the rate is drawn over them and never hidden by them.
    let mut taken = limits(&drawing, grid, area, brush);
    ghost(&drawing, (grid, area, &mut taken), brush);
    for (index, cell) in curve.cells.iter().enumerate() {
        if let Some(c) = cell {
            let (column, row) = (index % curve.columns, index / curve.columns);
            brush.sign(grid.x(column), area.y + row as u16, c.encode_utf8(&mut [0; 4]), Role::Series);
        }
    }
    for figure in &drawing.figures {
        if let Some(column) = grid.axis.column(figure.at) {
            let y = area.y + plot::row(figure.value, drawing.max, rows) as u16;
            brush.sign(grid.x(column), y, brush.look.signs().figure, Role::Figure);
        }
    }
    scale(&drawing, grid, area, brush);
    statistics(view, run, &drawing, (grid, area, &mut taken), brush);
    if let Status::Ended(outcome) = &run.status
        && *outcome != Outcome::Sound
    {
        brush.text((grid.plot + 1, area.y), &nothing(run), Role::Fail, (grid.axis.columns as u16).saturating_sub(1));
    }
}

impl<'a> Drawing<'a> {
    fn of(view: &View<'_>, run: &'a RunState, grid: &Grid) -> Option<Self> {
        let meter = run.meters.first().filter(|m| !m.rate.is_empty())?;
        let points = meter.rate.between(grid.axis.from, grid.axis.to);
        let official = |i: &crate::analysis::state::IterationState| {
            let figure = i.figures.iter().find(|f| f.name == meter.spec.name)?;
            Some(Point { at: i.ended, value: figure.value })
        };
        let figures: Vec<Point> = run.done.iter().filter_map(official).collect();
        let plan = view.state.opening.as_ref().map(|o| &o.plan);
        let limits = plan.map_or_else(Vec::new, |plan| lines(plan, run, &meter.spec.name));
        let ghost = plan.and_then(|plan| Ghost::of(plan, run, &meter.spec.name, grid));
        let steps = ghost.iter().flat_map(|ghost| &ghost.steps).map(|(.., value)| *value);
        let values = points.iter().chain(&figures).map(|p| p.value).chain(limits.iter().map(|l| l.value)).chain(steps);
        let max = plot::round_up(values.fold(0.0, f64::max) * 1.04);
        let extremes = meter.rate.extremes(grid.axis.from, grid.axis.to);
        Some(Self { meter, points, extremes, figures, limits, ghost, max })
    }
}

impl Ghost {
    /// The figures of the first of the plan's references that has them: one an iteration where it is a session, its median for all
    /// of them where it is a report or a baseline.
    fn of(plan: &Plan, run: &RunState, figure: &str, grid: &Grid) -> Option<Self> {
        let full = format!("{}.{figure}", run.name);
        let figures = |name: &String| {
            let profile = plan.reference(name).ok()?;
            let values = profile.figures.get(&full)?.values.clone();
            Some((
                name.clone(),
                if profile.sessions == 1 { values } else { stat::median(&values).into_iter().collect() },
            ))
        };
        let (name, values) = plan.references.keys().find_map(figures)?;
        let value = |i: usize| values.get(i).or(if values.len() == 1 { values.first() } else { None }).copied();
        let mut from = run.started?;
        let mut steps = Vec::new();
        let ends = run.done.iter().map(|i| i.ended).chain((!run.is_over()).then_some(grid.axis.to));
        for (i, to) in ends.enumerate() {
            steps.extend(value(i).map(|value| (from, to, value)));
            from = to;
        }
        Some(Self { steps, name })
    }
}

/// Why there is nothing to draw, or how the run ended.
fn nothing(run: &RunState) -> String {
    match &run.status {
        Status::Waiting => "this run waits for its turn".to_owned(),
        Status::Running => "no reading yet".to_owned(),
        Status::Ended(Outcome::Sound) => "this run has no live rate".to_owned(),
        Status::Ended(Outcome::Corrupt(why)) => format!("corrupt: {why}"),
        Status::Ended(Outcome::Broken(why)) => format!("broken: {why}"),
        Status::Ended(Outcome::Unavailable(why)) => format!("cannot be done here: {why}"),
        Status::Ended(Outcome::Stuck) => format!("stuck: {}", run.stuck()),
        Status::Ended(Outcome::Stopped) => "stopped on request".to_owned(),
    }
}

/// The limits that the plan's checks set for a run's figure.
fn lines(plan: &Plan, run: &RunState, figure: &str) -> Vec<Line> {
    let meant = |check: &&Check| {
        check.of.split_once('.').is_some_and(|(of, name)| name == figure && (of == "*" || of == &*run.name.0))
    };
    let line = |limit: &Limit, word: &str| match limit {
        Limit::Absolute(quantity) => {
            Some(Line { value: quantity.value, label: format!("{word} {}", format::number(quantity.value)) })
        }
        Limit::OfRoof(share, basis) => {
            let value = roof::find(plan, run, figure, *basis).ok()?.value.value * share;
            let of = basis.word();
            let percent = format::number(share * 100.0);
            Some(Line { value, label: format!("{word} {} = {percent} % {of}", format::number(value)) })
        }
        // Nothing lies on this axis before both machines' figures are divided by their roofs.
        Limit::OfReferenceNormalised(..) => None,
        Limit::OfReference(name, share) => {
            let profile = plan.reference(name).ok()?;
            let value = stat::mean(&profile.figures.get(&format!("{}.{figure}", run.name))?.values)? * share;
            let percent = format::number(share * 100.0);
            Some(Line { value, label: format!("{word} {} = {percent} % {name}", format::number(value)) })
        }
    };
    let both = |check: &Check| {
        [
            check.at_least.as_ref().and_then(|l| line(l, "floor")),
            check.at_most.as_ref().and_then(|l| line(l, "ceiling")),
        ]
    };
    plan.checks.iter().filter(meant).flat_map(both).flatten().collect()
}

/// Lays the ground below the curve, where the theme has one and no finding has its own.
fn fill(curve: &Curve, grid: &Grid, area: Rect, brush: &mut Brush<'_>) {
    let shaded = brush.look.ground(Role::GroundShade).bg;
    let tops: Vec<Option<usize>> = (0..curve.columns).map(|column| curve.top(column)).collect();
    for column in 0..curve.columns {
        let Some(top) = tops[column] else { continue };
        let near = tops.iter().take(column + NEAR + 1).skip(column.saturating_sub(NEAR)).flatten();
        let highest = near.filter(|t| t.abs_diff(top) <= 1).min().copied().unwrap_or(top);
        let y = area.y + highest as u16 + 1;
        let below = Rect::new(grid.x(column), y, 1, area.bottom().saturating_sub(y));
        if shaded.is_none() || brush.buffer.cell((grid.x(column), area.y)).map(|c| c.bg) != shaded {
            brush.ground(below, Role::GroundFill);
        }
    }
}

/// Draws the limits and their labels; gives the rows whose margin is taken.
fn limits(drawing: &Drawing<'_>, grid: &Grid, area: Rect, brush: &mut Brush<'_>) -> Vec<u16> {
    let sign = brush.look.signs().limit;
    let mut taken = Vec::new();
    for limit in &drawing.limits {
        let y = area.y + plot::row(limit.value, drawing.max, usize::from(area.height)) as u16;
        (0..grid.axis.columns).for_each(|c| brush.sign(grid.x(c), y, sign, Role::Limit));
        if !taken.contains(&y) {
            let label = if format::width(&limit.label) > usize::from(grid.margin.1) {
                limit.label.split(" = ").next().unwrap_or_default()
            } else {
                &limit.label
            };
            brush.text((grid.margin.0, y), label, Role::Limit, grid.margin.1);
            taken.push(y);
        }
    }
    taken
}

/// Draws what another machine did, and its name where the margin is free.
fn ghost(drawing: &Drawing<'_>, (grid, area, taken): (&Grid, Rect, &mut Vec<u16>), brush: &mut Brush<'_>) {
    let Some(ghost) = &drawing.ghost else { return };
    let sign = brush.look.signs().ghost;
    for (from, to, value) in &ghost.steps {
        let y = area.y + plot::row(*value, drawing.max, usize::from(area.height)) as u16;
        let Some((from, to)) = grid.axis.columns_of(*from, *to) else { continue };
        (from..=to).for_each(|c| brush.sign(grid.x(c), y, sign, Role::Dim));
    }
    let Some((.., value)) = ghost.steps.last() else { return };
    let y = area.y + plot::row(*value, drawing.max, usize::from(area.height)) as u16;
    if !taken.contains(&y) {
        let text = format!("{} {}", ghost.name, format::number(*value));
        brush.text((grid.margin.0, y), &text, Role::Dim, grid.margin.1);
        taken.push(y);
    }
}

/// The numbers of the scale, in the gutter.
fn scale(drawing: &Drawing<'_>, grid: &Grid, area: Rect, brush: &mut Brush<'_>) {
    let parts: u16 = if area.height >= 13 { 4 } else { 2 };
    for part in 0..=parts {
        let value = drawing.max * f64::from(part) / f64::from(parts);
        let y = area.y + plot::row(value, drawing.max, usize::from(area.height)) as u16;
        brush.text_before(grid.plot - 1, y, &format::number(value), Role::Dim);
    }
}

/// What the chart comes to in numbers, in the rows of the margin that no limit has taken.
fn statistics(
    view: &View<'_>,
    run: &RunState,
    drawing: &Drawing<'_>,
    (grid, area, taken): (&Grid, Rect, &mut Vec<u16>),
    brush: &mut Brush<'_>,
) {
    let free: Vec<u16> = (area.y..area.bottom()).filter(|y| !taken.contains(y)).collect();
    let (x, columns) = grid.margin;
    for (y, (name, value, role)) in free.into_iter().zip(said(view, run, drawing)) {
        brush.text((x, y), name, Role::Dim, columns);
        let columns = usize::from(columns).saturating_sub(format::width(name) + 2);
        brush.text_before(x + grid.margin.1 - 1, y, &format::cut(&value, columns), role);
    }
}

type Said = (&'static str, String, Role);

fn said(view: &View<'_>, run: &RunState, drawing: &Drawing<'_>) -> Vec<Said> {
    let spec = &drawing.meter.spec;
    let mut said: Vec<Said> = Vec::new();
    let until = |at| drawing.points.iter().rev().find(|p| p.at <= at).copied();
    let now = match view.screen.cursor {
        Some(cursor) => until(cursor).map(|p| ("cursor", p)),
        None => drawing.points.last().map(|p| (if run.is_over() { "last" } else { "now" }, *p)),
    };
    said.extend(now.map(|(name, p)| (name, format::number(p.value), Role::Series)));
    let official: Vec<f64> = drawing.figures.iter().map(|p| p.value).collect();
    said.extend(stat::median(&official).map(|m| ("median", format::number(m), Role::Figure)));
    if let Some((min, max)) = drawing.extremes {
        said.push(("max", format::number(max), Role::Text));
        said.push(("min", format::number(min), Role::Text));
    }
    if spec.unit == Unit::MegabytesPerSecond {
        said.push(("work", format::quantity(drawing.meter.total as f64, Unit::Bytes), Role::Text));
    }
    let steady = run.steady_since().filter(|_| view.screen.cursor.is_none());
    said.extend(steady.map(|since| ("steady", view.state.node_now(&run.node).since(since).to_string(), Role::Ok)));
    let latency = |q: f64| run.latency.quantile_since(&Buckets::default(), q);
    let time = |ns: u64| format::quantity(ns as f64 / 1e3, Unit::Microseconds);
    said.extend(latency(0.5).map(|ns| ("p50", time(ns), Role::Text)));
    said.extend(latency(0.99).map(|ns| ("p99", time(ns), Role::Text)));
    let oldest = run.progress.as_ref().filter(|_| !run.is_over()).and_then(|(_, p)| p.oldest);
    let old = oldest.filter(|age| *age >= OLD).map(|age| ("oldest", age.to_string(), Role::Warn));
    if let Some(old) = old {
        said.insert(1.min(said.len()), old);
    }
    said
}
