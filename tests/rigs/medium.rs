//! A medium with a cache in front that fills, and one that hangs.

use shakedown::vocab::event::Outcome;
use shakedown::vocab::finding::Kind;
use shakedown::vocab::moment::Span;

use crate::common::play::{Account, Play, Scene};
use crate::common::slow::{Medium, Slow};
use crate::{Played, played};

const FAST: f64 = 120e6;
const LOAD: &str = "pattern: Write, block: \"256KiB\", depth: 2, size: \"64MiB\"";
/// Bytes that the cache takes.
const CACHE: u64 = 256 << 20;

/// Fast for a quarter of a GiB, then 1 MB/s: a controller's cache that is full.
pub(crate) fn cache() -> Played {
    let slow = Slow::new(FAST, None)?;
    let scene = Scene::disk(&slow.path, &format!("{LOAD}, time: \"10 s\""));
    let mut play = scene.play();
    play.measured(Span::ZERO);
    slow.hand.set(Medium { slow: 1e6, cache: CACHE, ..Medium::healthy(FAST) });
    let account = play.end();
    Ok(account)
}

/// Hangs for six seconds, then goes on.
pub(crate) fn hang() -> Played {
    let slow = Slow::new(FAST, None)?;
    let scene = Scene::disk(&slow.path, &format!("{LOAD}, time: \"12 s\""));
    let mut play = scene.play();
    play.measured(Span::milliseconds(1500));
    slow.hand.set(Medium { hangs: true, ..Medium::healthy(FAST) });
    play.measured(Span::milliseconds(7500));
    slow.hand.set(Medium::healthy(FAST));
    Ok(play.end())
}

/// Hangs and does not come back before the run is given up.
fn dead_with(path: &str) -> Result<(Account, bool), String> {
    let slow = Slow::new(FAST, None)?;
    let kernel = format!("Disk({LOAD}, time: \"6 s\", {path})");
    let scene = Scene::of(&slow.path, &kernel, ", deadline: \"9 s\"");
    let mut play = scene.play();
    play.measured(Span::milliseconds(1000));
    slow.hand.set(Medium { hangs: true, ..Medium::healthy(FAST) });
    let worker = play.worker();
    let account = play.end();
    Ok((account, Play::hangs(worker)))
}

pub(crate) fn dead() -> Played {
    dead_with("direct: true").map(|(account, _)| account)
}

/// The same past the page cache, where the thread waits in a sleep that no signal ends.
pub(crate) fn deaf() -> Played {
    let (account, hangs) = dead_with("direct: false")?;
    if hangs { Ok(account) } else { Err("a hang of a FUSE server can be ended by a signal here".to_owned()) }
}

#[test]
fn a_full_controller_cache_is_a_collapse_after_its_size() {
    let Some(account) = played("full cache", cache) else { return };
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Sound), Some(1)), "{}", account.line());
    let collapses = account.of_kind(Kind::Collapse);
    let [collapse] = &collapses[..] else { panic!("not one collapse: {}", account.line()) };
    let work = collapse.work_before.unwrap().value;
    // What was written in the ramp comes on top.
    assert!((250e6..360e6).contains(&work), "after {work} bytes: {}", account.line());
    assert!(collapse.to.unwrap().value < 3.0, "{}", account.line());
}

#[test]
fn a_hang_is_a_stall_that_ends_with_the_first_completion() {
    let Some(account) = played("hang of 6 s", hang) else { return };
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Sound), Some(1)), "{}", account.line());
    let stalls = account.of_kind(Kind::Stall);
    let [stall] = &stalls[..] else { panic!("not one stall: {}", account.line()) };
    let length = stall.closed.expect("closed").since(stall.onset).as_seconds();
    assert!((5.0..8.0).contains(&length), "{length} s: {}", account.line());
    let onset = stall.onset.since(account.measuring()).as_seconds();
    assert!((1.2..3.0).contains(&onset), "onset {onset}: {}", account.line());
}

fn is_given_up(account: &Account) {
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Stuck), Some(1)), "{}", account.line());
    assert_eq!(account.of_kind(Kind::Stall).len(), 1, "{}", account.line());
    assert!(account.lasted.as_secs_f64() < 20.0, "{}", account.line());
}

#[test]
fn a_dead_device_is_given_up_at_the_deadline_and_the_session_ends() {
    let Some(account) = played("dead device", dead) else { return };
    is_given_up(&account);
}

#[test]
fn a_worker_that_no_signal_ends_is_left_behind_and_the_session_ends() {
    let Some(account) = played("deaf worker", deaf) else { return };
    is_given_up(&account);
}
