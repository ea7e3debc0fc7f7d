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
/// Later than this after the end of the fault it is another story.
const PATIENCE: Span = Span::seconds(30);

/// Watches what other rules have open.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    from: Option<Fault>,
}

#[derive(Clone, Copy, Debug)]
struct Fault {
    onset: Moment,
    kind: Kind,
    level: f64,
    lost: f64,
    /// When work came back.
    over: Option<Moment>,
    since: u32,
}

impl Rule for Recovery {
    fn window(&mut self, window: &Window, course: &mut Course<'_>) {
        let faults = [Kind::Collapse, Kind::Stall];
        let standing = course.open.iter().filter(|o| faults.contains(&o.kind)).min_by_key(|o| o.onset);
        if let Some(standing) = standing {
            let level = course.signal.best().filter(|_| course.signal.best_has_lasted());
            if let (None, Some(level)) = (self.from, level) {
                let (onset, kind) = (standing.onset, standing.kind);
                self.from = Some(Fault { onset, kind, level, lost: 0.0, over: None, since: 0 });
            }
        }
        let still = standing.is_some();
        let Some(fault) = &mut self.from else { return };
        fault.lost += (fault.level - window.level).max(0.0) * window.length().as_seconds();
        if still {
            (fault.over, fault.since) = (None, 0);
            return;
        }
        let over = *fault.over.get_or_insert(window.from);
        fault.since += 1;
        let lasted = window.to.since(over);
        let back = course.signal.recent.median(0, LOOK as usize).unwrap_or(0.0) >= RECOVERED * fault.level;
        // A collapse is closed only after its level was back for as long.
        let long = fault.kind == Kind::Collapse || fault.since >= LOOK && lasted >= LONG;
        if back && long {
            let fault = *fault;
            self.from = None;
            say(&fault, window.to, course);
        } else if lasted > PATIENCE {
            self.from = None;
        }
    }
}

fn say(fault: &Fault, now: Moment, course: &mut Course<'_>) {
    let over = fault.over.unwrap_or(now);
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
