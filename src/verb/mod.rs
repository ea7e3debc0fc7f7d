//! The composition roots: one file a verb. They put rooms together and hold no logic of their own.

mod amend;
mod baseline;
mod claim;
mod compare;
mod detect;
mod inventory;
mod judge;
mod prepare;
mod presets;
mod process;
mod reference;
mod run;
mod sample;
mod screen;
mod watch;

use std::io;
use std::path::{Path, PathBuf};

use crate::cli::typed::{Typed, Verb};
use crate::session::places;
use crate::session::reader::{Item, Reader};
use crate::vocab::event::Record;

/// What a verb comes to: an exit code, or one line for standard error and the code 3.
pub type Ended = Result<u8, String>;

/// Does what was typed.
///
/// # Errors
/// One line that says what is wrong, where, and what to do.
pub fn perform(typed: Typed) -> Ended {
    match typed.verb {
        None => run::preset(typed.run.preset.as_deref(), &typed.run.options),
        Some(Verb::Run { preset, options }) => run::preset(preset.as_deref(), &options),
        Some(Verb::Watch { session, speed, show }) => watch::watch(session.as_deref(), speed, &show),
        Some(Verb::Judge { session, preset, reference, limits, redetect }) => {
            let asked = judge::Asked { preset, references: reference, limits, redetect };
            judge::judge(&session, &asked)
        }
        Some(Verb::Compare(options)) => compare::compare(&options),
        Some(Verb::Baseline { sessions, out, force }) => baseline::baseline(&sessions, &out, force),
        Some(Verb::Detect { file, options }) => detect::detect(&file, &options),
        Some(Verb::Presets { what }) => presets::presets(what),
        Some(Verb::Themes) => {
            presets::themes()?;
            Ok(0)
        }
        Some(Verb::Keys) => {
            print(&screen::keys()?.table())?;
            Ok(0)
        }
        Some(Verb::Inventory { json, ordered, root }) => inventory::inventory((json, ordered), root),
        Some(Verb::Sample { root, times, every }) => sample::sample(root, times, every),
        Some(Verb::Agent { root }) => process::agent(root),
        Some(Verb::Worker) => process::worker(),
        Some(Verb::Runner) => process::runner(),
    }
}

/// A runtime of one thread: nothing here needs more, and a node under test has better use for its cores.
fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| format!("no runtime: {e}"))
}

/// The records of a session; lines that are damaged are told and left out.
fn records(session: &Path) -> Result<Vec<Record>, String> {
    let reader = Reader::open(session).map_err(|e| e.to_string())?;
    let mut records = Vec::new();
    for item in reader {
        match item {
            Item::Record(record) => records.push(*record),
            Item::Damaged(number, error) => warn(&format!("{}:{number}: {error}; skipped", session.display())),
        }
    }
    Ok(records)
}

/// The file of a session that is meant by its name or by its path.
fn session_file(name: &str) -> Result<PathBuf, String> {
    let path =
        if Path::new(name).exists() { PathBuf::from(name) } else { places::sessions()?.join(format!("{name}.jsonl")) };
    if path.exists() {
        return Ok(path);
    }
    Err(format!("there is no session `{name}`, running or as a file; `shakedown watch` lists them"))
}

/// Writes text to standard output; a reader that has gone away is no error.
///
/// # Errors
/// One line when it cannot be written: what was asked for was not said, whatever it came to.
fn print(text: &str) -> Result<(), String> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What became of something that was to go to standard output.
fn written(result: io::Result<()>) -> Result<(), String> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("standard output cannot be written: {error}"))
        }
        _ => Ok(()),
    }
}

/// The same where a session was or will be run, which counts more than what is said of it here.
fn tell(text: &str) {
    print(text).unwrap_or_else(|why| warn(&why));
}

/// Writes a line to standard error.
fn warn(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "shakedown: {text}");
}
