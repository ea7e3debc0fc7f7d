//! `shakedown watch`: attach to a running session, or replay a finished one.

use std::io::IsTerminal;
use std::path::PathBuf;

use super::run::print_all;
use super::{Ended, print, runtime, screen, session_file};
use crate::cli::typed::{Show, Speed};
use crate::session::client::Client;
use crate::session::places;
use crate::session::reader::Reader;
use crate::view::headless::Form;

/// What there is to watch.
enum Source {
    Running(PathBuf),
    Finished(Reader),
}

pub(super) fn watch(session: Option<&str>, speed: Speed, show: &Show) -> Ended {
    let source = match session {
        Some(name) => named(name)?,
        None => match places::running().as_slice() {
            [only] => Source::Running(places::socket(only)?),
            running => {
                print(&list(running))?;
                return Ok(0);
            }
        },
    };
    let terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    let speed = match speed {
        Speed::Max => None,
        Speed::Times(times) => Some(times),
    };
    runtime()?.block_on(async {
        let client = match source {
            Source::Running(socket) => Client::attach(&socket).await?,
            Source::Finished(reader) if terminal => Client::player(reader, speed),
            Source::Finished(reader) => Client::replay(reader, speed),
        };
        if terminal {
            return screen::watch(client, show).await;
        }
        print_all(client, Form::Lines).await?;
        Ok(0)
    })
}

/// A running session by name or by file, else the file.
fn named(name: &str) -> Result<Source, String> {
    let running = places::running();
    if running.iter().any(|r| r == name) {
        return Ok(Source::Running(places::socket(name)?));
    }
    let reader = Reader::open(&session_file(name)?).map_err(|e| e.to_string())?;
    match reader.opening().map(|o| o.session.clone()).filter(|session| running.contains(session)) {
        Some(session) => Ok(Source::Running(places::socket(&session)?)),
        None => Ok(Source::Finished(reader)),
    }
}

fn list(running: &[String]) -> String {
    let mut text = String::new();
    let head =
        if running.is_empty() { "no session is running" } else { "running; attach with `shakedown watch NAME`:" };
    text.push_str(head);
    text.push('\n');
    running.iter().for_each(|name| text.push_str(&format!("  {name}\n")));
    let files = places::files();
    if !files.is_empty() {
        text.push_str("on file; replay with `shakedown watch NAME`:\n");
    }
    for name in files.iter().filter_map(|f| f.file_stem()?.to_str()).filter(|n| !running.iter().any(|r| r == n)) {
        text.push_str(&format!("  {name}\n"));
    }
    text
}
