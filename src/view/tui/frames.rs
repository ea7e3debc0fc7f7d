//! The live screen without a terminal: frames of a state, written to whatever takes bytes. For what a frame costs.

use std::io::Write;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::crossterm::style::force_color_output;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::live::Live;
use super::sgr::Classic;
use super::{Options, ScreenError};
use crate::analysis::state::State;

/// A live screen of a fixed size, and what would be sent to its terminal.
#[derive(Debug)]
pub struct Picture<W: Write> {
    live: Live,
    canvas: Terminal<CrosstermBackend<Classic<W>>>,
}

impl<W: Write> Picture<W> {
    /// A screen of so many columns and rows, on which nothing has been drawn.
    pub fn new(options: &Options, (columns, rows): (u16, u16), out: W) -> Result<Self, ScreenError> {
        force_color_output(true);
        let viewport = Viewport::Fixed(Rect::new(0, 0, columns, rows));
        let canvas = Terminal::with_options(CrosstermBackend::new(Classic::new(out)), TerminalOptions { viewport })?;
        Ok(Self { live: super::live(options)?, canvas })
    }

    /// What is shown by the next frame.
    pub fn state(&mut self) -> &mut State {
        &mut self.live.state
    }

    /// Presses the key of a character, for what it does to the screen alone.
    pub fn press(&mut self, key: char) {
        let size = self.canvas.size().map_or((0, 0), |size| (size.width, size.height));
        drop(self.live.press(KeyEvent::from(KeyCode::Char(key)), size));
    }

    /// Draws a frame as the screen does, and writes what of it is new.
    pub fn draw(&mut self) -> Result<(), ScreenError> {
        Ok(self.live.draw(&mut self.canvas)?)
    }
}
