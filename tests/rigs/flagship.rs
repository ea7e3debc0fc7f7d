//! The flagship: `disk-collapse`, as it comes with the program and only made smaller, on devices that really collapse. The finding has
//! to come within seconds, after the right work, name the storage's write path, and give burst and sustained rate.

use shakedown::vocab::event::{Event, Phase, Record};
use shakedown::vocab::finding::{Finding, Kind, Resource};
use shakedown::vocab::moment::{Moment, Span};

use crate::common::device::Disk;
use crate::common::group::{Controller, Everyone, Group, Rate};
use crate::common::play::{Account, Scene};
use crate::common::slow::{Medium, Slow};
use crate::common::undo::{Setting, write};
use crate::{Played, played};

const MB: u64 = 1_000_000;
/// Bytes that go fast in the rig with a controller's cache.
const CACHE: u64 = 512 << 20;
/// What may pass from the onset to the finding.
const SOON: Span = Span::seconds(5);

/// The resources that stand for the storage's write path.
const WRITE_PATH: [Resource; 5] =
    [Resource::Disk, Resource::DiskCap, Resource::DeviceHang, Resource::Flush, Resource::CgroupLimit];

/// Direct writes; the device falls from 100 MB/s to 1 after four seconds.
fn throttled() -> Played {
    let disk = Disk::new()?;
    let group = Group::new(Controller::Io, "flagship")?;
    let limit = |bytes| group.limit(&disk.device.number, Rate::WriteBytes, bytes);
    limit(100 * MB)?;
    let more = ["--only", "direct-write", "--set", "direct-write.size=1GiB", "--set", "direct-write.time=16 s"];
    let mut scene = Scene::preset(disk.path(), "disk-collapse", &more);
    scene.groups.push(group.entrance());
    let mut play = scene.play();
    play.measured(Span::seconds(4));
    limit(MB)?;
    Ok(play.end())
}

/// Direct writes to a medium that takes half a GiB at full speed and then 1 MB/s: a controller's cache.
fn cached() -> Played {
    let slow = Slow::new(120e6, None)?;
    slow.hand.set(Medium { slow: 1e6, cache: CACHE, ..Medium::healthy(120e6) });
    let more = ["--only", "direct-write", "--set", "direct-write.size=2GiB", "--set", "direct-write.time=26 s"];
    Ok(Scene::preset(&slow.path, "disk-collapse", &more).play().end())
}

/// A copy through the page cache to a device of 1 MB/s, paced at 100: it falls once dirty memory is at its limit, and nothing here is
/// made up but the device's rate.
fn copied() -> Played {
    let disk = Disk::new()?;
    let everyone = Everyone::new(&disk.device.number)?;
    // Bytes and ratio are one setting; the ratio is what comes back.
    let _ratio = Setting::keep("/proc/sys/vm/dirty_ratio")?;
    let _background_ratio = Setting::keep("/proc/sys/vm/dirty_background_ratio")?;
    write("/proc/sys/vm/dirty_bytes", "800000000")?;
    write("/proc/sys/vm/dirty_background_bytes", "400000000")?;
    let more = ["copy.size=1GiB", "copy.time=16 s", "copy.rate=100 MB/s"].map(|word| ["--set", word]).concat();
    let mut play = Scene::preset(disk.path(), "disk-collapse", &[vec!["--only", "copy"], more].concat()).play();
    // The source is laid out by then; what is read comes from the device unhindered.
    play.phase(Phase::Ramp);
    everyone.limit(MB)?;
    play.phase(Phase::Drain);
    everyone.limit(0)?;
    Ok(play.end())
}

/// Readings of the work while it was measured: time and bytes.
fn readings(account: &Account) -> Vec<(Moment, f64)> {
    let mut measures = false;
    let mut readings = Vec::new();
    for Record { at, event, .. } in &account.records {
        match event {
            Event::Phase { phase, .. } => measures = matches!(phase, Phase::Ramp | Phase::Measure),
            Event::Progress(progress) if measures => readings.push((*at, progress.done[0] as f64)),
            _ => {}
        }
    }
    readings
}

/// The bytes at the fall, found in another way than the detectors do: after it there are never again ten readings in a row, a second,
/// of a quarter of the rate before.
fn bytes_at_the_fall(account: &Account, burst: f64) -> f64 {
    let readings = readings(account);
    let mut at = 0.0;
    for pair in readings.windows(11) {
        let seconds = pair[10].0.since(pair[0].0).as_seconds();
        if seconds > 0.0 && (pair[10].1 - pair[0].1) / seconds > 0.25 * burst {
            at = pair[10].1;
        }
    }
    at
}

fn the_collapse(account: &Account) -> Finding {
    assert_eq!(account.code, Some(1), "a collapse fails the preset: {}{}", account.line(), account.out);
    let collapses = account.of_kind(Kind::Collapse);
    let [collapse, ..] = &collapses[..] else { panic!("no collapse: {}", account.line()) };
    collapse.clone()
}

/// What every flagship has to tell.
fn is_told(account: &Account) -> Finding {
    let collapse = the_collapse(account);
    let late = collapse.said.since(collapse.onset);
    assert!(late <= SOON, "said {late} after the onset: {}", account.line());
    // Where much else is cached it falls in two steps: first the writers are slowed down, then they are held to the device's rate.
    let lowest = account.of_kind(Kind::Collapse).iter().filter_map(|step| step.to).map(|to| to.value).reduce(f64::min);
    let (burst, sustained) = (collapse.from.unwrap().value, lowest.unwrap());
    assert!(sustained < 0.2 * burst, "{burst} to {sustained}: {}", account.line());
    let (told, found) = (collapse.work_before.unwrap().value, bytes_at_the_fall(account, burst * 1e6));
    assert!((told / found - 1.0).abs() < 0.05, "{told} bytes told, {found} in the record: {}", account.line());
    collapse
}

fn names_the_write_path(collapse: &Finding) -> bool {
    let causes = collapse.causes.iter().map(|cause| cause.what.to_lowercase());
    collapse.held_by.iter().any(|held| WRITE_PATH.contains(held))
        || causes.into_iter().any(|what| ["cache", "write", "disk"].iter().any(|word| what.contains(word)))
}

#[test]
fn a_live_throttle_is_told_within_seconds() {
    let Some(account) = played("flagship throttle", throttled) else { return };
    let collapse = is_told(&account);
    assert!(names_the_write_path(&collapse), "{collapse:?}");
    assert!((3.0..6.5).contains(&collapse.onset.since(account.measuring()).as_seconds()), "{}", account.line());
}

#[test]
fn a_controllers_cache_is_told_with_its_size() {
    let Some(account) = played("flagship cache", cached) else { return };
    let collapse = is_told(&account);
    let work = collapse.work_before.unwrap().value;
    assert!((work / CACHE as f64 - 1.0).abs() < 0.05, "{work} of {CACHE}: {}", account.line());
    assert!(names_the_write_path(&collapse), "{collapse:?}");
}

#[test]
fn a_copy_that_fills_the_page_cache_is_told() {
    let Some(account) = played("flagship copy", copied) else { return };
    let collapse = is_told(&account);
    assert!(names_the_write_path(&collapse), "{collapse:?}");
}
