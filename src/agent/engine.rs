//! Takes one run through its phases and iterations, and reads its meters ten times a second from a thread of its own.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::disturbance::Look;
use super::kernel::{self, Description, Kernel, KernelError, Measured, Stop};
use super::meter::Meter;
use super::resources::Resources;
use super::voice::Voice;
use super::{conditions, inventory, roof, survey};
use crate::clock::now;
use crate::vocab::event::{Event, Outcome, Phase, Start};
use crate::vocab::figure::Roof;
use crate::vocab::moment::Span;
use crate::vocab::node::Conditions;
use crate::vocab::order::Work;
use crate::vocab::plan::Run;

/// Where the host is read; a worker measures the machine it runs on and no other.
const ROOT: &str = "/";
/// How often the meters are read.
const READING: Duration = Duration::from_millis(100);
/// Latencies go with every tenth reading.
const LATENCY_EVERY: u32 = 10;

/// Does a run and says everything about it but its end, which is returned.
#[must_use]
pub fn work(work: &Work, voice: &Voice, stop: &Stop) -> Outcome {
    let mut node = Resources::here(Path::new(ROOT));
    node.memory = work.memory.map_or(node.memory, |share| share.min(node.memory));
    let target = target_of(work.run.target.as_deref());
    let done = catch_unwind(AssertUnwindSafe(|| {
        let kernel = kernel::build(&work.run, &target, &node)?;
        iterate(kernel, work, voice, stop)
    }));
    match done {
        Ok(Ok(())) => Outcome::Sound,
        Ok(Err(error)) => error.into(),
        Err(panic) => Outcome::Broken(format!("the kernel panicked: {}", words(panic.as_ref()))),
    }
}

/// Where a run puts its files when nobody has said: on disk, where `/tmp` may be memory.
#[must_use]
pub fn target_of(given: Option<&Path>) -> PathBuf {
    given.map_or_else(|| PathBuf::from("/var/tmp"), Path::to_path_buf)
}

fn iterate(mut kernel: Box<dyn Kernel>, work: &Work, voice: &Voice, stop: &Stop) -> Result<(), KernelError> {
    let description = kernel.describe();
    let run = &work.run;
    let main =
        description.meters.first().map(|m| m.figure.clone().unwrap_or_else(|| m.name.clone())).unwrap_or_default();
    let meter = Arc::new(Meter::new(run.name.clone(), description.meters.len(), description.lanes, voice.clone()));
    let on_disk = kernel.takes().disk > 0 || run.is_raw();
    voice.say(Event::RunStarted(Box::new(start(description, work, (on_disk, stop)))));
    let _reader = Reader::start(Arc::clone(&meter), voice.clone());
    meter.phase(Phase::Prepare);
    kernel.prepare(&meter, stop)?;
    let (mut rounds, mut again, begun) = (Vec::new(), 0, now());
    while goes_on(run, rounds.len(), again, now().since(begun)) {
        if let Some(left) = run.rest.and_then(|rest| rest.left(now().since(begun))) {
            rest(&meter, left, stop)?;
            continue;
        }
        let look = (again < run.repeat_disturbed).then(|| Look::begin(Path::new(ROOT)));
        let (iteration, Measured { figures, latency }) = one(kernel.as_mut(), &meter, stop)?;
        let disturbed = look.and_then(|look| look.taken().beside(run.together.is_some()).disturbs());
        rounds.push(figures.iter().find(|f| f.name == main).map(|f| f.value));
        voice.say(Event::IterationEnded { run: run.name.clone(), iteration, figures, latency });
        if let Some(why) = disturbed {
            again += 1;
            voice.say(Event::Noted(format!(
                "{}: iteration {iteration} was disturbed ({why}): one more is done",
                run.name
            )));
        }
        let figures: Vec<f64> = rounds.iter().copied().flatten().collect();
        if let Some(Ok(why)) = run.until_steady.map(|rule| rule.look(&figures)) {
            voice.say(Event::Noted(format!("{}: {main} is steady after {iteration} rounds: {why}", run.name)));
            break;
        }
    }
    Ok(())
}

/// Whether another iteration is begun, so long after the first was, when so many are done and some of them are to be done again.
fn goes_on(run: &Run, done: usize, again: u32, passed: Span) -> bool {
    done < run.iterations.saturating_add(again) as usize || run.lasting.is_some_and(|lasting| passed < lasting)
}

/// Does nothing for a while.
fn rest(meter: &Meter, time: Span, stop: &Stop) -> Result<(), KernelError> {
    meter.phase(Phase::Cool);
    let end = Instant::now() + Duration::from(time);
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        stop.check()?;
        std::thread::sleep(left.min(READING));
    }
    Ok(())
}

/// One iteration, with what must hold of any.
fn one(kernel: &mut dyn Kernel, meter: &Meter, stop: &Stop) -> Result<(u32, Measured), KernelError> {
    stop.check()?;
    let iteration = meter.next_iteration();
    let before = meter.read(now(), false).done;
    let measured = kernel.iterate(meter, stop)?;
    if meter.read(now(), false).done == before {
        return Err(KernelError::Broken(format!("nothing was done in iteration {iteration}, so nothing was measured")));
    }
    if let Some(figure) = measured.figures.iter().find(|f| !f.value.is_finite()) {
        return Err(KernelError::Corrupt(format!("the figure {} is not a number", figure.name)));
    }
    Ok((iteration, measured))
}

fn start(description: Description, work: &Work, (on_disk, stop): (bool, &Stop)) -> Start {
    let root = Path::new(ROOT);
    let mut labels = description.labels;
    labels.extend(work.labels.clone());
    let limited_to = limit(&conditions::read(root));
    labels.extend(limited_to.clone().map(|limit| ("limited_to".to_owned(), limit)));
    let cpus = description.cpus;
    if on_disk {
        let target = target_of(work.run.target.as_deref());
        if let Some(device) = survey::device_below(&work.run, &target, root) {
            labels.entry("device".to_owned()).or_insert(device);
        }
        labels.entry("target".to_owned()).or_insert(target.display().to_string());
    } else {
        let kinds = (!cpus.is_empty()).then(|| inventory::kinds(root, &cpus)).flatten();
        labels.extend(kinds.map(|kinds| ("cores".to_owned(), kinds)));
    }
    let alone = work.run.together.is_none();
    let told = description.bound.map(|bound| roof::of(bound, &roof::Node { root, cpus, limited_to, alone, stop }));
    let told = told.unwrap_or_default();
    let unknown =
        told.unknown.into_iter().map(|(basis, why)| (Roof::label(told.name, basis), format!("unknown: {why}")));
    labels.extend(unknown);
    Start {
        run: work.run.name.clone(),
        iterations: work.run.iterations,
        meters: description.meters,
        roofs: told.roofs,
        labels,
        command: description.command,
        deadline: work.deadline,
    }
}

/// What keeps this process from the whole node: a CPU quota, or fewer CPUs than there are. A figure without it would be taken for
/// the node's.
fn limit(conditions: &Conditions) -> Option<String> {
    let value = |name: &str| conditions.0.get(name).map(String::as_str);
    let quota = value("cpu_quota").filter(|quota| *quota != "none").map(str::to_owned);
    let online = value("cpus_online");
    let some = value("affinity").filter(|own| online.is_some_and(|all| all != *own)).map(|own| format!("CPUs {own}"));
    let limits: Vec<String> = quota.into_iter().chain(some).collect();
    (!limits.is_empty()).then(|| limits.join(" on "))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without words").to_owned()
}

/// The thread that reads the meters; ends with one last reading when dropped.
struct Reader {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    fn start(meter: Arc<Meter>, voice: Voice) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        Self { over, thread: Some(std::thread::spawn(move || read_on(&meter, &voice, &told))) }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn read_on(meter: &Meter, voice: &Voice, over: &AtomicBool) {
    let begun = Instant::now();
    for reading in 0_u32.. {
        voice.say(Event::Progress(meter.read(now(), reading % LATENCY_EVERY == 0)));
        if over.load(Relaxed) {
            return;
        }
        // Due times are counted from the beginning, so that lateness does not add up.
        let due = READING * (reading + 1);
        std::thread::park_timeout(due.saturating_sub(begun.elapsed()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::plan::{Basis, Linpack, Load, Rest, Shape, Synthetic};
    use crate::vocab::size::Order;

    fn synthetic(shape: Shape) -> Work {
        let kernel = Load::Synthetic(Synthetic {
            rate: "100 MB/s".parse().unwrap(),
            time: Span::milliseconds(250),
            shape,
            noise: 0.0,
        });
        let run = Run { iterations: 2, seed: 1, ..Run::new("s", kernel) };
        Work { run, deadline: Span::seconds(60), memory: None, labels: [].into() }
    }

    fn run(shape: Shape) -> (Outcome, String) {
        said(&synthetic(shape))
    }

    fn kernel_lanes() -> crate::agent::meter::Lanes {
        crate::agent::meter::Lanes { threads: 1, depth: 0, timed: false }
    }

    fn said(what: &Work) -> (Outcome, String) {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let (voice, thread) = Voice::into_writer(writer);
        let outcome = work(what, &voice, &Stop::default());
        drop(voice);
        thread.join().unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut reader, &mut text).unwrap();
        (outcome, text)
    }

    #[test]
    fn a_sound_run_says_phases_readings_and_figures_in_order() {
        let (outcome, text) = run(Shape::Level);
        assert_eq!(outcome, Outcome::Sound);
        let place = |word: &str| text.find(word).unwrap_or_else(|| panic!("no {word} in {text}"));
        assert!(place("RunStarted") < place("Prepare") && place("Measure") < place("IterationEnded"));
        assert_eq!(text.matches("IterationEnded").count(), 2);
        assert!(text.matches("Progress").count() >= 6);
    }

    #[test]
    fn a_quota_or_a_part_of_the_cpus_is_told_with_the_run() {
        let of = |pairs: &[(&str, &str)]| {
            limit(&Conditions(pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect()))
        };
        assert_eq!(of(&[("cpu_quota", "none"), ("affinity", "0-1"), ("cpus_online", "0-1")]), None);
        assert_eq!(
            of(&[("cpu_quota", "0.20 CPU"), ("affinity", "0-1"), ("cpus_online", "0-1")]),
            Some("0.20 CPU".into())
        );
        assert_eq!(of(&[("affinity", "1"), ("cpus_online", "0-1")]), Some("CPUs 1".into()));
    }

    #[test]
    fn a_run_that_the_node_bounds_tells_its_roofs_and_why_one_is_unknown() {
        let linpack = Load::Linpack(Linpack { size: Order::N(64), threads: Some(2) });
        let work = Work { run: Run { iterations: 1, ..Run::new("cpu", linpack) }, ..synthetic(Shape::Level) };
        let node = Resources::here(Path::new(ROOT));
        let kernel = kernel::build(&work.run, Path::new("/var/tmp"), &node).unwrap();
        let start = start(kernel.describe(), &work, (false, &Stop::default()));
        let measured = start.roofs.iter().find(|r| r.basis == Basis::Measured).unwrap();
        assert!(measured.name == "cpu" && measured.value.value > 0.0 && measured.source.starts_with("FMA loop"));
        let nominal = start.roofs.iter().any(|r| r.basis == Basis::Nominal);
        assert!(nominal != start.labels.contains_key(&Roof::label("cpu", Basis::Nominal)), "{start:?}");
    }

    #[test]
    fn iterations_are_begun_for_so_long_and_so_often_at_least() {
        let mut run = synthetic(Shape::Level).run;
        assert!(goes_on(&run, 1, 0, Span::seconds(99)) && !goes_on(&run, 2, 0, Span::ZERO));
        assert!(goes_on(&run, 2, 1, Span::ZERO), "one is done again");
        run.lasting = Some(Span::seconds(10));
        assert!(goes_on(&run, 50, 0, Span::seconds(9)) && !goes_on(&run, 50, 0, Span::seconds(10)));
        assert!(goes_on(&run, 1, 0, Span::seconds(11)), "two at least");
    }

    #[test]
    fn a_run_rests_between_its_iterations_and_heeds_a_stop_in_it() {
        let mut resting = synthetic(Shape::Level);
        resting.run.rest = Some(Rest { after: Span::milliseconds(200), lasting: Span::milliseconds(150) });
        let (outcome, text) = said(&resting);
        assert_eq!((outcome, text.matches("\"Cool\"").count()), (Outcome::Sound, 1));
        let stop = Stop::default();
        stop.ask();
        let meter = Meter::new("s".into(), 1, kernel_lanes(), Voice::silent());
        assert_eq!(rest(&meter, Span::seconds(3600), &stop), Err(KernelError::Stopped));
    }

    #[test]
    fn beside_others_no_roof_is_measured() {
        let linpack = Load::Linpack(Linpack { size: Order::N(64), threads: Some(1) });
        let run = Run { together: Some("load".to_owned()), ..Run::new("cpu", linpack) };
        let work = Work { run, ..synthetic(Shape::Level) };
        let node = Resources::here(Path::new(ROOT));
        let kernel = kernel::build(&work.run, Path::new("/var/tmp"), &node).unwrap();
        let start = start(kernel.describe(), &work, (false, &Stop::default()));
        assert!(start.roofs.iter().all(|roof| roof.basis == Basis::Nominal), "{start:?}");
        assert!(start.labels[&Roof::label("cpu", Basis::Measured)].contains("beside others"), "{start:?}");
    }

    #[test]
    fn an_iteration_in_which_nothing_was_done_measures_nothing() {
        let mut idle = synthetic(Shape::Level);
        if let Load::Synthetic(load) = &mut idle.run.kernel {
            load.rate = "0 MB/s".parse().unwrap();
        }
        let outcome = work(&idle, &Voice::silent(), &Stop::default());
        assert!(matches!(&outcome, Outcome::Broken(why) if why.contains("nothing was done")), "{outcome:?}");
    }

    #[test]
    fn a_kernel_that_lies_is_found_out_and_one_that_fails_is_broken() {
        assert!(matches!(run(Shape::Lie).0, Outcome::Corrupt(_)));
        assert!(matches!(run(Shape::Fail { after: Span::milliseconds(50) }).0, Outcome::Broken(_)));
    }
}
