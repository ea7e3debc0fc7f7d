//! Everything that the session said, in the order of its time; the last entry is followed.

use super::list::{Item, Items, List, Pieces, ROWS, Room, paragraph, piece};
use crate::analysis::state::{IterationState, Remark, RunState, State, Status};
use crate::view::theme::Role;
use crate::view::tui::finding;
use crate::view::tui::look::Signs;
use crate::view::tui::pane::{Pane, View};
use crate::view::tui::said::Said;
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
    rest: |_, items| items.count().saturating_sub(1),
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
    what: What<'a>,
}

enum What<'a> {
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

fn items(view: &View<'_>, room: &Room) -> Items {
    let said = view.outlook.chronicle.of(view.state);
    let at = view.screen.sight.at.unwrap_or(usize::MAX).min(said.len().saturating_sub(1));
    let near = room.near.unwrap_or(said.len());
    let shown = at.saturating_sub(near)..said.len().min(at.saturating_add(near + 1));
    let (before, after) = (shown.start, said.len() - shown.end);
    Items { before, shown: shown.filter_map(|place| item(view, place, room)).collect(), after }
}

fn item(view: &View<'_>, place: usize, room: &Room) -> Option<Item> {
    let entry = entry(view, place)?;
    let shown = entry.node.or_else(|| view.screen.node(view.state));
    let at = shown.map_or(entry.at, |node| view.state.to_node(node, entry.at));
    let goal = Some((entry.run.map(|(place, _)| place), at));
    Some(Item { line: line(view, &entry, room), of: Some(place), goal })
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
    let Some(entry) = entry(view, place) else { return Vec::new() };
    let passed = entry.at.since(view.state.opened);
    let wall = view.date(passed);
    let mut lines = paragraph("when", &format!("{}  {wall}", format::stopwatch(passed)), Role::Dim, room);
    lines.extend(paragraph("about", &entry.about(), Role::Title, room));
    lines.extend(paragraph("said", &entry.text(), entry.appearance(room.signs).1, room));
    lines
}

/// What was said in this place.
fn entry<'a>(view: &View<'a>, place: usize) -> Option<Entry<'a>> {
    let state = view.state;
    let (at, said) = view.outlook.chronicle.of(state).get(place)?;
    let of_run = |place: usize| Some((place, state.runs.get(place)?));
    let run = match said {
        Said::Begins(run) | Said::Iteration(run, _) | Said::Phase(run, _) | Said::Outcome(run) => of_run(*run),
        Said::Found(_, run) => run.and_then(of_run),
        _ => None,
    };
    let what = what(state, said, run.map(|(_, run)| run))?;
    let node = match &what {
        What::Found(found) => state.found_on.get(&found.id),
        What::Remark(remark) => Some(&remark.node).filter(|node| !node.is_runner()),
        _ => run.map(|(_, run)| &run.node),
    };
    Some(Entry { at: *at, node, run, what })
}

fn what<'a>(state: &'a State, said: &'a Said, run: Option<&'a RunState>) -> Option<What<'a>> {
    Some(match said {
        Said::Opening => What::Opening(state.opening.as_ref()?),
        Said::Begins(_) => What::Begins(run?.start.as_ref()?),
        Said::Iteration(_, iteration) => What::Iteration(run?.done.get(*iteration)?),
        Said::Phase(_, phase) => {
            run?.phases.get(*phase).map(|(iteration, phase, _)| What::Phase(*iteration, *phase))?
        }
        Said::Outcome(_) => match &run?.status {
            Status::Ended(outcome) => What::Outcome(outcome),
            _ => return None,
        },
        Said::Found(id, _) => What::Found(state.findings.get(id)?),
        Said::Remark(remark) => What::Remark(state.remarks.get(*remark)?),
        Said::Lost(name) => What::Lost(name, state.nodes.get(name)?.lost.as_ref()?),
        Said::Verdict => What::Verdict(state.verdict.as_ref()?),
    })
}

impl Entry<'_> {
    /// What it is about: a run, the node, the session.
    fn about(&self) -> String {
        match (&self.what, self.run, self.node) {
            (What::Found(Finding { run: Some(run), .. }), ..) => run.to_string(),
            (_, Some((_, run)), _) => run.name.to_string(),
            (_, None, Some(node)) => node.to_string(),
            (_, None, None) => "session".to_owned(),
        }
    }

    fn appearance(&self, signs: &'static Signs) -> (&'static str, Role) {
        match self.what {
            What::Opening(_) => (signs.run, Role::Text),
            What::Begins(_) => (signs.run, Role::Active),
            What::Iteration(_) if self.odd().is_some() => (signs.figure, Role::Warn),
            What::Iteration(_) => (signs.figure, Role::Figure),
            What::Phase(..) => (" ", Role::Dim),
            What::Outcome(Outcome::Sound) => (signs.ok, Role::Ok),
            What::Outcome(_) => (signs.unproven, Role::Unproven),
            What::Found(found) => finding::appearance(found, signs),
            What::Remark(_) => ("n", Role::Text),
            What::Lost(..) => (signs.fail, Role::Fail),
            What::Verdict(verdict) => appearance(verdict.decision, signs),
        }
    }

    /// What is out of the ordinary about an iteration.
    fn odd(&self) -> Option<String> {
        let What::Iteration(iteration) = self.what else { return None };
        self.run.and_then(|(_, run)| words::odd(run, iteration))
    }

    fn text(&self) -> String {
        let run = self.run.map(|(_, run)| run);
        match self.what {
            What::Opening(o) => format!("{} began, plan {}: {}", o.session, o.plan.name, o.plan.title),
            What::Begins(start) => {
                let labels: Vec<String> = start.labels.iter().map(|(name, value)| format!("{name} {value}")).collect();
                format!("begins: {}", labels.join(", "))
            }
            What::Iteration(iteration) => {
                let odd = self.odd().map_or_else(String::new, |odd| format!("  {odd}"));
                let figures = run.map_or_else(String::new, |run| figures(run, iteration));
                format!("iteration {}: {figures}{odd}", iteration.number)
            }
            What::Phase(0, phase) => words::phase(phase).to_owned(),
            What::Phase(iteration, phase) => format!("{} of iteration {iteration}", words::phase(phase)),
            What::Outcome(outcome) => words::outcome(outcome, run),
            What::Found(found) => format!("{} {}", found.severity, finding::sentence(found)),
            What::Remark(remark) => remark.text.clone(),
            What::Lost(name, why) => format!("{name} is lost: {why}"),
            What::Verdict(verdict) => format!("verdict: {}", verdict.headline()),
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
