mod picture;
mod story;

use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::live::Live;
use super::look::Look;
use crate::analysis::state::State;
use crate::view::theme::{Glyphs, Theme};

fn live(state: State, theme: &str, glyphs: Glyphs) -> Live {
    let look = Look { theme: Theme::load(theme, None).unwrap(), glyphs };
    let mut live = Live::new(look, TimeZone::UTC);
    live.screen.live = true;
    live.state = state;
    live
}

fn drawn(live: &mut Live, (columns, rows): (u16, u16)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    live.draw(&mut terminal).unwrap();
    terminal.backend().buffer().clone()
}
