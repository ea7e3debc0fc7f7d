//! Sizes that a plan leaves to the node: `4xCache` and `2xMemory` become bytes before a kernel is asked for anything.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::inventory::raid;
use super::resources::Resources;
use crate::vocab::name::RunName;
use crate::vocab::plan::{Load, Plan, Run};
use crate::vocab::size::{ByteSize, Measure, Order};
use crate::vocab::survey::Needs;

/// The tools of RAID controllers may think about their answer; the runner waits ten seconds for a whole survey.
const PATIENCE: Duration = Duration::from_secs(3);

/// The run with its size in bytes, and what these were made of, for the run's labels; empty where the plan gave bytes.
///
/// # Errors
/// What is not known of this node, and what to give instead.
pub(super) fn settle(run: &Run, node: &Resources) -> Result<(Run, String), String> {
    let Load::Disk(load) = &run.kernel else { return Ok((run.clone(), String::new())) };
    let Some((times, of)) = load.size.times() else { return Ok((run.clone(), String::new())) };
    let (known, what) = match of {
        Measure::Cache => (node.controller_cache, "the cache of this node's disk controllers"),
        Measure::Memory => (node.total, "the memory of this node"),
    };
    let Some(known) = known else {
        return Err(format!(
            "its size is {}, and {what} is not known; give the size itself with --set {}.size=32GiB, {times} times what is \
             built in or more",
            load.size, run.name
        ));
    };
    let mut load = load.clone();
    let asked = load.size;
    // Whole blocks, as every file has them.
    let size = asked.of(known).0 / load.block.0.max(1) * load.block.0.max(1);
    load.size = ByteSize(size).into();
    let made = format!("{asked}: {times} times {what}, which is {}", ByteSize(known));
    Ok((Run { kernel: Load::Disk(load), ..run.clone() }, made))
}

/// Bytes of memory that the runs which take what there is may size themselves by, where others run beside them: what those leave that
/// ask for a given amount, in equal parts.
pub(super) fn shares(plan: &Plan, needs: &[Needs], memory: u64) -> BTreeMap<RunName, u64> {
    let asked = |run: &&Run| needs.iter().find(|n| n.run == run.name).map_or(0, |n| n.memory);
    let of_group = |group: &[Run]| -> Vec<(RunName, u64)> {
        let (open, given): (Vec<&Run>, Vec<&Run>) = group.iter().partition(|run| takes_what_there_is(run));
        let left = memory.saturating_sub(given.iter().map(asked).sum());
        let share = left / (open.len() as u64).max(1);
        open.iter().map(|run| (run.name.clone(), share)).collect()
    };
    plan.groups().filter(|group| group.len() > 1).flat_map(of_group).collect()
}

/// Whether it sizes itself by the memory that it finds.
pub(super) fn takes_what_there_is(run: &Run) -> bool {
    match &run.kernel {
        Load::Linpack(load) => load.size == Order::Auto,
        Load::Gemm(load) => load.size == Order::Auto,
        _ => false,
    }
}

/// Whether a plan has anything to do with what lies behind a disk controller.
pub(super) fn loads_disks(plan: &Plan) -> bool {
    plan.runs.iter().any(|run| matches!(run.kernel, Load::Disk(_)))
}

/// Asks the controllers for their cache, of this machine only: their tools look at no captured one.
pub(super) fn controller_cache(root: &Path) -> Option<u64> {
    if root == Path::new("/") { raid::memory(&raid::read(PATIENCE)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::moment::Span;
    use crate::vocab::plan::{Disk, Linpack, Pattern, Stream};

    fn run(size: &str) -> Run {
        let block = "1MiB".parse().unwrap();
        let load = Disk::new(Pattern::Write, block, ByteSize(0), Span::seconds(1));
        Run::new("r", Load::Disk(Disk { size: size.parse().unwrap(), ..load }))
    }

    fn bytes(run: &Run) -> u64 {
        match &run.kernel {
            Load::Disk(load) => load.size.0,
            _ => 0,
        }
    }

    #[test]
    fn a_multiple_becomes_whole_blocks_and_says_of_what() {
        let node = Resources { total: Some((8 << 30) + 5), controller_cache: Some(512 << 20), ..Resources::faked() };
        let (run_, made) = settle(&run("4xCache"), &node).unwrap();
        assert_eq!(
            (bytes(&run_), made.as_str()),
            (2 << 30, "4xCache: 4 times the cache of this node's disk controllers, which is 512MiB")
        );
        let (run_, made) = settle(&run("2xMemory"), &node).unwrap();
        assert_eq!((bytes(&run_), made.starts_with("2xMemory: 2 times the memory")), (16 << 30, true));
        assert_eq!(settle(&run("7MiB"), &node).unwrap(), (run("7MiB"), String::new()));
    }

    #[test]
    fn runs_that_take_what_there_is_share_what_the_others_of_their_group_leave() {
        let auto =
            |name: &str| Run { together: Some("load".to_owned()), ..Run::new(name, Load::Linpack(Linpack::default())) };
        let fixed = Run { together: Some("load".to_owned()), ..Run::new("fixed", Load::Stream(Stream::default())) };
        let alone = Run { together: None, ..auto("alone") };
        let plan =
            |runs: &[Run]| Plan { runs: runs.to_vec(), ..serde_json::from_str(r#"{"title":"t","runs":[]}"#).unwrap() };
        let needs: Vec<Needs> = serde_json::from_str(
            r#"[{"run":"fixed","memory":400,"disk":0,"writes":0,"time":1,"loads":true,"impossible":null}]"#,
        )
        .unwrap();
        let shares = shares(&plan(&[alone.clone(), auto("a"), fixed.clone(), auto("b")]), &needs, 1000);
        assert_eq!(shares, [("a".into(), 300), ("b".into(), 300)].into());
        assert!(super::shares(&plan(&[alone, fixed]), &needs, 1000).is_empty());
    }

    #[test]
    fn what_is_not_known_is_asked_for() {
        let why = settle(&run("4xCache"), &Resources::faked()).unwrap_err();
        assert!(why.contains("is not known; give the size itself with --set r.size=32GiB"), "{why}");
    }
}
