//! What was typed behind `--`.

use std::path::PathBuf;

/// How the score is to be taken.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) seed: u64,
    pub(crate) repeats: usize,
    pub(crate) sessions: usize,
    pub(crate) hours: f64,
    pub(crate) only: Option<String>,
    pub(crate) case: Option<usize>,
    pub(crate) emit: Option<PathBuf>,
    pub(crate) verbose: bool,
}

pub(crate) const USAGE: &str = "\
cargo bench --bench detection -- [OPTIONS]
  --seed N       another set of series (default 1)
  --repeats N    series of each kind, noise and rate (default 10)
  --sessions N   healthy sessions of thirty series (default 2; 0 leaves them out)
  --hours H      how long a session is (default 72)
  --only WORD    only groups of faults with this in their name, or labels of this kind; nothing healthy
  --case N       only the series with this number
  --emit DIR     write the chosen series as CSV with its labels as JSON, and stop
  -v             list what was missed, called by another name, or false: number, seed, label
";

impl Options {
    /// Reads the words behind `--`; those that the bench runner itself adds are let go by.
    pub(crate) fn read(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options =
            Self { seed: 1, repeats: 10, sessions: 2, hours: 72.0, only: None, case: None, emit: None, verbose: false };
        let mut words = words.filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            if word == "-v" {
                options.verbose = true;
                continue;
            }
            let value =
                words.next().ok_or_else(|| format!("{word}: no such option, or its value is missing\n{USAGE}"))?;
            let wrong = || format!("{word} {value}: not a number");
            match word.as_str() {
                "--seed" => options.seed = value.parse().map_err(|_| wrong())?,
                "--repeats" => options.repeats = value.parse().map_err(|_| wrong())?,
                "--sessions" => options.sessions = value.parse().map_err(|_| wrong())?,
                "--hours" => options.hours = value.parse().map_err(|_| wrong())?,
                "--case" => options.case = Some(value.parse().map_err(|_| wrong())?),
                "--only" => options.only = Some(value.to_lowercase()),
                "--emit" => options.emit = Some(PathBuf::from(value)),
                _ => return Err(format!("{word}: no such option\n{USAGE}")),
            }
        }
        Ok(options)
    }

    /// Whether only some of the faults are looked at.
    pub(crate) fn is_narrow(&self) -> bool {
        self.only.is_some() || self.case.is_some()
    }
}
