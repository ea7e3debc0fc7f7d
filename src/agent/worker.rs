//! The worker's process: one run, said on standard output. The end of its input means stop.

use std::io::{BufRead, BufReader, Read, Write};

use super::engine;
use super::kernel::{Stop, signals};
use super::voice::Voice;
use crate::vocab::event::Event;
use crate::vocab::order::Work;

/// Reads a [`Work`] from the first line of `input`, does it, and says its end.
///
/// # Errors
/// One line for a work order that cannot be read.
pub fn serve(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Result<(), String> {
    become_expendable();
    signals::ignore_file_size();
    let mut input = BufReader::new(input);
    let mut line = String::new();
    input.read_line(&mut line).map_err(|e| format!("no work order: {e}"))?;
    let work: Work = serde_json::from_str(&line).map_err(|e| format!("work order not understood: {e}"))?;
    let stop = Stop::default();
    let asked = stop.clone();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut input, &mut std::io::sink());
        asked.ask();
    });
    let (voice, writer) = Voice::into_writer(output);
    let outcome = engine::work(&work, &voice, &stop);
    voice.say(Event::RunEnded { run: work.run.name.clone(), outcome });
    drop(voice);
    let _ = writer.join();
    Ok(())
}

/// The worker is the first to be killed for memory, and never outlives its agent.
fn become_expendable() {
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}
