//! The rules about the run's own disk, and about the side that feeds it.

use super::cpu;
use super::facts::{Facts, Sides};
use crate::vocab::finding::Kind;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::plan::Load;
use crate::vocab::stat;

/// A disk that is busy for so much of the time may be full, in percent; alone it proves nothing where operations run in parallel.
const BUSY: f64 = 90.0;
/// An operation that takes so many times as long as before waits in the device or in its queue.
const SLOWER: f64 = 3.0;
/// A queue is full at this share of the load's depth: the rest is on its way between the load and the device.
const QUEUE_FULL: f64 = 0.9;
/// Below this share of its depth the load does not feed the device.
const QUEUE_EMPTY: f64 = 0.5;
/// A queue of less is no queue on a device that works on many operations at once: NVMe drives show 100 % busy at a third of their rate
/// with 0.43 in the queue (sysstat issue 187).
const QUEUE: f64 = 1.5;
/// Time of the CPUs in which they had nothing to do but wait for disks, in percent: supports "disk", never proves it.
const IOWAIT: f64 = 40.0;
/// Every operation that a held device gives takes longer than before by so much.
const HELD: f64 = 1.5;
/// Devices that are not held by a rule never give rates in blocks of a second that lie so close together (p95 − p5, of the median).
const FLAT: f64 = 0.005;
/// Blocks that show that.
const BLOCKS: usize = 10;
/// What is left out after a fall: operations in flight are charged first, and a burst of catching up may follow (1 to 6 s in
/// recorded traces of throttled devices).
const SETTLING: Span = Span::seconds(6);
/// How long nothing must have been completed.
const HANG: Span = Span::seconds(2);
/// The swing of dirty memory that makes a saw-tooth, of its largest value, and the periods in which the kernel writes back: its flusher
/// wakes every 5 s and takes pages that are 30 s old (`vm.dirty_writeback_centisecs`, `vm.dirty_expire_centisecs`).
const SWING: f64 = 0.3;
const PERIODS: std::ops::RangeInclusive<f64> = 2.0..=30.0;
/// Teeth that make a saw.
const TEETH: usize = 3;

/// The load does not feed the disk, and the CPU that makes it is full.
pub(super) fn starved(facts: &Facts<'_>) -> bool {
    let fed = facts.depth().zip(facts.on_disk("queue").after);
    let hungry = fed.is_some_and(|(depth, queue)| queue <= QUEUE_EMPTY * depth);
    let innocent = ratio(facts.on_disk("await")).is_none_or(|times| times < HELD);
    hungry && innocent && cpu::is_full(facts) && cpu::is_fuller(facts)
}

/// How many times as much as before.
fn ratio(sides: Sides) -> Option<f64> {
    let (before, after) = (sides.before?, sides.after?);
    (before > 0.0).then(|| after / before)
}

/// The disk is busy, and its operations take far longer than before or its queue is as long as the load makes it.
pub(super) fn saturated(facts: &Facts<'_>) -> bool {
    let after = |row| facts.on_disk(row).after;
    let busy = after("util").is_some_and(|util| util >= BUSY);
    let slower = ratio(facts.on_disk("await")).is_some_and(|times| times >= SLOWER);
    let queue = after("queue").unwrap_or(0.0);
    let queued = facts.depth().is_some_and(|depth| queue >= QUEUE_FULL * depth.max(QUEUE));
    let waited_for = facts.after("cpu/", "iowait").is_some_and(|share| share >= IOWAIT) && queue >= QUEUE;
    // A load of one operation at a time makes no queue.
    let full = !facts.is_parallel() || queue >= QUEUE || slower && facts.depth() == Some(1.0);
    busy && full && (slower || queued || waited_for)
}

/// The disk has operations and completes none. A load of a disk tells so itself, where no counter of the disk says otherwise.
pub(super) fn hangs(facts: &Facts<'_>) -> bool {
    let scene = facts.scene;
    let nothing = |row| facts.on_disk(row).most.is_some_and(|most| most == 0.0);
    let at_most = |row| facts.on_disk(row).most.is_none_or(|most| most == 0.0);
    if scene.kind == Kind::Stall && matches!(scene.load, Some(Load::Disk(_))) && at_most("r/s") && at_most("w/s") {
        return scene.now.since(scene.onset) >= HANG;
    }
    let busy = facts.on_disk("util").after.is_some_and(|util| util >= BUSY);
    busy && nothing("r/s") && nothing("w/s") && scene.now.since(scene.onset) >= HANG
}

/// The disk gives a rate that is flatter than devices are, and its operations wait for it.
pub(super) fn capped(facts: &Facts<'_>) -> bool {
    let queue = facts.on_disk("queue").after.unwrap_or(0.0);
    let waits = ratio(facts.on_disk("await"))
        .map_or(queue >= 1.0, |times| times >= HELD || !facts.is_a_change() && queue >= 1.0);
    waits && (facts.scene.kind == Kind::Cap || is_flat(facts))
}

/// Whether the rate of the run's disk is flat since it settled.
pub(super) fn is_flat(facts: &Facts<'_>) -> bool {
    let row = if facts.writes() { ["write", "w/s"] } else { ["read", "r/s"] };
    let flat = |name: &str| {
        let counter = facts.disk().and_then(|key| facts.counter(key, name))?;
        let from = if facts.is_a_change() { facts.scene.onset + SETTLING } else { facts.scene.onset };
        let blocks = blocks(counter.series, from, facts.scene.now);
        let quantile = |q| stat::quantile(&blocks, q);
        let (low, middle, high) = (quantile(0.05)?, quantile(0.5)?, quantile(0.95)?);
        (blocks.len() >= BLOCKS && middle > 0.0).then(|| (high - low) / middle <= FLAT)
    };
    row.iter().any(|name| flat(name) == Some(true))
}

/// The means of whole seconds.
fn blocks(series: &crate::analysis::series::Series, from: Moment, to: Moment) -> Vec<f64> {
    let seconds = to.since(from).0 / 1_000_000;
    let to = from + Span::seconds(seconds);
    series.columns(from, to, usize::try_from(seconds).unwrap_or(0)).into_iter().flatten().collect()
}

/// Dirty memory, or memory being written back, goes up and down as a saw does.
pub(super) fn flushes(facts: &Facts<'_>) -> bool {
    ["dirty", "writeback"].iter().any(|row| {
        facts.counter("memory/", row).is_some_and(|c| {
            let points = c.series.between(facts.scene.onset, facts.scene.now);
            let values: Vec<f64> = points.iter().map(|p| p.value).collect();
            let (Some(low), Some(high)) = (stat::quantile(&values, 0.05), stat::quantile(&values, 0.95)) else {
                return false;
            };
            let crossings = crossings(&values, low, high);
            let (Some(first), Some(last)) = (points.first(), points.last()) else { return false };
            let period = 2.0 * last.at.since(first.at).as_seconds() / crossings.max(1) as f64;
            high > 0.0 && (high - low) / high >= SWING && crossings >= 2 * TEETH && PERIODS.contains(&period)
        })
    })
}

/// How often the values go from the lowest third into the highest or back.
fn crossings(values: &[f64], low: f64, high: f64) -> usize {
    let third = (high - low) / 3.0;
    let mut was_high = None;
    let mut count = 0;
    for value in values {
        let is_high = if *value >= high - third {
            true
        } else if *value <= low + third {
            false
        } else {
            continue;
        };
        count += usize::from(was_high.is_some_and(|was| was != is_high));
        was_high = Some(is_high);
    }
    count
}

#[cfg(test)]
mod tests {
    use crate::analysis::attribution::attribute;
    use crate::analysis::attribution::staged::{Stage, disk};
    use crate::vocab::finding::{Kind, Resource};
    use crate::vocab::moment::Span;
    use crate::vocab::node::DiskItem;
    use crate::vocab::plan::Pattern;

    fn held_by(stage: &Stage) -> Vec<Resource> {
        attribute(&stage.scene()).held_by
    }

    fn used(util: f64, await_: (f64, f64), queue: (f64, f64)) -> Stage {
        Stage::of(Kind::Collapse)
            .row("disk/vda", "util", util, util)
            .row("disk/vda", "await", await_.0, await_.1)
            .row("disk/vda", "queue", queue.0, queue.1)
    }

    #[test]
    fn a_busy_disk_that_became_slower_is_full_and_one_that_is_as_fast_as_before_is_not() {
        assert_eq!(held_by(&Stage::of(Kind::Collapse).slow_disk()), [Resource::Disk]);
        assert_eq!(held_by(&used(100.0, (8.0, 24.0), (4.0, 12.0))), [Resource::Disk]);
        assert_eq!(held_by(&used(100.0, (8.0, 16.0), (4.0, 12.0))), []);
        assert_eq!(held_by(&used(85.0, (8.0, 24.0), (4.0, 12.0))), []);
        assert_eq!(held_by(&used(100.0, (8.0, 10.0), (31.0, 31.5))), [Resource::Disk], "its queue is full");
    }

    #[test]
    fn always_busy_is_no_proof_where_operations_run_in_parallel() {
        let nvme = |stage: Stage| Stage { device: Some("nvme0n1"), ..stage };
        let stage = |queue| {
            nvme(Stage::of(Kind::Collapse))
                .row("disk/nvme0n1", "util", 100.0, 100.0)
                .row("disk/nvme0n1", "await", 0.1, 0.4)
                .row("disk/nvme0n1", "queue", 0.4, queue)
        };
        assert_eq!(held_by(&stage(1.2)), []);
        assert_eq!(held_by(&stage(4.0)), [Resource::Disk]);
        let single = Stage { load: Some(disk(Pattern::RandomRead, 1, true)), ..stage(1.0) };
        assert_eq!(held_by(&single), [Resource::Disk], "one operation at a time makes no queue");
        let mut array = used(100.0, (0.1, 0.4), (0.4, 1.2));
        let item = DiskItem { transport: crate::vocab::fact::Fact::Is("nvme".into()), ..DiskItem::default() };
        array.inventory.disks = vec![DiskItem { name: "vda".into(), ..item }];
        assert_eq!(held_by(&array), [], "its name does not say what it is, the inventory does");
    }

    #[test]
    fn waiting_supports_a_disk_and_is_none_by_itself() {
        let waiting = |util| used(util, (8.0, 9.0), (4.0, 6.0)).row("cpu/", "iowait", 2.0, 60.0);
        assert_eq!(held_by(&waiting(98.0)), [Resource::Disk]);
        assert_eq!(held_by(&waiting(60.0)), []);
    }

    #[test]
    fn a_load_that_does_not_feed_the_disk_comes_before_everything() {
        let starved = |queue, await_| {
            used(60.0, (1.0, await_), (20.0, queue)).row("cpu/", "busy", 50.0, 60.0).row("cpu/1", "busy", 70.0, 99.0)
        };
        assert_eq!(held_by(&starved(3.0, 1.0)), [Resource::Generator, Resource::Cpu]);
        assert_eq!(held_by(&starved(20.0, 1.0)), [Resource::Cpu], "the queue is fed");
        assert_eq!(held_by(&starved(3.0, 6.0)), [Resource::Cpu], "the disk is slower as well");
    }

    #[test]
    fn a_disk_that_completes_nothing_hangs_and_one_that_completes_one_does_not() {
        let stage = |writes| {
            Stage::of(Kind::Stall).fast("disk/vda", "util", 90.0, 100.0).row("disk/vda", "r/s", 0.0, 0.0).played(
                "disk/vda",
                "w/s",
                move |t| {
                    if t <= 0 {
                        100.0
                    } else if t == 5_500 {
                        writes
                    } else {
                        0.0
                    }
                },
            )
        };
        let still = stage(0.0).played("disk/vda", "w/s", |t| if t <= 500 { 100.0 } else { 0.0 });
        assert!(held_by(&still).contains(&Resource::DeviceHang));
        assert!(!held_by(&stage(1.0)).contains(&Resource::DeviceHang));
    }

    #[test]
    fn a_hang_needs_two_seconds() {
        let stage = |ms| {
            let stage = Stage::of(Kind::Stall).until(Span::milliseconds(ms));
            let zero = |stage: Stage, row| stage.fast("disk/vda", row, 5.0, 0.0);
            zero(zero(stage.fast("disk/vda", "util", 90.0, 100.0), "r/s"), "w/s")
        };
        assert_eq!((held_by(&stage(2_000)), held_by(&stage(1_900))), (vec![Resource::DeviceHang], vec![]));
    }

    /// A disk that writes at 11 MB/s since the onset, more or less.
    fn flat(noise: f64) -> Stage {
        Stage::of(Kind::Collapse)
            .until(Span::seconds(30))
            .row("disk/vda", "await", 8.0, 90.0)
            .row("disk/vda", "queue", 20.0, 31.0)
            .played("disk/vda", "write", move |t| {
                if t <= 0 { 100.0 } else { 11.0 * (1.0 + noise * ((t / 1_000 % 5) as f64 - 2.0)) }
            })
            .row("disk/vda", "util", 90.0, 40.0)
    }

    #[test]
    fn a_rate_flatter_than_devices_are_is_held_and_one_that_varies_by_a_hundredth_is_not() {
        assert_eq!(held_by(&flat(0.001)), [Resource::DiskCap]);
        assert_eq!(held_by(&flat(0.005)), []);
        let short = Stage { now: crate::vocab::moment::Moment(112_000_000), ..flat(0.001) };
        assert_eq!(held_by(&short), [], "six seconds are no flat line");
    }

    #[test]
    fn dirty_memory_that_goes_up_and_down_is_write_back_and_a_slow_rise_is_not() {
        let stage = |kind, period: i64| {
            let stage =
                Stage { load: Some(disk(Pattern::Write, 1, false)), ..Stage::of(kind).until(Span::seconds(60)) };
            stage.played("memory/", "dirty", move |t| 1e8 + 4e8 * (t.rem_euclid(period) as f64 / period as f64))
        };
        assert_eq!(held_by(&stage(Kind::Oscillation, 6_000)), [Resource::Flush]);
        assert_eq!(held_by(&stage(Kind::Oscillation, 90_000)), []);
        assert_eq!(held_by(&stage(Kind::Collapse, 6_000)), []);
        let direct = Stage { load: Some(disk(Pattern::Write, 1, true)), ..stage(Kind::Oscillation, 6_000) };
        assert_eq!(held_by(&direct), [], "a direct write leaves no dirty memory behind");
    }
}
