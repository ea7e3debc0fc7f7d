//! What the live screen takes: CPU time of a frame of 200 by 60 on each screen, and bytes of frames, over a session that is folded
//! record by record. `cargo bench --bench screen_cost -- [SCREEN] [SESSION]`; a session file is shown instead of the golden one, of
//! which the runs, iterations and findings are multiplied, as after days of a burn-in.

use std::cell::Cell;
use std::error::Error;
use std::io::Write;
use std::rc::Rc;

use jiff::tz::TimeZone;
use rustix::time::{ClockId, clock_gettime};
use shakedown::analysis::state::State;
use shakedown::session::reader::{Item, Reader};
use shakedown::view::theme::{Depth, Glyphs, Theme};
use shakedown::view::tui::{Keys, Options, Picture};
use shakedown::vocab::event::Record;
use shakedown::vocab::finding::Finding;

/// The budget of a frame, in milliseconds.
const MOST: f64 = 0.5;
/// Runs of a full session, iterations of each, and findings.
const FULL: (usize, usize, u32) = (24, 500, 60);
/// The live screen, and the keys of the others.
const SCREENS: [(&str, Option<char>); 7] = [
    ("live", None),
    ("findings", Some('f')),
    ("verdict", Some('v')),
    ("host", Some('H')),
    ("inventory", Some('i')),
    ("compare", Some('C')),
    ("log", Some('L')),
];
/// Frames of one state, of which the quickest half is taken.
const FRAMES: usize = 400;
/// Time between the frames whose bytes are counted, as on a slow line.
const FRAME: u64 = 500_000;

/// Counts what is written.
#[derive(Clone, Default)]
struct Counter(Rc<Cell<usize>>);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// CPU time of this process in seconds.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn options(theme: &str, depth: Depth, glyphs: Glyphs, slow: bool) -> Result<Options, Box<dyn Error>> {
    let (theme, keys) = (Theme::load(theme, None)?, Keys::default());
    let (themes, mouse, zone, title, panic_at) = (Vec::new(), false, TimeZone::UTC, None, None);
    Ok(Options { theme, themes, keys, mouse, slow, depth, glyphs, zone, title, panic_at })
}

/// Milliseconds of CPU time that one frame takes once everything is known, and the bytes of all frames but the first.
fn still(state: &State, size: (u16, u16), key: Option<char>) -> Result<(f64, usize), Box<dyn Error>> {
    let written = Counter::default();
    let options = options("default", Depth::True, Glyphs::Braille, false)?;
    let mut picture = Picture::new(&options, size, written.clone())?;
    *picture.state() = state.clone();
    key.into_iter().for_each(|key| picture.press(key));
    picture.draw()?;
    let first = written.0.get();
    let mut times = Vec::with_capacity(FRAMES);
    for _ in 0..FRAMES {
        let before = cpu();
        picture.draw()?;
        times.push((cpu() - before) * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let quickest = &times[..FRAMES / 2];
    Ok((quickest.iter().sum::<f64>() / quickest.len() as f64, written.0.get() - first))
}

/// Bytes a second while a session goes on, two frames a second, on a slow line without colours.
fn bytes_a_second(records: &[Record], size: (u16, u16)) -> Result<f64, Box<dyn Error>> {
    let written = Counter::default();
    let mut picture = Picture::new(&options("mono", Depth::None, Glyphs::Ascii, true)?, size, written.clone())?;
    let (mut next, mut frames, mut first) = (0, 0_u32, 0);
    for record in records {
        picture.state().apply(record);
        let now = picture.state().now.0;
        if now >= next {
            picture.draw()?;
            next = now + FRAME;
            frames += 1;
            if frames == 1 {
                first = written.0.get();
            }
        }
    }
    Ok((written.0.get() - first) as f64 / (f64::from(frames.max(2) - 1) * FRAME as f64 / 1e6))
}

/// A session with many runs, iterations and findings, made of one that has some of each.
fn full(mut state: State) -> State {
    let (runs, iterations, findings) = FULL;
    let some = state.runs.clone();
    state.runs = some.iter().cycle().take(runs.max(some.len())).cloned().collect();
    for (number, run) in state.runs.iter_mut().enumerate().skip(some.len()) {
        run.name = format!("{}-{number}", run.name).as_str().into();
    }
    for run in state.runs.iter_mut().filter(|run| !run.done.is_empty()) {
        run.done = run.done.iter().cycle().take(iterations).cloned().collect();
    }
    let found: Vec<_> = state.findings.values().cloned().collect();
    for (id, finding) in (1..=findings).zip(found.iter().cycle()) {
        let node = state.found_on.get(&finding.id).cloned().unwrap_or_default();
        state.findings.insert(id, Finding { id, ..finding.clone() });
        state.found_on.insert(id, node);
    }
    state
}

fn main() -> Result<(), Box<dyn Error>> {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1.jsonl").to_owned();
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let is_screen = |word: &&String| SCREENS.iter().any(|(name, _)| name == word);
    let only = words.iter().find(is_screen);
    let own = words.iter().find(|word| !is_screen(word));
    let file = own.unwrap_or(&golden);
    let records: Vec<Record> = Reader::open(file.as_ref())?
        .filter_map(|item| match item {
            Item::Record(record) => Some(*record),
            Item::Damaged(..) => None,
        })
        .collect();
    let mut out = std::io::stdout();
    writeln!(out, "{} records of {file}", records.len())?;
    let mut state = State::default();
    records.iter().for_each(|record| state.apply(record));
    let state = if own.is_some() { state } else { full(state) };
    let iterations: usize = state.runs.iter().map(|run| run.done.len()).sum();
    writeln!(out, "{} runs, {iterations} iterations, {} findings", state.runs.len(), state.findings.len())?;
    for size in [(80, 24), (200, 60)] {
        for (name, key) in SCREENS.into_iter().filter(|(name, _)| only.is_none_or(|only| only == name)) {
            let (time, bytes) = still(&state, size, key)?;
            writeln!(out, "{}x{} {name}: a frame {time:.3} ms of CPU (budget {MOST} ms at 200x60)", size.0, size.1)?;
            writeln!(out, "{}x{} {name}: {bytes} bytes for {FRAMES} frames of an unchanged state", size.0, size.1)?;
        }
    }
    writeln!(out, "80x24, --slow: {:.0} bytes a second (9600 baud: 960)", bytes_a_second(&records, (80, 24))?)?;
    Ok(())
}
