//! The table that limits stand in: its columns by name, its rows, and where each cell is.

use std::io::BufRead;
use std::ops::Range;

use super::words::nearest;
use crate::log::Fault;
use crate::log::cells;
use crate::log::lines::Lines;
use crate::vocab::text::{neutral, wide};

/// The columns that there can be; the first [`NEEDED`] must be there.
const COLUMNS: [&str; 12] = [
    "clause",
    "figure",
    "statistic",
    "at",
    "limit",
    "unit",
    "rounding",
    "severity",
    "section",
    "why",
    "iterations",
    "decide",
];
const NEEDED: usize = 6;

/// Columns whose text is the contract's own, in whatever characters.
const FREE: [&str; 3] = ["clause", "section", "why"];

/// A table being read.
pub(super) struct Sheet<'n, R> {
    name: &'n str,
    lines: Lines<R>,
    pub(super) separator: char,
    /// The header as it stands, and how many columns it has.
    header: Vec<String>,
    cells: Vec<Range<usize>>,
}

/// A row, and where its cells are.
pub(super) struct Row<'s> {
    name: &'s str,
    header: &'s [String],
    cells: &'s [Range<usize>],
    text: &'s str,
    pub(super) line: u64,
}

impl<'n, R: BufRead> Sheet<'n, R> {
    /// Reads the header.
    ///
    /// # Errors
    /// A column that is not known, stands twice or is missing, as `NAME:line:column: what`.
    pub(super) fn open(name: &'n str, from: R) -> Result<Self, String> {
        let mut lines = Lines::new(from);
        let mut separator = None;
        let (header, separator) = loop {
            if !lines.advance().map_err(|fault| placed(name, &fault))? {
                return Err(format!(
                    "{}:1:1: there is no row in it; expected a header: {}",
                    neutral(name),
                    COLUMNS.join(", ")
                ));
            }
            let text = lines.text().map_err(|fault| placed(name, &fault))?;
            // What Excel writes ahead of a table to say by what it is separated.
            if let (Some(said), None) = (text.strip_prefix("sep="), separator) {
                separator = said.chars().next().filter(|c| [',', ';', '\t'].contains(c));
                continue;
            }
            let separator = separator.unwrap_or_else(|| cells::separator(text));
            let mut cells = Vec::new();
            cells::split(text, separator, &mut cells);
            let row = Row { name, header: &[], cells: &cells, text, line: lines.line() };
            break (columns(&row)?, separator);
        };
        Ok(Self { name, lines, separator, header, cells: Vec::new() })
    }

    /// The next row that holds something; none at the end.
    ///
    /// # Errors
    /// A row that cannot be read, as `NAME:line:column: what`.
    pub(super) fn row(&mut self) -> Result<Option<Row<'_>>, String> {
        loop {
            if !self.lines.advance().map_err(|fault| placed(self.name, &fault))? {
                return Ok(None);
            }
            let text = self.lines.text().map_err(|fault| placed(self.name, &fault))?;
            cells::split(text, self.separator, &mut self.cells);
            // Spreadsheets write rows of nothing but separators.
            if self.cells.iter().any(|cell| !text[cell.clone()].trim().is_empty()) {
                break;
            }
        }
        let text = self.lines.text().map_err(|fault| placed(self.name, &fault))?;
        let row = Row { name: self.name, header: &self.header, cells: &self.cells, text, line: self.lines.line() };
        row.is_sound()?;
        Ok(Some(row))
    }
}

impl Row<'_> {
    /// The text of a column; empty where there is none.
    pub(super) fn get(&self, column: &str) -> String {
        self.range(column).map_or_else(String::new, |range| self.cell(range))
    }

    /// The text of a column that must be there.
    pub(super) fn need(&self, column: &str) -> Result<String, String> {
        match self.get(column) {
            text if text.is_empty() => Err(self.fault(column, "there is nothing in this column")),
            text => Ok(text),
        }
    }

    /// The name of the file without its directory.
    pub(super) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(self.name)
    }

    /// What is wrong with the cell of a column, with its place.
    pub(super) fn fault(&self, column: &str, what: &str) -> String {
        let at = self.range(column).map_or(self.text.len(), |range| range.start);
        self.fault_at(at, &format!("{column}: {what}"))
    }

    fn range(&self, column: &str) -> Option<Range<usize>> {
        let place = self.header.iter().position(|name| name == column)?;
        self.cells.get(place).cloned()
    }

    fn cell(&self, range: Range<usize>) -> String {
        let quoted = self.text[..range.start].ends_with('"');
        // A line break within a cell is one of the spreadsheet's layout.
        let text =
            self.text[range].lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        if quoted { text.replace("\"\"", "\"") } else { text }
    }

    fn fault_at(&self, at: usize, what: &str) -> String {
        let before = &self.text[..at];
        let line = self.line + before.matches('\n').count() as u64;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        neutral(&format!("{}:{line}:{column}: {}", self.name, middle_left_out(what)))
    }

    /// Whether its cells are those of the header, in characters that mean what they look like.
    fn is_sound(&self) -> Result<(), String> {
        self.is_text()?;
        if COLUMNS[..NEEDED].iter().any(|name| self.range(name).is_none())
            && let Some((at, what)) = self.text.match_indices(['，', '；']).find_map(|(at, c)| Some((at, wide(c)?.1)))
        {
            return Err(self.fault_at(at, &what));
        }
        for (place, range) in self.cells.iter().enumerate() {
            let text = &self.text[range.clone()];
            match self.header.get(place) {
                Some(name) if name.is_empty() && !text.trim().is_empty() => {
                    return Err(self.fault_at(range.start, &format!("column {} has no name in the header", place + 1)));
                }
                None if !text.trim().is_empty() => {
                    let (cells, columns) = (self.cells.len(), self.header.len());
                    let what = format!(
                        "{cells} cells, where the header has {columns}; put quotes around a text with a separator in it"
                    );
                    return Err(self.fault_at(range.start, &what));
                }
                Some(name) if !FREE.contains(&name.as_str()) => {
                    if let Some((at, what)) = wide(text) {
                        return Err(self.fault_at(range.start + at, &format!("{name}: {what}")));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// UTF-16 without a mark is UTF-8 with a zero beside each letter.
    fn is_text(&self) -> Result<(), String> {
        match self.text.find('\0') {
            Some(at) => Err(self.fault_at(at, "a zero byte, as in UTF-16 text; save the file as UTF-8")),
            None => Ok(()),
        }
    }
}

/// The names of a header, in lower case.
fn columns(row: &Row<'_>) -> Result<Vec<String>, String> {
    row.is_text()?;
    if let Some((at, what)) = wide(row.text) {
        return Err(row.fault_at(at, &what));
    }
    let mut names: Vec<String> = Vec::new();
    for range in row.cells {
        let typed = row.cell(range.clone());
        let name = typed.to_ascii_lowercase();
        if !name.is_empty() && !COLUMNS.contains(&name.as_str()) {
            let meant = nearest(&name, COLUMNS).map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
            let what = format!("there is no column `{typed}`; {meant}there are: {}", COLUMNS.join(", "));
            return Err(row.fault_at(range.start, &what));
        }
        if !name.is_empty() && names.contains(&name) {
            return Err(row.fault_at(range.start, &format!("the column `{name}` stands twice")));
        }
        names.push(name);
    }
    let missing: Vec<&str> =
        COLUMNS[..NEEDED].iter().copied().filter(|name| !names.iter().any(|n| n == name)).collect();
    if missing.is_empty() {
        return Ok(names);
    }
    let what = if missing.len() == 1 { "this column is" } else { "these columns are" };
    Err(row.fault_at(row.text.len(), &format!("{what} missing: {}", missing.join(", "))))
}

/// A message that repeats a cell of any length, as one that is read.
fn middle_left_out(what: &str) -> String {
    const FRONT: usize = 1200;
    const BACK: usize = 100;
    let length = what.chars().count();
    if length <= FRONT + BACK + 5 {
        return what.to_owned();
    }
    let (front, back) = (what.chars().take(FRONT), what.chars().skip(length - BACK));
    front.chain(" ... ".chars()).chain(back).collect()
}

/// A fault of a line, at its beginning.
fn placed(name: &str, fault: &Fault) -> String {
    neutral(&format!("{name}:{}:1: {}", fault.line.max(1), fault.what))
}
