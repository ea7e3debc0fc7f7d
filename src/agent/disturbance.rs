//! Looks at what others take of the CPUs from the beginning of an iteration to its end.

use std::path::{Path, PathBuf};

use super::{cgroup, host};
use crate::vocab::disturbed::Taken;

/// A look at the beginning, to be held against one at the end.
pub(super) struct Look {
    root: PathBuf,
    quota: Option<PathBuf>,
    time: [f64; 2],
    periods: [f64; 2],
}

impl Look {
    pub(super) fn begin(root: &Path) -> Self {
        let quota = cgroup::tightest(root).map(|group| group.join("cpu.stat"));
        Self { root: root.to_owned(), time: time(root), periods: periods(quota.as_deref()), quota }
    }

    /// What was taken since.
    pub(super) fn taken(&self) -> Taken {
        let gained = |before: [f64; 2], now: [f64; 2]| [now[0] - before[0], now[1] - before[1]];
        Taken::of(gained(self.time, time(&self.root)), gained(self.periods, periods(self.quota.as_deref())))
    }
}

/// Time of all CPUs and what the hypervisor gave to others, in ticks; nothing where `/proc/stat` tells nothing.
fn time(root: &Path) -> [f64; 2] {
    let line = host::value(&root.join("proc/stat")).unwrap_or_default();
    // user nice system idle iowait irq softirq steal; guest time is inside user (`proc(5)`).
    let (states, found) = host::columns::<8>(line.strip_prefix("cpu").unwrap_or_default());
    let known = |states: &[f64]| states.iter().filter(|n| n.is_finite()).sum();
    if found == 8 { [known(&states), known(&states[7..])] } else { [0.0; 2] }
}

/// Periods of the quota and those that were throttled.
fn periods(stat: Option<&Path>) -> [f64; 2] {
    let text = stat.and_then(|path| host::text(path).ok()).unwrap_or_default();
    let number = |name: &str| cgroup::pairs(&text).find(|(known, _)| *known == name).map_or(0.0, |(_, value)| value);
    [number("nr_periods"), number("nr_throttled")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn what_was_taken_is_what_was_gained() {
        let root = fake::root(&[
            ("proc/stat", "cpu  100 0 0 100 0 0 0 50 9 0\ncpu0 1 1 1 1 1 1 1 1\n"),
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
            ("sys/fs/cgroup/cpu.stat", "usage_usec 5\nnr_periods 10\nnr_throttled 4\nthrottled_usec 9\n"),
        ]);
        let look = Look::begin(root.path());
        fake::put(root.path(), "proc/stat", "cpu  180 0 0 110 0 0 0 60 9 0\n");
        fake::put(root.path(), "sys/fs/cgroup/cpu.stat", "nr_periods 30\nnr_throttled 9\n");
        assert_eq!(look.taken(), Taken { steal_percent: Some(10.0), throttled_percent: Some(25.0) });
    }

    #[test]
    fn where_nothing_tells_nothing_is_known() {
        for text in ["", "cpu\n", "cpu 1 2 3\n", "intr 1 2 3 4 5 6 7 8\n"] {
            let root = fake::root(&[("proc/stat", text)]);
            assert_eq!(Look::begin(root.path()).taken(), Taken::default(), "{text}");
        }
    }
}
