//! The first line: whose screen this is, what is being done, when, and whether the record is whole. A picture of the screen is
//! evidence, so all of it is always there.

use ratatui::layout::Rect;

use super::look::Brush;
use super::pane::{Pane, Rows, View};
use super::screen::Line;
use super::sight::Home;
use super::verdict;
use crate::analysis::state::{RunState, Status};
use crate::view::theme::Role;
use crate::view::{format, words};
use crate::vocab::event::{Phase, Prepared};
use crate::vocab::node::Fact;

pub(super) const PANE: Pane = Pane { rows: |_, _| Rows { least: 1, wish: 1, share: 0 }, draw };

type Part = (String, Role);

fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    brush.ground(area, Role::GroundBar);
    let mut end = area.right().saturating_sub(1);
    for (text, role) in right(view, area.width).into_iter().rev() {
        end = brush.text_before(end, area.y, &text, role).saturating_sub(2);
    }
    let mut x = area.x + 1;
    for (text, role) in left(view, area.width) {
        let room = end.saturating_sub(x);
        if room < 4 {
            break;
        }
        x = brush.text((x, area.y), &text, role, room) + 2;
    }
}

fn left(view: &View<'_>, width: u16) -> Vec<Part> {
    let Some(run) = view.run else {
        return vec![("shakedown".to_owned(), Role::Strong), ("waiting for the first record".to_owned(), Role::Dim)];
    };
    let node = view.state.nodes.get(&run.node);
    let inventory = node.and_then(|n| n.inventory.as_ref());
    let host = inventory.map_or(run.node.0.as_ref(), |i| i.host.as_str());
    let host_columns = if width < 100 { 16 } else { 40 };
    let mut parts = vec![(format::cut(host, host_columns), Role::Strong)];
    parts.push((serial(inventory.map(|i| &i.serial), if width < 100 { 10 } else { 30 }), Role::Dim));
    if let Some(lost) = node.and_then(|n| n.lost.as_ref()) {
        parts.push((format!("NODE LOST: {lost}"), Role::Fail));
    }
    parts.push((run.name.to_string(), Role::Strong));
    let iteration = if width < 100 { "it" } else { "iteration" };
    if run.iteration > 0 {
        parts.push((format!("{iteration} {}", run.counted(run.iteration as usize)), Role::Text));
    }
    parts.push(doing(run));
    if width >= 140 {
        let product = inventory.map(|i| format!("{}, {} CPUs, kernel {}", i.cpu, i.usable_cpus, i.kernel));
        parts.extend(product.map(|p| (p, Role::Dim)));
    }
    parts
}

fn serial(serial: Option<&Fact>, columns: usize) -> String {
    match serial {
        Some(Fact::Is(number)) => format!("SN {}", format::cut(number, columns)),
        Some(Fact::NeedsRoot) => "SN needs root".to_owned(),
        Some(Fact::NotPresent) => "SN none".to_owned(),
        Some(Fact::Unreadable(_)) | None => "SN ?".to_owned(),
    }
}

fn doing(run: &RunState) -> Part {
    match (&run.status, run.phase) {
        (Status::Waiting, _) => ("WAITS".to_owned(), Role::Dim),
        (Status::Ended(_), _) => ("ENDED".to_owned(), Role::Dim),
        (Status::Running, None) => ("STARTS".to_owned(), Role::Active),
        (Status::Running, Some((Phase::Prepare, _))) => (format!("PREPARE{}", prepared(run)), Role::Active),
        (Status::Running, Some((phase, _))) => (words::phase(phase).to_owned(), Role::Active),
    }
}

/// How far the preparation is, where that takes time.
fn prepared(run: &RunState) -> String {
    let prepared = run.progress.as_ref().and_then(|(_, progress)| progress.prepared);
    let share = |p: Prepared| (p.done as f64 / p.of.max(1) as f64 * 100.0) as u64;
    prepared.map_or_else(String::new, |p| format!(" {}%", share(p)))
}

fn right(view: &View<'_>, width: u16) -> Vec<Part> {
    let (state, screen) = (view.state, view.screen);
    let mut parts = Vec::new();
    if screen.frozen.is_some() {
        parts.push(("FROZEN".to_owned(), Role::Warn));
    } else if screen.until.is_some() {
        parts.push(("BACK IN TIME".to_owned(), Role::Warn));
    }
    if state.stop_asked && state.verdict.is_none() && state.runs.iter().any(RunState::is_running) {
        parts.push(("STOPPING".to_owned(), Role::Warn));
    }
    let passed = state.now.since(state.opened);
    if state.opening.is_some() {
        // A picture that is taken as evidence is of a day as well.
        let pattern = match screen.line {
            Line::Slow => "%H:%M",
            Line::Fast if width >= 120 => "%Y-%m-%d %H:%M:%S",
            Line::Fast => "%H:%M:%S",
        };
        parts.push((view.wall(passed, pattern), Role::Strong));
        // On a narrow screen a warning is worth more than the time since the beginning, which the wall clock tells as well.
        if width >= 100 || parts.len() == 1 {
            parts.push((format!("t {}", format::stopwatch(passed)), Role::Text));
        }
    }
    // On the screens that say it themselves it would stand twice.
    let elsewhere = !matches!(screen.home, Home::Live | Home::Verdict);
    if let Some(verdict) = state.verdict.as_ref().filter(|_| elsewhere) {
        // Of `SMOKE OK, not an acceptance` the first words are enough.
        let headline = verdict.headline();
        let word = headline.split(',').next().unwrap_or_default().to_owned();
        parts.push((word, verdict::appearance(verdict.decision, view.signs).1));
    }
    parts.push(record(view));
    parts
}

/// Whether what is shown is all there was.
fn record(view: &View<'_>) -> Part {
    let lost = view.state.lost + view.screen.damaged;
    if lost > 0 {
        return (format!("rec LOST {lost}"), Role::Fail);
    }
    // What is frozen may be older than the end.
    match (view.screen.live, view.screen.ended, view.screen.closed || view.state.verdict.is_some()) {
        (false, ended, _) => (view.screen.replay.word(ended), Role::Ok),
        (true, _, true) => ("rec closed".to_owned(), Role::Ok),
        (true, true, false) => ("rec CUT OFF".to_owned(), Role::Fail),
        (true, false, false) => ("rec ok".to_owned(), Role::Ok),
    }
}
