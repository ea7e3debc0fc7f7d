//! The CPUs: a bar each while they are few, else a strip with a cell for one or several.

use ratatui::layout::Rect;

use super::history::{self, Past};
use super::{Section, Shown};
use crate::analysis::series::Series;
use crate::view::format;
use crate::view::theme::{Glyphs, Role};
use crate::view::tui::look::{Brush, Look};
use crate::view::tui::pane::{Pane, Rows, View};
use crate::vocab::stat;

pub(super) const PANE: Pane = Pane { rows, draw };

/// So many CPUs have a bar each.
const BARS: usize = 16;
/// Columns of a CPU with its bar.
const CELL: u16 = 19;
/// Columns of the number before a line of the strip.
const GUTTER: u16 = 6;
/// Lines of the strip while it shares the screen.
const STRIP: u16 = 3;

/// Screens lower than this have no room for the past of the CPUs.
const LOWEST: u16 = 34;
/// The rows of all CPUs together whose past is shown.
const PAST: [&str; 3] = ["busy", "iowait", "steal"];

/// A CPU: its number and load; none when it is offline or was not read yet.
struct Cpu {
    number: u32,
    busy: Option<f64>,
    offline: bool,
}

fn cpus(shown: &Shown<'_>) -> Vec<Cpu> {
    let each = shown.host.of_source("cpu").filter_map(|(name, device)| {
        let offline = device.gone.is_some();
        let busy = shown.host.row(&format!("cpu/{name}"), "busy").and_then(Series::last).map(|p| p.value);
        Some(Cpu { number: name.parse().ok()?, busy: busy.filter(|_| !offline), offline })
    });
    let mut cpus: Vec<Cpu> = each.collect();
    cpus.sort_by_key(|cpu| cpu.number);
    cpus
}

fn rows(view: &View<'_>, (width, height): (u16, u16)) -> Rows {
    let Some(shown) = Shown::of(view) else { return Rows { least: 3, wish: 3, share: 0 } };
    let wide = shown.is_wide(Section::Cpus);
    let lines = lines(&shown, width.saturating_sub(2));
    let past = if height >= LOWEST && shown.sight.section.is_none() { history::lines(PAST.len() as u16) } else { 0 };
    Rows { least: if wide { 8 } else { 4 }, wish: 3 + lines + past, share: u16::from(wide) }
}

/// Lines of the CPUs themselves on so many columns.
fn lines(shown: &Shown<'_>, columns: u16) -> u16 {
    let count = shown.host.of_source("cpu").filter(|(name, _)| !name.is_empty()).count();
    let inner = columns.saturating_sub(2).max(CELL);
    if count <= BARS {
        return count.div_ceil(usize::from(inner / CELL)) as u16;
    }
    let all = count.div_ceil(usize::from(inner - GUTTER).max(1)) as u16;
    match shown.sight.section {
        Some(Section::Cpus) => all,
        Some(_) => 1,
        None => all.min(STRIP),
    }
}

fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let Some(shown) = Shown::of(view) else {
        let inner = brush.frame(area, Role::Frame, ("CPUs", ""));
        brush.text((inner.x + 1, inner.y), "nothing has been read of a node yet", Role::Dim, inner.width);
        return;
    };
    let cpus = cpus(&shown);
    let stale = shown.stale("cpu/");
    let offline = cpus.iter().filter(|c| c.offline).count();
    let gone = if offline > 0 { format!(", {offline} offline") } else { String::new() };
    let right = stale.clone().unwrap_or_else(|| spread(&cpus));
    let title = format!("{} CPU{}{gone}", cpus.len(), if cpus.len() == 1 { "" } else { "s" });
    let inner = brush.frame(area, shown.frame(Section::Cpus), (&title, &right));
    let role = |role| if stale.is_some() { Role::Dim } else { role };
    brush.text((inner.x + 1, inner.y), &whole(&shown), role(Role::Text), inner.width.saturating_sub(2));
    let below = inner.height.saturating_sub(1);
    let own = if shown.is_wide(Section::Cpus) { below } else { below.min(lines(&shown, inner.width).max(1)) };
    let area = Rect { y: inner.y + 1, height: own, ..inner };
    if cpus.len() <= BARS {
        bars(&cpus, area, role(Role::Host), brush);
    } else {
        strip(&shown, &cpus, (area, inner.bottom()), role(Role::Host), brush);
    }
    let called = |row: &'static str| Past { key: "cpu/".to_owned(), row, called: format!("cpu {row}") };
    let rest = Rect { y: area.bottom(), height: below - own, ..inner };
    history::draw(&shown, &PAST.map(called), rest, brush);
}

/// Least, median and most of the loads.
fn spread(cpus: &[Cpu]) -> String {
    let loads: Vec<f64> = cpus.iter().filter_map(|c| c.busy).collect();
    let place = |q| stat::quantile(&loads, q).map(format::number);
    match (place(0.0), place(0.5), place(1.0)) {
        (Some(least), Some(median), Some(most)) => format!("busy: min {least}, median {median}, max {most} %"),
        _ => String::new(),
    }
}

/// All CPUs together, in words.
fn whole(shown: &Shown<'_>) -> String {
    let row = |device: &str, name: &str| shown.host.latest(device, name);
    let Some(busy) = row("cpu/", "busy") else { return "no rate of all CPUs yet".to_owned() };
    let mut text = format!("all: busy {} %", format::number(busy));
    for name in ["user", "guest", "system", "iowait", "steal"] {
        if let Some(value) = row("cpu/", name) {
            text += &format!("  {name} {}", format::number(value));
        }
    }
    if let (Some(least), Some(median)) = (row("clock/", "least"), row("clock/", "median")) {
        text += &format!("  MHz {median:.0}, min {least:.0}");
    }
    if let Some(throttled) = row("cgroup/", "throttled").filter(|share| *share > 0.0) {
        text += &format!("  throttled {} %", format::number(throttled));
    }
    text
}

fn bars(cpus: &[Cpu], area: Rect, role: Role, brush: &mut Brush<'_>) {
    let beside = usize::from((area.width.saturating_sub(2) / CELL).max(1));
    let lines = cpus.len().div_ceil(beside).max(1);
    for (place, cpu) in cpus.iter().enumerate() {
        let (column, line) = (place / lines, place % lines);
        let (x, y) = (area.x + 1 + column as u16 * CELL, area.y + line as u16);
        if y >= area.bottom() {
            continue;
        }
        brush.text((x, y), &format::right(&cpu.number.to_string(), 3), Role::Dim, 3);
        let Some(busy) = cpu.busy else {
            brush.text((x + 4, y), if cpu.offline { "offline" } else { "-" }, Role::Dim, CELL - 5);
            continue;
        };
        let full = brush.look.signs().bars.last().copied().unwrap_or("#");
        let bar = full.repeat((busy / 100.0 * 8.0).round().clamp(0.0, 8.0) as usize);
        brush.text((x + 4, y), &bar, role, 8);
        brush.text((x + 12, y), &format::right(&format!("{busy:.0} %"), 6), role, 6);
    }
}

fn strip(shown: &Shown<'_>, cpus: &[Cpu], (area, foot): (Rect, u16), role: Role, brush: &mut Brush<'_>) {
    let across = usize::from(area.width.saturating_sub(GUTTER + 2)).max(1);
    let lines = usize::from(area.height);
    // With the room for itself every CPU has its cell, scrolled where they do not fit.
    let each = if shown.is_wide(Section::Cpus) { 1 } else { cpus.len().div_ceil((across * lines).max(1)).max(1) };
    let cells: Vec<&[Cpu]> = cpus.chunks(each).collect();
    let rows: Vec<&[&[Cpu]]> = cells.chunks(across).collect();
    let skipped = shown.skipped(Section::Cpus, (rows.len(), lines));
    for (y, row) in (area.y..area.bottom()).zip(rows.iter().skip(skipped)) {
        let first = row.first().and_then(|cell| cell.first()).map_or(0, |cpu| cpu.number);
        brush.text((area.x + 1, y), &format::right(&first.to_string(), usize::from(GUTTER) - 2), Role::Dim, GUTTER - 1);
        for (x, cell) in (area.x + GUTTER..).zip(*row) {
            let loads: Vec<f64> = cell.iter().filter_map(|cpu| cpu.busy).collect();
            match stat::mean(&loads) {
                Some(load) => brush.sign(x, y, heat(brush.look, load), role),
                None => brush.sign(x, y, "x", Role::Dim),
            }
        }
    }
    let below = rows.len().saturating_sub(skipped + lines);
    let text = match (each, below) {
        (2.., _) => format!(" {each} CPUs a cell "),
        (_, 1..) => format!(" {below} more below "),
        _ => return,
    };
    if area.height > 0 {
        brush.text_before(area.right() - 1, foot, &text, Role::Dim);
    }
}

/// A load as one sign: the height of a bar, or tenths where there are no bars.
fn heat(look: &Look, load: f64) -> &'static str {
    const TENTHS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let signs: &[&str] = if look.glyphs == Glyphs::Ascii { &TENTHS } else { look.signs().bars };
    let place = (load / 100.0 * signs.len() as f64).clamp(0.0, signs.len() as f64 - 1.0);
    signs[place as usize]
}
