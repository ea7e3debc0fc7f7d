//! When a finding means a label.
//!
//! A **hit** is a finding that begins within the label's slack about its onset, is called at least as bad as the label asks, and
//! is of its kind or of one that is as right. Slack is 2 s or five samples to either side, whichever is longer, with these
//! additions: a fall over many samples may be dated anywhere within them; a drift up to a quarter of its length and thirty samples
//! earlier; an oscillation, a cap and a cluster need their thirty to sixty samples; below the reference is a matter of the
//! whole series. WARN or above is asked for, but for CAP, RECOVERY and a single spike, which are INFO by their rules.
//!
//! As right: STEP and COLLAPSE for each other at 45 to 55 %; STALL for a throttled device, which completes nothing at first; DRIFT
//! for the ladder; COLLAPSE and STEP for a drift by half.
//!
//! When none of these is there, another finding at WARN or above within the slack counts as **detected, as another kind**.
//! Findings at WARN or above that begin before the first label's slack are **false**.

use shakedown::vocab::finding::{Finding, Kind, Severity};

use crate::generator::fault::Label;

/// What became of a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// Found, so many seconds after it could be seen.
    Hit { delay: f64, as_kind: Kind },
    /// Something else was said there.
    Other(Kind),
    /// Nothing was said there.
    Missed,
}

fn seconds(moment: shakedown::vocab::moment::Moment) -> f64 {
    moment.0 as f64 / 1e6
}

fn is_about(finding: &Finding, label: &Label) -> bool {
    let onset = seconds(finding.onset);
    onset >= label.onset - label.slack.0 && onset <= label.onset + label.slack.1
}

/// What became of a label among the findings of its series.
pub(crate) fn outcome(label: &Label, findings: &[Finding]) -> Outcome {
    let here: Vec<&Finding> = findings.iter().filter(|f| is_about(f, label)).collect();
    let is_right = |f: &&&Finding| f.severity >= label.least && (f.kind == label.kind || label.also.contains(&f.kind));
    // Of its own kind first, then the one that was said first.
    let hit = here.iter().filter(is_right).min_by_key(|f| (f.kind != label.kind, f.said));
    if let Some(hit) = hit {
        return Outcome::Hit { delay: (seconds(hit.said) - label.visible).max(0.0), as_kind: hit.kind };
    }
    let other = here.iter().filter(|f| f.severity >= Severity::Warn).max_by_key(|f| f.severity);
    other.map_or(Outcome::Missed, |f| Outcome::Other(f.kind))
}

/// Findings at WARN or above that begin before anything was wrong.
pub(crate) fn too_early<'a>(labels: &[Label], findings: &'a [Finding]) -> Vec<&'a Finding> {
    let first = labels.iter().map(|l| l.onset - l.slack.0).fold(f64::INFINITY, f64::min);
    findings.iter().filter(|f| f.severity >= Severity::Warn && seconds(f.onset) < first).collect()
}

/// The `q`-quantile of these, by the nearest rank; none of nothing.
pub(crate) fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(((values.len() as f64 * q).ceil() as usize).saturating_sub(1)).copied()
}
