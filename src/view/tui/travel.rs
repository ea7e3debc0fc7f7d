//! Ways through the time of a session beside the keys that move by steps: from finding to finding, and its replay.

use super::keys::Action;
use super::screen::{Effect, Screen};
use crate::analysis::state::State;
use crate::vocab::finding::Finding;
use crate::vocab::moment::{Moment, Span};

impl Screen {
    /// Plays and pauses a session that is over, from the cursor or the beginning of the run on the chart.
    pub(super) fn play(&mut self, action: Action, state: &State) -> Effect {
        match action {
            Action::Freeze => {
                let run = self.run(state);
                let at = self.cursor.or_else(|| run.and_then(|run| run.started));
                let at = run.zip(at).map_or(state.opened, |(run, at)| state.to_runner(&run.node, at));
                self.replay.play(self.ended, at.since(state.opened));
                (self.until, self.cursor) = (None, None);
            }
            other => self.replay.change_speed(other == Action::Faster),
        }
        Effect::Pace(self.replay.pace)
    }

    /// Chooses the run of the next finding after the cursor, or the one before it, and puts the cursor on its onset.
    pub(super) fn go_to_finding(&mut self, action: Action, state: &State) {
        let shown = self.shown(state);
        let mut onsets: Vec<(Moment, usize, Moment)> =
            shown.findings.values().filter_map(|f| onset(shown, f)).collect();
        onsets.sort_unstable();
        let here = self.run(shown).zip(self.cursor).map(|(run, at)| {
            let place = shown.runs.iter().position(|r| std::ptr::eq(r, run)).unwrap_or(0);
            (shown.to_runner(&run.node, at), place, at)
        });
        let found = match (action, here) {
            (Action::NextFinding, Some(here)) => onsets.iter().find(|onset| **onset > here),
            (Action::NextFinding, None) => onsets.first(),
            (_, Some(here)) => onsets.iter().rev().find(|onset| **onset < here),
            (_, None) => onsets.last(),
        };
        let Some((_, run, at)) = found.copied() else {
            self.said = Some(if onsets.is_empty() { "nothing was found" } else { "no finding that way" }.to_owned());
            return;
        };
        self.until = None;
        let axis = self.shown(state).runs.get(run).map(|run| self.window(self.shown(state), run, 1));
        let outside = axis.filter(|axis| at < axis.from || at > axis.to);
        (self.chosen, self.cursor) = (Some(run), Some(at));
        self.until = outside.map(|axis| at + Span(axis.length().0 / 2));
    }
}

/// When a finding of a run began, on the runner's clock; its run's place; and when, on the clock of its node.
fn onset(state: &State, finding: &Finding) -> Option<(Moment, usize, Moment)> {
    let node = state.found_on.get(&finding.id)?;
    let run = state.runs.iter().position(|r| r.node == *node && Some(&r.name) == finding.run.as_ref())?;
    Some((state.to_runner(node, finding.onset), run, finding.onset))
}
