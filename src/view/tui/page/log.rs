//! Everything that the session said, in the order of its time; the last entry is followed.

use super::list::{Item, List, Pieces, Room, paragraph, piece};
use crate::analysis::state::{IterationState, RunState, State, Status};
use crate::view::theme::Role;
use crate::view::tui::finding;
use crate::view::tui::look::Signs;
use crate::view::tui::pane::{Pane, View};
use crate::view::tui::sight::Reach;
use crate::view::tui::verdict::appearance;
use crate::view::{format, words};
use crate::vocab::event::Outcome;
use crate::vocab::moment::Moment;
use crate::vocab::name::NodeName;
use crate::vocab::unit::{Quantity, short};

pub(super) const PANES: [Pane; 2] = [
    Pane { rows: |view, size| LIST.rows(view, size), draw: |view, area, brush| LIST.draw(view, area, brush) },
    Pane {
        rows: |view, size| LIST.rows_below(view, size),
        draw: |view, area, brush| LIST.draw_below(view, area, brush),
    },
];

const LIST: List = List {
    title,
    heads: |_| Vec::new(),
    items,
    detail: Some(detail),
    beside: false,
    empty: |_| "nothing was said yet".to_owned(),
    rest: |_, items| items.len().saturating_sub(1),
};

/// Figures of an iteration in its line.
const FIGURES: usize = 4;

pub(super) fn reach(view: &View<'_>, size: (u16, u16)) -> Reach {
    LIST.reach(view, size)
}

fn title(view: &View<'_>) -> (String, String) {
    let follows = if view.screen.sight.at.is_none() { "follows the end" } else { "G follows the end" };
    ("Log".to_owned(), follows.to_owned())
}

/// One thing that was said.
struct Entry<'a> {
    /// On the runner's clock.
    at: Moment,
    node: Option<&'a NodeName>,
    run: Option<usize>,
    /// What it is about: a run, the node, a person.
    about: String,
    sign: &'static str,
    role: Role,
    text: String,
}

fn items(view: &View<'_>, room: &Room) -> Vec<Item> {
    let item = |(place, entry): (usize, Entry<'_>)| {
        let passed = entry.at.since(view.state.opened);
        let mut line = vec![piece(format::stopwatch(passed), Role::Dim, 9)];
        if room.width >= 100 {
            line.push(piece(view.wall(passed, "%H:%M:%S"), Role::Dim, 10));
        }
        line.extend([
            piece(entry.sign, entry.role, 2),
            piece(entry.about, Role::Title, if room.width >= 100 { 22 } else { 16 }),
            piece(entry.text, entry.role, 0),
        ]);
        let shown = entry.node.or_else(|| view.screen.node(view.state));
        let at = shown.map_or(entry.at, |node| view.state.to_node(node, entry.at));
        Item { line, of: Some(place), goal: Some((entry.run, at)) }
    };
    entries(view, room.signs).into_iter().enumerate().map(item).collect()
}

fn detail(view: &View<'_>, place: usize, room: &Room) -> Vec<Pieces> {
    let entries = entries(view, room.signs);
    let Some(entry) = entries.get(place) else { return Vec::new() };
    let passed = entry.at.since(view.state.opened);
    let wall = view.date(passed);
    let mut lines = paragraph("when", &format!("{}  {wall}", format::stopwatch(passed)), Role::Dim, room);
    lines.extend(paragraph("about", &entry.about, Role::Title, room));
    lines.extend(paragraph("said", &entry.text, entry.role, room));
    lines
}

fn entries<'a>(view: &View<'a>, signs: &'static Signs) -> Vec<Entry<'a>> {
    let state = view.state;
    let mut entries: Vec<Entry<'_>> = beginning(state, signs).into_iter().collect();
    for (place, run) in state.runs.iter().enumerate() {
        entries.extend(of_run(state, (place, run), signs));
    }
    entries.extend(state.findings.values().filter_map(|f| {
        let node = state.found_on.get(&f.id)?;
        let run = state.runs.iter().position(|r| r.node == *node && Some(&r.name) == f.run.as_ref());
        let (sign, role) = finding::appearance(f, signs);
        let text = format!("{} {}", f.severity, finding::sentence(f));
        let about = f.run.as_ref().map_or_else(|| node.to_string(), ToString::to_string);
        Some(Entry { at: state.to_runner(node, f.said), node: Some(node), run, about, sign, role, text })
    }));
    entries.extend(state.remarks.iter().map(|remark| {
        let runner = remark.node.is_runner();
        let about = if runner { "session".to_owned() } else { remark.node.to_string() };
        let at = if runner { remark.at } else { state.to_runner(&remark.node, remark.at) };
        let node = (!runner).then_some(&remark.node);
        Entry { at, node, run: None, about, sign: "n", role: Role::Text, text: remark.text.clone() }
    }));
    entries.sort_by_key(|entry| entry.at);
    entries.extend(end(state, signs));
    entries
}

fn session(at: Moment, (sign, role): (&'static str, Role), text: String) -> Entry<'static> {
    Entry { at, node: None, run: None, about: "session".to_owned(), sign, role, text }
}

fn beginning(state: &State, signs: &'static Signs) -> Option<Entry<'static>> {
    let opening = state.opening.as_ref()?;
    let text = format!("{} began, plan {}: {}", opening.session, opening.plan.name, opening.plan.title);
    Some(session(state.opened, (signs.run, Role::Text), text))
}

fn end(state: &State, signs: &'static Signs) -> Vec<Entry<'static>> {
    let lost = state.nodes.iter().filter_map(|(name, node)| Some((name, node.lost.as_ref()?)));
    let lost = lost.map(|(name, why)| session(state.now, (signs.fail, Role::Fail), format!("{name} is lost: {why}")));
    let verdict = state.verdict.as_ref().map(|verdict| {
        session(state.now, appearance(verdict.decision, signs), format!("verdict: {}", verdict.headline()))
    });
    lost.chain(verdict).collect()
}

/// The beginning, the phases, the iterations and the end of a run.
fn of_run<'a>(state: &State, (place, run): (usize, &'a RunState), signs: &'static Signs) -> Vec<Entry<'a>> {
    let entry = |at, sign, role, text| Entry {
        at: state.to_runner(&run.node, at),
        node: Some(&run.node),
        run: Some(place),
        about: run.name.to_string(),
        sign,
        role,
        text,
    };
    let mut entries = Vec::new();
    if let (Some(at), Some(start)) = (run.started, &run.start) {
        let labels: Vec<String> = start.labels.iter().map(|(name, value)| format!("{name} {value}")).collect();
        entries.push(entry(at, signs.run, Role::Active, format!("begins: {}", labels.join(", "))));
    }
    for iteration in &run.done {
        let odd = words::odd(run, iteration).map_or_else(String::new, |odd| format!("  {odd}"));
        let role = if odd.is_empty() { Role::Figure } else { Role::Warn };
        let text = format!("iteration {}: {}{odd}", iteration.number, figures(run, iteration));
        entries.push(entry(iteration.ended, signs.figure, role, text));
    }
    // At one time an iteration ends before the next phase begins.
    entries.extend(run.phases.iter().map(|(iteration, phase, at)| {
        let of = if *iteration > 0 { format!(" of iteration {iteration}") } else { String::new() };
        entry(*at, " ", Role::Dim, format!("{}{of}", words::phase(*phase)))
    }));
    if let (Some(at), Status::Ended(outcome)) = (run.ended, &run.status) {
        let sound = *outcome == Outcome::Sound;
        let (sign, role) = if sound { (signs.ok, Role::Ok) } else { (signs.unproven, Role::Unproven) };
        entries.push(entry(at, sign, role, words::outcome(outcome, Some(run))));
    }
    entries
}

/// The figures of an iteration, the main one first.
fn figures(run: &RunState, iteration: &IterationState) -> String {
    let main = run.main_figure().map_or("", |(name, _)| name);
    let mut figures: Vec<_> = iteration.figures.iter().collect();
    figures.sort_by_key(|figure| figure.name != main);
    let text = figures.iter().take(FIGURES).map(|f| format!("{} {}", f.name, short(Quantity::new(f.value, f.unit))));
    text.collect::<Vec<_>>().join("  ")
}
