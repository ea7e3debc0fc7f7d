//! Text from outside, made safe for a terminal.

/// Replaces what could move the cursor or turn the text around (control, bidirectional and zero-width characters) by `?`.
#[must_use]
pub fn neutral(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    text.chars().map(|c| if is_unsafe(c) { '?' } else { c }).collect()
}

/// Whether a text is printable ASCII alone, of which every byte is a column: nearly every text that a screen is made of.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' '..=b'~'))
}

/// `1 run`, `2 runs`.
#[must_use]
pub fn counted(number: usize, thing: &str) -> String {
    let many = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{many}")
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// What was meant by a full-width form, CJK punctuation or a curly quote, which look right on the screen and are not; none for another
/// character.
#[must_use]
pub fn ascii_form(c: char) -> Option<char> {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0),
        '\u{3000}' => Some(' '),
        '\u{3001}' => Some(','),
        '\u{3002}' => Some('.'),
        '\u{3003}' | '\u{201c}'..='\u{201f}' => Some('"'),
        '\u{2018}'..='\u{201b}' => Some('\''),
        _ => None,
    }
}

/// The first such character of a text: where it is, and what is wrong with it and what to type instead.
#[must_use]
pub fn wide(text: &str) -> Option<(usize, String)> {
    text.char_indices().find_map(|(at, c)| {
        let instead = match ascii_form(c)? {
            ' ' => "a plain blank".to_owned(),
            ascii => format!("`{ascii}`"),
        };
        Some((at, format!("`{c}` is a full-width or curly character; type {instead}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_ascii_and_is_not_is_named_with_what_to_type() {
        let forms: String = "，；：％≥１２．、。“‘".chars().filter_map(ascii_form).collect();
        assert_eq!(forms, ",;:%12.,.\"'");
        assert_eq!(wide("a，b"), Some((1, "`，` is a full-width or curly character; type `,`".to_owned())));
        assert_eq!(wide("a\u{3000}b").unwrap().1, "`\u{3000}` is a full-width or curly character; type a plain blank");
        assert_eq!(wide("a ≥ 节点"), None);
    }

    #[test]
    fn escape_bytes_become_question_marks() {
        assert_eq!(neutral("vda\u{1b}[2J\u{202e}x 节点"), "vda?[2J?x 节点");
    }
}
