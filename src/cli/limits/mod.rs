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
    let (separator, mut checks, mut before) = (sheet.separator, Vec::new(), Before::default());
    while let Some(row) = sheet.row()? {
        for said in limit(&row, separator, known)?.of_each_run(known) {
            before.agrees(&row, &said)?;
            checks.push(said.check);
        }
    }
    if checks.is_empty() {
        return Err(format!("{name}:1:1: there is a header and no limit below it"));
    }
    Ok(checks)
}

/// A check, and how its row puts it.
#[derive(Clone)]
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

    /// The number that is the limit, where it is no share of something else.
    fn fixed(&self) -> Option<f64> {
        match self.check.at_least.as_ref().or(self.check.at_most.as_ref()) {
            Some(Limit::Absolute(quantity)) => Some(quantity.value),
            _ => None,
        }
    }

    /// A row about every run holds of each by itself: a mean over all would let many good figures stand for a bad one.
    fn of_each_run(self, known: &BTreeMap<String, Unit>) -> Vec<Self> {
        let Some(figure) = self.check.of.strip_prefix("*.") else { return vec![self] };
        let named = known.keys().filter(|name| name.split_once('.').is_some_and(|(_, own)| own == figure));
        named.map(|of| Self { check: Check { of: of.clone(), ..self.check.clone() }, ..self.clone() }).collect()
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

/// What the rows before have said.
#[derive(Default)]
struct Before {
    /// By figure, statistic, side and clause: in which words and line.
    clauses: BTreeMap<(String, String, Side, String), (String, u64)>,
    /// By figure, statistic and side: the strictest fixed limit, and in which words and line.
    strictest: BTreeMap<(String, String, Side), (f64, String, u64)>,
}

impl Before {
    /// Whether a row goes together with those before it, and then keeps it.
    fn agrees(&mut self, row: &Row<'_>, next: &Said) -> Result<(), String> {
        let (of, statistic) = (next.check.of.clone(), format!("{:?}", next.check.statistic));
        let clause = (of.clone(), statistic.clone(), next.side, next.clause().to_owned());
        if let Some((words, line)) = self.clauses.insert(clause, (next.words.clone(), next.line)) {
            let what = format!(
                "clause {} says `{words}` of {of} in line {line} already; here `{}`",
                next.clause(),
                next.words
            );
            return Err(row.fault("limit", &what));
        }
        let Some(value) = next.fixed() else { return Ok(()) };
        let other = self.strictest.get(&(of.clone(), statistic.clone(), next.side.other()));
        if let Some((_, words, line)) = other.filter(|(other, ..)| next.side.stricter(value, *other)) {
            let what = format!("`{}`, and line {line} says `{words}`; no figure is both", next.words);
            return Err(row.fault("limit", &what));
        }
        let strictest = self.strictest.entry((of, statistic, next.side));
        let strictest = strictest.or_insert_with(|| (value, next.words.clone(), next.line));
        if next.side.stricter(value, strictest.0) {
            *strictest = (value, next.words.clone(), next.line);
        }
        Ok(())
    }
}
