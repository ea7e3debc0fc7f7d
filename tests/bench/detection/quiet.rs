//! False alarms: on short healthy series of each kind, and on whole sessions.

use std::collections::BTreeMap;

use shakedown::analysis::trace::Trace;
use shakedown::vocab::finding::{Finding, Severity};

use crate::generator::Recipe;
use crate::generator::random::Random;
use crate::generator::sets::{healthy, session};
use crate::options::Options;
use crate::{figure, say, spread};

/// What was said of healthy series.
#[derive(Clone, Debug, Default)]
struct Alarms {
    samples: usize,
    warn: usize,
    fail: usize,
    /// How often each kind was said, with its severity.
    kinds: BTreeMap<String, usize>,
}

impl Alarms {
    fn of(samples: usize, findings: &[Finding]) -> Self {
        let mut alarms = Self { samples, ..Self::default() };
        for finding in findings {
            alarms.warn += usize::from(finding.severity == Severity::Warn);
            alarms.fail += usize::from(finding.severity >= Severity::Fail);
            *alarms.kinds.entry(format!("{:?} {}", finding.severity, finding.kind).to_uppercase()).or_default() += 1;
        }
        alarms
    }

    fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.warn += other.warn;
        self.fail += other.fail;
        other.kinds.iter().for_each(|(kind, n)| *self.kinds.entry(kind.clone()).or_default() += n);
    }

    fn words(&self) -> String {
        let kinds: Vec<String> = self.kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        kinds.join(", ")
    }
}

/// Plays without keeping the samples, which may be millions.
fn heard(recipe: &Recipe) -> (usize, Trace) {
    let mut trace = Trace::new(recipe.about());
    let mut samples = 0;
    for sample in recipe.play() {
        trace.read(sample.at(), sample.value, sample.in_flight);
        samples += 1;
    }
    trace.end();
    (samples, trace)
}

fn list(name: &str, seed: u64, findings: &[Finding]) {
    for f in findings.iter().filter(|f| f.severity >= Severity::Warn) {
        let at = f.onset.0 as f64 / 1e6;
        say(&format!("    {name}, seed {seed}: {:?} {} at {at:.1} s: {}", f.severity, f.kind, f.sentence));
    }
}

/// Scores the short series, then the sessions.
pub(crate) fn score(options: &Options) {
    short(options);
    sessions(options);
}

fn short(options: &Options) {
    let mut random = Random::new(options.seed ^ 0x5eed);
    let mut series = Vec::new();
    for _ in 0..options.repeats {
        for (hertz, samples) in [(1.0, 20), (1.0, 300), (10.0, 300), (1.0, 3600), (2.0, 3600), (10.0, 3600)] {
            for (name, recipe) in healthy(hertz, samples) {
                series.push((name, Recipe { seed: random.bits(), ..recipe }));
            }
        }
    }
    let heard = spread(&series, |_, (name, recipe)| {
        let (samples, trace) = heard(recipe);
        if options.verbose {
            list(name, recipe.seed, trace.findings());
        }
        Alarms::of(samples, trace.findings())
    });
    let mut all: BTreeMap<&str, Alarms> = BTreeMap::new();
    for ((name, _), alarms) in series.iter().zip(&heard) {
        all.entry(name).or_default().add(alarms);
    }
    say("\nfalse alarms on healthy series of 20 to 3600 samples (WARN or worse in 3600 samples)");
    for (name, alarms) in &all {
        let each = (alarms.warn + alarms.fail) as f64 * 3600.0 / alarms.samples.max(1) as f64;
        figure(&format!("  {name}"), "<= 0.3", &format!("{each:.2} in {} samples  {}", alarms.samples, alarms.words()));
    }
}

fn sessions(options: &Options) {
    let mut random = Random::new(options.seed ^ 0x72);
    let (mut series, mut total) = (Vec::new(), Alarms::default());
    for _ in 0..options.sessions {
        series.extend(session(options.hours * 3600.0, random.bits()));
    }
    if series.is_empty() {
        return;
    }
    // The long ones first, so that no core waits for one at the end.
    series.sort_by_key(|(_, recipe)| std::cmp::Reverse(recipe.samples));
    let heard = spread(&series, |_, (name, recipe)| {
        let (samples, trace) = heard(recipe);
        if options.verbose {
            list(name, recipe.seed, trace.findings());
        }
        Alarms::of(samples, trace.findings())
    });
    heard.iter().for_each(|alarms| total.add(alarms));
    say(&format!("\nfalse alarms in {} healthy sessions of {} hours, 30 series each", options.sessions, options.hours));
    let sessions = options.sessions as f64;
    figure("  FAIL or worse", "0 in 100", &with_bound(total.fail, total.samples));
    figure(
        "  WARN a session",
        "<= 1",
        &format!("{:.2}; {}", total.warn as f64 / sessions, with_bound(total.warn, total.samples)),
    );
    let mut by_name: BTreeMap<&str, Alarms> = BTreeMap::new();
    series.iter().zip(&heard).for_each(|((name, _), alarms)| by_name.entry(name).or_default().add(alarms));
    for (name, alarms) in by_name.iter().filter(|(_, alarms)| alarms.warn + alarms.fail > 0) {
        figure(&format!("  {name}"), "", &format!("{} samples  {}", alarms.samples, alarms.words()));
    }
}

/// None in `n` says at most three in `n`.
fn with_bound(count: usize, samples: usize) -> String {
    match count {
        0 => format!("0 in {samples} samples (at most {:.1e} a sample)", 3.0 / samples.max(1) as f64),
        _ => format!("{count} in {samples} samples"),
    }
}
