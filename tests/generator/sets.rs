//! The sets: what is healthy, a session of 72 hours, and every fault with the noises, prefixes and rates it comes with.

use shakedown::vocab::finding::Resource;
use shakedown::vocab::unit::Unit;

use super::fault::{Fault, What};
use super::random::Random;
use super::{Noise, Recipe, Shape, Timing};

/// A series and the group under which it is counted.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) group: String,
    pub(crate) recipe: Recipe,
}

const G1: Noise = Noise::Gauss { cv: 0.01 };
const G3: Noise = Noise::Gauss { cv: 0.03 };
const G10: Noise = Noise::Gauss { cv: 0.10 };
const AR5: Noise = Noise::Autocorrelated { rho: 0.5, cv: 0.05 };
const AR9: Noise = Noise::Autocorrelated { rho: 0.9, cv: 0.05 };
const T3: Noise = Noise::Heavy { cv: 0.03 };

/// Every noise that a fault may hide in.
const NOISES: [Noise; 6] = [G1, G3, G10, AR5, AR9, T3];
const RATES: [f64; 3] = [1.0, 2.0, 10.0];
/// Healthy samples before a fault.
pub(crate) const PREFIXES: [usize; 4] = [3, 10, 100, 1000];

/// A series without a fault.
fn plain(hertz: f64, samples: usize, noise: Noise) -> Recipe {
    Recipe {
        seed: 0,
        hertz,
        samples,
        level: 100.0,
        noise,
        shape: Shape::Level,
        timing: Timing::default(),
        faults: Vec::new(),
        unit: Unit::MegabytesPerSecond,
        reference: None,
        floor: None,
        says_in_flight: false,
    }
}

/// Everything healthy, with a name each.
pub(crate) fn healthy(hertz: f64, samples: usize) -> Vec<(&'static str, Recipe)> {
    let of = |noise| plain(hertz, samples, noise);
    let jitter = Timing { jitter: 0.1, missing: 0.0 };
    let missing = Timing { jitter: 0.0, missing: 0.01 };
    let mut all = vec![
        ("gauss 1 %", of(G1)),
        ("gauss 3 %", of(G3)),
        ("gauss 10 %", of(G10)),
        ("AR .5 5 %", of(AR5)),
        ("AR .9 5 %", of(AR9)),
        ("t3 3 %", of(T3)),
        ("dips -40 %", of(Noise::Dips { cv: 0.02 })),
        ("two modes -15 %", of(Noise::Bimodal { cv: 0.02 })),
        ("ramp", Recipe { shape: Shape::Ramp { tau: 10.0 }, ..of(G3) }),
        ("quantised", of(Noise::Quantised { cv: 0.03, step: 0.05 })),
        ("flat", of(Noise::None)),
        ("daily 2 %", Recipe { shape: Shape::Daily { by: 0.02 }, ..of(G3) }),
        ("1 % missing", Recipe { timing: missing, ..of(G3) }),
        ("jitter 10 %", Recipe { timing: jitter, ..of(G3) }),
        ("latency 10 %", Recipe { unit: Unit::Milliseconds, level: 5.0, ..of(G10) }),
    ];
    for (number, (_, recipe)) in all.iter_mut().enumerate() {
        recipe.reference = number.is_multiple_of(2).then_some(recipe.level);
        recipe.says_in_flight = number % 3 == 1;
    }
    all
}

/// The thirty series of a healthy session: each kind twice, at 1, 2 and 10 Hz by turns, so long as the session.
pub(crate) fn session(seconds: f64, seed: u64) -> Vec<(String, Recipe)> {
    let kinds = healthy(1.0, 0).len();
    let of = |n: usize| {
        let hertz = RATES[(n + n / kinds) % RATES.len()];
        let (name, recipe) = healthy(hertz, (seconds * hertz) as usize).swap_remove(n % kinds);
        (format!("{name} at {hertz} Hz"), Recipe { seed: Random::new(seed ^ (n as u64 + 1)).bits(), ..recipe })
    };
    (0..2 * kinds).map(of).collect()
}

/// Cases being collected; each gets a seed and a level of its own.
struct Cases {
    random: Random,
    repeats: usize,
    all: Vec<Case>,
}

impl Cases {
    /// So many of a kind as are asked for, `make` being told the rate and the noise.
    fn each(&mut self, group: &str, rates: &[f64], noises: &[Noise], make: impl Fn(Recipe) -> Recipe) {
        for _ in 0..self.repeats {
            for hertz in rates {
                for noise in noises {
                    let seed = self.random.bits();
                    let level = 10.0_f64.powf(self.random.between(1.0, 4.0)).round();
                    let in_flight = self.random.chance(0.5);
                    let base = Recipe { seed, level, says_in_flight: in_flight, ..plain(*hertz, 0, *noise) };
                    let recipe = make(Recipe { floor: Some(0.8 * level), ..base });
                    self.all.push(Case { group: group.to_owned(), recipe });
                }
            }
        }
    }

    /// One fault behind so many healthy samples, `after` samples long or to the end.
    fn fault(&mut self, group: &str, noises: &[Noise], prefix: usize, after: usize, what: What) {
        self.each(group, &RATES, noises, |recipe| with(&recipe, vec![Fault::new(what, prefix)], prefix + after));
    }
}

fn with(recipe: &Recipe, faults: Vec<Fault>, samples: usize) -> Recipe {
    Recipe { samples, faults, ..recipe.clone() }
}

/// So many samples as come in these seconds.
fn samples(seconds: f64, recipe: &Recipe) -> usize {
    (seconds * recipe.hertz).ceil() as usize
}

/// Every fault, `repeats` times in each noise and at each rate; the same for the same seed.
pub(crate) fn faults(seed: u64, repeats: usize) -> Vec<Case> {
    let mut cases = Cases { random: Random::new(seed), repeats, all: Vec::new() };
    collapses(&mut cases);
    stalls(&mut cases);
    steps_and_drifts(&mut cases);
    swings_and_caps(&mut cases);
    recoveries(&mut cases);
    spikes_and_references(&mut cases);
    together(&mut cases);
    cases.all
}

fn collapses(cases: &mut Cases) {
    for prefix in PREFIXES {
        for to in [0.01, 0.05, 0.3] {
            for over in [1, 5, 20] {
                let what = What::Fall { to, over, back: 1.0 };
                let group = format!("collapse after {prefix}");
                cases.each(&group, &RATES, &NOISES, |recipe| {
                    let resource = (to < 0.02).then_some(Resource::Disk);
                    with(&recipe, vec![Fault { resource, ..Fault::new(what, prefix) }], prefix + 100)
                });
            }
        }
        cases.fault(&format!("half after {prefix}"), &NOISES, prefix, 100, What::Fall { to: 0.5, over: 1, back: 1.0 });
    }
    // A throttled device behind 1 GB: seconds of nothing, then one lump a second.
    for silent in [1.0, 4.0, 6.0] {
        cases.each("throttled", &[10.0], &[G3, AR5], |recipe| {
            let what = What::Throttled { to: 0.01, silent: samples(silent, &recipe), every: samples(1.0, &recipe) };
            let prefix = ((1000.0 / recipe.level * recipe.hertz) as usize).clamp(10, 1000);
            let disk = Fault { resource: Some(Resource::Disk), ..Fault::new(what, prefix) };
            with(&recipe, vec![disk], prefix + 300)
        });
    }
    cases.each("latency x3", &RATES, &NOISES, |recipe| {
        let fall = Fault::new(What::Fall { to: 0.33, over: 1, back: 1.0 }, 100);
        let latency = Recipe { unit: Unit::Milliseconds, level: 5.0, floor: Some(8.0), ..recipe };
        with(&latency, vec![fall], 200)
    });
}

fn stalls(cases: &mut Cases) {
    for prefix in [0].into_iter().chain(PREFIXES) {
        for seconds in [3.0, 10.0, 60.0, f64::INFINITY] {
            cases.each(&format!("stall after {prefix}"), &RATES, &NOISES, |recipe| {
                let stall = Fault::new(What::Stall { burst: 3.0 }, prefix);
                let (n, rest) = (samples(seconds, &recipe), samples(20.0, &recipe));
                if seconds.is_finite() {
                    return with(&recipe, vec![stall.until(prefix + n)], prefix + n + rest);
                }
                with(&recipe, vec![stall], prefix + 4 * rest)
            });
        }
    }
    cases.each("short stall", &[10.0], &NOISES, |recipe| {
        let stall = Fault::new(What::Stall { burst: 3.0 }, 100).until(110);
        with(&recipe, vec![stall], 300)
    });
}

fn steps_and_drifts(cases: &mut Cases) {
    for prefix in [60, 300] {
        let step = |to| What::Fall { to, over: 1, back: 1.0 };
        cases.fault("step to 70 %", &[G1, G3, G10], prefix, 200, step(0.7));
        cases.fault("step to 70 %, AR and t3", &[AR5, AR9, T3], prefix, 200, step(0.7));
        cases.fault("step to 85 %", &[G1, G3], prefix, 200, step(0.85));
        cases.fault("step to 85 %, other noise", &[G10, AR5, T3], prefix, 300, step(0.85));
        cases.fault("step to 92 %", &[G1, G3], prefix, 200, step(0.92));
    }
    for over in [100, 300, 3000] {
        for (by, name) in [(0.05, "5"), (0.1, "10"), (0.2, "20"), (0.5, "50")] {
            let rates: &[f64] = if over == 100 { &[1.0, 2.0] } else { &RATES };
            cases.each(&format!("drift by {name} % over {over}"), rates, &[G1, G3, AR5], |recipe| {
                // It begins behind a healthy stretch, or with the series.
                let at = if recipe.says_in_flight { 60 } else { 0 };
                with(&recipe, vec![Fault::new(What::Drift { by, over }, at)], at + over)
            });
        }
    }
    cases.fault("ladder 100-45-11", &[G1, G3, G10], 100, 300, What::Ladder { each: 150 });
}

fn swings_and_caps(cases: &mut Cases) {
    for seconds in [4.0, 10.0, 40.0] {
        cases.each(&format!("swing 100/40 every {seconds} s"), &RATES, &[G1, G3, G10], |recipe| {
            let period = samples(seconds, &recipe);
            with(&recipe, vec![Fault::new(What::Swing { low: 0.4, period }, 60)], 60 + (6 * period).max(200))
        });
    }
    cases.fault("noise of 30 % from the start", &[G3, AR5], 0, 300, What::Shaky { cv: 0.3 });
    cases.fault("noise of 30 % after 100", &[G3, AR5], 100, 300, What::Shaky { cv: 0.3 });
    for cv in [0.0005, 0.001, 0.003] {
        // The flat line is judged on means of a second: at 1 Hz its width is four of these.
        let group = if cv < 0.002 { "flat to 0.05-0.1 %" } else { "flat to 0.3 %" };
        cases.fault(group, &[G3], 0, 200, What::Flat { cv, burst: None });
        cases.each("flat behind a burst", &RATES, &[G3], |recipe| {
            let burst = Some((4.0, samples(20.0, &recipe)));
            let n = samples(120.0, &recipe);
            with(&recipe, vec![Fault::new(What::Flat { cv: cv.min(0.001), burst }, 0)], n)
        });
    }
}

fn recoveries(cases: &mut Cases) {
    for to in [0.05, 0.3] {
        cases.each("recovery", &RATES, &NOISES, |recipe| {
            let fall = What::Fall { to, over: 1, back: 1.0 };
            let (at, long) = (60, samples(20.0, &recipe));
            with(&recipe, vec![Fault::new(fall, at).until(at + long)], at + 2 * long + 40)
        });
        cases.each("partial recovery to 70 %", &RATES, &NOISES, |recipe| {
            let fall = What::Fall { to, over: 1, back: 0.7 };
            let (at, long) = (60, samples(20.0, &recipe));
            with(&recipe, vec![Fault::new(fall, at).until(at + long)], at + 2 * long + 40)
        });
    }
}

fn spikes_and_references(cases: &mut Cases) {
    let latency = |recipe: Recipe| Recipe { unit: Unit::Milliseconds, level: 5.0, floor: None, ..recipe };
    cases.each("single spike of latency", &RATES, &[G1, G3, G10, AR5], |recipe| {
        with(&latency(recipe), vec![Fault::new(What::Spike { times: 60.0 }, 200)], 400)
    });
    cases.each("cluster of spikes", &RATES, &[G1, G3, G10, AR5], |recipe| {
        let long = samples(60.0, &recipe);
        let cluster = Fault::new(What::Cluster { times: 10.0, share: 0.05 }, 200).until(200 + long);
        with(&latency(recipe), vec![cluster], 300 + long)
    });
    for ratio in [0.95, 0.85, 0.8, 0.6] {
        let group = if ratio > 0.9 { "5 % below the reference" } else { "15-40 % below the reference" };
        cases.each(group, &RATES, &[G1, G3, AR5], |recipe| {
            let known = Recipe { reference: Some(recipe.level), floor: None, ..recipe };
            let n = samples(120.0, &known).max(120);
            with(&known, vec![Fault::new(What::Below { ratio }, 0)], n)
        });
    }
}

fn together(cases: &mut Cases) {
    let fall = |to| What::Fall { to, over: 1, back: 1.0 };
    let stall = What::Stall { burst: 1.0 };
    cases.each("two: step, then collapse", &RATES, &[G1, G3], |recipe| {
        with(&recipe, vec![Fault::new(fall(0.7), 100), Fault::new(fall(0.1), 250)], 400)
    });
    cases.each("two: stall, then collapse", &RATES, &NOISES, |recipe| {
        let (n, gap) = (samples(10.0, &recipe), samples(30.0, &recipe).max(60));
        let faults = vec![Fault::new(stall, 60).until(60 + n), Fault::new(fall(0.05), 60 + n + gap)];
        with(&recipe, faults, 160 + n + gap)
    });
    cases.each("two: collapse, then stall", &RATES, &NOISES, |recipe| {
        let (n, gap) = (samples(12.0, &recipe), samples(20.0, &recipe).max(40));
        let faults = vec![Fault::new(fall(0.2), 60), Fault::new(stall, 60 + gap).until(60 + gap + n)];
        with(&recipe, faults, 100 + gap + n)
    });
    cases.each("in the warm-up: collapse", &RATES, &NOISES, |recipe| {
        let at = 4 + (recipe.seed % 10) as usize;
        with(&recipe, vec![Fault::new(fall(0.05), at)], 120)
    });
    cases.each("in the warm-up: step", &RATES, &[G1, G3], |recipe| {
        let at = 5 + (recipe.seed % 15) as usize;
        with(&recipe, vec![Fault::new(fall(0.7), at)], 200)
    });
    cases.each("in the last five samples", &RATES, &NOISES, |recipe| {
        with(&recipe, vec![Fault { resource: None, ..Fault::new(fall(0.05), 195) }], 200)
    });
}
