//! `shakedown compare`: machines side by side.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Ended, print, reference};
use crate::analysis::compare::{Machine, compare as side_by_side};
use crate::cli::typed::CompareOptions;
use crate::view::compare as view;

pub(super) fn compare(options: &CompareOptions) -> Ended {
    let mut machines = Vec::new();
    for argument in &options.machines {
        let (name, path) = named(argument);
        for known in reference::read(Path::new(path))? {
            let name = known.node.map_or_else(|| name.clone(), |node| format!("{name}:{node}"));
            machines.push(Machine { name, profile: known.profile, findings: known.findings });
        }
    }
    if machines.len() < 2 {
        return Err("there is one machine, and nothing to compare it with; give another file".to_owned());
    }
    tell_apart(&mut machines);
    let comparison = side_by_side(machines, options.all);
    if options.json {
        let text = serde_json::to_string_pretty(&view::json(&comparison)).map_err(|error| error.to_string())?;
        print(&format!("{text}\n"))?;
    } else if options.markdown {
        print(&view::markdown(&comparison))?;
    } else {
        print(&view::text(&comparison))?;
    }
    Ok(0)
}

/// The name of a machine and its file: `NAME=FILE`, or the file's name without its ending. A file of that very name is meant as it is.
fn named(argument: &str) -> (String, &str) {
    let stem = |path: &str| {
        Path::new(path).file_stem().map_or_else(|| path.to_owned(), |stem| stem.to_string_lossy().into_owned())
    };
    match argument.split_once('=') {
        Some((name, path)) if !name.is_empty() && !name.contains('/') && !Path::new(argument).exists() => {
            (name.to_owned(), path)
        }
        _ => (stem(argument), argument),
    }
}

/// Two machines of one name get numbers.
fn tell_apart(machines: &mut [Machine]) {
    let mut taken = BTreeSet::new();
    for machine in machines {
        let name = machine.name.clone();
        let mut number = 1;
        while !taken.insert(machine.name.clone()) {
            number += 1;
            machine.name = format!("{name}-{number}");
        }
    }
}
