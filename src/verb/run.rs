//! `shakedown run`: preflight, then the session, headless or on the screen.

use std::io::{self, IsTerminal, Stdout};
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::amend;
use super::prepare::{Amending, Prepared, prepare, refuse};
use super::{Ended, claim, print, runtime, screen, tell, warn, written};
use crate::cli::presets;
use crate::cli::typed::RunOptions;
use crate::runner::{Kept, keep};
use crate::session::client::Client;
use crate::session::heard::Heard;
use crate::session::reader::{Item, Reader};
use crate::view::amended;
use crate::view::headless::{Form, Printer};
use crate::view::words;

/// How long a reader of standard output may take to read what is left, once the session is over.
const LAST_LINES: Duration = Duration::from_mins(1);

/// Runs a preset, or opens the list of presets when none is named.
pub(super) fn preset(name: Option<&str>, options: &RunOptions) -> Ended {
    let terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    if let Some(session) = &options.amend {
        let options = &claim::confirm(options, terminal && !options.headless)?;
        let prepared = runtime()?.block_on(amend::prepare(session, name, options))?;
        return start(prepared, options, terminal);
    }
    let directory = presets::directory();
    let Some(name) = name else {
        if options.place.destroy_data.is_some() {
            return Err("--destroy-data: name the preset as well; nothing is destroyed from the list".to_owned());
        }
        if !terminal {
            let names = presets::shelf(directory.as_deref()).names().join(", ");
            return Err(format!(
                "no terminal for the list of presets; name one: shakedown run PRESET; there are: {names}"
            ));
        }
        return screen::choose(options);
    };
    let book = presets::shelf(directory.as_deref()).find(name).map_err(|e| e.to_string())?;
    let options = &claim::confirm(options, terminal && !options.headless)?;
    let prepared = runtime()?.block_on(prepare(&book, options))?;
    start(prepared, options, terminal)
}

/// Tells what is prepared, or does it.
fn start(prepared: Prepared, options: &RunOptions, terminal: bool) -> Ended {
    if options.plan {
        if let Some(Amending { amends, changes, .. }) = &prepared.amending {
            print(&amended::changed_since(&amends.session, changes))?;
        }
        print(&words::plan(&prepared.plan, &prepared.preflight))?;
        return Ok(if prepared.preflight.refuses() { 3 } else { 0 });
    }
    refuse(&prepared.preflight)?;
    if !options.headless && !terminal {
        warn("no terminal here: running headless");
    }
    if options.headless || !terminal { headless(prepared, options) } else { screen::run(prepared, options) }
}

/// Keeps the session in this process; the lines are printed by a viewer like any other, in a thread that may be slow.
fn headless(prepared: Prepared, options: &RunOptions) -> Ended {
    let assignment = prepared.assign(options.session.as_ref())?;
    let form = if options.json { Form::Json } else { Form::Lines };
    if form == Form::Lines {
        tell(&format!("file    {}\n", assignment.file.display()));
    }
    let (done, printed) = channel();
    let file = assignment.file.clone();
    let ready = move |socket: &Path| {
        let socket = socket.to_owned();
        std::thread::spawn(move || {
            let _ = done.send(follow(&socket, &file, form));
        });
    };
    let Kept { verdict, trouble, never_began } = runtime()?.block_on(keep(assignment, ready))?;
    match printed.recv_timeout(LAST_LINES) {
        Ok(Ok(())) => {}
        Ok(Err(why)) => warn(&format!("standard output is not complete: {why}")),
        Err(_) => warn("standard output is not complete: nobody reads it; the session file is"),
    }
    if let Some(why) = trouble {
        warn(&why);
    }
    match never_began {
        Some(why) => Err(why),
        None => Ok(verdict.exit_code()),
    }
}

/// Prints what the runner says; what it could not hand over to a slow reader before it left comes from the file.
fn follow(socket: &Path, file: &Path, form: Form) -> Result<(), String> {
    runtime()?.block_on(async {
        let mut printer = print_to_end(Client::attach(socket).await?, form).await.map_err(|e| e.to_string())?;
        let rest = if printer.state.verdict.is_none() { Reader::open(file).ok() } else { None };
        for item in rest.into_iter().flatten() {
            if let Item::Record(record) = item
                && record.seq > printer.state.seq
            {
                printer.hear(&Heard::Record(record)).map_err(|e| e.to_string())?;
            }
        }
        printer.end().map_err(|e| e.to_string())
    })
}

/// Prints everything a session says, and how it ended; a reader that has gone away is no error.
pub(super) async fn print_all(client: Client, form: Form) -> Result<(), String> {
    written(print_to_end(client, form).await.and_then(|mut printer| printer.end()))
}

/// Prints until the session says no more.
async fn print_to_end(mut client: Client, form: Form) -> io::Result<Printer<Stdout>> {
    let mut printer = Printer::new(std::io::stdout(), form);
    while let Some(heard) = client.heard.recv().await {
        printer.hear(&heard)?;
    }
    Ok(printer)
}
