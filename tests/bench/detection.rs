//! How well the detectors find what is there, and how rarely what is not: recall, delay, confusion, false alarms, cost.
//! `cargo bench --bench detection`, with options behind `--`; what counts as a hit stands in `detection/score.rs`.

#[path = "detection/allocations.rs"]
mod allocations;
#[path = "detection/cost.rs"]
mod cost;
#[path = "detection/faulty.rs"]
mod faulty;
#[path = "../generator/mod.rs"]
mod generator;
#[path = "detection/options.rs"]
mod options;
#[path = "detection/quiet.rs"]
mod quiet;
#[path = "../common/recorded.rs"]
mod recorded;
#[path = "detection/score.rs"]
mod score;

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use options::Options;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// Writes a line; a reader that has gone away ends the table and nothing else.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Does the same to each, on every core, and keeps the order.
fn spread<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let one = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            match items.get(i) {
                Some(item) => done.push((i, work(i, item))),
                None => return done,
            }
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(one)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    assert_eq!(all.len(), items.len(), "a series made a detector panic; its message stands above");
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, r)| r).collect()
}

/// A line of the table: what, its goal, and what was reached.
fn figure(name: &str, goal: &str, reached: &str) {
    say(&format!("{name:<46} {goal:>16}   {reached}"));
}

/// The recorded traces that come out as expected.
fn recorded_traces(verbose: bool) {
    let rows = recorded::rows();
    let faults = spread(&rows, |_, row| row.faults(&row.play()));
    let right = faults.iter().filter(|faults| faults.is_empty()).count();
    figure("recorded traces that come out right", "all", &format!("{right} of {}", rows.len()));
    if verbose {
        faults.iter().flatten().for_each(|fault| say(&format!("    {fault}")));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            writeln!(std::io::stderr(), "{why}")?;
            std::process::exit(3);
        }
    };
    let begun = Instant::now();
    let cases = faulty::chosen(&options);
    if let Some(directory) = &options.emit {
        for (number, case) in &cases {
            case.recipe.emit(directory, &format!("{number:06}"))?;
        }
        say(&format!("{} series in {}", cases.len(), directory.display()));
        return Ok(());
    }
    say(&format!("seed {}, {} series with faults\n", options.seed, cases.len()));
    say(&format!("{:<46} {:>16}   reached", "figure", "goal"));
    faulty::score(&cases, &options);
    if !options.is_narrow() {
        say("");
        recorded_traces(options.verbose);
        cost::measure();
        quiet::score(&options);
    }
    say(&format!("\ntook {:.1} s", begun.elapsed().as_secs_f64()));
    Ok(())
}
