//! Shakedown: live acceptance testing of servers and cloud nodes.
//!
//! One binary, four processes, one language of events. A **viewer** shows records and holds no truth; a **runner** keeps the
//! session: it numbers the events, journals, folds, lets the detectors speak and judges; an **agent** on the node under test
//! starts a **worker** for each run and samples the host. Each can die without the next.
//!
//! ```text
//! kernel -> meter -> worker --+
//!                             +--> agent --> runner: number --+--> journal    kept
//! sampler --------------------+                               +--> state      folded --> detectors --> found
//!                                                             +--> viewers    shown
//! ```
//!
//! Nothing flows back but commands. The rooms, in the order of their layers; a room uses only rooms above it in this list:
//!
//! | room | what it is for |
//! |---|---|
//! | [`vocab`] | the words: quantities, plans, events, findings, verdicts, the line |
//! | [`clock`], [`shelf`] | the one clock; files compiled in and overridden by name |
//! | [`log`] | pure: series in the files of other tools |
//! | [`session`] | the record on disk and on the wire |
//! | [`agent`] | on the node: supervisor, worker, kernels, samplers |
//! | [`analysis`] | pure: the fold, the detectors, the preflight, the judge |
//! | [`runner`] | keeps a session |
//! | [`view`] | what is shown: headless lines, the screen |
//! | [`cli`], [`verb`] | what was typed, what is meant; the composition roots |

pub mod agent;
pub mod analysis;
pub mod cli;
pub mod clock;
pub mod log;
pub mod runner;
pub mod session;
pub mod shelf;
pub mod verb;
pub mod view;
pub mod vocab;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

/// The exit code for what could not be run: usage, configuration, environment, a preflight that refuses.
const COULD_NOT_RUN: u8 = 3;

/// A bug is reported with its back trace, on a terminal that was given back first.
fn report_bugs() {
    let _ = color_eyre::install();
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        view::tui::restore();
        report(panic);
    }));
}

/// Parses, performs, and turns the end into an exit code. A user's mistake is one line; a bug has a report.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    report_bugs();
    let typed = match cli::typed::Typed::try_parse_from(arguments) {
        Ok(typed) => typed,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { COULD_NOT_RUN.into() } else { ExitCode::SUCCESS };
        }
    };
    match verb::perform(typed) {
        Ok(code) => code.into(),
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "shakedown: {why}");
            COULD_NOT_RUN.into()
        }
    }
}
