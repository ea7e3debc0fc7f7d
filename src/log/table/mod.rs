//! A table: a column of times, a column of values, and what else was asked for.

use std::io::BufRead;
use std::ops::Range;

use super::cells::{self, Cell};
use super::lines::Lines;
use super::{Fault, LeftOut, Reading, shown};
use crate::vocab::moment::Moment;

/// Names under which tables keep their times, without a unit behind them.
const TIMES: &[&str] = &["t", "time", "timestamp", "ts", "elapsed", "seconds", "sec", "date", "datetime", "epoch"];

/// Times up to here are on an axis of their own; later ones are seconds since 1970, and are told from the first row on.
const OWN_AXIS: f64 = 1e8;

/// One row in so many may stand at the time of the row before, as times are rounded; more of them are another series.
const TWINS: u64 = 10;

/// Seconds since 1970 beyond the year 5138: the time of today in milliseconds is more.
const LATEST: f64 = 1e11;

/// What a number in the column of times counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

impl TimeUnit {
    fn per_second(self) -> f64 {
        match self {
            Self::Seconds => 1.0,
            Self::Milliseconds => 1e3,
            Self::Microseconds => 1e6,
        }
    }
}

/// Which columns are meant, by name or by number from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The times; else the column that is named like one, else the first.
    pub time: Option<String>,
    /// The values; else the only other column.
    pub value: Option<String>,
    /// Whether an operation is waiting: any number but 0.
    pub in_flight: Option<String>,
    /// Counters of the host: the name of the row, and the column.
    pub counters: Vec<(String, String)>,
    /// What a number in the column of times counts; seconds when not given.
    pub time_unit: Option<TimeUnit>,
}

/// A table being read.
#[derive(Debug)]
pub struct Table<R> {
    lines: Lines<R>,
    separator: char,
    names: Vec<String>,
    width: usize,
    time: usize,
    value: usize,
    in_flight: Option<usize>,
    counters: Vec<usize>,
    per_second: f64,
    cells: Vec<Range<usize>>,
    zero: Option<f64>,
    last: Option<f64>,
    at: Option<Moment>,
    /// The first row at the time of the row before: its line and that time.
    twin: Option<(u64, f64)>,
    left_out: LeftOut,
}

impl<R: BufRead> Table<R> {
    /// Finds the header and the columns.
    ///
    /// # Errors
    /// A column that is not there or not clear, with the columns that are there.
    pub fn open(mut lines: Lines<R>, asked: &Asked) -> Result<Self, Fault> {
        if !lines.advance()? {
            return Err(Fault::at(0, "there is no row in it"));
        }
        let (first, line) = (lines.text()?, lines.line());
        let separator = cells::separator(first);
        let mut cells = Vec::new();
        cells::split(first, separator, &mut cells);
        let texts: Vec<&str> = cells.iter().map(|range| &first[range.clone()]).collect();
        let is_value =
            |text: &&str| matches!(cells::cell(text), Cell::Number(_)) || cells::point_in_time(text).is_some();
        let has_header = !texts.iter().any(is_value);
        let names: Vec<String> = if has_header { texts.iter().map(|t| (*t).to_owned()).collect() } else { Vec::new() };
        let width = texts.len();
        let columns = Columns { names: &names, width, line };
        let time = columns.time(asked)?;
        let in_flight = asked.in_flight.as_deref().map(|name| columns.place("--in-flight", name)).transpose()?;
        let counters = asked.counters.iter().map(|(_, column)| columns.place("--counter", column));
        let counters = counters.collect::<Result<Vec<usize>, Fault>>()?;
        let others: Vec<usize> = [time].into_iter().chain(in_flight).chain(counters.iter().copied()).collect();
        let value = columns.value(asked, &others)?;
        if !has_header {
            lines.keep();
        }
        let per_second = asked.time_unit.unwrap_or(TimeUnit::Seconds).per_second();
        Ok(Self {
            lines,
            separator,
            names,
            width,
            time,
            value,
            in_flight,
            counters,
            per_second,
            cells,
            zero: None,
            last: None,
            at: None,
            twin: None,
            left_out: LeftOut::default(),
        })
    }

    /// The time in the file, in seconds, at which [`Reading::at`] is 0; none before the first row.
    #[must_use]
    pub fn zero(&self) -> f64 {
        self.zero.unwrap_or(0.0)
    }

    /// Rows that held no reading so far.
    #[must_use]
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// The name of the column of values, or its number.
    #[must_use]
    pub fn value_name(&self) -> String {
        self.name(self.value)
    }

    /// Reads on to the next row that holds a value; false at the end.
    ///
    /// # Errors
    /// A row with too few or too many cells, a cell that is no number, a time that does not go on.
    pub fn read(&mut self, into: &mut Reading) -> Result<bool, Fault> {
        while self.lines.advance()? {
            if self.take(into)? {
                into.begins = self.left_out.taken == 0;
                self.left_out.taken += 1;
                return Ok(true);
            }
            self.left_out.note(self.lines.line());
        }
        match self.twin {
            Some((line, time)) if self.left_out.twins * TWINS > self.left_out.taken => {
                let column = self.name(self.time);
                Err(Fault::at(
                    line,
                    format!("column {column}: time {time} stands twice; are these two series in one file?"),
                ))
            }
            _ => Ok(false),
        }
    }

    /// Takes in the present row; false when it holds no reading.
    fn take(&mut self, into: &mut Reading) -> Result<bool, Fault> {
        let (row, line) = (self.lines.text()?, self.lines.line());
        cells::split(row, self.separator, &mut self.cells);
        if self.cells.len() != self.width {
            // The tool that writes it may have been stopped, or still be at it.
            if self.cells.len() < self.width && !self.lines.is_whole() {
                self.left_out.cut = true;
                return Ok(false);
            }
            let (found, width) = (self.cells.len(), self.width);
            return Err(Fault::at(line, format!("a row of {found} cells in a table of {width} columns")));
        }
        let text = |column: usize| &row[self.cells[column].clone()];
        let Some(time) = self.time_of(text(self.time), line)? else {
            self.left_out.without_time += 1;
            return Ok(false);
        };
        let value = self.number(self.value, text(self.value), line)?;
        into.in_flight = match self.in_flight {
            Some(column) => self.number(column, text(column), line)?.map(|n| n != 0.0),
            None => None,
        };
        into.counters.clear();
        for column in &self.counters {
            into.counters.push(self.number(*column, text(*column), line)?);
        }
        into.at = self.moment(time, line)?;
        let Some(value) = value else {
            self.left_out.without_value += 1;
            return Ok(false);
        };
        into.value = value;
        Ok(true)
    }

    /// The time in a cell, in seconds.
    fn time_of(&self, text: &str, line: u64) -> Result<Option<f64>, Fault> {
        match cells::cell(text) {
            Cell::Number(number) if number / self.per_second >= LATEST => {
                let (column, found) = (self.name(self.time), shown(text));
                let what = "in seconds lies thousands of years ahead; say --time-unit ms or us if it counts those";
                Err(Fault::at(line, format!("column {column}: {found} {what}")))
            }
            Cell::Number(number) => Ok(Some(number / self.per_second)),
            Cell::Missing => Ok(None),
            Cell::Text(text) => cells::point_in_time(text).map(Some).ok_or_else(|| {
                let (column, found) = (self.name(self.time), shown(text));
                Fault::at(
                    line,
                    format!("column {column}: {found} is no time; expected a number or 2026-01-31T12:00:00Z"),
                )
            }),
        }
    }

    fn number(&self, column: usize, text: &str, line: u64) -> Result<Option<f64>, Fault> {
        match cells::cell(text) {
            Cell::Number(number) => Ok(Some(number)),
            Cell::Missing => Ok(None),
            Cell::Text(text) => {
                let point = text.replacen(',', ".", 1);
                let what = match point.parse::<f64>() {
                    Ok(_) if text.contains(',') => "has a decimal comma; write a point",
                    Ok(_) => "is not finite; leave the cell empty where there is no value",
                    Err(_) => "is no number; leave the cell empty where there is no value",
                };
                Err(Fault::at(line, format!("column {}: {} {what}", self.name(column), shown(text))))
            }
        }
    }

    /// The time on the axis of the readings; times go on from row to row.
    fn moment(&mut self, time: f64, line: u64) -> Result<Moment, Fault> {
        let own = (0.0..OWN_AXIS).contains(&time);
        let zero = *self.zero.get_or_insert(if own { 0.0 } else { time });
        if let Some(last) = self.last.filter(|last| time < *last) {
            let (time, last) = (time * self.per_second, last * self.per_second);
            let column = self.name(self.time);
            return Err(Fault::at(
                line,
                format!("column {column}: time {time} is before {last} of the row above; sort the rows"),
            ));
        }
        if self.last == Some(time) {
            self.twin.get_or_insert((line, time * self.per_second));
            self.left_out.twins += 1;
        }
        self.last = Some(time);
        let micros = ((time - zero) * 1e6).round();
        if micros > 9e15 {
            return Err(Fault::at(
                line,
                format!("column {}: {time} s is beyond any measurement", self.name(self.time)),
            ));
        }
        let at = Moment(micros.max(0.0) as u64);
        // Times may be rounded: two rows of one time stand side by side.
        let at = self.at.map_or(at, |last| at.max(Moment(last.0 + 1)));
        self.at = Some(at);
        Ok(at)
    }

    fn name(&self, column: usize) -> String {
        self.names.get(column).map_or_else(|| (column + 1).to_string(), |name| shown(name))
    }
}

/// The columns of a table while they are looked for.
struct Columns<'a> {
    names: &'a [String],
    width: usize,
    line: u64,
}

impl Columns<'_> {
    /// The column of this name or number.
    fn place(&self, option: &str, asked: &str) -> Result<usize, Fault> {
        let mut named = self.names.iter().enumerate().filter(|(_, name)| *name == asked).map(|(place, _)| place);
        if let Some(place) = named.next() {
            return match named.next() {
                Some(_) => {
                    Err(self.fault(&format!("{option} {asked}: there are two columns of this name; give its number")))
                }
                None => Ok(place),
            };
        }
        match asked.parse::<usize>() {
            Ok(number) if (1..=self.width).contains(&number) => Ok(number - 1),
            Err(_) if self.names.is_empty() => {
                Err(self.fault(&format!("{option} {asked}: there is no header; give the number of the column, from 1")))
            }
            _ => Err(self.fault(&format!("{option} {asked}: there is no such column; there are: {}", self.list(&[])))),
        }
    }

    fn time(&self, asked: &Asked) -> Result<usize, Fault> {
        if self.width < 2 {
            return Err(self.fault("one column only, without `,`, `;` or a tab; a time and a value are needed"));
        }
        let place = match &asked.time {
            Some(name) => self.place("--time", name)?,
            None => self.names.iter().position(|name| TIMES.contains(&unit_of(name).0.as_str())).unwrap_or(0),
        };
        let unit = self.names.get(place).and_then(|name| unit_of(name).1);
        match unit {
            Some(unit) if asked.time_unit.is_none() => {
                let name = shown(&self.names[place]);
                Err(self.fault(&format!(
                    "column {name} seems to count {unit}; say --time-unit {unit}, or --time-unit s if not"
                )))
            }
            _ => Ok(place),
        }
    }

    fn value(&self, asked: &Asked, others: &[usize]) -> Result<usize, Fault> {
        if let Some(name) = &asked.value {
            return self.place("--value", name);
        }
        let mut left = (0..self.width).filter(|place| !others.contains(place));
        match (left.next(), left.next()) {
            (Some(place), None) => Ok(place),
            (None, _) => Err(self.fault("no column is left for the values; name it with --value")),
            _ => Err(self.fault(&format!(
                "which column holds the values? say --value COLUMN; there are: {}",
                self.list(others)
            ))),
        }
    }

    /// The columns but for these, for people.
    fn list(&self, without: &[usize]) -> String {
        let name = |place: usize| self.names.get(place).map_or_else(|| (place + 1).to_string(), |name| shown(name));
        let names: Vec<String> = (0..self.width).filter(|place| !without.contains(place)).map(name).collect();
        names.join(", ")
    }

    fn fault(&self, what: &str) -> Fault {
        Fault::at(self.line, what)
    }
}

/// `time_ms` is a time in milliseconds: the name without its unit, and the unit where it is not seconds.
fn unit_of(name: &str) -> (String, Option<&'static str>) {
    let lower = name.to_ascii_lowercase();
    let plain = lower.trim_end_matches([')', ']']);
    for (ending, unit) in [("ms", "ms"), ("msec", "ms"), ("us", "us"), ("usec", "us"), ("s", ""), ("sec", "")] {
        let Some(front) = plain.strip_suffix(ending) else { continue };
        let unit = Some(unit).filter(|unit| !unit.is_empty());
        if let Some(front) = front.strip_suffix(['_', ' ', '(', '[', '.', '/']) {
            return (front.trim_end_matches(['_', ' ', '(', '[']).to_owned(), unit);
        }
        if front.is_empty() && unit.is_some() {
            return ("time".to_owned(), unit);
        }
    }
    (lower, None)
}

#[cfg(test)]
mod tests;
