//! Asking a tool: with a time limit, a limit to what it may say, no shell, and no wait for one that will not die.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Far above what a controller with hundreds of disks fills.
const MOST: u64 = 4 << 20;

/// How long a killed tool is waited for; one that hangs in the kernel stays behind.
const REAP: Duration = Duration::from_millis(200);

/// The program of this name in `PATH`. Directories that are not absolute are passed over: they mean something else in every
/// working directory, and this may run as root.
pub(super) fn in_path(name: &str) -> Option<PathBuf> {
    found(name, &std::env::var_os("PATH")?)
}

fn found(name: &str, path: &std::ffi::OsStr) -> Option<PathBuf> {
    let executable = |program: &PathBuf| {
        std::fs::metadata(program).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(path).filter(|directory| directory.is_absolute()).map(|d| d.join(name)).find(executable)
}

/// What a program says to these arguments, or why it said nothing. Its exit code does not count: the tools end with an error
/// when one controller of several has no drive, and say so in their answer.
pub(super) fn ask(program: &Path, arguments: &[&str], until: Instant) -> Result<String, String> {
    if Instant::now() >= until {
        return Err("was not asked: other questions took all the time".to_owned());
    }
    let mut child = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("could not be started: {error}"))?;
    let answer = listen(&mut child, until);
    end(&mut child, until);
    match answer {
        Some(bytes) if bytes.is_empty() => Err("said nothing".to_owned()),
        Some(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        None => Err("did not answer in time".to_owned()),
    }
}

fn listen(child: &mut Child, until: Instant) -> Option<Vec<u8>> {
    let output = child.stdout.take()?;
    let (tell, told) = mpsc::channel();
    // The thread ends with the pipe; if the tool hangs in the kernel it stays behind with it.
    let listener = move || {
        let mut bytes = Vec::new();
        let _ = output.take(MOST).read_to_end(&mut bytes);
        let _ = tell.send(bytes);
    };
    thread::Builder::new().name("raid-tool".to_owned()).spawn(listener).ok()?;
    told.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
}

/// Lets the program end by itself if it does so at once, and kills it and its children otherwise.
fn end(child: &mut Child, until: Instant) {
    let patience = until.min(Instant::now() + REAP);
    if ended(child, patience) {
        return;
    }
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    ended(child, Instant::now() + REAP);
}

fn ended(child: &mut Child, until: Instant) -> bool {
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(2)),
            Ok(None) => return false,
            Ok(Some(_)) | Err(_) => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(script: &str) -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("tool");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        (place, path)
    }

    fn soon(seconds: u64) -> Instant {
        Instant::now() + Duration::from_secs(seconds)
    }

    #[test]
    fn a_tool_answers_whatever_its_exit_code() {
        let (_place, path) = tool("echo \"$1 $2\"; exit 255");
        assert_eq!(ask(&path, &["a b", "$x"], soon(20)).as_deref(), Ok("a b $x\n"));
        let (_place, silent) = tool("exit 0");
        assert_eq!(ask(&silent, &[], soon(20)), Err("said nothing".to_owned()));
        assert!(ask(Path::new("/no/such/tool"), &[], soon(20)).unwrap_err().starts_with("could not be started"));
    }

    #[test]
    fn a_tool_that_hangs_is_killed_with_its_children() {
        let place = tempfile::tempdir().unwrap();
        let pids = place.path().join("pids");
        let (_place, path) = tool(&format!("sleep 600 & echo $! > {0}; echo $$ >> {0}; wait", pids.display()));
        let began = Instant::now();
        assert_eq!(ask(&path, &[], Instant::now() + Duration::from_secs(2)), Err("did not answer in time".to_owned()));
        assert!(began.elapsed() < Duration::from_secs(10));
        let alive = |pid: &&str| {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !state.is_empty() && !state.contains(") Z ")
        };
        let left = std::fs::read_to_string(&pids).unwrap();
        let until = soon(10);
        while left.lines().any(|pid| alive(&pid)) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(left.lines().filter(alive).count(), 0);
    }

    #[test]
    fn a_tool_that_never_stops_talking_is_cut() {
        let (_place, path) = tool("exec yes");
        assert_eq!(ask(&path, &[], soon(60)).map(|text| text.len() as u64), Ok(MOST));
    }

    #[test]
    fn only_executables_in_absolute_directories_are_found() {
        let (place, path) = tool("true");
        let variable = |text: String| std::ffi::OsString::from(text);
        let here = place.path().display();
        assert_eq!(found("tool", &variable(format!(".::relative:{here}"))), Some(path.clone()));
        assert_eq!((found("tool", &variable(".:".into())), found("other", &variable(here.to_string()))), (None, None));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(found("tool", &variable(here.to_string())), None);
    }
}
