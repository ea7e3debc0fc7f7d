//! Where sessions lie: files below the state directory, sockets below the runtime directory.

use std::fs::{DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The longest path a Unix socket may have (`unix(7)`: 108 bytes with the final zero).
const SOCKET_PATH: usize = 107;

/// The directory of session files, which need not exist: `$XDG_STATE_HOME/shakedown`, else `~/.local/state/shakedown`.
///
/// # Errors
/// One line when the environment names no place for it.
pub fn sessions() -> Result<PathBuf, String> {
    let base = match std::env::var_os("XDG_STATE_HOME").filter(|v| !v.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => std::env::home_dir()
            .ok_or("neither XDG_STATE_HOME nor HOME is set; name the file with --session FILE")?
            .join(".local/state"),
    };
    Ok(base.join("shakedown"))
}

/// The private directory of sockets: `$XDG_RUNTIME_DIR/shakedown`, else `shakedown-UID` below `/tmp`, mode 0700.
///
/// # Errors
/// One line when it cannot be made, or belongs to somebody else.
pub fn sockets() -> Result<PathBuf, String> {
    let dir = sockets_directory();
    if let Err(error) = DirBuilder::new().mode(0o700).recursive(true).create(&dir) {
        return Err(format!("{} cannot be made: {error}", dir.display()));
    }
    let owned = |m: &Metadata| m.is_dir() && m.uid() == rustix::process::getuid().as_raw() && m.mode() & 0o777 == 0o700;
    match std::fs::symlink_metadata(&dir) {
        Ok(metadata) if owned(&metadata) => Ok(dir),
        _ => Err(format!("{} is not a private directory of this user (mode 0700); remove it", dir.display())),
    }
}

fn sockets_directory() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|v| !v.is_empty()) {
        Some(base) => PathBuf::from(base).join("shakedown"),
        None => PathBuf::from(format!("/tmp/shakedown-{}", rustix::process::getuid().as_raw())),
    }
}

/// The socket of a session.
///
/// # Errors
/// One line when the path would be longer than a socket's may be.
pub fn socket(session: &str) -> Result<PathBuf, String> {
    let path = sockets()?.join(format!("{session}.sock"));
    if path.as_os_str().len() > SOCKET_PATH {
        return Err(format!(
            "the socket path {} is longer than {SOCKET_PATH} bytes; set XDG_RUNTIME_DIR to a shorter one",
            path.display()
        ));
    }
    Ok(path)
}

/// The names of the sessions that are running for this user; sockets that nobody answers are removed.
#[must_use]
pub fn running() -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(sockets_directory()) else { return Vec::new() };
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| alive(&entry.path())).collect();
    names.sort();
    names
}

fn alive(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(".sock")?.to_owned();
    match UnixStream::connect(path) {
        Ok(_) => Some(name),
        Err(error) => {
            if error.kind() == std::io::ErrorKind::ConnectionRefused {
                let _ = std::fs::remove_file(path);
            }
            None
        }
    }
}

/// The finished and unfinished session files in the state directory, latest first.
#[must_use]
pub fn files() -> Vec<PathBuf> {
    let Ok(entries) = sessions().and_then(|d| std::fs::read_dir(d).map_err(|e| e.to_string())) else {
        return Vec::new();
    };
    let dated = |e: std::fs::DirEntry| Some((e.metadata().ok()?.modified().ok()?, e.path()));
    let mut files: Vec<_> =
        entries.flatten().filter_map(dated).filter(|(_, p)| p.extension().is_some_and(|e| e == "jsonl")).collect();
    files.sort();
    files.into_iter().rev().map(|(_, path)| path).collect()
}
