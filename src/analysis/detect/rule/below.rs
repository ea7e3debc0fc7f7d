//! BELOW BASELINE: the steady rate is below what it is held against, and not by chance.

use super::{Course, Rule, Saying};
use crate::analysis::signal::{KEPT, Window, quantile};
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::moment::Moment;
use crate::vocab::unit::Unit;

/// What it may be short of: storage and network vary from copy to copy of a machine, arithmetic does not.
const TOLERANCE: f64 = 0.10;
const OF_ARITHMETIC: f64 = 0.05;
/// Twice the tolerance is a fault, half of it all the end.
const FAIL: f64 = 2.0;
const CRIT: f64 = 0.5;
/// Readings of which a median is believed.
const LEAST: usize = 30;

/// Watches for the first steady level.
#[derive(Debug, Default)]
pub(super) struct Below {
    looked: bool,
}

impl Rule for Below {
    fn window(&mut self, window: &Window, course: &mut Course<'_>) {
        let Some(reference) = course.about.reference else { return };
        if course.signal.steady.since().is_none() {
            self.looked = false;
            return;
        }
        if self.looked || course.standing(Kind::BelowBaseline).is_some() {
            return;
        }
        self.looked = true;
        look(window.to, course.about.value(reference), course);
    }
}

fn look(now: Moment, reference: f64, course: &mut Course<'_>) {
    let mut buffer = [0.0; KEPT];
    let levels = course.signal.recent.levels(0, KEPT, &mut buffer);
    if levels.len() < LEAST {
        return;
    }
    // The upper 95 % limit of the median is the order statistic n/2 + 1.96 √n/2 (Conover, 1999).
    let n = levels.len() as f64;
    let upper = quantile(levels, (0.5 + 0.98 / n.sqrt()).min(1.0)).unwrap_or(0.0);
    let level = quantile(levels, 0.5).unwrap_or(0.0);
    let arithmetic = matches!(course.about.unit, Unit::Gflops | Unit::EventsPerSecond);
    let tolerance = if arithmetic { OF_ARITHMETIC } else { TOLERANCE };
    let short = 1.0 - level / reference;
    if upper >= (1.0 - tolerance) * reference {
        return;
    }
    let severity = match short {
        s if s >= CRIT => Severity::Crit,
        s if s >= FAIL * tolerance => Severity::Fail,
        _ => Severity::Warn,
    };
    let onset = course.signal.steady.since().unwrap_or(now);
    let mut saying = Saying::new(Kind::BelowBaseline, severity, onset, now);
    (saying.from, saying.to) = (Some(reference), Some(level));
    let (level, reference) = (course.short(level), course.short(reference));
    let word = if course.about.lower_is_better { "worse than" } else { "below" };
    saying.what = format!("steady at {level}, {:.0} % {word} {reference}", 100.0 * short);
    course.say(&saying);
}
