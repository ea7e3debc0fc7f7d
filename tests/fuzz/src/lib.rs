//! What the fuzz targets share: a root with one file in it, and the readers that look below it.
//!
//! Run one with `cargo +nightly fuzz run --fuzz-dir tests/fuzz stat -- -max_total_time=60`.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use shakedown::agent::resources::Resources;
use shakedown::agent::sampler::{self, Sink};
use shakedown::agent::{conditions, inventory, survey};

/// A directory of this process alone, in memory.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| PathBuf::from(format!("/dev/shm/shakedown-fuzz-{}", std::process::id())));

/// Puts the data where a reader will find it, and returns the path.
pub fn file(place: &str, data: &[u8]) -> PathBuf {
    let path = ROOT.join(place);
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a directory in memory");
    std::fs::write(&path, data).expect("a file in memory");
    path
}

/// Three readings of one source over the data.
pub fn sample(place: &str, source: &str, data: &[u8]) {
    file(place, data);
    let mut sink = Sink::default();
    for sampler in sampler::all(&ROOT).iter_mut().filter(|s| s.source() == source) {
        for _ in 0..3 {
            sink.turn_to(sampler.source(), None);
            let _ = sampler.sample(&mut sink);
        }
    }
    let (described, samples) = sink.take();
    assert!(samples.iter().all(|s| s.1.is_finite()));
    assert!(samples.iter().all(|s| (s.0 as usize) < described.len()));
}

/// What looks at a node once, over the data.
pub fn look(place: &str, data: &[u8]) {
    file(place, data);
    let _ = inventory::read(&ROOT, &Resources::here(&ROOT));
    let _ = conditions::read(&ROOT);
    let _ = survey::device_of(Path::new("/var/tmp"), &ROOT);
}

/// The lines of the data, each with a checksum that fits, so that the fuzzer gets past it.
pub fn sealed(data: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for line in data.split(|b| *b == b'\n') {
        let body = line.strip_suffix(b"}").unwrap_or(line);
        text.extend_from_slice(body);
        text.extend_from_slice(format!(",\"crc\":\"{:08x}\"}}\n", shakedown::vocab::line::checksum(body)).as_bytes());
    }
    text
}
