//! LATENCY SPIKE: operations that took far longer than this run's slow ones do.

use super::{Course, Rule, Saying};
use crate::analysis::signal::{Window, quantile, spread};
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::moment::{Moment, Span};
use crate::vocab::unit::Unit;

/// Readings kept of those that were no spikes, and how many make a picture of what is usual.
const KEPT: usize = 72;
const LEAST: usize = 30;
/// The picture is taken anew every so many readings.
const REFRESH: u32 = 32;
/// A spike is above three times the 99th percentile, and above the median by ten robust standard deviations.
const TIMES_P99: f64 = 3.0;
const DEVIATIONS: f64 = 10.0;
/// One alone is worth saying when it is so many times the median and so long, in seconds.
const TIMES_MEDIAN: f64 = 20.0;
const LONG: f64 = 0.1;
/// One so long, in seconds, is a fault: half the patience of a healthy client.
const FAULT: f64 = 1.0;
/// One reading in a hundred within a minute, and more than one, are a cluster.
const SHARE: f64 = 0.01;
const CLUSTER: f64 = 1.3;
const MINUTE: Span = Span::seconds(60);

/// Watches single readings.
#[derive(Debug)]
pub(super) struct Spike {
    usual: [f64; KEPT],
    n: usize,
    fresh: u32,
    limit: f64,
    median: f64,
    /// Spikes and readings of the last minute, each fading with it.
    spikes: f64,
    readings: f64,
    last: Moment,
    spiked: Moment,
}

impl Default for Spike {
    fn default() -> Self {
        Self {
            usual: [0.0; KEPT],
            n: 0,
            fresh: 0,
            limit: f64::INFINITY,
            median: 0.0,
            spikes: 0.0,
            readings: 0.0,
            last: Moment(0),
            spiked: Moment(0),
        }
    }
}

impl Rule for Spike {
    fn window(&mut self, window: &Window, course: &mut Course<'_>) {
        let value = course.about.value(window.level);
        let passed = window.to.since(self.last).as_seconds().min(60.0);
        let kept = (-passed / MINUTE.as_seconds()).exp();
        (self.spikes, self.readings, self.last) = (self.spikes * kept, self.readings * kept + 1.0, window.to);
        if value > self.limit {
            self.spikes += 1.0;
            self.spiked = window.to;
            self.say(window, value, course);
        } else {
            self.learn(value);
            if window.to.since(self.spiked) >= MINUTE
                && let Some(open) = course.standing(Kind::Spike)
            {
                course.say(&open.clone().over(self.spiked, "then a minute without"));
            }
        }
    }
}

impl Spike {
    fn learn(&mut self, value: f64) {
        self.usual[self.n % KEPT] = value;
        self.n += 1;
        self.fresh += 1;
        if self.n < LEAST || self.fresh < REFRESH && self.limit.is_finite() {
            return;
        }
        self.fresh = 0;
        let mut values = self.usual;
        let values = &mut values[..self.n.min(KEPT)];
        let (p99, median) = (quantile(values, 0.99).unwrap_or(0.0), quantile(values, 0.5).unwrap_or(0.0));
        self.median = median;
        self.limit = (TIMES_P99 * p99).max(median + DEVIATIONS * spread(values, median));
    }

    fn say(&mut self, window: &Window, value: f64, course: &mut Course<'_>) {
        let seconds = match course.about.unit {
            Unit::Seconds => value,
            Unit::Milliseconds => value / 1e3,
            Unit::Microseconds => value / 1e6,
            Unit::Nanoseconds => value / 1e9,
            // Of a series without a unit of time nobody knows how long is long.
            _ => LONG,
        };
        let cluster = self.spikes >= CLUSTER && self.spikes >= SHARE * self.readings;
        let alone = value >= TIMES_MEDIAN * self.median && seconds >= LONG;
        let severity = match (cluster, alone) {
            (_, true) if seconds >= FAULT => Severity::Fail,
            (true, _) => Severity::Warn,
            (false, true) => Severity::Info,
            (false, false) => return,
        };
        let (worst, usual) = (course.short(window.level), course.short(1.0 / self.median));
        let what = if cluster {
            format!("{:.0} readings within a minute of up to {worst}, where {usual} is usual", self.spikes.ceil())
        } else {
            format!("one of {worst}, where {usual} is usual")
        };
        if let Some(open) = course.standing(Kind::Spike) {
            if severity > open.severity {
                course.say(&Saying { severity, what, ..open.clone() });
            }
            return;
        }
        let mut saying = Saying { what, ..Saying::new(Kind::Spike, severity, window.from, window.to) };
        (saying.from, saying.to) = (Some(1.0 / self.median), Some(window.level));
        if !cluster {
            saying.closed = Some(window.to);
        }
        course.say(&saying);
    }
}
