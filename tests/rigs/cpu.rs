//! A node whose CPUs are taken away, by a quota and by a neighbour; and a load that its own thread limits.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use shakedown::vocab::event::Outcome;
use shakedown::vocab::finding::Kind;
use shakedown::vocab::moment::Span;

use crate::common::device::Disk;
use crate::common::group::{Controller, Group};
use crate::common::play::{Account, Scene, script};
use crate::{Played, played};

const LOAD: &str = "Integer(limit: 2000, time: \"10 s\")";
const HEALTHY: Span = Span::seconds(2);

/// The whole session, the agent with it, gets a tenth of one CPU from some moment on.
pub(crate) fn quota() -> Played {
    let group = Group::new(Controller::Cpu, "quota")?;
    let mut scene = Scene::of(Path::new("/var/tmp"), LOAD, "");
    scene.groups.push(group.entrance());
    let mut play = scene.play();
    play.measured(HEALTHY);
    group.quota(10)?;
    Ok(play.end())
}

/// Processes that do nothing, as fast as they can; killed when this is dropped.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn begin(group: &Group, count: usize) -> Result<Self, String> {
        let mut neighbours = Self(Vec::new());
        for _ in 0..count {
            let mut command = Command::new("sh");
            command.args(["-c", &script(&[group.entrance()]), "sh", "-c", "while :; do :; done"]);
            command.stdin(Stdio::null());
            neighbours.0.push(command.spawn().map_err(|e| format!("sh: {e}"))?);
        }
        Ok(neighbours)
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The session shares the CPUs with a group that weighs twenty times as much.
pub(crate) fn neighbour() -> Played {
    let (own, other) = (Group::new(Controller::Cpu, "session")?, Group::new(Controller::Cpu, "neighbour")?);
    own.weight(1024)?;
    other.weight(20_480)?;
    let mut scene = Scene::of(Path::new("/var/tmp"), LOAD, "");
    scene.groups.push(own.entrance());
    let mut play = scene.play();
    play.measured(HEALTHY);
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let _neighbours = Neighbours::begin(&other, cpus)?;
    Ok(play.end())
}

/// Reads of what is in memory: the thread that asks is the limit.
pub(crate) fn generator() -> Played {
    let disk = Disk::new()?;
    let load = "pattern: RandomRead, block: \"4KiB\", depth: 32, size: \"64MiB\", time: \"6 s\", direct: false";
    let some = "(of: \"load.iops\", at_least: Absolute(\"100 IOPS\"), decide: Point)";
    Ok(Scene::disk(disk.path(), load).held_to(some).play().end())
}

fn has_collapsed(account: &Account) {
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Sound), Some(1)), "{}", account.line());
    let collapses = account.of_kind(Kind::Collapse);
    let [collapse, ..] = &collapses[..] else { panic!("no collapse: {}", account.line()) };
    let onset = collapse.onset.since(account.measuring()).as_seconds();
    assert!((1.5..4.5).contains(&onset), "onset {onset}: {}", account.line());
}

#[test]
fn a_quota_is_a_collapse() {
    let Some(account) = played("CPU quota", quota) else { return };
    has_collapsed(&account);
}

#[test]
fn a_busy_neighbour_is_a_collapse() {
    let Some(account) = played("busy neighbour", neighbour) else { return };
    has_collapsed(&account);
}

#[test]
fn a_load_that_its_own_thread_and_a_cache_limit_proves_nothing() {
    let Some(account) = played("CPU-bound load", generator) else { return };
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Sound), Some(2)), "{}", account.line());
    assert!(!account.of_kind(Kind::Cached).is_empty(), "{}", account.line());
}
