//! `agent`, `worker`, `runner`: the processes that the program starts itself.

use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::{Ended, runtime};
use crate::agent::{supervise, worker as work};
use crate::runner::{Assignment, keep};

pub(super) fn agent(root: Option<PathBuf>) -> Ended {
    let root = root.unwrap_or_else(|| PathBuf::from("/"));
    supervise::serve(&root, &this_program()?, std::io::stdin(), std::io::stdout())?;
    Ok(0)
}

pub(super) fn worker() -> Ended {
    work::serve(std::io::stdin(), std::io::stdout())?;
    Ok(0)
}

/// Keeps the session that is assigned on standard input, and says `ready` there when it can be watched, or why not.
pub(super) fn runner() -> Ended {
    // A session of its own: the terminal from which it was started may go away.
    let _ = rustix::process::setsid();
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|e| e.to_string())?;
    let assignment: Assignment = serde_json::from_str(&line).map_err(|e| format!("assignment not understood: {e}"))?;
    let kept = runtime()?.block_on(keep(assignment, |_| say("ready")));
    match kept {
        Ok(kept) => Ok(kept.verdict.exit_code()),
        Err(why) => {
            say(&why);
            Err(why)
        }
    }
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Starts a runner that outlives this process, and waits until its session can be watched.
pub(super) async fn start_runner(assignment: &Assignment) -> Result<(), String> {
    let mut command = tokio::process::Command::new(this_program()?);
    command.arg("runner").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| format!("no runner could be started: {e}"))?;
    let mut order = serde_json::to_vec(assignment).map_err(|e| e.to_string())?;
    order.push(b'\n');
    if let Some(stdin) = &mut child.stdin {
        stdin.write_all(&order).await.map_err(|e| format!("the runner took no order: {e}"))?;
    }
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line).await.map_err(|e| e.to_string())?;
    }
    match line.trim() {
        "ready" => Ok(()),
        "" => Err("the runner ended before its session began".to_owned()),
        why => Err(why.to_owned()),
    }
}

/// The path of this very program, also when its file was replaced meanwhile.
pub(super) fn this_program() -> Result<PathBuf, String> {
    let own = Path::new("/proc/self/exe");
    if std::fs::File::open(own).and_then(|mut f| f.read(&mut [0])).is_ok()
        && std::env::current_exe().is_ok_and(|p| !p.exists())
    {
        return Ok(PathBuf::from(format!("/proc/{}/exe", std::process::id())));
    }
    std::env::current_exe().map_err(|e| format!("this program's own path is not known: {e}"))
}
