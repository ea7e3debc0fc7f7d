//! Units as a contract spells them.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::size::SUFFIXES;
use super::unit::{SPELLINGS, Unit};

/// A unit in somebody's own spelling (`MiB/s`, `kIOPS`, `ms`), for numbers that are compared and printed as a contract has them.
/// Typed and serialised as that text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Spelling {
    word: Word,
    unit: Unit,
    factor: f64,
}

/// Behind a name, as serde takes a plain `&str` in a field for something to borrow.
type Word = &'static str;

impl Spelling {
    /// As it is written; empty for a plain number.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.word
    }

    /// The unit of the record that it is a multiple of.
    #[must_use]
    pub fn unit(self) -> Unit {
        self.unit
    }

    /// What a value in it is multiplied by to be one in `unit`; none where that is of another dimension. A plain number is a count and
    /// a ratio.
    #[must_use]
    pub fn worth(self, unit: Unit) -> Option<f64> {
        match (nanoseconds(self.unit), nanoseconds(unit)) {
            (Some(own), Some(other)) => Some(self.factor * own / other),
            _ if self.unit == unit || (self.word.is_empty() && unit == Unit::Ratio) => Some(self.factor),
            _ => None,
        }
    }

    /// Every spelling there is.
    pub fn words() -> impl Iterator<Item = &'static str> {
        all().map(|(word, ..)| word)
    }
}

/// Those of quantities first, so that `B` is found once.
fn all() -> impl Iterator<Item = (&'static str, Unit, f64)> {
    let bytes = SUFFIXES.iter().filter(|(word, _)| !word.is_empty());
    SPELLINGS.iter().copied().chain(bytes.map(|(word, factor)| (*word, Unit::Bytes, *factor)))
}

/// Nanoseconds in a unit of time, so that every ratio is a whole number or one by it; none for another dimension.
fn nanoseconds(unit: Unit) -> Option<f64> {
    match unit {
        Unit::Seconds => Some(1e9),
        Unit::Milliseconds => Some(1e6),
        Unit::Microseconds => Some(1e3),
        Unit::Nanoseconds => Some(1.0),
        _ => None,
    }
}

impl FromStr for Spelling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = all().find(|(word, ..)| *word == text);
        let (word, unit, factor) = found.ok_or_else(|| format!("`{text}` is no unit"))?;
        Ok(Self { word, unit, factor })
    }
}

impl From<Spelling> for String {
    fn from(spelling: Spelling) -> Self {
        spelling.word.to_owned()
    }
}

impl TryFrom<String> for Spelling {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// A number as it reads in twelve significant digits: what a change of the unit leaves behind further back is no part of it.
#[must_use]
pub fn plain(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worth(word: &str, unit: Unit) -> Option<f64> {
        word.parse::<Spelling>().unwrap().worth(unit)
    }

    #[test]
    fn spellings_of_one_dimension_convert_and_others_do_not() {
        assert_eq!(worth("MiB/s", Unit::MegabytesPerSecond), Some(1.048_576));
        assert_eq!(worth("MB/s", Unit::MegabytesPerSecond), Some(1.0));
        assert_eq!(worth("ms", Unit::Microseconds).map(plain), Some(1000.0));
        assert_eq!(worth("ns", Unit::Seconds).map(plain), Some(1e-9));
        assert_eq!(worth("min", Unit::Seconds), Some(60.0));
        assert_eq!((worth("MiB", Unit::Bytes), worth("MB", Unit::Bytes)), (Some(1_048_576.0), Some(1e6)));
        assert_eq!((worth("", Unit::Count), worth("", Unit::Ratio)), (Some(1.0), Some(1.0)));
        for (word, unit) in [("MB", Unit::MegabytesPerSecond), ("", Unit::MegabytesPerSecond), ("ms", Unit::Iops)] {
            assert_eq!(worth(word, unit), None, "{word}");
        }
        assert!("mb/s".parse::<Spelling>().is_err());
    }

    #[test]
    fn a_number_loses_what_a_change_of_the_unit_left() {
        assert_eq!(plain(100.0 * 1.048_576 / 1.048_576), 100.0);
        assert_eq!(plain(0.1 + 0.2), 0.3);
        assert_eq!((plain(0.0), plain(-1.5)), (0.0, -1.5));
    }
}
