//! A session that may have only a part of the node: what it measures is sized by that, said to be of that, and held against roofs of that.

use std::path::Path;

use shakedown::vocab::event::{Event, Outcome};
use shakedown::vocab::figure::Roof;
use shakedown::vocab::plan::Basis;

use crate::common::group::{Controller, Group};
use crate::common::play::{Account, Scene};
use crate::program::{self, skip};
use crate::{Played, played};

const MEMORY: u64 = 256 << 20;
const SOME: &str = "(of: \"load.gflops\", at_least: Absolute(\"0.001 GFLOPS\"), decide: Point)";
const AUTO: &str = "Linpack()";
const TARGET: &str = "/var/tmp";

fn works(program: &str, words: &[&str]) -> bool {
    std::process::Command::new(program).args(words).status().is_ok_and(|status| status.success())
}

fn measured(account: &Account) -> &Roof {
    let roof = account.began().roofs.iter().find(|roof| roof.basis == Basis::Measured);
    roof.unwrap_or_else(|| panic!("no measured roof: {}", account.line()))
}

fn half() -> Played {
    let group = Group::new(Controller::Cpu, "half")?;
    group.quota(50)?;
    let mut scene =
        Scene::of(Path::new(TARGET), "Linpack(size: N(4000))", ", iterations: 2, repeat_disturbed: 1").held_to(SOME);
    scene.groups.push(group.entrance());
    Ok(scene.play().end())
}

#[test]
fn half_a_cpu_is_said_and_its_iterations_are_marked_and_repeated() {
    let Some(account) = played("half a CPU", half) else { return };
    assert_eq!(account.outcome(), Some(Outcome::Sound), "{}", account.line());
    assert_eq!(account.began().labels.get("limited_to").map(String::as_str), Some("0.50 CPU"));
    let roof = measured(&account);
    assert!(roof.source.contains("scaled by the quota") && roof.source.ends_with("; limited to 0.50 CPU"), "{roof:?}");
    assert!(account.out.contains("this process may use 0.50 of "), "{}", account.out);
    let ended = account.records.iter().filter(|r| matches!(r.event, Event::IterationEnded { .. })).count();
    assert_eq!(ended, 3, "two and one more: {}", account.out);
    assert!(account.out.contains("iteration 1 was disturbed (throttled by the CPU quota"), "{}", account.out);
    assert!(account.out.contains("[disturbed: throttled by the CPU quota"), "{}", account.out);
    assert!(account.out.contains(" of 3 iterations disturbed: throttled by the CPU quota"), "{}", account.out);
}

#[test]
fn one_cpu_of_several_is_said() {
    let name = "one CPU";
    if std::thread::available_parallelism().map_or(1, std::num::NonZero::get) < 2 {
        return skip(name, "there is only one CPU here");
    }
    if !works("taskset", &["-c", "1", "true"]) {
        return skip(name, "taskset -c 1 does not work here");
    }
    let mut scene = Scene::of(Path::new(TARGET), "Linpack(size: N(1000))", "").held_to(SOME);
    scene.inside = ["taskset", "-c", "1"].map(str::to_owned).to_vec();
    let account = scene.play().end();
    assert_eq!(account.outcome(), Some(Outcome::Sound), "{}", account.line());
    assert_eq!(account.began().labels.get("limited_to").map(String::as_str), Some("CPUs 1"), "{}", account.out);
    let roof = measured(&account);
    assert!(roof.source.contains(", 1 thread,") && roof.source.ends_with("; limited to CPUs 1"), "{roof:?}");
    assert!(account.out.contains("this process may use 1 of "), "{}", account.out);
}

fn order(account: &Account) -> u64 {
    let size = account.began().labels.get("size").and_then(|size| size.parse().ok());
    size.unwrap_or_else(|| panic!("no order: {}", account.line()))
}

fn in_little_memory(kernel: &str) -> Played {
    let group = Group::new(Controller::Memory, "little")?;
    group.memory(MEMORY)?;
    let mut scene = Scene::of(Path::new(TARGET), kernel, "").held_to(SOME);
    scene.groups.push(group.entrance());
    Ok(scene.play().end())
}

#[test]
fn linpack_makes_itself_small_in_a_little_group_of_memory() {
    let Some(account) = played("little memory", || in_little_memory(AUTO)) else { return };
    assert_eq!(account.outcome(), Some(Outcome::Sound), "{}", account.line());
    assert!(8 * order(&account).pow(2) < MEMORY, "{}", account.out);
}

#[test]
fn what_does_not_fit_a_group_of_memory_is_refused_with_both_sizes() {
    let Some(account) = played("too little memory", || in_little_memory("Linpack(size: N(8000))")) else { return };
    assert_eq!((account.outcome(), account.code), (None, Some(3)), "{}", account.line());
    assert!(account.err.contains("run load needs ") && account.err.contains(" MiB are available"), "{}", account.err);
}

#[test]
fn linpack_makes_itself_small_in_little_address_space() {
    let limit = format!("--as={MEMORY}");
    if !works("prlimit", &[&limit, "true"]) {
        return skip("little address space", "prlimit does not work here");
    }
    let mut scene = Scene::of(Path::new(TARGET), AUTO, "").held_to(SOME);
    scene.inside = vec!["prlimit".to_owned(), limit];
    let account = scene.play().end();
    assert_eq!(account.outcome(), Some(Outcome::Sound), "{} {}", account.line(), account.out);
    assert!(8 * order(&account).pow(2) < MEMORY, "{}", account.out);
}

/// The worker is killed by the kernel, and the next run goes on in the same group.
fn killed() -> Played {
    let group = Group::new(Controller::Memory, "oom")?;
    group.memory(MEMORY)?;
    let eater = "Synthetic(rate: \"100 MB/s\", time: \"20 s\", shape: EatMemory(upto: \"4GiB\"))";
    let next = "(name: \"next\", kernel: Synthetic(rate: \"100 MB/s\", time: \"1 s\"))";
    let mut scene = Scene::of(Path::new(TARGET), eater, "").then(next);
    scene.groups.push(group.entrance());
    Ok(scene.play().end())
}

#[test]
fn a_worker_killed_for_memory_is_said_to_be_so_and_the_next_run_goes_on() {
    let Some(account) = played("killed for memory", killed) else { return };
    let ends = program::ends(&account.records);
    let [(load, Outcome::Broken(why)), (next, Outcome::Sound)] = &ends[..] else { panic!("{ends:?} {}", account.err) };
    assert_eq!((load.as_str(), next.as_str()), ("load", "next"));
    assert!(why.contains("by the OOM killer"), "{why}");
    assert_eq!(account.code, Some(2), "{}", account.out);
}
