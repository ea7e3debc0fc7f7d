//! What a terminal can show, by what its environment says of it. Pure: the environment is an argument.

/// How many colours may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None at all: the mono theme.
    None,
    /// The sixteen.
    Sixteen,
    /// The 256 of xterm.
    Indexed,
    /// 24 bits.
    True,
}

/// Which characters may be used to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// Braille dots, blocks and lines: eight dots a cell.
    Braille,
    /// Blocks and lines: for fonts without braille.
    Block,
    /// ASCII alone: serial consoles, and locales that are not UTF-8.
    Ascii,
}

/// Chooses by `NO_COLOR`, `COLORTERM`, `TERM` and the locale; `env` gives a variable's value.
#[must_use]
pub fn choose(env: impl Fn(&str) -> Option<String>) -> (Depth, Glyphs) {
    let value = |name: &str| env(name).filter(|v| !v.is_empty());
    let term = value("TERM").unwrap_or_else(|| "dumb".to_owned());
    if plain(&term) {
        return (Depth::None, Glyphs::Ascii);
    }
    let depth = if value("NO_COLOR").is_some() { Depth::None } else { depth(&term, value("COLORTERM").as_deref()) };
    // As setlocale(3) looks for it: the first of the three that is set decides.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| value(name)).unwrap_or_default();
    let utf8 = ["utf-8", "utf8"].iter().any(|u| locale.to_ascii_lowercase().contains(u));
    // The Linux console has a font of 256 or 512 glyphs, without braille and half of the blocks.
    (depth, if utf8 && term != "linux" { Glyphs::Braille } else { Glyphs::Ascii })
}

/// Whether a terminal of this environment reports the mouse. GNU screen passes on what its own terminal reports, or nothing; tmux,
/// which calls itself screen as well, always does.
#[must_use]
pub fn has_mouse(env: impl Fn(&str) -> Option<String>) -> bool {
    let value = |name: &str| env(name).filter(|v| !v.is_empty());
    let term = value("TERM").unwrap_or_else(|| "dumb".to_owned());
    let multiplexed = term.starts_with("screen") && value("TMUX").is_none();
    !(plain(&term) || term == "linux" || multiplexed)
}

fn plain(term: &str) -> bool {
    ["dumb", "unknown", "ansi-m"].contains(&term)
        || ["vt1", "vt2", "vt3", "vt4", "vt5"].iter().any(|vt| term.starts_with(vt))
}

fn depth(term: &str, colorterm: Option<&str>) -> Depth {
    if term == "linux" {
        return Depth::Sixteen;
    }
    match colorterm {
        Some("truecolor" | "24bit") => Depth::True,
        _ if term.contains("direct") => Depth::True,
        _ if term.contains("256") => Depth::Indexed,
        _ => Depth::Sixteen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(vars: &[(&str, &str)]) -> (Depth, Glyphs) {
        choose(|name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
    }

    #[test]
    fn old_consoles_are_not_asked_for_a_mouse() {
        let mouse = |vars: &[(&str, &str)]| {
            has_mouse(|name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
        };
        for term in ["linux", "vt100", "vt220", "vt320", "dumb", "unknown", "screen", "screen-256color", ""] {
            assert!(!mouse(&[("TERM", term)]), "{term}");
        }
        for term in ["xterm", "xterm-256color", "tmux-256color", "foot", "alacritty", "rxvt-unicode"] {
            assert!(mouse(&[("TERM", term)]), "{term}");
        }
        assert!(mouse(&[("TERM", "screen"), ("TMUX", "/tmp/tmux-0/default,1,0")]));
        assert!(!mouse(&[]));
    }

    #[test]
    fn terminals_get_what_they_can_show() {
        let utf8 = ("LANG", "C.UTF-8");
        let cases = [
            (vec![("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), utf8], (Depth::True, Glyphs::Braille)),
            (vec![("TERM", "xterm-256color"), utf8], (Depth::Indexed, Glyphs::Braille)),
            (vec![("TERM", "xterm"), utf8], (Depth::Sixteen, Glyphs::Braille)),
            (vec![("TERM", "linux"), ("COLORTERM", "truecolor"), utf8], (Depth::Sixteen, Glyphs::Ascii)),
            (vec![("TERM", "vt100"), utf8], (Depth::None, Glyphs::Ascii)),
            (vec![("TERM", "vt220"), ("COLORTERM", "truecolor"), utf8], (Depth::None, Glyphs::Ascii)),
            (vec![("TERM", "dumb"), utf8], (Depth::None, Glyphs::Ascii)),
            (vec![utf8], (Depth::None, Glyphs::Ascii)),
            (vec![("TERM", "xterm"), ("LC_ALL", "C"), utf8], (Depth::Sixteen, Glyphs::Ascii)),
            (vec![("TERM", "xterm"), ("LC_CTYPE", "en_GB.utf8"), ("LANG", "C")], (Depth::Sixteen, Glyphs::Braille)),
            (vec![("TERM", "xterm")], (Depth::Sixteen, Glyphs::Ascii)),
            (vec![("TERM", "xterm"), ("NO_COLOR", "1"), utf8], (Depth::None, Glyphs::Braille)),
            (vec![("TERM", "xterm"), ("NO_COLOR", ""), utf8], (Depth::Sixteen, Glyphs::Braille)),
        ];
        for (vars, expected) in cases {
            assert_eq!(of(&vars), expected, "{vars:?}");
        }
    }
}
