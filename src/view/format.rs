//! Figures, times and texts as they stand on a screen: short, measured in columns, and harmless.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::vocab::moment::Span;
use crate::vocab::text::neutral;
use crate::vocab::unit::{Quantity, Unit};

/// Stands at the end of a text that was cut.
const CUT: char = '~';

/// A unit as printed and what one of it is worth in the unit of the record; the largest that fits is taken.
type Scale = &'static [(f64, &'static str)];

fn scale(unit: Unit) -> Scale {
    match unit {
        Unit::Bytes => &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")],
        Unit::MegabytesPerSecond => &[(1e4, "GB/s"), (0.1, "MB/s"), (1e-4, "kB/s")],
        Unit::Gflops => &[(1e4, "TFLOPS"), (0.1, "GFLOPS"), (1e-4, "MFLOPS")],
        Unit::Seconds => &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us")],
        Unit::Milliseconds => &[(1e3, "s"), (1.0, "ms"), (1e-3, "us")],
        Unit::Microseconds => &[(1e6, "s"), (1e3, "ms"), (1.0, "us")],
        Unit::Megahertz => &[(1e3, "GHz"), (1.0, "MHz")],
        Unit::Iops => &[(1e4, "k IOPS"), (1.0, "IOPS")],
        Unit::OpsPerSecond => &[(1e4, "k op/s"), (1.0, "op/s")],
        Unit::EventsPerSecond => &[(1e4, "k events/s"), (1.0, "events/s")],
        Unit::PerSecond => &[(1e4, "k /s"), (1.0, "/s")],
        Unit::Percent => &[(1.0, "%")],
        Unit::Celsius => &[(1.0, "C")],
        Unit::Count | Unit::Ratio => &[(1e6, "M"), (1e4, "k"), (1.0, "")],
    }
}

/// What one of the printed unit is worth; the table's first column is the smallest value that is printed in it.
fn worth(from: f64, symbol: &str) -> f64 {
    match symbol {
        "GB/s" | "TFLOPS" | "k IOPS" | "k op/s" | "k events/s" | "k /s" | "k" => 1e3,
        "MB/s" | "GFLOPS" => 1.0,
        "kB/s" | "MFLOPS" => 1e-3,
        _ => from,
    }
}

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

/// A value in the words of its unit, short: `1.07 GB`, `104 MB/s`, `13.2k IOPS`, `58.1 GFLOPS`.
#[must_use]
pub fn quantity(value: f64, unit: Unit) -> String {
    let (digits, symbol) = scaled(value, value, unit);
    digits + &symbol
}

/// Two values of one row side by side, both in the unit of the larger, which only the second one names: `8` and `480 ms`.
#[must_use]
pub fn pair(first: f64, second: f64, unit: Unit) -> (String, String) {
    let larger = if first.abs() > second.abs() { first } else { second };
    let (digits, symbol) = scaled(second, larger, unit);
    let thousands = if symbol.starts_with('k') { "k" } else { "" };
    (scaled(first, larger, unit).0 + thousands, digits + &symbol)
}

/// The digits of a value in the printed unit that suits `like`, and what is printed behind them.
fn scaled(value: f64, like: f64, unit: Unit) -> (String, String) {
    let steps = scale(unit);
    let magnitude = like.abs();
    // Zero is printed in the unit of the record, where the others of its kind are.
    let own = steps.iter().find(|(from, symbol)| (worth(*from, symbol) - 1.0).abs() < 1e-12);
    let found = if magnitude == 0.0 { own } else { steps.iter().find(|(from, _)| magnitude >= *from) };
    let (from, symbol) = found.or(steps.last()).copied().unwrap_or((1.0, ""));
    let value = value / worth(from, symbol);
    let digits = if unit == Unit::Bytes { places(value, 2) } else { number(value) };
    let joined = symbol.is_empty() || symbol == "M" || symbol == "k" || symbol.starts_with("k ");
    (digits, if joined { symbol.to_owned() } else { format!(" {symbol}") })
}

/// The same of a quantity.
#[must_use]
pub fn of(quantity_: Quantity) -> String {
    quantity(quantity_.value, quantity_.unit)
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
    text.width()
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
            (13_240.0, Unit::Iops, "13.2k IOPS"),
            (4_400.0, Unit::Iops, "4400 IOPS"),
            (58.14, Unit::Gflops, "58.1 GFLOPS"),
            (83.0, Unit::Percent, "83 %"),
            (480.0, Unit::Milliseconds, "480 ms"),
            (1.07, Unit::MegabytesPerSecond, "1.1 MB/s"),
            (0.3, Unit::Milliseconds, "300 us"),
            (1500.0, Unit::Milliseconds, "1.5 s"),
            (12.3, Unit::Seconds, "12.3 s"),
            (2_400.0, Unit::Megahertz, "2.4 GHz"),
            (31.0, Unit::Ratio, "31"),
            (0.02, Unit::Ratio, "0.02"),
            (45_000.0, Unit::Count, "45k"),
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
        assert_eq!(words(400.0, 13_200.0, Unit::Iops), "0.4k | 13.2k IOPS");
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
