//! What can go wrong with a series, and what is to be found then.

use serde::Serialize;
use shakedown::vocab::finding::{Kind, Resource, Severity};

use super::random::Random;

/// A fault, from one sample on.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// What happens.
    pub(crate) what: What,
    /// The first affected sample, from 0.
    pub(crate) at: usize,
    /// The first sample that is no longer affected; none for one that stays.
    pub(crate) until: Option<usize>,
    /// What holds the work up, which the counters then show.
    pub(crate) resource: Option<Resource>,
}

/// What happens to a series. Shares are of the level before, lengths in samples.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// It falls to `to` over so many samples; when it is over, it comes back to `back`.
    Fall { to: f64, over: usize, back: f64 },
    /// It falls to `to` as a throttled device does: nothing at first, then one lump and zeros by turns.
    Throttled { to: f64, silent: usize, every: usize },
    /// Nothing completes; when it is over, one sample catches up with so many times the level.
    Stall { burst: f64 },
    /// It falls by `by`, little by little.
    Drift { by: f64, over: usize },
    /// It falls to 45 % and then to 11 %, as a drive whose caches fill one behind the other.
    Ladder { each: usize },
    /// It swings between the level and `low`, half a period each.
    Swing { low: f64, period: usize },
    /// It is multiplied by noise of this coefficient of variation.
    Shaky { cv: f64 },
    /// It is flat to this coefficient of variation; before, for so many samples, it was at so many times the level.
    Flat { cv: f64, burst: Option<(f64, usize)> },
    /// One sample is so many times the level.
    Spike { times: f64 },
    /// This share of the samples is so many times the level.
    Cluster { times: f64, share: f64 },
    /// It is at this share of its reference from the beginning.
    Below { ratio: f64 },
}

/// What is to be found in a series. Times are in seconds on its own axis.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Label {
    /// The right kind.
    pub(crate) kind: Kind,
    /// When the first affected sample began.
    pub(crate) onset: f64,
    /// When it was over.
    pub(crate) end: Option<f64>,
    /// The level since as a share of the level before.
    pub(crate) ratio: f64,
    /// What holds the work up.
    pub(crate) resource: Option<Resource>,
    /// Whether it is a miss when nothing is found; a fall of 5 % is too small to be one.
    pub(crate) wanted: bool,
    /// From when on it can be seen: half of a slow fall.
    #[serde(skip)]
    pub(crate) visible: f64,
    /// How much earlier and later than `onset` a finding may begin and still mean this.
    #[serde(skip)]
    pub(crate) slack: (f64, f64),
    /// How bad it must be called at least.
    #[serde(skip)]
    pub(crate) least: Severity,
    /// Other kinds that are as right.
    #[serde(skip)]
    pub(crate) also: &'static [Kind],
}

impl Fault {
    /// One that stays and of which no counter tells.
    pub(crate) fn new(what: What, at: usize) -> Self {
        Self { what, at, until: None, resource: None }
    }

    /// One that is over with this sample.
    pub(crate) fn until(mut self, until: usize) -> Self {
        self.until = Some(until);
        self
    }

    /// The sample with the fault; `level` is the series without noise there.
    pub(crate) fn applied(&self, i: usize, value: f64, level: f64, random: &mut Random) -> f64 {
        if let What::Flat { cv, burst } = self.what {
            let (times, long) = burst.unwrap_or((1.0, 0));
            return level * if i < self.at + long { times } else { 1.0 } * (1.0 + cv * random.normal());
        }
        if i < self.at {
            return value;
        }
        let since = i - self.at;
        if self.until.is_some_and(|until| i >= until) {
            return value * self.afterwards(i);
        }
        match self.what {
            What::Fall { to, over, .. } => value * falling(since, over, 1.0 - to),
            What::Drift { by, over } => value * falling(since, over, by),
            What::Throttled { to, silent, every } if since >= silent && (since - silent).is_multiple_of(every) => {
                value * to * every as f64
            }
            What::Throttled { .. } | What::Stall { .. } => 0.0,
            What::Ladder { each } => value * if since < each { 0.45 } else { 0.11 },
            What::Swing { low, period } => value * if since % period < period / 2 { low } else { 1.0 },
            What::Shaky { cv } => (value * (1.0 + cv * random.normal())).max(0.01 * level),
            What::Spike { times } => value * if since == 0 { times } else { 1.0 },
            What::Cluster { times, share } => value * if random.chance(share) { times } else { 1.0 },
            What::Below { ratio } => value * ratio,
            What::Flat { .. } => value,
        }
    }

    /// What is left of a fault that is over.
    fn afterwards(&self, i: usize) -> f64 {
        match self.what {
            What::Fall { back, .. } => back,
            What::Stall { burst } if self.until == Some(i) => burst,
            _ => 1.0,
        }
    }

    /// What is to be found. `tick` is the time between two samples.
    pub(crate) fn labels(&self, tick: f64) -> Vec<Label> {
        let seconds = |samples: usize| samples as f64 * tick;
        // Sample `i` covers the time from `i` ticks to `i + 1`.
        let (onset, end) = (seconds(self.at), self.until.map(seconds));
        let near = (5.0 * tick).max(2.0);
        let mut label = Label {
            kind: self.kind(),
            onset,
            end,
            ratio: self.ratio(),
            resource: self.resource,
            wanted: self.is_wanted(tick),
            visible: onset,
            slack: (near, near),
            least: Severity::Warn,
            also: &[],
        };
        match self.what {
            What::Fall { to, over, .. } => {
                label.slack.1 += seconds(over);
                label.visible += seconds(if to < 0.5 && over > 1 { over / 2 } else { 0 });
                // At half, either word is right.
                label.also = if (0.45..=0.55).contains(&to) { &[Kind::Step, Kind::Collapse] } else { &[] };
            }
            What::Throttled { .. } => label.also = &[Kind::Stall],
            What::Drift { by, over } => {
                label.slack = (near + seconds(30 + over / 4), seconds(over));
                label.also = if by >= 0.5 { &[Kind::Collapse, Kind::Step] } else { &[] };
            }
            What::Ladder { .. } => label.also = &[Kind::Drift],
            What::Swing { period, .. } => label.slack.1 += seconds(40 + 2 * period),
            What::Shaky { .. } => label.slack = (near + seconds(30), near + seconds(60)),
            What::Flat { burst, .. } => {
                label.least = Severity::Info;
                label.slack = (near, near + seconds(60 + burst.map_or(0, |(_, long)| long)));
            }
            What::Spike { .. } => label.least = Severity::Info,
            What::Cluster { .. } => label.slack.1 += 60.0,
            What::Below { .. } => label.slack = (f64::INFINITY, f64::INFINITY),
            What::Stall { .. } => {}
        }
        let mut labels = vec![label];
        labels.extend(self.recovery(tick));
        labels
    }

    /// Coming back to nine tenths of the level is to be said, too.
    fn recovery(&self, tick: f64) -> Option<Label> {
        let is_back = match self.what {
            What::Fall { to, back, .. } => to <= 0.5 && back >= 0.95,
            What::Stall { .. } | What::Throttled { .. } => true,
            _ => false,
        };
        let end = self.until? as f64 * tick;
        let near = (5.0 * tick).max(3.0);
        // What it comes back to must have been seen before.
        (is_back && self.at >= 10 && self.is_wanted(tick)).then_some(Label {
            kind: Kind::Recovery,
            onset: end,
            end: None,
            ratio: 1.0,
            resource: None,
            wanted: true,
            visible: end,
            slack: (near, near + (5.0 * tick).max(3.0)),
            least: Severity::Info,
            also: &[],
        })
    }

    fn kind(&self) -> Kind {
        match self.what {
            What::Fall { to, .. } if to > 0.5 => Kind::Step,
            What::Fall { .. } | What::Throttled { .. } | What::Ladder { .. } => Kind::Collapse,
            What::Stall { .. } => Kind::Stall,
            What::Drift { .. } => Kind::Drift,
            What::Swing { .. } | What::Shaky { .. } => Kind::Oscillation,
            What::Flat { .. } => Kind::Cap,
            What::Spike { .. } | What::Cluster { .. } => Kind::Spike,
            What::Below { .. } => Kind::BelowBaseline,
        }
    }

    fn ratio(&self) -> f64 {
        match self.what {
            What::Fall { to, .. } | What::Throttled { to, .. } => to,
            What::Stall { .. } => 0.0,
            What::Drift { by, .. } => 1.0 - by,
            What::Ladder { .. } => 0.11,
            What::Swing { low, .. } => low,
            What::Below { ratio } => ratio,
            What::Spike { times } | What::Cluster { times, .. } => times,
            What::Shaky { .. } | What::Flat { .. } => 1.0,
        }
    }

    /// Whether it is large and long enough that a miss is a miss.
    fn is_wanted(&self, tick: f64) -> bool {
        let long = self.until.map_or(f64::INFINITY, |until| (until - self.at) as f64 * tick);
        match self.what {
            What::Fall { to, .. } => to < 0.9,
            // A stall shows after 2 s, and never before five samples have come without a completion.
            What::Stall { .. } => long > (5.0 * tick).max(2.0) + tick,
            What::Drift { by, .. } => by > 0.1,
            What::Below { ratio } => ratio < 0.89,
            _ => true,
        }
    }
}

/// The share that is left `since` samples after the beginning of a fall by `by` over so many.
fn falling(since: usize, over: usize, by: f64) -> f64 {
    1.0 - by * ((since + 1) as f64 / over.max(1) as f64).min(1.0)
}
