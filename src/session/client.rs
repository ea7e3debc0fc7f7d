//! What a viewer holds of a session: records coming, commands going. Live, re-attached and replayed look the same.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::heard::Heard;
use super::reader::Reader;
use super::replay::{self, Pace};
use crate::vocab::line;
use crate::vocab::order::Command;

/// Records that may wait for the viewer; past that the source waits, which costs the runner nothing.
const WAITING: usize = 1024;
/// How long a runner may take to hear the last command of a viewer that leaves.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A session being watched. The stream of records ends when the runner is gone or the file is at its end.
#[derive(Debug)]
pub struct Client {
    /// Records in order.
    pub heard: Receiver<Heard>,
    /// Commands to the runner; closed when there is none, as with a file.
    pub commands: Sender<Command>,
    /// Whether a runner is at the other end.
    pub live: bool,
    /// How a replay goes; none where there is nothing to be set.
    pub pace: Option<watch::Sender<Pace>>,
    sending: Option<JoinHandle<()>>,
}

impl Client {
    /// What is heard on one channel and commanded on another.
    #[must_use]
    pub fn new(heard: Receiver<Heard>, commands: Sender<Command>, live: bool) -> Self {
        Self { heard, commands, live, pace: None, sending: None }
    }

    /// Leaves once every command given has reached the runner; one that takes none is not waited for.
    pub async fn leave(self) {
        let Self { commands, sending, .. } = self;
        drop(commands);
        if let Some(sending) = sending {
            let _ = timeout(LAST_WORDS, sending).await;
        }
    }

    /// Attaches to the runner at a socket; everything since the beginning comes first.
    ///
    /// # Errors
    /// One line when nobody answers there.
    pub async fn attach(socket: &Path) -> Result<Self, String> {
        let stream = UnixStream::connect(socket)
            .await
            .map_err(|e| format!("no session answers at {}: {e}", socket.display()))?;
        let (from, mut to) = stream.into_split();
        let (say, heard) = channel(WAITING);
        let (commands, mut ordered) = channel::<Command>(16);
        tokio::spawn(async move {
            let mut lines = BufReader::new(from);
            let mut line = Vec::new();
            while matches!(lines.read_until(b'\n', &mut line).await, Ok(1..)) {
                let word = match line::decode(&line) {
                    Ok(record) => Heard::Record(Box::new(record)),
                    Err(error) => Heard::Damaged(error.to_string()),
                };
                if say.send(word).await.is_err() {
                    return;
                }
                line.clear();
            }
        });
        let sending = tokio::spawn(async move {
            while let Some(command) = ordered.recv().await {
                let Ok(mut line) = serde_json::to_vec(&command) else { continue };
                line.push(b'\n');
                if to.write_all(&line).await.is_err() {
                    return;
                }
            }
        });
        Ok(Self { sending: Some(sending), ..Self::new(heard, commands, true) })
    }

    /// Replays a file: all at once, or `speed` times as fast as it happened.
    #[must_use]
    pub fn replay(reader: Reader, speed: Option<f64>) -> Self {
        Self { pace: None, ..Self::player(reader, speed) }
    }

    /// Replays a file as [`Client::replay`] does, and again from anywhere, as [`Client::pace`] says; it never ends by itself.
    #[must_use]
    pub fn player(reader: Reader, speed: Option<f64>) -> Self {
        let (say, heard) = channel(WAITING);
        let (commands, _) = channel(1);
        let (pace, paced) = watch::channel(Pace { speed, ..Pace::default() });
        let path = reader.path().to_owned();
        tokio::spawn(replay::tell(reader, path, say, paced));
        Self { pace: Some(pace), ..Self::new(heard, commands, false) }
    }
}
