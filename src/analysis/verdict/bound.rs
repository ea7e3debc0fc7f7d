//! What a limit is in numbers: its value, what it is a share of, and what speaks against the comparison.

use super::decide::{self, Mark, Side};
use super::terms::Terms;
use crate::analysis::reference::{self, Differences};
use crate::analysis::roof::{self, Known};
use crate::analysis::state::{RunState, State};
use crate::vocab::check::{Basis, Check, Limit, Statistic};
use crate::vocab::plan::Plan;
use crate::vocab::unit::{Quantity, Unit, short};

/// A limit as a number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    pub(super) value: Quantity,
    /// How far the true limit may be off, in the same unit; 0 of what was not measured.
    pub(super) half: f64,
    /// The limit in words, with what it is a share of.
    pub(super) text: String,
    /// What the measured figure is divided by first: this machine's own roof.
    pub(super) divisor: Option<f64>,
    /// What a share is taken of, for the share that was reached.
    pub(super) whole: Option<f64>,
    /// What differs between the two machines, and what of it makes the comparison one of different things.
    pub(super) differences: Differences,
}

impl Bound {
    /// Puts a fixed limit into the contract's own unit, where it has one.
    pub(super) fn convert(&mut self, terms: &Terms) {
        if let Some(text) = terms.print_limit(self.value.value) {
            self.value.value = terms.convert(self.value.value);
            self.text = text;
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { value: self.value.value, half: self.half }
    }
}

/// Resolves a limit for the runs that a check is about.
///
/// # Errors
/// Why it is not known, and what to give.
pub(super) fn resolve(
    (plan, check, state): (&Plan, &Check, &State),
    (limit, side): (&Limit, Side),
    runs: &[&RunState],
    figure: &str,
) -> Result<Bound, String> {
    let bound = match limit {
        Limit::Absolute(quantity) => Bound {
            value: *quantity,
            half: 0.0,
            text: short(*quantity),
            divisor: None,
            whole: None,
            differences: Differences::default(),
        },
        Limit::OfRoof(share, basis) => of_roof(*share, &one_roof((plan, check), runs, figure, *basis)?),
        Limit::OfReference(name, share) => {
            let other = Other::find((plan, check, state), name, side, runs, figure)?;
            other.as_it_stands(*share)
        }
        Limit::OfReferenceNormalised(name, share) => {
            let other = Other::find((plan, check, state), name, side, runs, figure)?;
            let own = one_roof((plan, check), runs, figure, Basis::Nominal)?;
            other.normalised(*share, &own)?
        }
    };
    if bound.value.value.is_finite() { Ok(bound) } else { Err("the limit is not a finite number".to_owned()) }
}

/// `75 %`, `0.1 %`: a share as it was typed.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 1e2)
}

fn of_roof(share: f64, roof: &Known<'_>) -> Bound {
    let Known { name, value, basis, source } = roof;
    let bound = Quantity::new(value.value * share, value.unit);
    let text = format!("{} ({} of {} {name} {}: {source})", short(bound), percent(share), basis.word(), short(*value));
    Bound {
        value: bound,
        half: 0.0,
        text,
        divisor: None,
        whole: Some(value.value),
        differences: Differences::default(),
    }
}

/// The roof that all of these runs have.
fn one_roof<'a>(
    (plan, check): (&'a Plan, &Check),
    runs: &[&'a RunState],
    figure: &str,
    basis: Basis,
) -> Result<Known<'a>, String> {
    let roofs = runs.iter().map(|run| roof::find(plan, run, figure, basis));
    let roofs = roofs.collect::<Result<Vec<_>, _>>()?;
    match roofs.split_first() {
        None => Err(format!("no run of {} is in this session", check.of)),
        Some((first, rest)) if rest.iter().any(|roof| roof.value != first.value) => {
            Err(format!("the runs of {} have different roofs; check them one by one", check.of))
        }
        Some((first, _)) => Ok(first.clone()),
    }
}

/// A figure of another machine.
struct Other<'a> {
    name: &'a str,
    from: String,
    value: Quantity,
    half: f64,
    roof: Option<Quantity>,
    differences: Differences,
}

impl<'a> Other<'a> {
    fn find(
        (plan, check, state): (&Plan, &Check, &State),
        name: &'a str,
        side: Side,
        runs: &[&RunState],
        figure: &str,
    ) -> Result<Self, String> {
        let [run] = runs else {
            return Err(format!("{} names several runs; a reference needs a check for each", check.of));
        };
        let profile = plan.reference(name)?;
        let of = format!("{}.{figure}", run.name);
        let values =
            profile.figures.get(&of).ok_or_else(|| format!("the reference `{name}` ({}) has no {of}", profile.from))?;
        if profile.sessions > 1 && !matches!(check.statistic, Statistic::Mean | Statistic::Median) {
            return Err(format!(
                "the reference `{name}` ({}) has one median a session, of which a {} says nothing; give a session",
                profile.from, check.statistic
            ));
        }
        let value = decide::number(check.statistic, side, &values.values).ok_or_else(|| {
            format!("{} values of the reference `{name}` give no {}", values.values.len(), check.statistic)
        })?;
        // One printed number has no spread, and is taken as exact.
        let interval = decide::interval(check.statistic, &values.values).ok().flatten();
        let names = roof::names(&of, &run.name.0, figure, roof::class(&run.load));
        let roof = names.iter().find_map(|name| profile.roofs.get(*name)).copied();
        let half = interval.map_or(0.0, |i| (i.high - i.low) / 2.0);
        // A report tells nothing of how its figures came about.
        let differences = if profile.sessions == 0 {
            Differences::default()
        } else {
            reference::differences(&reference::profile(state.home(run).0, &run.node), &profile, Some(&*run.name.0))
        };
        let unit = if check.statistic.is_relative() { Unit::Percent } else { values.unit };
        Ok(Self { differences, name, from: profile.from.clone(), value: Quantity::new(value, unit), half, roof })
    }

    fn as_it_stands(&self, share: f64) -> Bound {
        let bound = Quantity::new(self.value.value * share, self.value.unit);
        let text =
            format!("{} ({} of {} {}: {})", short(bound), percent(share), self.name, short(self.value), self.from);
        Bound {
            value: bound,
            half: self.half * share,
            text,
            divisor: None,
            whole: Some(self.value.value),
            differences: self.differences.clone(),
        }
    }

    fn normalised(&self, share: f64, own: &Known<'_>) -> Result<Bound, String> {
        let roof = self.roof.filter(|roof| roof.value > 0.0).ok_or_else(|| {
            format!(
                "the nominal roof of the reference `{}` ({}) is unknown, so nothing is normalised by it",
                self.name, self.from
            )
        })?;
        if (roof.unit, own.value.unit) != (self.value.unit, self.value.unit) {
            let (figure, roof, own) = (self.value.unit.symbol(), roof.unit.symbol(), own.value.unit.symbol());
            return Err(format!(
                "the figure is in {figure}, the roofs in {roof} and {own}; nothing is normalised by them"
            ));
        }
        let reached = 100.0 * self.value.value / roof.value;
        let text = format!(
            "{:.2} % of the own nominal roof ({} of {}'s {reached:.2} %, {} of {}: {})",
            reached * share,
            percent(share),
            self.name,
            short(self.value),
            short(roof),
            self.from
        );
        let half = 100.0 * self.half / roof.value * share;
        let value = Quantity::new(reached * share, Unit::Percent);
        Ok(Bound {
            value,
            half,
            text,
            divisor: Some(own.value.value / 100.0),
            whole: Some(reached),
            differences: self.differences.clone(),
        })
    }
}
