//! The cells of a row, and what stands in them: numbers, times, or nothing.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// What separates cells, the surest first: a text may have commas.
const SEPARATORS: [char; 3] = ['\t', ';', ','];

/// Follows the quotes of a row. A quote opens at the beginning of a cell alone; elsewhere it is a character like any other, as in a disk
/// of 2.5". Within a quoted cell two of them stand for one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quotes<'a> {
    separators: &'a [u8],
    open: bool,
    /// Nothing but blanks since the cell began.
    fresh: bool,
    /// The last byte closed the cell, unless another quote follows.
    closed: bool,
}

impl<'a> Quotes<'a> {
    pub(super) fn new(separators: &'a [u8]) -> Self {
        Self { separators, open: false, fresh: true, closed: false }
    }

    /// Of a table whose separator is not known.
    pub(super) fn of_any() -> Quotes<'static> {
        Quotes::new(b"\t;,")
    }

    /// Goes on by many bytes; gives whether a quoted cell goes on behind them.
    pub(super) fn opens(&mut self, bytes: &[u8]) -> bool {
        if self.open || bytes.contains(&b'"') {
            bytes.iter().for_each(|byte| _ = self.step(*byte));
        }
        self.open
    }

    /// Goes on by a byte; gives whether it is the separator of two cells.
    pub(super) fn step(&mut self, byte: u8) -> bool {
        let closed = std::mem::take(&mut self.closed);
        if byte == b'"' && (self.open || self.fresh || closed) {
            (self.closed, self.open, self.fresh) = (self.open, !self.open, false);
            return false;
        }
        let separates = !self.open && self.separators.contains(&byte);
        self.fresh = separates || self.fresh && byte.is_ascii_whitespace();
        separates
    }
}

/// The separator of a table by its first row: a tab where there is one, else a semicolon, else a comma.
#[must_use]
pub fn separator(row: &str) -> char {
    let has = |c: &char| {
        let separators = [*c as u8];
        let mut quotes = Quotes::new(&separators);
        row.bytes().any(|byte| quotes.step(byte))
    };
    SEPARATORS.into_iter().find(has).unwrap_or(',')
}

/// Where the cells of a row lie in it, blanks and quotes around them left out.
pub fn split(row: &str, separator: char, into: &mut Vec<Range<usize>>) {
    into.clear();
    let separators = [separator as u8];
    let (mut from, mut quotes) = (0, Quotes::new(&separators));
    for (at, byte) in row.bytes().enumerate() {
        if quotes.step(byte) {
            into.push(trimmed(row, from..at));
            from = at + 1;
        }
    }
    into.push(trimmed(row, from..row.len()));
}

fn trimmed(row: &str, range: Range<usize>) -> Range<usize> {
    let text = &row[range.clone()];
    let (front, back) = (text.trim_start(), text.trim_end());
    let mut start = range.start + (text.len() - front.len());
    let mut end = (range.start + back.len()).max(start);
    if end - start >= 2 && row[start..end].starts_with('"') && row[start..end].ends_with('"') {
        (start, end) = (start + 1, end - 1);
    }
    start..end
}

/// What stands in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A finite number.
    Number(f64),
    /// Nothing, or a word for it: `NaN`, `n/a`, `null`, `-`.
    Missing,
    /// Something else.
    Text(&'a str),
}

/// Words for a value that is not there.
const MISSING: &[&str] = &["", "-", "nan", "n/a", "na", "null", "none", "<nil>"];

/// Reads a cell.
#[must_use]
pub fn cell(text: &str) -> Cell<'_> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Cell::Number(number),
        Ok(number) if number.is_nan() => Cell::Missing,
        _ if MISSING.iter().any(|word| text.eq_ignore_ascii_case(word)) => Cell::Missing,
        _ => Cell::Text(text),
    }
}

/// Seconds since 1970 of a point in time such as `2026-01-31T12:00:00.5Z`; without an offset it is taken as UTC, of which only
/// differences are used.
#[must_use]
pub fn point_in_time(text: &str) -> Option<f64> {
    // What begins with four digits and a hyphen may be one; the rest need not be tried.
    text.as_bytes().get(4).filter(|byte| **byte == b'-')?;
    let stamp = text
        .parse::<Timestamp>()
        .or_else(|_| text.parse::<DateTime>().and_then(|civil| TimeZone::UTC.to_timestamp(civil)));
    stamp.ok().map(|stamp| stamp.as_microsecond() as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_split_at_their_separator_outside_quotes() {
        let cells = |row: &str| {
            let mut ranges = Vec::new();
            split(row, separator(row), &mut ranges);
            ranges.into_iter().map(|range| row[range].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(cells("a, b ,\"c,d\",\"\""), ["a", "b", "c,d", ""]);
        assert_eq!(cells("a;1,5;\"x;y\""), ["a", "1,5", "x;y"]);
        assert_eq!(cells("a\tb;c\t"), ["a", "b;c", ""]);
        assert_eq!(cells("\"a;b\",c"), ["a;b", "c"]);
        assert_eq!(cells("é,\" ü \",\"").len(), 3);
    }

    #[test]
    fn a_cell_is_a_number_nothing_or_text() {
        assert_eq!((cell("1e3"), cell("-0.5"), cell("+7")), (Cell::Number(1e3), Cell::Number(-0.5), Cell::Number(7.0)));
        assert!(["", "NaN", "-", "N/A", "null"].iter().all(|word| cell(word) == Cell::Missing));
        assert_eq!((cell("1,5"), cell("inf")), (Cell::Text("1,5"), Cell::Text("inf")));
    }

    #[test]
    fn points_in_time_are_seconds() {
        assert_eq!(point_in_time("1970-01-01T00:00:01.25Z"), Some(1.25));
        assert_eq!(point_in_time("1970-01-01T01:00:00+01:00"), Some(0.0));
        assert_eq!(point_in_time("1970-01-02 00:00:00"), Some(86_400.0));
        assert_eq!((point_in_time("12.5"), point_in_time("1970-13-01T00:00:00Z")), (None, None));
    }
}
