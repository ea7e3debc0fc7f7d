//! Findings and stretches of a series, a line each: for people, and as JSON.

use serde_json::{Value, json};

use super::words::finding_line;
use crate::analysis::trace::Segment;
use crate::vocab::finding::Finding;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::text::neutral;
use crate::vocab::unit::{Quantity, Unit, short};

/// A moment on the axis of the series, in seconds; whole microseconds, however far its zero is away.
fn seconds(at: Moment, zero: f64) -> f64 {
    ((zero + at.0 as f64 / 1e6) * 1e6).round() / 1e6
}

/// A finding for people.
#[must_use]
pub fn finding(finding: &Finding) -> String {
    let (onset, said) = (Span(finding.onset.0), Span(finding.said.0));
    finding_line(finding, onset, said)
}

/// A finding as JSON; `zero` is the time in the file, in seconds, of the series' first moment.
#[must_use]
pub fn finding_json(finding: &Finding, zero: f64) -> Value {
    let mut object = json!({
        "kind": finding.kind.to_string(),
        "severity": finding.severity.to_string(),
        "onset": seconds(finding.onset, zero),
        "said_at": seconds(finding.said, zero),
        "end": finding.closed.map(|at| seconds(at, zero)),
        "from": finding.from.map(|quantity| quantity.value),
        "to": finding.to.map(|quantity| quantity.value),
        "sentence": neutral(&finding.sentence),
    });
    if let Some(unit) = finding.from.or(finding.to).map(|quantity| quantity.unit.symbol()).filter(|u| !u.is_empty()) {
        object["unit"] = json!(unit);
    }
    if !finding.held_by.is_empty() {
        object["held_by"] = finding.held_by.iter().map(ToString::to_string).collect();
    }
    if !finding.causes.is_empty() {
        object["causes"] = json!(finding.causes);
    }
    object
}

/// A stretch for people.
#[must_use]
pub fn segment(segment: &Segment, unit: Unit) -> String {
    let (from, to) = (Span(segment.from.0), Span(segment.to.0));
    let (level, spread) = (short(Quantity::new(segment.level, unit)), short(Quantity::new(segment.spread, unit)));
    format!("SEGMENT from {from} to {to}: {level}, spread {spread}, {} readings", segment.n)
}

/// A stretch as JSON.
#[must_use]
pub fn segment_json(segment: &Segment, zero: f64) -> Value {
    json!({
        "kind": "SEGMENT",
        "from": seconds(segment.from, zero),
        "to": seconds(segment.to, zero),
        "n": segment.n,
        "level": segment.level,
        "spread": segment.spread,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::finding::{Kind, Resource, Severity};

    #[test]
    fn a_finding_is_a_line_and_an_object_on_the_axis_of_its_file() {
        let mut found = Finding::new(Kind::BelowBaseline, Severity::Fail, Moment(100_000), Moment(12_600_000));
        found.sentence = "BELOW\u{1b} BASELINE".to_owned();
        assert_eq!(finding(&found), "FAIL  since 100 ms, said at 12.6 s: BELOW? BASELINE");
        found.to = Some(Quantity::new(1.5, Unit::MegabytesPerSecond));
        found.held_by.push(Resource::Disk);
        let object = finding_json(&found, 1_767_225_600.1);
        assert_eq!(object["onset"], 1_767_225_600.2);
        assert_eq!((&object["kind"], &object["severity"]), (&json!("BELOW BASELINE"), &json!("FAIL")));
        assert_eq!((&object["to"], &object["unit"], &object["end"]), (&json!(1.5), &json!("MB/s"), &Value::Null));
        assert_eq!((&object["held_by"], object.get("causes")), (&json!(["disk"]), None));
    }
}
