//! What was typed behind `--amend`, held against the plan of the session that is amended.

use super::presets;
use super::typed::RunOptions;
use crate::vocab::plan::{Plan, Run};

/// The session's plan as it is to be repeated: its own, with the device that may be destroyed said anew, since that holds for one
/// session and its serial number may be another one after a repair.
///
/// # Errors
/// One line that names the option or the run, and what is wrong with it.
pub fn plan(plan: &Plan, preset: Option<&str>, options: &RunOptions) -> Result<Plan, String> {
    if let Some(preset) = preset {
        return Err(format!("--amend repeats runs of its session's own plan; leave out the preset `{preset}`"));
    }
    if let Some(option) = own(options) {
        return Err(format!("{option} does not go with --amend: a run is repeated as the session's plan has it"));
    }
    presets::validate(plan).map_err(|why| format!("--amend: this build cannot do the session's plan: {why}"))?;
    whole_groups(plan, &options.only)?;
    let mut plan = plan.clone();
    for name in &options.only {
        let names = plan.runs.iter().map(|run| run.name.to_string()).collect::<Vec<_>>().join(", ");
        let run = plan.runs.iter_mut().find(|run| &*run.name.0 == name);
        let run =
            run.ok_or_else(|| format!("--only {name}: there is no such run in the session; there are: {names}"))?;
        if run.destroy.is_some() {
            let target = run.target.as_ref().map(|target| target.display().to_string()).unwrap_or_default();
            let device = options.place.destroy_data.as_ref().and_then(|device| std::path::absolute(device).ok());
            if device.as_ref() != run.target.as_ref() || device.is_none() {
                return Err(format!(
                    "run {name} writes over {target}: say again that it is meant, with --destroy-data {target}"
                ));
            }
            run.destroy = Some(options.place.yes.clone().unwrap_or_default());
        }
    }
    let destroys = plan.runs.iter().any(|run| run.destroy.is_some() && options.only.contains(&run.name.to_string()));
    if options.place.destroy_data.is_some() && !destroys {
        return Err("--destroy-data: no run that is repeated writes over a device".to_owned());
    }
    Ok(plan)
}

/// That of runs which go on at the same time all are repeated: the figure of one is that of the node under the others.
fn whole_groups(plan: &Plan, only: &[String]) -> Result<(), String> {
    let named = |run: &&Run| only.iter().any(|name| *name == *run.name.0);
    for run in plan.runs.iter().filter(named) {
        let Some(group) = &run.together else { continue };
        let beside = |other: &&Run| other.together.as_ref() == Some(group) && !named(other);
        let missing: Vec<&str> = plan.runs.iter().filter(beside).map(|other| &*other.name.0).collect();
        if !missing.is_empty() {
            let all = only.iter().map(String::as_str).chain(missing.iter().copied()).collect::<Vec<_>>().join(",");
            return Err(format!(
                "--only {name}: it goes together with {beside}, and alone it would be another test; repeat all of them: --only {all}",
                name = run.name,
                beside = missing.join(", "),
            ));
        }
    }
    Ok(())
}

/// The first option that would change the plan, or the nodes it is done on.
fn own(options: &RunOptions) -> Option<&'static str> {
    let given = [
        ("--set", !options.set.is_empty()),
        ("--roof", !options.roof.is_empty()),
        ("--reference", !options.reference.is_empty()),
        ("--limits", options.limits.is_some()),
        ("--node", !options.node.is_empty()),
        ("--target", !options.place.target.is_empty()),
        ("--reserve", options.place.reserve.is_some()),
        ("--readonly", options.place.readonly),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
}
