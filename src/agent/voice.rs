//! How a worker or an agent says events: stamped at once, written by a thread of its own.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use crate::clock::now;
use crate::vocab::event::{Event, Said};

/// Events that may wait for a reader that is not keeping up; past that they are dropped and counted.
const WAITING: usize = 4096;

/// Says events without ever waiting for the reader.
#[derive(Clone, Debug)]
pub struct Voice {
    to: Option<SyncSender<Said>>,
    lost: Arc<AtomicU64>,
}

impl Voice {
    /// A voice that writes JSON lines to `out`, and the thread that does so until every clone of the voice is gone.
    #[must_use]
    pub fn into_writer(out: impl Write + Send + 'static) -> (Self, JoinHandle<()>) {
        let (to, from) = sync_channel(WAITING);
        let voice = Self { to: Some(to), lost: Arc::default() };
        let lost = Arc::clone(&voice.lost);
        (voice, std::thread::spawn(move || write_all(&from, out, &lost)))
    }

    /// A voice that nobody hears.
    #[must_use]
    pub fn silent() -> Self {
        Self { to: None, lost: Arc::default() }
    }

    /// Says an event that happens now.
    pub fn say(&self, event: Event) {
        self.pass(Said { at: now(), event });
    }

    /// Passes on what another has said and stamped.
    pub fn pass(&self, said: Said) {
        if let Some(to) = &self.to
            && let Err(TrySendError::Full(_)) = to.try_send(said)
        {
            self.lost.fetch_add(1, Relaxed);
        }
    }
}

fn write_all(from: &Receiver<Said>, mut out: impl Write, lost: &AtomicU64) {
    while let Ok(said) = from.recv() {
        let dropped = lost.swap(0, Relaxed);
        let loss = (dropped > 0).then_some(Said { at: said.at, event: Event::Lost(dropped) });
        for said in loss.into_iter().chain([said]) {
            let Ok(mut line) = serde_json::to_vec(&said) else { continue };
            line.push(b'\n');
            if out.write_all(&line).and_then(|()| out.flush()).is_err() {
                return;
            }
        }
    }
}
