//! `shakedown judge`: the verdict on a session file, again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Ended, print, records, reference};
use crate::analysis::detect::redetect as detect_anew;
use crate::analysis::state::State;
use crate::analysis::verdict;
use crate::cli::{limits, presets};
use crate::view::headless::verdict_block;
use crate::view::words;
use crate::vocab::official;
use crate::vocab::plan::Plan;
use crate::vocab::unit::Unit;

/// By what a session is judged, instead of its own plan or besides it.
pub(super) struct Asked {
    pub(super) preset: Option<String>,
    pub(super) references: Vec<String>,
    pub(super) limits: Option<PathBuf>,
    pub(super) redetect: bool,
}

pub(super) fn judge(session: &Path, asked: &Asked) -> Ended {
    let records = records(session)?;
    let mut recorded = State::default();
    records.iter().for_each(|record| recorded.apply(record));
    let state = if asked.redetect { detect_anew(&records) } else { recorded.clone() };
    let own = state.opening.as_ref().map(|o| o.plan.clone()).ok_or("the session has no plan")?;
    let mut plan = match asked.preset.as_deref() {
        Some(name) => {
            let directory = presets::directory();
            presets::parse(&presets::shelf(directory.as_deref()).find(name).map_err(|e| e.to_string())?)?
        }
        None => own,
    };
    if let Some(file) = &asked.limits {
        plan.checks.extend(limits::read(file, &figures(&plan, &state))?);
    }
    reference::settle(&mut plan, &asked.references)?;
    let verdict = verdict::judge_record(&plan, &state);
    let pairs = || state.findings.values().zip(recorded.findings.values());
    let as_recorded = state.findings.len() == recorded.findings.len() && pairs().all(|(now, then)| now.means(then));
    let mut text = words::findings(&state);
    text.push_str(&verdict_block(&verdict, state.nodes.len() > 1));
    if asked.redetect {
        text.push_str(if as_recorded { "Findings: as recorded.\n" } else { "Findings: not as recorded.\n" });
    }
    match recorded.verdict {
        Some(then) if then.decision != verdict.decision => {
            text.push_str(&format!("When the session was closed the verdict was {}.\n", then.headline()));
        }
        None => text.push_str("The session was not finished; its record ends without a verdict.\n"),
        Some(_) => {}
    }
    print(&text);
    Ok(verdict.exit_code())
}

/// What the runs of a plan can measure, and what they have measured in a session.
fn figures(plan: &Plan, state: &State) -> BTreeMap<String, Unit> {
    let runs = state.runs.iter().filter(|run| plan.runs.iter().any(|planned| planned.name == run.name));
    let figures = runs.flat_map(|run| run.done.iter().flat_map(|i| &i.figures).map(move |figure| (run, figure)));
    let measured = figures.map(|(run, figure)| (format!("{}.{}", run.name, figure.name), figure.unit));
    official::of_plan(plan).into_iter().chain(measured).collect()
}
