//! Tells a session file to a viewer, at the pace that the viewer sets: faster, slower, not at all for a while, or once more from
//! somewhere in its middle.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep};

use super::heard::Heard;
use super::reader::{Item, Reader};
use crate::vocab::moment::{Moment, Span};

/// How a replay goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// So many times as fast as it happened; all at once when none.
    pub speed: Option<f64>,
    /// Nothing more is told for now.
    pub paused: bool,
    /// Where it was begun the last time.
    pub leap: Leap,
}

/// A replay that begins again: everything up to some time since the session was opened is told at once, the rest at its pace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leap {
    /// Counts the leaps, since one may lead to where an earlier one led.
    pub number: u64,
    /// How far.
    pub to: Span,
}

/// Why the telling ended.
enum Told {
    /// Everything is told.
    All,
    /// The viewer wants to hear it from somewhere else.
    Leapt,
    /// Nobody listens any more.
    Gone,
}

/// One telling of the file.
struct Telling<'a> {
    say: &'a Sender<Heard>,
    pace: &'a mut Receiver<Pace>,
    leap: Leap,
}

/// Tells a session, again at every leap, until nobody can ask for one any more.
pub(super) async fn tell(mut reader: Reader, path: PathBuf, say: Sender<Heard>, mut pace: Receiver<Pace>) {
    loop {
        let leap = pace.borrow().leap;
        match (Telling { say: &say, pace: &mut pace, leap }).all(reader).await {
            Told::Gone => return,
            Told::Leapt => {}
            Told::All => {
                let is_over = say.send(Heard::End).await.is_err();
                if is_over || pace.wait_for(|now| now.leap != leap).await.is_err() {
                    return;
                }
            }
        }
        match again(&path, &say).await {
            Some(anew) => reader = anew,
            None => return,
        }
    }
}

/// Opens the file once more; the viewer forgets what it has heard.
async fn again(path: &Path, say: &Sender<Heard>) -> Option<Reader> {
    match Reader::open(path) {
        Ok(reader) => say.send(Heard::Anew).await.ok().map(|()| reader),
        Err(why) => {
            // What was heard stays on the screen, and the replay ends with a word about why.
            let _ = say.send(Heard::Damaged(why.to_string())).await;
            None
        }
    }
}

impl Telling<'_> {
    async fn all(&mut self, reader: Reader) -> Told {
        let (mut opened, mut last) = (None, None);
        for item in reader {
            let word = match item {
                Item::Record(record) => {
                    if record.node.is_runner() {
                        let opened = *opened.get_or_insert(record.at);
                        let passed = self.passed(opened, last, record.at);
                        if passed > Duration::ZERO && self.wait(passed).await {
                            return Told::Leapt;
                        }
                        last = Some(record.at);
                    }
                    Heard::Record(record)
                }
                Item::Damaged(number, error) => Heard::Damaged(format!("line {number} is {error}")),
            };
            if self.say.send(word).await.is_err() {
                return Told::Gone;
            }
            if self.pace.borrow().leap != self.leap {
                return Told::Leapt;
            }
        }
        Told::All
    }

    /// What is to be waited for before what happened at `at`, in the session's own time.
    fn passed(&self, opened: Moment, last: Option<Moment>, at: Moment) -> Duration {
        let begun = opened + self.leap.to;
        last.map_or(Duration::ZERO, |last| at.since(last.max(begun)).into())
    }

    /// Waits while so much of the session's time passes; gives whether the viewer has leapt meanwhile.
    async fn wait(&mut self, mut left: Duration) -> bool {
        loop {
            let now = *self.pace.borrow_and_update();
            if now.leap != self.leap {
                return true;
            }
            let watched = self.pace.has_changed().is_ok();
            match now.speed.filter(|speed| *speed > 0.0) {
                _ if now.paused && watched => drop(self.pace.changed().await),
                None => return false,
                Some(speed) if !watched => {
                    sleep(left.div_f64(speed)).await;
                    return false;
                }
                Some(speed) => {
                    let begun = Instant::now();
                    tokio::select! {
                        () = sleep(left.div_f64(speed)) => return false,
                        _ = self.pace.changed() => left = left.saturating_sub(begun.elapsed().mul_f64(speed)),
                    }
                }
            }
        }
    }
}
