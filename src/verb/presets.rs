//! `shakedown presets`, `shakedown themes`: what there is to choose from.

use std::path::Path;

use super::{Ended, print};
use crate::agent::resources::Resources;
use crate::agent::survey;
use crate::analysis::preflight;
use crate::analysis::review::review;
use crate::cli::presets::{self, config_directory};
use crate::cli::typed::PresetVerb;
use crate::shelf::Book;
use crate::view::theme::{self, Theme};
use crate::view::words;
use crate::vocab::name::NodeName;
use crate::vocab::ronfile;
use crate::vocab::text::counted;

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
        Some(PresetVerb::Check { file: Some(file) }) => print(&checked(&find(&file.display().to_string())?)?)?,
        Some(PresetVerb::Check { file: None }) => {
            let shipped = presets::shelf(None);
            for name in shipped.names() {
                print(&checked(&shipped.find(&name).map_err(|e| e.to_string())?)?)?;
            }
        }
    }
    Ok(0)
}

/// What a preset comes to: its size, what it would take of this node, and what is not as it was meant.
fn checked(book: &Book) -> Result<String, String> {
    let plan = presets::parse(book)?;
    let from = book.from();
    let mut text = format!("{from}: {}, {}\n", counted(plan.runs.len(), "run"), counted(plan.checks.len(), "check"));
    let root = Path::new("/");
    let survey = survey::take(&plan, root, &Resources::here(root));
    text.push_str(&words::needs(&survey.needs));
    text.push_str(&format!("  in all {}", words::in_all(&preflight::check(&plan, &[(NodeName::default(), survey)]))));
    for warning in review(&plan) {
        text.push_str(&format!("warning: {}\n", ronfile::locate(&from, &book.text, &warning.to_string())));
    }
    Ok(text)
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
