//! What the counters of a scene say: one figure before the onset and one since, of each of them.

use std::collections::BTreeMap;

use super::scene::{Counter, Scene};
use crate::analysis::series::Point;
use crate::vocab::finding::Kind;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::plan::Load;
use crate::vocab::stat;
use crate::vocab::unit::Unit;

/// How far back "before" reaches.
const BEFORE: Span = Span::seconds(10);
/// A reading that covers both sides of the onset belongs to the side that has all of it but a fifth.
const OVERLAP: u64 = 5;
/// A single reading is enough where it covers so much time; counters that are read ten times a second need [`FEWEST`].
const LONG: Span = Span::milliseconds(500);
/// Readings that make a figure where each of them is short.
const FEWEST: usize = 2;

/// A counter on both sides of the onset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sides {
    /// Median of the ten seconds before the onset; none when nothing was read in them.
    pub(super) before: Option<f64>,
    /// Median since; none while no reading lies behind the onset as a whole.
    pub(super) after: Option<f64>,
    /// The largest reading since.
    pub(super) most: Option<f64>,
}

impl Sides {
    /// A rate of two readings stands for the time between them, so it counts only where that time lies on one side. At one reading
    /// a second the first that counts comes 1 to 1.8 s after the onset, at ten a second 0.2 to 0.3 s after it.
    fn of(counter: &Counter<'_>, scene: &Scene<'_>) -> Self {
        let from = scene.began.map_or(scene.onset - BEFORE, |began| began.max(scene.onset - BEFORE));
        let points = counter.series.between(from - BEFORE, scene.now);
        let mut sides: [Vec<(f64, Span)>; 2] = Default::default();
        for (index, point) in points.iter().enumerate() {
            let since = index.checked_sub(1).and_then(|i| points.get(i)).map(|p| p.at);
            if let Some(side) = side(counter.unit, point, since, (from, scene.onset)) {
                let covered = since.map_or(LONG, |since| point.at.since(since));
                sides[side].push((point.value, covered));
            }
        }
        let [before, after] = sides;
        Self { before: figure(&before), after: figure(&after), most: after.iter().map(|(v, _)| *v).reduce(f64::max) }
    }
}

/// Whether the value is what was found at that moment, not what went on since the reading before.
fn stands(unit: Unit) -> bool {
    matches!(unit, Unit::Celsius | Unit::Megahertz | Unit::Bytes | Unit::Count)
}

/// On which side of the onset a reading counts: 0 before, 1 since.
fn side(unit: Unit, point: &Point, since: Option<Moment>, (from, onset): (Moment, Moment)) -> Option<usize> {
    let begin = if stands(unit) { point.at } else { since? };
    let slack = Span(point.at.since(begin).0 / OVERLAP);
    if begin + slack >= onset {
        Some(1)
    } else if begin + slack >= from && point.at <= onset + slack {
        Some(0)
    } else {
        None
    }
}

fn figure(readings: &[(f64, Span)]) -> Option<f64> {
    let long = readings.iter().any(|(_, covered)| *covered >= LONG);
    let values: Vec<f64> = readings.iter().map(|(value, _)| *value).collect();
    if long || values.len() >= FEWEST { stat::median(&values) } else { None }
}

/// A scene with its counters read.
pub(super) struct Facts<'a> {
    /// Where the finding stands.
    pub(super) scene: &'a Scene<'a>,
    sides: BTreeMap<(&'a str, &'a str), Sides>,
}

impl<'a> Facts<'a> {
    /// Reads the counters of a scene.
    pub(super) fn of(scene: &'a Scene<'a>) -> Self {
        let sides = scene.counters.iter().map(|c| ((c.key, c.name), Sides::of(c, scene))).collect();
        Self { scene, sides }
    }

    /// A counter by its device and row.
    pub(super) fn sides(&self, key: &str, row: &str) -> Sides {
        self.sides.get(&(key, row)).copied().unwrap_or_default()
    }

    /// Since the onset.
    pub(super) fn after(&self, key: &str, row: &str) -> Option<f64> {
        self.sides(key, row).after
    }

    /// The devices of a source that have a row, totals left out, with what it says.
    pub(super) fn each<'s>(&'s self, source: &'s str, row: &'s str) -> impl Iterator<Item = (&'a str, Sides)> + 's {
        let of_source = move |key: &&str| key.split_once('/').is_some_and(|(s, d)| s == source && d != "*");
        self.sides.iter().filter(move |((key, name), _)| *name == row && of_source(key)).map(|((key, _), s)| (*key, *s))
    }

    /// The device of a source with the most of a row since the onset.
    pub(super) fn most(&self, source: &str, row: &str) -> Option<(&'a str, f64)> {
        let after = self.each(source, row).filter_map(|(key, sides)| Some((key, sides.after?)));
        after.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Whether this node tells of a row at all.
    pub(super) fn tells(&self, source: &str, row: &str) -> bool {
        self.each(source, row).next().is_some()
    }

    /// Whether any counter has spoken since the onset.
    pub(super) fn has_spoken(&self) -> bool {
        self.sides.values().any(|s| s.after.is_some())
    }

    /// Whether any counter has spoken on both sides of it.
    pub(super) fn has_compared(&self) -> bool {
        self.sides.values().any(|s| s.after.is_some() && s.before.is_some())
    }

    /// The disk that the run stands on, as `disk/vda`: its own, or the busiest where that is not known.
    pub(super) fn disk(&self) -> Option<&'a str> {
        let own = |key: &&str| key.strip_prefix("disk/").is_some_and(|name| Some(name) == self.scene.device);
        match self.scene.device {
            Some(_) => self.each("disk", "util").map(|(key, _)| key).find(own),
            // What a file system without a device stands on is not known.
            None if matches!(self.scene.load, Some(Load::Disk(_))) => None,
            None => self.most("disk", "util").map(|(key, _)| key),
        }
    }

    /// A row of the disk that the run stands on.
    pub(super) fn on_disk(&self, row: &str) -> Sides {
        self.disk().map_or_else(Sides::default, |key| self.sides(key, row))
    }

    /// The counter itself.
    pub(super) fn counter(&self, key: &str, row: &str) -> Option<&'a Counter<'a>> {
        self.scene.counters.iter().find(|c| c.key == key && c.name == row)
    }

    /// Whether the kind says that something changed at the onset, so that what was the same before explains nothing.
    pub(super) fn is_a_change(&self) -> bool {
        matches!(self.scene.kind, Kind::Collapse | Kind::Stall | Kind::Step | Kind::Dip | Kind::Drift)
    }

    /// What is left of the level before: 0.1 after a fall by 90 %, of a time ten times as long as well.
    pub(super) fn left(&self) -> Option<f64> {
        let (from, to) = (self.scene.from?, self.scene.to?);
        let (worse, better) = if self.scene.unit.lower_is_better() { (from, to) } else { (to, from) };
        (better > 0.0).then(|| worse / better)
    }

    /// Whether the load is meant to keep the CPUs busy, and nothing else.
    pub(super) fn loads_cpu(&self) -> bool {
        matches!(self.scene.load, Some(Load::Linpack(_) | Load::Gemm(_) | Load::Stream(_) | Load::Integer(_)))
    }

    /// Whether the load writes to a disk; without a load, whether its disk was rather written to than read.
    pub(super) fn writes(&self) -> bool {
        match self.scene.load {
            Some(Load::Disk(disk)) => disk.pattern.writes(),
            Some(Load::Linpack(_) | Load::Gemm(_) | Load::Stream(_) | Load::Integer(_)) => false,
            Some(Load::Synthetic(_)) | None => {
                let level = |row| self.on_disk(row).before.or(self.on_disk(row).after).unwrap_or(0.0);
                level("write") > level("read")
            }
        }
    }

    /// Whether the load goes through the page cache; none when nobody says.
    pub(super) fn buffered(&self) -> Option<bool> {
        match (self.scene.label("path"), self.scene.load) {
            (Some(path), _) => Some(path.starts_with("buffered")),
            (None, Some(Load::Disk(disk))) => Some(!disk.is_direct()),
            _ => None,
        }
    }

    /// How many operations the load keeps in flight.
    pub(super) fn depth(&self) -> Option<f64> {
        match self.scene.load {
            Some(Load::Disk(disk)) => Some(f64::from(disk.depth) * f64::from(disk.jobs)),
            _ => self.scene.label("depth").and_then(|depth| depth.parse().ok()),
        }
    }

    /// Whether the run's disk works on several operations at once, so that "always busy" does not mean "full".
    pub(super) fn is_parallel(&self) -> bool {
        let Some(name) = self.disk().and_then(|key| key.strip_prefix("disk/")) else { return false };
        let item = self.scene.inventory.and_then(|i| i.disks.iter().find(|d| d.name == name));
        let by_item = item.is_some_and(|d| {
            let transport = d.transport.known().map_or("", String::as_str);
            let model = d.model.known().map_or("", String::as_str).to_ascii_lowercase();
            let raid = ["raid", "perc", "megaraid", "logical volume", "smart array"];
            transport.starts_with("nvme") || matches!(transport, "md" | "lvm") || raid.iter().any(|w| model.contains(w))
        });
        by_item || name.starts_with("nvme") || name.starts_with("md")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::attribution::staged::Stage;

    #[test]
    fn at_one_reading_a_second_the_first_whole_second_after_the_onset_counts() {
        let figure = |spoken: u64| {
            let stage = Stage::of(Kind::Collapse).until(Span::milliseconds(spoken)).row("cpu/", "steal", 1.0, 30.0);
            let scene = stage.scene();
            Facts::of(&scene).after("cpu/", "steal")
        };
        // The onset of the stage lies half a second behind a reading.
        assert_eq!(figure(300), None, "no reading yet");
        assert_eq!(figure(600), None, "the reading of the second in which it fell is half healthy");
        assert_eq!(figure(1_600), Some(30.0));
    }

    #[test]
    fn at_ten_a_second_two_readings_are_enough() {
        let figure = |spoken: u64| {
            let stage =
                Stage::of(Kind::Collapse).until(Span::milliseconds(spoken)).fast("disk/vda", "await", 1.0, 30.0);
            let scene = stage.scene();
            Facts::of(&scene).after("disk/vda", "await")
        };
        assert_eq!((figure(100), figure(200), figure(300)), (None, Some(30.0), Some(30.0)));
    }

    #[test]
    fn what_was_read_before_the_load_began_is_of_something_else() {
        let mut stage = Stage::of(Kind::Collapse).row("disk/vda", "util", 4.0, 100.0);
        stage.began = Some(stage.onset - Span::milliseconds(200));
        let scene = stage.scene();
        assert_eq!(Facts::of(&scene).sides("disk/vda", "util").before, None);
    }

    #[test]
    fn what_is_left_of_a_time_is_counted_the_other_way_round() {
        let mut stage = Stage::of(Kind::Step);
        (stage.from, stage.to, stage.unit) = (Some(10.0), Some(40.0), Unit::Milliseconds);
        assert_eq!(Facts::of(&stage.scene()).left(), Some(0.25));
    }
}
