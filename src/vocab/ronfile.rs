//! RON from people: strict, and with errors that say where.

use ron::extensions::Extensions;
use ron::{Error, Options};
use serde::de::DeserializeOwned;

use super::text::wide;

/// Reads RON with `IMPLICIT_SOME` and unwrapped newtype variants (`Linpack(size: N(4000))`).
///
/// # Errors
/// `name:line:column: what is wrong, what was expected`; a full-width character there, which looks right and is not, is named.
pub fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, String> {
    let extensions = Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES;
    let options = Options::default().with_default_extension(extensions);
    options.from_str(text).map_err(|error| {
        let start = error.span.start;
        let (at, found) = found(text, start.line, start.col);
        let what = match wide(&found) {
            Some((_, what)) => what,
            None => words(&error.code, &found),
        };
        format!("{name}:{}: {what}", place(text, at))
    })
}

/// A fault that begins with the path of a field (`runs[1].name: what is wrong`), with the place of that field before it.
#[must_use]
pub fn locate(name: &str, text: &str, fault: &str) -> String {
    let path = fault.split(": ").next().unwrap_or_default();
    format!("{name}:{}: {fault}", place(text, offset(text, path)))
}

/// `line:column` of an offset.
fn place(text: &str, offset: usize) -> String {
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("{line}:{column}")
}

/// What a code of the parser means to the person who typed the text.
fn words(code: &Error, found: &str) -> String {
    let within = |outer: &Option<String>| outer.as_ref().map_or(String::new(), |outer| format!(" in `{outer}`"));
    match code {
        Error::Message(why) => why.clone(),
        Error::MissingStructField { field, outer } => format!("`{field}` is missing{}", within(outer)),
        Error::DuplicateStructField { field, outer } => format!("`{field}` stands twice{}", within(outer)),
        Error::NoSuchStructField { expected, found, outer } | Error::NoSuchEnumVariant { expected, found, outer } => {
            format!("there is no `{found}`{}; expected one of {}", within(outer), expected.join(", "))
        }
        Error::IntegerOutOfBounds => format!("{found} is below zero or too large"),
        Error::TrailingCharacters => format!("expected the end of the text, found {found}"),
        code => {
            let text = code.to_string();
            let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
            format!("{}{rest}, found {found}", first.to_lowercase())
        }
    }
}

/// What stands at a place, or behind the blanks there, and the offset of that.
fn found(text: &str, line: usize, column: usize) -> (usize, String) {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let in_line = text[before..].char_indices().nth(column.saturating_sub(1));
    let start = in_line.map_or(text.len(), |(i, _)| before + i);
    let start = if text[..start].ends_with('-') { start - 1 } else { start };
    let rest = text[start..].trim_start();
    let is_end = |(_, c): &(usize, char)| c.is_whitespace() || "()[]{},:".contains(*c);
    let end = rest.char_indices().skip(1).find(is_end).map_or(rest.len(), |(i, _)| i);
    let end = if rest.starts_with(['(', ')', '[', ']', '{', '}', ',', ':']) { 1 } else { end };
    match &rest[..end] {
        "" => (start, "the end of the text".to_owned()),
        word => (text.len() - rest.len(), format!("`{word}`")),
    }
}

/// Where the value at a path such as `runs[1].name` begins, as far as the path leads.
fn offset(text: &str, path: &str) -> usize {
    let tokens = tokens(text);
    let mut at = 0;
    for step in path.split(['.', '[']) {
        let inside = tokens.iter().skip(at).position(|(_, token)| ["(", "[", "{"].contains(token)).map(|i| at + i + 1);
        let Some(next) = inside.and_then(|inside| child(&tokens, inside, step.trim_end_matches(']'))) else { break };
        at = next;
    }
    tokens.get(at).map_or(0, |(offset, _)| *offset)
}

/// The first token of the field with this name, or of the element with this number, among what is inside a bracket.
fn child(tokens: &[(usize, &str)], inside: usize, step: &str) -> Option<usize> {
    let (mut depth, mut left) = (0_u32, step.parse::<usize>().ok());
    for (at, (_, token)) in tokens.iter().enumerate().skip(inside) {
        match *token {
            _ if depth == 0 && left == Some(0) => return Some(at),
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            "," if depth == 0 => left = left.and_then(|left| left.checked_sub(1)),
            name if depth == 0 && name == step && tokens.get(at + 1)?.1 == ":" => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// Words, texts and punctuation with their offsets; comments and blanks are left out.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            quoted(rest)
        } else if first.is_alphanumeric() {
            rest.find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() && !rest.starts_with("//") && !rest.starts_with("/*") {
            tokens.push((at, &rest[..length]));
        }
        at += length;
    }
    tokens
}

/// The length of a text in quotes at the beginning of `rest`.
fn quoted(rest: &str) -> usize {
    let mut escaped = true;
    let end = rest.char_indices().find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |(i, _)| i + 1)
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
    fn a_field_is_found_by_its_path() {
        let text = "( // runs: [\n  title: \"a ] \\\" runs: b\", runs: [ (name: \"r\", kernel: Stream()),\n    (kernel: Integer(limit: 1), name: \"s\") ],\n)";
        let place = |path: &str| locate("f", text, &format!("{path}: x"));
        assert_eq!(place("title"), "f:2:10: title: x");
        assert_eq!(place("runs"), "f:2:34: runs: x");
        assert_eq!(place("runs[0].name"), "f:2:43: runs[0].name: x");
        assert_eq!(place("runs[1].name"), "f:3:39: runs[1].name: x");
        assert_eq!(place("runs[1].seed"), "f:3:5: runs[1].seed: x", "as far as the path leads");
        assert_eq!(place("checks[0].of"), "f:1:1: checks[0].of: x");
    }

    #[test]
    fn full_width_punctuation_is_named() {
        let error = parse::<Plan>("p.ron", "(title： \"t\", runs: [])").unwrap_err();
        assert!(error.starts_with("p.ron:1:") && error.contains('：'), "{error}");
    }
}
