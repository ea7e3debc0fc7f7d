//! The verdict: every check with its interval against its limit, by classes of use; before the end of the session as far as it is decided.

use super::interval;
use super::list::{Item, List, Pieces, ROWS, Room, number, paragraph, piece};
use crate::view::format;
use crate::view::theme::Role;
use crate::view::tui::look::Signs;
use crate::view::tui::pane::{Pane, View};
use crate::view::tui::sight::Reach;
use crate::view::tui::verdict::appearance;
use crate::vocab::verdict::{Decision, Line};

pub(super) const PANES: [Pane; 1] =
    [Pane { rows: |_, _| ROWS, draw: |view, area, brush| LIST.draw(view, area, brush) }];

const LIST: List = List {
    title,
    heads: |_| Vec::new(),
    items: |view, room| items(view, room).into(),
    detail: Some(detail),
    beside: true,
    empty: |_| "nothing is checked yet".to_owned(),
    rest: |_, _| 0,
};

pub(super) fn reach(view: &View<'_>, size: (u16, u16)) -> Reach {
    LIST.reach(view, size)
}

fn title(view: &View<'_>) -> (String, String) {
    let so_far = &view.outlook.so_far;
    let count = |decision| so_far.count(decision);
    let (pass, fail, unproven) = (count(Decision::Pass), count(Decision::Fail), count(Decision::NotProven));
    let counts = format!("PASS {pass}  FAIL {fail}  NOT PROVEN {unproven}");
    match &view.state.verdict {
        Some(verdict) => (format!("Verdict: {}", verdict.headline()), counts),
        None => ("Verdict so far".to_owned(), format!("{counts}  left {}", so_far.left())),
    }
}

/// A line of the verdict with its place in it; none for its decision while it is open.
type Judged<'a> = (usize, &'a Line, Option<Decision>);

/// The lines of a class of use, the worst first.
fn of_section<'a>(view: &View<'a>, section: &str) -> Vec<Judged<'a>> {
    let lines = view.outlook.so_far.lines().enumerate();
    let here = lines.filter(|(_, (line, _))| line.section == section);
    let mut lines: Vec<Judged<'_>> =
        here.map(|(place, (line, settled))| (place, line, settled.then_some(line.decision))).collect();
    lines.sort_by_key(|(_, line, decision)| match decision {
        Some(Decision::Fail) => 0,
        Some(Decision::NotProven) => 1,
        // What has figures already comes first among what is open.
        None => 2 + u8::from(line.numbers.is_none()),
        Some(Decision::Pass) => 4 + u8::from(line.numbers.is_none()),
    });
    lines
}

fn items(view: &View<'_>, room: &Room) -> Vec<Item> {
    let so_far = &view.outlook.so_far;
    let lines = &so_far.verdict.lines;
    let widths = Widths::of(view, room);
    let scale = interval::scale(lines.iter().filter_map(|line| line.numbers.as_ref()));
    let mut items = Vec::new();
    let mut put = |heading: Pieces, lines: Vec<Judged<'_>>| {
        if lines.is_empty() {
            return;
        }
        items.push(Item { line: heading, ..Item::default() });
        items.extend(lines.iter().map(|judged| Item {
            line: line(view, judged, (&widths, scale), room.signs),
            of: Some(judged.0),
            goal: None,
        }));
    };
    let sections = so_far.verdict.sections();
    let of_all = if sections.is_empty() { "" } else { "general" };
    let mut heading = vec![piece(of_all, Role::Title, widths.before())];
    heading.extend(interval::head(scale, widths.bar));
    heading.extend([number("measured", Role::Dim, widths.measured), number("margin", Role::Dim, 9)]);
    put(heading, of_section(view, ""));
    for (name, decision) in sections {
        let lines = of_section(view, name);
        let open = lines.iter().filter(|(_, line, decision)| decision.is_none() && !line.told).count();
        let (sign, role, word) = match open {
            0 => {
                let (sign, role) = appearance(decision, room.signs);
                (sign, role, decision.to_string())
            }
            open => (room.signs.wait, Role::Dim, format!("{open} left")),
        };
        let name = format!("{name}: ");
        let columns = format::width(&name) as u16;
        put(vec![piece(sign, role, 2), piece(name, Role::Title, columns + 1), piece(word, role, 0)], lines);
    }
    items
}

/// The columns of a line.
struct Widths {
    word: u16,
    of: u16,
    bar: u16,
    measured: u16,
}

impl Widths {
    fn of(view: &View<'_>, room: &Room) -> Self {
        let told = view.outlook.so_far.verdict.lines.iter().any(|line| line.told);
        let word = if told { 13 } else { 11 };
        match room.width {
            0..100 => Self { word, of: 34 - word, bar: room.width.saturating_sub(58).clamp(8, 31), measured: 12 },
            100..160 => Self { word, of: 28, bar: 32, measured: 14 },
            _ => Self { word, of: 34, bar: 52, measured: 16 },
        }
    }

    fn before(&self) -> u16 {
        2 + self.word + self.of
    }
}

fn line(view: &View<'_>, (_, line, decision): &Judged<'_>, (widths, scale): (&Widths, f64), signs: &Signs) -> Pieces {
    let (sign, role) = decision.map_or((signs.wait, Role::Dim), |decision| appearance(decision, signs));
    let word = if decision.is_some() { line.word() } else { "open".to_owned() };
    let of = if view.state.nodes.len() > 1 { format!("{} {}", line.node, line.of) } else { line.of.clone() };
    let mut pieces = vec![piece(sign, role, 2), piece(word, role, widths.word), piece(of, Role::Text, widths.of)];
    // What is said in words takes the blanks before what was measured as well.
    let taken = format::width(&line.measured) as u16 + 2;
    let spare = if line.numbers.is_some() { 0 } else { widths.measured.saturating_sub(taken) };
    match &line.numbers {
        Some(numbers) => pieces.extend(interval::bar(numbers, *decision, scale, widths.bar, signs)),
        None => pieces.push(piece(short(line), Role::Dim, widths.bar + spare)),
    }
    pieces.push(number(&line.measured, Role::Strong, widths.measured - spare));
    pieces.push(number(&line.margin, role, 9));
    if widths.bar < 32 {
        return pieces;
    }
    let limit = if line.limit.is_empty() { &line.reason } else { &line.limit };
    pieces.push(piece(format!(" {limit}"), Role::Dim, 0));
    pieces
}

/// What is compared, where there is nothing to be drawn.
fn short(line: &Line) -> String {
    match line.limit.split_once(" (") {
        Some((limit, _)) => format!("limit {limit}"),
        None if line.limit.is_empty() => line.comparison.clone(),
        None => format!("limit {}", line.limit),
    }
}

fn detail(view: &View<'_>, place: usize, room: &Room) -> Vec<Pieces> {
    let Some((line, settled)) = view.outlook.so_far.lines().nth(place) else { return Vec::new() };
    let decision = settled.then_some(line.decision);
    let (sign, role) = decision.map_or((room.signs.wait, Role::Dim), |decision| appearance(decision, room.signs));
    let word = if settled { line.word() } else { "open".to_owned() };
    let mut lines = paragraph("check", &format!("{sign} {word} {}", line.of), role, room);
    lines.extend(paragraph("section", &line.section, Role::Text, room));
    lines.extend(paragraph("holds if", &format!("{} {}", line.comparison, line.limit), Role::Text, room));
    let measured = if line.measured.is_empty() { "nothing" } else { &line.measured };
    let detail = if line.detail.is_empty() { String::new() } else { format!(", {}", line.detail) };
    let margin = if line.margin.is_empty() { String::new() } else { format!(", margin {}", line.margin) };
    lines.extend(paragraph("measured", &format!("{measured}{detail}{margin}"), Role::Strong, room));
    if let Some(numbers) = &line.numbers {
        let columns = room.width.saturating_sub(12);
        let scale = interval::scale([*numbers].iter());
        let indented = |pieces: Pieces| [vec![piece("", Role::Dim, 11)], pieces].concat();
        lines.push(indented(interval::bar(numbers, decision, scale, columns, room.signs)));
        lines.push(indented(interval::head(scale, columns)));
    }
    lines.extend(paragraph("why", &line.reason, Role::Text, room));
    if line.told {
        let told = "only told: a \"should\", on which the verdict does not depend";
        lines.extend(paragraph("weight", told, Role::Dim, room));
    }
    lines.extend(paragraph("records", &records(&line.evidence), Role::Dim, room));
    lines
}

/// The numbers of the records, a long row of them by its ends.
fn records(evidence: &[u64]) -> String {
    match evidence {
        [first, .., last] if evidence.len() > 12 => {
            format!("{} of the session file, {first} to {last}", evidence.len())
        }
        some => some.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}
