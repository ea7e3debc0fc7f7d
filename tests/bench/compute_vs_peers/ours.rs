//! A kernel of ours, as the worker runs it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use shakedown::agent::kernel::{self, Stop};
use shakedown::agent::meter::Meter;
use shakedown::agent::resources::Resources;
use shakedown::agent::voice::Voice;
use shakedown::clock::now;
use shakedown::vocab::event::Event;
use shakedown::vocab::plan::Run;
use shakedown::vocab::ronfile::parse;

/// The CPUs that this process may use.
pub fn cpus() -> usize {
    Resources::here(Path::new("/")).cpus.len()
}

/// Bytes of an array that no cache holds, as the kernels choose it.
pub fn area() -> u64 {
    Resources::here(Path::new("/")).caches.map_or(64 << 20, |caches| (4 * caches).max(64 << 20))
}

/// The figures of one iteration of a kernel that is made anew, with its meters read ten times a second.
pub fn figures(load: &str) -> Option<BTreeMap<String, f64>> {
    let run: Run = parse("load", &format!("(name: \"r\", kernel: {load})")).unwrap();
    let mut kernel = kernel::build(&run, Path::new("/var/tmp"), &Resources::here(Path::new("/"))).unwrap();
    let description = kernel.describe();
    let (voice, _thread) = Voice::into_writer(std::io::sink());
    let meter = Arc::new(Meter::new(run.name.clone(), description.meters.len(), description.lanes, voice.clone()));
    kernel.prepare(&meter, &Stop::default()).unwrap();
    let (over, reading) = (Arc::new(AtomicBool::new(false)), Arc::clone(&meter));
    let told = Arc::clone(&over);
    let reader = std::thread::spawn(move || {
        while !told.load(Relaxed) {
            voice.say(Event::Progress(reading.read(now(), false)));
            std::thread::park_timeout(Duration::from_millis(100));
        }
    });
    meter.next_iteration();
    let measured = kernel.iterate(&meter, &Stop::default());
    over.store(true, Relaxed);
    reader.thread().unpark();
    reader.join().unwrap();
    Some(measured.ok()?.figures.into_iter().map(|figure| (figure.name, figure.value)).collect())
}

/// One iteration of a load of ours in a process of its own; returns the figure that it prints.
pub fn in_own_process(load: &str, seed: usize, figure: &str) -> Option<f64> {
    let exe = std::env::current_exe().unwrap();
    let output = Command::new(exe).args(["--side", load, &seed.to_string()]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let value = text.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix('=')?.parse().ok());
    if value.is_none() {
        println!("{load}: {text}{}", String::from_utf8_lossy(&output.stderr));
    }
    value
}

/// What that process does.
pub fn side(load: &str, seed: u64) {
    let run: Run = parse("load", &format!("(name: \"r\", kernel: {load}, seed: {seed})")).expect("a run");
    let mut kernel = kernel::build(&run, Path::new("/var/tmp"), &Resources::here(Path::new("/"))).expect("a kernel");
    let description = kernel.describe();
    let meter = Meter::new(run.name.clone(), description.meters.len(), description.lanes, Voice::silent());
    kernel.prepare(&meter, &Stop::default()).expect("prepared");
    meter.next_iteration();
    for figure in kernel.iterate(&meter, &Stop::default()).expect("an iteration").figures {
        println!("{}={}", figure.name, figure.value);
    }
}
