//! The host's counters that explain a run, on the same time axis as its chart.

use ratatui::layout::Rect;

use super::grid::Grid;
use super::host::too_old;
use super::look::Brush;
use super::pane::View;
use super::plot;
use crate::analysis::series::Series;
use crate::analysis::state::{Host, ROWS, Row, RunState};
use crate::view::format;
use crate::view::theme::Role;
use crate::vocab::finding::Evidence;
use crate::vocab::moment::Span;
use crate::vocab::plan::Load;
use crate::vocab::unit::Unit;

/// A row that a kind of run is explained by: its source, its device (`*` is the run's own, `^` the one that it was highest of), its
/// name, and what it is called here.
type Wanted = (&'static str, &'static str, &'static str, &'static str);

const FOR_DISK: &[Wanted] = &[
    ("disk", "*", "write", "write"),
    ("disk", "*", "read", "read"),
    ("disk", "*", "await", "await"),
    ("disk", "*", "queue", "queue"),
    ("disk", "*", "util", "util"),
    ("cpu", "", "iowait", "cpu iowait"),
    ("memory", "", "dirty", "mem dirty"),
    ("memory", "", "writeback", "mem writeback"),
    ("pressure", "io", "full", "psi io full"),
    ("nvme", "^", "temperature", "temperature"),
];

const FOR_CPU: &[Wanted] = &[
    ("clock", "", "median", "clock median"),
    ("cpu", "", "busy", "cpu busy"),
    ("cpu", "", "steal", "cpu steal"),
    ("cgroup", "", "throttled", "quota"),
    ("thermal", "^", "temperature", "temperature"),
    ("thermal", "^", "throttles", "throttles"),
    ("thermal", "^", "power limits", "power limits"),
    ("thermal", "^", "power", "power"),
    ("cpu", "", "iowait", "cpu iowait"),
    ("pressure", "cpu", "some", "psi cpu"),
];

const FOR_MEMORY: &[Wanted] = &[
    ("clock", "", "median", "clock median"),
    ("numa", "^", "miss", "numa misses"),
    ("cpu", "", "steal", "cpu steal"),
    ("memory", "", "swap", "mem swap"),
    ("memory", "", "available", "mem avail"),
    ("cpu", "", "busy", "cpu busy"),
];

fn wanted(load: &Load) -> &'static [Wanted] {
    match load {
        Load::Disk(_) => FOR_DISK,
        Load::Linpack(_) | Load::Gemm(_) | Load::Integer(_) | Load::Synthetic(_) => FOR_CPU,
        Load::Stream(_) | Load::Memory(_) | Load::MemoryLatency(_) => FOR_MEMORY,
    }
}

/// A row of the screen.
pub(super) struct HostRow<'a> {
    label: String,
    unit: Unit,
    series: Option<&'a Series>,
    /// The value before the finding, where the finding names it.
    before: Option<f64>,
}

/// Columns of a value with its unit.
const VALUE: u16 = 9;
/// How long before an onset the level is taken that a row had.
const BEFORE: Span = Span::seconds(10);

/// The rows of a run, those that its foremost finding names, then those of its kind; and the names of those that are not read here.
pub(super) fn rows<'a>(view: &View<'a>, run: &RunState) -> (Vec<HostRow<'a>>, Vec<String>) {
    let Some(host) = view.state.nodes.get(&run.node).map(|n| &n.host) else { return (Vec::new(), Vec::new()) };
    let device = run.start.as_ref().and_then(|s| s.labels.get("device")).map(|d| d.trim_start_matches("/dev/"));
    let evidence = view.finding.map_or(&[][..], |f| &f.evidence);
    let mut taken: Vec<(String, &str)> = Vec::new();
    let mut rows = Vec::new();
    for shown in evidence {
        if let Some((key, name)) = named(host, &shown.counter) {
            rows.push(HostRow {
                label: shown.counter.clone(),
                unit: unit(&key, name),
                series: host.row(&key, name),
                before: Some(shown.before.value).filter(|_| same_unit(shown, &key, name)),
            });
            taken.push((key, name));
        }
    }
    for (source, place, name, label) in wanted(&run.load) {
        let own = *place == "*";
        let place = match *place {
            "*" => device.unwrap_or("?"),
            "^" => highest(host, source, name).unwrap_or("?"),
            named => named,
        };
        let key = format!("{source}/{place}");
        if taken.iter().any(|(k, n)| *k == key && n == name) {
            continue;
        }
        let label = if own { format!("{} {label}", device.unwrap_or("disk")) } else { (*label).to_owned() };
        rows.push(HostRow { label, unit: unit(&key, name), series: host.row(&key, name), before: None });
    }
    let (rows, missing): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.series.is_some());
    (rows, missing.into_iter().map(|row| row.label).collect())
}

/// The device of a source whose row has been highest; it seldom changes, unlike the one whose row is highest now.
fn highest<'a>(host: &'a Host, source: &str, name: &str) -> Option<&'a str> {
    let peak = |device: &str| host.row(&format!("{source}/{device}"), name)?.peak();
    let known = host.of_source(source).filter_map(|(device, _)| Some((device, peak(device)?)));
    known.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(device, _)| device)
}

/// The unit of a row of a device.
pub(super) fn unit(key: &str, name: &str) -> Unit {
    let source = key.split('/').next().unwrap_or_default();
    ROWS.iter().find(|r| r.source == source && r.name == name).map_or(Unit::Ratio, |r| r.unit)
}

fn same_unit(shown: &Evidence, key: &str, name: &str) -> bool {
    shown.before.unit == unit(key, name)
}

/// The device and row that evidence means by its words: `vda await`, `cpu iowait`, `pressure io full`.
fn named(host: &Host, counter: &str) -> Option<(String, &'static str)> {
    // `cpu iowait` is the node's, never that of a single CPU, of which there may be hundreds.
    let whole = |key: &&String| !key.starts_with("cpu/") || key.len() == "cpu/".len();
    // Few rows end these words, and there may be thousands of devices.
    let ends = |name: &str| counter.strip_suffix(name).and_then(|rest| rest.strip_suffix(' '));
    let rows: Vec<_> = ROWS.iter().filter_map(|row| Some((row, ends(row.name)?))).collect();
    let row = |key: &'_ String| {
        let (source, device) = key.split_once('/').unwrap_or((key, ""));
        let meant = |(row, before): &&(&Row, &str)| row.source == source && is_of(before, (key, source, device));
        rows.iter().find(meant).map(|(row, _)| (key.clone(), row.name))
    };
    host.devices.keys().filter(whole).find_map(row)
}

/// Whether these words mean a device: its name, its source, both in either order, or its key.
fn is_of(words: &str, (key, source, device): (&str, &str, &str)) -> bool {
    let both = |first: &str, second: &str| words.strip_prefix(first).and_then(|r| r.strip_prefix(' ')) == Some(second);
    words == device || words == source || words == key || both(source, device) || both(device, source)
}

/// The heads of the two columns of values, on the row of the axis.
pub(super) fn heads(view: &View<'_>, (grid, y): (&Grid, u16), brush: &mut Brush<'_>) {
    let first = if view.finding.is_some() { "before" } else { "least" };
    let second =
        if view.screen.cursor.is_some() { "cursor".to_owned() } else { age(view).unwrap_or("last".to_owned()) };
    let (middle, end) = columns(grid);
    brush.text_before(middle, y, first, Role::Dim);
    brush.text_before(end, y, &second, Role::Dim);
}

/// How old the latest reading is, where it is too old to stand for the present of a run under way.
fn age(view: &View<'_>) -> Option<String> {
    let run = view.run.filter(|run| run.is_running())?;
    let host = &view.state.nodes.get(&run.node)?.host;
    too_old(view.state.node_now(&run.node).since(host.at)).filter(|_| !host.devices.is_empty())
}

/// Where the two columns of values end.
fn columns(grid: &Grid) -> (u16, u16) {
    let end = grid.margin.0 + grid.margin.1 - 1;
    (end - VALUE - 1, end)
}

/// Paints the rows, each as high as they share the area.
pub(super) fn draw(view: &View<'_>, rows: &[HostRow<'_>], (grid, area): (&Grid, Rect), brush: &mut Brush<'_>) {
    let each = area.height / (rows.len() as u16).max(1);
    for (index, row) in rows.iter().enumerate() {
        let place = Rect { y: area.y + index as u16 * each, height: each, ..area };
        self::row(view, row, (grid, place), brush);
    }
}

fn row(view: &View<'_>, row: &HostRow<'_>, (grid, area): (&Grid, Rect), brush: &mut Brush<'_>) {
    let y = area.bottom().saturating_sub(1);
    let axis = &grid.axis;
    brush.text((grid.gutter.0 + 1, y), &row.label, Role::Text, grid.gutter.1 - 1);
    let points = row.series.map(|s| s.between(axis.from, axis.to)).unwrap_or_default();
    if points.is_empty() {
        brush.text((grid.plot, y), "no data", Role::Dim, axis.columns as u16);
        return;
    }
    let values = axis.spread(&points);
    let max = points.iter().map(|p| p.value).fold(least_scale(row.unit), f64::max);
    let bars = plot::bars(brush.look.signs(), &values, max, usize::from(area.height));
    for (bar_y, bar) in (area.y..area.bottom()).zip(&bars) {
        brush.signs((grid.plot, bar_y), bar, Role::Host);
    }
    let last = match view.screen.cursor {
        Some(cursor) => points.iter().rev().find(|p| p.at <= cursor),
        None => points.last(),
    };
    let before = match view.finding {
        Some(finding) => {
            let level = || row.series?.median_between(finding.onset - BEFORE, finding.onset);
            row.before.or_else(level)
        }
        None => points.iter().map(|p| p.value).reduce(f64::min),
    };
    let (middle, end) = columns(grid);
    let last = last.map(|p| p.value);
    let (first, second) = format::pair(before.or(last).unwrap_or(0.0), last.or(before).unwrap_or(0.0), row.unit);
    let known = |value: Option<f64>, text: String| value.map_or_else(|| "-".to_owned(), |_| text);
    brush.text_before(middle, y, &known(before, first), Role::Dim);
    let role = if age(view).is_some() { Role::Dim } else { Role::Strong };
    brush.text_before(end, y, &known(last, second), role);
}

/// The smallest full height of a row, so that next to nothing looks like next to nothing.
pub(super) fn least_scale(unit: Unit) -> f64 {
    match unit {
        Unit::Percent => 20.0,
        Unit::Bytes => 64e6,
        Unit::MegabytesPerSecond | Unit::Milliseconds | Unit::Ratio => 1.0,
        _ => 10.0,
    }
}
