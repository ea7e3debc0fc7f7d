//! The panes and their heights. A pane is one file and one line of [`PANES`].

use jiff::tz::TimeZone;
use ratatui::layout::Rect;

use super::look::Brush;
use super::screen::{self, Screen};
use super::{dialog, finding, footer, header, log, plan, stage, verdict};
use crate::analysis::state::{RunState, State};
use crate::view::format;
use crate::view::theme::Role;
use crate::vocab::finding::Finding;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::node::NodeName;

/// Below this nothing useful can be shown.
pub(super) const SMALLEST: (u16, u16) = (60, 16);

/// Everything a pane may look at.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) state: &'a State,
    pub(super) screen: &'a Screen,
    pub(super) zone: &'a TimeZone,
    /// The run on the chart.
    pub(super) run: Option<&'a RunState>,
}

impl<'a> View<'a> {
    pub(super) fn new(state: &'a State, screen: &'a Screen, zone: &'a TimeZone) -> Self {
        let state = screen.shown(state);
        Self { state, screen, zone, run: screen.run(state) }
    }

    /// The time of a moment of a node on the session's stopwatch.
    pub(super) fn stopwatch(&self, node: &NodeName, at: Moment) -> String {
        let at = if node.is_runner() { at } else { self.state.to_runner(node, at) };
        format::stopwatch(at.since(self.state.opened))
    }

    /// The wall clock so long after the session began; empty when that is not known.
    pub(super) fn wall(&self, passed: Span, pattern: &str) -> String {
        let started = self.state.opening.as_ref().map(|o| o.started.as_str());
        let at = started.and_then(|s| format::wall(s, passed, self.zone));
        at.map_or_else(String::new, |at| at.strftime(pattern).to_string())
    }

    /// The finding of the run on the chart that matters most.
    pub(super) fn finding(&self) -> Option<&'a Finding> {
        let state = self.state;
        screen::foremost(self.run.into_iter().flat_map(move |run| state.findings_of(run)))
    }
}

/// How high a pane is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rows {
    /// Without these it says nothing.
    pub(super) least: u16,
    /// With these it says everything.
    pub(super) wish: u16,
    /// Its part of what is left when every wish is met.
    pub(super) share: u16,
}

/// A part of the screen over its whole width.
pub(super) struct Pane {
    /// How high it wants to be on a screen of this size.
    pub(super) rows: fn(&View<'_>, (u16, u16)) -> Rows,
    /// Paints it.
    pub(super) draw: fn(&View<'_>, Rect, &mut Brush<'_>),
}

/// From top to bottom.
const PANES: &[Pane] = &[header::PANE, finding::PANE, plan::PANE, verdict::PANE, stage::PANE, log::PANE, footer::PANE];

/// Paints the screen.
pub(super) fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    brush.clear(area);
    let (columns, rows) = SMALLEST;
    if area.width < columns || area.height < rows {
        let text = format!("terminal too small {}x{}, need {columns}x{rows}", area.width, area.height);
        brush.text((area.x, area.y), &text, Role::Warn, area.width);
        return;
    }
    let wishes: Vec<Rows> = PANES.iter().map(|p| (p.rows)(view, (area.width, area.height))).collect();
    let mut y = area.y;
    for (pane, height) in PANES.iter().zip(share_out(&wishes, area.height)) {
        let height = height.min(area.bottom().saturating_sub(y));
        if height > 0 {
            (pane.draw)(view, Rect::new(area.x, y, area.width, height), brush);
        }
        y += height;
    }
    dialog::draw(view, area, brush);
}

/// Gives every pane its least, then fills the wishes from the top, then shares out the rest.
fn share_out(wishes: &[Rows], height: u16) -> Vec<u16> {
    let mut heights: Vec<u16> = wishes.iter().map(|w| w.least).collect();
    let mut left = height.saturating_sub(heights.iter().sum());
    for (height, wish) in heights.iter_mut().zip(wishes) {
        let more = wish.wish.saturating_sub(wish.least).min(left);
        *height += more;
        left -= more;
    }
    let shares: u16 = wishes.iter().map(|w| w.share).sum::<u16>().max(1);
    let rest = left;
    for (height, wish) in heights.iter_mut().zip(wishes) {
        let more = (u32::from(rest) * u32::from(wish.share) / u32::from(shares)) as u16;
        *height += more;
        left -= more;
    }
    if let Some((height, _)) = heights.iter_mut().zip(wishes).find(|(_, w)| w.share > 0) {
        *height += left;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_fill_the_screen() {
        let wishes = [
            Rows { least: 1, wish: 1, share: 0 },
            Rows { least: 3, wish: 6, share: 0 },
            Rows { least: 9, wish: 14, share: 3 },
            Rows { least: 0, wish: 4, share: 1 },
            Rows { least: 1, wish: 1, share: 0 },
        ];
        for height in 14..100 {
            assert_eq!(share_out(&wishes, height).iter().sum::<u16>(), height);
        }
        assert_eq!(share_out(&wishes, 16), [1, 5, 9, 0, 1]);
        assert_eq!(share_out(&wishes, 30), [1, 6, 17, 5, 1]);
    }
}
