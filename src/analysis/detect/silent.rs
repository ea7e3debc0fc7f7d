//! SILENT: nothing is heard from a node's agent. Says nothing about its devices: they may be fine.

use std::collections::HashMap;

use super::{Change, Detector};
use crate::analysis::state::State;
use crate::vocab::event::{Event, Record};
use crate::vocab::finding::{Finding, Kind, Severity};
use crate::vocab::moment::Span;
use crate::vocab::name::NodeName;

/// An agent speaks at least once a second; three missed words are a silence.
const SILENCE: Span = Span::seconds(3);

/// Watches every node that has a run under way.
#[derive(Default)]
pub(super) struct Silent {
    open: HashMap<NodeName, Finding>,
}

impl Detector for Silent {
    fn observe(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        if let Some(mut finding) = self.open.remove(&record.node) {
            finding.closed = Some(record.at);
            finding.sentence.push_str(&format!("; heard again after {}", record.at.since(finding.onset)));
            out.push(Change { node: record.node.clone(), key: String::new(), was: None, finding });
        }
        if record.event != Event::Tick {
            return;
        }
        for run in state.running() {
            let Some(node) = state.nodes.get(&run.node).filter(|n| n.lost.is_none()) else { continue };
            if state.now.since(node.heard) < SILENCE || self.open.contains_key(&run.node) {
                continue;
            }
            let (onset, said) = (state.to_node(&run.node, node.heard), state.node_now(&run.node));
            let finding = Finding {
                id: 0,
                kind: Kind::Silent,
                severity: Severity::Warn,
                run: Some(run.name.clone()),
                iteration: run.iteration,
                onset,
                said,
                closed: None,
                from: None,
                to: None,
                work_before: None,
                lost: None,
                again: 0,
                held_by: Vec::new(),
                causes: Vec::new(),
                evidence: Vec::new(),
                sentence: format!(
                    "SILENT: no word from the agent of {} for {}; its devices may be fine",
                    run.node,
                    said.since(onset)
                ),
            };
            self.open.insert(run.node.clone(), finding.clone());
            out.push(Change { node: run.node.clone(), key: String::new(), was: None, finding });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;

    #[test]
    fn three_seconds_without_a_word_are_a_silence_and_no_stall() {
        let told = Scenario::measuring(vec![]).work(100.0, 50).silence(31);
        let [finding] = told.findings()[..] else { panic!("{:?}", told.findings()) };
        assert_eq!((finding.kind, finding.closed), (Kind::Silent, None));
        let heard = told.work(100.0, 1);
        assert!(heard.findings()[0].closed.is_some());
    }

    #[test]
    fn its_twin_of_two_and_a_half_is_none() {
        assert!(Scenario::measuring(vec![]).work(100.0, 50).silence(25).work(100.0, 1).findings().is_empty());
    }
}
