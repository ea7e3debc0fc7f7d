//! Official numbers, and the roofs they are held against.

use serde::{Deserialize, Serialize};

use super::plan::Basis;
use super::unit::{Quantity, Unit};

/// One official number of one iteration: `mb_per_s` 250.3 MB/s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The name checks refer to: lower case, unit included (`gflops`, `mb_per_s`, `p99_us`).
    pub name: String,
    /// A finite value; a kernel whose figure is not finite has computed wrongly.
    pub value: f64,
    /// The unit of `value`.
    pub unit: Unit,
}

impl Figure {
    /// A figure by name.
    #[must_use]
    pub fn new(name: &str, value: f64, unit: Unit) -> Self {
        Self { name: name.to_owned(), value, unit }
    }

    /// The value with its unit.
    #[must_use]
    pub fn quantity(&self) -> Quantity {
        Quantity::new(self.value, self.unit)
    }
}

/// The most that something could give, and who says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roof {
    /// The figure or class that it bounds: `cpu`, `memory`, or a figure's name.
    pub name: String,
    /// How much.
    pub value: Quantity,
    /// Nominal or measured; never one for the other.
    pub basis: Basis,
    /// Contract, preset, or the way it was measured.
    pub source: String,
}

impl Roof {
    /// The label of a run that says why a roof of a class is not known: `roof_cpu_nominal`.
    #[must_use]
    pub fn label(class: &str, basis: Basis) -> String {
        format!("{LABELS}{class}_{}", basis.word())
    }

    /// Class and basis of a label that says why a roof is not known; none for another label.
    #[must_use]
    pub fn labelled(label: &str) -> Option<(&str, &str)> {
        label.strip_prefix(LABELS)?.rsplit_once('_')
    }
}

/// What those labels begin with.
const LABELS: &str = "roof_";
