//! The logs of fio: `time (msec), value, data direction, block size, offset, command priority` after "Log File Formats" in fio's
//! own HOWTO. Bandwidth is in KiB/s, latency in nanoseconds (before fio 3.0 in microseconds).

use std::io::BufRead;
use std::ops::Range;

use super::cells;
use super::lines::Lines;
use super::{Fault, LeftOut, Reading, shown};
use crate::vocab::moment::Moment;
use crate::vocab::unit::Unit;

/// A row that is earlier than the one before by less than this is late; by more, it is the first of another job's.
const LATE_MS: u64 = 1000;

/// What a log holds; its rows do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// Bandwidth, in KiB/s.
    Bandwidth,
    /// Operations a second.
    Iops,
    /// Latencies in nanoseconds.
    Latency,
    /// Latencies in microseconds, as fio wrote them before version 3.0.
    LatencyMicroseconds,
}

impl Log {
    /// What a file of this name holds: fio writes `NAME_bw.1.log`, `_iops`, `_lat`, `_clat` and `_slat`.
    #[must_use]
    pub fn by_name(file: &str) -> Option<Self> {
        let stem = file.rsplit('/').next()?.strip_suffix(".log")?;
        let stem = stem.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('.');
        match stem.rsplit('_').next()? {
            "bw" => Some(Self::Bandwidth),
            "iops" => Some(Self::Iops),
            "lat" | "clat" | "slat" => Some(Self::Latency),
            _ => None,
        }
    }

    /// The unit of the readings, and what a number in the log is multiplied by to be in it.
    #[must_use]
    pub fn unit(self) -> (Unit, f64) {
        match self {
            Self::Bandwidth => (Unit::MegabytesPerSecond, 1.024e-3),
            Self::Iops => (Unit::Iops, 1.0),
            Self::Latency => (Unit::Microseconds, 1e-3),
            Self::LatencyMicroseconds => (Unit::Microseconds, 1.0),
        }
    }
}

/// Which way data went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
}

impl Direction {
    fn of(text: &str) -> Option<Self> {
        match text {
            "0" => Some(Self::Read),
            "1" => Some(Self::Write),
            "2" => Some(Self::Trim),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }
}

/// Whether a row looks like one of fio's: four whole numbers or more, with a comma and a blank between, the third a direction.
#[must_use]
pub fn is_row(row: &str) -> bool {
    let cells: Vec<&str> = row.split(", ").map(str::trim).collect();
    let whole = |cell: &&str| !cell.is_empty() && cell.bytes().all(|b| b.is_ascii_digit());
    cells.len() >= 4 && cells.iter().take(4).all(whole) && Direction::of(cells[2]).is_some()
}

/// A log being read.
#[derive(Debug)]
pub struct Fio<R> {
    lines: Lines<R>,
    factor: f64,
    asked: Option<Direction>,
    seen: Option<(Direction, u64)>,
    cells: Vec<Range<usize>>,
    last: Option<Last>,
    left_out: LeftOut,
}

/// The row before.
#[derive(Clone, Copy, Debug)]
struct Last {
    ms: u64,
    at: Moment,
}

impl<R: BufRead> Fio<R> {
    /// A log of which nothing has been read; only rows of `direction` are meant, where it is given.
    pub fn new(lines: Lines<R>, log: Log, direction: Option<Direction>) -> Self {
        let (_, factor) = log.unit();
        Self {
            lines,
            factor,
            asked: direction,
            seen: None,
            cells: Vec::new(),
            last: None,
            left_out: LeftOut::default(),
        }
    }

    /// Rows that held no reading so far.
    #[must_use]
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// Reads on to the next row that is meant; false at the end.
    ///
    /// # Errors
    /// A row that is none of fio's, or one of a second direction when none was asked for.
    pub fn read(&mut self, into: &mut Reading) -> Result<bool, Fault> {
        while self.lines.advance()? {
            if self.take(into)? {
                self.left_out.taken += 1;
                return Ok(true);
            }
            self.left_out.note(self.lines.line());
        }
        Ok(false)
    }

    fn take(&mut self, into: &mut Reading) -> Result<bool, Fault> {
        let (row, line) = (self.lines.text()?, self.lines.line());
        cells::split(row, ',', &mut self.cells);
        if self.cells.len() < 4 {
            if !self.lines.is_whole() {
                self.left_out.cut = true;
                return Ok(false);
            }
            let what = format!("{} is no row of a fio log; expected `msec, value, direction, block size`", shown(row));
            return Err(Fault::at(line, what));
        }
        let text = |column: usize| &row[self.cells[column].clone()];
        let number = |column: usize, name: &str| {
            let wrong = |_| Fault::at(line, format!("{name}: {} is no whole number", shown(text(column))));
            text(column).parse::<u64>().map_err(wrong)
        };
        let (ms, value) = (number(0, "time")?, number(1, "value")?);
        let Some(direction) = Direction::of(text(2)) else {
            let found = shown(text(2));
            let what = "expected 0 (read), 1 (write) or 2 (trim); logs with log_window_value=both are not read";
            return Err(Fault::at(line, format!("direction: {found}; {what}")));
        };
        if ms > 9_000_000_000_000 {
            return Err(Fault::at(line, format!("time: {ms} ms is beyond any measurement")));
        }
        if !self.is_meant(direction, line)? {
            self.left_out.other_direction += 1;
            return Ok(false);
        }
        self.place(ms, into);
        into.value = value as f64 * self.factor;
        (into.in_flight, into.counters) = (None, Vec::new());
        Ok(true)
    }

    /// Whether rows of this direction are meant; two may not go for one series.
    fn is_meant(&mut self, direction: Direction, line: u64) -> Result<bool, Fault> {
        if let Some(asked) = self.asked {
            return Ok(direction == asked);
        }
        let (seen, _) = *self.seen.get_or_insert((direction, line));
        if seen == direction {
            return Ok(true);
        }
        let (one, other) = (seen.word(), direction.word());
        let what = format!("{one} until here, and now {other}: choose with --direction {one} or --direction {other}");
        Err(Fault::at(line, what))
    }

    /// Puts a row on the axis: those of one millisecond side by side, a late one behind the one before, and the rows of a second
    /// job, which begin anew, as a series of their own.
    fn place(&mut self, ms: u64, into: &mut Reading) {
        let at = Moment(ms * 1000);
        into.begins = self.last.is_none_or(|last| ms + LATE_MS <= last.ms);
        into.at = match self.last {
            Some(last) if !into.begins => {
                self.left_out.late += u64::from(ms < last.ms);
                at.max(Moment(last.at.0 + 1))
            }
            _ => at,
        };
        let ms = self.last.filter(|_| !into.begins).map_or(ms, |last| last.ms.max(ms));
        self.last = Some(Last { ms, at: into.at });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, log: Log, direction: Option<Direction>) -> Result<(Vec<Reading>, LeftOut), Fault> {
        let mut fio = Fio::new(Lines::new(text.as_bytes()), log, direction);
        let (mut all, mut reading) = (Vec::new(), Reading::default());
        while fio.read(&mut reading)? {
            all.push(reading.clone());
        }
        Ok((all, fio.left_out().clone()))
    }

    #[test]
    fn bandwidth_is_decimal_and_directions_are_kept_apart() {
        let text = "500, 125000, 1, 0, 0, 0\n500, 7, 0, 0\n1000, 1000, 1, 0, 0x8000\n";
        let (rows, left_out) = read(text, Log::Bandwidth, Some(Direction::Write)).unwrap();
        assert_eq!(rows.iter().map(|r| (r.at.0, r.value)).collect::<Vec<_>>(), [(500_000, 128.0), (1_000_000, 1.024)]);
        assert_eq!(left_out.words().unwrap(), "1 row left out (1 of another direction), the first in line 2");
        let both = read(text, Log::Bandwidth, None).unwrap_err();
        assert_eq!(
            both.within("f"),
            "f:2: write until here, and now read: choose with --direction write or --direction read"
        );
    }

    #[test]
    fn rows_of_one_millisecond_stand_side_by_side_and_a_second_job_begins_anew() {
        let (rows, left_out) = read(
            "5, 1000, 0, 4096\n5, 2000, 0, 4096\n4, 3000, 0, 4096\n9000, 1, 0, 0\n3, 1, 0, 0\n",
            Log::Latency,
            None,
        )
        .unwrap();
        let places: Vec<(u64, bool)> = rows.iter().map(|r| (r.at.0, r.begins)).collect();
        assert_eq!(places, [(5000, true), (5001, false), (5002, false), (9_000_000, false), (3000, true)]);
        assert_eq!((rows[0].value, left_out.late), (1.0, 1));
    }

    #[test]
    fn the_name_of_the_file_tells_what_it_holds() {
        let by_name = |name| Log::by_name(name);
        assert_eq!(by_name("/tmp/out_bw.1.log"), Some(Log::Bandwidth));
        assert_eq!((by_name("a_iops.log"), by_name("a_clat.12.log")), (Some(Log::Iops), Some(Log::Latency)));
        assert_eq!((by_name("bw.csv"), by_name("a.log"), by_name("-")), (None, None, None));
        assert!(is_row("500, 1, 0, 4096, 0") && !is_row("500,1,0,4096") && !is_row("5, 1, 7, 4096"));
    }

    #[test]
    fn what_is_no_row_is_said_with_its_line() {
        let fault = |text: &str| read(text, Log::Iops, None).unwrap_err().within("f");
        assert_eq!(
            fault("1, 2, 0, 0\nabc\n"),
            "f:2: `abc` is no row of a fio log; expected `msec, value, direction, block size`"
        );
        assert_eq!(fault("1, x, 0, 0\n"), "f:1: value: `x` is no whole number");
        assert!(fault("1, 2, 5000, 0\n").starts_with("f:1: direction: `5000`; expected 0 (read)"));
    }
}
