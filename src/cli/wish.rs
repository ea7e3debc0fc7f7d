//! From a preset and what was typed behind it to the plan that is meant.

use std::collections::BTreeMap;

use serde_json::Value;

use super::typed::RunOptions;
use super::{limits, presets, targets};
use crate::shelf::Book;
use crate::vocab::official;
use crate::vocab::plan::{Plan, Run};
use crate::vocab::unit::Quantity;

/// The plan that is meant: the preset with `--only`, `--limits`, `--set`, `--roof` and its targets applied.
///
/// # Errors
/// One line that names the option and what is wrong with it.
pub fn plan(book: &Book, options: &RunOptions) -> Result<Plan, String> {
    let mut plan = presets::parse(book)?;
    keep_only(&mut plan, &options.only)?;
    // What a contract asks for and is not run has not passed, so a row about a run that is left out is a fault of the row.
    if let Some(file) = &options.limits {
        plan.checks.extend(limits::read(file, &official::of_plan(&plan))?);
    }
    for text in &options.set {
        set(&mut plan, text).map_err(|why| format!("--set {text}: {why}"))?;
    }
    let mut given = BTreeMap::new();
    for text in &options.roof {
        let (name, value) = text.split_once('=').ok_or_else(|| format!("--roof {text}: expected NAME=VALUE"))?;
        let value: Quantity = value.parse().map_err(|why| format!("--roof {text}: {why}"))?;
        if let Some(before) = given.insert(name, value) {
            return Err(format!("--roof {text}: `{name}` was given as {before} already; give it once"));
        }
        plan.roofs.insert(name.to_owned(), value);
    }
    targets::place(&mut plan, options)?;
    presets::validate(&plan)?;
    Ok(plan)
}

fn keep_only(plan: &mut Plan, only: &[String]) -> Result<(), String> {
    for name in only {
        if !plan.runs.iter().any(|r| &*r.name.0 == name) {
            let names: Vec<&str> = plan.runs.iter().map(|r| &*r.name.0).collect();
            return Err(format!("--only {name}: there is no such run; there are: {}", names.join(", ")));
        }
    }
    if !only.is_empty() {
        plan.runs.retain(|r| only.iter().any(|name| &*r.name.0 == name));
        let runs = &plan.runs;
        plan.checks.retain(|c| {
            let run = c.of.split('.').next().unwrap_or_default();
            run == "*" || runs.iter().any(|r| &*r.name.0 == run)
        });
    }
    Ok(())
}

/// Stands for every run of the plan, as in checks.
const EVERY: &str = "*";
/// Fields of a run that are not written where they are not given.
const LEFT_OUT: [&str; 3] = ["together", "lasting", "rest"];

/// `RUN.PARAM=VALUE`: a field of the run, or a parameter of its kernel.
fn set(plan: &mut Plan, text: &str) -> Result<(), String> {
    let (path, value) = text.split_once('=').ok_or("expected RUN.PARAM=VALUE")?;
    let (name, parameter) = path.split_once('.').ok_or("expected RUN.PARAM=VALUE")?;
    let mut runs = plan.runs.iter_mut().filter(|run| name == EVERY || &*run.name.0 == name).peekable();
    if runs.peek().is_none() {
        return Err(format!("there is no run `{name}`"));
    }
    runs.try_for_each(|run| set_in(run, parameter, value))
}

fn set_in(run: &mut Run, parameter: &str, value: &str) -> Result<(), String> {
    let name = run.name.clone();
    let mut json = serde_json::to_value(&*run).map_err(|e| e.to_string())?;
    let unknown = || format!("run `{name}` has no parameter `{parameter}`");
    let place = find(&mut json, parameter).ok_or_else(unknown)?;
    // `8`, `true` and `{"N":2000}` are meant as such, anything else as text: `4GiB`, `5 s`.
    let typed = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    *place = typed;
    let meant: Run = serde_json::from_value(json).map_err(|e| {
        let why = e.to_string();
        if why.starts_with(&format!("unknown field `{parameter}`")) { unknown() } else { why }
    })?;
    *run = meant;
    Ok(())
}

/// The field of a run with this name, or the parameter of its kernel.
fn find<'a>(run: &'a mut Value, parameter: &str) -> Option<&'a mut Value> {
    let fields = run.as_object_mut()?;
    if LEFT_OUT.contains(&parameter) || parameter != "kernel" && parameter != "name" && fields.contains_key(parameter) {
        return Some(fields.entry(parameter).or_insert(Value::Null));
    }
    let kernel = fields.get_mut("kernel")?.as_object_mut()?;
    // One that is as if it were left out is not written; what is no parameter at all is found when it is read again.
    Some(kernel.values_mut().next()?.as_object_mut()?.entry(parameter).or_insert(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::plan::Load;

    fn quick() -> Plan {
        presets::parse(&presets::shelf(None).find("quick").unwrap()).unwrap()
    }

    #[test]
    fn parameters_of_kernels_and_runs_are_set_by_name() {
        let mut plan = quick();
        set(&mut plan, "disk-write.size=4GiB").unwrap();
        set(&mut plan, "disk-write.iterations=7").unwrap();
        set(&mut plan, "cpu-float.size={\"N\":500}").unwrap();
        set(&mut plan, "disk-write.jobs=3").unwrap();
        set(&mut plan, "disk-write.bound={\"Bytes\":\"2GiB\"}").unwrap();
        let run = plan.runs.iter().find(|r| &*r.name.0 == "disk-write").unwrap();
        assert_eq!(run.iterations, 7);
        assert!(matches!(&run.kernel, Load::Disk(disk) if disk.size.0 == 4 << 30 && disk.jobs == 3));
    }

    #[test]
    fn what_is_of_every_run_is_set_in_every_run() {
        let mut plan = quick();
        set(&mut plan, "*.iterations=2").unwrap();
        set(&mut plan, "*.lasting=5 min").unwrap();
        set(&mut plan, "*.rest={\"after\":\"1 min\",\"lasting\":\"5 s\"}").unwrap();
        assert!(plan.runs.iter().all(|run| run.iterations == 2 && run.lasting.is_some() && run.rest.is_some()));
        assert!(set(&mut plan, "*.depth=2").unwrap_err().contains("run `cpu-float` has no parameter `depth`"));
    }

    #[test]
    fn what_cannot_be_set_is_said() {
        let mut plan = quick();
        assert!(set(&mut plan, "disk-write.sise=4GiB").unwrap_err().contains("no parameter `sise`"));
        assert!(set(&mut plan, "disk-wright.size=4GiB").unwrap_err().contains("no run `disk-wright`"));
        assert!(set(&mut plan, "disk-write.size=4Gobs").unwrap_err().contains("`Gobs`"));
        assert!(set(&mut plan, "disk-write").unwrap_err().contains("expected RUN.PARAM=VALUE"));
    }

    #[test]
    fn checks_of_runs_left_out_go_with_them() {
        let mut plan = quick();
        keep_only(&mut plan, &["memory".to_owned()]).unwrap();
        assert_eq!(plan.runs.len(), 1);
        assert!(plan.checks.iter().all(|c| c.of.starts_with('*')));
        assert!(keep_only(&mut plan, &["nothing".to_owned()]).is_err());
    }
}
