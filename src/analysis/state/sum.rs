//! What the devices of a total have gained together.

use std::collections::BTreeMap;

use super::delta::Step;
use super::device::Device;
use crate::vocab::event::SampleKind;

/// What the leaves of a source have gained since its last total.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sum {
    pub(super) steps: BTreeMap<String, Step>,
    /// Whether a reading in it cannot be told the length of, or is not believed.
    pub(super) broken: bool,
}

impl Sum {
    pub(super) fn add(&mut self, device: &Device) {
        self.broken |= device.reading.gap.is_some() || !device.reading.sound;
        for field in device.fields.iter().filter(|f| f.kind != SampleKind::Gauge) {
            let sum = self.steps.get(&field.name).copied().unwrap_or_default();
            let sum = match (sum, field.step) {
                (Step::Reset, _) | (_, Step::Reset) => Step::Reset,
                (Step::By(a), Step::By(b)) => Step::By(a + b),
                (known, Step::Unknown) | (Step::Unknown, known) => known,
            };
            self.steps.insert(field.name.clone(), sum);
        }
    }
}
