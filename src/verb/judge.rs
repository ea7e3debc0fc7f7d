//! `shakedown judge`: the verdict on a session file, again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Ended, print, records, reference};
use crate::analysis::again::again;
use crate::analysis::detect::redetect as detect_anew;
use crate::analysis::state::State;
use crate::analysis::verdict;
use crate::cli::{limits, presets};
use crate::view::headless::{lines, preface};
use crate::view::words;
use crate::vocab::event::{Event, Record};
use crate::vocab::official;
use crate::vocab::plan::Plan;
use crate::vocab::text::neutral;
use crate::vocab::unit::Unit;

/// By what a session is judged, instead of its own plan or besides it.
pub(super) struct Asked {
    pub(super) preset: Option<String>,
    pub(super) references: Vec<String>,
    pub(super) limits: Option<PathBuf>,
    pub(super) redetect: bool,
}

impl Asked {
    /// By what else than the session's own rules it is judged.
    fn other_rules(&self) -> Option<String> {
        let preset = self.preset.as_ref().map(|preset| format!("preset {preset}"));
        let references = (!self.references.is_empty()).then(|| format!("reference {}", self.references.join(", ")));
        let limits = self.limits.as_ref().map(|file| format!("limits {}", file.display()));
        let all: Vec<String> = preset.into_iter().chain(references).chain(limits).collect();
        (!all.is_empty()).then(|| all.join(" and "))
    }
}

pub(super) fn judge(session: &Path, asked: &Asked) -> Ended {
    let mut records = records(session)?;
    let mut recorded = State::default();
    records.iter().for_each(|record| recorded.apply(record));
    let own = recorded.opening.as_ref().map(|o| o.plan.clone()).ok_or("the session has no plan")?;
    let mut plan = match asked.preset.as_deref() {
        Some(name) => {
            let directory = presets::directory();
            presets::parse(&presets::shelf(directory.as_deref()).find(name).map_err(|e| e.to_string())?)?
        }
        None => own,
    };
    if let Some(file) = &asked.limits {
        let rows = limits::read(file, &figures(&plan, &recorded))?;
        // Rows that the session was run with are its own already.
        let own: BTreeSet<String> = plan.checks.iter().map(|check| format!("{check:?}")).collect();
        plan.checks.extend(rows.into_iter().filter(|row| !own.contains(&format!("{row:?}"))));
    }
    reference::settle(&mut plan, &asked.references, reference::For::Verdict)?;
    let state = if asked.redetect { found_anew(&mut records, &plan) } else { recorded.clone() };
    let verdict = verdict::judge_record(&plan, &state);
    let mut text = preface(&verdict);
    text.push_str(&if asked.redetect { marked(&recorded, &state) } else { words::findings(&state) });
    let by = asked.other_rules();
    let word = by.as_ref().map_or_else(|| "VERDICT".to_owned(), |by| format!("VERDICT by {by}, not the session's own"));
    text.push_str(&lines(&verdict, state.nodes.len() > 1, &word));
    if asked.redetect {
        text.push_str(if as_recorded(&recorded, &state) {
            "Findings: as recorded.\n"
        } else {
            "Findings: not as recorded.\n"
        });
    }
    match recorded.verdict {
        Some(then) if then.decision != verdict.decision || by.is_some() => {
            text.push_str(&format!("When the session was closed the verdict was {}.\n", then.headline()));
        }
        None => text.push_str("The session was not finished; its record ends without a verdict.\n"),
        Some(_) => {}
    }
    print(&text)?;
    Ok(verdict.exit_code())
}

/// What the runs of a plan can measure, and what they have measured in a session.
fn figures(plan: &Plan, state: &State) -> BTreeMap<String, Unit> {
    let runs = state.runs.iter().filter(|run| plan.runs.iter().any(|planned| planned.name == run.name));
    let figures = runs.flat_map(|run| run.done.iter().flat_map(|i| &i.figures).map(move |figure| (run, figure)));
    let measured = figures.map(|(run, figure)| (format!("{}.{}", run.name, figure.name), figure.unit));
    official::of_plan(plan).into_iter().chain(measured).collect()
}

/// Today's detectors over the record, with the limits of the checks that it is judged by.
fn found_anew(records: &mut [Record], plan: &Plan) -> State {
    if let Some(Record { event: Event::SessionOpened(opening), .. }) = records.first_mut() {
        opening.plan.checks.clone_from(&plan.checks);
    }
    detect_anew(&*records)
}

/// The findings of now and of then, each with what became of it.
fn marked(recorded: &State, now: &State) -> String {
    let mut text = String::new();
    for (then, now) in recorded.sessions().zip(now.sessions()) {
        let again = again(then, now);
        let any = now.findings.len() + then.findings.len() > 0;
        if any && !text.is_empty() {
            text.push_str(&format!("in {}:\n", neutral(now.name())));
        }
        let mark = |id| if again.raised.contains(&id) { "raised again" } else { "only now" };
        text.push_str(&words::findings_of(now, |id| Some(mark(id))));
        text.push_str(&words::findings_of(then, |id| {
            again.missing.contains(&id).then_some("recorded, not raised again")
        }));
    }
    text
}

/// Whether the detectors find what the record says, in every session that it holds.
fn as_recorded(recorded: &State, now: &State) -> bool {
    recorded.sessions().zip(now.sessions()).all(|(then, now)| {
        let mut pairs = now.findings.values().zip(then.findings.values());
        now.findings.len() == then.findings.len() && pairs.all(|(now, then)| now.means(then))
    })
}
