//! One device: its raw readings, whether they can be believed, and the rows made of them.

use std::collections::{BTreeMap, VecDeque};

use super::delta::{Delta, Field, Step, may_fall};
use super::rows::{ROWS, rows_of};
use crate::analysis::series::Series;
use crate::vocab::event::{Described, SampleKind};
use crate::vocab::moment::{Moment, Span};

/// Readings kept of a row as they came: four minutes at one a second.
const RECENT: usize = 240;
/// The same of one among many: a machine with 480 CPUs and 107 disks would fill the memory otherwise.
const FEW: usize = RECENT / 4;

/// Spacings kept to know the usual one.
const SPACINGS: usize = 8;
/// With fewer spacings nothing is usual.
const FEWEST: usize = 2;
/// A reading that is late by less is late and no gap: all devices are read at least once a second.
const SHORTEST_GAP: Span = Span::milliseconds(1_500);
/// Full readings without a device after which it is gone.
const MISSES: u32 = 3;
/// How long after a remark about a device its next of the kind is kept back: a counter that jumps to and fro says so once.
const QUIET: Span = Span::seconds(60);
/// A rate above this share of the link's speed cannot have been.
const IMPOSSIBLE: f64 = 1.2;
/// After so many impossible rates in a row it is the speed that is wrong.
const BELIEVED: u32 = 3;

/// A device and its rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    pub(super) fields: Vec<Field>,
    before: Moment,
    /// The latest reading.
    pub at: Moment,
    /// Since when it is no more there: a disk or NIC that is not read any more, a CPU that is offline.
    pub gone: Option<Moment>,
    /// Its derived series, by index into [`ROWS`].
    pub rows: BTreeMap<usize, Series>,
    spacings: VecDeque<Span>,
    reads: u32,
    capacity: usize,
    /// Readings since it was seen last.
    missed: u32,
    /// Whether values of a reading are being taken in.
    open: bool,
    pub(super) reading: Reading,
    quiet_until: Moment,
    /// What its link carries at most, in bytes a second, as far as its driver says.
    wire: Option<f64>,
    impossible: u32,
}

/// What is known of the reading under way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Reading {
    /// The reading before it, and the one before that.
    earlier: (Moment, Moment),
    /// Whether it is later than the one before.
    pub(super) later: bool,
    /// So long after the one before that no rate can be told; the length.
    pub(super) gap: Option<Span>,
    /// Whether a value of it changed.
    moved: bool,
    /// Whether its rates are to be believed.
    pub(super) sound: bool,
}

impl Device {
    /// A device that nothing was read of; one in a crowd keeps less.
    pub(super) fn new(crowd: bool) -> Self {
        Self { capacity: if crowd { FEW } else { RECENT }, ..Self::default() }
    }

    /// Takes in what one of its series stands for; gives the field's place.
    pub(super) fn describe(&mut self, d: &Described) -> usize {
        if let Some(place) = self.fields.iter().position(|f| f.name == d.field) {
            (self.fields[place].id, self.fields[place].kind) = (Some(d.id), d.kind);
            return place;
        }
        self.fields.push(Field::new(&d.field, Some(d.id), d.kind));
        self.fields.len() - 1
    }

    /// Whether a series of this name with another number was read here: a device that took the name of an earlier one.
    pub(super) fn is_another(&self, d: &Described) -> bool {
        self.fields.iter().any(|f| f.name == d.field && f.id.is_some_and(|id| id != d.id))
    }

    /// Forgets the raw readings, as after a restart of the agent; what is derived stays.
    pub(super) fn seed_anew(&mut self) {
        for field in &mut self.fields {
            (field.id, field.before, field.now) = (None, None, None);
        }
    }

    /// Reads it alone, and so more often than others: from now on it is worth its memory.
    pub(super) fn single_out(&mut self) {
        if self.capacity < RECENT {
            self.capacity = RECENT;
            self.rows.values_mut().for_each(|r| r.widen(RECENT));
        }
    }

    /// Begins a reading; refuses one that is older than the latest.
    pub(super) fn begin(&mut self, at: Moment) -> bool {
        if self.reads > 0 && at < self.at {
            return false;
        }
        let later = self.reads == 0 || at > self.at;
        self.reading = Reading { earlier: (self.at, self.before), later, gap: None, moved: false, sound: true };
        self.open = true;
        if !later {
            return true;
        }
        if self.reads > 0 {
            let spacing = at.since(self.at);
            self.reading.gap = self.is_gap(spacing).then_some(spacing);
            self.spacings.push_back(spacing);
            if self.spacings.len() > SPACINGS {
                self.spacings.pop_front();
            }
        }
        (self.before, self.at) = (self.at, at);
        self.reads = self.reads.saturating_add(1);
        // What it did while it was away has no time of its own.
        let away = self.gone.is_some();
        self.fields.iter_mut().for_each(|f| f.before = f.now.filter(|_| !away));
        true
    }

    fn is_gap(&self, spacing: Span) -> bool {
        self.usual().is_some_and(|usual| spacing > SHORTEST_GAP && spacing.0 > usual.0.saturating_mul(3))
    }

    /// The usual time between two readings: the upper median of the latest; none before there are enough.
    fn usual(&self) -> Option<Span> {
        let mut spacings: Vec<Span> = self.spacings.iter().copied().collect();
        spacings.sort_unstable();
        spacings.get(spacings.len() / 2).copied().filter(|_| self.spacings.len() >= FEWEST)
    }

    /// Takes in a value of the reading under way.
    pub(super) fn take(&mut self, place: usize, value: f64) {
        if let Some(field) = self.fields.get_mut(place).filter(|_| self.open) {
            field.now = Some(value);
            self.reading.moved = true;
        }
    }

    /// Ends a reading: what the counters did, what is strange about it, and the rows. `key` is `net/eth0`.
    pub(super) fn settle(&mut self, key: &str, remarks: &mut Vec<String>) {
        self.open = false;
        if self.value("present") == Some(0.0) {
            self.leave();
            return;
        }
        let (source, name) = key.split_once('/').unwrap_or((key, ""));
        // A CPU's time never stands still: one whose counters do is offline, though its line may still be printed.
        let there = self.reading.moved || source != "cpu" || self.reads <= 1 || !self.reading.later;
        self.note_presence(there);
        self.step(source, name, remarks);
        if source == "net" {
            self.doubt(name, remarks);
        }
        if self.reading.gap.is_none() && self.reading.sound {
            self.derive(source, name);
        }
    }

    /// The source was read and this was not there any more: it stays as it was at its last reading, from which it goes on when it
    /// comes back.
    fn leave(&mut self) {
        (self.at, self.before) = self.reading.earlier;
        if self.reading.later {
            self.spacings.pop_back();
        }
        self.reading = Reading::default();
        self.gone = self.gone.or(Some(self.at));
    }

    /// A reading went by in which this was seen, or not.
    pub(super) fn note_presence(&mut self, there: bool) {
        self.missed = if there { 0 } else { self.missed.saturating_add(1) };
        if there {
            self.gone = None;
        } else if self.missed >= MISSES && self.gone.is_none() {
            self.gone = Some(self.at);
        }
    }

    /// A full reading at `at` went by without this. A source that is read more rarely is missed more rarely.
    pub(super) fn miss(&mut self, at: Moment) {
        let usual = self.usual().unwrap_or(Span::seconds(1));
        let due = Span(usual.0.saturating_mul(u64::from(MISSES)) / 6 * 5);
        let missed = self.missed.saturating_add(1);
        if missed < MISSES || at.since(self.at) >= due {
            self.note_presence(false);
        }
    }

    fn step(&mut self, source: &str, name: &str, remarks: &mut Vec<String>) {
        self.fields.iter_mut().for_each(|f| f.settle(may_fall(source, &f.name)));
        let fell = |f: &&Field| f.step == Step::Reset && f.kind != SampleKind::Gauge;
        let Some(first) = self.fields.iter().find(fell).map(|f| f.name.clone()) else { return };
        let others = self.fields.iter().filter(fell).count() - 1;
        // Counters of 64 bits fall only when all of the device begin anew; those that have overtaken their old value are none the truer.
        if self.fields.iter().any(|f| f.step == Step::Reset && f.kind == SampleKind::Counter) {
            for field in
                self.fields.iter_mut().filter(|f| matches!(f.step, Step::By(_)) && f.kind == SampleKind::Counter)
            {
                field.step = Step::Reset;
            }
        }
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        self.remark(format!("counter reset: {} {first}{more}", called(source, name)), remarks);
    }

    fn remark(&mut self, text: String, remarks: &mut Vec<String>) {
        if self.at >= self.quiet_until {
            self.quiet_until = self.at + QUIET;
            remarks.push(text);
        }
    }

    /// The latest raw value of a field.
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        self.fields.iter().find(|f| f.name == name)?.now
    }

    /// What the link of a NIC carries at most, in bytes a second; another speed than before is believed again.
    pub(super) fn wire(&mut self, speed: Option<f64>) {
        if self.wire != speed {
            (self.wire, self.impossible) = (speed, 0);
        }
    }

    /// The speed of the link in bytes a second, while it is known and believed.
    pub(super) fn link(&self) -> Option<f64> {
        self.wire.filter(|_| self.impossible < BELIEVED)
    }

    /// Whether more went over the link than it carries: counters that were set by hand, or a speed that is wrong.
    fn doubt(&mut self, name: &str, remarks: &mut Vec<String>) {
        let Some(link) = self.link() else { return };
        let delta = self.delta();
        let Some(rate) = delta.rate("rx_bytes").into_iter().chain(delta.rate("tx_bytes")).reduce(f64::max) else {
            return;
        };
        if rate <= IMPOSSIBLE * link {
            self.impossible = 0;
            return;
        }
        self.impossible += 1;
        let (rate, link) = (rate / 1e6, link * 8.0 / 1e6);
        if self.impossible >= BELIEVED {
            remarks.push(format!(
                "net {name} keeps going faster than its link of {link} Mb/s: that speed is not believed"
            ));
            return;
        }
        self.reading.sound = false;
        self.remark(format!("left out: net {name} at {rate:.0} MB/s over a link of {link} Mb/s"), remarks);
    }

    fn delta(&self) -> Delta<'_> {
        Delta { fields: &self.fields, seconds: self.at.since(self.before).as_seconds(), link: self.link() }
    }

    /// Makes the rows of the reading. Of a single CPU only its load.
    pub(super) fn derive(&mut self, source: &str, name: &str) {
        let one_cpu = source == "cpu" && !name.is_empty();
        let delta = self.delta();
        let mut values: Vec<(usize, f64)> = Vec::new();
        for index in rows_of(source) {
            let row = &ROWS[index];
            if one_cpu && row.name != "busy" || name == "*" && matches!(row.name, "util" | "link") {
                continue;
            }
            values.extend((row.of)(&delta).map(|value| (index, value)));
        }
        let (at, capacity) = (self.at, self.capacity.max(FEW));
        for (index, value) in values {
            self.rows.entry(index).or_insert_with(|| Series::new(capacity, Span::seconds(1))).push(at, value);
        }
    }
}

/// A device in a remark: `net eth0`, `cpu`.
fn called(source: &str, name: &str) -> String {
    if name.is_empty() { source.to_owned() } else { format!("{source} {name}") }
}
