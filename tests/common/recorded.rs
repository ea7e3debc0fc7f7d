//! The recorded traces in `tests/traces`, what is to be found in each, and whether it was.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};

use shakedown::analysis::trace::{About, Trace};
use shakedown::vocab::finding::{Kind, Severity};
use shakedown::vocab::moment::Moment;
use shakedown::vocab::unit::Unit;

/// A row of `EXPECTED.tsv`.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) trace: String,
    /// The column of the values.
    pub(crate) value: String,
    /// One of these must be found; empty where there is nothing to find.
    pub(crate) required: Vec<Kind>,
    /// These may be found at WARN or above as well.
    pub(crate) allowed: Vec<Kind>,
    /// Between which times, on the trace's own axis, the required one begins.
    pub(crate) onset: Option<(f64, f64)>,
    pub(crate) note: String,
}

/// A finding as it is compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) kind: Kind,
    pub(crate) severity: Severity,
    /// Seconds on the trace's own axis.
    pub(crate) onset: f64,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

fn kinds(words: &str, separator: char) -> Vec<Kind> {
    let of = |word: &str| Kind::all().find(|kind| kind.to_string() == word).unwrap_or_else(|| panic!("no kind {word}"));
    words.split(separator).map(str::trim).filter(|word| !["", "-"].contains(word)).map(of).collect()
}

impl Row {
    /// A row of the file: `trace value required allowed onset_s note` between tabs.
    pub(crate) fn parse(line: &str) -> Self {
        let fields: Vec<&str> = line.split('\t').collect();
        let [trace, value, required, allowed, onset, note] = fields[..] else { panic!("not six fields: {line}") };
        let onset = onset.split_once('-').map(|(from, to)| (from.parse().unwrap(), to.parse().unwrap()));
        Self {
            trace: trace.to_owned(),
            value: value.to_owned(),
            required: kinds(required, '|'),
            allowed: kinds(allowed, ','),
            onset,
            note: note.to_owned(),
        }
    }

    /// Where its trace lies.
    pub(crate) fn path(&self) -> PathBuf {
        directory().join(format!("{}.csv", self.trace))
    }

    /// The lines of its trace, the header first.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path()).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if self.note.contains("drop the last partial sample") {
            lines.pop();
        }
        lines
    }

    /// Whether the trace tells how long an operation has been waiting.
    pub(crate) fn has_in_flight(&self) -> bool {
        self.lines()[0].split(',').any(|name| name == "inflight_ms")
    }

    /// The unit of its values.
    pub(crate) fn unit(&self) -> Unit {
        if self.value == "iops" { Unit::Iops } else { Unit::MegabytesPerSecond }
    }

    /// Plays the trace into the detectors.
    pub(crate) fn play(&self) -> Vec<Told> {
        let lines = self.lines();
        let names: Vec<&str> = lines[0].split(',').collect();
        let place = |name: &str| names.iter().position(|n| *n == name);
        let (value, waiting) = (place(&self.value).unwrap(), place("inflight_ms"));
        let mut trace = Trace::new(About { unit: self.unit(), lower_is_better: false, reference: None, floor: None });
        for line in &lines[1..] {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            let at = Moment((cells[0] * 1e6).round() as u64);
            trace.read(at, cells[value], waiting.map(|column| cells[column] != 0.0));
        }
        trace.end();
        let told = |f: &shakedown::vocab::finding::Finding| Told {
            kind: f.kind,
            severity: f.severity,
            onset: f.onset.0 as f64 / 1e6,
        };
        trace.findings().iter().map(told).collect()
    }

    /// What is wrong with these findings, a line each. The required one may be of any severity; others count from WARN on.
    pub(crate) fn faults(&self, told: &[Told]) -> Vec<String> {
        let mut faults = Vec::new();
        let in_time = |f: &&Told| self.onset.is_none_or(|(from, to)| (from..=to).contains(&f.onset));
        if !self.required.is_empty() && !told.iter().filter(in_time).any(|f| self.required.contains(&f.kind)) {
            let asked: Vec<String> = self.required.iter().map(Kind::to_string).collect();
            faults.push(format!("{}: no {} with its onset in {:?}", self.trace, asked.join(" or "), self.onset));
        }
        let most = if self.note.contains("at most WARN") { Severity::Warn } else { Severity::Crit };
        for finding in told.iter().filter(|f| f.severity >= Severity::Warn) {
            let Told { kind, severity, onset } = finding;
            if !self.required.contains(kind) && !self.allowed.contains(kind) {
                faults.push(format!("{}: {severity:?} {kind} at {onset:.2} s is not allowed", self.trace));
            } else if *severity > most {
                faults.push(format!("{}: {severity:?} {kind} at {onset:.2} s; at most {most:?}", self.trace));
            }
        }
        faults
    }
}

/// Every row there is.
pub(crate) fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(directory().join("EXPECTED.tsv")).unwrap();
    text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(Row::parse).collect()
}
