//! `shakedown detect`: what is to be found in a series from anywhere.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::json;

use super::{Ended, print, records, warn};
use crate::analysis::detect::redetect;
use crate::analysis::trace::{About, Trace};
use crate::cli::reading::{self, Values};
use crate::cli::typed::DetectOptions;
use crate::log::fio::{self, Fio};
use crate::log::lines::Lines;
use crate::log::table::Table;
use crate::log::{LeftOut, Reading};
use crate::view::{series, words};
use crate::vocab::finding::Severity;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::text::counted;

pub(super) fn detect(file: &Path, options: &DetectOptions) -> Ended {
    let name = if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
    let mut input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(BufReader::with_capacity(1 << 20, std::io::stdin()))
    } else {
        let file = File::open(file).map_err(|error| format!("{name}: {error}"))?;
        Box::new(BufReader::with_capacity(1 << 20, file))
    };
    let head = input.fill_buf().map_err(|error| format!("{name}: {error}"))?;
    if head.starts_with(b"{\"") {
        return of_session(file, options);
    }
    let mut lines = Lines::new(input);
    let faulty = |fault: crate::log::Fault| fault.within(&name);
    if !lines.advance().map_err(faulty)? {
        return Err(format!("{name}: there is no row in it"));
    }
    let looks_like_fio = fio::is_row(lines.text().map_err(faulty)?);
    lines.keep();
    let is_table = options.time.is_some() || options.value.is_some();
    if options.fio.is_some() || (looks_like_fio && !is_table) {
        return of_fio(&name, lines, options);
    }
    of_table(&name, lines, options)
}

fn of_session(file: &Path, options: &DetectOptions) -> Ended {
    if file == Path::new("-") {
        return Err("a session is read from its file, not from standard input".to_owned());
    }
    if let Some(option) = reading::of_series_only(options) {
        return Err(format!("{option} does not go with a session; its runs tell all of that"));
    }
    let state = redetect(&records(file)?);
    let mut text = String::new();
    for session in state.sessions().filter(|_| options.json) {
        for (id, finding) in &session.findings {
            let node = session.found_on.get(id).cloned().unwrap_or_default();
            let at = |moment: Moment| Moment(session.clock(&node, moment).0);
            let mut placed = finding.clone();
            (placed.onset, placed.said) = (at(finding.onset), at(finding.said));
            placed.closed = finding.closed.map(at);
            let mut object = series::finding_json(&placed, 0.0);
            object["node"] = json!(node);
            object["run"] = json!(finding.run);
            if state.earlier.is_some() {
                object["session"] = json!(session.name());
            }
            text.push_str(&format!("{object}\n"));
        }
    }
    if !options.json {
        text = words::findings(&state);
        if text.is_empty() {
            text = format!("nothing found in {}\n", counted(state.runs.len(), "run"));
        }
    }
    print(&text)?;
    let mut all = state.sessions().flat_map(|session| session.findings.values());
    Ok(u8::from(all.any(|finding| finding.severity >= Severity::Warn)))
}

fn of_table(name: &str, lines: Lines<Box<dyn BufRead>>, options: &DetectOptions) -> Ended {
    let (asked, values) = reading::of_table(options)?;
    let mut table = Table::open(lines, &asked).map_err(|fault| fault.within(name))?;
    let mut told = Told::new(options, values);
    let mut reading = Reading::default();
    while table.read(&mut reading).map_err(|fault| fault.within(name))? {
        told.zero = table.zero();
        for ((counter, _), value) in asked.counters.iter().zip(&reading.counters) {
            if let Some(value) = value {
                told.trace.counter(counter, reading.at, *value);
            }
        }
        told.take(&reading);
    }
    told.end(name, table.left_out())
}

fn of_fio(name: &str, lines: Lines<Box<dyn BufRead>>, options: &DetectOptions) -> Ended {
    let (log, direction, values) = reading::of_fio(options, name)?;
    let mut fio = Fio::new(lines, log, direction);
    let mut told = Told::new(options, values);
    let mut reading = Reading::default();
    while fio.read(&mut reading).map_err(|fault| fault.within(name))? {
        if reading.begins && told.n > 0 {
            told.next_job();
        }
        told.take(&reading);
    }
    told.end(name, fio.left_out())
}

/// A series being heard, and what was said of those before it in the same file.
struct Told<'a> {
    options: &'a DetectOptions,
    values: Values,
    trace: Trace,
    /// Readings of the present series, and the times of the first and the last.
    n: u64,
    span: (Moment, Moment),
    zero: f64,
    /// The number of the present job, from 1; 0 while there is only one.
    job: u32,
    bad: bool,
    text: String,
}

impl<'a> Told<'a> {
    fn new(options: &'a DetectOptions, values: Values) -> Self {
        let (trace, span) = (Self::trace(values), (Moment(0), Moment(0)));
        Self { options, values, trace, n: 0, span, zero: 0.0, job: 0, bad: false, text: String::new() }
    }

    fn trace(values: Values) -> Trace {
        let Values { unit, lower_is_better, reference, floor, .. } = values;
        Trace::new(About { unit, lower_is_better, reference, floor })
    }

    fn take(&mut self, reading: &Reading) {
        self.trace.read(reading.at, reading.value * self.values.factor, reading.in_flight);
        self.span = (if self.n == 0 { reading.at } else { self.span.0 }, reading.at);
        self.n += 1;
    }

    /// The file goes on with the rows of another job.
    fn next_job(&mut self) {
        self.job = self.job.max(1);
        self.close();
        self.job += 1;
        (self.trace, self.n) = (Self::trace(self.values), 0);
    }

    /// Says what was found in the present series.
    fn close(&mut self) {
        self.trace.end();
        let findings = self.trace.findings();
        self.bad |= findings.iter().any(|finding| finding.severity >= Severity::Warn);
        let segments = if self.options.segments { self.trace.segments() } else { Vec::new() };
        if self.options.json {
            let objects = findings.iter().map(|finding| series::finding_json(finding, self.zero));
            for mut object in objects.chain(segments.iter().map(|segment| series::segment_json(segment, self.zero))) {
                if self.job > 0 {
                    object["job"] = json!(self.job);
                }
                self.text.push_str(&format!("{object}\n"));
            }
            return;
        }
        let job = if self.job > 0 { format!("job {}: ", self.job) } else { String::new() };
        let mut lines: Vec<String> = findings.iter().map(series::finding).collect();
        if findings.is_empty() {
            let (from, to) = (Span(self.span.0.0), Span(self.span.1.0));
            lines.push(format!("nothing found in {} readings from {from} to {to}", self.n));
        }
        lines.extend(segments.iter().map(|segment| series::segment(segment, self.values.unit)));
        lines.iter().for_each(|line| self.text.push_str(&format!("{job}{line}\n")));
    }

    fn end(mut self, name: &str, left_out: &LeftOut) -> Ended {
        if let Some(words) = left_out.words() {
            warn(&format!("{name}: {words}"));
        }
        if left_out.taken == 0 {
            return Err(format!("{name}: there is no row with a time and a value in it"));
        }
        if self.zero != 0.0 && !self.options.json {
            warn(&format!("{name}: times are counted from its first row, {} s", self.zero));
        }
        self.close();
        print(&self.text)?;
        Ok(u8::from(self.bad))
    }
}
