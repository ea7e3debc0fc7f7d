//! Files that are compiled in, and overridden by one of the same name in a directory of the user's, or by a path.
//!
//! Presets and themes lie on such shelves. Nothing is ever written to them.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// A shelf of RON files.
#[derive(Clone, Copy, Debug)]
pub struct Shelf<'a> {
    /// What lies on it, in one word for messages: `preset`.
    pub kind: &'static str,
    /// What is compiled in: name and text.
    pub shipped: &'static [(&'static str, &'static str)],
    /// Where the user's own lie.
    pub directory: Option<&'a Path>,
}

/// A file from a shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    /// Its name, without the ending.
    pub name: String,
    /// Its path; none when it is compiled in.
    pub path: Option<PathBuf>,
    /// What is in it.
    pub text: String,
}

/// Why a file could not be taken from a shelf.
#[derive(Debug, Error)]
pub enum ShelfError {
    /// Nothing of that name.
    #[error("there is no {kind} `{name}`; there are: {known}")]
    Unknown {
        /// What was looked for.
        kind: &'static str,
        /// By which name.
        name: String,
        /// What there is.
        known: String,
    },
    /// It is there and cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

impl Book {
    /// What stands at the head of messages about it: its path, or its name.
    #[must_use]
    pub fn from(&self) -> String {
        self.path.as_ref().map_or_else(|| format!("{}.ron", self.name), |path| path.display().to_string())
    }
}

impl Shelf<'_> {
    /// All names, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.shipped.iter().map(|(name, _)| (*name).to_owned()).collect();
        for entry in self.directory.and_then(|d| std::fs::read_dir(d).ok()).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == "ron")
                && let Some(stem) = path.file_stem().and_then(|s| s.to_str())
            {
                names.push(stem.to_owned());
            }
        }
        names.sort();
        names.dedup();
        names
    }

    /// Takes a file by path (a name with `/` or ending in `.ron`), from the directory, or from what is compiled in.
    pub fn find(&self, name: &str) -> Result<Book, ShelfError> {
        let is_path = name.contains('/') || Path::new(name).extension().is_some_and(|e| e == "ron");
        let own =
            if is_path { Some(PathBuf::from(name)) } else { self.directory.map(|d| d.join(format!("{name}.ron"))) };
        if let Some(path) = own.filter(|path| is_path || path.exists()) {
            let text =
                std::fs::read_to_string(&path).map_err(|error| ShelfError::Read { path: path.clone(), error })?;
            let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or(self.kind).to_owned();
            return Ok(Book { name, path: Some(path), text });
        }
        match self.shipped.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Ok(Book { name: name.to_owned(), path: None, text: (*text).to_owned() }),
            None => Err(ShelfError::Unknown { kind: self.kind, name: name.to_owned(), known: self.names().join(", ") }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_comes_before_the_shipped_and_a_path_before_both() {
        let dir = tempfile::tempdir().unwrap();
        let shelf =
            Shelf { kind: "thing", shipped: &[("a", "shipped a"), ("b", "shipped b")], directory: Some(dir.path()) };
        std::fs::write(dir.path().join("a.ron"), "own a").unwrap();
        std::fs::write(dir.path().join("c.ron"), "own c").unwrap();
        assert_eq!(shelf.names(), ["a", "b", "c"]);
        assert_eq!(shelf.find("a").unwrap().text, "own a");
        assert_eq!(shelf.find("b").unwrap().from(), "b.ron");
        let path = dir.path().join("c.ron").display().to_string();
        assert_eq!(shelf.find(&path).unwrap().from(), path);
        assert_eq!(shelf.find("d").unwrap_err().to_string(), "there is no thing `d`; there are: a, b, c");
        assert!(shelf.find("nowhere/d").unwrap_err().to_string().starts_with("nowhere/d: "));
    }
}
