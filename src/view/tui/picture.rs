//! A picture of the screen as a text file: what is on it, and above it whose it is and when it was made.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ratatui::buffer::Buffer;

use super::page;
use super::pane::View;
use crate::view::format;
use crate::vocab::text::neutral;

/// Pictures of one second that are told apart.
const MOST: u32 = 100;

/// The name of a picture's file without its ending: session, screen, wall clock.
pub(super) fn name(view: &View<'_>) -> String {
    let session = view.state.opening.as_ref().map_or("shakedown", |opening| opening.session.as_str());
    let screen = page::open(view.screen.home).map_or("live", |page| page.name);
    let passed = view.state.now.since(view.state.opened);
    let name = format!("{session}-{screen}-{}", view.wall(passed, "%H%M%S"));
    // A session's name comes from a file, and may be anything.
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

/// The picture.
pub(super) fn text(view: &View<'_>, buffer: &Buffer) -> String {
    let state = view.state;
    let passed = state.now.since(state.opened);
    let mut text = String::new();
    if let Some(opening) = &state.opening {
        let (session, version) = (neutral(&opening.session), neutral(&opening.build.version));
        text += &format!("shakedown {version}, session {session}\n");
    }
    if let Some(known) = view.screen.node(state).and_then(|name| state.nodes.get(name)?.inventory.as_ref()) {
        let (host, product, serial) = (neutral(&known.host), known.product.to_string(), known.serial.to_string());
        text += &format!("host {host}, {}, serial {}\n", neutral(&product), neutral(&serial));
    }
    let (wall, watch) = (view.date(passed), format::stopwatch(passed));
    text += &format!("taken at {wall}, {watch} into the session\n\n");
    for y in 0..buffer.area.height {
        text += row(buffer, y).trim_end();
        text.push('\n');
    }
    text
}

/// A line of the screen; behind a wide character stands a cell that is part of it.
fn row(buffer: &Buffer, y: u16) -> String {
    let mut text = String::new();
    let mut x = 0;
    while let Some(cell) = buffer.cell((x, y)).filter(|_| x < buffer.area.width) {
        text.push_str(cell.symbol());
        x += format::width(cell.symbol()).max(1) as u16;
    }
    text
}

/// Writes a new file, with a number where its name is taken.
pub(super) fn keep(directory: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    for number in 1..=MOST {
        let name = if number == 1 { format!("{name}.txt") } else { format!("{name}-{number}.txt") };
        let path = directory.join(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("there are {MOST} pictures of this second")))
}
