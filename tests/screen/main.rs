//! The screen as a person meets it: the program itself on a pseudo-terminal, with its runner, agent and worker.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    missing_docs,
    unreachable_pub,
    reason = "tests"
)]

#[path = "../pty/mod.rs"]
mod pty;

mod dialogs;
mod keys;
mod leaving;
mod looks;
mod map;
mod mouse;
mod picker;
mod replay;
mod sizes;
mod stopping;
mod verdict;

/// A preset of runs that play a level 100 MB/s, each so many seconds long; it is passed by doing so.
fn level(runs: &[(&str, f64)]) -> String {
    titled("A healthy device", runs)
}

/// The same with a title of one's own, in RON's spelling.
fn titled(title: &str, runs: &[(&str, f64)]) -> String {
    let run = |(name, seconds): &(&str, f64)| shaped(name, *seconds, "Level");
    let runs: String = runs.iter().map(run).collect();
    format!("( title: \"{title}\", about: \"Plays a level rate.\", runs: [{runs}], checks: [] )")
}

/// One run with a shape of its rate.
fn shaped(name: &str, seconds: f64, shape: &str) -> String {
    format!("( name: \"{name}\", kernel: Synthetic(rate: \"100 MB/s\", time: \"{seconds} s\", shape: {shape}) ), ")
}
