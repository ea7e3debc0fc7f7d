//! The scenario files below `tests/scenarios`: of every kind of finding one that must be found, and its twin, nearly identical,
//! that must not. Each is played as a live session; what is found in it anew must be the same.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::detect::redetect;
use super::scenario::{Scenario, disk};
use crate::vocab::event::{Outcome, Phase};
use crate::vocab::figure::Figure;
use crate::vocab::finding::{Finding, Kind, Severity};
use crate::vocab::plan::{Check, Limit, Pattern};
use crate::vocab::unit::{Quantity, Unit};

/// What happens in a scenario, in order. Times are in tenths of a second, rates in MB/s.
#[derive(Clone, Debug, Deserialize)]
enum Step {
    /// At this rate for so long.
    Work(f64, u32),
    /// Around this rate, by so many percent to either side.
    Noisy(f64, f64, u32),
    /// From one rate to the other.
    Slope(f64, f64, u32),
    /// So many times: the first rate and the second, each for so long.
    Swing(f64, f64, u32, u32),
    /// The iteration's time begins.
    Measure,
    /// Nothing is in flight.
    Idle(u32),
    /// Nobody speaks but the runner.
    Silence(u32),
    /// The run goes on at the second rate, its device reads and writes at the first.
    Device(f64, f64, u32),
    /// Seconds in each of which the slowest operation takes so many milliseconds.
    Slowest(f64, u32),
    /// A counter of a device is read: `edac/mc0`, `uncorrected`.
    Sample(String, String, f64),
    /// A setting changes.
    Setting(String, Option<String>, Option<String>),
    /// An agent starts on this boot of the node.
    Join(String),
    /// An iteration gives these figures, in percent of a core.
    Iteration(String, f64),
    /// The run ends.
    Finish,
}

/// A finding that is expected: its onset lies between two moments, in seconds from the beginning.
#[derive(Clone, Debug, Deserialize)]
struct Expected {
    kind: Kind,
    severity: Severity,
    onset: (f64, f64),
}

/// A scenario file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Story {
    about: String,
    #[serde(default)]
    reads: Option<bool>,
    #[serde(default)]
    floor: Option<Quantity>,
    told: Vec<Step>,
    #[serde(default)]
    expect: Vec<Expected>,
}

impl Story {
    fn play(&self) -> Scenario {
        let checks =
            self.floor.map(|floor| Check { at_least: Some(Limit::Absolute(floor)), ..Check::new("r.mb_per_s") });
        let checks = checks.into_iter().collect();
        let scenario = match self.reads {
            Some(direct) => Scenario::loading(disk(Pattern::Read, direct), checks),
            None => Scenario::measuring(checks),
        };
        self.told.iter().fold(scenario, |scenario, step| step.tell(scenario))
    }

    /// What is wrong: findings at WARN or above that are not expected, and expected ones that are not there.
    fn faults(&self, found: &[&Finding]) -> Vec<String> {
        let seconds = |f: &Finding| f.onset.0 as f64 / 1e6 - 1.0;
        let is = |f: &Finding, e: &Expected| {
            f.kind == e.kind && f.severity == e.severity && (e.onset.0..=e.onset.1).contains(&seconds(f))
        };
        let missing = self.expect.iter().filter(|e| !found.iter().any(|f| is(f, e))).map(|e| format!("missing {e:?}"));
        let loud = found.iter().filter(|f| f.severity >= Severity::Warn);
        let more = loud.filter(|f| !self.expect.iter().any(|e| is(f, e)));
        let more =
            more.map(|f| format!("not expected: {:?} {} at {:.1} s: {}", f.severity, f.kind, seconds(f), f.sentence));
        missing.chain(more).collect()
    }
}

impl Step {
    fn tell(&self, mut scenario: Scenario) -> Scenario {
        match self.clone() {
            Self::Work(rate, tenths) => scenario.work(rate, tenths),
            Self::Noisy(rate, percent, tenths) => {
                // Low-discrepancy numbers: even, and without a period.
                (0..tenths).fold(scenario, |scenario, i| {
                    let part = (f64::from(i) * 0.618_033_988_749_895).fract() * 2.0 - 1.0;
                    scenario.work(rate * (1.0 + percent / 100.0 * part), 1)
                })
            }
            Self::Slope(from, to, tenths) => (0..tenths).fold(scenario, |scenario, i| {
                let wobble = 1.0 + 0.01 * ((f64::from(i) * 0.618_033_988_749_895).fract() - 0.5);
                scenario.work(wobble * (from + (to - from) * f64::from(i) / f64::from(tenths)), 1)
            }),
            Self::Swing(high, low, tenths, times) => {
                (0..times).fold(scenario, |scenario, _| scenario.work(high, tenths).work(low, tenths))
            }
            Self::Measure => scenario.phase(Phase::Measure),
            Self::Idle(tenths) => scenario.idle(tenths),
            Self::Silence(tenths) => scenario.silence(tenths),
            Self::Device(device, run, tenths) => scenario.device(device, run, tenths),
            Self::Slowest(ms, seconds) => (0..seconds).fold(scenario, |s, _| s.slowest(ms)),
            Self::Sample(device, field, value) => scenario.sample(&device, &field, value),
            Self::Setting(what, before, after) => scenario.setting(&what, before.as_deref(), after.as_deref()),
            Self::Join(boot) => scenario.join(&boot),
            Self::Iteration(name, percent) => {
                scenario = scenario.iteration(vec![
                    Figure::new("mb_per_s", 100.0, Unit::MegabytesPerSecond),
                    Figure::new(&name, percent, Unit::Percent),
                ]);
                scenario
            }
            Self::Finish => scenario.finish(Outcome::Sound),
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

fn stories() -> Vec<(String, Story)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        ron::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    paths.iter().filter(|p| p.extension().is_some_and(|e| e == "ron")).map(|p| (name(p), read(p))).collect()
}

#[test]
fn every_kind_has_a_scenario_that_is_found_and_a_twin_that_is_not() {
    let stories = stories();
    for kind in Kind::all() {
        let file = kind.to_string().to_lowercase().replace(' ', "-");
        let of = |name: &str| stories.iter().find(|(n, _)| n == name).map(|(_, story)| story);
        let found = of(&file).unwrap_or_else(|| panic!("no {file}.ron"));
        let twin = of(&format!("{file}-not")).unwrap_or_else(|| panic!("no {file}-not.ron"));
        assert!(found.expect.iter().any(|e| e.kind == kind), "{file}.ron expects no {kind}");
        assert!(twin.expect.iter().all(|e| e.kind != kind), "{file}-not.ron expects {kind}");
    }
}

#[test]
fn what_is_expected_is_found_and_nothing_else_that_needs_a_look() {
    let mut faults = Vec::new();
    for (name, story) in stories() {
        let told = story.play();
        let found = told.findings();
        faults.extend(story.faults(&found).into_iter().map(|fault| format!("{name} ({}): {fault}", story.about)));
        let kinds: Vec<Kind> =
            Kind::all().filter(|k| name == format!("{k}-not").to_lowercase().replace(' ', "-")).collect();
        let quiet = found.iter().filter(|f| kinds.contains(&f.kind));
        faults.extend(quiet.map(|f| format!("{name}: {}", f.sentence)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_is_found_anew_is_what_was_found_live() {
    for (name, story) in stories() {
        let told = story.play();
        let anew = redetect(&told.records);
        assert_eq!(told.state.findings, anew.findings, "{name}");
    }
}
