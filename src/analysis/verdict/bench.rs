//! One check on one node: what is compared, and what speaks for and against the comparison.

use super::bound::{self, Bound};
use super::decide::{self, Compared, Holds, Rule, Side};
use super::terms::Terms;
use crate::analysis::reference::Differences;
use crate::analysis::state::{RunState, State};
use crate::vocab::check::{Check, Decide, Limit, Missed};
use crate::vocab::finding::{Finding, Kind, Severity};
use crate::vocab::name::NodeName;
use crate::vocab::official::DERIVED;
use crate::vocab::plan::Plan;
use crate::vocab::unit::Unit;
use crate::vocab::verdict::{Decision, EVERY, Line, Numbers};

/// Figures that mean the same whether a cache or the load generator was measured.
const HOLD: [&str; 4] = ["steal_percent", "generator_cpu_percent", "generator_wait_percent", "cpu_us_per_io"];

pub(super) struct Bench<'a> {
    pub(super) plan: &'a Plan,
    pub(super) state: &'a State,
    pub(super) node: &'a NodeName,
    pub(super) check: &'a Check,
}

/// The iterations' values of a figure.
struct Measured {
    values: Vec<f64>,
    unit: Unit,
    /// Those of iterations that nobody disturbed, where some were.
    undisturbed: Option<Vec<f64>>,
}

impl Bench<'_> {
    pub(super) fn lines(&self) -> Vec<Line> {
        let (run, figure) = self.check.of.split_once('.').unwrap_or((&self.check.of, ""));
        let runs: Vec<&RunState> =
            self.state.runs.iter().filter(|r| &r.node == self.node && (run == "*" || &*r.name.0 == run)).collect();
        let with: Vec<&RunState> = runs.iter().copied().filter(|run| !run.figure(figure).is_empty()).collect();
        if run == "*" && figure != DERIVED.0 && with.len() > 1 {
            self.worst(&with, figure)
        } else {
            self.lines_of(&runs, figure)
        }
    }

    /// The lines of the run that comes off worst: together, many good figures would stand for a bad one.
    fn worst(&self, runs: &[&RunState], figure: &str) -> Vec<Line> {
        let each: Vec<(&RunState, Vec<Line>)> =
            runs.iter().map(|run| (*run, self.lines_of(std::slice::from_ref(run), figure))).collect();
        let count = each.first().map_or(0, |(_, lines)| lines.len());
        let rank = |line: &Line| {
            let good = line.numbers.as_ref().map_or(f64::MIN, |n| {
                let by = if n.above_is_good { n.value - n.limit } else { n.limit - n.value };
                by / n.limit.abs().max(f64::MIN_POSITIVE)
            });
            (std::cmp::Reverse(line.decision), good)
        };
        let worst = |place: usize| {
            let lines = each.iter().map(|(run, lines)| (run, &lines[place]));
            let (run, line) = lines.min_by(|(_, a), (_, b)| {
                let ((a, of_a), (b, of_b)) = (rank(a), rank(b));
                a.cmp(&b).then(of_a.total_cmp(&of_b))
            })?;
            let reasons = [format!("{} is the worst of {} runs", run.name, runs.len()), line.reason.clone()];
            let reason = reasons.into_iter().filter(|why| !why.is_empty()).collect::<Vec<_>>().join("; ");
            Some(Line { reason, ..line.clone() })
        };
        (0..count).filter_map(worst).collect()
    }

    /// The lines about these runs, whichever the check names.
    pub(super) fn lines_of(&self, runs: &[&RunState], figure: &str) -> Vec<Line> {
        let limits = [(Side::AtLeast, &self.check.at_least), (Side::AtMost, &self.check.at_most)];
        let mut lines: Vec<Line> = limits
            .into_iter()
            .filter_map(|(side, limit)| Some(self.limit((limit.as_ref()?, side), runs, figure)))
            .collect();
        if !self.check.no_findings.is_empty() {
            lines.push(self.no_findings(runs));
        }
        lines
    }

    fn blank(&self) -> Line {
        let clause = self.check.clause.as_ref().map(ToString::to_string);
        let why = (!self.check.why.is_empty()).then(|| self.check.why.clone());
        Line {
            reason: clause.into_iter().chain(why).collect::<Vec<_>>().join(": "),
            section: self.check.section.clone(),
            told: self.check.missed == Missed::Told,
            ..Line::open(&self.node.0, &self.check.of.replacen('*', EVERY, 1))
        }
    }

    fn limit(&self, (limit, side): (&Limit, Side), runs: &[&RunState], figure: &str) -> Line {
        let mut line = self.blank();
        line.evidence = runs.iter().flat_map(|run| run.figure(figure)).map(|(.., seq)| seq).collect();
        line.comparison = format!("{} of {} {}", self.check.statistic, line.evidence.len(), side.word());
        let bound = bound::resolve((self.plan, self.check, self.state), (limit, side), runs, figure);
        if let Ok(bound) = &bound {
            line.limit.clone_from(&bound.text);
        }
        let mut measured = Measured::of(runs, figure);
        let Some(number) = decide::number(self.check.statistic, side, &measured.values) else {
            line.reason = self.because(&match measured.values.len() {
                0 => format!("no {} was measured", self.check.of),
                1 => "one iteration is too few for this statistic".to_owned(),
                n => format!("{n} iterations are too few for this statistic"),
            });
            return line;
        };
        if self.check.statistic.is_relative() {
            measured.unit = Unit::Percent;
        }
        let terms = Terms::of(self.check, measured.unit);
        if let Ok(terms) = &terms {
            line.measured = terms.print(terms.convert(number));
        }
        let (mut bound, terms) = match bound.and_then(|bound| Ok((bound, terms?))) {
            Ok(both) => both,
            Err(why) => {
                line.reason = self.because(&why);
                return line;
            }
        };
        if let Some(divisor) = bound.divisor {
            measured.divide(divisor);
        }
        if let Some(why) = misfit(bound.value.unit, measured.unit) {
            line.reason = self.because(&why);
            return line;
        }
        if let Limit::Absolute(_) = limit {
            bound.convert(&terms);
            measured.convert(&terms);
            line.limit.clone_from(&bound.text);
        }
        self.decide(line, (&bound, side), (&measured, &terms), (runs, figure))
    }

    /// Why there is no decision, with the clause that it is about.
    fn because(&self, why: &str) -> String {
        self.check.clause.as_ref().map_or_else(|| why.to_owned(), |clause| format!("{clause}: {why}"))
    }

    fn rule(&self) -> Rule {
        let rounding = self.check.clause.as_ref().and_then(|clause| clause.rounding);
        Rule { statistic: self.check.statistic, decide: self.check.rule(), rounding }
    }

    /// Fills in what the comparison came to.
    fn decide(
        &self,
        mut line: Line,
        (bound, side): (&Bound, Side),
        (measured, terms): (&Measured, &Terms),
        (runs, figure): (&[&RunState], &str),
    ) -> Line {
        let Some(compared) = decide::compare(self.rule(), side, &measured.values, bound.mark()) else { return line };
        line.margin = margin(side.good(compared.measured, bound.value.value), bound.value.value);
        line.detail = detail(&compared, bound, terms);
        line.numbers = Some(numbers(&compared, (bound, side), measured.unit));
        if bound.divisor.is_none() {
            line.measured = terms.print_beside(compared.measured, bound.value.value);
        }
        let mut reasons = vec![line.reason.clone()];
        if let Some(number) = decide::number(self.check.statistic, side, &measured.values)
            && let Some(rounded) = terms.rounded(number)
        {
            line.measured = terms.print(compared.measured);
            reasons.push(rounded);
        }
        let doubts = self.doubts(runs, figure);
        // An interval takes into account how many there are; a number of fewer values than were asked for may still become another.
        let settled = doubts.is_empty() || self.check.rule() == Decide::Interval;
        line.decision = match compared.holds {
            Holds::Yes if doubts.is_empty() => Decision::Pass,
            Holds::No if settled => self.missed(),
            _ => Decision::NotProven,
        };
        // The rule of a point goes without saying where a preset has it so; by a contract's clause somebody is held to it.
        if compared.interval.is_some() || compared.holds == Holds::Open || self.check.clause.is_some() {
            reasons.push(compared.words.clone());
        }
        if compared.holds != Holds::Open {
            reasons.extend(doubts);
        }
        if let Some((differs, words)) = self.undisturbed(&compared, (bound, side), (measured, terms), (runs, figure)) {
            if differs {
                line.decision = Decision::NotProven;
            }
            reasons.push(words);
        }
        let Differences { listed, invalid } = &bound.differences;
        if !invalid.is_empty() {
            line.decision = Decision::NotProven;
            reasons.push(format!("not the same was measured: {}", invalid.join("; ")));
        }
        if !listed.is_empty() {
            reasons.push(format!("the machines differ: {}", listed.join("; ")));
        }
        if let Some(finding) = self.spoilt(runs, figure) {
            line.decision = Decision::NotProven;
            reasons = vec![self.because(&finding.sentence)];
        }
        line.reason = reasons.into_iter().filter(|why| !why.is_empty()).collect::<Vec<_>>().join("; ");
        line
    }

    /// What a comparison comes to when it does not hold.
    fn missed(&self) -> Decision {
        match self.check.missed {
            Missed::Fail | Missed::Told => Decision::Fail,
            Missed::NotProven => Decision::NotProven,
        }
    }

    /// What the comparison comes to without the iterations that others disturbed, and whether that is something else.
    fn undisturbed(
        &self,
        all: &Compared,
        (bound, side): (&Bound, Side),
        (measured, terms): (&Measured, &Terms),
        (runs, figure): (&[&RunState], &str),
    ) -> Option<(bool, String)> {
        let told = runs.iter().filter(|_| !HOLD.contains(&figure));
        let disturbed: Vec<String> =
            told.filter_map(|run| Some(format!("{}: {}", run.name, run.disturbed()?))).collect();
        if disturbed.is_empty() {
            return None;
        }
        let disturbed = disturbed.join("; ");
        let Some(rest) = &measured.undisturbed else { return Some((false, disturbed)) };
        let Some(without) = decide::compare(self.rule(), side, rest, bound.mark()) else {
            return Some((all.holds == Holds::No, format!("{disturbed}; none is left without them")));
        };
        let number = print(without.measured, bound, terms);
        Some((without.holds != all.holds, format!("{disturbed}; without them {number} of {}", rest.len())))
    }

    /// The finding that makes a figure one of something else than the node's device: of a cache, or of the load generator. What
    /// is known of the generator and of the node's CPUs holds in spite of it.
    fn spoilt<'s>(&'s self, runs: &[&'s RunState], figure: &str) -> Option<&'s Finding> {
        let spoils = |f: &&Finding| matches!(f.kind, Kind::Cached | Kind::Generator) && f.severity >= Severity::Warn;
        let found = runs.iter().flat_map(|run| self.state.findings_of(run)).filter(spoils);
        if HOLD.contains(&figure) { None } else { found.max_by_key(|f| f.severity) }
    }

    /// What was found in a run; what is of the node and not of a run counts for all that went on at the time.
    fn findings<'s>(&'s self, run: &'s RunState) -> impl Iterator<Item = &'s Finding> {
        let of_the_node = |f: &&Finding| matches!(f.kind, Kind::Hardware | Kind::Conditions);
        let meanwhile =
            |f: &&Finding| run.started.is_some_and(|from| from <= f.onset) && run.ended.is_none_or(|to| f.onset <= to);
        let theirs = self
            .state
            .companions(run)
            .flat_map(|other| self.state.findings_of(other))
            .filter(of_the_node)
            .filter(meanwhile);
        self.state.findings_of(run).chain(theirs.collect::<Vec<_>>())
    }

    fn no_findings(&self, runs: &[&RunState]) -> Line {
        let mut line = self.blank();
        let kinds: Vec<String> = self.check.no_findings.iter().map(ToString::to_string).collect();
        line.comparison = format!("no {}", kinds.join(", "));
        let listed = |f: &&Finding| self.check.no_findings.contains(&f.kind);
        let noted: Vec<&Finding> = runs.iter().flat_map(|r| self.findings(r)).filter(listed).collect();
        let found: Vec<&Finding> = noted.iter().copied().filter(|f| f.severity >= self.check.from).collect();
        line.measured = match (found.len(), noted.len()) {
            (0, 0) => "none".to_owned(),
            (0, noted) => format!("none that weighs; {noted} for information only"),
            (n, _) => format!("{n} found"),
        };
        if runs.is_empty() {
            line.measured.clear();
            line.reason = format!("no run of {} is in this session", self.check.of);
            return line;
        }
        let doubts = self.doubts(runs, "");
        line.decision = match (found.iter().max_by_key(|f| f.severity), doubts.first()) {
            (Some(worst), _) => {
                line.reason.clone_from(&worst.sentence);
                self.missed()
            }
            (None, Some(doubt)) => {
                line.reason.clone_from(doubt);
                Decision::NotProven
            }
            (None, None) => Decision::Pass,
        };
        line
    }
}

impl Measured {
    fn of(runs: &[&RunState], figure: &str) -> Self {
        let all: Vec<(f64, Unit, u64)> = runs.iter().flat_map(|run| run.figure(figure)).collect();
        let disturbed: Vec<u64> = runs.iter().flat_map(|run| run.disturbed_records()).collect();
        let rest: Vec<f64> =
            all.iter().filter(|(.., seq)| !disturbed.contains(seq)).map(|(value, ..)| *value).collect();
        Self {
            unit: all.first().map_or(Unit::Count, |(_, unit, _)| *unit),
            undisturbed: (rest.len() < all.len()).then_some(rest),
            values: all.into_iter().map(|(value, ..)| value).collect(),
        }
    }

    /// Makes percents of this machine's roof of the values.
    fn divide(&mut self, divisor: f64) {
        self.change(|value| value / divisor);
        self.unit = Unit::Percent;
    }

    /// Puts the values into the unit that is compared in.
    fn convert(&mut self, terms: &Terms) {
        self.change(|value| terms.convert(value));
    }

    fn change(&mut self, change: impl Fn(f64) -> f64) {
        self.values.iter_mut().chain(self.undisturbed.iter_mut().flatten()).for_each(|value| *value = change(*value));
    }
}

/// Why a limit in one unit says nothing of a figure in another. A number alone is a limit of what has no unit.
fn misfit(limit: Unit, figure: Unit) -> Option<String> {
    match (limit.symbol(), figure.symbol()) {
        (limit, figure) if limit == figure => None,
        ("", figure) => Some(format!("the limit has no unit, and the figure is in {figure}")),
        (limit, "") => Some(format!("the limit is in {limit}, and the figure has no unit")),
        (limit, figure) => Some(format!("the limit is in {limit}, the figure in {figure}")),
    }
}

/// A value as it is compared: a share of the own roof where it was divided by that.
fn print(value: f64, bound: &Bound, terms: &Terms) -> String {
    if bound.divisor.is_some() { format!("{value:.2} %") } else { terms.print(value) }
}

/// The interval of what was measured, and the share that it is of what the limit is a share of.
fn detail(compared: &Compared, bound: &Bound, terms: &Terms) -> String {
    let interval = compared.interval.as_ref().map(|interval| {
        let [low, high] = [interval.low, interval.high].map(|end| print(end, bound, terms));
        format!("95 %: {low} to {high}")
    });
    let own = bound.divisor.map(|_| format!("{:.2} % of the own roof", compared.measured));
    let whole = bound.whole.filter(|whole| *whole > 0.0);
    let share = whole.map(|whole| format!("{:.2} % of it", 100.0 * compared.measured / whole));
    interval.into_iter().chain(own).chain(share).collect::<Vec<_>>().join(", ")
}

fn numbers(compared: &Compared, (bound, side): (&Bound, Side), unit: Unit) -> Numbers {
    Numbers {
        unit,
        value: compared.measured,
        interval: compared.interval.as_ref().map(|interval| (interval.low, interval.high)),
        limit: bound.value.value,
        limit_off_by: bound.half,
        above_is_good: side == Side::AtLeast,
    }
}

/// How far on the good side, in percent of the limit; a limit of nothing has no percentage.
fn margin(good: f64, limit: f64) -> String {
    let percent = 100.0 * good / limit.abs();
    match percent.abs() {
        size if !size.is_finite() => String::new(),
        size if size > 0.0 && size < 1e-9 || size >= 1e6 => format!("{percent:+.0e} %"),
        // As many decimals as it takes to be something, so that what misses by little is not said to miss by nothing.
        size if size > 0.0 && size < 0.05 => format!("{percent:+.*} %", (-size.log10()).ceil() as usize),
        _ => format!("{percent:+.1} %"),
    }
}
