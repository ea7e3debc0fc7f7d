//! What the cells of a table of limits say.

use std::collections::BTreeMap;

use crate::vocab::check::{Basis, Decide, Limit, Missed, Statistic, Step};
use crate::vocab::spelling::{Spelling, plain};
use crate::vocab::unit::{Quantity, Unit};

/// On which side of a limit the good values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    AtLeast,
    AtMost,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::AtMost => Self::AtLeast,
        }
    }

    /// Whether a limit on this side asks for more than another number does.
    pub(super) fn stricter(self, limit: f64, than: f64) -> bool {
        match self {
            Self::AtLeast => limit > than,
            Self::AtMost => limit < than,
        }
    }
}

/// Of these the one that a misspelt word is nearest to, if any is near: a third of its letters may be wrong.
pub(super) fn nearest<'a>(word: &str, of: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = of.into_iter().map(|known| (strsim::osa_distance(&word.to_lowercase(), &known.to_lowercase()), known));
    let (distance, known) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= (word.chars().count() / 3).max(1)).then_some(known)
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default()
}

pub(super) fn side(text: &str) -> Result<Side, String> {
    match simple(text).as_str() {
        "at least" | ">=" | "≥" => Ok(Side::AtLeast),
        "at most" | "<=" | "≤" => Ok(Side::AtMost),
        _ => Err(format!("`{text}` is no side; expected `at least` or `at most`, or >= or <=")),
    }
}

/// Lower case, single blanks.
fn simple(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn statistic(text: &str) -> Result<Statistic, String> {
    let word = simple(text);
    let quantile = |q: &str, worth: f64| {
        let q = q.trim().parse::<f64>().ok().map(|q| q * worth).filter(|q| (0.0..=1.0).contains(q));
        q.map(Statistic::Quantile)
            .ok_or_else(|| format!("`{text}` is no quantile; expected one such as `5 % quantile`"))
    };
    match word.as_str() {
        "mean" | "average" => Ok(Statistic::Mean),
        "median" => Ok(Statistic::Median),
        "min" | "minimum" => Ok(Statistic::Min),
        "max" | "maximum" => Ok(Statistic::Max),
        "best" => Ok(Statistic::Best),
        "spread" => Ok(Statistic::Spread),
        "robust spread" => Ok(Statistic::RobustSpread),
        "sustained" => Ok(Statistic::Sustained),
        "burst" => Ok(Statistic::Burst),
        word => match (word.strip_suffix("% quantile"), word.strip_prefix("quantile ")) {
            (Some(percent), _) => quantile(percent, 0.01),
            (None, Some(share)) => quantile(share, 1.0),
            (None, None) => Err(format!(
                "`{text}` is no statistic; expected mean, median, minimum, maximum, best, spread, robust spread, sustained, burst or `5 % quantile`"
            )),
        },
    }
}

/// A number from zero on. Where commas do not separate the cells, one can stand for the decimal point.
pub(super) fn number(text: &str, separator: char) -> Result<f64, String> {
    let plain = match text.split_once(',') {
        None => text.to_owned(),
        Some(_) if separator == ',' => return Err(format!("`{text}` is no number; write the decimal point as `.`")),
        Some((whole, digits)) if digits.len() == 3 && (1..=3).contains(&whole.len()) && whole != "0" => {
            let all = format!("{whole}{digits}");
            return Err(format!(
                "`{text}` can be read as {whole}.{digits} and as {all}; write {whole}.{digits} or {all}"
            ));
        }
        Some((whole, digits)) => format!("{whole}.{digits}"),
    };
    // A table that separates by semicolons does so for its decimal commas, and then a point stands between thousands.
    if let Some((whole, digits)) = text.split_once('.').filter(|_| separator == ';')
        && digits.len() == 3
        && (1..=3).contains(&whole.len())
        && whole != "0"
        && [whole, digits].iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()))
    {
        let decimal = text.trim_end_matches('0').trim_end_matches('.').replace('.', ",");
        return Err(format!(
            "`{text}` can be read as {decimal} and as {whole}{digits}; write {decimal} or {whole}{digits}"
        ));
    }
    match plain.parse::<f64>() {
        Ok(number) if !number.is_finite() => Err(format!("`{text}` is not a finite number")),
        Ok(number) if number < 0.0 => Err(format!("`{text}` is below zero")),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("`{text}` is no number")),
    }
}

/// A limit as a table has it: the number, the unit it is in, and the number in the unit of the record.
pub(super) enum Read {
    Fixed(Spelling, Quantity),
    Share(Limit),
}

/// What a limit and its unit come to for a figure in this unit of the record. The name of the column that is wrong comes with the fault.
pub(super) fn limit(
    (limit, unit): (&str, &str),
    separator: char,
    (figure, counts): (&str, Unit),
) -> Result<Read, (&'static str, String)> {
    let text = match (limit.contains('%'), unit) {
        (true, "" | "%") => limit.to_owned(),
        (true, other) => {
            return Err(("unit", format!("`{other}`, where the limit is in % already; leave one of them out")));
        }
        (false, unit) => format!("{limit} {unit}"),
    };
    let (first, rest) = match text.split_once('%') {
        Some((first, rest)) => (first.trim(), rest.trim()),
        None => (limit, ""),
    };
    let value = number(first, separator).map_err(|why| ("limit", why))?;
    if !rest.is_empty() {
        let column = if limit.contains('%') { "limit" } else { "unit" };
        return share(value, rest).map(Read::Share).map_err(|why| (column, why));
    }
    let word = if text.contains('%') { "%" } else { unit };
    let spelling: Spelling = word.parse().map_err(|why: String| ("unit", unknown_unit(word, &why)))?;
    let worth = spelling.worth(counts).ok_or_else(|| ("unit", other_dimension(spelling, figure, counts)))?;
    let typed = value;
    let value = if worth == 1.0 { typed } else { plain(typed * worth) };
    if !(value.is_normal() || (value, typed) == (0.0, 0.0)) {
        return Err(("limit", format!("`{first} {word}` is too large or too small to be compared with anything")));
    }
    Ok(Read::Fixed(spelling, Quantity::new(value, counts)))
}

fn share(percent: f64, of: &str) -> Result<Limit, String> {
    let share = percent / 100.0;
    if share <= 0.0 {
        return Err(format!("`{percent} %` of something is no limit; expected more than 0 %"));
    }
    let words: Vec<&str> = of.split_whitespace().collect();
    match words[..] {
        ["of", "nominal", "roof"] => Ok(Limit::OfRoof(share, Basis::Nominal)),
        ["of", "measured", "roof"] => Ok(Limit::OfRoof(share, Basis::Measured)),
        ["of", "reference", name] => Ok(Limit::OfReference(name.to_owned(), share)),
        ["of", "reference", name, "normalised" | "normalized"] => {
            Ok(Limit::OfReferenceNormalised(name.to_owned(), share))
        }
        _ => Err(format!(
            "`% {of}` is not understood; expected `% of nominal roof`, `% of measured roof`, `% of reference NAME` or `% of reference NAME normalised`"
        )),
    }
}

fn unknown_unit(word: &str, why: &str) -> String {
    let other_case = Spelling::words().find(|known| known.eq_ignore_ascii_case(word));
    let meant = meant(other_case.or_else(|| nearest(word, Spelling::words().filter(|known| !known.is_empty()))));
    format!("{why}; {meant}expected one such as MB/s, MiB/s, GFLOPS, IOPS, us, ms, s, %")
}

fn other_dimension(spelling: Spelling, figure: &str, counts: Unit) -> String {
    let of = |unit: Unit| match unit.symbol() {
        "" => "a plain number".to_owned(),
        symbol => format!("in {symbol} ({})", dimension(unit)),
    };
    match spelling.word() {
        "" => format!("there is no unit, and {figure} is {}", of(counts)),
        word => format!("`{word}` counts {}, and {figure} is {}", dimension(spelling.unit()), of(counts)),
    }
}

fn dimension(unit: Unit) -> &'static str {
    match unit {
        Unit::Gflops => "floating-point operations a second",
        Unit::MegabytesPerSecond => "bytes a second",
        Unit::Iops => "input and output operations a second",
        Unit::OpsPerSecond => "requests a second",
        Unit::EventsPerSecond => "events a second",
        Unit::PerSecond => "things a second",
        Unit::Bytes => "bytes",
        Unit::Seconds | Unit::Milliseconds | Unit::Microseconds | Unit::Nanoseconds => "time",
        Unit::Percent => "hundredths",
        Unit::Megahertz => "cycles a second",
        Unit::Celsius => "degrees",
        Unit::Watts => "energy a second",
        Unit::Count | Unit::Ratio => "plain numbers",
    }
}

/// `0.01` is a step; decimals and whole steps are said with their word, as a bare `2` could be either.
pub(super) fn rounding(text: &str, separator: char) -> Result<Option<Step>, String> {
    let word = simple(text);
    if word.is_empty() {
        return Ok(None);
    }
    let decimals = word.strip_suffix(" decimals").or_else(|| word.strip_suffix(" decimal"));
    if let Some(decimals) = decimals {
        let places = decimals.parse::<u8>().ok().filter(|places| *places <= 9);
        let step = places.and_then(|places| format!("1e-{places}").parse().ok());
        return step.map(|step| Some(Step(step))).ok_or_else(|| format!("`{text}`: expected 0 to 9 decimals"));
    }
    let (step, bare) = word.strip_prefix("step ").map_or((word.as_str(), true), |step| (step, false));
    let step = number(step, separator)?;
    if bare && step.fract() == 0.0 {
        let decimals = if step == 1.0 { "1 decimal".to_owned() } else { format!("{step} decimals") };
        return Err(format!("`{text}` can be read as {decimals} and as a step; write `{decimals}` or `step {step}`"));
    }
    if (1e-9..=1e12).contains(&step) { Ok(Some(Step(step))) } else { Err(format!("`{text}` is no step to round to")) }
}

pub(super) fn severity(text: &str) -> Result<Missed, String> {
    match simple(text).as_str() {
        "" | "must" | "shall" => Ok(Missed::Fail),
        "should" => Ok(Missed::Told),
        _ => Err(format!("`{text}` is no severity; expected must or should")),
    }
}

pub(super) fn decide(text: &str) -> Result<Decide, String> {
    match simple(text).as_str() {
        "" | "point" => Ok(Decide::Point),
        "interval" => Ok(Decide::Interval),
        _ => Err(format!("`{text}` is no rule; expected point or interval")),
    }
}

pub(super) fn iterations(text: &str) -> Result<Option<u32>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let count = text.parse::<u32>().ok().filter(|count| *count > 0);
    count.map(Some).ok_or_else(|| format!("`{text}` is no number of iterations; expected 1 or more"))
}

/// The unit of a figure of the plan.
pub(super) fn figure(text: &str, known: &BTreeMap<String, Unit>) -> Result<Unit, String> {
    let (run, figure) = text
        .split_once('.')
        .filter(|(run, figure)| !run.is_empty() && !figure.is_empty())
        .ok_or_else(|| format!("`{text}` names no figure; expected RUN.FIGURE, or *.FIGURE for every run"))?;
    let split = || known.iter().filter_map(|(name, unit)| Some((name.split_once('.')?, *unit)));
    if let Some((_, unit)) = split().find(|((r, f), _)| (run == "*" || *r == run) && *f == figure) {
        return Ok(unit);
    }
    let mut runs: Vec<&str> = split().map(|((run, _), _)| run).collect();
    runs.dedup();
    if run != "*" && !runs.contains(&run) {
        let meant = meant(nearest(run, runs.iter().copied()));
        return Err(format!("there is no run `{run}` in this plan; {meant}there are: {}", runs.join(", ")));
    }
    let mut figures: Vec<&str> = split().filter(|((r, _), _)| run == "*" || *r == run).map(|((_, f), _)| f).collect();
    figures.sort_unstable();
    figures.dedup();
    let who = if run == "*" { "no run".to_owned() } else { format!("the run `{run}`") };
    let verb = if run == "*" { "has a" } else { "has no" };
    let meant = meant(nearest(figure, figures.iter().copied()));
    Err(format!("{who} {verb} figure `{figure}`; {meant}there are: {}", figures.join(", ")))
}
