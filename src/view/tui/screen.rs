//! What the person at the screen has chosen: a run, a stretch of time, an open question. Truth about the session is not kept here.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::How;
use super::keymap::Keys;
use super::keys::{Action, Place};
use super::press::Press;
use super::replay::Replay;
use super::sight::{Home, Reach, Section, Sight};
use crate::analysis::state::{RunState, State};
use crate::session::replay::Pace;
use crate::vocab::finding::Finding;
use crate::vocab::moment::Moment;
use crate::vocab::name::NodeName;
use crate::vocab::order::Command;

/// Longest remark, in characters.
const REMARK: usize = 400;
/// Longest filter, in characters.
const FILTER: usize = 40;

/// How fast the line to the terminal is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Line {
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
    /// The words that lines have to have are typed.
    Filter,
}

/// What the loop has to do after a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    None,
    Redraw,
    /// The picture of the screen is to be kept in a file.
    Keep,
    /// Another theme, the next one or not.
    Theme(bool),
    Suspend,
    Send(Command),
    SendAndLeave(Command, How),
    Leave(How),
    /// Replay it so from now on.
    Pace(Pace),
}

/// The choices so far.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is so or not, whatever the others are")]
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
    pub(super) home: Home,
    /// What is looked at on the screen that is open.
    pub(super) sight: Sight,
    /// How far one can go on it, as it was when the key was pressed.
    pub(super) reach: Reach,
    /// Whether the network is counted in bits.
    pub(super) bits: bool,
    pub(super) keys: Keys,
    /// Lines of the help that are scrolled away.
    pub(super) scrolled: usize,
    /// The theme that has just been put on, for the footer.
    pub(super) theme: Option<String>,
    pub(super) line: Line,
    /// A word of the screen's own, for the footer.
    pub(super) said: Option<String>,
    pub(super) stopping: bool,
    /// Whether a runner is at the other end.
    pub(super) live: bool,
    /// Whether no record will come any more.
    pub(super) ended: bool,
    /// Whether the record has its verdict.
    pub(super) closed: bool,
    /// Lines that were damaged on the way here.
    pub(super) damaged: u64,
    /// How a session that is over is replayed.
    pub(super) replay: Replay,
}

impl Screen {
    pub(super) fn place(&self) -> Place {
        match self.dialog {
            Dialog::None => self.home(),
            Dialog::Help => Place::Help,
            Dialog::Leave => Place::Leave,
            Dialog::StopRun => Place::Ask,
            Dialog::Note(_) => Place::Note,
            Dialog::Filter => Place::Filter,
        }
    }

    /// Where keys count below whatever is open.
    pub(super) fn home(&self) -> Place {
        match self.home {
            Home::Live => Place::Screen,
            Home::Host => Place::Host,
            _ => Place::Page,
        }
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
        let last = || state.runs.iter().rev().find(|r| r.started.is_some() && !r.earlier);
        chosen.or_else(|| state.running().next()).or_else(worst).or_else(last).or_else(|| state.runs.first())
    }

    /// The node on the screen: that of the run on the chart.
    pub(super) fn node<'a>(&self, state: &'a State) -> Option<&'a NodeName> {
        self.run(state).map(|r| &r.node).or_else(|| state.nodes.keys().next())
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
        match (&mut self.dialog, pressed.code) {
            (Dialog::Note(text), KeyCode::Char(c)) if plain && text.chars().count() < REMARK => text.push(c),
            (Dialog::Filter, KeyCode::Char(c)) if plain && self.sight.filter.chars().count() < FILTER => {
                self.sight.filter.push(c);
                self.sight.at = None;
            }
            _ => {}
        }
        Effect::None
    }

    pub(super) fn act(&mut self, action: Action, pressed: KeyEvent, state: &State) -> Effect {
        match action {
            Action::Help => (self.dialog, self.scrolled) = (Dialog::Help, 0),
            Action::Scroll(lines) if self.dialog == Dialog::Help => self.scroll_help(lines),
            Action::Close => self.close(),
            Action::Show(home) => self.show(home),
            Action::Bits => self.bits = !self.bits,
            Action::Keep => return Effect::Keep,
            Action::Section
            | Action::Scroll(_)
            | Action::Page(_)
            | Action::First
            | Action::Last
            | Action::Expand
            | Action::Filter
            | Action::Go => self.look_around(action, state),
            Action::Leave => return self.leave(state),
            Action::Interrupt => return self.interrupt(state),
            Action::StopRun => self.ask_to_stop(state),
            Action::Note => self.ask_for_note(state),
            Action::Erase | Action::Send if self.dialog == Dialog::Filter => self.filter(action),
            Action::Erase | Action::Send => return self.note(action),
            Action::Yes => {
                self.dialog = Dialog::None;
                self.said = Some("stop of the run asked for".to_owned());
                return Effect::Send(Command::StopRun);
            }
            Action::GoOn => return Effect::Leave(How::Left),
            Action::StopSession => return self.stop(),
            Action::Freeze | Action::Slower | Action::Faster if !self.live => return self.play(action, state),
            Action::Slower | Action::Faster => self.said = Some("only a replay has a speed".to_owned()),
            Action::Freeze => self.frozen = if self.frozen.is_some() { None } else { Some(Box::new(state.clone())) },
            Action::Next | Action::Previous | Action::Numbered => self.choose(action, pressed, state),
            Action::Current if !self.live && !self.ended => {
                self.current();
                self.replay.hurry();
                return Effect::Pace(self.replay.pace);
            }
            Action::Current => self.current(),
            Action::NextFinding | Action::PreviousFinding => self.go_to_finding(action, state),
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

    /// Opens a screen, or goes back to the live one from it.
    fn show(&mut self, home: Home) {
        self.home = if self.home == home { Home::Live } else { home };
        self.sight = Sight::default();
    }

    /// Closes what was opened last: a dialog, an entry, a filter, a screen.
    fn close(&mut self) {
        match &self.dialog {
            Dialog::Filter => {
                self.sight.filter.clear();
                self.sight.at = None;
                self.open(Dialog::None);
            }
            Dialog::None if self.sight.open => (self.sight.open, self.sight.scroll) = (false, 0),
            // In the log one stays where one is: what stands around a hit is looked for.
            Dialog::None if !self.sight.filter.is_empty() => {
                self.sight.at = self.reach.of.filter(|_| self.home == Home::Log);
                self.sight.filter.clear();
            }
            Dialog::None => self.show(Home::Live),
            _ => self.open(Dialog::None),
        }
    }

    fn scroll_help(&mut self, lines: i8) {
        let most = self.reach.help;
        self.scrolled = self.scrolled.min(most).saturating_add_signed(isize::from(lines)).min(most);
    }

    fn open(&mut self, dialog: Dialog) {
        self.dialog = dialog;
    }

    /// Whether nothing is left to be stopped.
    pub(super) fn is_over(&self, state: &State) -> bool {
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
        self.said = Some("stopping; Ctrl-C again stops at once and leaves".to_owned());
        Effect::Send(Command::StopSession)
    }

    fn ask_to_stop(&mut self, state: &State) {
        if self.is_over(state) || state.running().next().is_none() {
            self.said = Some("no run is under way".to_owned());
        } else {
            self.open(Dialog::StopRun);
        }
    }

    fn ask_for_note(&mut self, state: &State) {
        if self.is_over(state) {
            self.said = Some("the record is closed, no remark can be added".to_owned());
        } else {
            self.open(Dialog::Note(String::new()));
        }
    }

    fn filter(&mut self, action: Action) {
        if action == Action::Erase {
            self.sight.filter.pop();
            self.sight.at = None;
        } else {
            self.open(Dialog::None);
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
        self.said = Some("remark sent".to_owned());
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

    fn look_around(&mut self, action: Action, state: &State) {
        let reach = self.reach;
        match action {
            Action::Scroll(lines) => self.sight.step(lines.into(), &reach),
            Action::Page(pages) => self.sight.step(isize::from(pages) * reach.page as isize, &reach),
            Action::First => self.sight.turn_to(false, &reach),
            Action::Last => self.sight.turn_to(true, &reach),
            Action::Expand if !reach.opens => self.said = Some("there is nothing to be opened".to_owned()),
            Action::Expand => (self.sight.open, self.sight.scroll) = (!self.sight.open, 0),
            Action::Filter => self.open(Dialog::Filter),
            Action::Go => self.go(state),
            _ => {
                self.sight.section = Section::after(self.sight.section);
                self.sight.at = None;
            }
        }
    }

    /// Shows the time of the chosen entry on the live screen, under the cursor.
    fn go(&mut self, state: &State) {
        let Some((run, at)) = self.reach.goal else {
            self.said = Some("this has no time of its own".to_owned());
            return;
        };
        self.show(Home::Live);
        let run = run.filter(|run| *run < self.shown(state).runs.len());
        (self.chosen, self.until, self.cursor) = (run.or(self.chosen), None, Some(at));
        self.zoom = if run.is_some() { Zoom::Run } else { Zoom::Session };
    }
}

/// The finding that matters most: the worst that is open, else the latest.
pub(super) fn foremost<'a>(findings: impl Iterator<Item = &'a Finding>) -> Option<&'a Finding> {
    findings.max_by_key(|f| (f.closed.is_none(), if f.closed.is_none() { Some(f.severity) } else { None }, f.id))
}
