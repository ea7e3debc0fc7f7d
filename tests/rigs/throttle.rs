//! A device that falls to a fraction of its rate and recovers, by a control group's limit.

use shakedown::vocab::event::Outcome;
use shakedown::vocab::finding::{Kind, Severity};
use shakedown::vocab::moment::Span;

use crate::common::device::Disk;
use crate::common::group::{Controller, Group, Rate};
use crate::common::play::{Account, Scene};
use crate::{Played, played};

const MB: u64 = 1_000_000;
/// Healthy before the fall.
const HEALTHY: Span = Span::milliseconds(1500);

/// A load on a disk that falls from one rate to another once it has been healthy for a while, and stays there.
fn fall(load: &str, rate: Rate, from: u64, to: u64) -> Played {
    let disk = Disk::new()?;
    let group = Group::new(Controller::Io, "throttle")?;
    group.limit(&disk.device.number, rate, from)?;
    let mut scene = Scene::disk(disk.path(), load);
    scene.groups.push(group.entrance());
    let mut play = scene.play();
    play.measured(HEALTHY);
    group.limit(&disk.device.number, rate, to)?;
    Ok(play.end())
}

/// Sequential direct writes; 100 MB/s, 1 MB/s, and back.
pub(crate) fn write() -> Played {
    let disk = Disk::new()?;
    let group = Group::new(Controller::Io, "throttle")?;
    let limit = |bytes| group.limit(&disk.device.number, Rate::WriteBytes, bytes);
    limit(100 * MB)?;
    let load = "pattern: Write, block: \"256KiB\", depth: 4, size: \"64MiB\", time: \"16 s\"";
    let mut scene = Scene::disk(disk.path(), load);
    scene.groups.push(group.entrance());
    let mut play = scene.play();
    play.measured(HEALTHY);
    limit(MB)?;
    play.measured(Span::seconds(10));
    limit(100 * MB)?;
    Ok(play.end())
}

pub(crate) fn read() -> Played {
    let load = "pattern: Read, block: \"64KiB\", depth: 4, size: \"64MiB\", time: \"9 s\"";
    fall(load, Rate::ReadBytes, 100 * MB, MB)
}

pub(crate) fn operations() -> Played {
    let load = "pattern: RandomWrite, block: \"4KiB\", depth: 4, size: \"64MiB\", time: \"9 s\"";
    fall(load, Rate::WriteOperations, 2000, 20)
}

/// The fall is said as what it is, at the right time and after the right work.
fn has_collapsed(account: &Account, bytes: std::ops::Range<f64>) {
    assert_eq!(account.outcome(), Some(Outcome::Sound), "{}", account.line());
    assert_eq!(account.code, Some(1), "{}", account.line());
    // Where others use the machine a first burst may end before the throttle is set: that is told, and weighs nothing.
    let mut collapses = account.of_kind(Kind::Collapse);
    collapses.retain(|collapse| collapse.severity > Severity::Info);
    let [collapse] = &collapses[..] else { panic!("not one collapse: {}", account.line()) };
    let onset = collapse.onset.since(account.measuring());
    assert!((1.2..3.5).contains(&onset.as_seconds()), "onset {onset} after the beginning: {}", account.line());
    let work = collapse.work_before.unwrap().value;
    assert!(bytes.contains(&work), "after {work}: {}", account.line());
    let (from, to) = (collapse.from.unwrap().value, collapse.to.unwrap().value);
    assert!(to < 0.1 * from, "{from} to {to}");
}

#[test]
fn a_throttled_write_collapses_and_recovers() {
    let Some(account) = played("throttled write", write) else { return };
    // A hundred a second through the ramp and the healthy time, and what a disk with other users gives less.
    has_collapsed(&account, 80e6..330e6);
    let collapse = &account.of_kind(Kind::Collapse)[0];
    assert!(collapse.closed.is_some() && collapse.sentence.contains("then recovered"), "{}", account.line());
}

#[test]
fn a_throttled_read_collapses() {
    let Some(account) = played("throttled read", read) else { return };
    has_collapsed(&account, 80e6..330e6);
}

#[test]
fn throttled_operations_collapse() {
    let Some(account) = played("throttled operations", operations) else { return };
    has_collapsed(&account, 1500.0..7000.0);
}
