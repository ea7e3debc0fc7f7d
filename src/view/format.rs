//! Figures, times and texts as they stand on a screen: short, measured in columns, and harmless.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::vocab::moment::Span;
use crate::vocab::text::{is_plain, neutral};
use crate::vocab::unit::{Unit, printed_in};

/// Stands at the end of a text that was cut.
const CUT: char = '~';

/// As many digits as matter in a live figure: `0.42`, `1.1`, `58.1`, `104`, `12800`.
#[must_use]
pub fn number(value: f64) -> String {
    places(value, if value.abs() >= 0.995 { 1 } else { 2 })
}

/// So many places behind the point, fewer where the figure is large, and no zeros at their end.
fn places(value: f64, most: usize) -> String {
    let places = match value.abs() {
        m if m == 0.0 || m >= 99.95 => 0,
        m if m >= 9.995 => most.min(1),
        _ => most,
    };
    let text = format!("{value:.places$}");
    let trimmed = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
}

/// A value in the words of its unit, short: `1.07 GB`, `104 MB/s`, `13.2 kIOPS`, `58.1 GFLOPS`.
#[must_use]
pub fn quantity(value: f64, unit: Unit) -> String {
    let (worth, symbol) = printed_in(unit, value);
    joined(&digits(value / worth, unit), symbol)
}

/// Two values of one row side by side, both in the unit of the larger, which only the second one names: `8` and `480 ms`.
#[must_use]
pub fn pair(first: f64, second: f64, unit: Unit) -> (String, String) {
    let (worth, symbol) = printed_in(unit, if first.abs() > second.abs() { first } else { second });
    (digits(first / worth, unit), joined(&digits(second / worth, unit), symbol))
}

fn digits(value: f64, unit: Unit) -> String {
    if unit == Unit::Bytes { places(value, 2) } else { number(value) }
}

fn joined(digits: &str, symbol: &str) -> String {
    if symbol.is_empty() { digits.to_owned() } else { format!("{digits} {symbol}") }
}

/// The time since a beginning, as on a stopwatch: `00:07`, `12:03`, `1:02:03`.
#[must_use]
pub fn stopwatch(span: Span) -> String {
    let seconds = span.0 / 1_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes:02}:{seconds:02}") }
}

/// The wall clock so long after an RFC 3339 beginning; none when that cannot be read.
#[must_use]
pub fn wall(started: &str, passed: Span, zone: &TimeZone) -> Option<DateTime> {
    let started: Timestamp = started.parse().ok()?;
    let passed = SignedDuration::from_micros(i64::try_from(passed.0).ok()?);
    Some(zone.to_datetime(started.checked_add(passed).ok()?))
}

/// How many columns a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    if is_plain(text) { text.len() } else { text.width() }
}

/// A text from anywhere, made harmless and cut to so many columns; a cut is marked.
#[must_use]
pub fn cut(text: &str, columns: usize) -> String {
    let text = neutral(text);
    if width(&text) <= columns {
        return text;
    }
    let mut taken = 0;
    let mut kept = String::new();
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if taken + wide + 1 > columns {
            break;
        }
        taken += wide;
        kept.push(c);
    }
    if columns > 0 {
        kept.push(CUT);
    }
    kept
}

/// A text cut and filled with spaces on its right.
#[must_use]
pub fn left(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let missing = columns.saturating_sub(width(&text));
    text + &" ".repeat(missing)
}

/// A text cut and filled with spaces on its left.
#[must_use]
pub fn right(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    " ".repeat(columns.saturating_sub(width(&text))) + &text
}

/// A text broken into lines of so many columns, between words where it can be.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in neutral(text).split(' ').filter(|w| !w.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, columns)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let cases = [
            (1_070_000_000.0, Unit::Bytes, "1.07 GB"),
            (0.0, Unit::Bytes, "0 B"),
            (512.0, Unit::Bytes, "512 B"),
            (104.3, Unit::MegabytesPerSecond, "104 MB/s"),
            (1.1, Unit::MegabytesPerSecond, "1.1 MB/s"),
            (0.042, Unit::MegabytesPerSecond, "42 kB/s"),
            (0.0, Unit::MegabytesPerSecond, "0 MB/s"),
            (2700.0, Unit::MegabytesPerSecond, "2700 MB/s"),
            (12_800.0, Unit::MegabytesPerSecond, "12.8 GB/s"),
            (13_240.0, Unit::Iops, "13.2 kIOPS"),
            (4_400.0, Unit::Iops, "4400 IOPS"),
            (58.14, Unit::Gflops, "58.1 GFLOPS"),
            (83.0, Unit::Percent, "83 %"),
            (480.0, Unit::Milliseconds, "480 ms"),
            (1.07, Unit::MegabytesPerSecond, "1.1 MB/s"),
            (0.3, Unit::Milliseconds, "300 us"),
            (15_000.0, Unit::Milliseconds, "15 s"),
            (12.3, Unit::Seconds, "12.3 s"),
            (2_400.0, Unit::Megahertz, "2.4 GHz"),
            (31.0, Unit::Ratio, "31"),
            (0.02, Unit::Ratio, "0.02"),
            (450_000.0, Unit::Count, "450 k"),
            (-1.5, Unit::Percent, "-1.5 %"),
        ];
        for (value, unit, expected) in cases {
            assert_eq!(quantity(value, unit), expected);
        }
    }

    #[test]
    fn a_pair_has_one_unit() {
        let words = |a, b, unit| {
            let (a, b) = pair(a, b, unit);
            format!("{a} | {b}")
        };
        assert_eq!(words(0.3, 480.0, Unit::Milliseconds), "0.3 | 480 ms");
        assert_eq!(words(104.0, 1.1, Unit::MegabytesPerSecond), "104 | 1.1 MB/s");
        assert_eq!(words(400.0, 13_200.0, Unit::Iops), "0.4 | 13.2 kIOPS");
        assert_eq!(words(0.0, 0.0, Unit::Bytes), "0 | 0 B");
    }

    #[test]
    fn times_as_on_a_stopwatch_and_on_the_wall() {
        assert_eq!(stopwatch(Span::seconds(184)), "03:04");
        assert_eq!(stopwatch(Span::seconds(3_723)), "1:02:03");
        let at = wall("2026-03-01T11:29:03Z", Span::seconds(184), &TimeZone::UTC).unwrap();
        assert_eq!(at.strftime("%H:%M:%S").to_string(), "11:32:07");
        assert!(wall("yesterday", Span::ZERO, &TimeZone::UTC).is_none());
    }

    #[test]
    fn texts_are_measured_cut_and_made_harmless() {
        assert_eq!(cut("disk-random-write", 8), "disk-ra~");
        assert_eq!(cut("节点七", 5), "节点~");
        assert_eq!(cut("节点七", 4), "节~");
        assert_eq!(left("节点", 6), "节点  ");
        assert_eq!(right("8", 3), "  8");
        assert_eq!(cut("a\u{1b}[2J", 9), "a?[2J");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
    }
}
