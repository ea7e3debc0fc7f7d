//! A link that becomes narrow under a load that needs it: a target that stores its data on another host.

use shakedown::vocab::event::{Event, Outcome, Record};
use shakedown::vocab::finding::Kind;
use shakedown::vocab::moment::Span;

use crate::common::net::Link;
use crate::common::play::{Account, Scene};
use crate::common::slow::Slow;
use crate::{Played, played};

/// 800 Mbit/s, then 8.
pub(crate) fn narrow() -> Played {
    let link = Link::new(800)?;
    let slow = Slow::new(1e9, Some(link.sink()?))?;
    let load = "pattern: Write, block: \"256KiB\", depth: 2, size: \"64MiB\", time: \"9 s\"";
    let mut scene = Scene::disk(&slow.path, load);
    scene.inside = link.near();
    let mut play = scene.play();
    play.measured(Span::milliseconds(1500));
    link.shape(8)?;
    Ok(play.end())
}

/// What a counter of a network interface went up by in the whole session.
fn counted(account: &Account, device: &str, field: &str) -> f64 {
    let described = |r: &Record| match &r.event {
        Event::Described(series) => series.iter().find(|s| s.device == device && s.field == field).map(|s| s.id),
        _ => None,
    };
    let id = account.records.iter().find_map(described).unwrap_or_else(|| panic!("no {field} of {device}"));
    let values = account.records.iter().filter_map(|r| match &r.event {
        Event::Sampled { values, .. } => values.iter().find(|s| s.0 == id).map(|s| s.1),
        _ => None,
    });
    let values: Vec<f64> = values.collect();
    values.last().unwrap_or(&0.0) - values.first().unwrap_or(&0.0)
}

#[test]
fn a_narrow_link_is_a_collapse_and_its_counters_are_in_the_record() {
    let Some(account) = played("narrow link", narrow) else { return };
    assert_eq!((account.outcome(), account.code), (Some(Outcome::Sound), Some(1)), "{}", account.line());
    let collapses = account.of_kind(Kind::Collapse);
    let [collapse, ..] = &collapses[..] else { panic!("no collapse: {}", account.line()) };
    let onset = collapse.onset.since(account.measuring()).as_seconds();
    assert!((1.2..4.0).contains(&onset), "onset {onset}: {}", account.line());
    let sent = counted(&account, "rig0", "tx_bytes");
    assert!(sent > 50e6, "{sent} bytes were counted on the link");
}
