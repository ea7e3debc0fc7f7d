//! Scenes made by hand for the tests of this room: each counter one level before the onset and one since.

use std::collections::BTreeMap;

use super::scene::{Beside, Counter, Scene};
use crate::analysis::series::Series;
use crate::analysis::state::ROWS;
use crate::vocab::finding::Kind;
use crate::vocab::moment::{Moment, Span};
use crate::vocab::node::{Conditions, Inventory};
use crate::vocab::plan::{Disk, Integer, Load, Pattern};
use crate::vocab::size::ByteSize;
use crate::vocab::unit::Unit;

/// A finding at 100 s, ten seconds ago: a direct write to `vda` that fell from 100 to 10 MB/s.
pub(super) struct Stage {
    pub(super) series: Vec<(String, &'static str, Series)>,
    pub(super) device: Option<&'static str>,
    pub(super) load: Option<Load>,
    pub(super) inventory: Inventory,
    pub(super) conditions: Conditions,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) kind: Kind,
    pub(super) unit: Unit,
    pub(super) onset: Moment,
    pub(super) now: Moment,
    pub(super) began: Option<Moment>,
    pub(super) from: Option<f64>,
    pub(super) to: Option<f64>,
    pub(super) work_before: Option<f64>,
    pub(super) beside: Beside,
}

/// A load of a disk.
pub(super) fn disk(pattern: Pattern, depth: u32, direct: bool) -> Load {
    let (block, size) = ("1MiB".parse().unwrap(), "1GiB".parse::<ByteSize>().unwrap());
    Load::Disk(Disk { depth, direct: Some(direct), ..Disk::new(pattern, block, size, Span::seconds(60)) })
}

impl Stage {
    pub(super) fn of(kind: Kind) -> Self {
        let onset = Moment(100_000_000);
        Self {
            series: Vec::new(),
            device: Some("vda"),
            load: Some(disk(Pattern::Write, 32, true)),
            inventory: Inventory::default(),
            conditions: Conditions::default(),
            labels: BTreeMap::new(),
            kind,
            unit: Unit::MegabytesPerSecond,
            onset,
            now: onset + Span::seconds(10),
            began: None,
            from: Some(100.0),
            to: Some(10.0),
            work_before: Some(1e9),
            beside: Beside::Nobody,
        }
    }

    /// The same of a load that is meant to keep the CPUs busy.
    pub(super) fn of_integer(kind: Kind) -> Self {
        let load = Some(Load::Integer(Integer::default()));
        Self { device: None, load, unit: Unit::EventsPerSecond, ..Self::of(kind) }
    }

    /// Told so long after the onset; to be said before the counters.
    pub(super) fn until(mut self, span: Span) -> Self {
        self.now = self.onset + span;
        self
    }

    pub(super) fn fell_to(mut self, to: f64) -> Self {
        self.to = Some(to);
        self
    }

    pub(super) fn condition(mut self, name: &str, value: &str) -> Self {
        self.conditions.0.insert(name.to_owned(), value.to_owned());
        self
    }

    /// A counter read once a second, half a second beside the onset.
    pub(super) fn row(self, key: &str, name: &'static str, before: f64, after: f64) -> Self {
        self.played(key, name, |t| {
            if t <= 0 {
                before
            } else if t < 1_000 {
                before.midpoint(after)
            } else {
                after
            }
        })
    }

    /// A counter read once a second whose values are a function of the milliseconds since the onset.
    pub(super) fn played(mut self, key: &str, name: &'static str, value: impl Fn(i64) -> f64) -> Self {
        let mut series = Series::new(240, Span::seconds(1));
        for second in 0..10_000 {
            let at = Moment(80_500_000) + Span::seconds(second);
            if at <= self.now {
                series.push(at, value(at.0 as i64 / 1_000 - self.onset.0 as i64 / 1_000));
            }
        }
        self.series.push((key.to_owned(), name, series));
        self
    }

    /// A counter read ten times a second.
    pub(super) fn fast(mut self, key: &str, name: &'static str, before: f64, after: f64) -> Self {
        let mut series = Series::new(240, Span::milliseconds(100));
        for tenth in 0..100_000 {
            let at = Moment(90_000_000) + Span::milliseconds(100 * tenth);
            if at <= self.now {
                series.push(at, if at <= self.onset { before } else { after });
            }
        }
        self.series.push((key.to_owned(), name, series));
        self
    }

    /// A disk whose own counters are those of a healthy write.
    pub(super) fn healthy_disk(self) -> Self {
        self.row("disk/vda", "util", 60.0, 60.0)
            .row("disk/vda", "await", 8.0, 8.0)
            .row("disk/vda", "queue", 3.0, 3.0)
            .row("disk/vda", "r/s", 0.0, 0.0)
            .row("disk/vda", "w/s", 100.0, 100.0)
    }

    /// A disk that became full.
    pub(super) fn slow_disk(self) -> Self {
        self.row("disk/vda", "util", 96.0, 100.0)
            .row("disk/vda", "await", 8.0, 480.0)
            .row("disk/vda", "queue", 20.0, 31.0)
            .row("disk/vda", "r/s", 0.0, 0.0)
            .row("disk/vda", "w/s", 100.0, 10.0)
    }

    pub(super) fn scene(&self) -> Scene<'_> {
        let counter = |(key, name, series): &'_ (String, &'static str, Series)| {
            let source = key.split('/').next().unwrap();
            let row = ROWS.iter().find(|r| r.source == source && r.name == *name).unwrap();
            (row.unit, row.detail, series.is_empty())
        };
        let counters = self.series.iter().map(|entry| {
            let (unit, detail, _) = counter(entry);
            Counter { key: &entry.0, name: entry.1, unit, detail, series: &entry.2 }
        });
        Scene {
            counters: counters.collect(),
            device: self.device,
            load: self.load.as_ref(),
            inventory: Some(&self.inventory),
            conditions: Some(&self.conditions),
            kind: self.kind,
            unit: self.unit,
            onset: self.onset,
            now: self.now,
            began: self.began,
            from: self.from,
            to: self.to,
            work_before: self.work_before,
            labels: Some(&self.labels),
            beside: self.beside,
        }
    }
}
