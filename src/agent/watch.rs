//! The threads that watch the host: one samples, everything once a second and the run's own devices ten times a second; one looks
//! at the conditions, in its own time, as some of them ask drivers.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::conditions;
use super::inventory::raid;
use super::sampler::{self, Pace, Sink};
use super::voice::Voice;
use crate::clock;
use crate::vocab::event::{Event, Said};
use crate::vocab::node::Conditions;

const READING: Duration = Duration::from_millis(100);
const FULL_EVERY: u32 = 10;
const CONDITIONS_EVERY: Duration = Duration::from_secs(5);
/// A controller leaves write-back for hours when it learns its battery; a minute is soon enough to see it.
const CONTROLLERS_EVERY: Duration = Duration::from_mins(1);
/// How long the tools of RAID controllers may take.
const CONTROLLERS: Duration = Duration::from_secs(5);

/// Looking at the conditions may take one part in so many of the time.
const CONDITIONS_SHARE: u32 = 500;

/// What the agent tells the thread.
enum Tell {
    BeginRun(Vec<String>),
    EndRun(Vec<String>),
}

/// The watching threads; they end when this is dropped.
pub(super) struct Watch {
    tell: Sender<Tell>,
    /// Never sent to: the other ends hear that these are gone.
    _ends: Vec<Sender<()>>,
}

impl Watch {
    /// Begins to watch below `root`.
    pub(super) fn new(root: &Path, voice: Voice) -> Self {
        let (tell, told) = channel();
        let pace = Pace::new(sampler::all(root));
        let sampling = Sampling { pace, sink: Sink::default(), voice: voice.clone(), devices: Vec::new() };
        std::thread::spawn(move || sampling.go_on(&told));
        // The tools of RAID controllers know nothing of a faked root, and may take seconds.
        let ends = [watch_controllers(root, &voice), Some(watch_conditions(root, voice))];
        Self { tell, _ends: ends.into_iter().flatten().collect() }
    }

    /// A run begins: everything is described once more, and the devices of the runs under way (`disk/vda`) are read ten times a second.
    pub(super) fn begin_run(&mut self, devices: Vec<String>) {
        let _ = self.tell.send(Tell::BeginRun(devices));
    }

    /// A run is over; these are the devices of those that go on.
    pub(super) fn end_run(&mut self, devices: Vec<String>) {
        let _ = self.tell.send(Tell::EndRun(devices));
    }
}

struct Sampling {
    pace: Pace,
    sink: Sink,
    voice: Voice,
    devices: Vec<String>,
}

impl Sampling {
    fn go_on(mut self, told: &Receiver<Tell>) {
        let mut due = Instant::now();
        for reading in 0_u32.. {
            if reading % FULL_EVERY == 0 {
                self.read(Pace::read_due);
            } else if !self.devices.is_empty() {
                let devices = self.devices.clone();
                self.read(|pace, sink| {
                    devices.iter().for_each(|device| pace.read_device(sink, device));
                    Some(devices)
                });
            }
            // A process that was stopped does not make up for the readings it missed: they are a gap.
            due = (due + READING).max(Instant::now().checked_sub(READING).unwrap_or(due));
            loop {
                match told.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    Ok(Tell::BeginRun(devices)) => {
                        self.devices = devices;
                        self.sink.start_over();
                        self.read(Pace::read_all);
                    }
                    Ok(Tell::EndRun(devices)) => {
                        self.devices = devices;
                        self.read(Pace::read_all);
                    }
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        }
    }

    /// Lets `of` read, and says what was read.
    fn read(&mut self, of: impl FnOnce(&mut Pace, &mut Sink) -> Option<Vec<String>>) {
        let at = clock::now();
        let Some(of) = of(&mut self.pace, &mut self.sink) else { return };
        let (described, values) = self.sink.take();
        if !described.is_empty() {
            self.voice.pass(Said { at, event: Event::Described(described) });
        }
        self.voice.pass(Said { at, event: Event::Sampled { of, values } });
    }
}

fn watch_conditions(root: &Path, voice: Voice) -> Sender<()> {
    let (alive, end) = channel();
    let root = root.to_owned();
    let read = move || conditions::read(&root);
    std::thread::spawn(move || compare(read(), CONDITIONS_EVERY, &end, read, &voice));
    alive
}

/// The policies of RAID controllers, where there are any: said once, and when they change.
fn watch_controllers(root: &Path, voice: &Voice) -> Option<Sender<()>> {
    if root != Path::new("/") {
        return None;
    }
    let (alive, end) = channel();
    let voice = voice.clone();
    let read = || raid::conditions(&raid::read(CONTROLLERS));
    std::thread::spawn(move || {
        let first = read();
        if !first.0.is_empty() {
            voice.say(Event::ConditionsChanged(conditions::changes(&Conditions::default(), &first)));
            compare(first, CONTROLLERS_EVERY, &end, read, &voice);
        }
    });
    Some(alive)
}

/// Says what changes in what `read` gives; as often as `every`, but never for more than its share of the time.
fn compare(mut known: Conditions, every: Duration, end: &Receiver<()>, read: impl Fn() -> Conditions, voice: &Voice) {
    let mut pause = every;
    while end.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let begun = Instant::now();
        let now = read();
        pause = every.max(begun.elapsed() * CONDITIONS_SHARE);
        let changes = conditions::changes(&known, &now);
        if !changes.is_empty() {
            voice.say(Event::ConditionsChanged(changes));
        }
        known = now;
    }
}
