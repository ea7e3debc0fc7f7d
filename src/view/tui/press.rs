//! A key as it is pressed, and as it is written: `F5`, `Space`, `PgDn`, `Ctrl-L`.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The keys that have a name, by the one that is printed first.
const NAMED: &[(&str, KeyCode)] = &[
    ("Space", KeyCode::Char(' ')),
    ("Tab", KeyCode::Tab),
    ("S-Tab", KeyCode::BackTab),
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Backspace", KeyCode::Backspace),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PgUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
    ("Ins", KeyCode::Insert),
    ("Del", KeyCode::Delete),
];

/// What a terminal sends for a letter with Ctrl is for these the same byte as another key's.
const SAME: [(char, &str); 3] = [('i', "Tab"), ('j', "Enter"), ('m', "Enter")];

const EXPECTED: &str = "expected a character, Ctrl- and a letter, F1 to F12, or one of ";

/// A key, with or without Ctrl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Press {
    pub(super) code: KeyCode,
    pub(super) control: bool,
}

impl Press {
    /// What was pressed; none for keys with Alt, which mean nothing here.
    pub(super) fn of(event: KeyEvent) -> Option<Self> {
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        (!event.modifiers.contains(KeyModifiers::ALT)).then_some(Self { code: event.code, control })
    }

    /// Reads a key by its printed name.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if let Some(letter) = text.strip_prefix("Ctrl-").filter(|rest| !rest.is_empty()) {
            return Self::with_control(text, letter);
        }
        let number = text.strip_prefix('F').and_then(|n| n.parse().ok()).filter(|n| (1..=12).contains(n));
        let named = NAMED.iter().find(|(name, _)| *name == text).map(|(_, code)| *code);
        let mut characters = text.chars();
        let one = characters.next().filter(|c| characters.next().is_none() && !c.is_control() && !c.is_whitespace());
        let code = named.or(number.map(KeyCode::F)).or(one.map(KeyCode::Char)).ok_or_else(|| unknown(text))?;
        Ok(Self { code, control: false })
    }

    fn with_control(text: &str, letter: &str) -> Result<Self, String> {
        let mut characters = letter.chars().map(|c| c.to_ascii_lowercase());
        let one = characters.next().filter(|c| characters.next().is_none() && c.is_ascii_lowercase());
        let c = one.ok_or_else(|| unknown(text))?;
        if let Some((_, other)) = SAME.iter().find(|(same, _)| *same == c) {
            return Err(format!("a terminal sends `{text}` as {other}, expected another key"));
        }
        Ok(Self { code: KeyCode::Char(c), control: true })
    }

    pub(super) fn is_digit(self) -> bool {
        matches!(self.code, KeyCode::Char('1'..='9')) && !self.control
    }

    /// Whether it writes something where text is typed.
    pub(super) fn writes(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && !self.control
    }
}

impl std::fmt::Display for Press {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match (self.code, self.control) {
            (KeyCode::Char(c), true) => write!(f, "Ctrl-{}", c.to_ascii_uppercase()),
            (KeyCode::Char(c), false) => write!(f, "{c}"),
            (KeyCode::F(n), _) => write!(f, "F{n}"),
            (other, _) => write!(f, "{other:?}"),
        }
    }
}

fn unknown(text: &str) -> String {
    let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
    format!("`{text}` is no key, {EXPECTED}{}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_printed() {
        let names = ["F5", "F12", "Space", "S-Tab", "PgDn", "Ctrl-L", "Ctrl-Z", "x", "X", "?", "é", "风", ".", "-"];
        for name in names.into_iter().chain(NAMED.iter().map(|(name, _)| *name)) {
            assert_eq!(Press::read(name).unwrap().to_string(), name);
        }
        assert_eq!(Press::read("Ctrl-l"), Press::read("Ctrl-L"));
        assert_eq!(Press::read("F").unwrap().code, KeyCode::Char('F'));
        for name in
            ["", "F0", "F13", "f5", "Ctrl-", "Ctrl-1", "Ctrl-ab", "Ctrl-F5", "space", "xy", "\u{1b}", "\u{3000}"]
        {
            assert!(Press::read(name).unwrap_err().contains("is no key, expected"), "{name:?}");
        }
        assert!(Press::read("Ctrl-M").unwrap_err().contains("as Enter"));
    }

    #[test]
    fn a_key_with_alt_is_none() {
        assert_eq!(Press::of(KeyEvent::new(KeyCode::Char('x'), KeyModifiers::ALT)), None);
        let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(Press::of(control), Press::read("Ctrl-C").ok());
    }
}
