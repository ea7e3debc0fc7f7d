//! `shakedown run --amend`: runs of a finished session repeated, on the machine that it was about.

use std::path::Path;

use super::prepare::{Amending, Prepared, survey_all};
use super::process::this_program;
use super::session_file;
use crate::analysis::amended::{self, Identity, Look};
use crate::analysis::preflight::{self, Remark, Weight};
use crate::analysis::state::{RunState, State, Status};
use crate::cli::amend as typed;
use crate::cli::typed::RunOptions;
use crate::runner::{Met, NodeSpec};
use crate::session::earlier::{self, Whole};
use crate::session::places;
use crate::view::words;
use crate::vocab::event::{Amends, Opening};
use crate::vocab::name::NodeName;

/// What is to be repeated, held against the nodes as they are now; loads nothing.
///
/// # Errors
/// One line: the file, an option, or the machine is not what it should be.
pub(super) async fn prepare(session: &str, preset: Option<&str>, options: &RunOptions) -> Result<Prepared, String> {
    let of = |why: String| format!("--amend {session}: {why}");
    let file = session_file(session).map_err(of)?;
    let file = std::path::absolute(&file).map_err(|why| of(why.to_string()))?;
    let mut state = State::default();
    let whole = earlier::read(&file, |record| state.apply(&record)).map_err(of)?;
    let opening = state.opening.clone().ok_or_else(|| of("it has no plan".to_owned()))?;
    if places::running().contains(&opening.session) {
        return Err(of(format!("the session {} is still running", opening.session)));
    }
    let plan = typed::plan(&opening.plan, preset, options)?;
    if options.only.is_empty() {
        return Err(of(format!("say with --only RUN[,RUN] what is to be repeated; {}", ends(&state))));
    }
    let amends = amends(&opening, &file, whole, options);
    let work = amends.again(&plan);
    let program = this_program()?.display().to_string();
    let local = |name: &NodeName| NodeSpec::local(&name.0, &program, options.root.as_ref());
    let nodes: Vec<NodeSpec> = opening.nodes.iter().map(local).collect();
    let met = survey_all(&nodes, &work).await?;
    let mut found = Found::default();
    for (node, met) in &met {
        found.look(&state, node, met).map_err(of)?;
    }
    let surveys: Vec<_> = met.into_iter().map(|(node, met)| (node, met.survey)).collect();
    let mut preflight = preflight::check(&work, &surveys);
    preflight.remarks.splice(0..0, found.doubts);
    let amending = Amending { plan, amends, file, changes: found.changes };
    Ok(Prepared { plan: work, preflight, nodes, surveys, amending: Some(amending) })
}

fn amends(opening: &Opening, file: &Path, whole: Whole, options: &RunOptions) -> Amends {
    let Whole { bytes, crc, records } = whole;
    let named = |name: &String| options.only.contains(name);
    Amends {
        session: opening.session.clone(),
        file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        bytes,
        crc,
        records,
        only: opening.plan.runs.iter().map(|run| run.name.clone()).filter(|run| named(&run.to_string())).collect(),
    }
}

/// How each run ended, in a line.
fn ends(state: &State) -> String {
    let several = state.nodes.len() > 1;
    let end = |run: &RunState| {
        let how = match &run.status {
            Status::Waiting => "not run".to_owned(),
            Status::Running => "not finished".to_owned(),
            Status::Ended(outcome) => words::outcome(outcome, Some(run)),
        };
        let node = if several { format!("{} ", run.node) } else { String::new() };
        format!("{node}{}: {how}", run.name)
    };
    state.runs.iter().map(end).collect::<Vec<_>>().join("; ")
}

/// What is found of the nodes as they are now.
#[derive(Default)]
struct Found {
    changes: Vec<String>,
    doubts: Vec<Remark>,
}

impl Found {
    fn look(&mut self, state: &State, node: &NodeName, met: &Met) -> Result<(), String> {
        if let Some((run, why)) = met.survey.needs.iter().find_map(|n| Some((&n.run, n.impossible.as_ref()?))) {
            return Err(format!("run {run} cannot be done here any more: {why}"));
        }
        let before = state.nodes.get(node).and_then(|n| Some((n.inventory.as_ref()?, &n.conditions)));
        let (Some((inventory, conditions)), Some((now, settings))) = (before, &met.joined) else {
            self.doubt("the session does not tell what the node is");
            return Ok(());
        };
        match amended::identity(inventory, now) {
            Identity::Same(_) => {}
            Identity::Other(how) => {
                return Err(format!("this is another machine ({how}); tests of two machines are two sessions"));
            }
            Identity::Unknown(why) => self.doubt(&why),
        }
        let (before, now) = (Look { inventory, conditions }, Look { inventory: now, conditions: settings });
        self.changes.extend(amended::changes(before, now));
        Ok(())
    }

    fn doubt(&mut self, why: &str) {
        let text = format!(
            "that this is the same machine cannot be shown ({why}), so that the verdict will be NOT PROVEN; root can read both numbers"
        );
        self.doubts.push(Remark { weight: Weight::Ask, text });
    }
}
