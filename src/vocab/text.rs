//! Text from outside, made safe for a terminal.

/// Replaces what could move the cursor or turn the text around (control, bidirectional and zero-width characters) by `?`.
#[must_use]
pub fn neutral(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) { '?' } else { c }).collect()
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_bytes_become_question_marks() {
        assert_eq!(neutral("vda\u{1b}[2J\u{202e}x 节点"), "vda?[2J?x 节点");
    }
}
