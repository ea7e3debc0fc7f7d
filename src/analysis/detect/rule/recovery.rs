//! RECOVERY: after a collapse or a stall the rate is back at the level before. Carries how long it was away and what was lost.

use super::{Course, Rule, Saying};
use crate::analysis::signal::Window;
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::unit::{Quantity, short};

/// Windows whose median must be back, and how long they must last together.
const LOOK: u32 = 5;
const LONG: Span = Span::milliseconds(2_800);
/// Back at this share of the level before.
const RECOVERED: f64 = 0.9;
/// From this share on a window belongs to the way back.
const BACK: f64 = 0.75;
/// Later than this after the end of the fault it is another story.
const PATIENCE: Span = Span::seconds(30);

/// Watches what other rules have open.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    from: [Option<Fault>; KINDS.len()],
}

/// What there is to recover from. A stall may lie within a collapse, and ends at the level before it.
const KINDS: [Kind; 2] = [Kind::Collapse, Kind::Stall];

#[derive(Clone, Copy, Debug)]
struct Fault {
    onset: Moment,
    level: f64,
    lost: f64,
    /// When work came back.
    over: Option<Moment>,
    /// When the fault was closed.
    closed: Option<Moment>,
    since: u32,
}

impl Rule for Recovery {
    fn window(&mut self, window: &Window, course: &mut Course<'_>) {
        for (place, kind) in KINDS.into_iter().enumerate() {
            let standing = course.standing(kind);
            if let (None, Some(standing)) = (self.from[place], standing)
                && let Some(level) = level_before(kind, course)
            {
                self.from[place] =
                    Some(Fault { onset: standing.onset, level, lost: 0.0, over: None, closed: None, since: 0 });
            }
            let Some(fault) = &mut self.from[place] else { continue };
            fault.lost += (fault.level - window.level).max(0.0) * window.length().as_seconds();
            if standing.is_some() {
                (fault.over, fault.since) = (None, 0);
                continue;
            }
            let closed = *fault.closed.get_or_insert(window.from);
            if window.level < BACK * fault.level {
                (fault.over, fault.since) = (None, 0);
                // A level that was told as one that lasts may be left again hours later.
                if kind == Kind::Stall && window.to.since(closed) > PATIENCE {
                    self.from[place] = None;
                }
                continue;
            }
            let over = *fault.over.get_or_insert(window.from);
            fault.since += 1;
            let lasted = window.to.since(over);
            let back = course.signal.recent.median(0, LOOK as usize).unwrap_or(0.0) >= RECOVERED * fault.level;
            // A collapse that recovered was closed only after its level was back for as long.
            let watched = kind == Kind::Collapse && closed == over;
            let long = watched || fault.since >= LOOK && lasted >= LONG;
            if back && long {
                let fault = *fault;
                self.from[place] = None;
                say(&fault, window.to, course);
            }
        }
    }
}

fn level_before(kind: Kind, course: &Course<'_>) -> Option<f64> {
    let best = course.signal.best().filter(|_| course.signal.best_has_lasted());
    if kind == Kind::Collapse { best } else { course.signal.level().filter(|level| *level > 0.0).or(best) }
}

fn say(fault: &Fault, now: Moment, course: &mut Course<'_>) {
    // Others have watched for a while whether it lasts.
    let back = |p: &crate::analysis::signal::Point| p.level >= BACK * fault.level;
    let first = course.signal.recent.latest(0, usize::MAX).take_while(back).last().map(|p| p.at);
    let over = first.unwrap_or(now).min(fault.over.unwrap_or(now));
    let unit = course.about.unit;
    let lost = fault.lost * unit.things();
    let mut saying = Saying::new(Kind::Recovery, Severity::Info, over, now);
    saying.closed = Some(now);
    saying.to = Some(fault.level);
    saying.lost = Some(lost);
    let away = over.since(fault.onset);
    let lost = if course.about.lower_is_better {
        String::new()
    } else {
        format!("; {} of work lost", short(Quantity::new(lost, unit.counted())))
    };
    saying.what = format!("back at {} after {away}{lost}", course.short(fault.level));
    course.say(&saying);
}
