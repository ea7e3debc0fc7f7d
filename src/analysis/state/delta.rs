//! Two raw readings of a device, and what can be said of the time between.

use crate::vocab::event::SampleKind;

/// 2³², where a counter of 32 bits begins again.
const WRAP: f64 = 4_294_967_296.0;
/// A fall from below this was no wrap, as nothing that is sampled gains a billion between two readings.
const NEAR_THE_WRAP: f64 = 0.75 * WRAP;

/// What a counter did between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Step {
    /// Not known: read for the first time.
    #[default]
    Unknown,
    /// Gained so much.
    By(f64),
    /// Went backward: it was started anew, and what it gained is lost.
    Reset,
}

/// A field of a device: its two latest readings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) id: Option<u32>,
    pub(super) kind: SampleKind,
    pub(super) before: Option<f64>,
    pub(super) now: Option<f64>,
    pub(super) step: Step,
}

impl Field {
    pub(super) fn new(name: &str, id: Option<u32>, kind: SampleKind) -> Self {
        Self { name: name.to_owned(), id, kind, before: None, now: None, step: Step::Unknown }
    }

    /// The step from the reading before to this one; `may_fall` is for counters that the kernel itself takes back from.
    pub(super) fn settle(&mut self, may_fall: bool) {
        let (Some(before), Some(now)) = (self.before, self.now) else {
            self.step = Step::Unknown;
            return;
        };
        let gained = now - before;
        let wrapped = self.kind == SampleKind::Counter32 && before > NEAR_THE_WRAP && before < WRAP && now >= 0.0;
        self.step = match gained {
            g if g.is_finite() && g >= 0.0 => Step::By(g),
            g if wrapped => Step::By(g + WRAP),
            _ if may_fall => Step::By(0.0),
            _ => Step::Reset,
        };
    }
}

/// Two readings of a device, and the time between.
#[derive(Debug)]
pub struct Delta<'a> {
    pub(super) fields: &'a [Field],
    pub(super) seconds: f64,
    /// What the link carries at most, in bytes a second, where that is known.
    pub(super) link: Option<f64>,
}

impl Delta<'_> {
    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// The latest value.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.field(name)?.now
    }

    /// What a counter has gained; none when it went backward, which is a reset and no work.
    #[must_use]
    pub fn diff(&self, name: &str) -> Option<f64> {
        match self.field(name)? {
            Field { kind: SampleKind::Counter | SampleKind::Counter32, step: Step::By(gained), .. } => Some(*gained),
            _ => None,
        }
    }

    /// What a counter gains in a second.
    #[must_use]
    pub fn rate(&self, name: &str) -> Option<f64> {
        share(self.diff(name)?, self.seconds)
    }

    /// What several counters gain in a second together; those that are not there add nothing, but one must be.
    #[must_use]
    pub fn rates(&self, names: &[&str]) -> Option<f64> {
        names.iter().filter_map(|n| self.rate(n)).reduce(|sum, rate| sum + rate)
    }

    /// The share in percent of the CPU time that these states took; none when the first of them is not counted here. Guest time is
    /// inside user and nice (`proc(5)`), so it is not added again.
    #[must_use]
    pub fn cpu_share(&self, states: &[&str]) -> Option<f64> {
        self.diff(states.first()?)?;
        share(100.0 * self.gained(states), self.cpu_time()?).map(percent)
    }

    /// The shares that guests took, and that user and nice took beside them. A guest that is ahead of user for a tick, as the kernel adds
    /// them one after the other, has at most what user has.
    #[must_use]
    pub fn guest_and_user(&self) -> Option<(f64, f64)> {
        let user = self.cpu_share(&["user", "nice"])?;
        let guest = share(100.0 * self.gained(&["guest", "guest_nice"]), self.cpu_time()?)?.min(user);
        Some((guest, user - guest))
    }

    fn gained(&self, states: &[&str]) -> f64 {
        states.iter().filter_map(|s| self.diff(s)).sum()
    }

    /// All the time of the CPUs; none when a state was reset, as nothing adds up then.
    fn cpu_time(&self) -> Option<f64> {
        self.diff("idle")?;
        let reset = CPU_STATES.iter().filter_map(|s| self.field(s)).any(|f| f.step == Step::Reset);
        (!reset).then(|| self.gained(&CPU_STATES))
    }
}

/// `part / whole`; none when there is no whole.
pub(super) fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// What rounding, or a kernel that counts in ticks, made more than all or less than nothing.
pub(super) fn percent(value: f64) -> f64 {
    value.clamp(0.0, 100.0)
}

/// The states of a CPU that add up to its time; guest time is inside user and nice.
pub(super) const CPU_STATES: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// Whether the kernel takes back from this counter: iowait is a guess that it corrects, steal comes from the hypervisor's clock, guest
/// follows user, and the count of energy starts over at limits of its own. One that fell took nothing.
pub(super) fn may_fall(source: &str, field: &str) -> bool {
    match source {
        "cpu" => matches!(field, "iowait" | "steal" | "guest" | "guest_nice"),
        "thermal" => field == "energy_uj",
        _ => false,
    }
}
