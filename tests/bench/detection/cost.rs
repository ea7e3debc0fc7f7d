//! What a series costs: time for a sample, allocations once it is warm, bytes kept.

use std::hint::black_box;
use std::time::Instant;

use shakedown::analysis::trace::Trace;

use crate::generator::sets::healthy;
use crate::generator::{Recipe, Sample};
use crate::{allocations, figure};

/// Samples after which nothing more is to be allocated.
const WARM: usize = 600;
const SAMPLES: usize = 200_000;

/// Nanoseconds a sample, allocations behind the warm-up, bytes held at the end.
fn of(recipe: &Recipe) -> (f64, u64, i64) {
    let samples: Vec<Sample> = recipe.play().collect();
    let (_, bytes) = allocations::so_far();
    let mut trace = Trace::new(recipe.about());
    let read = |trace: &mut Trace, samples: &[Sample]| {
        samples.iter().for_each(|s| trace.read(black_box(s.at()), black_box(s.value), s.in_flight));
    };
    read(&mut trace, &samples[..WARM]);
    let (calls, _) = allocations::so_far();
    let begun = Instant::now();
    read(&mut trace, &samples[WARM..]);
    let took = begun.elapsed();
    let (calls_after, bytes_after) = allocations::so_far();
    black_box(trace.findings().len());
    let kept = bytes_after - bytes + size_of::<Trace>() as i64;
    (took.as_secs_f64() * 1e9 / (samples.len() - WARM) as f64, calls_after - calls, kept)
}

/// Measures on the kinds of healthy series that differ most.
pub(crate) fn measure() {
    for name in ["gauss 3 %", "AR .9 5 %", "t3 3 %", "dips -40 %", "latency 10 %"] {
        let Some((_, recipe)) = healthy(10.0, SAMPLES).into_iter().find(|(n, _)| *n == name) else { continue };
        let (ns, calls, bytes) = of(&Recipe { seed: 7, ..recipe });
        figure(
            &format!("cost of {name}"),
            "300 ns 0 10 kB",
            &format!("{ns:.0} ns a sample, {calls} allocations, {bytes} bytes"),
        );
    }
}
