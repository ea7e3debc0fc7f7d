//! Machines that are known from a file: a session, or a baseline of several.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::warn;
use crate::analysis::reference;
use crate::analysis::state::State;
use crate::cli::baseline;
use crate::session::reader::{Item, Reader};
use crate::view::words::finding_line;
use crate::vocab::check::Limit;
use crate::vocab::finding::{Finding, Severity};
use crate::vocab::name::NodeName;
use crate::vocab::plan::Plan;
use crate::vocab::reference::{Profile, Reference};

/// A baseline of a thousand figures of a hundred sessions has a twentieth of this.
const LARGEST: u64 = 64 << 20;

/// A node of a session, or a baseline.
pub(super) struct Known {
    /// The node, where its session has several.
    pub(super) node: Option<NodeName>,
    /// What it is and did.
    pub(super) profile: Profile,
    /// What was found on it at WARN or worse.
    pub(super) findings: Vec<String>,
    /// Why it should perhaps not stand for good nodes: its verdict, where that is not PASS.
    pub(super) doubt: Option<String>,
}

/// Every machine that a file tells of; session and baseline are told apart by what is in it.
///
/// # Errors
/// One line: which file, and what is wrong with it.
pub(super) fn read(path: &Path) -> Result<Vec<Known>, String> {
    let shown = path.display();
    let mut file = BufReader::new(File::open(path).map_err(|error| format!("{shown}: {error}"))?);
    let begins = file.fill_buf().map_err(|error| format!("{shown}: {error}"))?;
    if begins.is_empty() {
        return Err(format!("{shown} is empty; expected a session or a baseline"));
    }
    if begins.starts_with(b"{") {
        return of_session(path);
    }
    let mut text = String::new();
    let read = file.take(LARGEST).read_to_string(&mut text);
    let size = read.map_err(|_| format!("{shown} is neither a session nor a baseline: it is no text"))?;
    if size as u64 == LARGEST {
        return Err(format!("{shown} is neither a session nor a baseline: it is too large"));
    }
    let profile = baseline::parse(&shown.to_string(), &text).map_err(|why| format!("no baseline: {why}"))?;
    Ok(vec![Known { node: None, profile, findings: Vec::new(), doubt: None }])
}

/// What references are wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    /// The verdict alone: one that no check names would be of no use.
    Verdict,
    /// The screen as well, which shows any where the plan names none.
    Screen,
}

/// The references that a plan has or that its checks name.
fn names(plan: &Plan) -> BTreeSet<String> {
    let limits = plan.checks.iter().flat_map(|check| [&check.at_least, &check.at_most]).flatten();
    let named = limits.filter_map(Limit::reference).map(str::to_owned);
    named.chain(plan.references.keys().cloned()).collect()
}

/// Reads the references that a plan names, and those that were typed as `NAME=FILE`, into the plan: its record alone then gives the
/// verdict again.
///
/// # Errors
/// One line that names the reference, and what is wrong with it.
pub(super) fn settle(plan: &mut Plan, typed: &[String], wanted: For) -> Result<(), String> {
    let known = names(plan);
    let mut given = BTreeMap::new();
    for text in typed {
        let (name, file) = text
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| format!("--reference {text}: expected NAME=FILE"))?;
        if !known.contains(name) && (wanted == For::Verdict || !known.is_empty()) {
            let names = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let they = if known.is_empty() { String::new() } else { format!("; there are {names}") };
            return Err(format!("--reference {text}: no check of this plan names `{name}`{they}"));
        }
        if let Some(before) = given.insert(name, file) {
            return Err(format!("--reference {text}: `{name}` was given as {before} already; give it once"));
        }
        let profile = one(Path::new(file)).map_err(|why| format!("--reference {text}: {why}"))?;
        plan.references.insert(name.to_owned(), Reference::Known(Box::new(profile)));
    }
    for (name, reference) in &mut plan.references {
        if let Reference::Session(path) | Reference::Baseline(path) = reference {
            let profile = one(path).map_err(|why| format!("references.{name}: {why}"))?;
            *reference = Reference::Known(Box::new(profile));
        }
    }
    Ok(())
}

/// The one machine that a file tells of.
///
/// # Errors
/// As [`read`], and where a session has several nodes.
pub(super) fn one(path: &Path) -> Result<Profile, String> {
    let mut known = read(path)?;
    match (known.pop(), known.len()) {
        (Some(known), 0) => {
            if let Some(doubt) = known.doubt {
                warn(&format!("{}: is held against although {doubt}", path.display()));
            }
            Ok(known.profile)
        }
        (_, others) => Err(format!("{} has {} nodes, where one is held against", path.display(), others + 1)),
    }
}

fn of_session(path: &Path) -> Result<Vec<Known>, String> {
    let shown = path.display();
    let mut state = State::default();
    for item in Reader::open(path).map_err(|error| error.to_string())? {
        match item {
            Item::Record(record) => state.apply(&record),
            Item::Damaged(number, error) => warn(&format!("{shown}:{number}: {error}; skipped")),
        }
    }
    let doubt = match &state.verdict {
        None => Some("it was not finished and has no verdict".to_owned()),
        Some(verdict) if verdict.exit_code() == 0 => None,
        Some(verdict) => Some(format!("its verdict is {}", verdict.headline())),
    };
    let several = state.nodes.len() > 1;
    let mut machines = Vec::new();
    for node in state.nodes.keys() {
        let profile = reference::profile(&state, node);
        if profile.figures.is_empty() {
            let of = if several { format!(" of {node}") } else { String::new() };
            return Err(format!("{shown}: no run{of} came to a sound end, so there is no figure"));
        }
        let node_of_several = several.then(|| node.clone());
        machines.push(Known { node: node_of_several, profile, findings: findings(&state, node), doubt: doubt.clone() });
    }
    if machines.is_empty() { Err(format!("{shown}: the session has no nodes")) } else { Ok(machines) }
}

fn findings(state: &State, node: &NodeName) -> Vec<String> {
    // Of a session that is amended, what belongs to the runs that count.
    let counts = |session: &State, finding: &&Finding| {
        let run = finding.run.as_ref().and_then(|run| state.run(node, run));
        let own = run.map_or(std::ptr::eq(session, state), |run| std::ptr::eq(state.home(run).0, session));
        own && session.found_on.get(&finding.id) == Some(node) && finding.severity >= Severity::Warn
    };
    let mut lines = Vec::new();
    for session in state.sessions() {
        let here = session.findings.values().filter(|finding| counts(session, finding));
        lines.extend(here.map(|finding| {
            finding_line(finding, session.clock(node, finding.onset), session.clock(node, finding.said))
        }));
    }
    lines
}
