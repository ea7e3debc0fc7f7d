//! What sampling takes of a big node: CPU seconds a second, at one full reading and nine of a device, the writing of the events
//! included. `cargo bench --bench sampling_cost`; with a path behind `--`, that root is read instead of a made-up machine.

#[path = "../common/machine.rs"]
mod machine;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use shakedown::agent::sampler::{Pace, Sink, all};
use shakedown::vocab::event::{Event, Said};
use shakedown::vocab::moment::Moment;

/// Seconds of readings, and how many are let go by before counting begins: the first describe every series, and sources that turn
/// out to be dear find their rotation.
const SECONDS: usize = 40;
const WARM: usize = 8;

/// The budget, in percent of a core.
const MOST: f64 = 3.0;

/// CPU time of this process, its threads included.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn written(sink: &mut Sink, of: Vec<String>) -> Result<usize, Box<dyn Error>> {
    let (described, values) = sink.take();
    let mut bytes = 0;
    for event in [Event::Described(described), Event::Sampled { of, values }] {
        bytes += serde_json::to_vec(&Said { at: Moment(0), event })?.len();
    }
    Ok(bytes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let faked = tempfile::tempdir()?;
    let given = std::env::args().skip(1).find(|word| !word.starts_with("--")).map(PathBuf::from);
    let root = given.as_deref().unwrap_or(faked.path());
    if given.is_none() {
        machine::BIG.build(root)?;
    }
    let (mut pace, mut sink) = (Pace::new(all(root)), Sink::default());
    let (mut spent, mut bytes, mut longest) = (0.0, 0, Duration::ZERO);
    for second in 0..SECONDS {
        if given.is_none() {
            machine::BIG.advance(root, second + 1)?;
        }
        let (begun, before) = (Instant::now(), cpu());
        let of = pace.read_due(&mut sink).unwrap_or_default();
        let mut said = written(&mut sink, of)?;
        longest = if second < WARM { Duration::ZERO } else { longest.max(begun.elapsed()) };
        for _ in 0..9 {
            pace.read_device(&mut sink, "disk/sd003");
            said += written(&mut sink, vec!["disk/sd003".to_owned()])?;
        }
        // In real time, as sources that are read aside go by the clock; theirs is the same CPU time.
        std::thread::sleep(Duration::from_secs(1).saturating_sub(begun.elapsed()));
        if second >= WARM {
            (spent, bytes) = (spent + cpu() - before, bytes + said);
        }
    }
    let seconds = (SECONDS - WARM) as f64;
    let share = 100.0 * spent / seconds;
    let mut out = std::io::stdout();
    writeln!(out, "sampling: {:.4} CPU seconds a second, {share:.2} % of a core (budget {MOST} %)", spent / seconds)?;
    writeln!(
        out,
        "longest full reading: {:.1} ms; events: {:.0} bytes a second",
        longest.as_secs_f64() * 1e3,
        bytes as f64 / seconds
    )?;
    for (source, note) in sink.notes() {
        writeln!(
            out,
            "{source:>12} {:>8.0} us the last reading, {} lines skipped",
            note.took.as_secs_f64() * 1e6,
            note.skipped
        )?;
    }
    Ok(())
}
