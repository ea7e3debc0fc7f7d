//! What the person at the screen makes of a replay: how fast, whether at all, and from where.

use crate::analysis::state::State;
use crate::session::replay::{Leap, Pace};
use crate::view::format;
use crate::vocab::moment::Span;

/// Slowest and fastest replay, in times as fast as it happened.
const SPEEDS: (f64, f64) = (0.25, 1024.0);

/// A replay on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Replay {
    /// What is asked of the one who tells.
    pub(super) pace: Pace,
    /// How long the session is, once it was heard to its end.
    pub(super) length: Option<Span>,
}

impl Replay {
    /// Pauses what plays and lets it go on; what is over, or was told at once, begins again at `from`.
    pub(super) fn play(&mut self, ended: bool, from: Span) {
        if ended || self.pace.speed.is_none() {
            let leap = Leap { number: self.pace.leap.number + 1, to: from };
            self.pace = Pace { speed: self.pace.speed.or(Some(1.0)), paused: false, leap };
        } else {
            self.pace.paused = !self.pace.paused;
        }
    }

    /// Plays twice or half as fast.
    pub(super) fn change_speed(&mut self, faster: bool) {
        let speed = self.pace.speed.unwrap_or(1.0) * if faster { 2.0 } else { 0.5 };
        self.pace.speed = Some(speed.clamp(SPEEDS.0, SPEEDS.1));
    }

    /// Tells the rest at once.
    pub(super) fn hurry(&mut self) {
        self.pace = Pace { speed: None, paused: false, ..self.pace };
    }

    /// Whether what was heard is still on its way to where the replay begins.
    pub(super) fn is_catching_up(&self, state: &State) -> bool {
        state.now.since(state.opened) < self.pace.leap.to
    }

    /// How it goes, in the words of the header.
    pub(super) fn word(&self, ended: bool) -> String {
        let of = self.length.map_or_else(String::new, |all| format!(" of {}", format::stopwatch(all)));
        match self.pace.speed.filter(|_| !ended) {
            None => "replay".to_owned(),
            Some(_) if self.pace.paused => format!("replay PAUSED{of}"),
            Some(speed) => format!("replay {}x{of}", format::number(speed)),
        }
    }

    /// What its key does next, in the words of the footer.
    pub(super) fn next(&self, ended: bool) -> &'static str {
        if ended || self.pace.paused || self.pace.speed.is_none() { "play" } else { "pause" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_plays_is_paused_and_what_is_over_begins_again() {
        let mut replay = Replay::default();
        replay.play(true, Span::seconds(5));
        assert_eq!(
            replay.pace,
            Pace { speed: Some(1.0), paused: false, leap: Leap { number: 1, to: Span::seconds(5) } }
        );
        replay.play(false, Span::seconds(7));
        assert!(replay.pace.paused && replay.pace.leap.number == 1);
        replay.play(false, Span::seconds(7));
        assert!(!replay.pace.paused && replay.pace.leap.to == Span::seconds(5));
        replay.play(true, Span::ZERO);
        assert_eq!(replay.pace.leap, Leap { number: 2, to: Span::ZERO });
    }

    #[test]
    fn the_speed_stays_within_its_bounds() {
        let mut replay = Replay::default();
        for _ in 0..20 {
            replay.change_speed(true);
        }
        assert_eq!((replay.pace.speed, replay.word(false)), (Some(1024.0), "replay 1024x".to_owned()));
        for _ in 0..20 {
            replay.change_speed(false);
        }
        assert_eq!(replay.pace.speed, Some(0.25));
        replay.hurry();
        assert_eq!((replay.pace.speed, replay.word(false)), (None, "replay".to_owned()));
    }
}
