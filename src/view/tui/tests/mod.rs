//! What a person sees, and what the keys do.

mod follow;
mod host;
mod machine;
mod pages;
mod random;
mod screens;
mod story;

use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Color, Modifier};

use super::live::Live;
use super::look::Look;
use crate::analysis::state::State;
use crate::view::format;
use crate::view::theme::{Glyphs, ROLES, Role, Theme};

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

fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

/// The text of a screen, with each line's end marked.
fn text(buffer: &Buffer) -> String {
    rows(buffer, |cell| cell.symbol().to_owned())
}

/// The role of every cell: a letter for the text's, where there is text, else one for the ground's.
fn roles(buffer: &Buffer, look: &Look) -> String {
    rows(buffer, |cell| {
        let letter = if cell.symbol() == " " { ground(cell, look) } else { paint(cell, look) };
        letter.to_string().repeat(format::width(cell.symbol()).max(1))
    })
}

fn rows(buffer: &Buffer, of: impl Fn(&Cell) -> String) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut x = 0;
        while x < buffer.area.width {
            let cell = &buffer[(x, y)];
            text.push_str(&of(cell));
            x += format::width(cell.symbol()).max(1) as u16;
        }
        text.push_str("|\n");
    }
    text
}

const WEIGHTS: Modifier = Modifier::BOLD.union(Modifier::DIM).union(Modifier::UNDERLINED);

fn paint(cell: &Cell, look: &Look) -> char {
    let same = |role: Role| {
        let style = look.text(role);
        style.fg.unwrap_or(Color::Reset) == cell.fg && style.add_modifier & WEIGHTS == cell.modifier & WEIGHTS
    };
    ROLES.iter().position(|(role, _)| same(*role)).map_or('?', |i| char::from(b'a' + i as u8))
}

fn ground(cell: &Cell, look: &Look) -> char {
    let grounds = [
        (Role::Ground, ' '),
        (Role::GroundBar, '_'),
        (Role::GroundSelect, '='),
        (Role::GroundShade, '%'),
        (Role::GroundFill, '.'),
    ];
    let same = |role: Role| {
        let style = look.ground(role);
        style.bg.unwrap_or(Color::Reset) == cell.bg
            && style.add_modifier.contains(Modifier::REVERSED) == cell.modifier.contains(Modifier::REVERSED)
    };
    grounds.iter().find(|(role, _)| same(*role)).map_or('?', |(_, letter)| *letter)
}
