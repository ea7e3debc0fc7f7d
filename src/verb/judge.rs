//! `shakedown judge`: the verdict on a session file, again.

use std::path::Path;

use super::{Ended, print, records, reference};
use crate::analysis::detect::redetect as detect_anew;
use crate::analysis::state::State;
use crate::analysis::verdict;
use crate::cli::presets;
use crate::view::headless::verdict_block;
use crate::view::words;

pub(super) fn judge(session: &Path, preset: Option<&str>, references: &[String], redetect: bool) -> Ended {
    let records = records(session)?;
    let mut recorded = State::default();
    records.iter().for_each(|record| recorded.apply(record));
    let state = if redetect { detect_anew(&records) } else { recorded.clone() };
    let own = state.opening.as_ref().map(|o| o.plan.clone()).ok_or("the session has no plan")?;
    let mut plan = match preset {
        Some(name) => {
            let directory = presets::directory();
            presets::parse(&presets::shelf(directory.as_deref()).find(name).map_err(|e| e.to_string())?)?
        }
        None => own,
    };
    reference::settle(&mut plan, references)?;
    let verdict = verdict::judge_record(&plan, &state);
    let pairs = || state.findings.values().zip(recorded.findings.values());
    let as_recorded = state.findings.len() == recorded.findings.len() && pairs().all(|(now, then)| now.means(then));
    let mut text = words::findings(&state);
    text.push_str(&verdict_block(&verdict, state.nodes.len() > 1));
    if redetect {
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
