//! `shakedown sample`: readings of the host's counters as JSON lines, for looking at a node's raw series and for trying faked
//! roots.

use std::path::PathBuf;
use std::time::Duration;

use super::{Ended, print};
use crate::agent::sampler::{self, Pace, Sink};
use crate::clock::now;
use crate::vocab::event::{Event, Said};

pub(super) fn sample(root: Option<PathBuf>, times: u32, every: f64) -> Ended {
    let every = Duration::try_from_secs_f64(every).map_err(|e| format!("--every {every}: {e}"))?;
    let mut pace = Pace::new(sampler::all(&root.unwrap_or_else(|| PathBuf::from("/"))));
    let mut sink = Sink::default();
    for reading in 0..times {
        if reading > 0 {
            std::thread::sleep(every);
        }
        let at = now();
        let of = pace.read_all(&mut sink).unwrap_or_default();
        let (described, values) = sink.take();
        for event in [Event::Described(described), Event::Sampled { of, values }] {
            let line = serde_json::to_string(&Said { at, event }).map_err(|e| e.to_string())?;
            print(&format!("{line}\n"))?;
        }
    }
    Ok(0)
}
