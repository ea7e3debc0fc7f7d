//! Facts from files: what they hold, or why they cannot be read.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::str::FromStr;

use crate::agent::host;
use crate::vocab::fact::Fact;
use crate::vocab::text::neutral;

/// What makers of boards leave in DMI fields that they did not fill in.
const PLACEHOLDERS: [&str; 22] = [
    "none",
    "null",
    "n/a",
    "na",
    "unknown",
    "empty",
    "default",
    "default string",
    "not specified",
    "not provided",
    "not applicable",
    "not available",
    "no dimm",
    "o.e.m.",
    "oem",
    "to be filled by o.e.m.",
    "to be filled by oem",
    "undefined",
    "system manufacturer",
    "system product name",
    "system serial number",
    "chassis serial number",
];

/// Why an attempt to read failed, as a fact.
pub(super) fn refusal<T>(error: &io::Error) -> Fact<T> {
    match error.kind() {
        ErrorKind::PermissionDenied => Fact::NeedsRoot,
        ErrorKind::NotFound | ErrorKind::NotADirectory => Fact::NotPresent,
        _ => {
            let text = error.to_string();
            Fact::Unreadable(neutral(text.split(" (os error").next().unwrap_or_default()))
        }
    }
}

/// A text that was read, unless nobody filled it in.
pub(super) fn of(read: io::Result<Option<String>>) -> Fact {
    match read {
        Ok(text) => text.map_or(Fact::NotPresent, filled),
        Err(error) => refusal(&error),
    }
}

/// A text, unless it only stands where nobody filled one in.
pub(super) fn filled(text: String) -> Fact {
    if is_placeholder(&text) { Fact::NotPresent } else { Fact::Is(text) }
}

/// The first line of a file.
pub(super) fn word(path: &Path) -> Fact {
    of(host::word(path))
}

/// The first line of a file, where any text is a value: `none` is a scheduler.
pub(super) fn setting(path: &Path) -> Fact {
    match host::word(path) {
        Ok(text) => text.map_or(Fact::NotPresent, Fact::Is),
        Err(error) => refusal(&error),
    }
}

/// The number in a file.
pub(super) fn number<T: FromStr>(path: &Path) -> Fact<T> {
    match setting(path) {
        Fact::Is(text) => match text.parse() {
            Ok(number) => Fact::Is(number),
            Err(_) => Fact::Unreadable(format!("`{text}` is no number")),
        },
        Fact::NeedsRoot => Fact::NeedsRoot,
        Fact::NotPresent => Fact::NotPresent,
        Fact::Unreadable(why) => Fact::Unreadable(why),
    }
}

/// The first that is known; else the reason why none is.
pub(super) fn first(root: &Path, paths: &[&str]) -> Fact {
    paths.iter().fold(Fact::NotPresent, |best, path| best.or_else(|| word(&root.join(path))))
}

/// The last part of what a link points at.
pub(super) fn link(path: &Path) -> Option<String> {
    Some(neutral(std::fs::read_link(path).ok()?.file_name()?.to_str()?))
}

fn is_placeholder(text: &str) -> bool {
    let text = text.to_lowercase();
    PLACEHOLDERS.contains(&text.as_str())
        || text.chars().all(|c| matches!(c, '0' | 'x' | '.' | '-' | '*' | '?' | ' '))
        || text.len() > 5 && "0123456789".contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn what_may_not_be_read_is_told_from_what_is_not_there() {
        let refused = |kind: ErrorKind| of(Err(kind.into()));
        assert_eq!(refused(ErrorKind::PermissionDenied), Fact::NeedsRoot);
        assert_eq!(refused(ErrorKind::NotFound), Fact::NotPresent);
        assert_eq!(of(Err(io::Error::from_raw_os_error(22))), Fact::Unreadable("Invalid argument".into()));
        for text in ["None", "Default string", "0000000", "123456789", ".", "To Be Filled By O.E.M."] {
            assert_eq!(filled(text.into()), Fact::NotPresent, "{text}");
        }
        assert_eq!(of(Ok(Some("7K2".into()))), Fact::Is("7K2".into()));
    }

    #[test]
    fn numbers_and_settings_come_from_files() {
        let root = fake::root(&[("a", "12\n"), ("b", "none\n"), ("c", "1 2\n"), ("d", "\n")]);
        let at = |name: &str| root.path().join(name);
        assert_eq!((number(&at("a")), number::<u32>(&at("e"))), (Fact::Is(12), Fact::NotPresent));
        assert_eq!(number::<u8>(&at("c")), Fact::Unreadable("`1 2` is no number".into()));
        assert_eq!((setting(&at("b")), word(&at("b"))), (Fact::Is("none".into()), Fact::NotPresent));
        assert_eq!(first(root.path(), &["x", "d", "a"]), Fact::Is("12".into()));
    }
}
