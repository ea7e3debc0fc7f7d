//! The rules about the CPU, its clock, memory, and what the control groups leave of them.

use super::facts::{Facts, Sides};
use crate::vocab::unit::Unit;

/// Stolen CPU time that slows work down beyond doubt, in percent.
const STOLEN: f64 = 10.0;
/// What must be lost of the level before for it to be blamed on stolen time: less is within what steal does anyway.
const LEFT: f64 = 0.9;
/// A busy share that differs by fewer points is the same as before. Not measured: the largest difference of two healthy windows that was
/// seen on a shared machine was 6.5.
const SAME: f64 = 5.0;
/// One CPU is full from here on: a thread that is bound by it leaves a few percent to interrupts.
const ONE_FULL: f64 = 95.0;
/// All CPUs together are full from here on.
const ALL_FULL: f64 = 90.0;
/// The clock has fallen when the median CPU is below this share of what it ran at before: turbo steps are smaller.
const SLOWER: f64 = 0.9;
/// Processors slow down for heat between 85 and 105 C, by their makers' data sheets.
const HOT: f64 = 85.0;
/// Swapping above this is more than the kernel putting idle pages away, MB/s.
const SWAPPING: f64 = 1.0;
/// Share of the time in which every task waited for memory.
const MEMORY_STALLED: f64 = 10.0;
/// Share of the scheduler's periods in which a quota ran out; a single one happens at a quota that is wide enough.
const THROTTLED: f64 = 10.0;
/// A counter that was already there must have grown by so much to explain a change.
const GREW: f64 = 1.25;
/// A rate within so much of a limit of the control group is held by it: at 1 MB/s requests of 1 MiB read as 1.05 MB/s.
const AT_LIMIT: f64 = 0.10;
/// The least share of such a limit that a load behind a page cache was seen to get.
const BEHIND_CACHE: f64 = 0.3;
/// Share of the time in which some task waited for a CPU, and by how much it must have risen: others compete for the CPUs. A load of
/// one thread a CPU waits for next to none by itself.
const WAITING: f64 = 20.0;

/// The busiest single CPU, on both sides of the onset.
fn busiest(facts: &Facts<'_>) -> Sides {
    let single = || facts.each("cpu", "busy").filter(|(key, _)| *key != "cpu/").map(|(_, sides)| sides);
    let most = |of: fn(&Sides) -> Option<f64>| single().filter_map(|sides| of(&sides)).reduce(f64::max);
    Sides { before: most(|s| s.before), after: most(|s| s.after), most: None }
}

/// Whether one CPU is full, or all are.
pub(super) fn is_full(facts: &Facts<'_>) -> bool {
    let all = facts.after("cpu/", "busy").is_some_and(|busy| busy >= ALL_FULL);
    all || busiest(facts).after.is_some_and(|busy| busy >= ONE_FULL)
}

/// Whether the CPUs are busier than before the onset, or had to be waited for more; where nothing changed, being full is enough.
pub(super) fn is_fuller(facts: &Facts<'_>) -> bool {
    !facts.is_a_change()
        || rose(facts.sides("cpu/", "busy"), SAME)
        || rose(busiest(facts), SAME)
        || is_waited_for(facts)
}

/// Whether others compete for the CPUs, and did not before.
fn is_waited_for(facts: &Facts<'_>) -> bool {
    let some = facts.sides("pressure/cpu", "some");
    some.after.is_some_and(|waited| waited >= WAITING) && rose(some, WAITING)
}

/// A rise by so many points; no rise where there is nothing to compare with.
fn rose(sides: Sides, by: f64) -> bool {
    matches!(sides, Sides { before: Some(before), after: Some(after), .. } if after - before >= by)
}

/// Not what it was before by a quarter; true where there is nothing to compare with.
fn grew(sides: Sides) -> bool {
    sides.before.is_none_or(|before| sides.after.is_some_and(|after| after >= GREW * before))
}

/// The hypervisor gives the CPU's time to others, and more of it than before.
pub(super) fn stolen(facts: &Facts<'_>) -> bool {
    let steal = facts.sides("cpu/", "steal");
    let much = steal.after.is_some_and(|share| share >= STOLEN);
    let more = !facts.is_a_change() || steal.before.is_none() || rose(steal, SAME);
    much && more && facts.left().is_none_or(|left| left <= LEFT)
}

/// The clock fell though the CPU, or one of them, was fully busy.
fn is_slower(facts: &Facts<'_>) -> bool {
    let clock = facts.sides("clock/", "median");
    let fell = matches!(clock, Sides { before: Some(before), after: Some(after), .. } if after <= SLOWER * before);
    let busy = facts.after("cpu/", "busy").into_iter().chain(busiest(facts).after).any(|busy| busy >= ALL_FULL);
    fell && busy
}

fn counts(facts: &Facts<'_>, row: &str) -> bool {
    facts.most("thermal", row).is_some_and(|(_, rate)| rate > 0.0)
}

/// The clock fell, and the CPU is hot or says that it slowed down for heat.
pub(super) fn hot(facts: &Facts<'_>) -> bool {
    let temperature = facts.most("thermal", "temperature").is_some_and(|(_, celsius)| celsius >= HOT);
    is_slower(facts) && (temperature || counts(facts, "throttles"))
}

/// The clock fell, and the CPU is known to be cool, or says that it slowed down for power.
pub(super) fn held_cool(facts: &Facts<'_>) -> bool {
    let cool = facts.most("thermal", "temperature").is_some_and(|(_, celsius)| celsius < HOT);
    is_slower(facts) && !hot(facts) && (cool || counts(facts, "power limits"))
}

/// The node swaps, or all of its tasks wait for memory.
pub(super) fn short_of_memory(facts: &Facts<'_>) -> bool {
    let above = |sides: Sides, limit: f64| {
        sides.after.is_some_and(|after| after > limit) && (!facts.is_a_change() || grew(sides))
    };
    above(facts.sides("memory/", "swap"), SWAPPING) || above(facts.sides("pressure/memory", "full"), MEMORY_STALLED)
}

/// A CPU quota runs out more than before, or the rate is that of a limit on I/O.
pub(super) fn limited(facts: &Facts<'_>) -> bool {
    let throttled = facts.sides("cgroup/", "throttled");
    let runs_out = throttled.after.is_some_and(|share| share >= THROTTLED);
    let more = !facts.is_a_change() || rose(throttled, THROTTLED) || grew(facts.sides("cgroup/", "held up"));
    runs_out && more || at_io_limit(facts).is_some()
}

/// The limit on I/O that the rate is at, or that of the disk below a page cache: `8:0 wbps=1048576`.
pub(super) fn at_io_limit<'a>(facts: &Facts<'a>) -> Option<&'a str> {
    let rows = if facts.writes() { ["write", "w/s"] } else { ["read", "r/s"] };
    let of_disk = rows.map(|row| facts.on_disk(row).after);
    let way = if facts.writes() { 'w' } else { 'r' };
    let limits = facts.scene.condition("io_max")?;
    let is_at = |word: &str| {
        let (name, value) = word.split_once('=')?;
        let value: f64 = value.parse().ok()?;
        let (limit, unit, of_disk) = match name.strip_prefix(way)? {
            "bps" => (value / 1e6, Unit::MegabytesPerSecond, of_disk[0]),
            "iops" => (value, Unit::Iops, of_disk[1]),
            _ => return None,
        };
        let of_run = facts.scene.to.filter(|_| facts.scene.unit == unit);
        let is_at = |rate: f64| (rate - limit).abs() <= AT_LIMIT * limit;
        // Behind a page cache a load that waits for a slot of it gets less than the disk does.
        let waits = |to: f64| facts.buffered() == Some(true) && (BEHIND_CACHE * limit..=limit).contains(&to);
        let fell = facts.scene.from.is_some_and(|from| from > (1.0 + AT_LIMIT) * limit);
        let held = of_run.into_iter().chain(of_disk).any(is_at) || fell && of_run.is_some_and(waits);
        held.then_some(())
    };
    limits.split("; ").find(|limit| limit.split_ascii_whitespace().any(|word| is_at(word).is_some()))
}

/// The CPUs are full and hold other work up; for a load that is meant to fill them, others compete for them.
pub(super) fn full(facts: &Facts<'_>) -> bool {
    if facts.loads_cpu() {
        return facts.is_a_change() && is_waited_for(facts);
    }
    is_full(facts) && is_fuller(facts)
}

#[cfg(test)]
mod tests {
    use crate::analysis::attribution::attribute;
    use crate::analysis::attribution::staged::Stage;
    use crate::vocab::finding::{Kind, Resource};

    fn held_by(stage: &Stage) -> Vec<Resource> {
        attribute(&stage.scene()).held_by
    }

    #[test]
    fn steal_is_named_from_a_tenth_on_and_only_where_it_rose_and_work_was_lost() {
        let steal = |before, after| Stage::of_integer(Kind::Collapse).row("cpu/", "steal", before, after);
        assert_eq!(held_by(&steal(0.2, 12.0)), [Resource::Steal]);
        assert_eq!(held_by(&steal(0.2, 9.0)), []);
        assert_eq!(held_by(&steal(12.0, 13.0)), [], "it was there before the fall");
        assert_eq!(held_by(&steal(0.2, 12.0).fell_to(95.0)), [], "next to nothing was lost");
    }

    fn clocked(before: f64, after: f64) -> Stage {
        Stage::of_integer(Kind::Step).row("cpu/", "busy", 100.0, 100.0).row("clock/", "median", before, after)
    }

    #[test]
    fn a_clock_that_falls_is_heat_when_hot_a_power_limit_when_cool_and_neither_when_nobody_knows() {
        let at = |stage: Stage, celsius| stage.row("thermal/cpu", "temperature", 60.0, celsius);
        assert_eq!(held_by(&at(clocked(3_000.0, 2_400.0), 96.0)), [Resource::Thermal]);
        assert_eq!(held_by(&at(clocked(3_000.0, 2_400.0), 62.0)), [Resource::PowerCap]);
        assert_eq!(held_by(&clocked(3_000.0, 2_400.0)), []);
        assert_eq!(held_by(&at(clocked(3_000.0, 2_800.0), 96.0)), [], "a turbo step");
        let throttles = clocked(3_000.0, 2_400.0).row("thermal/package 0", "throttles", 0.0, 4.0);
        assert_eq!(held_by(&throttles), [Resource::Thermal]);
        let limits = clocked(3_000.0, 2_400.0).row("thermal/package 0", "power limits", 0.0, 4.0);
        assert_eq!(held_by(&limits), [Resource::PowerCap]);
    }

    #[test]
    fn an_idle_cpu_that_clocks_down_is_not_held() {
        let stage = Stage::of(Kind::Step).row("cpu/", "busy", 5.0, 5.0).row("clock/", "median", 3_000.0, 1_200.0);
        assert_eq!(held_by(&stage.row("thermal/cpu", "temperature", 60.0, 60.0)), []);
    }

    #[test]
    fn swapping_is_memory_and_a_page_now_and_then_is_not() {
        let swap = |after| Stage::of_integer(Kind::Collapse).row("memory/", "swap", 0.0, after);
        assert_eq!(held_by(&swap(30.0)), [Resource::Memory]);
        assert_eq!(held_by(&swap(0.8)), []);
        let stalled = |after| swap(0.0).row("pressure/memory", "full", 0.0, after);
        assert_eq!((held_by(&stalled(15.0)), held_by(&stalled(8.0))), (vec![Resource::Memory], vec![]));
    }

    #[test]
    fn a_quota_that_runs_out_is_a_limit_and_no_heat() {
        let quota = |before, after| Stage::of_integer(Kind::Collapse).row("cgroup/", "throttled", before, after);
        let held = |stage: Stage, before, after| held_by(&stage.row("cgroup/", "held up", before, after));
        assert_eq!(held(quota(0.0, 98.0), 0.0, 900.0), [Resource::CgroupLimit]);
        assert_eq!(held(quota(0.0, 4.0), 0.0, 10.0), []);
        assert_eq!(held(quota(98.0, 98.0), 500.0, 520.0), [], "as before");
        assert_eq!(held(quota(98.0, 98.0), 500.0, 750.0), [Resource::CgroupLimit], "the quota was made smaller");
    }

    #[test]
    fn a_rate_at_the_limit_of_the_group_is_held_by_it_and_one_beside_it_is_not() {
        let limited =
            |to| Stage::of(Kind::Collapse).fell_to(to).condition("io_max", "8:0 rbps=5000000; 252:0 wbps=10000000");
        assert_eq!(held_by(&limited(10.1)), [Resource::CgroupLimit]);
        assert_eq!(held_by(&limited(11.5)), []);
        assert_eq!(held_by(&limited(5.0)), [], "that is the limit of reads");
    }

    #[test]
    fn a_full_cpu_holds_other_work_up_and_is_no_culprit_where_it_is_the_load() {
        let busy = |stage: Stage, before, after| stage.row("cpu/", "busy", before, after);
        let plain = || Stage { load: None, device: None, ..Stage::of(Kind::Collapse) };
        assert_eq!(held_by(&busy(plain(), 40.0, 97.0)), [Resource::Cpu]);
        assert_eq!(held_by(&busy(plain(), 40.0, 85.0)), []);
        assert_eq!(held_by(&busy(plain(), 97.0, 97.0)), [], "as full as before");
        assert_eq!(held_by(&busy(plain(), 20.0, 40.0).row("cpu/3", "busy", 50.0, 99.0)), [Resource::Cpu]);
        assert_eq!(held_by(&busy(Stage::of_integer(Kind::Collapse), 40.0, 100.0)), []);
    }

    #[test]
    fn others_that_compete_for_the_cpus_hold_a_cpu_load_up() {
        let busy = || Stage::of_integer(Kind::Collapse).row("cpu/", "busy", 100.0, 100.0);
        let waited = |before, after| busy().row("pressure/cpu", "some", before, after);
        assert_eq!(held_by(&waited(1.0, 60.0)), [Resource::Cpu]);
        assert_eq!(held_by(&waited(50.0, 60.0)), []);
    }
}
