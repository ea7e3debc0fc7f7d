//! `shakedown presets`, `shakedown themes`: what there is to choose from.

use super::{Ended, print};
use crate::cli::presets::{self, config_directory};
use crate::cli::typed::PresetVerb;
use crate::view::theme::{self, Theme};

pub(super) fn presets(what: Option<PresetVerb>) -> Ended {
    let directory = presets::directory();
    let shelf = presets::shelf(directory.as_deref());
    let find = |name: &str| shelf.find(name).map_err(|e| e.to_string());
    match what {
        None => {
            let mut text = String::new();
            for name in shelf.names() {
                let title = match find(&name).and_then(|s| presets::parse(&s)) {
                    Ok(plan) => plan.title,
                    Err(why) => format!("cannot be used: {why}"),
                };
                text.push_str(&format!("{name:<20} {title}\n"));
            }
            print(&text)?;
        }
        Some(PresetVerb::Show { name }) => print(&find(&name)?.text)?,
        Some(PresetVerb::Check { file }) => {
            let source = find(&file.display().to_string())?;
            let plan = presets::parse(&source)?;
            print(&format!("{}: {} runs, {} checks\n", source.from(), plan.runs.len(), plan.checks.len()))?;
        }
    }
    Ok(0)
}

pub(super) fn themes() -> Result<(), String> {
    let directory = config_directory().map(|d| d.join("themes"));
    let mut text = String::new();
    for name in theme::shelf(directory.as_deref()).names() {
        let from = match Theme::load(&name, directory.as_deref()) {
            Ok(theme) => theme.file.map_or("compiled in".to_owned(), |path| path.display().to_string()),
            Err(why) => format!("cannot be used: {why}"),
        };
        text.push_str(&format!("{name:<20} {from}\n"));
    }
    print(&text)
}
