//! Colour codes that old consoles understand. crossterm names even the sixteen colours as `38;5;n`, which a Linux console before
//! 3.16 and many a serial terminal take for blinking; here they become `30` to `37` and `90` to `97`.
//!
//! A frame is passed on whole when it is flushed, in one write, and not at all when it paints nothing.

use std::io::{self, Write};

const ESCAPE: u8 = 0x1b;

/// The cursor is hidden once, when the terminal is taken, and not again with every frame.
const HIDE: &[u8] = b"\x1b[?25l";

/// Passes frames on and rewrites the colour codes in them.
#[derive(Debug)]
pub(super) struct Classic<W> {
    inner: W,
    /// A control sequence that has not ended yet.
    held: Vec<u8>,
    /// What was written since the last flush.
    frame: Vec<u8>,
    /// Whether any of that is more than a rendition.
    paints: bool,
}

impl<W: Write> Classic<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, held: Vec::new(), frame: Vec::new(), paints: false }
    }
}

impl<W: Write> Write for Classic<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            if self.held.is_empty() && *byte != ESCAPE {
                self.frame.push(*byte);
                self.paints = true;
                continue;
            }
            self.held.push(*byte);
            let ended = match self.held.len() {
                1 => false,
                2 => *byte != b'[',
                _ => (0x40..=0x7e).contains(byte),
            };
            if ended {
                if self.held != HIDE {
                    self.paints |= *byte != b'm';
                    self.frame.extend(rewritten(&self.held));
                }
                self.held.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.paints {
            self.inner.write_all(&self.frame)?;
        }
        self.frame.clear();
        self.paints = false;
        self.inner.flush()
    }
}

/// A whole control sequence as it is passed on.
fn rewritten(sequence: &[u8]) -> Vec<u8> {
    let body = sequence.strip_prefix(b"\x1b[").and_then(|s| s.strip_suffix(b"m"));
    let Some(body) = body.and_then(|b| std::str::from_utf8(b).ok()) else { return sequence.to_vec() };
    let mut codes = body.split(';');
    let mut kept: Vec<String> = Vec::new();
    while let Some(code) = codes.next() {
        match code {
            "38" | "48" => kept.push(colour(code, &mut codes)),
            // The colour of underlines, which is never set here.
            "59" => {}
            other => kept.push(other.to_owned()),
        }
    }
    if kept.is_empty() { Vec::new() } else { format!("\x1b[{}m", kept.join(";")).into_bytes() }
}

fn colour<'a>(code: &str, rest: &mut impl Iterator<Item = &'a str>) -> String {
    let kind = rest.next().unwrap_or_default();
    if kind != "5" {
        let channels: Vec<&str> = rest.take(3).collect();
        return format!("{code};{kind};{}", channels.join(";"));
    }
    let number = rest.next().unwrap_or_default();
    let background = if code == "48" { 10 } else { 0 };
    match number.parse::<u8>() {
        Ok(n @ 0..8) => (30 + background + n).to_string(),
        Ok(n @ 8..16) => (82 + background + n).to_string(),
        _ => format!("{code};5;{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sixteen_become_classic_and_the_rest_stays() {
        let mut out = Classic::new(Vec::new());
        for piece in [
            "a\u{1b}[38;",
            "5;1",
            ";48;5;9m",
            "b\u{1b}[38;5;196mc\u{1b}[48;2;1;2;3md\u{1b}[59m\u{1b}[0;1m\u{1b}[2Je\u{1b}7",
        ] {
            write!(out, "{piece}").unwrap();
        }
        assert!(out.inner.is_empty());
        out.flush().unwrap();
        let text = String::from_utf8(out.inner).unwrap();
        assert_eq!(text, "a\u{1b}[31;101mb\u{1b}[38;5;196mc\u{1b}[48;2;1;2;3md\u{1b}[0;1m\u{1b}[2Je\u{1b}7");
    }

    #[test]
    fn a_frame_that_paints_nothing_is_not_passed_on() {
        let mut out = Classic::new(Vec::new());
        for frame in ["\u{1b}[39m\u{1b}[49m\u{1b}[59m\u{1b}[0m", "\u{1b}[?25l", ""] {
            write!(out, "{frame}").unwrap();
            out.flush().unwrap();
        }
        assert!(out.inner.is_empty(), "{:?}", out.inner);
        write!(out, "\u{1b}[2J").unwrap();
        out.flush().unwrap();
        assert_eq!(out.inner, b"\x1b[2J");
    }
}
