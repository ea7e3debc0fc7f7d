//! What held the work up, what speaks for it, and what may be behind it.
//!
//! Pure: the counters of a [`Scene`] in, an [`Attribution`] out. Each counter is read on both sides of the onset, as the median of the
//! ten seconds before it against the median since; a rule needs at least one reading that lies behind the onset as a whole.
//!
//! | resource | rule |
//! |---|---|
//! | CPU steal | steal >= 10 %, risen by 5 points, and a tenth of the work lost |
//! | heat | clock <= 0.9 of before at a busy CPU, and 85 C or throttle counts |
//! | power limit | the same, known to be cooler, or counts of the power limit |
//! | memory | swapping above 1 MB/s, or all tasks wait for memory for 10 % of the time |
//! | control group limit | a quota that runs out in 10 % of the periods, more than before; a rate of the run or of its disk within 10 % of `io.max` |
//! | load generator | the load's queue is less than half full, its disk as fast as before, one CPU >= 95 % or all >= 90 % |
//! | hanging device | busy, and nothing completed for 2 s; a STALL of a disk load whose disk, where it is counted, completes nothing |
//! | rate-limited disk | rates of 10 s or more within 0.5 %, and operations wait 1.5 times as long |
//! | disk | util >= 90 % and await three times that of before, or the queue as long as the load makes it, or iowait >= 40 % with a queue; on NVMe and RAID never below a queue of 1.5 |
//! | write-back bursts | an OSCILLATION, and dirty memory in a saw-tooth of 2 to 30 s |
//! | network link | a direction >= 90 % of the link, disks free |
//! | network path | 0.5 % of the segments sent again, or ten times as many; link and disks free |
//! | CPU | one CPU >= 95 % or all >= 90 %, and fuller than before; for a load of the CPU, others that compete for it |
//!
//! Where something fell, what was the same before the fall explains nothing. Nothing is guessed: what matches no rule is unknown,
//! and a rule whose counters are not read on this node is named as not tried. The kernel's `queue/write_cache` says what the kernel
//! flushes by, and is no evidence of a controller's policy.

mod bearing;
mod catalogue;
mod causes;
mod cpu;
mod disk;
mod facts;
mod leads;
mod movers;
mod network;
mod rules;
mod scene;
#[cfg(test)]
mod staged;

pub use catalogue::{bucket, catalogue_hit, plan_hit};
pub use scene::{Beside, Counter, Scene};

use facts::Facts;
use rules::{RULES, Rule};

use crate::vocab::finding::{Cause, Evidence, Kind, Resource};
use crate::vocab::unit::{Quantity, short};

/// What the counters tell of a finding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attribution {
    /// What held the work up, the surest first; empty when no rule holds.
    pub held_by: Vec<Resource>,
    /// The counters that moved most, those of the resource first.
    pub evidence: Vec<Evidence>,
    /// What may be behind it, proven causes first, at most four.
    pub causes: Vec<Cause>,
    /// The rules that could not be tried on this node, with what is missing: `heat (no CPU clocks)`.
    pub unreadable: Vec<&'static str>,
    /// The end of the finding's sentence: what moved, the resource, and what could not be read.
    ///
    /// `moved most: vda await 8 to 480 ms, vda queue 20 to 31 -> disk`
    pub words: String,
}

/// Whether a kind is about work that something held up; the others say what they are.
fn asks_why(kind: Kind) -> bool {
    !matches!(kind, Kind::Recovery | Kind::Silent | Kind::Conditions | Kind::Hardware)
}

/// Reads the counters of a scene and tries every rule.
#[must_use]
pub fn attribute(scene: &Scene<'_>) -> Attribution {
    if !asks_why(scene.kind) {
        return Attribution::default();
    }
    let facts = Facts::of(scene);
    let (tried, untried): (Vec<&Rule>, Vec<&Rule>) =
        RULES.iter().filter(|rule| (rule.applies)(&facts)).partition(|rule| rule.can_be_tried(&facts));
    let holding: Vec<&Rule> = tried.into_iter().filter(|rule| (rule.holds)(&facts)).collect();
    let proof: Vec<_> = holding.first().iter().flat_map(|rule| rule.needs.iter().chain(rule.shows)).copied().collect();
    let held_by: Vec<Resource> = holding.iter().map(|rule| rule.resource).collect();
    let mut attribution = Attribution {
        evidence: movers::movers(&facts, &proof),
        causes: causes::causes(&facts, &held_by),
        unreadable: untried.iter().map(|rule| rule.without).collect(),
        held_by,
        words: String::new(),
    };
    attribution.words = words(&attribution, &facts);
    attribution
}

fn words(attribution: &Attribution, facts: &Facts<'_>) -> String {
    if facts.scene.counters.iter().all(|c| c.series.is_empty()) {
        return "no host counters on this node to explain it".to_owned();
    }
    if !facts.has_spoken() {
        return "the counters of the time since are not in yet".to_owned();
    }
    let moved: Vec<String> = attribution.evidence.iter().map(moved).collect();
    let mut said = match (&moved[..], facts.has_compared()) {
        ([], true) => "no host counter moved with it".to_owned(),
        ([], false) => "no host counters of a time before it".to_owned(),
        (moved, _) => format!("moved most: {}", moved.join(", ")),
    };
    match &attribution.held_by[..] {
        [first, others @ ..] => {
            said.push_str(&format!(" -> {first}"));
            let others: Vec<String> = others.iter().map(Resource::to_string).collect();
            if !others.is_empty() {
                said.push_str(&format!(", also {}", others.join(", ")));
            }
        }
        [] => said.push_str(" -> resource unknown"),
    }
    if attribution.held_by.is_empty() && !attribution.unreadable.is_empty() {
        let rules: Vec<&str> = attribution.unreadable.iter().filter_map(|rule| rule.split(" (").next()).collect();
        said.push_str(&format!("; not tried for want of counters: {}", rules.join(", ")));
    }
    said
}

/// `vda await 8 to 480 ms`; both units where they differ.
fn moved(evidence: &Evidence) -> String {
    let (before, after) = (short(evidence.before), short(evidence.after));
    let nothing = |q: Quantity| q.value == 0.0;
    let before = match (before.split_once(' '), after.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other || nothing(evidence.before) => number.to_owned(),
        _ => before,
    };
    format!("{} {before} to {after}", evidence.counter)
}

#[cfg(test)]
mod tests {
    use super::staged::Stage;
    use super::*;
    use crate::vocab::moment::Span;

    fn said(stage: &Stage) -> String {
        let scene = stage.scene();
        attribute(&scene).words
    }

    #[test]
    fn the_sentence_ends_with_what_moved_and_the_resource() {
        let stage = Stage::of(Kind::Collapse).slow_disk();
        assert_eq!(said(&stage), "moved most: vda await 8 to 480 ms, vda queue 20 to 31 -> disk");
        let stage = stage.row("cpu/", "steal", 0.0, 40.0);
        assert_eq!(said(&stage), "moved most: cpu steal 0 to 40 %, vda await 8 to 480 ms -> CPU steal, also disk");
    }

    #[test]
    fn what_is_not_known_is_said_and_what_is_not_read_as_well() {
        let unknown = said(&Stage::of(Kind::Collapse).healthy_disk());
        assert!(
            unknown.starts_with("no host counter moved with it -> resource unknown; not tried for want of counters: "),
            "{unknown}"
        );
        assert!(unknown.contains("CPU steal, heat, power limit") && !unknown.contains("hanging device"), "{unknown}");
        let blind = said(&Stage::of(Kind::Collapse).row("cpu/", "busy", 10.0, 10.0));
        assert!(blind.contains("rate-limited disk, disk"), "{blind}");
        assert_eq!(said(&Stage::of(Kind::Collapse)), "no host counters on this node to explain it");
    }

    #[test]
    fn counters_that_are_not_in_yet_are_waited_for() {
        let early = Stage::of(Kind::Collapse).until(Span::milliseconds(300)).slow_disk();
        assert_eq!(said(&early), "the counters of the time since are not in yet");
        assert_eq!(attribute(&early.scene()).held_by, []);
    }

    #[test]
    fn both_units_stand_where_they_differ() {
        let stage =
            Stage::of(Kind::Collapse).row("disk/vda", "await", 0.45, 480.0).row("disk/vda", "util", 90.0, 100.0);
        assert!(said(&stage).starts_with("moved most: vda await 450 us to 480 ms"), "{}", said(&stage));
    }

    #[test]
    fn what_is_no_matter_of_a_resource_is_not_asked() {
        let stage = Stage::of(Kind::Silent).slow_disk();
        assert_eq!((attribute(&stage.scene()), said(&stage)), (Attribution::default(), String::new()));
    }
}
