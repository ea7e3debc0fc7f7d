//! What takes the CPUs away from an iteration, and from when on its figures are no more the node's own.

/// A larger share than this disturbs; the limit of stolen time that the presets set as well.
pub const MOST_PERCENT: f64 = 2.0;

/// Shares of the CPUs' time that others took while an iteration went on; none where nothing tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Taken {
    /// Of all CPU time: given to others by the hypervisor (`steal` of `proc(5)`), in percent.
    pub steal_percent: Option<f64>,
    /// Of the periods of the CPU quota: those at whose end the quota was used up (`nr_throttled` of `nr_periods`,
    /// `Documentation/scheduler/sched-bwc.rst`), in percent.
    pub throttled_percent: Option<f64>,
}

impl Taken {
    /// The shares of what was gained between two readings: CPU time in all and stolen, periods in all and throttled.
    #[must_use]
    pub fn of([time, stolen]: [f64; 2], [periods, throttled]: [f64; 2]) -> Self {
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| (100.0 * part / whole).clamp(0.0, 100.0));
        Self { steal_percent: share(stolen, time), throttled_percent: share(throttled, periods) }
    }

    /// What others than the session itself took: where runs go on beside each other, they use up a quota by themselves.
    #[must_use]
    pub fn beside(self, other_runs: bool) -> Self {
        Self { throttled_percent: self.throttled_percent.filter(|_| !other_runs), ..self }
    }

    /// Why an iteration is disturbed; none when it is not.
    #[must_use]
    pub fn disturbs(&self) -> Option<String> {
        let over = |share: Option<f64>| share.filter(|percent| *percent > MOST_PERCENT);
        let steal = over(self.steal_percent).map(|percent| format!("steal {percent:.0} %"));
        let quota = over(self.throttled_percent)
            .map(|percent| format!("throttled by the CPU quota in {percent:.0} % of its periods"));
        let why: Vec<String> = steal.into_iter().chain(quota).collect();
        (!why.is_empty()).then(|| why.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_the_limit_disturbs_and_nothing_else() {
        let why = |time, periods| Taken::of(time, periods).disturbs();
        assert_eq!(why([100.0, 7.0], [0.0, 0.0]).as_deref(), Some("steal 7 %"));
        assert_eq!(why([100.0, 2.0], [10.0, 0.0]), None);
        assert_eq!(why([0.0, 0.0], [10.0, 5.0]).as_deref(), Some("throttled by the CPU quota in 50 % of its periods"));
        let both = Taken::of([100.0, 7.0], [10.0, 5.0]);
        assert_eq!((both.beside(true).disturbs().as_deref(), both.beside(false)), (Some("steal 7 %"), both));
        assert_eq!(Taken::of([0.0, 1.0], [0.0, 1.0]), Taken::default(), "without time there is no share");
        assert_eq!(Taken::of([10.0, -1.0], [0.0, 0.0]).steal_percent, Some(0.0), "a counter that fell took nothing");
    }
}
