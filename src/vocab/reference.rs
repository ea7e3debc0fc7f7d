//! Other machines that figures are held against: bare metal, another cloud, the good nodes of the same delivery.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::unit::{Quantity, Unit};

/// Where a plan has a reference from. In the record of a session each is a [`Reference::Known`], so that the record alone gives the
/// verdict again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reference {
    /// Figures of a report: one number each, and nothing of how they came about.
    Figures(Printed),
    /// A session file of this program.
    Session(PathBuf),
    /// A file that `shakedown baseline` wrote, of several sessions.
    Baseline(PathBuf),
    /// What was read from either.
    Known(Box<Profile>),
}

/// Figures as a report prints them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// Which report, and what it measured; printed with each comparison.
    pub from: String,
    /// By run and figure: `cpu-float.gflops`.
    pub figures: BTreeMap<String, Quantity>,
    /// Its nominal roofs, named as those of a plan.
    #[serde(default)]
    pub roofs: BTreeMap<String, Quantity>,
}

/// What is known of a machine and of what it did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// Session, sessions or report.
    pub from: String,
    /// How many sessions; 0 for a report.
    pub sessions: u32,
    /// By run and figure: `cpu-float.gflops`.
    pub figures: BTreeMap<String, Values>,
    /// Nominal roofs by name.
    pub roofs: BTreeMap<String, Quantity>,
    /// The machine and its conditions, by name: `cpu`, `kernel`, `governor`.
    pub conditions: BTreeMap<String, String>,
    /// What each run was.
    pub runs: BTreeMap<String, Described>,
}

/// The values of one figure: of one session one an iteration, of several one a session, its median.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// Unit of all of them; a text in every format, as RON has no variants with the name `MB/s`.
    #[serde(with = "text")]
    pub unit: Unit,
    /// In the order in which they were measured.
    pub values: Vec<f64>,
}

/// What a run was, as far as it decides what its figures can be compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Described {
    /// What bounds it: `cpu`, `memory`, `disk`.
    pub class: String,
    /// The figure on its chart.
    pub main: String,
    /// The labels it began with: engine, threads, block, path.
    pub labels: BTreeMap<String, String>,
}

/// A unit as the text that records have.
mod text {
    use serde::de::IntoDeserializer;
    use serde::de::value::StringDeserializer;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::vocab::unit::Unit;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(unit: &Unit, to: S) -> Result<S::Ok, S::Error> {
        serde_json::to_value(unit).map_err(S::Error::custom)?.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Unit, D::Error> {
        let text: StringDeserializer<D::Error> = String::deserialize(from)?.into_deserializer();
        Unit::deserialize(text)
    }
}

impl From<Printed> for Profile {
    fn from(printed: Printed) -> Self {
        let one = |quantity: Quantity| Values { unit: quantity.unit, values: vec![quantity.value] };
        Self {
            from: printed.from,
            figures: printed.figures.into_iter().map(|(name, quantity)| (name, one(quantity))).collect(),
            roofs: printed.roofs,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_text_in_ron_and_in_json() {
        let values = Values { unit: Unit::MegabytesPerSecond, values: vec![9.5, 10.0] };
        let ron = ron::to_string(&values).unwrap();
        assert_eq!(ron, r#"(unit:"MB/s",values:[9.5,10.0])"#);
        assert_eq!(ron::from_str::<Values>(&ron).unwrap(), values);
        let json = serde_json::to_string(&values).unwrap();
        assert_eq!(json, r#"{"unit":"MB/s","values":[9.5,10.0]}"#);
        assert_eq!(serde_json::from_str::<Values>(&json).unwrap(), values);
        assert!(ron::from_str::<Values>(r#"(unit:"MB",values:[])"#).unwrap_err().to_string().contains("MB"));
    }
}
