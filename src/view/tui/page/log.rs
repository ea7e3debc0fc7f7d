//! Everything that the session said, in the order of its time; the last entry is followed.

use super::list::{Item, List, Pieces, ROWS, Room, paragraph, piece};
use crate::analysis::state::{IterationState, Remark, RunState, State, Status};
use crate::view::theme::Role;
use crate::view::tui::finding;
use crate::view::tui::look::Signs;
use crate::view::tui::pane::{Pane, View};
use crate::view::tui::sight::Reach;
use crate::view::tui::verdict::appearance;
use crate::view::{format, words};
use crate::vocab::event::{Opening, Outcome, Phase, Start};
use crate::vocab::finding::Finding;
use crate::vocab::moment::Moment;
use crate::vocab::name::NodeName;
use crate::vocab::unit::{Quantity, short};
use crate::vocab::verdict::Verdict;

pub(super) const PANES: [Pane; 1] =
    [Pane { rows: |_, _| ROWS, draw: |view, area, brush| LIST.draw(view, area, brush) }];

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

/// One thing that was said; its words are made when it is seen.
struct Entry<'a> {
    /// On the runner's clock.
    at: Moment,
    node: Option<&'a NodeName>,
    run: Option<(usize, &'a RunState)>,
    said: Said<'a>,
}

enum Said<'a> {
    Opening(&'a Opening),
    Begins(&'a Start),
    Iteration(&'a IterationState),
    Phase(u32, Phase),
    Outcome(&'a Outcome),
    Found(&'a Finding),
    Remark(&'a Remark),
    Lost(&'a NodeName, &'a str),
    Verdict(&'a Verdict),
}

fn items(view: &View<'_>, room: &Room) -> Vec<Item> {
    let entries = entries(view.state);
    let last = entries.len().saturating_sub(1);
    let at = view.screen.sight.at.map_or(last, |at| at.min(last));
    let seen = |place: usize| room.near.is_none_or(|near| place.abs_diff(at) <= near);
    let item = |(place, entry): (usize, Entry<'_>)| {
        if !seen(place) {
            return Item { of: Some(place), ..Item::default() };
        }
        let shown = entry.node.or_else(|| view.screen.node(view.state));
        let at = shown.map_or(entry.at, |node| view.state.to_node(node, entry.at));
        let goal = Some((entry.run.map(|(place, _)| place), at));
        Item { line: line(view, &entry, room), of: Some(place), goal }
    };
    entries.into_iter().enumerate().map(item).collect()
}

fn line(view: &View<'_>, entry: &Entry<'_>, room: &Room) -> Pieces {
    let passed = entry.at.since(view.state.opened);
    let (sign, role) = entry.appearance(room.signs);
    let mut line = vec![piece(format::stopwatch(passed), Role::Dim, 9)];
    if room.width >= 100 {
        line.push(piece(view.wall(passed, "%H:%M:%S"), Role::Dim, 10));
    }
    line.extend([
        piece(sign, role, 2),
        piece(entry.about(), Role::Title, if room.width >= 100 { 22 } else { 16 }),
        piece(entry.text(), role, 0),
    ]);
    line
}

fn detail(view: &View<'_>, place: usize, room: &Room) -> Vec<Pieces> {
    let entries = entries(view.state);
    let Some(entry) = entries.get(place) else { return Vec::new() };
    let passed = entry.at.since(view.state.opened);
    let wall = view.date(passed);
    let mut lines = paragraph("when", &format!("{}  {wall}", format::stopwatch(passed)), Role::Dim, room);
    lines.extend(paragraph("about", &entry.about(), Role::Title, room));
    lines.extend(paragraph("said", &entry.text(), entry.appearance(room.signs).1, room));
    lines
}

fn entries(state: &State) -> Vec<Entry<'_>> {
    let session = |at, said| Entry { at, node: None, run: None, said };
    let mut entries: Vec<Entry<'_>> = state.opening.iter().map(|o| session(state.opened, Said::Opening(o))).collect();
    for (place, run) in state.runs.iter().enumerate() {
        entries.extend(of_run(state, (place, run)));
    }
    entries.extend(state.findings.values().filter_map(|f| {
        let node = state.found_on.get(&f.id)?;
        let run = state.runs.iter().enumerate().find(|(_, r)| r.node == *node && Some(&r.name) == f.run.as_ref());
        Some(Entry { at: state.to_runner(node, f.said), node: Some(node), run, said: Said::Found(f) })
    }));
    entries.extend(state.remarks.iter().map(|remark| {
        let runner = remark.node.is_runner();
        let at = if runner { remark.at } else { state.to_runner(&remark.node, remark.at) };
        Entry { at, node: (!runner).then_some(&remark.node), run: None, said: Said::Remark(remark) }
    }));
    entries.sort_by_key(|entry| entry.at);
    let lost = state.nodes.iter().filter_map(|(name, node)| Some((name, node.lost.as_ref()?)));
    entries.extend(lost.map(|(name, why)| session(state.now, Said::Lost(name, why))));
    entries.extend(state.verdict.iter().map(|verdict| session(state.now, Said::Verdict(verdict))));
    entries
}

/// The beginning, the phases, the iterations and the end of a run.
fn of_run<'a>(state: &State, (place, run): (usize, &'a RunState)) -> Vec<Entry<'a>> {
    let entry = |at: Moment, said| Entry {
        at: state.to_runner(&run.node, at),
        node: Some(&run.node),
        run: Some((place, run)),
        said,
    };
    let begun = run.started.zip(run.start.as_ref()).map(|(at, start)| entry(at, Said::Begins(start)));
    let iterations = run.done.iter().map(|iteration| entry(iteration.ended, Said::Iteration(iteration)));
    // At one time an iteration ends before the next phase begins.
    let phases = run.phases.iter().map(|(iteration, phase, at)| entry(*at, Said::Phase(*iteration, *phase)));
    let over = match (run.ended, &run.status) {
        (Some(at), Status::Ended(outcome)) => Some(entry(at, Said::Outcome(outcome))),
        _ => None,
    };
    begun.into_iter().chain(iterations).chain(phases).chain(over).collect()
}

impl Entry<'_> {
    /// What it is about: a run, the node, the session.
    fn about(&self) -> String {
        match (&self.said, self.run, self.node) {
            (Said::Found(Finding { run: Some(run), .. }), ..) => run.to_string(),
            (_, Some((_, run)), _) => run.name.to_string(),
            (_, None, Some(node)) => node.to_string(),
            (_, None, None) => "session".to_owned(),
        }
    }

    fn appearance(&self, signs: &'static Signs) -> (&'static str, Role) {
        match self.said {
            Said::Opening(_) => (signs.run, Role::Text),
            Said::Begins(_) => (signs.run, Role::Active),
            Said::Iteration(_) if self.odd().is_some() => (signs.figure, Role::Warn),
            Said::Iteration(_) => (signs.figure, Role::Figure),
            Said::Phase(..) => (" ", Role::Dim),
            Said::Outcome(Outcome::Sound) => (signs.ok, Role::Ok),
            Said::Outcome(_) => (signs.unproven, Role::Unproven),
            Said::Found(found) => finding::appearance(found, signs),
            Said::Remark(_) => ("n", Role::Text),
            Said::Lost(..) => (signs.fail, Role::Fail),
            Said::Verdict(verdict) => appearance(verdict.decision, signs),
        }
    }

    /// What is out of the ordinary about an iteration.
    fn odd(&self) -> Option<String> {
        let Said::Iteration(iteration) = self.said else { return None };
        self.run.and_then(|(_, run)| words::odd(run, iteration))
    }

    fn text(&self) -> String {
        let run = self.run.map(|(_, run)| run);
        match self.said {
            Said::Opening(o) => format!("{} began, plan {}: {}", o.session, o.plan.name, o.plan.title),
            Said::Begins(start) => {
                let labels: Vec<String> = start.labels.iter().map(|(name, value)| format!("{name} {value}")).collect();
                format!("begins: {}", labels.join(", "))
            }
            Said::Iteration(iteration) => {
                let odd = self.odd().map_or_else(String::new, |odd| format!("  {odd}"));
                let figures = run.map_or_else(String::new, |run| figures(run, iteration));
                format!("iteration {}: {figures}{odd}", iteration.number)
            }
            Said::Phase(0, phase) => words::phase(phase).to_owned(),
            Said::Phase(iteration, phase) => format!("{} of iteration {iteration}", words::phase(phase)),
            Said::Outcome(outcome) => words::outcome(outcome, run),
            Said::Found(found) => format!("{} {}", found.severity, finding::sentence(found)),
            Said::Remark(remark) => remark.text.clone(),
            Said::Lost(name, why) => format!("{name} is lost: {why}"),
            Said::Verdict(verdict) => format!("verdict: {}", verdict.headline()),
        }
    }
}

/// The figures of an iteration, the main one first.
fn figures(run: &RunState, iteration: &IterationState) -> String {
    let main = run.main_figure().map_or("", |(name, _)| name);
    let mut figures: Vec<_> = iteration.figures.iter().collect();
    figures.sort_by_key(|figure| figure.name != main);
    let text = figures.iter().take(FIGURES).map(|f| format!("{} {}", f.name, short(Quantity::new(f.value, f.unit))));
    text.collect::<Vec<_>>().join("  ")
}
