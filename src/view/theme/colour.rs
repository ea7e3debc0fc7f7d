//! Colours as a theme names them, and what is left of them on a terminal that shows fewer.

use super::Depth;

/// The names of the sixteen colours that every colour terminal has; its user chooses how they look.
const ANSI: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright-black",
    "bright-red",
    "bright-green",
    "bright-yellow",
    "bright-blue",
    "bright-magenta",
    "bright-cyan",
    "bright-white",
];

/// How xterm paints the sixteen; only used to find the nearest one.
const ANSI_RGB: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// The six levels of each channel in the 256-colour cube.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// A colour, by the way in which a terminal is told about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Colour {
    /// The terminal's own.
    #[default]
    None,
    /// One of the sixteen, 0 to 15.
    Ansi(u8),
    /// One of the 256.
    Indexed(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

impl Colour {
    /// Reads `#rrggbb`, one of the sixteen names, or `none`.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        if text == "none" {
            return Some(Self::None);
        }
        if let Some(index) = ANSI.iter().position(|name| *name == text) {
            return Some(Self::Ansi(index as u8));
        }
        let hex = text.strip_prefix('#').filter(|h| h.len() == 6 && h.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let channel = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).ok();
        Some(Self::Rgb(channel(0)?, channel(2)?, channel(4)?))
    }

    /// The nearest colour that a terminal of this depth shows.
    #[must_use]
    pub fn at(self, depth: Depth) -> Self {
        match (self, depth) {
            (_, Depth::None) => Self::None,
            (Self::Rgb(r, g, b), Depth::Indexed) => Self::Indexed(nearest_indexed((r, g, b))),
            (Self::Rgb(r, g, b), Depth::Sixteen) => Self::Ansi(nearest_ansi((r, g, b))),
            (Self::Indexed(i), Depth::Sixteen) => Self::Ansi(nearest_ansi(indexed_rgb(i))),
            (other, _) => other,
        }
    }
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> i32 {
    let part = |a: u8, b: u8, weight: i32| weight * (i32::from(a) - i32::from(b)).pow(2);
    // The eye weighs green most and blue least.
    part(a.0, b.0, 3) + part(a.1, b.1, 6) + part(a.2, b.2, 2)
}

fn nearest_ansi(rgb: (u8, u8, u8)) -> u8 {
    (0..16u8).min_by_key(|i| distance(ANSI_RGB[usize::from(*i)], rgb)).unwrap_or(7)
}

fn nearest_indexed(rgb: (u8, u8, u8)) -> u8 {
    // The first sixteen look different everywhere, so they are no candidates.
    (16..=255u8).min_by_key(|i| distance(indexed_rgb(*i), rgb)).unwrap_or(7)
}

/// How xterm paints one of the 256.
pub(super) fn indexed_rgb(index: u8) -> (u8, u8, u8) {
    match index {
        0..16 => ANSI_RGB[usize::from(index)],
        16..232 => {
            let place = usize::from(index - 16);
            (CUBE[place / 36], CUBE[place / 6 % 6], CUBE[place % 6])
        }
        _ => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_as_they_are_written() {
        assert_eq!(Colour::read("#88c0d0"), Some(Colour::Rgb(0x88, 0xc0, 0xd0)));
        assert_eq!(Colour::read("bright-red"), Some(Colour::Ansi(9)));
        assert_eq!(Colour::read("none"), Some(Colour::None));
        assert!(["#88c0d", "#88c0dg", "＃88c0d0", "Red", ""].iter().all(|t| Colour::read(t).is_none()));
    }

    #[test]
    fn every_depth_keeps_what_it_can() {
        let red = Colour::Rgb(250, 10, 10);
        assert_eq!(red.at(Depth::True), red);
        assert_eq!(red.at(Depth::Indexed), Colour::Indexed(196));
        assert_eq!(red.at(Depth::Sixteen), Colour::Ansi(9));
        assert_eq!(Colour::Indexed(196).at(Depth::Sixteen), Colour::Ansi(9));
        assert_eq!(red.at(Depth::None), Colour::None);
        assert_eq!(Colour::Ansi(3).at(Depth::Indexed), Colour::Ansi(3));
    }
}
