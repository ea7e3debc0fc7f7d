//! Which roof a figure is held against: one rule for the verdict, the chart and the lists.

use crate::analysis::state::RunState;
use crate::vocab::figure::Roof;
use crate::vocab::plan::{Basis, Load, Plan};
use crate::vocab::unit::{Quantity, Unit};

/// A roof that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Known<'a> {
    /// The name it was found by: `cpu-float.gflops`, `cpu`.
    pub name: &'a str,
    /// How much.
    pub value: Quantity,
    /// Nominal or measured.
    pub basis: Basis,
    /// Who says so: `plan`, or the way in which the node came to it.
    pub source: &'a str,
}

/// What a kernel is bounded by, by the name of its roof.
#[must_use]
pub fn class(load: &Load) -> &'static str {
    match load {
        Load::Linpack(_) | Load::Gemm(_) | Load::Integer(_) => "cpu",
        Load::Stream(_) | Load::Memory(_) | Load::MemoryLatency(_) => "memory",
        Load::Disk(_) => "disk",
        Load::Synthetic(_) => "synthetic",
    }
}

/// The names that the roof of a run's figure may have, of which the first that is known counts: the whole figure (`cpu-float.gflops`),
/// the run, the figure, the first word of the run's name, the class of its kernel.
pub(super) fn names<'a>(full: &'a str, run: &'a str, figure: &'a str, class: &'a str) -> [&'a str; 5] {
    [full, run, figure, run.split('-').next().unwrap_or_default(), class]
}

/// The roof of a run's figure, by its `names`. A nominal one comes first from the plan, as a contract outranks what the node says of
/// itself.
///
/// # Errors
/// Why it is not known, and what to do.
pub fn find<'a>(plan: &'a Plan, run: &'a RunState, figure: &str, basis: Basis) -> Result<Known<'a>, String> {
    let (full, name, class) = (format!("{}.{figure}", run.name), &*run.name.0, class(&run.load));
    let names = names(&full, name, figure, class);
    let planned = || {
        let (name, value) = names.iter().find_map(|name| plan.roofs.get_key_value(*name))?;
        Some(Known { name, value: *value, basis, source: "plan" })
    };
    let told = || {
        let roofs = &run.start.as_ref()?.roofs;
        let roof = names.iter().find_map(|name| roofs.iter().find(|r| r.name == *name && r.basis == basis))?;
        Some(Known { name: &roof.name, value: roof.value, basis, source: &roof.source })
    };
    let planned = if basis == Basis::Nominal { planned() } else { None };
    planned.or_else(told).ok_or_else(|| missing(run, &full, class, basis))
}

fn missing(run: &RunState, full: &str, class: &str, basis: Basis) -> String {
    let label = run.start.as_ref().and_then(|start| start.labels.get(&Roof::label(class, basis)));
    let why = label.map(|why| format!(" ({})", why.trim_start_matches("unknown: "))).unwrap_or_default();
    match basis {
        Basis::Nominal => format!("the nominal roof of {full} is unknown{why}; give it with --roof {class}=VALUE"),
        Basis::Measured => format!(
            "no roof of {full} was measured{why}; a nominal one is given with --roof {class}=VALUE, and needs a limit OfRoof(SHARE, Nominal)"
        ),
    }
}

/// What really crossed the memory bus, where a memory run says that: its other figures leave out what is read before it is written.
pub const BUS: &str = "bus_mb_per_s";

/// The figure of a run that a roof of its class bounds: its main one, or the traffic on the memory bus.
#[must_use]
pub fn bounded(run: &RunState) -> Option<(&str, Unit)> {
    let bus = run.done.last().and_then(|i| i.figures.iter().find(|f| f.name == BUS));
    bus.map(|figure| (BUS, figure.unit)).or_else(|| run.main_figure())
}

/// The roofs that this figure is held against, measured and nominal; those of another unit say nothing of it.
#[must_use]
pub fn of_run<'a>(plan: &'a Plan, run: &'a RunState) -> Vec<Known<'a>> {
    let Some((figure, unit)) = bounded(run) else { return Vec::new() };
    let found = [Basis::Measured, Basis::Nominal].map(|basis| find(plan, run, figure, basis).ok());
    found.into_iter().flatten().filter(|roof| roof.value.unit == unit && roof.value.value > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;
    use crate::vocab::figure::Figure;

    fn roof(name: &str, value: f64, basis: Basis) -> Roof {
        let value = Quantity::new(value, Unit::MegabytesPerSecond);
        Roof { name: name.to_owned(), value, basis, source: "by hand".to_owned() }
    }

    /// A memory run with these roofs of its node, and these of the plan.
    fn told(roofs: &[Roof], planned: &[(&str, &str)]) -> (Plan, RunState) {
        let told = Scenario::loading(Load::Stream(crate::vocab::plan::Stream::default()), vec![]);
        let mut run = told.state.runs[0].clone();
        run.start.as_mut().unwrap().roofs = roofs.to_vec();
        let mut plan = told.state.opening.unwrap().plan;
        plan.roofs = planned.iter().map(|(name, value)| ((*name).to_owned(), value.parse().unwrap())).collect();
        (plan, run)
    }

    #[test]
    fn the_nearest_name_wins_and_the_plan_before_the_node() {
        let own = [roof("memory", 100.0, Basis::Measured), roof("memory", 200.0, Basis::Nominal)];
        let (mut plan, run) = told(&own, &[]);
        let value =
            |plan: &Plan, basis| find(plan, &run, "bus_mb_per_s", basis).map(|k| (k.value.value, k.source.to_owned()));
        assert_eq!(value(&plan, Basis::Measured), Ok((100.0, "by hand".to_owned())));
        assert_eq!(value(&plan, Basis::Nominal), Ok((200.0, "by hand".to_owned())));
        for (name, rate) in [("memory", 300.0), ("bus_mb_per_s", 400.0), ("r", 500.0), ("r.bus_mb_per_s", 600.0)] {
            plan.roofs.insert(name.to_owned(), Quantity::new(rate, Unit::MegabytesPerSecond));
            assert_eq!(value(&plan, Basis::Nominal), Ok((rate, "plan".to_owned())), "{name}");
        }
        assert_eq!(value(&plan, Basis::Measured), Ok((100.0, "by hand".to_owned())), "the plan's are nominal");
    }

    #[test]
    fn an_unknown_roof_says_why_and_what_to_give() {
        let (plan, mut run) = told(&[], &[]);
        let why = find(&plan, &run, "copy", Basis::Nominal).unwrap_err();
        assert_eq!(why, "the nominal roof of r.copy is unknown; give it with --roof memory=VALUE");
        let label = (Roof::label("memory", Basis::Nominal), "unknown: no table".to_owned());
        run.start.as_mut().unwrap().labels.extend([label]);
        assert!(find(&plan, &run, "copy", Basis::Nominal).unwrap_err().contains("is unknown (no table); give it"));
    }

    #[test]
    fn a_memory_run_is_bounded_by_what_crosses_the_bus() {
        let told = Scenario::loading(Load::Stream(crate::vocab::plan::Stream::default()), vec![]);
        assert_eq!(bounded(&told.state.runs[0]), Some(("mb_per_s", Unit::MegabytesPerSecond)));
        let rate = |name: &str| Figure::new(name, 9.0, Unit::MegabytesPerSecond);
        let told = told.iteration(vec![rate("mb_per_s"), rate(BUS)]);
        assert_eq!(bounded(&told.state.runs[0]), Some((BUS, Unit::MegabytesPerSecond)));
    }

    #[test]
    fn a_main_figure_is_held_against_roofs_of_its_unit() {
        let (plan, run) = told(&[roof("memory", 100.0, Basis::Measured)], &[("memory", "3 GFLOPS")]);
        let found = of_run(&plan, &run);
        assert_eq!(found.iter().map(|k| k.basis).collect::<Vec<_>>(), [Basis::Measured]);
    }
}
