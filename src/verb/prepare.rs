//! What comes before every session: the plan that is meant, the preflight, the session's name and file, its runner.

use std::path::PathBuf;

use super::process::{start_runner, this_program};
use super::reference;
use crate::analysis::preflight::{self, Preflight, Weight};
use crate::cli::typed::RunOptions;
use crate::cli::wish;
use crate::runner::{Assignment, Met, NodeSpec, survey};
use crate::session::client::Client;
use crate::session::places;
use crate::shelf::Book;
use crate::vocab::event::Amends;
use crate::vocab::name::NodeName;
use crate::vocab::plan::Plan;
use crate::vocab::survey::Survey;

/// A plan, the nodes it is for, and what the preflight says of them.
pub(super) struct Prepared {
    /// The plan that is meant.
    pub(super) plan: Plan,
    /// What speaks against it.
    pub(super) preflight: Preflight,
    /// Where it is done.
    pub(super) nodes: Vec<NodeSpec>,
    /// What these nodes said.
    pub(super) surveys: Vec<(NodeName, Survey)>,
    /// The session that is amended; then the plan is only what is repeated of it.
    pub(super) amending: Option<Amending>,
}

/// A session that is to be amended.
pub(super) struct Amending {
    /// Its whole plan.
    pub(super) plan: Plan,
    /// Which session, and what is repeated.
    pub(super) amends: Amends,
    /// Its file.
    pub(super) file: PathBuf,
    /// What has changed since.
    pub(super) changes: Vec<String>,
}

/// What is meant, held against the nodes it is meant for; loads nothing.
pub(super) async fn prepare(book: &Book, options: &RunOptions) -> Result<Prepared, String> {
    let mut plan = wish::plan(book, options)?;
    reference::settle(&mut plan, &options.reference, reference::For::Screen)?;
    let program = this_program()?.display().to_string();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let names = if options.node.is_empty() { vec![host] } else { options.node.clone() };
    let nodes: Vec<NodeSpec> =
        names.iter().map(|name| NodeSpec::local(name, &program, options.root.as_ref())).collect();
    let met = survey_all(&nodes, &plan).await?;
    let surveys: Vec<_> = met.into_iter().map(|(node, met)| (node, met.survey)).collect();
    let preflight = preflight::check(&plan, &surveys);
    Ok(Prepared { plan, preflight, nodes, surveys, amending: None })
}

/// What every node says of itself before anything is started.
pub(super) async fn survey_all(nodes: &[NodeSpec], plan: &Plan) -> Result<Vec<(NodeName, Met)>, String> {
    let mut met = Vec::new();
    for node in nodes {
        met.push((node.name.clone(), survey(node, plan).await?));
    }
    Ok(met)
}

/// Nothing is started where the preflight refuses.
pub(super) fn refuse(preflight: &Preflight) -> Result<(), String> {
    let refusals: Vec<&str> = preflight.at_least(Weight::Refuse).map(|r| r.text.as_str()).collect();
    if refusals.is_empty() { Ok(()) } else { Err(refusals.join("\nshakedown: ")) }
}

fn made(directory: PathBuf) -> Result<PathBuf, String> {
    let made = std::fs::create_dir_all(&directory);
    made.map_err(|e| format!("{} cannot be made: {e}; name the file with --session FILE", directory.display()))?;
    Ok(directory)
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
            None => Some(made(places::sessions()?)?),
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
        let (plan, amends) = match self.amending {
            Some(Amending { plan, amends, file, .. }) => (plan, Some((amends, file))),
            None => (self.plan, None),
        };
        Ok(Assignment { plan, session, file, nodes: self.nodes, targets, remarks, amends })
    }
}

/// Starts a runner of its own for the session and attaches to it.
pub(super) async fn start(assignment: &Assignment) -> Result<Client, String> {
    start_runner(assignment).await?;
    Client::attach(&places::socket(&assignment.session)?).await
}
