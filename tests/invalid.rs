//! A corpus of presets and tables of limits with one error each: every one is refused with the message that lies beside it, in one line that says
//! what is wrong, where, and what was expected.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

mod common;

use std::path::{Path, PathBuf};

use common::Place;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/invalid");

fn files(extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(CORPUS).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

/// What the limits of a table are for.
const PLAN: &str = "(title: \"t\", runs: [(name: \"r\", kernel: Synthetic(rate: \"100 MB/s\", time: \"1 s\"))])";

/// The line that a check of the file comes to, the file's name replaced: of a preset by itself, of a table of limits with a plan.
fn message(place: &Place, file: &Path) -> String {
    let name = file.to_str().unwrap();
    let plan = place.preset("plan", PLAN);
    let checked = match file.extension().and_then(|e| e.to_str()) {
        Some("csv") => place.run(&["run", &plan, "--plan", "--limits", name]),
        _ => place.run(&["presets", "check", name]),
    };
    assert_eq!((checked.code, checked.out.as_str()), (Some(3), ""), "{name}: {}", checked.err);
    let line = checked.err.strip_prefix("shakedown: ").unwrap().replace(name, "FILE");
    assert!(line.ends_with('\n') && line.lines().count() == 1, "{name}: {line}");
    line
}

#[test]
fn every_error_is_said_as_written_beside_it() {
    let place = Place::new();
    let files: Vec<PathBuf> = ["ron", "csv"].into_iter().flat_map(files).collect();
    assert!(files.len() >= 40, "a corpus, not {} files", files.len());
    let mut wrong = String::new();
    for file in &files {
        let expected = std::fs::read_to_string(file.with_extension("txt")).unwrap_or_default();
        let said = message(&place, file);
        if said != expected {
            wrong += &format!("{}\n  expected {expected}\n  said     {said}\n", file.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_message_names_line_and_column() {
    for file in files("txt") {
        let stands = ["ron", "csv"].iter().any(|extension| file.with_extension(extension).exists());
        assert!(stands, "{} stands alone", file.display());
        let text = std::fs::read_to_string(&file).unwrap();
        let mut parts = text.splitn(4, ':');
        assert_eq!(parts.next(), Some("FILE"), "{text}");
        let place: Vec<usize> = parts.by_ref().take(2).map(|n| n.parse().expect("a number")).collect();
        assert!(place.len() == 2 && place.iter().all(|n| *n >= 1), "{text}");
        assert!(parts.next().is_some_and(|what| what.len() > 10), "{text}");
    }
}

#[test]
fn a_corrected_file_is_accepted() {
    let place = Place::new();
    let wrong = std::fs::read_to_string(Path::new(CORPUS).join("zero-iterations.ron")).unwrap();
    let path = place.preset("right", &wrong.replace("iterations: 0", "iterations: 1"));
    let checked = place.run(&["presets", "check", &path]);
    assert_eq!(checked.code, Some(0), "{}", checked.err);
    assert!(checked.out.starts_with(&format!("{path}: 1 run, 0 checks\n")), "{}", checked.out);
}
