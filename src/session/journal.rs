//! The journal: appends lines to the session file from a thread of its own, so that no disk ever makes the runner wait.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Lines that may wait for a disk that does not answer: several minutes of an ordinary session.
const WAITING: usize = 16_384;
/// How often what was written is made safe, and a failed write tried again.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// When written lines are made safe against a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Every second.
    EverySecond,
    /// Between iterations only, because the file lies on the file system under test and would disturb it.
    WhenTold,
}

enum Tell {
    Line(Arc<str>),
    Sync,
    Close(SyncSender<()>),
}

/// What can be the matter with a session file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Lines cannot be written, and why.
    Unwritable(String),
    /// It is not at its path any more, and how that came.
    Gone(&'static str),
}

impl Trouble {
    /// In a line, while the session goes on.
    #[must_use]
    pub fn meanwhile(&self) -> String {
        match self {
            Self::Unwritable(why) => {
                format!("the session file cannot be written: {why}; records are kept in memory and tried again")
            }
            Self::Gone(how) => {
                format!("the session file {how} while it is written; its record will not be found at its path")
            }
        }
    }

    /// In a line, when nothing more is written.
    #[must_use]
    pub fn at_the_end(&self) -> String {
        match self {
            Self::Unwritable(why) => format!("the session file is not complete: {why}"),
            Self::Gone(how) => format!("the session file {how} while it was written; its record is not at its path"),
        }
    }
}

/// The writing end of a session file.
#[derive(Debug)]
pub struct Journal {
    to: SyncSender<Tell>,
    trouble: Arc<Mutex<Option<Trouble>>>,
}

impl Journal {
    /// Creates the file; one that exists is never written over.
    ///
    /// # Errors
    /// The reason in one line, with the path.
    pub fn create(path: &Path, sync: Sync) -> Result<Self, String> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path);
        let file = file.map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => {
                format!("{} exists already; a session is never written over", path.display())
            }
            _ => format!("the session file {} cannot be created: {e}", path.display()),
        })?;
        let (to, from) = sync_channel(WAITING);
        let trouble = Arc::new(Mutex::new(None));
        let writer = Writer {
            file,
            path: path.to_owned(),
            whole: 0,
            pending: Vec::new(),
            dirty: false,
            gone: false,
            sync,
            trouble: Arc::clone(&trouble),
        };
        std::thread::spawn(move || writer.go_on(&from));
        Ok(Self { to, trouble })
    }

    /// Appends a line; false when it had to be dropped because the disk is too far behind.
    #[must_use]
    pub fn put(&self, line: Arc<str>) -> bool {
        self.to.try_send(Tell::Line(line)).is_ok()
    }

    /// Appends a line and waits for the disk where it is behind: for what is there before anything is measured.
    #[must_use]
    pub fn put_patiently(&self, line: Arc<str>) -> bool {
        self.to.send(Tell::Line(line)).is_ok()
    }

    /// Makes safe what was written so far, as between iterations.
    pub fn sync(&self) {
        let _ = self.to.try_send(Tell::Sync);
    }

    /// What is the matter with the file at the moment; none when all is well.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        self.trouble.lock().ok()?.clone()
    }

    /// Writes out what is waiting and makes it safe; gives up after `patience`.
    ///
    /// # Errors
    /// The reason in one line.
    pub fn close(self, patience: Duration) -> Result<(), String> {
        let (done, over) = sync_channel(1);
        let until = Instant::now() + patience;
        while self.to.try_send(Tell::Close(done.clone())).is_err() {
            if Instant::now() >= until {
                return Err("the session file was not written to its end: the disk does not answer".to_owned());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let answered = over.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok();
        match (self.trouble(), answered) {
            (Some(why), _) => Err(why.at_the_end()),
            (None, false) => Err("the session file was not written to its end: the disk does not answer".to_owned()),
            (None, true) => Ok(()),
        }
    }
}

struct Writer {
    file: File,
    path: PathBuf,
    whole: u64,
    pending: Vec<u8>,
    dirty: bool,
    /// Whether the file is not at its path any more.
    gone: bool,
    sync: Sync,
    trouble: Arc<Mutex<Option<Trouble>>>,
}

impl Writer {
    fn go_on(mut self, from: &Receiver<Tell>) {
        let mut next_sync = Instant::now() + SYNC_EVERY;
        loop {
            let told = from.recv_timeout(next_sync.saturating_duration_since(Instant::now()));
            let mut synced = false;
            match told {
                Ok(tell) => {
                    for tell in std::iter::once(tell).chain(from.try_iter()) {
                        match tell {
                            Tell::Line(line) => self.pending.extend_from_slice(line.as_bytes()),
                            Tell::Sync => synced = true,
                            Tell::Close(done) => {
                                self.write();
                                self.make_safe();
                                self.look();
                                let _ = done.send(());
                                return;
                            }
                        }
                    }
                    if self.trouble.lock().is_ok_and(|t| t.is_none()) {
                        self.write();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    next_sync = Instant::now() + SYNC_EVERY;
                    self.write();
                    self.look();
                    synced = self.sync == Sync::EverySecond;
                }
                Err(RecvTimeoutError::Disconnected) => return self.write(),
            }
            if synced {
                self.make_safe();
            }
        }
    }

    /// Writes what is pending. After a failure the file ends at its last whole line and everything is tried again later, so
    /// that a full disk that is cleared in time loses nothing.
    fn write(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let written = self.file.write_all(&self.pending);
        if let Err(error) = &written {
            let _ = self.file.set_len(self.whole).and_then(|()| self.file.seek(SeekFrom::Start(self.whole)));
            self.tell(Some(Trouble::Unwritable(error.to_string())));
        } else {
            self.whole += self.pending.len() as u64;
            self.pending.clear();
            self.dirty = true;
            self.tell(None);
        }
    }

    /// Whether the file is still there for others: one that was deleted or replaced is written on, and lost at the end.
    fn look(&mut self) {
        let Ok(own) = self.file.metadata() else { return };
        let there = std::fs::metadata(&self.path).is_ok_and(|at| (at.dev(), at.ino()) == (own.dev(), own.ino()));
        if !there && !self.gone {
            self.gone = true;
            self.tell(Some(Trouble::Gone(if own.nlink() == 0 { "was deleted" } else { "was moved or replaced" })));
        }
    }

    fn make_safe(&mut self) {
        if self.dirty
            && let Err(error) = self.file.sync_data()
        {
            return self.tell(Some(Trouble::Unwritable(error.to_string())));
        }
        self.dirty = false;
    }

    fn tell(&self, trouble: Option<Trouble>) {
        // What is written to a file that is gone is no end of the trouble.
        if let Ok(mut told) = self.trouble.lock()
            && (trouble.is_some() || !self.gone)
        {
            *told = trouble;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_on_disk_and_no_file_is_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let journal = Journal::create(&path, Sync::EverySecond).unwrap();
        assert!(journal.put("one\n".into()) && journal.put("two\n".into()));
        journal.close(Duration::from_secs(5)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        assert!(Journal::create(&path, Sync::WhenTold).unwrap_err().contains("exists already"));
    }

    #[test]
    fn a_file_that_is_deleted_or_moved_meanwhile_is_told() {
        let dir = tempfile::tempdir().unwrap();
        for moved in [false, true] {
            let path = dir.path().join("s.jsonl");
            let journal = Journal::create(&path, Sync::WhenTold).unwrap();
            assert!(journal.put("one\n".into()));
            if moved {
                std::fs::rename(&path, dir.path().join("other")).unwrap();
            } else {
                std::fs::remove_file(&path).unwrap();
            }
            let why = journal.close(Duration::from_secs(5)).unwrap_err();
            let how = if moved { "was moved or replaced" } else { "was deleted" };
            assert!(why.starts_with(&format!("the session file {how} while it was written")), "{why}");
        }
    }

    #[test]
    fn a_full_disk_is_told_and_makes_nobody_wait() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let trouble = Arc::new(Mutex::new(None));
        let mut writer = Writer {
            file: full,
            path: "/dev/full".into(),
            whole: 0,
            pending: b"line\n".to_vec(),
            dirty: false,
            gone: false,
            sync: Sync::EverySecond,
            trouble: Arc::clone(&trouble),
        };
        writer.write();
        assert!(trouble.lock().unwrap().as_ref().unwrap().at_the_end().contains("No space left"));
        assert_eq!(writer.pending, b"line\n", "kept for another try");
    }
}
