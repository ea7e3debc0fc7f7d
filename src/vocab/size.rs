//! Sizes of blocks, files and matrices, as typed in a preset.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::unit::{number_expected, split_number};

pub(super) const SUFFIXES: &[(&str, f64)] = &[
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
    /// The largest unit of this list that divides the size, else plain bytes, so that nothing is rounded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units: [(u64, &str); 5] =
            [(1 << 40, "TiB"), (1 << 30, "GiB"), (1_000_000_000, "GB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match units.iter().find(|(unit, _)| self.0 > 0 && self.0.is_multiple_of(*unit)) {
            Some((unit, suffix)) => write!(f, "{}{suffix}", self.0 / unit),
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

/// The size of a file: bytes, or a multiple of something that only the node knows; typed as `"32GiB"`, `"4xCache"`, `"2xMemory"`.
/// It reads as a number of bytes, which is 0 for a multiple until the node has put in what it is a multiple of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FileSize {
    bytes: ByteSize,
    times: Option<(f64, Measure)>,
}

/// What the size of a file can be a multiple of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The cache of the node's disk controllers.
    Cache,
    /// The memory of the node, all of which can become page cache.
    Memory,
}

impl FileSize {
    /// The multiple that it is, until it is known in bytes.
    #[must_use]
    pub fn times(&self) -> Option<(f64, Measure)> {
        self.times
    }

    /// The same number of times so many bytes.
    #[must_use]
    pub fn of(&self, bytes: u64) -> Self {
        let times = self.times.map_or(1.0, |(times, _)| times);
        Self::from(ByteSize((times * bytes as f64).min(9e18) as u64))
    }
}

impl std::ops::Deref for FileSize {
    type Target = ByteSize;
    fn deref(&self) -> &ByteSize {
        &self.bytes
    }
}

impl From<ByteSize> for FileSize {
    fn from(bytes: ByteSize) -> Self {
        Self { bytes, times: None }
    }
}

impl FromStr for FileSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((number, of)) = text.split_once('x') else { return text.parse::<ByteSize>().map(Self::from) };
        let of = match of {
            "Cache" => Measure::Cache,
            "Memory" => Measure::Memory,
            _ => return Err(format!("`x{of}` in `{text}` is no multiple; expected one such as 4xCache or 2xMemory")),
        };
        let times: f64 = number.parse().map_err(|_| number_expected(text, "a multiple such as 4xCache"))?;
        if !(0.01..=1000.0).contains(&times) {
            return Err(format!("`{text}` is not between 0.01 and 1000 times"));
        }
        Ok(Self { bytes: ByteSize(0), times: Some((times, of)) })
    }
}

impl fmt::Display for FileSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.times {
            Some((times, of)) => write!(f, "{times}x{of:?}"),
            None => self.bytes.fmt(f),
        }
    }
}

impl TryFrom<String> for FileSize {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<FileSize> for String {
    fn from(size: FileSize) -> Self {
        size.to_string()
    }
}

/// The size of the matrices of a LINPACK or GEMM run: `Auto`, or the order n.
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
        assert_eq!(ByteSize(340_000_000_000).to_string(), "340GB");
        assert_eq!(ByteSize(0).to_string(), "0B");
    }

    #[test]
    fn multiples_are_known_in_bytes_only_once_the_node_is_asked() {
        let size: FileSize = "4xCache".parse().unwrap();
        assert_eq!((size.times(), size.0, size.to_string()), (Some((4.0, Measure::Cache)), 0, "4xCache".to_owned()));
        let known = size.of(512 << 20);
        assert_eq!((known.times(), known.0, known.to_string()), (None, 2 << 30, "2GiB".to_owned()));
        assert_eq!("1.5xMemory".parse::<FileSize>().unwrap().of(1000).0, 1500);
        assert_eq!("3MiB".parse::<FileSize>().unwrap(), FileSize::from(ByteSize(3 << 20)));
        for (wrong, word) in
            [("4xCash", "`xCash`"), ("0xCache", "between"), ("xCache", "multiple"), ("4Cache", "`Cache`")]
        {
            assert!(wrong.parse::<FileSize>().unwrap_err().contains(word), "{wrong}");
        }
    }

    #[test]
    fn bad_sizes_say_what_was_expected() {
        assert!("1MX".parse::<ByteSize>().unwrap_err().contains("`MX`"));
        assert!("-1MiB".parse::<ByteSize>().unwrap_err().contains("between"));
        assert!("１MiB".parse::<ByteSize>().unwrap_err().contains("full-width"));
    }
}
