//! The loop of the live screen: keys first, then a frame that is due, then what was heard. It draws when something changed, at
//! most ten times a second, and at once after a key.

use std::time::Duration;

use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::Backend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep_until};

use super::How;
use super::look::{Brush, Look};
use super::outlook::Outlook;
use super::page;
use super::pane::View;
use super::picture;
use super::screen::{Dialog, Effect, Line, Screen};
use super::sight::Reach;
use super::terminal::{Input, World};
use super::themes::Themes;
use super::touch::{Mouse, Touches};
use super::{dialog, layout};
use crate::analysis::state::State;
use crate::session::client::Client;
use crate::session::heard::Heard;
use crate::vocab::finding::Severity;

/// The first frame waits so long for the first record, which is seldom later: an empty one would only flicker.
const FIRST: Duration = Duration::from_millis(60);
/// The shortest time between two frames that nobody has asked for: as often as meters are read. More would show nothing new.
const FRAME: Duration = Duration::from_millis(100);
/// The same on a slow line, where keys wait as well: what a frame changes takes its time to arrive.
const SLOW: Duration = Duration::from_millis(500);
/// Records taken in at a time, so that a key is never waited for long while a session is replayed at full speed.
const BATCH: usize = 4_096;

/// The live screen.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) state: State,
    pub(super) screen: Screen,
    pub(super) look: Look,
    outlook: Outlook,
    /// What else can be put on.
    pub(super) themes: Option<Themes>,
    /// What can be touched of the last frame.
    touches: Touches,
    /// When it was drawn.
    drawn: Option<Instant>,
    pub(super) zone: TimeZone,
    /// What the window's title begins with; none leaves it alone.
    pub(super) title: Option<String>,
    pub(super) panic_at: Option<u64>,
    draws: u64,
    titled: String,
}

impl Live {
    pub(super) fn new(look: Look, zone: TimeZone) -> Self {
        let (state, screen, outlook) = (State::default(), Screen::default(), Outlook::default());
        let (title, panic_at, draws, titled) = (None, None, 0, String::new());
        let (themes, touches, drawn) = (None, Touches::default(), None);
        Self { state, screen, look, outlook, themes, touches, drawn, zone, title, panic_at, draws, titled }
    }

    /// Follows a session until the screen is left.
    pub(super) async fn follow<B: Backend, W: World>(
        &mut self,
        terminal: &mut Terminal<B>,
        world: &mut W,
        client: &mut Client,
    ) -> How {
        self.screen.live = client.live;
        self.screen.replay.pace = client.pace.as_ref().map(|pace| *pace.borrow()).unwrap_or_default();
        let mut silent = false;
        let mut due = Some(Instant::now() + FIRST);
        loop {
            tokio::select! {
                biased;
                input = world.next() => match self.take(input, terminal, (world, client)).await {
                    Some(how) => return how,
                    None => due = Some(self.at_once()),
                },
                () = wait_for(due), if due.is_some() => {
                    // Half of what was before a leap would only flicker; it is drawn when the rest is there.
                    if !self.is_behind() {
                        if self.draw(terminal).is_err() {
                            return How::HungUp;
                        }
                        self.name(world);
                    }
                    due = None;
                }
                heard = client.heard.recv(), if !silent => {
                    silent = heard.is_none();
                    let empty = self.state.opening.is_none();
                    let shown = self.hear(heard, &mut client.heard);
                    if empty && shown && self.state.opening.is_some() {
                        due = Some(Instant::now());
                    } else if shown && due.is_none() {
                        due = Some(Instant::now() + self.pace());
                    }
                }
            }
        }
    }

    fn pace(&self) -> Duration {
        match self.screen.line {
            Line::Fast => FRAME,
            Line::Slow => SLOW,
        }
    }

    /// When a frame is due that somebody waits for.
    fn at_once(&self) -> Instant {
        let now = Instant::now();
        self.drawn.filter(|_| self.screen.line == Line::Slow).map_or(now, |drawn| now.max(drawn + SLOW))
    }

    /// Takes an input; gives how the screen is left, when it is.
    async fn take<B: Backend, W: World>(
        &mut self,
        input: Input,
        terminal: &mut Terminal<B>,
        (world, client): (&mut W, &Client),
    ) -> Option<How> {
        let effect = match input {
            Input::Key(key) => self.press(key, world.size()),
            Input::Mouse(mouse) => self.touch(mouse, world.size()),
            Input::Interrupt => self.screen.interrupt(&self.state),
            Input::Resize => Effect::Redraw,
            Input::Gone => Effect::Leave(How::HungUp),
        };
        match effect {
            Effect::None => None,
            Effect::Redraw => self.redraw(terminal, world),
            Effect::Keep => {
                self.screen.said = Some(self.keep(world));
                None
            }
            Effect::Theme(forward) => {
                if let Some(themes) = &mut self.themes {
                    self.screen.theme = Some(themes.step(forward));
                    self.look.theme = themes.on();
                }
                None
            }
            Effect::Suspend => match world.suspend().await {
                Ok(()) => self.redraw(terminal, world),
                Err(_) => Some(How::HungUp),
            },
            Effect::Send(command) => {
                if client.commands.try_send(command).is_err() {
                    self.screen.said = Some("the session does not answer".to_owned());
                }
                None
            }
            Effect::SendAndLeave(command, how) => {
                // A session that does not answer is left all the same.
                let _ = client.commands.try_send(command);
                Some(how)
            }
            Effect::Leave(how) => Some(how),
            Effect::Pace(pace) => {
                if let Some(paced) = &client.pace {
                    paced.send_replace(pace);
                }
                None
            }
        }
    }

    /// Takes a key on a screen of this size.
    pub(super) fn press(&mut self, key: KeyEvent, size: (u16, u16)) -> Effect {
        self.reach(size);
        self.screen.key(key, &self.state)
    }

    /// Takes what was done with the mouse on a screen of this size.
    pub(super) fn touch(&mut self, mouse: Mouse, size: (u16, u16)) -> Effect {
        self.reach(size);
        self.screen.touched(mouse, &self.touches, &self.state)
    }

    /// Sees how far one can go on the screen that is open.
    fn reach(&mut self, size: (u16, u16)) {
        self.outlook.look(self.screen.shown(&self.state));
        let view = View::new((&self.state, &self.outlook), &self.screen, &self.zone, self.look.signs());
        let help = dialog::help_reach(&view, size);
        self.screen.reach = Reach { help, ..page::reach(&view, size) };
    }

    /// Keeps the picture of the screen in a file; gives what is said of it.
    fn keep<W: World>(&mut self, world: &mut W) -> String {
        let (columns, rows) = world.size();
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        let view = View::new((&self.state, &self.outlook), &self.screen, &self.zone, self.look.signs());
        layout::draw(&view, buffer.area, &mut Brush::new(&mut buffer, &self.look));
        match world.keep(&picture::name(&view), &picture::text(&view, &buffer)) {
            Ok(path) => format!("picture in {}", path.display()),
            Err(error) => format!("no picture: {error}"),
        }
    }

    /// Sees to it that the next frame is drawn whole, and the title given again.
    fn redraw<B: Backend, W: World>(&mut self, terminal: &mut Terminal<B>, world: &W) -> Option<How> {
        self.titled.clear();
        anew(terminal, world.size()).err().map(|_| How::HungUp)
    }

    /// Takes in what was heard and everything that waits behind it; gives whether anything of it is shown.
    fn hear(&mut self, first: Option<Heard>, more: &mut Receiver<Heard>) -> bool {
        let Some(first) = first else {
            self.screen.ended = true;
            return true;
        };
        let open = self.state.verdict.is_none();
        self.fold(&first);
        for _ in 0..BATCH {
            match more.try_recv() {
                Ok(heard) => self.fold(&heard),
                Err(_) => break,
            }
        }
        self.screen.closed = self.state.verdict.is_some();
        if open && self.screen.closed {
            // What was said of a session under way no longer holds, and what was asked is answered.
            self.screen.said = None;
            if matches!(self.screen.dialog, Dialog::Leave | Dialog::StopRun) {
                self.screen.dialog = Dialog::None;
            }
        }
        self.screen.frozen.is_none() && !self.is_behind()
    }

    /// Whether a replay is still on its way to where it begins.
    fn is_behind(&self) -> bool {
        !self.screen.ended && self.screen.replay.is_catching_up(&self.state)
    }

    fn fold(&mut self, heard: &Heard) {
        match heard {
            Heard::Record(record) => self.state.apply(record),
            Heard::Damaged(_) => self.screen.damaged += 1,
            Heard::Anew => {
                self.state = State::default();
                (self.screen.damaged, self.screen.ended) = (0, false);
            }
            Heard::End => {
                self.screen.ended = true;
                self.screen.replay.length = Some(self.state.now.since(self.state.opened));
            }
        }
    }

    /// Draws one frame; panics when it was asked to, for tests of what a panic leaves of the terminal.
    pub(super) fn draw<B: Backend>(&mut self, terminal: &mut Terminal<B>) -> Result<(), B::Error> {
        self.draws += 1;
        self.drawn = Some(Instant::now());
        assert!(self.panic_at != Some(self.draws), "asked to panic at draw {}", self.draws);
        self.outlook.look(self.screen.shown(&self.state));
        let view = View::new((&self.state, &self.outlook), &self.screen, &self.zone, self.look.signs());
        let touches = &mut self.touches;
        terminal.draw(|frame| {
            let area = frame.area();
            let mut brush = Brush::new(frame.buffer_mut(), &self.look);
            layout::draw(&view, area, &mut brush);
            *touches = brush.touches;
        })?;
        Ok(())
    }

    /// Puts what matters most into the window's title, so that it is seen among many windows.
    fn name<W: World>(&mut self, world: &mut W) {
        let Some(title) = &self.title else { return };
        let open = self.state.findings.values().filter(|f| f.closed.is_none() && f.severity >= Severity::Fail);
        let word = match &self.state.verdict {
            Some(verdict) => format!(": {}", verdict.headline()),
            None => open.max_by_key(|f| f.severity).map_or_else(String::new, |f| format!(": {}", f.kind)),
        };
        let text = format!("{title}{word}");
        if text != self.titled {
            world.title(&text);
            self.titled = text;
        }
    }
}

/// Waits for a frame that is due; one that is due already is not waited for at all, where a timer would take a millisecond.
async fn wait_for(due: Option<Instant>) {
    if let Some(due) = due.filter(|due| *due > Instant::now()) {
        sleep_until(due).await;
    }
}

/// Clears the terminal and takes its size, so that the next frame is drawn whole.
pub(super) fn anew<B: Backend>(terminal: &mut Terminal<B>, (columns, rows): (u16, u16)) -> Result<(), B::Error> {
    terminal.backend_mut().clear()?;
    terminal.resize(Rect::new(0, 0, columns, rows))
}
