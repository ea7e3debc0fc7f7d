//! What is wrong with a plan that makes sense as a text: checks that can never fail, never hold, or never be decided, and runs that do not
//! do what they say. Told before anything is loaded; nothing of it keeps a plan from being run.

use std::fmt;

use super::{interval, roof};
use crate::vocab::check::{Basis, Check, Decide, Limit, Statistic};
use crate::vocab::finding::{Kind, Severity};
use crate::vocab::official::{self, DERIVED};
use crate::vocab::plan::{Load, Plan, Reference, Run};
use crate::vocab::text::counted;
use crate::vocab::unit::{Quantity, Unit};

/// A tenth of fewer iterations is none.
const A_TENTH: usize = 10;

/// One thing that is not what was meant, most likely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The path of the field: `checks[3].at_least`.
    pub field: String,
    /// What follows from it, in one line.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.text)
    }
}

/// A field of a check, and what follows from it.
type Said = (&'static str, String);

/// Everything that can be told of a plan by itself.
#[must_use]
pub fn review(plan: &Plan) -> Vec<Warning> {
    let mut warnings = alone(plan);
    for (i, check) in plan.checks.iter().enumerate() {
        let mut said = Vec::new();
        let about = About::of(plan, check);
        if let Some(unknown) = about.unknown() {
            said.push(unknown);
        } else {
            said.extend(about.limits());
            said.extend(about.number());
        }
        said.extend(about.findings());
        said.extend(twice(&plan.checks[..i], check));
        warnings.extend(said.into_iter().map(|(field, text)| Warning { field: format!("checks[{i}].{field}"), text }));
    }
    warnings
}

/// Words of groups that only one run has.
fn alone(plan: &Plan) -> Vec<Warning> {
    let alone = plan.runs.iter().enumerate().filter_map(|(i, run)| {
        let word = run.together.as_ref().filter(|_| plan.group_of(&run.name).len() == 1)?;
        let text = format!("no other run has `{word}`, so nothing goes on at the same time");
        Some(Warning { field: format!("runs[{i}].together"), text })
    });
    alone.collect()
}

/// What an earlier check says already, or the contrary of it.
fn twice(before: &[Check], check: &Check) -> Vec<Said> {
    let same = |other: &&Check| other.of == check.of && other.statistic == check.statistic;
    let mut said = Vec::new();
    for (earlier, other) in before.iter().enumerate().filter(|(_, other)| same(other)) {
        let why = other.why.clone();
        if (Check { why, section: other.section.clone(), ..check.clone() }) == *other {
            said.push(("of", format!("checks[{earlier}] says the same")));
        } else if apart(check.at_least.as_ref(), other.at_most.as_ref()) {
            said.push(("at_least", format!("checks[{earlier}] asks for less at most, so one of the two never holds")));
        } else if apart(other.at_least.as_ref(), check.at_most.as_ref()) {
            said.push(("at_most", format!("checks[{earlier}] asks for more at least, so one of the two never holds")));
        }
    }
    if apart(check.at_least.as_ref(), check.at_most.as_ref()) {
        said.push(("at_most", "it is less than at_least, so the check never holds".to_owned()));
    }
    said
}

/// Whether nothing is at least the one and at most the other.
fn apart(at_least: Option<&Limit>, at_most: Option<&Limit>) -> bool {
    match (at_least, at_most) {
        (Some(Limit::Absolute(least)), Some(Limit::Absolute(most))) => {
            least.unit == most.unit && least.value > most.value
        }
        (Some(Limit::OfRoof(least, of)), Some(Limit::OfRoof(most, by))) => of == by && least > most,
        _ => false,
    }
}

/// A check with the runs that it is about.
struct About<'a> {
    plan: &'a Plan,
    check: &'a Check,
    runs: Vec<&'a Run>,
    figure: &'a str,
    /// The figure's unit; none where no run gives it.
    unit: Option<Unit>,
}

impl<'a> About<'a> {
    fn of(plan: &'a Plan, check: &'a Check) -> Self {
        let (name, figure) = check.of.split_once('.').unwrap_or((&check.of, ""));
        let meant: Vec<&Run> = plan.runs.iter().filter(|run| name == "*" || &*run.name.0 == name).collect();
        let gives = |run: &&Run| figure.is_empty() || unit_of(&run.kernel, figure).is_some();
        let giving: Vec<&Run> = meant.iter().copied().filter(gives).collect();
        let unit = giving.first().and_then(|run| unit_of(&run.kernel, figure));
        let runs = if giving.is_empty() { meant } else { giving };
        Self { plan, check, runs, figure, unit }
    }

    /// A figure that none of its runs gives.
    fn unknown(&self) -> Option<Said> {
        if self.unit.is_some() || self.figure.is_empty() {
            return None;
        }
        let run = self.runs.first()?;
        let known: Vec<String> = official::figures(&run.kernel).into_iter().map(|(name, _)| name).collect();
        Some(("of", format!("no run gives `{}`; {} gives {}", self.figure, run.name, known.join(", "))))
    }

    fn limits(&self) -> Vec<Said> {
        let limits = [("at_least", &self.check.at_least), ("at_most", &self.check.at_most)];
        let given = limits.into_iter().filter_map(|(field, limit)| Some((field, limit.as_ref()?)));
        given
            .flat_map(|(field, limit)| {
                let texts = match limit {
                    Limit::Absolute(quantity) => self.absolute(field, *quantity),
                    Limit::OfRoof(_, basis) => self.of_roof(*basis),
                    Limit::OfReference(name, _) => self.of_reference(name),
                    Limit::OfReferenceNormalised(name, _) => {
                        [self.of_reference(name), self.of_roof(Basis::Nominal)].concat()
                    }
                };
                texts.into_iter().map(move |text| (field, text))
            })
            .collect()
    }

    fn absolute(&self, field: &str, limit: Quantity) -> Vec<String> {
        let relative = self.check.statistic.is_relative();
        let unit = if relative { Some(Unit::Percent) } else { self.unit };
        let mut said = Vec::new();
        if let Some(unit) = unit.filter(|unit| *unit != limit.unit && limit.unit != Unit::Count) {
            let (of, by) = (printed(unit), printed(limit.unit));
            said.push(format!("the limit is in {by}, what it is held against in {of}: it is never compared"));
        }
        let never = match (field, self.check.statistic) {
            ("at_least", Statistic::Burst) => limit.value <= 100.0,
            ("at_least", _) => limit.value <= 0.0,
            (_, Statistic::Sustained | Statistic::Burst | Statistic::Spread | Statistic::RobustSpread) => false,
            _ => self.unit == Some(Unit::Percent) && limit.value >= 100.0,
        };
        if never {
            let what = if field == "at_least" { "less" } else { "more" };
            said.push(format!("no {} is ever {what} than {limit}: it cannot be missed", self.check.of));
        }
        said
    }

    fn of_roof(&self, basis: Basis) -> Vec<String> {
        let mut said = Vec::new();
        if basis == Basis::Measured {
            said.push("a measured roof proves no contract: a node that is throttled lowers it too".to_owned());
        }
        let unknown = |run: &&&Run| basis == Basis::Nominal && !self.has_roof(run);
        if let Some(run) = self.runs.iter().find(unknown) {
            let name = &run.name;
            said.push(format!(
                "no node tells the nominal roof of {name}, and the plan gives none: it proves nothing without --roof {name}=VALUE"
            ));
        }
        let shares = |run: &&&Run| self.plan.group_of(&run.name).len() > 1;
        if let Some(run) = self.runs.iter().find(shares) {
            let word = run.together.as_deref().unwrap_or_default();
            said.push(format!(
                "{} shares the node with the other runs of `{word}`, and its roof is of the whole",
                run.name
            ));
        }
        said
    }

    /// Whether the plan gives its nominal roof, or nodes of metal tell it.
    fn has_roof(&self, run: &Run) -> bool {
        let full = format!("{}.{}", run.name, self.figure);
        let class = roof::class(&run.kernel);
        let given =
            roof::names(&full, &run.name.0, self.figure, class).iter().any(|name| self.plan.roofs.contains_key(*name));
        let told = matches!(run.kernel, Load::Linpack(_) | Load::Gemm(_) | Load::Stream(_) | Load::Memory(_));
        given || told
    }

    fn of_reference(&self, name: &str) -> Vec<String> {
        match self.plan.references.get(name) {
            None => vec![format!(
                "there is no reference `{name}` in the plan: it proves nothing without --reference {name}=FILE"
            )],
            Some(Reference::Figures(printed)) if !printed.figures.contains_key(&self.check.of) => {
                vec![format!("the reference `{name}` has no {}", self.check.of)]
            }
            Some(_) => Vec::new(),
        }
    }

    /// How many values there will be, of a run that goes on by time at most; none where that is not known.
    fn values(&self) -> Option<usize> {
        let of = |run: &&Run| match (run.lasting, run.until_steady) {
            _ if self.figure == DERIVED.0 => Some(1),
            (Some(lasting), _) => {
                let work = run.rest.map_or(lasting, |rest| rest.work_in(lasting));
                // The last one is begun in time and may end later.
                run.kernel.least_time().map(|each| work.0.div_ceil(each.0.max(1)) as usize)
            }
            (None, Some(rule)) => Some(rule.rounds as usize),
            (None, None) => Some(run.iterations as usize),
        };
        self.runs.iter().map(of).sum()
    }

    /// What the number of iterations does not allow.
    fn number(&self) -> Vec<Said> {
        let mut said = Vec::new();
        let most = if self.runs.iter().any(|run| run.lasting.is_some()) { " at most" } else { "" };
        let compares = self.check.at_least.is_some() || self.check.at_most.is_some();
        if let Some(values) = self.values() {
            if compares {
                said.extend(self.statistic(values));
            }
            if let Some(least) = self.check.iterations.filter(|least| *least as usize > values) {
                said.push((
                    "iterations",
                    format!("{least} are asked for, and there will be {values}{most}: it never holds"),
                ));
            }
        }
        if self.check.steady && self.runs.iter().any(|run| run.until_steady.is_none()) {
            let text = "nothing makes its run go on until it is steady; give the run until_steady".to_owned();
            said.push(("steady", text));
        }
        said
    }

    fn statistic(&self, values: usize) -> Option<Said> {
        let statistic = self.check.statistic;
        let tenths = matches!(statistic, Statistic::Sustained | Statistic::Burst);
        let fewest = match self.check.rule() {
            _ if tenths => Some(A_TENTH),
            Decide::Interval => interval::fewest_of(statistic),
            Decide::Point if statistic.is_relative() => Some(2),
            Decide::Point => None,
        };
        if let Some(fewest) = fewest.filter(|fewest| values < *fewest) {
            let text = if fewest == usize::MAX {
                format!("there is no interval of the {statistic}, so it is never decided; give decide: Point")
            } else {
                let are = if values == 1 { "is" } else { "are" };
                let values = counted(values, "iteration");
                format!("{values} {are} too few for the {statistic}, which needs {fewest}: it is never decided")
            };
            return Some(("statistic", text));
        }
        let Statistic::Quantile(q) = statistic else { return None };
        let beyond = q.min(1.0 - q) * (values as f64) < 1.0;
        beyond.then(|| {
            let which = if q > 0.5 { "largest" } else { "smallest" };
            ("statistic", format!("the {statistic} of {values} iterations is little else than the {which}"))
        })
    }

    fn findings(&self) -> Vec<Said> {
        let mut said = Vec::new();
        let of_disks = [Kind::Cached, Kind::Generator];
        let disk = self.runs.iter().any(|run| matches!(run.kernel, Load::Disk(_)));
        if let Some(kind) = self.check.no_findings.iter().find(|kind| of_disks.contains(kind) && !disk) {
            said.push(("no_findings", format!("{kind} is found in disk runs only: it cannot be missed")));
        }
        if self.check.no_findings.is_empty() && self.check.from != Severity::Warn {
            said.push(("from", "it weighs findings, and no_findings lists none".to_owned()));
        }
        said
    }
}

fn unit_of(load: &Load, figure: &str) -> Option<Unit> {
    let known = official::figures(load).into_iter().find(|(name, _)| name == figure).map(|(_, unit)| unit);
    known.or_else(|| (figure == DERIVED.0).then_some(DERIVED.1))
}

/// A unit in words; a plain number has no symbol.
fn printed(unit: Unit) -> &'static str {
    let symbol = unit.symbol();
    if symbol.is_empty() { "a plain number" } else { symbol }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::ronfile;

    /// The warnings about a plan of these runs and checks.
    fn of(runs: &str, checks: &str) -> Vec<String> {
        let text = format!("(title: \"t\", runs: [{runs}], checks: [{checks}], roofs: {{\"cpu\": \"9 GFLOPS\"}})");
        let mut plan: Plan = ronfile::parse("t", &text).unwrap();
        plan.checks.iter_mut().for_each(|check| check.decide = check.decide.or(Some(Decide::Interval)));
        review(&plan).iter().map(ToString::to_string).collect()
    }

    /// The same of LINPACK, ten times, and one check of it.
    fn cpu(check: &str) -> Vec<String> {
        of("(name: \"cpu\", kernel: Linpack(), iterations: 10)", &format!("(of: \"cpu.gflops\", {check})"))
    }

    /// The only warning there is.
    fn one(said: &[String], expected: &str) {
        assert!(said.len() == 1 && said[0].starts_with(expected), "{said:#?}, not {expected}");
    }

    const DISK: &str =
        "(name: \"d\", kernel: Disk(pattern: Read, block: \"4KiB\", size: \"1GiB\", time: \"1 s\"), iterations: 10)";

    #[test]
    fn a_plan_as_it_should_be_has_none() {
        let checks = "(of: \"cpu.gflops\", at_least: OfRoof(0.75, Nominal), iterations: 10), \
                      (of: \"cpu.gflops\", statistic: Sustained, at_least: Absolute(\"97 %\")), \
                      (of: \"*.steal_percent\", statistic: Max, at_most: Absolute(\"2 %\")), \
                      (of: \"cpu\", no_findings: [Hardware], from: Info)";
        assert!(of("(name: \"cpu\", kernel: Linpack(), iterations: 10)", checks).is_empty());
    }

    #[test]
    fn a_figure_that_no_run_gives_is_told_with_those_that_there_are() {
        let said = of("(name: \"cpu\", kernel: Linpack())", "(of: \"cpu.iops\", at_least: Absolute(\"1 IOPS\"))");
        one(&said, "checks[0].of: no run gives `iops`; cpu gives gflops, residual, seconds");
        one(&of(DISK, "(of: \"*.gflops\", at_least: Absolute(\"1 GFLOPS\"))"), "checks[0].of: no run gives `gflops`");
    }

    #[test]
    fn limits_that_are_never_compared_or_never_missed_are_told() {
        one(
            &cpu("at_least: Absolute(\"3 MB/s\")"),
            "checks[0].at_least: the limit is in MB/s, what it is held against in GFLOPS",
        );
        one(
            &cpu("statistic: Spread, at_most: Absolute(\"3 GFLOPS\")"),
            "checks[0].at_most: the limit is in GFLOPS, what it",
        );
        one(&cpu("at_least: Absolute(\"0 GFLOPS\")"), "checks[0].at_least: no cpu.gflops is ever less than 0 GFLOPS");
        one(&cpu("statistic: Burst, at_least: Absolute(\"100 %\")"), "checks[0].at_least: no cpu.gflops is ever less");
        let steal = of(DISK, "(of: \"*.steal_percent\", statistic: Max, at_most: Absolute(\"100 %\"))");
        one(&steal, "checks[0].at_most: no *.steal_percent is ever more than 100 %");
    }

    #[test]
    fn roofs_that_prove_nothing_are_told() {
        one(&cpu("at_least: OfRoof(0.75, Measured)"), "checks[0].at_least: a measured roof proves no contract");
        let disk = of(DISK, "(of: \"d.iops\", at_least: OfRoof(1.0, Nominal))");
        one(&disk, "checks[0].at_least: no node tells the nominal roof of d, and the plan gives none");
        let group = "(name: \"cpu\", kernel: Linpack(), iterations: 10, together: \"load\"), \
                     (name: \"m\", kernel: Stream(), iterations: 10, together: \"load\")";
        let said = of(group, "(of: \"cpu.gflops\", at_least: OfRoof(0.75, Nominal))");
        one(&said, "checks[0].at_least: cpu shares the node with the other runs of `load`");
    }

    #[test]
    fn references_that_are_not_there_are_told() {
        one(
            &cpu("at_least: OfReference(\"metal\", 0.85)"),
            "checks[0].at_least: there is no reference `metal` in the plan",
        );
        let figures = "], references: {\"metal\": Figures(from: \"f\", figures: {\"cpu.seconds\": \"1 s\"})}, runs: [";
        let text = format!(
            "(title: \"t\", checks: [(of: \"cpu.gflops\", decide: Point, at_least: OfReference(\"metal\", 0.85)){figures}(name: \"cpu\", kernel: Linpack())])"
        );
        let plan: Plan = ronfile::parse("t", &text).unwrap();
        assert_eq!(review(&plan)[0].text, "the reference `metal` has no cpu.gflops");
    }

    #[test]
    fn too_few_iterations_are_told() {
        let few = |n: u32, check: &str| {
            let run = format!("(name: \"cpu\", kernel: Linpack(), iterations: {n})");
            of(
                &run,
                &format!("(of: \"cpu.gflops\", at_least: Absolute(\"1 %\"), {check})")
                    .replace("1 %", if check.contains("Su") || check.contains("Spread") { "1 %" } else { "1 GFLOPS" }),
            )
        };
        one(&few(2, "statistic: Mean"), "checks[0].statistic: 2 iterations are too few for the mean, which needs 3");
        one(
            &few(5, "statistic: Median"),
            "checks[0].statistic: 5 iterations are too few for the median, which needs 6",
        );
        one(
            &few(9, "statistic: Sustained"),
            "checks[0].statistic: 9 iterations are too few for the sustained (last tenth by first)",
        );
        one(&few(1, "statistic: Spread, decide: Point"), "checks[0].statistic: 1 iteration is too few for the spread");
        one(
            &few(20, "statistic: Quantile(0.01), decide: Point"),
            "checks[0].statistic: the 1 % quantile of 20 iterations is little else",
        );
        one(&few(20, "statistic: Quantile(1.0)"), "checks[0].statistic: there is no interval of the 100 % quantile");
        one(&few(20, "iterations: 36"), "checks[0].iterations: 36 are asked for, and there will be 20");
        one(&few(20, "steady: true"), "checks[0].steady: nothing makes its run go on until it is steady");
        assert!(few(3, "statistic: Mean").is_empty() && few(6, "statistic: Median").is_empty());
        assert!(few(1, "decide: Point").is_empty() && few(1, "statistic: Max").is_empty());
    }

    #[test]
    fn a_run_that_goes_on_by_time_is_taken_to_have_enough() {
        let run = "(name: \"cpu\", kernel: Linpack(), lasting: \"8 h\")";
        assert!(of(run, "(of: \"cpu.gflops\", statistic: Sustained, at_least: Absolute(\"97 %\"))").is_empty());
        // But where its iterations cannot be so many in that time.
        let run = |lasting: &str| {
            format!(
                "(name: \"n\", kernel: Integer(time: \"60 s\"), lasting: \"{lasting}\", rest: (after: \"50 min\", lasting: \"10 min\"))"
            )
        };
        let check = "(of: \"n.events_per_s\", statistic: Mean, iterations: 100, at_least: Absolute(\"1 events/s\"))";
        assert!(of(&run("2 h"), check).is_empty());
        one(&of(&run("1 h"), check), "checks[0].iterations: 100 are asked for, and there will be 50 at most");
        one(
            &of(&run("9 min"), "(of: \"n.events_per_s\", statistic: Sustained, at_least: Absolute(\"97 %\"))"),
            "checks[0].statistic: 9 iterations are too few for the sustained",
        );
    }

    #[test]
    fn findings_that_cannot_be_made_are_told() {
        let said = of("(name: \"cpu\", kernel: Linpack())", "(of: \"cpu\", no_findings: [Cached])");
        one(&said, "checks[0].no_findings: CACHED is found in disk runs only");
        assert!(of(DISK, "(of: \"*\", no_findings: [Cached, Generator])").is_empty());
        one(
            &cpu("at_least: Absolute(\"1 GFLOPS\"), from: Crit"),
            "checks[0].from: it weighs findings, and no_findings lists none",
        );
    }

    #[test]
    fn what_is_said_twice_or_contradicts_itself_is_told() {
        let both = |a: &str, b: &str| {
            let runs = "(name: \"cpu\", kernel: Linpack(), iterations: 10)";
            of(runs, &format!("(of: \"cpu.gflops\", {a}, why: \"a\"), (of: \"cpu.gflops\", {b}, why: \"b\")"))
        };
        let (least, most) = ("at_least: Absolute(\"10 GFLOPS\")", "at_most: Absolute(\"5 GFLOPS\")");
        one(&both(least, least), "checks[1].of: checks[0] says the same");
        one(&both(least, most), "checks[1].at_most: checks[0] asks for more at least");
        one(&both(most, least), "checks[1].at_least: checks[0] asks for less at most");
        one(&cpu(&format!("{least}, {most}")), "checks[0].at_most: it is less than at_least");
        assert!(both(least, "at_most: Absolute(\"20 GFLOPS\")").is_empty());
    }

    #[test]
    fn a_group_of_one_is_told() {
        let said = of("(name: \"cpu\", kernel: Linpack(), together: \"load\")", "");
        one(&said, "runs[0].together: no other run has `load`");
    }
}
