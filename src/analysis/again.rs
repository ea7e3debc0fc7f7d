//! Findings of a record held against those of today's detectors on the same record: what was said then is history, and stays.

use std::collections::BTreeSet;

use super::state::State;
use crate::vocab::finding::Finding;
use crate::vocab::moment::Span;

/// Two sayings of one kind in one run are about the same thing when their onsets are no further apart: as long as two findings of a kind
/// have to be apart to be two (`detect/register.rs`).
const SAME: Span = Span::seconds(10);

/// Which findings of a session two looks have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Again {
    /// Those of now that were recorded as well, by number.
    pub raised: BTreeSet<u32>,
    /// Recorded ones that are not raised now.
    pub missing: BTreeSet<u32>,
}

/// Holds the findings of one session, as recorded and as found now, against each other; each is paired with one other at most.
#[must_use]
pub fn again(recorded: &State, now: &State) -> Again {
    let mut again = Again { raised: BTreeSet::new(), missing: recorded.findings.keys().copied().collect() };
    for finding in now.findings.values() {
        let node = now.found_on.get(&finding.id);
        let pairs = again.missing.iter().filter_map(|id| recorded.findings.get(id));
        let pairs = pairs.filter(|then| recorded.found_on.get(&then.id) == node && is(finding, then));
        if let Some(id) = pairs.min_by_key(|then| apart(finding, then)).map(|then| then.id) {
            again.missing.remove(&id);
            again.raised.insert(finding.id);
        }
    }
    again
}

fn is(one: &Finding, other: &Finding) -> bool {
    (one.kind, &one.run) == (other.kind, &other.run) && apart(one, other) <= SAME
}

fn apart(one: &Finding, other: &Finding) -> Span {
    one.onset.max(other.onset).since(one.onset.min(other.onset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::finding::{Kind, Severity};
    use crate::vocab::moment::Moment;

    fn told(findings: &[(Kind, u64)]) -> State {
        let mut state = State::default();
        for (id, (kind, second)) in (1..).zip(findings) {
            let at = Moment(second * 1_000_000);
            let mut finding = Finding::new(*kind, Severity::Warn, at, at);
            finding.id = id;
            state.findings.insert(id, finding);
        }
        state
    }

    #[test]
    fn each_finding_has_one_counterpart_or_none() {
        let recorded = told(&[(Kind::Stall, 10), (Kind::Stall, 13), (Kind::Step, 10), (Kind::Drift, 50)]);
        let now = told(&[(Kind::Stall, 12), (Kind::Stall, 9), (Kind::Stall, 11), (Kind::Drift, 70)]);
        let got = again(&recorded, &now);
        assert_eq!(got.raised, [1, 2].into(), "the third stall has no counterpart left, the drift is another one");
        assert_eq!(got.missing, [3, 4].into());
    }
}
