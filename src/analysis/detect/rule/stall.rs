//! STALL: readings arrive, the counters stand still, and an operation is in flight. A timer, so it needs no baseline.

use super::{Course, Reading, Rule, Saying};
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::moment::{Moment, Span};

/// Standing still for less is no stall on any device.
const LEAST: Span = Span::seconds(2);
/// Nor is less than so many times the run's own long pauses.
const TIMES_USUAL: u64 = 5;
/// From here on it is a FAIL, and then CRIT.
const GRADES: [(Span, Severity); 2] = [(Span::seconds(10), Severity::Fail), (Span::seconds(30), Severity::Crit)];
/// Pauses remembered; the second longest of them is about their 98th percentile.
const PAUSES: usize = 64;

/// Watches the time since the last completion.
#[derive(Debug)]
pub(super) struct Stall {
    moved_at: Option<Moment>,
    read_at: Moment,
    pauses: [u64; PAUSES],
    next: usize,
    open: Option<Saying>,
}

impl Default for Stall {
    fn default() -> Self {
        Self { moved_at: None, read_at: Moment(0), pauses: [0; PAUSES], next: 0, open: None }
    }
}

impl Rule for Stall {
    fn reading(&mut self, reading: &Reading, course: &mut Course<'_>) {
        let since = *self.moved_at.get_or_insert(reading.at);
        let read_at = std::mem::replace(&mut self.read_at, reading.at);
        if reading.moved {
            self.moved_at = Some(reading.at);
            if let Some(open) = self.open.take() {
                let what = format!("nothing completed for {}", reading.at.since(open.onset));
                return course.say(&Saying { what, ..open }.over(reading.at, "then completions came again"));
            }
            // When between two readings it completed is not known; a pause is what is longer than one reading.
            let spacing = reading.at.since(read_at);
            self.pauses[self.next] = reading.at.since(since).0.saturating_sub(spacing.0);
            self.next = (self.next + 1) % PAUSES;
            return;
        }
        let still = reading.at.since(since);
        if reading.in_flight == 0 {
            // Idle is no pause of the device.
            return self.pause(reading.at);
        }
        if still < LEAST || still < self.patience() {
            return;
        }
        let grade =
            GRADES.iter().rev().find(|(long, _)| still >= *long).map_or(Severity::Warn, |(_, severity)| *severity);
        if self.open.as_ref().is_none_or(|f| f.severity < grade) {
            self.say(reading, since, grade, course);
        }
    }

    fn pause(&mut self, at: Moment) {
        if self.open.is_none() {
            self.moved_at = Some(at);
        }
    }
}

impl Stall {
    fn patience(&self) -> Span {
        let (mut longest, mut second) = (0, 0);
        for pause in self.pauses {
            if pause > longest {
                (longest, second) = (pause, longest);
            } else {
                second = second.max(pause);
            }
        }
        Span(second.saturating_mul(TIMES_USUAL))
    }

    fn say(&mut self, reading: &Reading, since: Moment, severity: Severity, course: &mut Course<'_>) {
        let said = self.open.as_ref().map_or(reading.at, |f| f.said);
        let oldest = reading.oldest.map(|age| format!(", {} in flight, the oldest for {age}", reading.in_flight));
        let what = format!("nothing completed for {}{}", reading.at.since(since), oldest.unwrap_or_default());
        let saying = Saying {
            to: Some(0.0),
            work_before: Some(reading.done),
            what,
            ..Saying::new(Kind::Stall, severity, since, said)
        };
        self.open = Some(course.open(saying));
    }
}
