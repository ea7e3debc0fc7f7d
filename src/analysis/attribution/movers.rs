//! Evidence: the counters that moved most with a finding.

use super::facts::{Facts, Sides};
use super::rules::RowName;
use super::scene::Counter;
use crate::vocab::finding::Evidence;
use crate::vocab::unit::Quantity;

/// How many counters a finding names.
const NAMED: usize = 2;
/// A counter that changed by less than this share, above its noise, has not moved.
const LEAST_CHANGE: f64 = 0.25;
/// The run's own disk comes before others.
const OWN: f64 = 2.0;
/// What proves the resource comes before everything.
const PROOF: f64 = 4.0;
/// A disk that is busy for less than this share of the time on both sides has too few operations for its times to mean anything.
const USED: f64 = 10.0;
/// What the run's own disk moves only says again that the run fell.
const RESTATED: f64 = 0.25;

/// The counters that moved most, largest change first: those that prove the resource, then the run's own disk, then others.
pub(super) fn movers(facts: &Facts<'_>, proof: &[RowName]) -> Vec<Evidence> {
    // A single CPU says nothing that all of them do not say, a total nothing that its devices do not.
    let is_part = |key: &str| key.starts_with("cpu/") && key != "cpu/" || key.ends_with("/*");
    let shown = |c: &&Counter<'_>| !is_part(c.key) && (!c.detail || proof.iter().any(|row| is_row(c, *row)));
    let counters = facts.scene.counters.iter().filter(shown);
    let mut moved: Vec<(f64, Evidence)> = counters.filter_map(|c| compare(facts, c, proof)).collect();
    moved.sort_by(|a, b| b.0.total_cmp(&a.0));
    moved.into_iter().take(NAMED).map(|(_, evidence)| evidence).collect()
}

fn is_row(counter: &Counter<'_>, (source, name): RowName) -> bool {
    counter.name == name && (counter.key == source || counter.key.split('/').next() == Some(source))
}

fn compare(facts: &Facts<'_>, counter: &Counter<'_>, proof: &[RowName]) -> Option<(f64, Evidence)> {
    let sides = facts.sides(counter.key, counter.name);
    let (before, after) = (sides.before?, sides.after?);
    let floor = noise(counter);
    let change = ((after + floor) / (before + floor)).ln().abs();
    if change < LEAST_CHANGE.ln_1p() {
        return None;
    }
    let used = |util: Sides| util.before.into_iter().chain(util.after).any(|share| share >= USED);
    if counter.key.starts_with("disk/")
        && facts.counter(counter.key, "util").is_some()
        && !used(facts.sides(counter.key, "util"))
    {
        return None;
    }
    let own = facts.disk() == Some(counter.key) && facts.scene.device.is_some();
    let restated = own && matches!(counter.name, "read" | "write" | "r/s" | "w/s");
    let proves = proof.iter().any(|row| is_row(counter, *row)) && (own || !counter.key.starts_with("disk/"));
    let weight = if proves { PROOF } else { 1.0 } * if own { OWN } else { 1.0 } * if restated { RESTATED } else { 1.0 };
    let quantity = |value| Quantity::new(value, counter.unit);
    let evidence = Evidence { counter: label(counter), before: quantity(before), after: quantity(after) };
    Some((weight * change, evidence))
}

/// `vda await`, `cpu iowait`, `eth0 rx`, `pressure io full`: the words on the screen.
fn label(counter: &Counter<'_>) -> String {
    match counter.key.split_once('/') {
        Some((source, "")) => format!("{source} {}", counter.name),
        Some((source @ ("pressure" | "thermal" | "nvme"), device)) => format!("{source} {device} {}", counter.name),
        Some((_, device)) => format!("{device} {}", counter.name),
        None => counter.name.to_owned(),
    }
}

/// What a row may move by without meaning anything, in its unit. Keeps 0.1 against 0.01 from looking like a tenfold change.
///
/// Chosen on 46 pairs of adjacent windows of ten seconds in healthy runs (direct and buffered disk, integer, nothing at all) on a
/// virtual machine of two CPUs that compiled beside them: with these floors 33 of the same pairs name nothing and 13 name 19 counters,
/// some of them where the pace of the run had changed as well; with one floor for each unit, 25 of the first 26 pairs named 47. They were
/// not tried on other pairs. Rows that did not move there have guessed floors: steal, network, TCP, softnet, writeback, available
/// memory, clocks (a turbo step), quotas (one period in twenty) and NUMA.
const NOISE: &[(&str, &str, f64)] = &[
    ("cpu", "busy", 5.0),
    ("cpu", "iowait", 12.0),
    ("cpu", "steal", 3.0),
    ("cpu", "system", 15.0),
    ("disk", "r/s", 100.0),
    ("disk", "w/s", 100.0),
    ("disk", "await", 1.0),
    ("disk", "queue", 1.5),
    ("disk", "util", 10.0),
    ("memory", "dirty", 130e6),
    ("memory", "writeback", 130e6),
    ("memory", "available", 500e6),
    ("memory", "dirty of limit", 8.0),
    ("pressure", "some", 30.0),
    ("pressure", "full", 12.0),
    ("softnet", "squeezed", 20.0),
    ("tcp", "retransmits", 20.0),
    ("net", "drops", 20.0),
    ("net", "errors", 1.0),
    ("cgroup", "throttled", 5.0),
    ("cgroup", "held up", 10.0),
    ("clock", "least", 500.0),
    ("clock", "median", 300.0),
    ("numa", "miss", 1_000.0),
];

/// Of rows that are not listed: nothing less is worth a word.
const NOISE_OF_OTHERS: f64 = 1.0;

fn noise(counter: &Counter<'_>) -> f64 {
    let listed = NOISE.iter().find(|(source, name, _)| is_row(counter, (source, name)));
    listed.map_or(NOISE_OF_OTHERS, |(.., floor)| *floor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::attribution::staged::Stage;
    use crate::analysis::state::ROWS;
    use crate::vocab::finding::Kind;

    fn named(stage: &Stage, proof: &[RowName]) -> Vec<String> {
        let scene = stage.scene();
        movers(&Facts::of(&scene), proof).into_iter().map(|e| e.counter).collect()
    }

    #[test]
    fn noise_is_of_rows_that_exist() {
        for (source, name, floor) in NOISE {
            assert!(*floor > 0.0 && ROWS.iter().any(|r| r.source == *source && r.name == *name), "{source} {name}");
        }
    }

    #[test]
    fn two_are_named_the_largest_first_and_none_that_only_trembles() {
        let stage =
            Stage::of(Kind::Collapse).slow_disk().row("cpu/", "iowait", 2.0, 60.0).row("cpu/", "system", 12.0, 14.0);
        assert_eq!(named(&stage, &[]), ["vda await", "cpu iowait"]);
        let calm = Stage::of(Kind::Collapse).healthy_disk().row("cpu/", "system", 12.0, 14.0).row(
            "pressure/io",
            "some",
            20.0,
            28.0,
        );
        assert_eq!(named(&calm, &[]), [""; 0]);
    }

    #[test]
    fn what_proves_the_resource_comes_first() {
        let stage = Stage::of(Kind::Collapse).slow_disk().row("cpu/", "steal", 0.0, 25.0);
        assert_eq!(named(&stage, &[])[0], "vda await");
        assert_eq!(named(&stage, &[("cpu", "steal")])[0], "cpu steal");
    }

    #[test]
    fn a_disk_that_is_hardly_used_says_nothing_and_a_single_cpu_no_more_than_all() {
        let other =
            |util| Stage::of(Kind::Collapse).row("disk/vdb", "util", util, util).row("disk/vdb", "await", 1.0, 60.0);
        assert_eq!(named(&other(1.0), &[]), [""; 0]);
        assert_eq!(named(&other(20.0), &[]), ["vdb await"]);
        assert_eq!(named(&Stage::of(Kind::Collapse).row("cpu/3", "busy", 5.0, 99.0), &[]), [""; 0]);
        assert_eq!(named(&Stage::of(Kind::Collapse).row("disk/*", "write", 5.0, 99.0), &[]), [""; 0]);
    }

    #[test]
    fn labels_are_the_words_on_the_screen() {
        let stage = Stage::of(Kind::Collapse).row("pressure/io", "full", 0.0, 90.0).row(
            "thermal/cpu",
            "temperature",
            40.0,
            90.0,
        );
        assert_eq!(named(&stage, &[]), ["pressure io full", "thermal cpu temperature"]);
    }
}
