//! GENERATOR: the side that makes the load was the limit, so the figure says what the generator can do and nothing of the device.

use std::collections::HashMap;

use super::{Change, Detector};
use crate::analysis::state::{Node, RunState, State};
use crate::vocab::event::{Event, Phase, Record};
use crate::vocab::figure::Figure;
use crate::vocab::finding::{Cause, Finding, Kind, Resource, Severity};
use crate::vocab::moment::Moment;
use crate::vocab::name::{NodeName, RunName};
use crate::vocab::plan::Load;

/// A thread that takes so much of a core has no time left to wait for a device: what is missing to 100 % is what the scheduler and
/// interrupts take from it. One that others keep from its core has none left either: what it waits for a CPU counts as well. The same
/// share of a quota, or of all CPUs that the load may use, is the same for its threads together.
const BUSY: f64 = 95.0;

/// Watches the runs whose kernels load something else than the CPU.
#[derive(Default)]
pub(super) struct Generator {
    runs: HashMap<(NodeName, RunName), Watched>,
}

#[derive(Default)]
struct Watched {
    /// When the latest iteration began to count.
    since: Moment,
    open: Option<(Finding, f64)>,
}

impl Detector for Generator {
    fn observe(&mut self, record: &Record, state: &State, out: &mut Vec<Change>) {
        // Ten times a second, and nothing in it for this.
        if matches!(record.event, Event::Progress(_)) {
            return;
        }
        let Some(run) = record.event.run().and_then(|name| state.run(&record.node, name)) else { return };
        if !matches!(run.load, Load::Disk(_)) {
            return;
        }
        let watched = self.runs.entry((run.node.clone(), run.name.clone())).or_default();
        match &record.event {
            Event::Phase { phase: Phase::Measure, .. } => watched.since = record.at,
            Event::IterationEnded { iteration, figures, .. } => {
                let Some((share, words)) = state.nodes.get(&run.node).and_then(|node| full(figures, node)) else {
                    return;
                };
                watched.say(share, &words, *iteration, (record.at, run), out);
            }
            Event::RunEnded { .. } => {
                if let Some((mut finding, _)) = watched.open.take() {
                    finding.closed = Some(record.at);
                    out.push(Change::of(run, finding));
                }
            }
            _ => {}
        }
    }
}

impl Watched {
    /// Says it once a run, and again when a later iteration was worse.
    fn say(&mut self, share: f64, words: &str, iteration: u32, (at, run): (Moment, &RunState), out: &mut Vec<Change>) {
        if self.open.as_ref().is_some_and(|(_, before)| share <= *before) {
            return;
        }
        let mut finding = match self.open.take() {
            Some((finding, _)) => finding,
            None => Finding { iteration, ..Finding::new(Kind::Generator, Severity::Warn, self.since, at) },
        };
        finding.run = Some(run.name.clone());
        if run.together.is_some() {
            beside(&mut finding, words, iteration, run);
        } else {
            alone(&mut finding, words, iteration, run);
        }
        out.push(Change::of(run, finding.clone()));
        self.open = Some((finding, share));
    }
}

/// Nothing else was meant to need the CPUs.
fn alone(finding: &mut Finding, words: &str, iteration: u32, run: &RunState) {
    finding.sentence = format!(
        "GENERATOR: {words} in iteration {iteration} of {}: the figure is that of the load generator, and the device may give more",
        run.name
    );
    finding.held_by = vec![Resource::Generator];
    finding.causes = vec![Cause {
        what: "the load threads had no CPU time left".to_owned(),
        proof: Some(words.to_owned()),
        check: "larger blocks, more CPUs or a larger quota for the load; fio with several jobs".to_owned(),
    }];
}

/// What the plan does on purpose speaks against no figure of it: these are the node's under all of the group.
fn beside(finding: &mut Finding, words: &str, iteration: u32, run: &RunState) {
    finding.severity = Severity::Info;
    finding.sentence = format!(
        "GENERATOR: {words} in iteration {iteration} of {}, beside the other runs of its group: the figure is that of the node under \
         all of them",
        run.name
    );
}

/// How full the CPUs of the load were in percent, and in words, when that was the limit.
fn full(figures: &[Figure], node: &Node) -> Option<(f64, String)> {
    let value = |name: &str| figures.iter().find(|f| f.name == name).map(|f| f.value);
    let busiest = value("generator_cpu_percent")?;
    if busiest >= BUSY {
        return Some((busiest, format!("the busiest load thread took {busiest:.0} % of a core")));
    }
    let waited = value("generator_wait_percent").unwrap_or(0.0);
    if busiest + waited >= BUSY {
        let words = format!(
            "the busiest load thread took {busiest:.0} % of a core and waited {waited:.0} % of the time for one"
        );
        return Some((busiest + waited, words));
    }
    // Percent of a core: microseconds of an operation, operations a second.
    let together = value("cpu_us_per_io")? * value("iops")? / 1e4;
    let cores = allowed(node)?;
    let share = together / cores;
    let words =
        || format!("the load threads took {together:.0} % of a core, of the {:.0} % that they may have", 100.0 * cores);
    (share >= BUSY).then(|| (share, words()))
}

/// How many CPUs the load may use: those of its affinity, or the quota of its control group (`0.50 CPU`) where that is less.
fn allowed(node: &Node) -> Option<f64> {
    let quota = node.conditions.0.get("cpu_quota").and_then(|q| q.strip_suffix(" CPU")?.parse::<f64>().ok());
    let usable = node.inventory.as_ref().map(|i| f64::from(i.usable_cpus));
    usable.into_iter().chain(quota).filter(|cores| *cores > 0.0).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::{Scenario, disk};
    use crate::vocab::event::Outcome;
    use crate::vocab::plan::Pattern;
    use crate::vocab::unit::Unit;

    fn figures(busiest: f64, us_per_io: f64) -> Vec<Figure> {
        vec![
            Figure::new("iops", 10_000.0, Unit::Iops),
            Figure::new("generator_cpu_percent", busiest, Unit::Percent),
            Figure::new("cpu_us_per_io", us_per_io, Unit::Microseconds),
        ]
    }

    fn told(figures: Vec<Figure>) -> Scenario {
        Scenario::loading(disk(Pattern::RandomRead, true), vec![]).work(100.0, 20).iteration(figures)
    }

    #[test]
    fn a_full_thread_is_the_limit_and_says_so_until_the_end_of_the_run() {
        let told = told(figures(98.0, 98.0));
        let [finding] = told.found(Kind::Generator)[..] else { panic!("{:?}", told.found(Kind::Generator)) };
        assert_eq!((finding.kind, finding.severity, finding.closed), (Kind::Generator, Severity::Warn, None));
        assert!(finding.sentence.contains("took 98 % of a core in iteration 1"), "{}", finding.sentence);
        assert_eq!(finding.held_by, [Resource::Generator]);
        let told = told.finish(Outcome::Sound);
        assert!(told.found(Kind::Generator)[0].closed.is_some());
    }

    #[test]
    fn its_twins_have_time_left_or_are_meant_to_fill_the_cpu() {
        assert!(told(figures(90.0, 90.0)).found(Kind::Generator).is_empty());
        assert!(told(vec![]).found(Kind::Generator).is_empty());
        let load = Scenario::measuring(vec![]).work(100.0, 20).iteration(figures(100.0, 100.0));
        assert!(load.found(Kind::Generator).is_empty());
    }

    #[test]
    fn a_thread_that_others_keep_from_its_core_has_no_time_left() {
        let with = |waited: f64| {
            let wait = Figure::new("generator_wait_percent", waited, Unit::Percent);
            told([figures(50.0, 50.0), vec![wait]].concat())
        };
        let told = with(48.0);
        let [finding] = told.found(Kind::Generator)[..] else { panic!("{:?}", told.found(Kind::Generator)) };
        assert!(finding.sentence.contains("took 50 % of a core and waited 48 % of the time"), "{}", finding.sentence);
        assert!(with(40.0).found(Kind::Generator).is_empty());
    }

    #[test]
    fn a_quota_that_is_used_up_is_the_limit_and_half_of_it_is_not() {
        let with = |us: f64| {
            let told = Scenario::loading(disk(Pattern::RandomRead, true), vec![]).work(100.0, 20);
            told.setting("cpu_quota", None, Some("0.50 CPU")).iteration(figures(20.0, us))
        };
        let told = with(49.0);
        let [finding] = told.found(Kind::Generator)[..] else { panic!("{:?}", told.found(Kind::Generator)) };
        assert!(
            finding.sentence.contains("took 49 % of a core, of the 50 % that they may have"),
            "{}",
            finding.sentence
        );
        assert!(with(25.0).found(Kind::Generator).is_empty());
    }

    #[test]
    fn a_load_that_shares_its_cpus_on_purpose_is_told_and_speaks_against_nothing() {
        let mut told = Scenario::loading(disk(Pattern::RandomRead, true), vec![]).work(100.0, 20);
        told.state.runs[0].together = Some("load".to_owned());
        let told = told.iteration(figures(99.0, 99.0));
        let [finding] = told.found(Kind::Generator)[..] else { panic!("{:?}", told.found(Kind::Generator)) };
        assert_eq!(finding.severity, Severity::Info);
        assert!(finding.sentence.contains("beside the other runs of its group"), "{}", finding.sentence);
    }

    #[test]
    fn several_iterations_are_one_finding() {
        let told = told(figures(96.0, 96.0)).iteration(figures(97.0, 97.0)).iteration(figures(40.0, 40.0));
        let [finding] = told.found(Kind::Generator)[..] else { panic!("{:?}", told.found(Kind::Generator)) };
        assert!(finding.sentence.contains("97 %"), "{}", finding.sentence);
    }
}
