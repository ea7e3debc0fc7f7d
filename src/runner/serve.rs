//! Serves the records of the session over a Unix socket: everything since the beginning from the file, then what comes.
//!
//! A viewer that is slow waits for itself alone: what it has missed it gets from the file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinSet;

use super::pipeline::Published;
use crate::vocab::order::Command;

/// How long the file may lag behind what is published before a viewer goes on with a gap.
const LAG: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The open door of a session.
#[derive(Debug)]
pub(super) struct Door {
    socket: PathBuf,
    viewers: JoinSet<()>,
    listener: UnixListener,
    file: PathBuf,
}

impl Door {
    /// Opens the socket; one that nobody answers is replaced.
    pub(super) fn open(socket: &Path, file: &Path) -> Result<Self, String> {
        if std::os::unix::net::UnixStream::connect(socket).is_ok() {
            return Err(format!("a session of this name is running already at {}", socket.display()));
        }
        let _ = std::fs::remove_file(socket);
        let listener = UnixListener::bind(socket).map_err(|e| format!("{}: {e}", socket.display()))?;
        Ok(Self { socket: socket.to_owned(), viewers: JoinSet::new(), listener, file: file.to_owned() })
    }

    /// Waits for a viewer and serves it in a task of its own.
    pub(super) async fn admit(&mut self, publish: &broadcast::Sender<Published>, commands: &mpsc::Sender<Command>) {
        let Ok((stream, _)) = self.listener.accept().await else {
            // Out of descriptors, perhaps; the session does not spin over it.
            return tokio::time::sleep(LOOK_AGAIN).await;
        };
        let (published, commands, file) = (publish.subscribe(), commands.clone(), self.file.clone());
        self.viewers.spawn(attend(stream, published, commands, file));
        while self.viewers.try_join_next().is_some() {}
    }

    /// Lets the viewers read to the end, but not longer than `patience`, and removes the socket.
    pub(super) async fn close(mut self, patience: Duration) {
        let _ = std::fs::remove_file(&self.socket);
        let all = async { while self.viewers.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(patience, all).await;
    }
}

async fn attend(
    stream: UnixStream,
    published: broadcast::Receiver<Published>,
    commands: mpsc::Sender<Command>,
    file: PathBuf,
) {
    let (from, to) = stream.into_split();
    let listening = tokio::spawn(listen(from, commands));
    let Ok(history) = File::open(&file).await else { return };
    let mut sending = Sending { to, history: BufReader::new(history), rest: Vec::new(), sent: 0 };
    let over = sending.go_on(published).await.is_ok();
    let _ = sending.to.shutdown().await;
    if over {
        listening.abort();
    } else {
        // The viewer is gone, or cannot be served; what it has asked for before that still counts.
        let _ = listening.await;
    }
}

async fn listen(from: impl AsyncRead + Unpin, commands: mpsc::Sender<Command>) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Ok(command) = serde_json::from_str(&line)
            && commands.send(command).await.is_err()
        {
            return;
        }
    }
}

struct Sending {
    to: OwnedWriteHalf,
    history: BufReader<File>,
    rest: Vec<u8>,
    sent: u64,
}

impl Sending {
    async fn go_on(&mut self, mut published: broadcast::Receiver<Published>) -> std::io::Result<()> {
        self.catch_up(u64::MAX).await?;
        loop {
            match published.recv().await {
                Ok(Published { seq, .. }) if seq <= self.sent => {}
                Ok(Published { seq, line }) => {
                    let until = tokio::time::Instant::now() + LAG;
                    while self.sent + 1 < seq && tokio::time::Instant::now() < until {
                        self.catch_up(seq - 1).await?;
                        if self.sent + 1 < seq {
                            tokio::time::sleep(LOOK_AGAIN).await;
                        }
                    }
                    self.to.write_all(line.as_bytes()).await?;
                    self.sent = seq;
                }
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            }
        }
    }

    /// Sends whole lines of the file that were not sent yet, up to number `last` or the end of what is written.
    async fn catch_up(&mut self, last: u64) -> std::io::Result<()> {
        while self.sent < last {
            self.history.read_until(b'\n', &mut self.rest).await?;
            if !self.rest.ends_with(b"\n") {
                return Ok(());
            }
            let line = std::mem::take(&mut self.rest);
            if let Some(seq) = seq_of(&line).filter(|seq| *seq > self.sent) {
                self.to.write_all(&line).await?;
                self.sent = seq;
            }
        }
        Ok(())
    }
}

/// The number at the head of a line, without reading the rest of it.
fn seq_of(line: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(b"{\"seq\":")?;
    let end = digits.iter().position(|b| !b.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}
