//! Reads a session file back, line by line; a torn or damaged line is told and skipped, never fatal.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::vocab::event::{Event, Opening, Record};
use crate::vocab::line::{self, LineError};
use crate::vocab::node::FORMAT;

/// The longest record is an opening whose plan holds the figures of other machines, some megabytes; a file without newlines is no
/// session, and is not read into memory as a whole.
const LONGEST: u64 = 16 << 20;

/// Why a session cannot be read at all.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ReadError {
    /// No such file, or it may not be read.
    #[error("{0}")]
    Open(String),
    /// Not written by this program, or its first line is lost.
    #[error("{path} is no session: {why}")]
    NoSession {
        /// The file.
        path: String,
        /// What is wrong with its first line.
        why: String,
    },
    /// Written by a later version.
    #[error("{path} has record format {found}, this version reads up to {FORMAT}: use a newer shakedown")]
    Newer {
        /// The file.
        path: String,
        /// Its format.
        found: u64,
    },
}

/// One line of a session file.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A whole record.
    Record(Box<Record>),
    /// Line number, from 1, and what is the matter with it.
    Damaged(u64, LineError),
}

/// A session file being read.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    lines: BufReader<File>,
    opening: Option<Box<Record>>,
    number: u64,
    rest: Vec<u8>,
    following: bool,
}

impl Reader {
    /// Opens a session and checks that it is one that this version reads.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let shown = path.display().to_string();
        let file = File::open(path).map_err(|e| ReadError::Open(format!("{shown}: {e}")))?;
        let mut reader = Self {
            path: path.to_owned(),
            lines: BufReader::with_capacity(1 << 16, file),
            opening: None,
            number: 0,
            rest: Vec::new(),
            following: false,
        };
        let no_session = |why: String| ReadError::NoSession { path: shown.clone(), why };
        let first = reader.line().unwrap_or_else(|| Ok(Vec::new()));
        let first = first.map_err(|error| no_session(format!("line 1 is {error}")))?;
        check_format(&first, &shown)?;
        match line::decode(&first) {
            Ok(record) if matches!(record.event, Event::SessionOpened(_)) => reader.opening = Some(Box::new(record)),
            Ok(_) => return Err(no_session("it does not begin with the opening of a session".to_owned())),
            Err(error) => return Err(no_session(format!("line 1 is {error}"))),
        }
        Ok(reader)
    }

    /// From here on a line without its end is kept back, since somebody may still be writing it.
    #[must_use]
    pub fn following(mut self) -> Self {
        self.following = true;
        self
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How the session began.
    #[must_use]
    pub fn opening(&self) -> Option<&Opening> {
        match &self.opening.as_ref()?.event {
            Event::SessionOpened(opening) => Some(opening),
            _ => None,
        }
    }

    fn line(&mut self) -> Option<Result<Vec<u8>, LineError>> {
        // A line that cannot be read ends the session here, as a cut does.
        let room = (LONGEST + 1).saturating_sub(self.rest.len() as u64);
        let read = (&mut self.lines).take(room).read_until(b'\n', &mut self.rest).unwrap_or(0);
        if self.rest.len() as u64 > LONGEST {
            self.number += 1;
            if self.rest.pop() != Some(b'\n') {
                let _ = self.lines.skip_until(b'\n');
            }
            self.rest = Vec::new();
            return Some(Err(LineError::Long(LONGEST)));
        }
        if (read == 0 && self.rest.is_empty()) || (self.following && !self.rest.ends_with(b"\n")) {
            return None;
        }
        self.number += 1;
        Some(Ok(std::mem::take(&mut self.rest)))
    }
}

impl Iterator for Reader {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        if let Some(opening) = self.opening.take() {
            return Some(Item::Record(opening));
        }
        Some(match self.line()?.and_then(|line| line::decode(&line)) {
            Ok(record) => Item::Record(Box::new(record)),
            Err(error) => Item::Damaged(self.number, error),
        })
    }
}

/// Looks at the format before anything else, since a newer record need not be understood here.
fn check_format(first: &[u8], path: &str) -> Result<(), ReadError> {
    let json: serde_json::Value = serde_json::from_slice(first).unwrap_or_default();
    match json["event"]["SessionOpened"]["format"].as_u64() {
        Some(found) if found > u64::from(FORMAT) => Err(ReadError::Newer { path: path.to_owned(), found }),
        _ => Ok(()),
    }
}
