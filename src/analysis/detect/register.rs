//! The numbers of findings: which saying is about which finding, and which is the same one come again.

use super::Change;
use crate::vocab::finding::{Finding, Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::name::NodeName;

/// A finding of the same kind and place that comes again so soon after its end is the same one.
const SAME: Span = Span::seconds(10);
/// No more findings than this are kept open; what comes then would only hide what is there.
const MOST: usize = 32;

/// A finding that is open, or was lately.
#[derive(Debug)]
struct Known {
    node: NodeName,
    key: String,
    kind: Kind,
    id: u32,
    onset: Moment,
    said: Moment,
    again: u32,
    severity: Severity,
    closed: Option<Moment>,
}

/// Numbers findings from 1.
#[derive(Debug, Default)]
pub(in crate::analysis) struct Register {
    known: Vec<Known>,
    last: u32,
}

impl Register {
    /// Gives a saying its number; none when too many findings are open already.
    pub(in crate::analysis) fn enter(&mut self, change: Change) -> Option<(NodeName, Finding)> {
        let Change { node, key, was, mut finding } = change;
        let known = self.find(&node, &key, was.unwrap_or(finding.kind), &finding);
        if known.is_none() && self.known.iter().filter(|k| k.closed.is_none()).count() >= MOST {
            return None;
        }
        let again = known.as_ref().map_or(0, |k| k.again + u32::from(k.closed.is_some()));
        if let Some(known) = &known {
            finding.id = known.id;
            // A finding that came again keeps its beginning, and how bad it was.
            if again > 0 {
                (finding.onset, finding.said) = (known.onset, known.said);
                finding.severity = finding.severity.max(known.severity);
                finding.sentence.push_str(&format!("; {} times", again + 1));
            }
        } else {
            self.last += 1;
            finding.id = self.last;
        }
        finding.again = again;
        let (Finding { id, kind, onset, said, severity, closed, .. }, node) = (&finding, node);
        let (id, kind, onset, said, severity, closed) = (*id, *kind, *onset, *said, *severity, *closed);
        self.known.push(Known { node: node.clone(), key, kind, id, onset, said, again, severity, closed });
        Some((node, finding))
    }

    /// The finding that is open here, or was until a moment ago; taken out of the list.
    fn find(&mut self, node: &NodeName, key: &str, kind: Kind, finding: &Finding) -> Option<Known> {
        let now = finding.closed.unwrap_or(finding.said).max(finding.said);
        self.known.retain(|k| k.node != *node || k.closed.is_none_or(|at| now.since(at) < SAME));
        let here = |k: &Known| k.node == *node && k.key == key && k.kind == kind;
        let open = self.known.iter().position(|k| here(k) && k.closed.is_none());
        let place = open.or_else(|| self.known.iter().position(here))?;
        Some(self.known.remove(place))
    }
}
