//! CAP: the rate is flatter than a resource that is not limited by a rule ever is.

use super::{Course, Rule, Saying};
use crate::analysis::attribution::catalogue_hit;
use crate::analysis::signal::{KEPT, Window, quantile};
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::moment::Moment;

/// From the 5th to the 95th percentile of whole seconds, as a share of their median: so flat it opens, and no more it closes.
const FLAT: f64 = 0.005;
const UNEVEN: f64 = 0.015;
/// Seconds that are looked at.
const SECONDS: usize = 30;
/// Below this share of what it is held against it is a fault.
const FAIL: f64 = 0.9;

/// Watches whole seconds.
#[derive(Debug)]
pub(super) struct Cap;

impl Rule for Cap {
    fn window(&mut self, window: &Window, course: &mut Course<'_>) {
        if !course.signal.ended_second {
            return;
        }
        let over = |open: &Saying, how: &str| open.clone().over(window.to, how);
        match (course.standing(Kind::Cap), range(course.signal.seconds.means())) {
            (Some(open), Some((range, _))) if range > UNEVEN => course.say(&over(open, "then uneven")),
            (Some(open), None) => course.say(&over(open, "then at another level")),
            (None, Some((range, level))) if range <= FLAT => say(window.to, range, level, course),
            _ => {}
        }
    }
}

fn say(now: Moment, range: f64, level: f64, course: &mut Course<'_>) {
    let against = course.about.reference.map(|reference| level / course.about.value(reference));
    let severity = match against {
        Some(share) if share < FAIL => Severity::Fail,
        Some(share) if share < 1.0 => Severity::Warn,
        _ => Severity::Info,
    };
    let onset = course.signal.seconds.first().unwrap_or(now);
    let mut saying = Saying::new(Kind::Cap, severity, onset, now);
    saying.to = Some(level);
    saying.what = format!("flat within {:.1} % at {}, as under a limit", 100.0 * range, course.short(level));
    if let Some(known) = catalogue_hit(level, course.about.unit).filter(|_| !course.about.lower_is_better) {
        saying.what.push_str(&format!(": that of {known}"));
    }
    course.say(&saying);
}

/// The range of the latest whole seconds and their median; none before there are enough.
fn range(means: &[f64]) -> Option<(f64, f64)> {
    let latest = means.len().checked_sub(SECONDS)?;
    let mut values = [0.0; KEPT];
    values[..SECONDS].copy_from_slice(&means[latest..]);
    let values = &mut values[..SECONDS];
    let level = quantile(values, 0.5).filter(|m| *m > 0.0)?;
    let (low, high) = (quantile(values, 0.05)?, quantile(values, 0.95)?);
    Some(((high - low) / level, level))
}
