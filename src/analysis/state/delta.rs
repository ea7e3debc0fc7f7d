//! Two raw readings of a device, and what can be said of the time between.

use crate::vocab::event::SampleKind;

/// A field of a device: its two latest readings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: SampleKind,
    pub(super) before: Option<f64>,
    pub(super) now: Option<f64>,
}

/// Two readings of a device, and the time between.
#[derive(Debug)]
pub struct Delta<'a> {
    pub(super) fields: &'a [Field],
    pub(super) seconds: f64,
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
        let field = self.field(name).filter(|f| f.kind == SampleKind::Counter)?;
        let gained = field.now? - field.before?;
        (gained >= 0.0).then_some(gained)
    }

    /// What a counter gains in a second.
    #[must_use]
    pub fn rate(&self, name: &str) -> Option<f64> {
        share(self.diff(name)?, self.seconds)
    }

    /// The share in percent of the CPU time that these states took. A state that went backward (iowait may) took nothing.
    /// Guest time is inside user and nice (`proc(5)`), so it is not added again.
    #[must_use]
    pub fn cpu_share(&self, states: &[&str]) -> Option<f64> {
        let gained = |name: &str| match self.field(name) {
            Some(Field { before: Some(before), now: Some(now), .. }) => (now - before).max(0.0),
            _ => 0.0,
        };
        self.field("idle")?.before?;
        let all: f64 = CPU_STATES.iter().map(|s| gained(s)).sum();
        share(100.0 * states.iter().map(|s| gained(s)).sum::<f64>(), all)
    }
}

/// `part / whole`; none when there is no whole.
pub(super) fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// The states of a CPU that add up to its time; guest time is inside user and nice.
pub(super) const CPU_STATES: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
