//! Units as the field prints them, and quantities that carry one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::text::wide;

/// The unit of a recorded value. The serialised form is the printed form (`"MB/s"`), so that a record reads without a legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unit {
    /// 10⁹ floating-point operations a second.
    #[serde(rename = "GFLOPS")]
    Gflops,
    /// 10⁶ bytes a second: decimal, as vendors and fio's `bw_bytes` count.
    #[serde(rename = "MB/s")]
    MegabytesPerSecond,
    /// Completed input or output operations a second.
    #[serde(rename = "IOPS")]
    Iops,
    /// Requests a second of a service.
    #[serde(rename = "op/s")]
    OpsPerSecond,
    /// Work units a second of an integer kernel, comparable with sysbench's events.
    #[serde(rename = "events/s")]
    EventsPerSecond,
    /// Anything else counted per second.
    #[serde(rename = "/s")]
    PerSecond,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Hundredths.
    #[serde(rename = "%")]
    Percent,
    /// 10⁶ cycles a second.
    #[serde(rename = "MHz")]
    Megahertz,
    /// Degrees Celsius.
    #[serde(rename = "C")]
    Celsius,
    /// Watts.
    #[serde(rename = "W")]
    Watts,
    /// A plain number of things.
    #[serde(rename = "count")]
    Count,
    /// A number without a dimension.
    #[serde(rename = "ratio")]
    Ratio,
}

impl Unit {
    /// How many counted things one unit of this rate stands for: 10⁶ bytes in an MB/s, 10⁹ operations in a GFLOPS, else 1.
    #[must_use]
    pub fn things(self) -> f64 {
        match self {
            Self::Gflops => 1e9,
            Self::MegabytesPerSecond => 1e6,
            _ => 1.0,
        }
    }

    /// The unit of the things that a rate counts: bytes for MB/s, a plain number for the others.
    #[must_use]
    pub fn counted(self) -> Self {
        if self == Self::MegabytesPerSecond { Self::Bytes } else { Self::Count }
    }

    /// The text printed behind a number; empty for bare numbers.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Gflops => "GFLOPS",
            Self::MegabytesPerSecond => "MB/s",
            Self::Iops => "IOPS",
            Self::OpsPerSecond => "op/s",
            Self::EventsPerSecond => "events/s",
            Self::PerSecond => "/s",
            Self::Bytes => "B",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
            Self::Percent => "%",
            Self::Megahertz => "MHz",
            Self::Celsius => "C",
            Self::Watts => "W",
            Self::Count | Self::Ratio => "",
        }
    }

    /// Whether less is better, as with times and errors.
    #[must_use]
    pub fn lower_is_better(self) -> bool {
        matches!(self, Self::Seconds | Self::Milliseconds | Self::Microseconds | Self::Nanoseconds | Self::Celsius)
    }
}

/// Every spelling a quantity may be typed with, its unit, and the factor to that unit's own scale.
pub(super) const SPELLINGS: &[(&str, Unit, f64)] = &[
    ("TFLOPS", Unit::Gflops, 1e3),
    ("GFLOPS", Unit::Gflops, 1.0),
    ("MFLOPS", Unit::Gflops, 1e-3),
    ("GB/s", Unit::MegabytesPerSecond, 1e3),
    ("MB/s", Unit::MegabytesPerSecond, 1.0),
    ("kB/s", Unit::MegabytesPerSecond, 1e-3),
    ("GiB/s", Unit::MegabytesPerSecond, 1_073.741_824),
    ("MiB/s", Unit::MegabytesPerSecond, 1.048_576),
    ("KiB/s", Unit::MegabytesPerSecond, 0.001_024),
    ("Gb/s", Unit::MegabytesPerSecond, 125.0),
    ("Mb/s", Unit::MegabytesPerSecond, 0.125),
    ("Gbit/s", Unit::MegabytesPerSecond, 125.0),
    ("Mbit/s", Unit::MegabytesPerSecond, 0.125),
    ("kIOPS", Unit::Iops, 1e3),
    ("IOPS", Unit::Iops, 1.0),
    ("op/s", Unit::OpsPerSecond, 1.0),
    ("events/s", Unit::EventsPerSecond, 1.0),
    ("/s", Unit::PerSecond, 1.0),
    ("B", Unit::Bytes, 1.0),
    ("h", Unit::Seconds, 3600.0),
    ("min", Unit::Seconds, 60.0),
    ("ms", Unit::Milliseconds, 1.0),
    ("us", Unit::Microseconds, 1.0),
    // The micro sign, and the Greek letter that looks the same.
    ("\u{b5}s", Unit::Microseconds, 1.0),
    ("\u{3bc}s", Unit::Microseconds, 1.0),
    ("ns", Unit::Nanoseconds, 1.0),
    ("s", Unit::Seconds, 1.0),
    ("%", Unit::Percent, 1.0),
    ("GHz", Unit::Megahertz, 1e3),
    ("MHz", Unit::Megahertz, 1.0),
    ("C", Unit::Celsius, 1.0),
    ("W", Unit::Watts, 1.0),
    ("ratio", Unit::Ratio, 1.0),
    ("", Unit::Count, 1.0),
];

/// A value with its unit; typed and serialised as text (`"250 MB/s"`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Quantity {
    /// The value in `unit`.
    pub value: f64,
    /// What the value counts.
    pub unit: Unit,
}

impl Quantity {
    /// A value in a unit.
    #[must_use]
    pub fn new(value: f64, unit: Unit) -> Self {
        Self { value, unit }
    }
}

impl fmt::Display for Quantity {
    /// Prints the shortest number that reads back to the same value, then the unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A ratio has a word of its own here, as a bare number reads back as a count.
        let word = if self.unit == Unit::Ratio { "ratio" } else { self.unit.symbol() };
        if word.is_empty() { write!(f, "{}", self.value) } else { write!(f, "{} {word}", self.value) }
    }
}

impl From<Quantity> for String {
    fn from(quantity: Quantity) -> Self {
        quantity.to_string()
    }
}

impl TryFrom<String> for Quantity {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Quantity {
    type Err = String;

    /// Reads `250 MB/s`, `35.2 GFLOPS`, `2 %`; binary prefixes (`MiB/s`) and bits (`Gb/s`) are converted, never confused.
    fn from_str(text: &str) -> Result<Self, String> {
        let (number, word) = split_number(text);
        let value: f64 = number.parse().map_err(|_| number_expected(text, "a number and a unit such as 250 MB/s"))?;
        if !value.is_finite() {
            return Err(format!("`{text}` is not a finite number"));
        }
        let found = SPELLINGS.iter().find(|(spelling, ..)| *spelling == word);
        let (_, unit, factor) = found.ok_or_else(|| {
            format!("`{word}` in `{text}` is no unit; expected one of MB/s, MiB/s, GFLOPS, IOPS, op/s, events/s, s, ms, us, ns, %")
        })?;
        Ok(Self { value: value * factor, unit: *unit })
    }
}

/// From which size on a unit is printed, what one of it is worth in the unit of the record, and its symbol. Decimal throughout.
type Scale = &'static [(f64, f64, &'static str)];

fn scale(unit: Unit) -> Scale {
    match unit {
        Unit::Bytes => &[(1e12, 1e12, "TB"), (1e9, 1e9, "GB"), (1e6, 1e6, "MB"), (1e3, 1e3, "kB"), (0.0, 1.0, "B")],
        Unit::MegabytesPerSecond => &[(1e6, 1e6, "TB/s"), (1e4, 1e3, "GB/s"), (0.1, 1.0, "MB/s"), (0.0, 1e-3, "kB/s")],
        Unit::Gflops => &[(1e4, 1e3, "TFLOPS"), (0.1, 1.0, "GFLOPS"), (0.0, 1e-3, "MFLOPS")],
        Unit::Seconds => &[(0.1, 1.0, "s"), (1e-3, 1e-3, "ms"), (0.0, 1e-6, "us")],
        Unit::Milliseconds => &[(1e4, 1e3, "s"), (1.0, 1.0, "ms"), (0.0, 1e-3, "us")],
        Unit::Microseconds => &[(1e6, 1e6, "s"), (1e3, 1e3, "ms"), (0.0, 1.0, "us")],
        Unit::Nanoseconds => &[(1e9, 1e9, "s"), (1e6, 1e6, "ms"), (1e4, 1e3, "us"), (0.0, 1.0, "ns")],
        Unit::Megahertz => &[(1e3, 1e3, "GHz"), (0.0, 1.0, "MHz")],
        Unit::Iops => &[(1e6, 1e6, "MIOPS"), (1e4, 1e3, "kIOPS"), (0.0, 1.0, "IOPS")],
        Unit::OpsPerSecond => &[(1e4, 1e3, "kop/s"), (0.0, 1.0, "op/s")],
        Unit::Count => &[(1e7, 1e6, "M"), (1e5, 1e3, "k"), (0.0, 1.0, "")],
        _ => &[],
    }
}

/// What a value of the size of `like` is divided by, and the symbol that then stands behind it.
#[must_use]
pub fn printed_in(unit: Unit, like: f64) -> (f64, &'static str) {
    let size = like.abs();
    // Zero is printed in the unit of the record, where the others of its kind are.
    let step = scale(unit).iter().find(|(from, ..)| size > 0.0 && size >= *from * 0.999_5);
    step.map_or((1.0, unit.symbol()), |(_, worth, symbol)| (*worth, *symbol))
}

/// A quantity for people: three significant digits and the prefix that keeps the number short.
///
/// `1.07 GB`, `104 MB/s`, `1.1 MB/s`, `13.2 kIOPS`, `450 us`, `2 %`.
#[must_use]
pub fn short(quantity: Quantity) -> String {
    let (worth, symbol) = printed_in(quantity.unit, quantity.value);
    let number = significant(quantity.value / worth);
    if symbol.is_empty() { number } else { format!("{number} {symbol}") }
}

/// Three significant digits, no trailing zeros behind the point, no exponent.
#[must_use]
pub fn significant(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.099_95 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Splits `250MB/s` or `250 MB/s` into the number and the word behind it.
pub(crate) fn split_number(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_'))).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// The message for a text that does not begin with a number; names full-width characters, which look right and are not.
pub(crate) fn number_expected(text: &str, expected: &str) -> String {
    match wide(text) {
        Some((_, what)) => format!("`{text}`: {what}"),
        None => format!("`{text}` is not {expected}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_converted_and_never_confused() {
        let read = |text: &str| text.parse::<Quantity>().unwrap();
        assert_eq!(read("250 MB/s"), Quantity::new(250.0, Unit::MegabytesPerSecond));
        assert_eq!(read("1.5 GB/s").value, 1500.0);
        assert!((read("100MiB/s").value - 104.857_6).abs() < 1e-9);
        assert_eq!(read("10 Gb/s").value, 1250.0);
        assert_eq!(read("1.2 TFLOPS"), Quantity::new(1200.0, Unit::Gflops));
        assert_eq!(read("16"), Quantity::new(16.0, Unit::Count));
        assert_eq!(read("2 %"), Quantity::new(2.0, Unit::Percent));
    }

    #[test]
    fn bad_quantities_say_what_was_expected() {
        assert!("250 XB/s".parse::<Quantity>().unwrap_err().contains("`XB/s`"));
        assert!("fast".parse::<Quantity>().unwrap_err().contains("is not a number"));
        assert!("２50 MB/s".parse::<Quantity>().unwrap_err().contains("full-width"));
    }

    #[test]
    fn people_read_three_digits_and_a_fitting_prefix() {
        let print = |value, unit| short(Quantity::new(value, unit));
        assert_eq!(print(1.073_741_824e9, Unit::Bytes), "1.07 GB");
        assert_eq!(print(104.3, Unit::MegabytesPerSecond), "104 MB/s");
        assert_eq!(print(1.1, Unit::MegabytesPerSecond), "1.1 MB/s");
        assert_eq!(print(1_250.0, Unit::MegabytesPerSecond), "1250 MB/s");
        assert_eq!(print(12_800.0, Unit::MegabytesPerSecond), "12.8 GB/s");
        assert_eq!(print(0.998, Unit::MegabytesPerSecond), "1 MB/s");
        assert_eq!(print(0.05, Unit::MegabytesPerSecond), "50 kB/s");
        assert_eq!(print(0.0, Unit::MegabytesPerSecond), "0 MB/s");
        assert_eq!(print(13_200.0, Unit::Iops), "13.2 kIOPS");
        assert_eq!(print(480.4, Unit::Milliseconds), "480 ms");
        assert_eq!(print(97.34, Unit::Nanoseconds), "97.3 ns");
        assert_eq!(print(12_300.0, Unit::Nanoseconds), "12.3 us");
        assert_eq!(print(3.04, Unit::Count), "3.04");
        assert_eq!(print(99.99, Unit::Percent), "100 %");
    }

    #[test]
    fn printed_quantities_read_back() {
        for value in [0.1, 104.857_6, 1e12, 3.0] {
            let quantity = Quantity::new(value, Unit::MegabytesPerSecond);
            assert_eq!(quantity.to_string().parse::<Quantity>().unwrap(), quantity);
            let ratio = Quantity::new(value, Unit::Ratio);
            assert_eq!(ratio.to_string().parse::<Quantity>().unwrap(), ratio);
        }
    }
}
