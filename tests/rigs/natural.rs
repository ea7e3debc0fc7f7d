//! The collapse that needs no fault in the middle: buffered writes to a slow device, until the page cache is full.

use std::path::Path;

use shakedown::vocab::event::{Outcome, Phase};
use shakedown::vocab::finding::Kind;

use crate::common::device::Disk;
use crate::common::group::Everyone;
use crate::common::play::Scene;
use crate::common::undo::Setting;
use crate::{Played, played};

/// Dirty bytes that the page cache takes for this device.
const CACHE: u64 = 500_000_000;

/// Buffered writes; the device is slow from the ramp on and fast again for the flush at the end.
pub(crate) fn collapse() -> Played {
    let disk = Disk::new()?;
    let bdi = format!("/sys/class/bdi/{}", disk.device.number);
    if !Path::new(&bdi).join("strict_limit").exists() {
        return Err("this kernel has no strict_limit for a device".to_owned());
    }
    let everyone = Everyone::new(&disk.device.number)?;
    // The two are one setting; the ratio is the one that comes back exactly.
    let _ratio = Setting::keep(&format!("{bdi}/max_ratio"))?;
    let _most = Setting::change(&format!("{bdi}/max_bytes"), &CACHE.to_string())?;
    let _strict = Setting::change(&format!("{bdi}/strict_limit"), "1")?;
    let load = "pattern: Write, block: \"4KiB\", depth: 1, size: \"768MiB\", time: \"24 s\", direct: false";
    let scene = Scene::disk(&disk.mounted.path, load);
    let mut play = scene.play();
    play.phase(Phase::Ramp);
    everyone.limit(1_000_000)?;
    play.phase(Phase::Drain);
    everyone.limit(0)?;
    Ok(play.end())
}

#[test]
fn a_full_page_cache_is_a_collapse() {
    let Some(account) = played("natural collapse", collapse) else { return };
    assert_eq!(account.outcome(), Some(Outcome::Sound), "{}", account.line());
    let collapses = account.of_kind(Kind::Collapse);
    let [collapse, ..] = &collapses[..] else { panic!("no collapse: {}", account.line()) };
    let work = collapse.work_before.unwrap().value;
    assert!((1e8..9e8).contains(&work), "after {work} bytes: {}", account.line());
}
