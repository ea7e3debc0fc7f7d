//! What was said so far, where the screen is high enough: findings and remarks, the latest first.

use ratatui::layout::Rect;

use super::finding;
use super::look::Brush;
use super::pane::{Pane, Rows, View};
use super::screen;
use crate::analysis::state::Remark;
use crate::view::theme::Role;
use crate::view::{format, words};
use crate::vocab::finding::Finding;
use crate::vocab::moment::Moment;
use crate::vocab::name::NodeName;

pub(super) const PANE: Pane = Pane { rows, draw };

/// Screens lower than this have better uses for their lines.
const LOWEST: u16 = 34;

fn rows(view: &View<'_>, (_, height): (u16, u16)) -> Rows {
    let said = (view.state.findings.len() + view.state.remarks.len()) as u16;
    if height < LOWEST || said == 0 {
        return Rows::default();
    }
    Rows { least: 3, wish: 2 + (2 * said).min(height / 8), share: 0 }
}

struct Entry {
    time: String,
    sign: &'static str,
    role: Role,
    text: String,
    /// What is behind it.
    below: Vec<String>,
}

fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let inner = brush.frame(area, Role::Frame, ("What was said", "latest first"));
    let entries = entries(view, usize::from(inner.height), brush);
    let mut y = inner.y;
    let columns = inner.width.saturating_sub(14);
    for entry in entries {
        let room = usize::from(inner.bottom().saturating_sub(y));
        let mut said = format::wrap(&entry.text, usize::from(columns));
        if said.len() > room {
            // What is cut off says so.
            let rest = said.split_off(room.saturating_sub(1)).join(" ");
            said.push(format::cut(&rest, usize::from(columns)));
        }
        let below = entry.below.iter().map(|line| (line, Role::Dim));
        for (i, (line, role)) in said.iter().map(|line| (line, entry.role)).chain(below).enumerate() {
            if y >= inner.bottom() {
                return;
            }
            if i == 0 {
                brush.text((inner.x + 1, y), &format::right(&entry.time, 8), Role::Dim, 8);
                brush.text((inner.x + 10, y), entry.sign, entry.role, 1);
            }
            brush.text((inner.x + 12, y), line, role, columns);
            y += 1;
        }
    }
}

/// Something that was said.
#[derive(Clone, Copy)]
enum Said<'a> {
    Finding(&'a NodeName, &'a Finding),
    Remark(&'a Remark),
}

/// The latest entries, at most so many: nobody sees the words of the others.
fn entries(view: &View<'_>, most: usize, brush: &Brush<'_>) -> Vec<Entry> {
    let state = view.state;
    let found = state.findings.values().filter_map(|f| {
        let node = state.found_on.get(&f.id)?;
        Some((state.to_runner(node, f.onset), Said::Finding(node, f)))
    });
    let remarks = state.remarks.iter().map(|r| {
        let at = if r.node.is_runner() { r.at } else { state.to_runner(&r.node, r.at) };
        (at, Said::Remark(r))
    });
    let mut said: Vec<(Moment, Said<'_>)> = found.chain(remarks).collect();
    said.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let foremost = screen::foremost(state.findings.values()).map(|f| f.id);
    said.into_iter().take(most).map(|(_, said)| entry(view, said, foremost, brush)).collect()
}

fn entry(view: &View<'_>, said: Said<'_>, foremost: Option<u32>, brush: &Brush<'_>) -> Entry {
    let (state, signs) = (view.state, brush.look.signs());
    match said {
        Said::Finding(node, f) => {
            let (sign, role) = finding::appearance(f, signs);
            let run = f.run.as_ref().map_or_else(String::new, |r| format!("{r}: "));
            let text = format!("{}  {run}{}", finding::weight(f, state.node_now(node)), finding::sentence(f));
            // Of the one that matters most it stands at the top of the screen while that is open.
            let at_the_top = f.closed.is_none() && foremost == Some(f.id);
            let below = if at_the_top { Vec::new() } else { words::reasons(f) };
            Entry { time: view.stopwatch(node, f.onset), sign, role, text, below }
        }
        Said::Remark(r) => Entry {
            time: view.stopwatch(&r.node, r.at),
            sign: signs.wait,
            role: Role::Text,
            text: r.text.clone(),
            below: Vec::new(),
        },
    }
}
