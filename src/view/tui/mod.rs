//! The live screen. The only place that names a terminal library.
//!
//! ```text
//!  node07  SN 7K2X  disk-write  it 3/20  MEASURE      11:32:07  t 03:04  rec ok   header
//!  ✗ COLLAPSE: fell from 104 MB/s to 1.1 MB/s after 1.07 GB …                     finding
//! ╭ standard  done 3  left 8  ends ~11:44 ───────── node07-standard-20260301 ╮    plan
//! │ ✓ cpu-float    done      58.1 GFLOPS ▇▇▇▇▇  ▸ disk-write  1.1 MB/s ▇▇▁▁▁ │
//! ╰──────────────────────────────────────────────────────────────────────────╯
//! ╭ disk-write  MB/s   vda  direct ────────────────── median 1.2 MB/s of 2 ──╮    stage: chart, axis, hosts
//! │                                                                          │
//! ╰──────────────────────────────────────────────────────────────────────────╯
//!  ? help   Space freeze   c cursor   x stop run   q leave                        footer
//! ```
//!
//! Other screens (`page`) put a list, a text or the host's devices in the place of plan, stage and log.
//!
//! `live` is the loop, `screen` what the person has chosen, `layout` the table of panes, `keys` the table of keys. Drawing
//! is a pure function of the state, the choices and the look; it changes nothing.

mod axis;
mod chart;
mod dialog;
mod finding;
mod footer;
mod frames;
mod grid;
mod header;
mod host;
mod hosts;
mod keymap;
mod keys;
mod layout;
mod live;
mod log;
mod look;
mod outlook;
mod page;
mod pane;
mod picker;
mod picture;
mod plan;
mod plot;
mod press;
mod replay;
mod said;
mod screen;
mod sgr;
mod sight;
mod stage;
mod terminal;
mod themes;
mod time;
mod touch;
mod travel;
mod verdict;

use jiff::tz::TimeZone;

use crate::analysis::state::State;
use crate::session::client::Client;
use crate::view::theme::{Depth, Glyphs, Theme, ThemeError};

pub use frames::Picture;
pub use keymap::Keys;
pub use picker::{Offer, confirm, pick};
pub use terminal::restore;

/// How the screen looks, and what it needs to know of its surroundings.
#[derive(Clone, Debug)]
pub struct Options {
    /// As it was loaded; the screen fits it to the depth.
    pub theme: Theme,
    /// What else can be put on while the screen is up.
    pub themes: Vec<Theme>,
    /// The keys of every place.
    pub keys: Keys,
    /// Whether the mouse is asked for.
    pub mouse: bool,
    /// Whether the line to the terminal is slow: at most two frames a second, and nothing that only ticks.
    pub slow: bool,
    /// The colours of this terminal.
    pub depth: Depth,
    /// The characters of this terminal.
    pub glyphs: Glyphs,
    /// The zone of the wall clock.
    pub zone: TimeZone,
    /// What the window's title begins with, such as `shakedown node07 standard`; none leaves the title alone.
    pub title: Option<String>,
    /// Panics at this draw, to test what a panic leaves of the terminal.
    pub panic_at: Option<u64>,
}

impl Options {
    fn themes(&self) -> Result<themes::Themes, ThemeError> {
        themes::Themes::new(&self.theme, &self.themes, self.depth)
    }
}

/// Why there is no screen.
#[derive(Debug, thiserror::Error)]
pub enum ScreenError {
    /// Input or output is no terminal.
    #[error("standard input or output is no terminal; use --headless")]
    NoTerminal,
    /// The terminal could not be taken over.
    #[error("the terminal cannot be used: {0}")]
    Io(#[from] std::io::Error),
    /// The theme could not be fitted.
    #[error(transparent)]
    Theme(#[from] ThemeError),
}

/// How a screen was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The session is over, or its record at the end.
    Ended,
    /// By choice, while the session goes on.
    Left,
    /// Its terminal went away, or a signal told it to go; the session goes on.
    HungUp,
    /// After asking the session to stop at once.
    Stopped,
}

/// What is known when the screen is left.
#[derive(Debug)]
pub struct Left {
    /// The session as far as it was heard.
    pub state: State,
    /// How the screen was left.
    pub how: How,
}

/// Shows a session until the screen is left. The terminal is given back before this returns, on every way out; the composition
/// root's panic hook calls [`restore`] first.
pub async fn run(mut client: Client, options: Options) -> Result<Left, ScreenError> {
    let mut live = live(&options)?;
    let mut tty = terminal::Tty::enter(options.mouse)?;
    let mut canvas = tty.canvas()?;
    let how = live.follow(&mut canvas, &mut tty, &mut client).await;
    drop(tty);
    if how == How::HungUp {
        // Its end writes to the terminal, which may be gone, and complains to standard error, which may be gone as well.
        std::mem::forget(canvas);
    }
    client.leave().await;
    Ok(Left { state: live.state, how })
}

fn live(options: &Options) -> Result<live::Live, ThemeError> {
    let themes = options.themes()?;
    let look = look::Look { theme: themes.on(), glyphs: options.glyphs };
    let mut live = live::Live::new(look, options.zone.clone());
    live.themes = Some(themes);
    live.screen.keys = options.keys.clone();
    live.screen.line = if options.slow { screen::Line::Slow } else { screen::Line::Fast };
    // A terminal that gets ASCII alone may print a title onto its screen.
    live.title = options.title.clone().filter(|_| options.glyphs != Glyphs::Ascii && !options.slow);
    live.panic_at = options.panic_at;
    Ok(live)
}

#[cfg(test)]
mod tests;
