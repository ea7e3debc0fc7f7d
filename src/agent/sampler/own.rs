//! What this tool itself takes of the node: the agent's CPU time (`clock_gettime(2)`), and what each source cost and lost.

use std::io;

use super::{Reading, Sink};
use crate::vocab::event::SampleKind::{Counter, Gauge};
use crate::vocab::unit::Unit;

pub(super) struct Sampler;

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "self"
    }

    fn every(&self) -> u32 {
        4
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        // The kernel's own clock of the process, as `/proc/self/stat` counts hundredths of a second only.
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let seconds = cpu.tv_sec as f64 + (cpu.tv_nsec / 1_000) as f64 / 1e6;
        into.put("", &[("cpu_seconds", Counter, Unit::Seconds, seconds)]);
        let notes: Vec<(&str, [Reading; 2])> = into
            .notes()
            .iter()
            .map(|(source, note)| {
                let took = rounded(note.took.as_micros() as f64);
                let skipped = note.skipped as f64;
                let readings =
                    [("took_us", Gauge, Unit::Microseconds, took), ("skipped", Counter, Unit::Count, skipped)];
                (*source, readings)
            })
            .collect();
        for (source, readings) in notes {
            into.put(source, &readings);
        }
        Ok(())
    }
}

/// Two digits say what matters, and make most readings those that were there before.
fn rounded(value: f64) -> f64 {
    let step = if value < 100.0 { 10.0 } else { 10_f64.powf(value.log10().floor() - 1.0) };
    (value / step).round() * step
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::agent::sampler::Sampler as _;

    #[test]
    fn the_cost_of_each_source_is_told_in_two_digits() {
        let mut sink = Sink::default();
        sink.turn_to("disk", None);
        sink.skip();
        sink.finish(Duration::from_micros(1_234));
        sink.turn_to("self", None);
        Sampler.sample(&mut sink).unwrap();
        let (described, samples) = sink.take();
        let names: Vec<String> = described.iter().map(|d| format!("{} {}", d.device, d.field)).collect();
        assert_eq!(names, [" cpu_seconds", "disk took_us", "disk skipped"]);
        assert!(samples[0].1 > 0.0);
        assert_eq!((samples[1].1, samples[2].1), (1_200.0, 1.0));
        assert_eq!([0.0, 4.0, 87.0, 99_949.0].map(rounded), [0.0, 0.0, 90.0, 100_000.0]);
    }
}
