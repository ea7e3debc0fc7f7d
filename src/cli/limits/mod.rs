//! The limits of a contract from a table (CSV): each row becomes a check.
//!
//! A contract's "mean of 20 at least 100 MB/s" is a promise about the number that is measured, so a row is decided by the number
//! itself where it does not say `interval`.

mod sheet;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use self::sheet::{Row, Sheet};
use self::words::{Read, Side};
use crate::vocab::check::{Check, Clause, Limit};
use crate::vocab::unit::Unit;

/// Reads the limits in a file for a plan with these figures, by their whole names (`run.figure`).
///
/// # Errors
/// One line: `FILE:line:column: what is wrong, what was expected`.
pub fn read(path: &Path, known: &BTreeMap<String, Unit>) -> Result<Vec<Check>, String> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
    parse(&name, BufReader::new(file), known)
}

/// Reads the limits in a text; `name` stands at the head of errors.
///
/// # Errors
/// As [`read`].
pub fn parse(name: &str, from: impl BufRead, known: &BTreeMap<String, Unit>) -> Result<Vec<Check>, String> {
    let mut sheet = Sheet::open(name, from)?;
    let (separator, mut said) = (sheet.separator, Vec::new());
    while let Some(row) = sheet.row()? {
        let next = limit(&row, separator, known)?;
        agrees(&row, &next, &said)?;
        said.push(next);
    }
    if said.is_empty() {
        return Err(format!("{name}:1:1: there is a header and no limit below it"));
    }
    Ok(said.into_iter().map(|said| said.check).collect())
}

/// A check, and how its row puts it.
struct Said {
    check: Check,
    side: Side,
    /// `at least 100 MiB/s`.
    words: String,
    line: u64,
}

impl Said {
    fn clause(&self) -> &str {
        self.check.clause.as_ref().map_or("", |clause| &clause.name)
    }

    fn limit(&self) -> Option<&Limit> {
        self.check.at_least.as_ref().or(self.check.at_most.as_ref())
    }
}

fn limit(row: &Row<'_>, separator: char, known: &BTreeMap<String, Unit>) -> Result<Said, String> {
    let of = |column: &'static str| move |why: String| row.fault(column, &why);
    let (clause, figure) = (row.need("clause")?, row.need("figure")?);
    let counts = words::figure(&figure, known).map_err(of("figure"))?;
    let statistic = words::statistic(&row.need("statistic")?).map_err(of("statistic"))?;
    let counts = if statistic.is_relative() { Unit::Percent } else { counts };
    let side = words::side(&row.need("at")?).map_err(of("at"))?;
    let (typed, unit) = (row.need("limit")?, row.get("unit"));
    let read = words::limit((&typed, &unit), separator, (&figure, counts));
    let read = read.map_err(|(column, why)| row.fault(column, &why))?;
    let rounding = words::rounding(&row.get("rounding"), separator).map_err(of("rounding"))?;
    let decide = words::decide(&row.get("decide")).map_err(of("decide"))?;
    let (limit, unit, words) = match read {
        Read::Fixed(spelling, quantity) => {
            (Limit::Absolute(quantity), Some(spelling), format!("{typed} {}", spelling.word()))
        }
        Read::Share(limit) => (limit, None, format!("{typed} {unit}")),
    };
    let from = row.file_name();
    let clause = Clause { name: clause, row: format!("{from}:{}", row.line), unit, rounding };
    let (at_least, at_most, word) = match side {
        Side::AtLeast => (Some(limit), None, "at least"),
        Side::AtMost => (None, Some(limit), "at most"),
    };
    let check = Check {
        section: row.get("section"),
        statistic,
        at_least,
        at_most,
        decide: Some(decide),
        iterations: words::iterations(&row.get("iterations")).map_err(of("iterations"))?,
        missed: words::severity(&row.get("severity")).map_err(of("severity"))?,
        why: row.get("why"),
        clause: Some(clause),
        ..Check::new(&figure)
    };
    if let Some(why) = check.clause_fault() {
        return Err(row.fault("rounding", why));
    }
    Ok(Said { check, side, words: format!("{word} {}", words.trim()), line: row.line })
}

/// Whether a row goes together with those before it.
fn agrees(row: &Row<'_>, next: &Said, before: &[Said]) -> Result<(), String> {
    let same = |said: &&Said| said.check.of == next.check.of && said.check.statistic == next.check.statistic;
    let fixed = |said: &Said| match said.limit() {
        Some(Limit::Absolute(quantity)) => Some(quantity.value),
        _ => None,
    };
    for said in before.iter().filter(same) {
        if said.side == next.side && said.clause() == next.clause() {
            return Err(row.fault(
                "limit",
                &format!(
                    "clause {} says `{}` of {} in line {} already; here `{}`",
                    next.clause(),
                    said.words,
                    next.check.of,
                    said.line,
                    next.words
                ),
            ));
        }
        let (least, most) = if next.side == Side::AtLeast { (next, said) } else { (said, next) };
        if said.side != next.side
            && let (Some(low), Some(high)) = (fixed(least), fixed(most))
            && low > high
        {
            let what = format!("`{}`, and line {} says `{}`; no figure is both", next.words, said.line, said.words);
            return Err(row.fault("limit", &what));
        }
    }
    Ok(())
}
