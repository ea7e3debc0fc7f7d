//! Presets: compiled in, and overridden by a file of the same name.

use std::path::{Path, PathBuf};

use crate::vocab::plan::Plan;
use crate::vocab::ronfile;

/// The presets that are compiled in: one line each.
const PRESETS: &[(&str, &str)] = &[
    ("quick", include_str!("../../presets/quick.ron")),
    ("synthetic-collapse", include_str!("../../presets/synthetic-collapse.ron")),
];

/// A preset's text and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The preset's name.
    pub name: String,
    /// A path, or `preset NAME` for one that is compiled in; stands at the head of errors.
    pub from: String,
    /// RON.
    pub text: String,
}

/// The directory whose presets override those compiled in: `$XDG_CONFIG_HOME/shakedown/presets`, else below `~/.config`.
#[must_use]
pub fn directory() -> Option<PathBuf> {
    config_directory().map(|dir| dir.join("presets"))
}

/// The directory of the user's own presets and themes.
#[must_use]
pub fn config_directory() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CONFIG_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    base.or_else(|| std::env::home_dir().map(|h| h.join(".config"))).map(|b| b.join("shakedown"))
}

/// The names of all presets, compiled in or in `directory`, sorted.
#[must_use]
pub fn names(directory: Option<&Path>) -> Vec<String> {
    let mut names: Vec<String> = PRESETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    for entry in directory.and_then(|d| std::fs::read_dir(d).ok()).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "ron")
            && let Some(stem) = path.file_stem().and_then(|s| s.to_str())
        {
            names.push(stem.to_owned());
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Finds a preset by path, in `directory`, or among those compiled in.
///
/// # Errors
/// One line that lists what there is.
pub fn find(name: &str, directory: Option<&Path>) -> Result<Source, String> {
    let is_path = name.contains('/') || Path::new(name).extension().is_some_and(|e| e == "ron");
    if is_path {
        return read(Path::new(name));
    }
    if let Some(path) = directory.map(|d| d.join(format!("{name}.ron"))).filter(|p| p.exists()) {
        return read(&path);
    }
    match PRESETS.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => {
            Ok(Source { name: name.to_owned(), from: format!("preset {name}"), text: (*text).to_owned() })
        }
        None => Err(format!("there is no preset `{name}`; there are: {}", names(directory).join(", "))),
    }
}

fn read(path: &Path) -> Result<Source, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or("preset").to_owned();
    Ok(Source { name, from: path.display().to_string(), text })
}

/// Reads a preset into a plan and checks that it makes sense.
///
/// # Errors
/// `file:line:col: what is wrong` for a text that cannot be read, `file: path of the field: what is wrong` for one that makes
/// no sense.
pub fn parse(source: &Source) -> Result<Plan, String> {
    let mut plan: Plan = ronfile::parse(&source.from, &source.text)?;
    plan.name.clone_from(&source.name);
    validate(&plan).map_err(|why| format!("{}: {why}", source.from))?;
    Ok(plan)
}

/// What RON cannot say: names are unique and plain, checks speak of runs that exist.
pub(super) fn validate(plan: &Plan) -> Result<(), String> {
    if plan.runs.is_empty() {
        return Err("runs: a plan needs at least one run".to_owned());
    }
    for (i, run) in plan.runs.iter().enumerate() {
        let name = &*run.name.0;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(format!("runs[{i}].name: `{name}` is no name; expected lower-case letters, digits and `-`"));
        }
        if plan.runs[..i].iter().any(|earlier| earlier.name == run.name) {
            return Err(format!("runs[{i}].name: there are two runs named `{name}`"));
        }
        if run.iterations == 0 {
            return Err(format!("runs[{i}].iterations: 0 would measure nothing; expected at least 1"));
        }
    }
    for (i, check) in plan.checks.iter().enumerate() {
        let run = check.of.split('.').next().unwrap_or_default();
        if run != "*" && !plan.runs.iter().any(|r| &*r.name.0 == run) {
            let names: Vec<&str> = plan.runs.iter().map(|r| &*r.name.0).collect();
            return Err(format!("checks[{i}].of: there is no run `{run}`; there are: {}", names.join(", ")));
        }
        if check.at_least.is_none() && check.at_most.is_none() && check.no_findings.is_empty() {
            return Err(format!("checks[{i}]: it compares nothing; give it at_least, at_most or no_findings"));
        }
        let compares = check.at_least.is_some() || check.at_most.is_some();
        if compares && !check.of.contains('.') {
            return Err(format!("checks[{i}].of: `{}` names no figure; expected RUN.FIGURE", check.of));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_that_is_compiled_in_is_sound() {
        for (name, _) in PRESETS {
            let plan = parse(&find(name, None).unwrap()).unwrap();
            assert_eq!(plan.name, *name);
            assert!(!plan.title.is_empty() && !plan.about.is_empty() && !plan.checks.is_empty());
        }
    }

    #[test]
    fn a_file_of_the_same_name_wins_and_is_named_in_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("quick.ron");
        std::fs::write(&path, "(title: \"mine\", runs: [])").unwrap();
        let source = find("quick", Some(dir.path())).unwrap();
        let error = parse(&source).unwrap_err();
        assert_eq!(error, format!("{}: runs: a plan needs at least one run", path.display()));
        assert!(find("quic", Some(dir.path())).unwrap_err().contains("there are: quick, synthetic-collapse"));
    }
}
