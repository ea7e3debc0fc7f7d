//! The terminal itself: taken over, given back on every way out, and asked for keys.
//!
//! crossterm's event stream is not used as such: when the terminal goes away its reader repeats a failing read for ever, inside
//! the call, and would take the screen's task with it. Keys are read on a thread of their own, which asks first whether the
//! terminal is still there; the screen asks as well, twice a second.

use std::io::{self, IsTerminal, Stdout, Write, stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use ratatui::crossterm::style::{Print, ResetColor, force_color_output};
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, SetTitle, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{execute, queue};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use tokio::signal::unix::{Signal as Heard, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Interval, interval, timeout};

use super::ScreenError;
use super::picture;
use super::sgr::Classic;
use super::touch::Mouse;
use crate::vocab::text::neutral;

/// Whether the terminal is ours, so that it is given back once and only when it was taken.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Held while attributes are set again, so that a terminal that is given back in the same moment stays so.
static ATTRIBUTES: Mutex<()> = Mutex::new(());
/// Whether its title is ours too.
static TITLED: AtomicBool = AtomicBool::new(false);

/// Whether it reports the mouse to us.
static MOUSED: AtomicBool = AtomicBool::new(false);

/// Asks for clicks and the wheel (1000), without movements, told in the form that has no largest column (1006).
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1006h";
const MOUSE_OFF: &str = "\u{1b}[?1006l\u{1b}[?1000l";

/// How long a stop is waited for. A process whose group no shell looks after is not stopped at all.
const STOP: Duration = Duration::from_millis(200);
/// How long the rest of a key is waited for.
const PART: Duration = Duration::from_millis(10);
/// How often the screen asks whether the terminal is still there.
const LOOK: Duration = Duration::from_millis(500);
/// What is taken for the size of a terminal that does not know its own.
const USUAL: (u16, u16) = (80, 24);

/// What comes from outside the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// A key.
    Key(KeyEvent),
    /// The mouse.
    Mouse(Mouse),
    /// Another size, or the same again: whatever was on the terminal may be gone.
    Resize,
    /// SIGINT from elsewhere: the same as the key.
    Interrupt,
    /// The terminal is gone, or the screen was told to go.
    Gone,
}

/// Everything outside that the screen depends on.
pub(super) trait World {
    /// The next input; nothing is lost when the wait is given up.
    async fn next(&mut self) -> Input;
    /// Columns and rows.
    fn size(&self) -> (u16, u16);
    /// Names the terminal's window.
    fn title(&mut self, text: &str);
    /// Writes a new file of this name and ending `.txt`, never over another one; gives its path.
    fn keep(&mut self, name: &str, text: &str) -> io::Result<PathBuf>;
    /// Gives the terminal back, stops, and takes it again when the process goes on.
    async fn suspend(&mut self) -> io::Result<()>;
}

/// Gives the terminal back as it was: cooked, on its main screen, with its cursor. Does nothing when it was not taken; safe to
/// call twice, and from a panic hook.
pub fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let _one = ATTRIBUTES.lock();
    let mut out = stdout();
    if MOUSED.swap(false, Ordering::SeqCst) {
        let _ = execute!(out, Print(MOUSE_OFF));
    }
    // A terminal that is gone cannot be restored, and there is nobody left to tell.
    let _ = execute!(out, ResetColor, LeaveAlternateScreen, Show);
    if TITLED.swap(false, Ordering::SeqCst) {
        let _ = execute!(out, Print("\u{1b}[23;0t"));
    }
    let _ = disable_raw_mode();
}

/// A terminal taken over; given back when this is dropped.
pub(super) struct Tty {
    keys: UnboundedReceiver<Input>,
    enough: Arc<OwnedFd>,
    resized: Heard,
    interrupted: Heard,
    hung_up: Heard,
    told_to_go: Heard,
    continued: Heard,
    mouse: bool,
    look: Interval,
}

impl Tty {
    /// Takes the terminal over, with or without its mouse.
    pub(super) fn enter(mouse: bool) -> Result<Self, ScreenError> {
        if !(io::stdin().is_terminal() && stdout().is_terminal()) {
            return Err(ScreenError::NoTerminal);
        }
        // NO_COLOR is a theme of ours; crossterm's own way with it would write codes that cancel bold and reverse.
        force_color_output(true);
        let enough = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).map_err(io::Error::from)?);
        let (sender, keys) = unbounded_channel();
        let tty = Self {
            keys,
            enough: Arc::clone(&enough),
            resized: signal(SignalKind::window_change())?,
            interrupted: signal(SignalKind::interrupt())?,
            hung_up: signal(SignalKind::hangup())?,
            told_to_go: signal(SignalKind::terminate())?,
            continued: signal(SignalKind::from_raw(Signal::CONT.as_raw()))?,
            mouse,
            look: interval(LOOK),
        };
        take(mouse)?;
        thread::Builder::new().name("keys".to_owned()).spawn(move || read_keys(&sender, &enough))?;
        Ok(tty)
    }

    /// Takes the terminal as if it had never been taken; its modes are whoever's had it last.
    fn take_again(&self) -> io::Result<()> {
        restore();
        take(self.mouse)
    }

    /// A canvas of the terminal's size.
    pub(super) fn canvas(&self) -> Result<Terminal<CrosstermBackend<Classic<Stdout>>>, ScreenError> {
        let (columns, rows) = self.size();
        // A fixed viewport, because the size that the terminal itself tells may be 0×0.
        let viewport = Viewport::Fixed(Rect::new(0, 0, columns, rows));
        Ok(Terminal::with_options(CrosstermBackend::new(Classic::new(stdout())), TerminalOptions { viewport })?)
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        // Nothing can be done if the thread cannot be woken: it ends with the process.
        let _ = rustix::io::write(&*self.enough, &1u64.to_ne_bytes());
        restore();
    }
}

impl World for Tty {
    async fn next(&mut self) -> Input {
        loop {
            tokio::select! {
                biased;
                input = self.keys.recv() => return input.unwrap_or(Input::Gone),
                _ = self.hung_up.recv() => return Input::Gone,
                _ = self.told_to_go.recv() => return Input::Gone,
                _ = self.interrupted.recv() => return Input::Interrupt,
                // Stopped by somebody else and continued: the shell has used the terminal in the meantime.
                _ = self.continued.recv() => return if self.take_again().is_ok() { Input::Resize } else { Input::Gone },
                _ = self.resized.recv() => return Input::Resize,
                _ = self.look.tick() => if is_gone() { return Input::Gone },
            }
        }
    }

    fn size(&self) -> (u16, u16) {
        let known = rustix::termios::tcgetwinsize(stdout().as_fd()).map_or((0, 0), |s| (s.ws_col, s.ws_row));
        size(known, |name| std::env::var(name).ok())
    }

    fn title(&mut self, text: &str) {
        let mut out = stdout();
        if !TITLED.swap(true, Ordering::SeqCst) {
            // xterm keeps the title that was there on a stack; others ignore this.
            let _ = queue!(out, Print("\u{1b}[22;0t"));
        }
        // A terminal that takes no title is no reason to stop.
        let _ = queue!(out, SetTitle(neutral(text)));
        let _ = out.flush();
    }

    fn keep(&mut self, name: &str, text: &str) -> io::Result<PathBuf> {
        picture::keep(Path::new("."), name, text)
    }

    async fn suspend(&mut self) -> io::Result<()> {
        restore();
        kill_process(getpid(), Signal::TSTP)?;
        // The stop may come a moment later; what is drawn until then would be drawn over the shell.
        let _ = timeout(STOP, self.continued.recv()).await;
        self.take_again()
    }
}

/// Sets everything that the screen needs of a terminal.
fn take(mouse: bool) -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, Hide, Clear(ClearType::All))?;
    if mouse {
        MOUSED.store(true, Ordering::SeqCst);
        execute!(stdout(), Print(MOUSE_ON))?;
    }
    Ok(())
}

/// The size to draw for: 0 means unknown, then `COLUMNS` and `LINES` count, then the usual.
fn size(known: (u16, u16), env: impl Fn(&str) -> Option<String>) -> (u16, u16) {
    let told = |name: &str| env(name).and_then(|v| v.parse().ok()).filter(|n| *n > 0);
    let one = |known: u16, name: &str, usual: u16| if known > 0 { known } else { told(name).unwrap_or(usual) };
    (one(known.0, "COLUMNS", USUAL.0), one(known.1, "LINES", USUAL.1))
}

fn is_gone() -> bool {
    let (input, output) = (io::stdin(), stdout());
    let mut fds = [PollFd::new(&input, PollFlags::empty()), PollFd::new(&output, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let lost = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    poll(&mut fds, Some(&now)).is_ok() && fds.iter().any(|fd| fd.revents().intersects(lost))
}

fn read_keys(sender: &UnboundedSender<Input>, enough: &OwnedFd) {
    loop {
        let input = io::stdin();
        let mut fds = [PollFd::new(enough, PollFlags::IN), PollFd::new(&input, PollFlags::IN)];
        match poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => break,
            Ok(_) if !fds[0].revents().is_empty() => return,
            Ok(_) if is_gone() => break,
            Ok(_) => {}
        }
        match pass_on(sender) {
            // Readable, and yet no key: crossterm has a part of one, or has not heard of it. Not again at once, or this would spin.
            Ok(0) => {
                thread::sleep(PART);
                announce_keys();
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    // The receiver being gone means that the screen has ended already.
    let _ = sender.send(Input::Gone);
}

/// Has the kernel announce once more what is to be read. crossterm waits for changes only, and when a key and a change of size come
/// together it forgets the key until the next one is pressed. Setting the attributes that a terminal has wakes everybody who waits for
/// it (`n_tty_set_termios`), and changes nothing.
fn announce_keys() {
    let _one = ATTRIBUTES.lock();
    let input = io::stdin();
    if let (true, Ok(attributes)) = (TAKEN.load(Ordering::SeqCst), tcgetattr(&input)) {
        let _ = tcsetattr(&input, OptionalActions::Now, &attributes);
    }
}

/// Passes on what crossterm has understood by now; gives how much that was.
fn pass_on(sender: &UnboundedSender<Input>) -> io::Result<usize> {
    let mut passed = 0;
    while event::poll(Duration::ZERO)? {
        passed += 1;
        let input = match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => Some(Input::Key(key)),
            Event::Mouse(event) => Mouse::of(event).map(Input::Mouse),
            _ => None,
        };
        if input.is_some_and(|input| sender.send(input).is_err()) {
            break;
        }
    }
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_of_zero_is_unknown() {
        let env = |name: &str| (name == "COLUMNS").then(|| "132".to_owned());
        assert_eq!(size((100, 30), env), (100, 30));
        assert_eq!(size((0, 0), env), (132, 24));
        assert_eq!(size((0, 0), |_| None), USUAL);
        assert_eq!(size((0, 0), |_| Some("0".to_owned())), USUAL);
    }

    #[test]
    fn a_terminal_that_was_not_taken_is_left_alone() {
        restore();
        restore();
    }
}
