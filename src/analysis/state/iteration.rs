//! One iteration that is over: its figures, and what the host's counters say of the time in which it went on.

use super::host::{CpuSeconds, Host};
use crate::vocab::disturbed::Taken;
use crate::vocab::figure::Figure;
use crate::vocab::moment::Moment;
use crate::vocab::stat;

/// One iteration that has given its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct IterationState {
    /// From 1.
    pub number: u32,
    /// When its figures were said, on the node's clock.
    pub ended: Moment,
    /// The official figures.
    pub figures: Vec<Figure>,
    /// The record that holds them.
    pub seq: u64,
    /// The node meanwhile.
    pub node: Meanwhile,
}

/// The node during an iteration, from the host's last reading before its beginning to the last before its end: readings come once a
/// second, so what is said of an iteration of a few seconds is of most of it, and of a shorter one perhaps nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meanwhile {
    /// Mean of the CPUs' median clock, in MHz; none in most virtual machines.
    pub megahertz: Option<f64>,
    /// The hottest that any sensor was, in degrees Celsius.
    pub celsius: Option<f64>,
    /// How often CPUs were slowed down for heat or power.
    pub throttles: f64,
    /// What others took of the CPUs.
    pub taken: Taken,
}

/// The counters as they stood when an iteration began.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Mark {
    at: Moment,
    cpu: CpuSeconds,
    periods: [f64; 2],
    throttles: f64,
}

impl Mark {
    pub(super) fn set(host: &Host, at: Moment) -> Self {
        Self { at, cpu: host.cpu_seconds().unwrap_or_default(), periods: periods(host), throttles: throttles(host) }
    }

    /// What the counters say of the time since.
    pub(super) fn until(&self, host: &Host, end: Moment) -> Meanwhile {
        let now = Self::set(host, end);
        let inside = |device: &str, row: &str| {
            let points = host.row(device, row).map(|series| series.between(self.at, end)).unwrap_or_default();
            points.into_iter().map(|point| point.value).collect::<Vec<f64>>()
        };
        let sensors = host.of_source("thermal").flat_map(|(name, _)| inside(&format!("thermal/{name}"), "temperature"));
        Meanwhile {
            megahertz: stat::mean(&inside("clock/", "median")),
            celsius: sensors.reduce(f64::max),
            throttles: (now.throttles - self.throttles).max(0.0),
            taken: Taken::of(
                [now.cpu.all - self.cpu.all, now.cpu.steal - self.cpu.steal],
                [now.periods[0] - self.periods[0], now.periods[1] - self.periods[1]],
            ),
        }
    }
}

/// Periods of the CPU quota, and those that were throttled.
fn periods(host: &Host) -> [f64; 2] {
    ["periods", "throttled_periods"].map(|field| host.raw("cgroup/", field).unwrap_or(0.0))
}

/// Events of all cores and packages.
fn throttles(host: &Host) -> f64 {
    let counters = ["core_throttles", "throttles", "power_limits"];
    let devices = host.of_source("thermal").map(|(name, _)| format!("thermal/{name}"));
    devices.flat_map(|device| counters.map(|counter| host.raw(&device, counter).unwrap_or(0.0))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::Scenario;
    use crate::analysis::state::RunState;
    use crate::vocab::event::{Outcome, Phase};
    use crate::vocab::unit::Unit;

    /// Iterations of a second each, with these per cent stolen and these periods of ten throttled in each.
    fn told(taken: &[(f64, f64)]) -> RunState {
        let mut told = Scenario::measuring(vec![]);
        let (mut time, mut stolen, mut periods, mut throttled) = (0.0, 0.0, 0.0, 0.0);
        let counters = |told: Scenario, values: [f64; 4]| {
            let names = [("cpu/", "idle"), ("cpu/", "steal"), ("cgroup/", "periods"), ("cgroup/", "throttled_periods")];
            let values: Vec<_> =
                names.iter().zip(values).map(|((device, field), value)| (*device, *field, value)).collect();
            told.samples(&values)
        };
        // Phases of the iteration that the scenario begins with are over before the counters are read.
        told = counters(told, [0.0; 4]).work(100.0, 1).iteration(vec![]);
        for (steal, quota) in taken {
            told = told.phase(Phase::Measure).work(100.0, 10);
            (time, stolen) = (time + 2.0 - steal / 50.0, stolen + steal / 50.0);
            (periods, throttled) = (periods + 10.0, throttled + quota);
            told = counters(told, [time, stolen, periods, throttled]);
            told = told.iteration(vec![Figure::new("mb_per_s", 100.0 - steal, Unit::MegabytesPerSecond)]);
        }
        let mut run = told.finish(Outcome::Sound).state.runs.remove(0);
        run.done.remove(0);
        run
    }

    #[test]
    fn what_others_took_of_an_iteration_is_its_own() {
        let run = told(&[(0.0, 0.0), (7.0, 0.0), (0.0, 5.0), (1.0, 0.0)]);
        let why: Vec<Option<String>> = run.done.iter().map(|i| i.node.taken.disturbs()).collect();
        let quota = "throttled by the CPU quota in 50 % of its periods";
        assert_eq!(why, [None, Some("steal 7 %".to_owned()), Some(quota.to_owned()), None]);
        assert_eq!(run.disturbed().unwrap(), format!("2 of 4 iterations disturbed: steal 7 %, {quota}"));
        assert_eq!(told(&[(1.0, 0.0)]).disturbed(), None);
    }

    #[test]
    fn a_repeated_iteration_stands_for_the_disturbed_one_once_there_are_enough() {
        let values = |run: &RunState| run.figure("mb_per_s").iter().map(|(value, ..)| *value).collect::<Vec<f64>>();
        let mut run = told(&[(0.0, 0.0), (7.0, 0.0), (0.0, 0.0)]);
        (run.iterations, run.repeat_disturbed) = (2, 0);
        assert_eq!(values(&run), [100.0, 93.0, 100.0]);
        run.repeat_disturbed = 1;
        assert_eq!(values(&run), [100.0, 100.0]);
        run.iterations = 3;
        assert_eq!(values(&run), [100.0, 93.0, 100.0], "two undisturbed ones are no three");
    }
}
