//! RON from people: strict, and with errors that say where.

use ron::Options;
use ron::extensions::Extensions;
use serde::de::DeserializeOwned;

/// Reads RON with `IMPLICIT_SOME` and unwrapped newtype variants (`Linpack(size: N(4000))`).
///
/// # Errors
/// `name:line:column: what is wrong`; a full-width character in that place, which looks right and is not, is named.
pub fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, String> {
    let extensions = Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES;
    let options = Options::default().with_default_extension(extensions);
    options.from_str(text).map_err(|error| {
        let start = error.span.start;
        let line = text.lines().nth(start.line.saturating_sub(1)).unwrap_or_default();
        let what = match line.chars().find(|c| looks_like_ascii(*c)) {
            Some(c) => format!("`{c}` is a full-width or curly character; type its ASCII form ({})", error.code),
            None => error.code.to_string(),
        };
        format!("{name}:{}:{}: {what}", start.line, start.col)
    })
}

/// Full-width forms, CJK punctuation and curly quotes: they look right on the screen and are not.
fn looks_like_ascii(c: char) -> bool {
    matches!(c, '\u{ff01}'..='\u{ff5e}' | '\u{3000}'..='\u{3003}' | '\u{2018}'..='\u{201f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::plan::Plan;

    #[test]
    fn errors_name_file_line_and_column() {
        let text = "(\n  title: \"t\",\n  runz: [],\n)";
        let error = parse::<Plan>("p.ron", text).unwrap_err();
        assert!(error.starts_with("p.ron:3:"), "{error}");
        assert!(error.contains("runz"), "{error}");
    }

    #[test]
    fn full_width_punctuation_is_named() {
        let error = parse::<Plan>("p.ron", "(title： \"t\", runs: [])").unwrap_err();
        assert!(error.starts_with("p.ron:1:") && error.contains('：'), "{error}");
    }
}
