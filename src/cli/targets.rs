//! Where the runs of a plan put their files, and which device one of them may read or destroy.

use std::path::{Path, PathBuf};

use super::typed::RunOptions;
use crate::vocab::plan::{Check, Load, Plan, Run};

/// Gives every run its target: `--target`, once or several times, `--readonly`, `--destroy-data`, `--reserve`. A run that names its own
/// keeps it.
///
/// # Errors
/// One line that names the option and what is wrong with it.
pub(super) fn place(plan: &mut Plan, options: &RunOptions) -> Result<(), String> {
    if let Some(run) = plan.runs.iter().find(|run| run.destroy.is_some()) {
        return Err(format!("run `{}`: destroy cannot be set; only --destroy-data DEVICE says so", run.name));
    }
    if let Some(reserve) = options.place.reserve {
        plan.runs.iter_mut().for_each(|run| run.reserve = Some(run.reserve.unwrap_or(reserve)));
    }
    if let Some(device) = &options.place.destroy_data {
        claim(plan, device, |run| run.destroy = Some(options.place.yes.clone().unwrap_or_default()))
            .map_err(|why| format!("--destroy-data {}: {why}", device.display()))?;
    }
    if options.place.readonly {
        let [device] = &options.place.target[..] else {
            return Err("--readonly: name the device with --target DEVICE, once".to_owned());
        };
        claim(plan, device, |run| run.readonly = true).map_err(|why| format!("--readonly: {why}"))?;
    }
    let targets: Vec<PathBuf> = options.place.target.iter().map(|target| absolute(target)).collect();
    for (n, target) in targets.iter().enumerate() {
        if targets[..n].contains(target) {
            return Err(format!("--target {}: it is given twice", target.display()));
        }
    }
    if targets.len() > 1 {
        repeat(plan, &targets);
    }
    let usual = targets.into_iter().next().unwrap_or_else(|| PathBuf::from(USUAL));
    for run in &mut plan.runs {
        run.target.get_or_insert_with(|| usual.clone());
    }
    Ok(())
}

/// Where no `--target` is given: on disk on every distribution, where `/tmp` may be memory.
const USUAL: &str = "/var/tmp";

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Whether a run takes the session's target.
fn takes_it(run: &Run) -> bool {
    matches!(run.kernel, Load::Disk(_)) && run.target.is_none()
}

/// Makes a device the target of every disk run that has none of its own.
fn claim(plan: &mut Plan, device: &Path, mark: impl Fn(&mut Run)) -> Result<(), String> {
    let mut runs = plan.runs.iter_mut().filter(|run| takes_it(run)).peekable();
    if runs.peek().is_none() {
        return Err("no run of this preset takes the session's target for a disk".to_owned());
    }
    for run in runs {
        run.target = Some(absolute(device));
        mark(run);
    }
    Ok(())
}

/// Repeats each disk run for every target, `disk-write` as `disk-write-1`, `disk-write-2` in the order of the targets, and the checks
/// with them.
fn repeat(plan: &mut Plan, targets: &[PathBuf]) {
    let named = |name: &str, n: usize| format!("{name}-{}", n + 1);
    let repeated: Vec<String> = plan.runs.iter().filter(|run| takes_it(run)).map(|run| run.name.to_string()).collect();
    // `disk-write.iops` of each target; none for what is of a run that is not repeated.
    let each = |of: &str| -> Vec<String> {
        let run = of.split('.').next().unwrap_or_default();
        let targets = if repeated.iter().any(|name| name == run) { targets.len() } else { 0 };
        (0..targets).map(|n| format!("{}{}", named(run, n), &of[run.len()..])).collect()
    };
    let mut checks = Vec::new();
    for check in &plan.checks {
        let of_each = each(&check.of);
        if of_each.is_empty() {
            checks.push(check.clone());
        }
        checks.extend(of_each.into_iter().map(|of| Check { of, ..check.clone() }));
    }
    plan.checks = checks;
    // A roof that was given for one of them by name stays as it is.
    for (name, roof) in plan.roofs.clone() {
        for of in each(&name) {
            plan.roofs.entry(of).or_insert(roof);
        }
    }
    let mut runs = Vec::new();
    for run in plan.runs.drain(..) {
        if !takes_it(&run) {
            runs.push(run);
            continue;
        }
        for (n, target) in targets.iter().enumerate() {
            let name = named(&run.name.0, n).as_str().into();
            runs.push(Run { name, target: Some(target.clone()), ..run.clone() });
        }
    }
    plan.runs = runs;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::presets;
    use crate::cli::typed::{Typed, Verb};
    use clap::Parser;

    fn placed(arguments: &[&str]) -> Result<Plan, String> {
        let words = ["shakedown", "run", "quick"].iter().chain(arguments).copied();
        let Some(Verb::Run { options, .. }) = Typed::try_parse_from(words).map_err(|e| e.to_string())?.verb else {
            panic!("{arguments:?}")
        };
        let mut plan = presets::parse(&presets::shelf(None).find("quick").unwrap()).unwrap();
        place(&mut plan, &options)?;
        presets::validate(&plan)?;
        Ok(plan)
    }

    #[test]
    fn every_disk_run_is_repeated_for_each_target_and_its_checks_with_it() {
        let one = placed(&["--target", "/a"]).unwrap();
        assert!(one.runs.iter().all(|run| run.target.as_deref() == Some(Path::new("/a"))));
        let two = placed(&["--target", "/a", "--target", "/b"]).unwrap();
        let names: Vec<String> =
            two.runs.iter().map(|run| format!("{} {}", run.name, run.target.as_ref().unwrap().display())).collect();
        assert_eq!(names[2..5], ["cpu-integer /a", "disk-write-1 /a", "disk-write-2 /b"]);
        assert_eq!(names.len(), 9);
        let mut railway = presets::parse(&presets::shelf(None).find("disk-railway").unwrap()).unwrap();
        railway.roofs.insert("disk-write-2".to_owned(), "300 MB/s".parse().unwrap());
        repeat(&mut railway, &["/a".into(), "/b".into()]);
        let roof = |name: &str| railway.roofs.get(name).map(ToString::to_string);
        assert_eq!(
            (roof("disk-write-1").as_deref(), roof("disk-write-2").as_deref()),
            (Some("288 MB/s"), Some("300 MB/s"))
        );
        assert!(railway.checks.iter().any(|check| check.of == "disk-read-2.mb_per_s"));
        assert!(placed(&["--target", "/a", "--target", "/a/"]).unwrap_err().contains("given twice"));
        assert_eq!(placed(&[]).unwrap().runs[0].target.as_deref(), Some(Path::new(USUAL)));
    }

    #[test]
    fn a_device_is_claimed_for_disk_runs_alone() {
        let plan = placed(&["--destroy-data", "/dev/x", "--yes", "S1"]).unwrap();
        for run in &plan.runs {
            let disk = matches!(run.kernel, Load::Disk(_));
            assert_eq!(run.destroy.as_deref(), disk.then_some("S1"), "{}", run.name);
            assert_eq!(run.target.as_deref() == Some(Path::new("/dev/x")), disk, "{}", run.name);
        }
        let plan = placed(&["--readonly", "--target", "/dev/x"]).unwrap();
        assert_eq!(plan.runs.iter().filter(|run| run.readonly).count(), 3);
        assert!(placed(&["--readonly"]).unwrap_err().contains("--target DEVICE"));
        assert!(placed(&["--yes", "S1"]).is_err(), "a serial number alone means nothing");
        assert!(placed(&["--destroy-data", "/dev/x", "--target", "/a"]).is_err());
    }

    #[test]
    fn the_reserve_is_given_for_all_and_a_run_keeps_its_own() {
        let plan = placed(&["--reserve", "10MiB"]).unwrap();
        assert!(plan.runs.iter().all(|run| run.leaves(1 << 40) == 10 << 20));
        assert!(placed(&["--reserve", "much"]).is_err());
    }
}
