//! What a pane is: how high it wants to be, how it is painted, and what it may look at.

use jiff::tz::TimeZone;
use ratatui::layout::Rect;

use super::look::{Brush, Signs};
use super::outlook::Outlook;
use super::screen::{self, Screen};
use crate::analysis::state::{RunState, State};
use crate::view::format;
use crate::vocab::finding::Finding;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;

/// Everything a pane may look at.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) state: &'a State,
    pub(super) screen: &'a Screen,
    pub(super) zone: &'a TimeZone,
    pub(super) outlook: &'a Outlook,
    pub(super) signs: &'static Signs,
    /// The run on the chart.
    pub(super) run: Option<&'a RunState>,
    /// The finding of that run that matters most.
    pub(super) finding: Option<&'a Finding>,
}

impl<'a> View<'a> {
    pub(super) fn new(
        (state, outlook): (&'a State, &'a Outlook),
        screen: &'a Screen,
        zone: &'a TimeZone,
        signs: &'static Signs,
    ) -> Self {
        let state = screen.shown(state);
        let run = screen.run(state);
        let finding = screen::foremost(run.into_iter().flat_map(|run| state.findings_of(run)));
        Self { state, screen, zone, outlook, signs, run, finding }
    }

    /// The time of a moment of a node on the session's stopwatch.
    pub(super) fn stopwatch(&self, node: &NodeName, at: Moment) -> String {
        let at = self.state.to_runner(node, at);
        format::stopwatch(at.since(self.state.opened))
    }

    /// The wall clock so long after the session began; empty when that is not known.
    pub(super) fn wall(&self, passed: Span, pattern: &str) -> String {
        let started = self.state.opening.as_ref().map(|o| o.started.as_str());
        let at = started.and_then(|s| format::wall(s, passed, self.zone));
        at.map_or_else(String::new, |at| at.strftime(pattern).to_string())
    }

    /// Date, time and zone so long after the session began.
    pub(super) fn date(&self, passed: Span) -> String {
        format!("{} {}", self.wall(passed, "%Y-%m-%d %H:%M:%S"), self.zone.iana_name().unwrap_or("local time"))
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
