//! Aligned lines for 80 columns, in ASCII whatever they are told.

use std::fmt::Display;

use crate::view::format::quantity;
use crate::vocab::fact::Fact;
use crate::vocab::text::neutral;
use crate::vocab::unit::Unit;

const WIDTH: usize = 80;

/// Where values begin.
const INDENT: usize = 17;

/// The text so far.
#[derive(Default)]
pub(super) struct Page {
    pub(super) text: String,
}

impl Page {
    /// Begins a group.
    pub(super) fn group(&mut self, name: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(name);
        self.text.push('\n');
    }

    /// Pieces behind a name, as many in a line as fit; a piece longer than a line is broken at its blanks. Nothing to say makes no
    /// line.
    pub(super) fn line(&mut self, name: &str, pieces: impl IntoIterator<Item = String>) {
        let mut line = format!("  {:<width$} ", ascii(name), width = INDENT - 3);
        let mut column = line.len();
        let (mut filled, mut first) = (false, true);
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            let piece = ascii(&piece);
            for (position, word) in words(&piece).into_iter().enumerate() {
                let between = match (first, position) {
                    (true, _) => "",
                    (false, 0) => ", ",
                    (false, _) => " ",
                };
                if filled && column + between.len() + word.len() > WIDTH {
                    line.push_str(between.trim_end());
                    line.push('\n');
                    line.push_str(&" ".repeat(INDENT));
                    column = INDENT;
                } else {
                    line.push_str(between);
                    column += between.len();
                }
                line.push_str(word);
                column += word.len();
                (filled, first) = (true, false);
            }
        }
        if !first {
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    /// Names with their values, two in a line where both are short.
    pub(super) fn pairs<'a>(&mut self, pairs: impl IntoIterator<Item = (&'a String, &'a String)>) {
        const HALF: usize = WIDTH / 2;
        let mut left: Option<String> = None;
        for (name, value) in pairs {
            let cell = format!("  {:<width$} {}", ascii(name), ascii(value), width = INDENT - 3);
            let long = cell.len() >= HALF;
            match left.take() {
                Some(first) if long => self.text.push_str(&format!("{first}\n")),
                Some(first) => self.text.push_str(&format!("{first:<HALF$}{cell}\n")),
                None if !long => left = Some(cell),
                None => {}
            }
            if long {
                self.line(name, [value.clone()]);
            }
        }
        if let Some(last) = left {
            self.text.push_str(&format!("{last}\n"));
        }
    }
}

/// A piece stays whole where it fits in a line.
fn words(piece: &str) -> Vec<&str> {
    if piece.len() < WIDTH - INDENT { vec![piece] } else { piece.split_ascii_whitespace().collect() }
}

fn ascii(text: &str) -> String {
    neutral(text).chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
}

pub(super) fn bytes(bytes: u64) -> String {
    quantity(bytes as f64, Unit::Bytes)
}

/// Sizes that are powers of two by nature: memory, caches, sectors.
pub(super) fn binary(bytes: u64) -> String {
    let steps = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match steps.iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) => {
            let value = bytes as f64 / (1_u64 << shift) as f64;
            let value = format!("{value:.1}");
            format!("{} {unit}", value.trim_end_matches(".0"))
        }
        None => format!("{bytes} B"),
    }
}

/// What is not known, with one reason for several: `serial, UUID need root; firmware not present`.
pub(super) fn gaps(facts: &[(&str, &str)]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in facts.iter().filter(|(_, reason)| !reason.is_empty()) {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    reasons.iter().map(|(reason, names)| format!("{}: {reason}", names.join(", "))).collect::<Vec<_>>().join("; ")
}

pub(super) fn told<T: Display>(prefix: &str, fact: &Fact<T>) -> String {
    fact.known().map(|value| format!("{prefix}{value}")).unwrap_or_default()
}
