//! Presets: compiled in, and overridden by a file of the same name.

use std::path::{Path, PathBuf};

use super::together;
use crate::shelf::{Book, Shelf};
use crate::vocab::plan::{Limit, Load, Plan, Run, Shape, Statistic};
use crate::vocab::ronfile;

/// The presets that are compiled in: one line each.
const PRESETS: &[(&str, &str)] = &[
    ("burn-in", include_str!("../../presets/burn-in.ron")),
    ("cpu", include_str!("../../presets/cpu.ron")),
    ("disk", include_str!("../../presets/disk.ron")),
    ("disk-collapse", include_str!("../../presets/disk-collapse.ron")),
    ("disk-railway", include_str!("../../presets/disk-railway.ron")),
    ("disk-steady", include_str!("../../presets/disk-steady.ron")),
    ("memory", include_str!("../../presets/memory.ron")),
    ("openstack-vm", include_str!("../../presets/openstack-vm.ron")),
    ("quick", include_str!("../../presets/quick.ron")),
    ("railway-private-cloud", include_str!("../../presets/railway-private-cloud.ron")),
    ("synthetic-collapse", include_str!("../../presets/synthetic-collapse.ron")),
];

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

/// The presets there are, those in `directory` included.
#[must_use]
pub fn shelf(directory: Option<&Path>) -> Shelf<'_> {
    Shelf { kind: "preset", shipped: PRESETS, directory }
}

/// Reads a preset into a plan and checks that it makes sense.
///
/// # Errors
/// `file:line:col: what is wrong, what was expected`, for a text that cannot be read and for one that makes no sense.
pub fn parse(book: &Book) -> Result<Plan, String> {
    let mut plan: Plan = ronfile::parse(&book.from(), &book.text)?;
    plan.name.clone_from(&book.name);
    for check in &mut plan.checks {
        check.decide.get_or_insert_default();
    }
    if let Some(i) = plan.runs.iter().position(|run| run.destroy.is_some()) {
        let why = format!(
            "runs[{i}].destroy: no preset destroys a device; only --destroy-data DEVICE on the command line does"
        );
        return Err(ronfile::locate(&book.from(), &book.text, &why));
    }
    validate(&plan).map_err(|why| ronfile::locate(&book.from(), &book.text, &why))?;
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
        if let Some(rule) = run.until_steady
            && (rule.rounds < 2 || rule.rounds > run.iterations)
        {
            let (rounds, most) = (rule.rounds, run.iterations);
            return Err(format!(
                "runs[{i}].until_steady: {rounds} rounds cannot be seen in {most} iterations; expected 2 rounds or more, and as \
                 many iterations at least"
            ));
        }
        if run.iterations == 0 {
            return Err(format!("runs[{i}].iterations: 0 would measure nothing; expected at least 1"));
        }
        finite(run).map_err(|(field, why)| format!("runs[{i}].{field}: {why}"))?;
    }
    together::validate(plan)?;
    if let Some((name, roof)) = plan.roofs.iter().find(|(_, roof)| roof.value <= 0.0) {
        return Err(format!("roofs.{name}: `{roof}` is no roof; expected more than nothing"));
    }
    contract(plan)?;
    checks(plan)
}

/// Checks hold what there is against what makes sense.
fn checks(plan: &Plan) -> Result<(), String> {
    for (i, check) in plan.checks.iter().enumerate() {
        for (field, limit) in [("at_least", &check.at_least), ("at_most", &check.at_most)] {
            let share = limit.as_ref().and_then(Limit::share);
            if let Some(share) = share.filter(|share| !(share.is_finite() && *share > 0.0)) {
                let what = if matches!(limit, Some(Limit::OfRoof(..))) { "a roof" } else { "a reference" };
                return Err(format!(
                    "checks[{i}].{field}: `{share}` is no share of {what}; expected a number above 0, as 0.75"
                ));
            }
        }
        if let Statistic::Quantile(q) = check.statistic
            && !(0.0..=1.0).contains(&q)
        {
            return Err(format!("checks[{i}].statistic: `{q}` is no quantile; expected a number from 0 to 1, as 0.05"));
        }
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

/// What a contract says: the order, and the clauses that checks are of.
fn contract(plan: &Plan) -> Result<(), String> {
    if let Some((path, why)) = plan.ordered.as_ref().and_then(|ordered| ordered.fault()) {
        return Err(format!("ordered{}{path}: {why}", if path.is_empty() { "" } else { "." }));
    }
    match plan.checks.iter().enumerate().find_map(|(i, check)| Some((i, check.clause_fault()?))) {
        Some((i, why)) => Err(format!("checks[{i}].clause: {why}")),
        None => Ok(()),
    }
}

/// RON reads `NaN` and `inf` for a number; no parameter means anything by them. The field, and what is wrong with it.
fn finite(run: &Run) -> Result<(), (&'static str, String)> {
    let steady = run
        .until_steady
        .iter()
        .flat_map(|rule| [("until_steady.range", rule.range), ("until_steady.slope", rule.slope)]);
    let mut numbers: Vec<(&str, f64)> = steady.collect();
    if let Load::Synthetic(load) = &run.kernel {
        numbers.push(("kernel.noise", load.noise));
        match load.shape {
            Shape::Drift { to } => numbers.push(("kernel.shape.to", to)),
            Shape::Oscillate { low, .. } => numbers.push(("kernel.shape.low", low)),
            _ => {}
        }
    }
    match numbers.into_iter().find(|(_, number)| !number.is_finite()) {
        Some((field, number)) => Err((field, format!("`{number}` is no number to reckon with; expected a finite one"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_that_is_compiled_in_is_sound() {
        for (name, _) in PRESETS {
            let plan = parse(&shelf(None).find(name).unwrap()).unwrap();
            assert_eq!(plan.name, *name);
            assert!(!plan.title.is_empty() && !plan.about.is_empty() && !plan.checks.is_empty());
            assert!(plan.checks.iter().all(|check| !check.why.is_empty()), "{name}");
        }
    }

    #[test]
    fn a_collapse_is_looked_for_in_ten_minutes_at_most() {
        let plan = parse(&shelf(None).find("disk-collapse").unwrap()).unwrap();
        let bounds: Vec<f64> = plan.runs.iter().map(|run| run.deadline.unwrap().as_seconds()).collect();
        assert!(bounds.iter().sum::<f64>() <= 600.0, "{bounds:?}");
    }

    #[test]
    fn a_file_of_the_same_name_wins_and_is_named_in_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("quick.ron");
        std::fs::write(&path, "(title: \"mine\", runs: [])").unwrap();
        let source = shelf(Some(dir.path())).find("quick").unwrap();
        let error = parse(&source).unwrap_err();
        assert_eq!(error, format!("{}:1:23: runs: a plan needs at least one run", path.display()));
    }
}
