//! The host counters that moved with a finding: medians of the ten seconds before its onset against medians since.

use super::state::{Device, ROWS, Row, RunState, State};
use crate::vocab::finding::Evidence;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::unit::{Quantity, Unit, short};

/// How far back "before" reaches.
const BEFORE: Span = Span::seconds(10);
/// How many counters a finding names.
const NAMED: usize = 2;
/// A counter that changed by less than this share has not moved.
const LEAST_CHANGE: f64 = 0.25;

/// The counters of a run's node that moved most at `onset`, largest change first, the run's own device before others.
pub(super) fn movers(state: &State, run: &RunState, onset: Moment) -> Vec<Evidence> {
    let Some(node) = state.nodes.get(&run.node) else { return Vec::new() };
    let own = run.device();
    // A single CPU says nothing that all of them do not say, a total nothing that its devices do not.
    let is_part = |key: &str| key.starts_with("cpu/") && key != "cpu/" || key.ends_with("/*");
    let mut moved: Vec<(f64, Evidence)> = Vec::new();
    for (key, device) in node.host.devices.iter().filter(|(key, _)| !is_part(key)) {
        let weight = if own.is_some_and(|own| key.strip_prefix("disk/") == Some(own)) { 2.0 } else { 1.0 };
        moved.extend(compare(key, device, onset).map(|(change, evidence)| (weight * change, evidence)));
    }
    moved.sort_by(|a, b| b.0.total_cmp(&a.0));
    moved.into_iter().take(NAMED).map(|(_, evidence)| evidence).collect()
}

fn compare<'a>(key: &'a str, device: &'a Device, onset: Moment) -> impl Iterator<Item = (f64, Evidence)> + 'a {
    device.rows.iter().filter_map(move |(index, series)| {
        let row = ROWS.get(*index).filter(|r| !r.detail)?;
        let before = series.median_between(onset - BEFORE, onset)?;
        let after = series.median_between(onset + Span(1), Moment(u64::MAX))?;
        let quantity = |value| Quantity::new(value, row.unit);
        let evidence = Evidence { counter: label(key, row), before: quantity(before), after: quantity(after) };
        let floor = noise_floor(row.unit);
        let change = ((after + floor) / (before + floor)).ln().abs();
        (change >= LEAST_CHANGE.ln_1p()).then_some((change, evidence))
    })
}

/// The evidence in words; tells counters that did not move from counters that are not there.
pub(super) fn words(evidence: &[Evidence], state: &State, run: &RunState) -> String {
    let readable = state.nodes.get(&run.node).is_some_and(|n| n.host.devices.values().any(|d| !d.rows.is_empty()));
    if evidence.is_empty() {
        let none =
            if readable { "no host counter moved with it" } else { "no host counters on this node to explain it" };
        return none.to_owned();
    }
    let word = |e: &Evidence| format!("{} {} to {}", e.counter, short(e.before), short(e.after));
    format!("moved most: {}", evidence.iter().map(word).collect::<Vec<_>>().join(", "))
}

/// `vda await`, `cpu iowait`, `eth0 rx`, `io full` → the words on the screen.
fn label(key: &str, row: &Row) -> String {
    match key.split_once('/') {
        Some((source, "")) => format!("{source} {}", row.name),
        Some(("pressure", device)) => format!("pressure {device} {}", row.name),
        Some((_, device)) => format!("{device} {}", row.name),
        None => row.name.to_owned(),
    }
}

/// What a counter of this unit may move by without meaning anything; keeps 0.1 against 0.01 from looking like a tenfold change.
fn noise_floor(unit: Unit) -> f64 {
    match unit {
        Unit::Percent => 3.0,
        Unit::Iops | Unit::PerSecond => 20.0,
        Unit::Bytes => 64e6,
        _ => 1.0,
    }
}
