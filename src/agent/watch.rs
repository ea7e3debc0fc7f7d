//! The thread that samples the host: everything once a second, the run's own devices ten times a second, the conditions
//! every five seconds.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::conditions;
use super::sampler::{self, Sampler, Sink};
use super::voice::Voice;
use crate::clock;
use crate::vocab::event::{Event, Said};
use crate::vocab::node::Conditions;

const READING: Duration = Duration::from_millis(100);
const FULL_EVERY: u32 = 10;
const CONDITIONS_EVERY: u32 = 50;

/// What the agent tells the thread.
enum Tell {
    BeginRun(Option<String>),
    EndRun,
}

/// The sampling thread; it ends when this is dropped.
pub(super) struct Watch {
    tell: Sender<Tell>,
}

impl Watch {
    /// Begins to sample below `root`.
    pub(super) fn new(root: &Path, voice: Voice) -> Self {
        let (tell, told) = channel();
        let root = root.to_owned();
        let (samplers, conditions) = (sampler::all(&root), conditions::read(&root));
        let sampling = Sampling { root, samplers, sink: Sink::default(), voice, conditions, device: None };
        std::thread::spawn(move || sampling.go_on(&told));
        Self { tell }
    }

    /// A run begins: everything is described once more, and this device (`disk/vda`) is read ten times a second.
    pub(super) fn begin_run(&mut self, device: Option<String>) {
        let _ = self.tell.send(Tell::BeginRun(device));
    }

    /// The run is over.
    pub(super) fn end_run(&mut self) {
        let _ = self.tell.send(Tell::EndRun);
    }
}

struct Sampling {
    root: PathBuf,
    samplers: Vec<Box<dyn Sampler>>,
    sink: Sink,
    voice: Voice,
    conditions: Conditions,
    device: Option<String>,
}

impl Sampling {
    fn go_on(mut self, told: &Receiver<Tell>) {
        let begun = Instant::now();
        for reading in 0_u32.. {
            if reading % CONDITIONS_EVERY == CONDITIONS_EVERY - 1 {
                self.look_at_conditions();
            }
            if reading % FULL_EVERY == 0 {
                self.read(None);
            } else if let Some(device) = self.device.clone() {
                self.read(Some(device));
            }
            let due = READING * (reading + 1);
            loop {
                match told.recv_timeout(due.saturating_sub(begun.elapsed())) {
                    Ok(Tell::BeginRun(device)) => {
                        self.device = device;
                        self.sink.start_over();
                        self.read(None);
                    }
                    Ok(Tell::EndRun) => {
                        self.device = None;
                        self.read(None);
                    }
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        }
    }

    fn read(&mut self, device: Option<String>) {
        let only = device.as_deref().and_then(|d| d.split_once('/'));
        let at = clock::now();
        for sampler in &mut self.samplers {
            match only {
                Some((source, _)) if source != sampler.source() => continue,
                Some((_, name)) => self.sink.turn_to(sampler.source(), Some(&[name.to_owned()])),
                None => self.sink.turn_to(sampler.source(), None),
            }
            // A source that cannot be read now leaves a gap, which is what it is.
            let _ = sampler.sample(&mut self.sink);
        }
        let (described, values) = self.sink.take();
        if !described.is_empty() {
            self.voice.pass(Said { at, event: Event::Described(described) });
        }
        self.voice.pass(Said { at, event: Event::Sampled { of: device.into_iter().collect(), values } });
    }

    fn look_at_conditions(&mut self) {
        let now = conditions::read(&self.root);
        let changes = conditions::changes(&self.conditions, &now);
        if !changes.is_empty() {
            self.voice.say(Event::ConditionsChanged(changes));
        }
        self.conditions = now;
    }
}
