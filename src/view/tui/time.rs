//! The time that is shown of a run, and how the keys move through it.

use super::axis::Axis;
use super::keys::Action;
use super::screen::{Screen, Zoom};
use crate::analysis::state::{RunState, State};
use crate::vocab::moment::{Moment, Span};

/// The stretches of time that the zoom steps through, in seconds; beyond the last lies the whole session.
const ZOOMS: [u64; 14] = [10, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 259_200];
/// The shortest stretch in which a whole run is shown.
const SHORTEST: Span = Span::seconds(30);
/// The parts of the time shown by which one key moves.
const STEPS: u64 = 20;

impl Screen {
    /// The time shown of a run, on its node's clock.
    pub(super) fn window(&self, state: &State, run: &RunState, columns: usize) -> Axis {
        let now = state.node_now(&run.node);
        let last = run.ended.unwrap_or(now);
        let (from, to) = match self.zoom {
            Zoom::Run => match (run.started, run.ended) {
                (Some(started), Some(ended)) => (started, ended.max(started + Span::seconds(1))),
                (Some(started), None) => (started, started + round_up(now.since(started))),
                (None, _) => {
                    let opened = now - state.now.since(state.opened);
                    let from = opened.max(now - Span::seconds(60));
                    (from, from + Span::seconds(60))
                }
            },
            Zoom::Last(step) => (last - Span::seconds(ZOOMS[step.min(ZOOMS.len() - 1)]), last),
            Zoom::Session => {
                let opened = now - state.now.since(state.opened);
                (opened, opened + round_up(now.since(opened)))
            }
        };
        let length = to.since(from);
        let to = self.until.unwrap_or(to);
        Axis { from: to - length, to, columns }
    }

    pub(super) fn change_zoom(&mut self, action: Action, state: &State) {
        let shown = self.shown(state);
        let Some(run) = self.run(shown) else { return };
        let seconds = self.window(shown, run, 1).length().0 / 1_000_000;
        let session = shown.now.since(shown.opened).0 / 1_000_000;
        self.zoom = match action {
            Action::ZoomIn => Zoom::Last(ZOOMS.iter().rposition(|z| *z < seconds).unwrap_or(0)),
            Action::ZoomOut => match ZOOMS.iter().position(|z| *z > seconds && *z < session) {
                Some(step) => Zoom::Last(step),
                None => Zoom::Session,
            },
            _ => Zoom::Run,
        };
        if !matches!(self.zoom, Zoom::Last(_)) {
            self.until = None;
        }
        if let Some(until) = self.around_cursor(state) {
            self.until = Some(until);
        }
    }

    /// The end of a time shown that has the instant under the cursor in its middle, where that would be out of sight.
    fn around_cursor(&self, state: &State) -> Option<Moment> {
        let shown = self.shown(state);
        let run = self.run(shown)?;
        let axis = self.window(shown, run, 1);
        let cursor = self.cursor.filter(|at| *at < axis.from || *at > axis.to)?;
        Some((cursor + Span(axis.length().0 / 2)).min(shown.node_now(&run.node)))
    }

    pub(super) fn travel(&mut self, action: Action, state: &State) {
        let shown = self.shown(state);
        let Some(run) = self.run(shown) else { return };
        let axis = self.window(shown, run, 1);
        let now = shown.node_now(&run.node);
        let first = now - shown.now.since(shown.opened);
        let step = |length: Span, parts: u64| Span((length.0 / parts).max(1));
        let moved = |at: Moment, by: Span| if action == Action::Earlier { at - by } else { at + by };
        if let Some(cursor) = self.cursor {
            self.cursor = Some(moved(cursor, step(axis.length(), STEPS * 3)).max(axis.from).min(axis.to));
            return;
        }
        let until = moved(axis.to, step(axis.length(), STEPS)).max(first + step(axis.length(), 2));
        self.until = (until < now.max(run.ended.map_or(axis.to, |_| now))).then_some(until);
    }

    pub(super) fn toggle_cursor(&mut self, state: &State) {
        if self.cursor.take().is_some() {
            return;
        }
        let shown = self.shown(state);
        let Some(run) = self.run(shown) else { return };
        let axis = self.window(shown, run, 1);
        let last = run.meters.first().and_then(|m| m.rate.last()).map_or(axis.to, |p| p.at);
        self.cursor = Some(last.max(axis.from).min(axis.to));
    }
}

/// The next step of a scale of lengths that grows by a half or a third, so that a chart that fills does not shrink at every draw.
fn round_up(length: Span) -> Span {
    let mut step = SHORTEST.0;
    let mut by_half = true;
    while step < length.0 {
        step += if by_half { step / 2 } else { step / 3 };
        by_half = !by_half;
    }
    Span(step)
}
