//! CONDITIONS: a setting that the figures depend on changed while they were measured. One finding a setting; over when the
//! setting is back, or the run is at its end.

use std::collections::HashMap;

use super::{Change, Detector};
use crate::analysis::state::{RunState, State};
use crate::vocab::event::{Event, Record};
use crate::vocab::finding::{Cause, Finding, Kind, Severity};
use crate::vocab::moment::Moment;
use crate::vocab::name::{NodeName, RunName};
use crate::vocab::node;

/// Settings by the beginning of their names that change figures by themselves: what a run may use of the CPUs and how fast they are,
/// what the time is taken from, and the state of links and arrays. Everything else is told and speaks against nobody.
const HEAVY: [&str; 14] = [
    "affinity",
    "boost",
    "clock_limit",
    "clocksource",
    "cpu_quota",
    "cpus_online",
    "governor",
    "io_max",
    "link_",
    "md_",
    "memory_limit",
    "pcie_",
    "raid",
    "smt",
];

/// What HARDWARE speaks of: another boot is no setting.
const NO_SETTING: &str = "boot_id";

/// Watches the settings of every node with a run under way.
#[derive(Default)]
pub(super) struct Settings {
    open: HashMap<(NodeName, String), Open>,
}

struct Open {
    finding: Finding,
    /// The value to which it must come back.
    before: Option<String>,
}

impl Detector for Settings {
    fn observe(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        match &record.event {
            Event::ConditionsChanged(changes) => {
                let run = state.running().find(|run| run.node == record.node);
                for change in changes.iter().filter(|change| change.what != NO_SETTING) {
                    self.take(change, run, record, state, out);
                }
            }
            Event::RunEnded { run, .. } => self.end(record, Some(run), out),
            Event::NodeLost { .. } => self.end(record, None, out),
            _ => {}
        }
    }
}

impl Settings {
    fn take(
        &mut self,
        change: &node::Change,
        run: Option<&RunState>,
        record: &Record,
        state: &State,
        out: &mut Vec<Change>,
    ) {
        let place = (record.node.clone(), change.what.clone());
        if let Some(open) = self.open.get_mut(&place) {
            if change.after == open.before {
                let Some(Open { finding, .. }) = self.open.remove(&place) else { return };
                let how = format!("; back after {}", record.at.since(finding.onset));
                return say(place, closed(finding, record.at, &how), out);
            }
            let value = change.after.as_deref().unwrap_or("not readable");
            open.finding.sentence.push_str(&format!(", then {value}"));
            return say(place, open.finding.clone(), out);
        }
        // What can be read from now on has not changed: the tools of controllers take their time to answer.
        let (Some(run), Some(before)) = (run, &change.before) else { return };
        let finding = found(change, before, run, record.at, state);
        self.open.insert(place.clone(), Open { finding: finding.clone(), before: change.before.clone() });
        say(place, finding, out);
    }

    /// What was said of a run is over with it; of all of a node, when its agent is gone.
    fn end(&mut self, record: &Record, run: Option<&RunName>, out: &mut Vec<Change>) {
        let over = |open: &Open| run.is_none() || open.finding.run.as_ref() == run;
        let here = self.open.iter().filter(|((node, _), open)| *node == record.node && over(open));
        let mut left: Vec<(NodeName, String)> = here.map(|(place, _)| place.clone()).collect();
        left.sort();
        for place in left {
            if let Some(Open { finding, .. }) = self.open.remove(&place) {
                say(place, closed(finding, record.at, "; still so at the end of the run"), out);
            }
        }
    }
}

fn found(change: &node::Change, before: &str, run: &RunState, at: Moment, state: &State) -> Finding {
    let what = &change.what;
    let severity = if HEAVY.iter().any(|name| what.starts_with(name)) { Severity::Warn } else { Severity::Info };
    let mut finding = Finding::new(Kind::Conditions, severity, at, at);
    (finding.run, finding.iteration) = (Some(run.name.clone()), run.iteration);
    let clock = state.clock(&run.node, at);
    finding.sentence = match &change.after {
        Some(after) => format!("CONDITIONS: {what} changed from {before} to {after}, seen at {clock}"),
        None => format!("CONDITIONS: {what} was {before} and cannot be read any more, seen at {clock}"),
    };
    let after = change.after.as_deref().unwrap_or("not readable");
    finding.causes = vec![Cause {
        what: format!("{what} was changed under the run"),
        proof: Some(format!("{before} to {after}")),
        check: format!("who or what sets {what}; then measure again"),
    }];
    finding
}

fn closed(mut finding: Finding, at: Moment, how: &str) -> Finding {
    finding.closed = Some(at);
    finding.sentence.push_str(how);
    finding
}

fn say((node, key): (NodeName, String), finding: Finding, out: &mut Vec<Change>) {
    out.push(Change { node, key, was: None, finding });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;
    use crate::vocab::event::Outcome;

    fn working() -> Scenario {
        Scenario::measuring(vec![]).work(100.0, 20)
    }

    #[test]
    fn a_setting_that_changes_under_a_run_is_said_with_both_values_until_it_is_back() {
        let told = working().setting("governor", Some("performance"), Some("powersave"));
        let [finding] = told.found(Kind::Conditions)[..] else { panic!("{:?}", told.found(Kind::Conditions)) };
        assert_eq!((finding.kind, finding.severity, finding.closed), (Kind::Conditions, Severity::Warn, None));
        assert!(finding.sentence.contains("governor changed from performance to powersave"), "{}", finding.sentence);
        let told = told.work(100.0, 20).setting("governor", Some("powersave"), Some("performance"));
        let [finding] = told.found(Kind::Conditions)[..] else { panic!("{:?}", told.found(Kind::Conditions)) };
        assert!(finding.closed.is_some() && finding.sentence.ends_with("; back after 2.0 s"), "{}", finding.sentence);
    }

    #[test]
    fn its_twins_before_the_run_after_it_or_read_for_the_first_time_are_none() {
        let over = working().end(100.0, Outcome::Sound).setting("governor", Some("performance"), Some("powersave"));
        assert!(over.found(Kind::Conditions).is_empty());
        assert!(working().setting("raid0_battery", None, Some("learning")).found(Kind::Conditions).is_empty());
        assert!(working().setting("boot_id", Some("a"), Some("b")).found(Kind::Conditions).is_empty());
    }

    #[test]
    fn what_changes_no_figure_is_for_information() {
        for (what, severity) in [
            ("cpu_quota", Severity::Warn),
            ("affinity", Severity::Warn),
            ("link_eth0", Severity::Warn),
            ("md_md0", Severity::Warn),
            ("raid0_vd3_policy", Severity::Warn),
            ("clocksource", Severity::Warn),
            ("swappiness", Severity::Info),
            ("numa_balancing", Severity::Info),
        ] {
            let told = working().setting(what, Some("a"), Some("b"));
            assert_eq!(told.found(Kind::Conditions)[0].severity, severity, "{what}");
        }
    }

    #[test]
    fn the_end_of_another_run_beside_it_is_no_end_of_it() {
        let mut told = working().setting("governor", Some("a"), Some("b"));
        told.put("n", Event::RunEnded { run: "s".into(), outcome: Outcome::Sound });
        assert_eq!(told.found(Kind::Conditions)[0].closed, None);
        assert!(told.end(100.0, Outcome::Sound).found(Kind::Conditions)[0].closed.is_some());
    }

    #[test]
    fn each_setting_has_one_finding_and_all_end_with_the_run() {
        let told = working().setting("governor", Some("a"), Some("b")).setting("link_eth0", Some("25000 Mb/s"), None);
        let told = told.setting("governor", Some("b"), Some("c"));
        assert_eq!(told.found(Kind::Conditions).len(), 2);
        assert!(
            told.found(Kind::Conditions)[0].sentence.ends_with(", then c"),
            "{}",
            told.found(Kind::Conditions)[0].sentence
        );
        let told = told.end(100.0, Outcome::Sound);
        assert!(
            told.found(Kind::Conditions)
                .iter()
                .all(|f| f.closed.is_some() && f.sentence.ends_with("at the end of the run"))
        );
    }
}
