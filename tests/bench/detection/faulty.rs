//! Recall, delay and confusion on series with faults.

use std::collections::BTreeMap;

use shakedown::vocab::finding::Kind;

use crate::generator::fault::Label;
use crate::generator::sets::{Case, PREFIXES, faults};
use crate::options::Options;
use crate::score::{Outcome, outcome, quantile, too_early};
use crate::{figure, say, spread};

/// A label with what became of it.
struct Told {
    group: String,
    label: Label,
    tick: f64,
    outcome: Outcome,
}

/// The series with their numbers that are asked for.
pub(crate) fn chosen(options: &Options) -> Vec<(usize, Case)> {
    let is_meant = |(number, case): &(usize, Case)| {
        let is_only = |word: &String| {
            let kinds = case.recipe.labels();
            case.group.contains(word) || kinds.iter().any(|l| l.kind.to_string().to_lowercase() == *word)
        };
        options.case.is_none_or(|n| n == *number) && options.only.as_ref().is_none_or(is_only)
    };
    faults(options.seed, options.repeats).into_iter().enumerate().filter(is_meant).collect()
}

/// Plays every series and prints what was found.
pub(crate) fn score(cases: &[(usize, Case)], options: &Options) {
    let heard = spread(cases, |_, (_, case)| case.recipe.trace());
    let (mut told, mut early, mut lines) = (Vec::new(), BTreeMap::<&str, usize>::new(), Vec::new());
    for ((number, case), trace) in cases.iter().zip(&heard) {
        let (recipe, labels, findings) = (&case.recipe, case.recipe.labels(), trace.findings());
        let place =
            format!("case {number}, {}, {} Hz, {:?}, seed {}", case.group, recipe.hertz, recipe.noise, recipe.seed);
        let false_ones = too_early(&labels, findings);
        *early.entry(&case.group).or_default() += false_ones.len();
        lines.extend(
            false_ones.iter().map(|f| format!("    false {} at {:.1} s: {place}", f.kind, f.onset.0 as f64 / 1e6)),
        );
        for label in labels {
            let outcome = outcome(&label, findings);
            if label.wanted && !matches!(outcome, Outcome::Hit { .. }) {
                let all: Vec<String> = findings
                    .iter()
                    .map(|f| format!("{:?} {} {:.1}", f.severity, f.kind, f.onset.0 as f64 / 1e6))
                    .collect();
                let (kind, onset) = (label.kind, label.onset);
                lines.push(format!(
                    "    {outcome:?}: {kind} at {onset:.1} s, to {}: {place}; said: {}",
                    label.ratio,
                    all.join(", ")
                ));
            }
            told.push(Told { group: case.group.clone(), label, tick: recipe.tick(), outcome });
        }
    }
    if !options.is_narrow() {
        figures(&told);
    }
    groups(&told, &early);
    confusion(&told);
    if options.verbose {
        say("");
        lines.iter().for_each(|line| say(line));
    }
}

/// Hits among those that were wanted, and how many these are.
fn recall<'a>(told: impl Iterator<Item = &'a Told>) -> String {
    let (mut hit, mut all) = (0_usize, 0_usize);
    for one in told.filter(|t| t.label.wanted) {
        all += 1;
        hit += usize::from(matches!(one.outcome, Outcome::Hit { .. }));
    }
    let least = 100.0 * hit as f64 / all.max(1) as f64;
    format!("{least:.2} % of {all}")
}

/// The delays of the hits on their own kind, in seconds and in samples.
fn delays<'a>(told: impl Iterator<Item = &'a Told>) -> (Vec<f64>, Vec<f64>) {
    let of = |t: &Told| match t.outcome {
        Outcome::Hit { delay, as_kind } if as_kind == t.label.kind => Some((delay, delay / t.tick)),
        _ => None,
    };
    told.filter_map(of).unzip()
}

fn two(values: &mut [f64], unit: &str) -> String {
    match (quantile(values, 0.5), quantile(values, 0.95)) {
        (Some(half), Some(most)) => format!("{half:.1} / {most:.1} {unit} (n {})", values.len()),
        _ => "none".to_owned(),
    }
}

/// The figures of merit that faults make.
fn figures(told: &[Told]) {
    let of = |group: String, kind: Kind| told.iter().filter(move |t| t.group == group && t.label.kind == kind);
    for prefix in PREFIXES {
        figure(
            &format!("recall COLLAPSE after {prefix} samples"),
            ">= 99.5 %",
            &recall(of(format!("collapse after {prefix}"), Kind::Collapse)),
        );
    }
    for prefix in [0].into_iter().chain(PREFIXES) {
        figure(
            &format!("recall STALL after {prefix} samples"),
            ">= 99.5 %",
            &recall(of(format!("stall after {prefix}"), Kind::Stall)),
        );
    }
    figure("recall STEP to 70 %, CV <= 10 %", ">= 98 %", &recall(of("step to 70 %".to_owned(), Kind::Step)));
    figure("recall STEP to 85 %, CV <= 3 %", ">= 98 %", &recall(of("step to 85 %".to_owned(), Kind::Step)));
    let collapses = told.iter().filter(|t| t.group.starts_with("collapse after"));
    figure("delay COLLAPSE p50 / p95", "<= 3 / 6", &two(&mut delays(collapses).1, "windows"));
    for (hertz, goal) in [(10.0, "<= 2.1 s"), (2.0, "<= 2.5 s"), (1.0, "<= 3 s")] {
        let stalls = told.iter().filter(|t| t.label.kind == Kind::Stall && (t.tick * hertz - 1.0).abs() < 0.01);
        figure(&format!("delay STALL p50 / p95 at {hertz} Hz"), goal, &two(&mut delays(stalls).0, "s"));
    }
    let named: Vec<&Told> = told.iter().filter(|t| t.label.wanted && t.outcome != Outcome::Missed).collect();
    let right = named.iter().filter(|t| matches!(t.outcome, Outcome::Hit { .. })).count();
    let share = 100.0 * right as f64 / named.len().max(1) as f64;
    figure("right kind among detected", ">= 95 %", &format!("{share:.2} % of {}", named.len()));
}

/// Every group by itself.
fn groups(told: &[Told], early: &BTreeMap<&str, usize>) {
    let mut groups: BTreeMap<(&str, Kind), Vec<&Told>> = BTreeMap::new();
    told.iter().for_each(|t| groups.entry((&t.group, t.label.kind)).or_default().push(t));
    say("");
    say(&format!(
        "{:<34} {:<14} {:>6} {:>8} {:>7} {:>7} {:>6}  delay p50 / p95",
        "group", "label", "n", "recall", "other", "missed", "false"
    ));
    for ((group, kind), told) in groups {
        let count = |is: fn(&Outcome) -> bool| told.iter().filter(|t| is(&t.outcome)).count();
        let hits = count(|o| matches!(o, Outcome::Hit { .. }));
        let share = format!("{:.1} %", 100.0 * hits as f64 / told.len() as f64);
        let (other, missed) = (count(|o| matches!(o, Outcome::Other(_))), count(|o| *o == Outcome::Missed));
        let false_ones = early.get(group).copied().unwrap_or_default();
        let free = if told.iter().any(|t| t.label.wanted) { "" } else { "  (too small to be wanted)" };
        let delay = two(&mut delays(told.iter().copied()).0, "s");
        let n = told.len();
        let kind = kind.to_string();
        say(&format!("{group:<34} {kind:<14} {n:>6} {share:>8} {other:>7} {missed:>7} {false_ones:>6}  {delay}{free}"));
    }
}

/// What each kind was called.
fn confusion(told: &[Told]) {
    let mut cells: BTreeMap<Kind, BTreeMap<String, usize>> = BTreeMap::new();
    for one in told.iter().filter(|t| t.label.wanted) {
        let called = match one.outcome {
            Outcome::Hit { as_kind, .. } => as_kind.to_string(),
            Outcome::Other(kind) => format!("{kind}"),
            Outcome::Missed => "nothing".to_owned(),
        };
        *cells.entry(one.label.kind).or_default().entry(called).or_default() += 1;
    }
    say("\nwhat each was called");
    for (kind, called) in cells {
        let mut called: Vec<(String, usize)> = called.into_iter().collect();
        called.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let words: Vec<String> = called.into_iter().map(|(name, n)| format!("{n} {name}")).collect();
        say(&format!("{:<16} {}", kind.to_string(), words.join(", ")));
    }
}
