//! `shakedown presets`, `shakedown themes`: what there is to choose from.

use super::{Ended, print};
use crate::cli::presets::{self, find, names};
use crate::cli::typed::PresetVerb;

pub(super) fn presets(what: Option<PresetVerb>) -> Ended {
    let directory = presets::directory();
    match what {
        None => {
            let mut text = String::new();
            for name in names(directory.as_deref()) {
                let title = match find(&name, directory.as_deref()).and_then(|s| presets::parse(&s)) {
                    Ok(plan) => plan.title,
                    Err(why) => format!("cannot be used: {why}"),
                };
                text.push_str(&format!("{name:<20} {title}\n"));
            }
            print(&text);
        }
        Some(PresetVerb::Show { name }) => print(&find(&name, directory.as_deref())?.text),
        Some(PresetVerb::Check { file }) => {
            let source = find(&file.display().to_string(), directory.as_deref())?;
            let plan = presets::parse(&source)?;
            print(&format!("{}: {} runs, {} checks\n", source.from, plan.runs.len(), plan.checks.len()));
        }
    }
    Ok(0)
}

pub(super) fn themes() -> Ended {
    print("skeleton\n");
    Ok(0)
}
