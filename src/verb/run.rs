//! `shakedown run`: preflight, then the session, headless or on the screen.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::process::{start_runner, this_program};
use super::{Ended, print, runtime, screen, warn};
use crate::analysis::preflight::{self, Preflight, Weight};
use crate::cli::presets;
use crate::cli::typed::RunOptions;
use crate::cli::wish;
use crate::runner::{Assignment, Kept, NodeSpec, keep, survey};
use crate::session::client::Client;
use crate::session::places;
use crate::shelf::Book;
use crate::view::headless::{Form, Printer};
use crate::view::words;
use crate::vocab::node::NodeName;
use crate::vocab::plan::Plan;
use crate::vocab::survey::Survey;

/// How long a reader of standard output may take to read what is left, once the session is over.
const LAST_LINES: Duration = Duration::from_secs(2);

/// A plan, the nodes it is for, and what the preflight says of them.
pub(super) struct Prepared {
    /// The plan that is meant.
    pub(super) plan: Plan,
    /// What speaks against it.
    pub(super) preflight: Preflight,
    nodes: Vec<NodeSpec>,
    surveys: Vec<(NodeName, Survey)>,
}

/// Runs a preset, or opens the list of presets when none is named.
pub(super) fn preset(name: Option<&str>, options: &RunOptions) -> Ended {
    let terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    let directory = presets::directory();
    let Some(name) = name else {
        if !terminal {
            let names = presets::shelf(directory.as_deref()).names().join(", ");
            return Err(format!(
                "no terminal for the list of presets; name one: shakedown run PRESET; there are: {names}"
            ));
        }
        return screen::choose(options);
    };
    let book = presets::shelf(directory.as_deref()).find(name).map_err(|e| e.to_string())?;
    let prepared = runtime()?.block_on(prepare(&book, options))?;
    if options.plan {
        print(&words::plan(&prepared.plan, &prepared.preflight));
        return Ok(if prepared.preflight.refuses() { 3 } else { 0 });
    }
    refuse(&prepared.preflight)?;
    if !options.headless && !terminal {
        warn("no terminal here: running headless");
    }
    if options.headless || !terminal { headless(prepared, options) } else { screen::run(prepared, options) }
}

/// What is meant, held against the nodes it is meant for; loads nothing.
pub(super) async fn prepare(book: &Book, options: &RunOptions) -> Result<Prepared, String> {
    let plan = wish::plan(book, options)?;
    let program = this_program()?.display().to_string();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let names = if options.node.is_empty() { vec![host] } else { options.node.clone() };
    let nodes: Vec<NodeSpec> =
        names.iter().map(|name| NodeSpec::local(name, &program, options.root.as_ref())).collect();
    let mut surveys = Vec::new();
    for node in &nodes {
        surveys.push((node.name.clone(), survey(node, &plan).await?));
    }
    let preflight = preflight::check(&plan, &surveys);
    Ok(Prepared { plan, preflight, nodes, surveys })
}

/// Nothing is started where the preflight refuses.
pub(super) fn refuse(preflight: &Preflight) -> Result<(), String> {
    let refusals: Vec<&str> = preflight.at_least(Weight::Refuse).map(|r| r.text.as_str()).collect();
    if refusals.is_empty() { Ok(()) } else { Err(refusals.join("\nshakedown: ")) }
}

impl Prepared {
    /// Gives the session a name and a file.
    pub(super) fn assign(self, file: Option<&PathBuf>) -> Result<Assignment, String> {
        let host = self.nodes.first().map(|n| n.name.to_string()).unwrap_or_default();
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_') { c } else { '_' };
        let host: String = host.chars().map(plain).take(32).collect();
        let time = jiff::ZonedDateTime::now().strftime("%Y%m%d-%H%M%S").to_string();
        let base = format!("{host}-{}-{time}", self.plan.name);
        let directory = match file {
            Some(_) => None,
            None => Some(places::sessions()?),
        };
        let running = places::running();
        let path = |name: &str| directory.as_ref().map(|d| d.join(format!("{name}.jsonl")));
        let taken = |name: &String| running.contains(name) || path(name).is_some_and(|p| p.exists());
        let names = std::iter::once(base.clone()).chain((2..).map(|n| format!("{base}-{n}")));
        let session = names.into_iter().find(|name| !taken(name)).unwrap_or(base);
        let file = file.cloned().or_else(|| path(&session)).ok_or("the session has no file")?;
        let file = std::path::absolute(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let targets = self.surveys.iter().flat_map(|(_, s)| s.targets.iter().map(|t| t.path.clone())).collect();
        let remarks = self.preflight.remarks.iter().map(|r| r.text.clone()).collect();
        Ok(Assignment { plan: self.plan, session, file, nodes: self.nodes, targets, remarks })
    }
}

/// Keeps the session in this process; the lines are printed by a viewer like any other, in a thread that may be slow.
fn headless(prepared: Prepared, options: &RunOptions) -> Ended {
    let assignment = prepared.assign(options.session.as_ref())?;
    let form = if options.json { Form::Json } else { Form::Lines };
    if form == Form::Lines {
        print(&format!("file    {}\n", assignment.file.display()));
    }
    let (done, printed) = channel();
    let ready = move |socket: &std::path::Path| {
        let socket = socket.to_owned();
        std::thread::spawn(move || {
            let _ = done.send(follow(&socket, form));
        });
    };
    let Kept { verdict, trouble } = runtime()?.block_on(keep(assignment, ready))?;
    let _ = printed.recv_timeout(LAST_LINES);
    if let Some(why) = trouble {
        warn(&why);
    }
    Ok(verdict.exit_code())
}

fn follow(socket: &std::path::Path, form: Form) -> Result<(), String> {
    runtime()?.block_on(async { print_all(Client::attach(socket).await?, form).await })
}

/// Prints everything a session says, to its end.
pub(super) async fn print_all(mut client: Client, form: Form) -> Result<(), String> {
    let mut printer = Printer::new(std::io::stdout(), form);
    while let Some(heard) = client.heard.recv().await {
        printer.hear(&heard).map_err(|e| e.to_string())?;
    }
    printer.end().map_err(|e| e.to_string())
}

/// Starts a runner of its own for the session and attaches to it.
pub(super) async fn start(assignment: &Assignment) -> Result<Client, String> {
    start_runner(assignment).await?;
    Client::attach(&places::socket(&assignment.session)?).await
}
