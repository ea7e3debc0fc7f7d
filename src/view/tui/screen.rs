//! What the person at the screen has chosen: a run, a stretch of time, an open question. Truth about the session is not kept here.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::How;
use super::axis::Axis;
use super::glance::Glance;
use super::keymap::Keys;
use super::keys::{Action, Place};
use super::press::Press;
use crate::analysis::state::{RunState, State, Status};
use crate::vocab::finding::Finding;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;
use crate::vocab::order::Command;

/// The stretches of time that the zoom steps through, in seconds; beyond the last lies the whole session.
const ZOOMS: [u64; 12] = [10, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400];
/// The shortest stretch in which a whole run is shown.
const SHORTEST: Span = Span::seconds(30);
/// The parts of the time shown by which one key moves.
const STEPS: u64 = 20;
/// Longest remark, in characters.
const REMARK: usize = 400;

/// Lines of the help that the smallest screen has room for.
const LEAST_HELP: usize = 14;

/// How fast the line to the terminal is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Pace {
    #[default]
    Fast,
    /// So slow that frames are few, and what only ticks is left out.
    Slow,
}

/// How much time is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Zoom {
    /// The run from its beginning.
    #[default]
    Run,
    /// A step of the zoom.
    Last(usize),
    /// The session from its beginning.
    Session,
}

/// What is open above the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Dialog {
    #[default]
    None,
    Help,
    Leave,
    StopRun,
    Note(String),
}

/// What the loop has to do after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    Redraw,
    /// Another theme, the next one or not.
    Theme(bool),
    Suspend,
    Send(Command),
    SendAndLeave(Command, How),
    Leave(How),
}

/// The choices so far.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// The chosen run; none follows the run under way.
    pub(super) chosen: Option<usize>,
    pub(super) zoom: Zoom,
    /// The right end of the time shown, when it is held, on the node's clock.
    pub(super) until: Option<Moment>,
    /// The instant under the cursor, on the node's clock.
    pub(super) cursor: Option<Moment>,
    /// What was known when the view was frozen.
    pub(super) frozen: Option<Box<State>>,
    pub(super) dialog: Dialog,
    /// What is looked at on the host screen; none while it is closed.
    pub(super) glance: Option<Glance>,
    pub(super) keys: Keys,
    /// Lines of the help that are scrolled away.
    pub(super) scrolled: usize,
    /// The theme that has just been put on, for the footer.
    pub(super) theme: Option<String>,
    pub(super) pace: Pace,
    /// A word of the screen's own, for the footer.
    pub(super) said: Option<&'static str>,
    pub(super) stopping: bool,
    /// Whether a runner is at the other end.
    pub(super) live: bool,
    /// Whether no record will come any more.
    pub(super) ended: bool,
    /// Lines that were damaged on the way here.
    pub(super) damaged: u64,
}

impl Screen {
    pub(super) fn place(&self) -> Place {
        match self.dialog {
            Dialog::None => self.home(),
            Dialog::Help => Place::Help,
            Dialog::Leave => Place::Leave,
            Dialog::StopRun => Place::Ask,
            Dialog::Note(_) => Place::Note,
        }
    }

    /// The screen below whatever is open.
    pub(super) fn home(&self) -> Place {
        if self.glance.is_some() { Place::Host } else { Place::Screen }
    }

    /// What is shown: the session, or what was known of it when the view was frozen.
    pub(super) fn shown<'a>(&'a self, state: &'a State) -> &'a State {
        self.frozen.as_deref().unwrap_or(state)
    }

    /// The run on the chart: the chosen one, the one under way, the one with the worst finding at the end, else the last or first.
    pub(super) fn run<'a>(&self, state: &'a State) -> Option<&'a RunState> {
        let chosen = self.chosen.and_then(|i| state.runs.get(i));
        let worst = || {
            let finding = state.verdict.as_ref().and_then(|_| state.findings.values().max_by_key(|f| f.severity))?;
            let node = state.found_on.get(&finding.id)?;
            state.run(node, finding.run.as_ref()?)
        };
        let last = || state.runs.iter().rev().find(|r| r.started.is_some());
        chosen.or_else(|| state.running().next()).or_else(worst).or_else(last).or_else(|| state.runs.first())
    }

    /// The node on the screen: that of the run on the chart.
    pub(super) fn node<'a>(&self, state: &'a State) -> Option<&'a NodeName> {
        self.run(state).map(|r| &r.node).or_else(|| state.nodes.keys().next())
    }

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

    /// Takes a key; the state is only looked at.
    pub(super) fn key(&mut self, pressed: KeyEvent, state: &State) -> Effect {
        (self.said, self.theme) = (None, None);
        match self.keys.action(self.place(), Press::of(pressed)) {
            Some(action) => self.act(action, pressed, state),
            None => self.write(pressed),
        }
    }

    fn write(&mut self, pressed: KeyEvent) -> Effect {
        let plain = !pressed.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        if let (Dialog::Note(text), KeyCode::Char(c), true) = (&mut self.dialog, pressed.code, plain)
            && text.chars().count() < REMARK
        {
            text.push(c);
        }
        Effect::None
    }

    pub(super) fn act(&mut self, action: Action, pressed: KeyEvent, state: &State) -> Effect {
        match action {
            Action::Help => (self.dialog, self.scrolled) = (Dialog::Help, 0),
            Action::Scroll(lines) if self.dialog == Dialog::Help => self.scroll_help(lines),
            Action::Close if self.dialog == Dialog::None => self.glance = None,
            Action::Close => self.open(Dialog::None),
            Action::Host => self.glance = Some(Glance::default()),
            Action::Section | Action::Scroll(_) => self.look_around(action, state),
            Action::Leave => return self.leave(state),
            Action::Interrupt => return self.interrupt(state),
            Action::StopRun => self.ask_to_stop(state),
            Action::Note => self.ask_for_note(state),
            Action::Erase | Action::Send => return self.note(action),
            Action::Yes => {
                self.dialog = Dialog::None;
                self.said = Some("stop of the run asked for");
                return Effect::Send(Command::StopRun);
            }
            Action::GoOn => return Effect::Leave(How::Left),
            Action::StopSession => return self.stop(),
            Action::Freeze => self.frozen = if self.frozen.is_some() { None } else { Some(Box::new(state.clone())) },
            Action::Next | Action::Previous | Action::Numbered => self.choose(action, pressed, state),
            Action::Current => self.current(),
            Action::ZoomIn | Action::ZoomOut | Action::Fit => self.change_zoom(action, state),
            Action::Earlier | Action::Later => self.travel(action, state),
            Action::Cursor => self.toggle_cursor(state),
            Action::Redraw => return Effect::Redraw,
            Action::NextTheme | Action::PreviousTheme => return Effect::Theme(action == Action::NextTheme),
            Action::Suspend => return Effect::Suspend,
            Action::Start => {}
        }
        Effect::None
    }

    fn scroll_help(&mut self, lines: i8) {
        let most = self.keys.of(self.home()).count().saturating_sub(LEAST_HELP);
        self.scrolled = self.scrolled.saturating_add_signed(isize::from(lines)).min(most);
    }

    fn open(&mut self, dialog: Dialog) {
        self.dialog = dialog;
    }

    /// Whether nothing is left to be stopped.
    fn is_over(&self, state: &State) -> bool {
        !self.live || self.ended || state.verdict.is_some()
    }

    fn leave(&mut self, state: &State) -> Effect {
        if self.is_over(state) {
            return Effect::Leave(self.end(state));
        }
        self.open(Dialog::Leave);
        Effect::None
    }

    fn end(&self, state: &State) -> How {
        if self.ended || state.verdict.is_some() { How::Ended } else { How::Left }
    }

    /// What Ctrl-C means: stop cleanly, and the second time at once.
    pub(super) fn interrupt(&mut self, state: &State) -> Effect {
        if self.is_over(state) {
            return Effect::Leave(self.end(state));
        }
        if self.stopping {
            return Effect::SendAndLeave(Command::StopNow, How::Stopped);
        }
        self.stop()
    }

    fn stop(&mut self) -> Effect {
        self.dialog = Dialog::None;
        self.stopping = true;
        self.said = Some("stopping; Ctrl-C again stops at once and leaves");
        Effect::Send(Command::StopSession)
    }

    fn ask_to_stop(&mut self, state: &State) {
        if self.is_over(state) || state.running().next().is_none() {
            self.said = Some("no run is under way");
        } else {
            self.open(Dialog::StopRun);
        }
    }

    fn ask_for_note(&mut self, state: &State) {
        if self.is_over(state) {
            self.said = Some("the record is closed, no remark can be added");
        } else {
            self.open(Dialog::Note(String::new()));
        }
    }

    fn note(&mut self, action: Action) -> Effect {
        let Dialog::Note(text) = &mut self.dialog else { return Effect::None };
        if action == Action::Erase {
            text.pop();
            return Effect::None;
        }
        let text = text.trim().to_owned();
        self.dialog = Dialog::None;
        if text.is_empty() {
            return Effect::None;
        }
        self.said = Some("remark sent");
        Effect::Send(Command::Note(text))
    }

    fn choose(&mut self, action: Action, pressed: KeyEvent, state: &State) {
        let shown = self.shown(state);
        let count = shown.runs.len();
        if count == 0 {
            return;
        }
        let here = self.run(shown).and_then(|run| shown.runs.iter().position(|r| std::ptr::eq(r, run))).unwrap_or(0);
        let wanted = match (action, pressed.code) {
            (Action::Next, _) => (here + 1) % count,
            (Action::Previous, _) => (here + count - 1) % count,
            (_, KeyCode::Char(c)) => c.to_digit(10).map_or(here, |d| d as usize - 1),
            _ => here,
        };
        if wanted < count {
            (self.chosen, self.until, self.cursor) = (Some(wanted), None, None);
        }
    }

    fn current(&mut self) {
        (self.chosen, self.until, self.cursor) = (None, None, None);
    }

    fn change_zoom(&mut self, action: Action, state: &State) {
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
    }

    fn travel(&mut self, action: Action, state: &State) {
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

    fn look_around(&mut self, action: Action, state: &State) {
        let shown = self.shown(state);
        let host = self.node(shown).and_then(|n| shown.nodes.get(n)).map(|n| &n.host);
        let Some(mut glance) = self.glance else { return };
        match action {
            Action::Scroll(lines) => glance.scroll_by(lines, host),
            _ => glance.turn(),
        }
        self.glance = Some(glance);
    }

    fn toggle_cursor(&mut self, state: &State) {
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

/// The finding that matters most: the worst that is open, else the latest.
pub(super) fn foremost<'a>(findings: impl Iterator<Item = &'a Finding>) -> Option<&'a Finding> {
    findings.max_by_key(|f| (f.closed.is_none(), if f.closed.is_none() { Some(f.severity) } else { None }, f.id))
}

/// Whether a run has something to be asked about.
pub(super) fn is_running(run: &RunState) -> bool {
    matches!(run.status, Status::Running)
}
