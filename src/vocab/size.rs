//! Sizes of blocks, files and matrices, as typed in a preset.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::unit::{number_expected, split_number};

const SUFFIXES: &[(&str, f64)] = &[
    ("TiB", 1_099_511_627_776.0),
    ("GiB", 1_073_741_824.0),
    ("MiB", 1_048_576.0),
    ("KiB", 1_024.0),
    ("TB", 1e12),
    ("GB", 1e9),
    ("MB", 1e6),
    ("kB", 1e3),
    ("B", 1.0),
    ("", 1.0),
];

/// A number of bytes; typed as `"1MiB"`, `"2.3KiB"`, `"1GB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ByteSize(pub u64);

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, suffix) = split_number(text);
        let value: f64 = number.parse().map_err(|_| number_expected(text, "a size such as 1MiB"))?;
        let found = SUFFIXES.iter().find(|(spelling, _)| *spelling == suffix);
        let (_, factor) = found
            .ok_or_else(|| format!("`{suffix}` in `{text}` is no size; expected KiB, MiB, GiB, kB, MB, GB or B"))?;
        let bytes = value * factor;
        if !(0.0..9e18).contains(&bytes) {
            return Err(format!("`{text}` is not between 0 and 9 EB"));
        }
        Ok(Self(bytes.round() as u64))
    }
}

impl fmt::Display for ByteSize {
    /// The largest binary unit that divides the size, else plain bytes, so that nothing is rounded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
        let fits = |(shift, _): &&(u32, &str)| self.0 > 0 && self.0.trailing_zeros() >= *shift;
        match binary.iter().find(fits) {
            Some((shift, suffix)) => write!(f, "{}{suffix}", self.0 >> shift),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl TryFrom<String> for ByteSize {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ByteSize> for String {
    fn from(size: ByteSize) -> Self {
        size.to_string()
    }
}

/// The size of the matrix of a LINPACK run: `Auto`, or the order n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// As large as 40 % of the available memory holds, at most 8000.
    #[default]
    Auto,
    /// n × n.
    N(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_and_print_without_loss() {
        assert_eq!("1MiB".parse::<ByteSize>().unwrap(), ByteSize(1 << 20));
        assert_eq!("2.3KiB".parse::<ByteSize>().unwrap(), ByteSize(2355));
        assert_eq!("1 GB".parse::<ByteSize>().unwrap(), ByteSize(1_000_000_000));
        assert_eq!(ByteSize(1 << 20).to_string(), "1MiB");
        assert_eq!(ByteSize(4096).to_string(), "4KiB");
        assert_eq!(ByteSize(2355).to_string(), "2355B");
        assert_eq!(ByteSize(0).to_string(), "0B");
    }

    #[test]
    fn bad_sizes_say_what_was_expected() {
        assert!("1MX".parse::<ByteSize>().unwrap_err().contains("`MX`"));
        assert!("-1MiB".parse::<ByteSize>().unwrap_err().contains("between"));
        assert!("１MiB".parse::<ByteSize>().unwrap_err().contains("full-width"));
    }
}
