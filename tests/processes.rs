//! What dies and what follows: every process of a session killed, hung or deaf, and what the session makes of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use common::{
    PATIENCE, PROGRAM, Place, Session, ends, fold, is_closed, lives, plan, read, send, skip, synthetic, until,
};
use rustix::process::Signal;
use shakedown::analysis::state::Status;
use shakedown::vocab::event::{Event, Outcome, Record};
use shakedown::vocab::moment::Span;
use shakedown::vocab::order::Command;

/// The promise of the design: gone so long after the runner.
const GONE: Duration = Duration::from_secs(2);

fn broken(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Broken(why) => why,
        other => panic!("not broken but {other:?}"),
    }
}

fn long_then_short() -> String {
    plan(&[synthetic("long", "60 s", "Level", ""), synthetic("short", "300 ms", "Level", "")], "")
}

#[test]
fn a_killed_worker_breaks_its_run_and_the_next_goes_on() {
    let place = Place::new();
    let mut session = place.session("killed", &long_then_short(), &[]);
    session.wait_for_work("long");
    send(session.agent_and_worker().1, Signal::KILL);
    let (finished, records) = session.finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}", finished.out);
    let ends = ends(&records);
    assert!(broken(&ends[0].1).contains("signal 9"), "{ends:?}");
    assert_eq!(ends[1], ("short".to_owned(), Outcome::Sound));
    assert!(is_closed(&records) && finished.out.contains("VERDICT: NOT PROVEN"));
}

#[test]
fn a_worker_that_is_refused_memory_breaks_its_run_and_the_next_goes_on() {
    let name = "a_worker_that_is_refused_memory_breaks_its_run_and_the_next_goes_on";
    if std::process::Command::new("prlimit").arg("--version").stdout(Stdio::null()).status().is_err() {
        return skip(name, "there is no prlimit");
    }
    let place = Place::new();
    let runs =
        [synthetic("eater", "60 s", "EatMemory(upto: \"64GiB\")", ""), synthetic("short", "300 ms", "Level", "")];
    let preset = place.preset("eater", &plan(&runs, ""));
    let file = place.path("eater.jsonl");
    let arguments = ["--as=800000000", PROGRAM, "run", &preset, "--headless", "--session", file.to_str().unwrap()];
    let started = place.start("prlimit", &arguments);
    let (finished, records) = Session { started, file }.finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}{}", finished.out, finished.err);
    let ends = ends(&records);
    assert!(broken(&ends[0].1).contains("memory"), "{ends:?}");
    assert_eq!(ends[1], ("short".to_owned(), Outcome::Sound));
}

#[test]
fn a_worker_killed_for_memory_is_the_first_to_go_and_the_session_goes_on() {
    let name = "a_worker_killed_for_memory_is_the_first_to_go_and_the_session_goes_on";
    let group = match MemoryGroup::new(400 << 20) {
        Ok(group) => group,
        Err(why) => return skip(name, &why),
    };
    let place = Place::new();
    let runs =
        [synthetic("eater", "60 s", "EatMemory(upto: \"64GiB\")", ""), synthetic("short", "300 ms", "Level", "")];
    let preset = place.preset("oom", &plan(&runs, ""));
    let file = place.path("oom.jsonl");
    let enter = format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", group.path.display());
    let arguments = ["-c", &enter, PROGRAM, "run", &preset, "--headless", "--session", file.to_str().unwrap()];
    let started = place.start("sh", &arguments);
    let (finished, records) = Session { started, file }.finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}{}", finished.out, finished.err);
    let ends = ends(&records);
    assert!(broken(&ends[0].1).contains("signal 9"), "{ends:?}");
    assert!(broken(&ends[0].1).contains("want of memory"), "{ends:?}");
    assert_eq!(ends[1], ("short".to_owned(), Outcome::Sound));
}

/// A memory cgroup with a limit, of either version, removed at the end.
struct MemoryGroup {
    path: std::path::PathBuf,
}

impl MemoryGroup {
    fn new(limit: u64) -> Result<Self, String> {
        let unified = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        let (base, file) = if unified { ("", "memory.max") } else { ("memory/", "memory.limit_in_bytes") };
        let path = Path::new("/sys/fs/cgroup").join(format!("{base}shakedown-test-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|e| format!("no memory cgroup can be made: {e}"))?;
        let group = Self { path };
        std::fs::write(group.path.join(file), limit.to_string()).map_err(|e| format!("no limit can be set: {e}"))?;
        let set = std::fs::read_to_string(group.path.join(file)).unwrap_or_default();
        let kills = std::fs::read_to_string("/proc/vmstat").is_ok_and(|text| text.contains("oom_kill "));
        if set.trim() == limit.to_string() && kills {
            return Ok(group);
        }
        Err("this kernel keeps no limit of a memory cgroup, or does not count its kills".to_owned())
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.path);
    }
}

#[test]
fn a_hung_worker_is_stuck_at_its_deadline_and_left_behind() {
    let place = Place::new();
    let hang = synthetic("hung", "60 s", "Hang(after: \"200 ms\")", ", deadline: \"1 s\"");
    let session = place.session("hung", &plan(&[hang, synthetic("short", "300 ms", "Level", "")], ""), &[]);
    let (finished, records) = session.finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}", finished.out);
    let expected = [("hung".to_owned(), Outcome::Stuck), ("short".to_owned(), Outcome::Sound)];
    assert_eq!(ends(&records), expected);
    let (started, ended) = (moment(&records, is_start), moment(&records, is_end));
    assert!(ended.since(started) < Span::seconds(3), "given up {} after its start", ended.since(started));
    place.is_deserted(GONE);
}

fn is_start(event: &Event) -> bool {
    matches!(event, Event::RunStarted(_))
}

fn is_end(event: &Event) -> bool {
    matches!(event, Event::RunEnded { .. })
}

fn moment(records: &[Record], wanted: impl Fn(&Event) -> bool) -> shakedown::vocab::moment::Moment {
    records.iter().find(|r| wanted(&r.event)).expect("such a record").at
}

#[test]
fn a_worker_deaf_to_a_stop_is_stuck_and_the_session_ends() {
    let place = Place::new();
    let plan = plan(&[synthetic("deaf", "60 s", "Hang(after: \"100 ms\")", "")], "");
    let mut session = place.session("deaf", &plan, &[]);
    session.wait_until_hung("deaf");
    send(session.started.pid(), Signal::INT);
    let (finished, records) = session.finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}", finished.out);
    assert_eq!(ends(&records), [("deaf".to_owned(), Outcome::Stuck)]);
    let asked = moment(&records, |e| *e == Event::Commanded(Command::StopSession));
    assert!(moment(&records, is_end).since(asked) < Span::seconds(3));
    assert!(is_closed(&records));
    place.is_deserted(GONE);
}

#[test]
fn a_killed_agent_is_started_again_once_for_the_runs_that_are_left() {
    let place = Place::new();
    let long = |name| synthetic(name, "60 s", "Level", "");
    let mut session = place.session("agent", &plan(&[long("one"), long("two"), long("three")], ""), &[]);
    session.wait_for_work("one");
    let (agent, worker) = session.agent_and_worker();
    send(agent, Signal::KILL);
    until("end of the worker", GONE, || (!lives(worker)).then_some(()));
    session.wait_for_work("two");
    send(session.agent_and_worker().0, Signal::KILL);
    let (finished, records) = session.finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}", finished.out);
    let lost: Vec<&str> = records
        .iter()
        .filter_map(|r| if let Event::NodeLost { why } = &r.event { Some(why.as_str()) } else { None })
        .collect();
    assert!(lost.len() == 2 && lost[0].contains("started again") && !lost[1].contains("started again"), "{lost:?}");
    assert_eq!(records.iter().filter(|r| matches!(r.event, Event::NodeJoined { .. })).count(), 2);
    let state = fold(&records);
    assert!(matches!(&state.runs[0].status, Status::Ended(Outcome::Broken(why)) if why.contains("agent")));
    assert!(matches!(&state.runs[1].status, Status::Ended(Outcome::Broken(_))));
    assert_eq!(state.runs[2].status, Status::Waiting);
    assert!(finished.out.contains("node lost"), "{}", finished.out);
    place.is_deserted(GONE);
}

#[test]
fn nothing_outlives_a_killed_runner_and_its_file_reads_back() {
    for (name, shape) in [("orphan", "Level"), ("deaf-orphan", "Hang(after: \"100 ms\")")] {
        let place = Place::new();
        let mut session = place.session(name, &plan(&[synthetic(name, "60 s", shape, "")], ""), &[]);
        session.wait_for_work(name);
        let (agent, worker) = session.agent_and_worker();
        send(session.started.pid(), Signal::KILL);
        until("end of agent and worker", GONE, || (!lives(agent) && !lives(worker)).then_some(()));
        let file = session.file.clone();
        session.started.finish(PATIENCE);
        place.is_deserted(GONE);
        let (records, damaged) = read(&file);
        assert!(damaged <= 1 && !is_closed(&records), "{damaged} damaged lines");
        assert!(records.windows(2).all(|pair| pair[1].seq == pair[0].seq + 1), "nothing is missing before the end");
        assert!(records.iter().any(|r| matches!(r.event, Event::Progress(_))));
        let judged = place.run(&["judge", file.to_str().unwrap()]);
        assert_eq!(judged.code, Some(2), "{}", judged.out);
        assert!(judged.out.contains("The session was not finished"), "{}", judged.out);
        assert!(judged.out.contains("VERDICT: NOT PROVEN"), "{}", judged.out);
    }
}

#[test]
fn each_signal_stops_a_headless_session_cleanly() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let place = Place::new();
        let mut session = place.session("stopped", &long_then_short(), &[]);
        session.wait_for_work("long");
        send(session.started.pid(), signal);
        let (finished, records) = session.finish(PATIENCE);
        assert_eq!(finished.code, Some(2), "{signal:?}: {}{}", finished.out, finished.err);
        assert_eq!(ends(&records), [("long".to_owned(), Outcome::Stopped)], "{signal:?}: the next run is not begun");
        assert!(is_closed(&records), "{signal:?}");
        assert!(finished.out.contains("VERDICT: NOT PROVEN"), "{signal:?}: {}", finished.out);
        place.is_deserted(GONE);
    }
}

#[test]
fn a_hangup_that_is_ignored_under_nohup_stays_ignored() {
    let place = Place::new();
    let preset = place.preset("nohup", &plan(&[synthetic("r", "1500 ms", "Level", "")], ""));
    let file = place.path("nohup.jsonl");
    let enter = "trap '' HUP; exec \"$0\" \"$@\"";
    let started =
        place.start("sh", &["-c", enter, PROGRAM, "run", &preset, "--headless", "--session", file.to_str().unwrap()]);
    let mut session = Session { started, file };
    session.wait_for_work("r");
    send(session.started.pid(), Signal::HUP);
    let (finished, records) = session.finish(PATIENCE);
    assert_eq!((finished.code, ends(&records)), (Some(0), vec![("r".to_owned(), Outcome::Sound)]));
}

#[test]
fn a_second_signal_ends_the_session_at_once() {
    let place = Place::new();
    let plan = plan(&[synthetic("deaf", "60 s", "Hang(after: \"100 ms\")", "")], "");
    let mut session = place.session("twice", &plan, &[]);
    session.wait_for_work("deaf");
    send(session.started.pid(), Signal::INT);
    session.wait_for("the first stop", |r| r.event == Event::Commanded(Command::StopSession));
    send(session.started.pid(), Signal::INT);
    let (finished, records) = session.finish(PATIENCE);
    assert_eq!(finished.code, Some(2), "{}", finished.out);
    let now = moment(&records, |e| *e == Event::Commanded(Command::StopNow));
    assert!(is_closed(&records) && records.last().unwrap().at.since(now) < Span::milliseconds(500));
    assert_eq!(ends(&records), [], "nobody was waited for");
    place.is_deserted(GONE);
}

#[test]
fn a_session_goes_on_when_its_viewer_is_killed() {
    let place = Place::new();
    let run = synthetic("r", "600 ms", "Level", "").replace("iterations: 1", "iterations: 5");
    let mut session = place.session("watched", &plan(&[run], ""), &[]);
    session.wait_for_work("r");
    let mut viewer = place.command(PROGRAM, &["watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(viewer.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with("session "), "{first}");
    viewer.kill().unwrap();
    viewer.wait().unwrap();
    assert!(!session.started.has_ended(), "the viewer was killed while the session was under way");
    let (finished, records) = session.finish(PATIENCE);
    assert_eq!((finished.code, ends(&records)), (Some(0), vec![("r".to_owned(), Outcome::Sound)]));
}

#[test]
fn a_viewer_that_never_reads_does_not_slow_the_session() {
    let place = Place::new();
    let run = synthetic("r", "5 ms", "Level", "").replace("iterations: 1", "iterations: 500");
    let mut session = place.session("deaf-viewer", &plan(&[run], ""), &[]);
    session.wait_for_work("r");
    let mut idle = place.command(PROGRAM, &["watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let socket = std::fs::read_dir(place.path("run/shakedown")).unwrap().next().unwrap().unwrap().path();
    let mut viewer = UnixStream::connect(socket).unwrap();
    let (finished, records) = session.finish(PATIENCE);
    assert_eq!((finished.code, ends(&records)), (Some(0), vec![("r".to_owned(), Outcome::Sound)]));
    assert!(finished.out.contains("500/500") && finished.out.contains("VERDICT: PASS"), "another viewer hears it all");
    let state = fold(&records);
    assert_eq!(state.lost, 0, "no record was lost");
    let ticks: Vec<_> = records.iter().filter(|r| r.event == Event::Tick).map(|r| r.at).collect();
    let longest = ticks.windows(2).map(|pair| pair[1].since(pair[0])).max().unwrap();
    assert!(longest < Span::seconds(1), "the runner stood still for {longest}");
    let mut read = Vec::new();
    let _ = viewer.read_to_end(&mut read);
    let written = std::fs::metadata(place.path("deaf-viewer.jsonl")).unwrap().len();
    assert!((read.len() as u64) < written, "its socket was never full: {} of {written} bytes", read.len());
    idle.kill().unwrap();
    idle.wait().unwrap();
}

#[test]
fn a_viewer_that_comes_late_is_told_everything_from_the_beginning() {
    let place = Place::new();
    let run = synthetic("r", "500 ms", "Level", "").replace("iterations: 1", "iterations: 4");
    let mut session = place.session("late", &plan(&[run], ""), &[]);
    session.wait_for("second iteration", |r| matches!(r.event, Event::IterationEnded { iteration: 2, .. }));
    let viewer = place.start(PROGRAM, &["watch"]);
    let (finished, _) = session.finish(PATIENCE);
    let watched = viewer.finish(PATIENCE);
    assert_eq!((finished.code, watched.code), (Some(0), Some(0)), "{}", watched.err);
    let own = finished.out.split_once('\n').unwrap().1;
    assert_eq!(watched.out, own, "the same lines, behind the name of the file");
    assert!(own.starts_with("session ") && own.contains("1/4") && own.contains("4/4") && own.contains("VERDICT: PASS"));
}

#[test]
fn a_killed_runner_leaves_no_file_and_no_space_behind() {
    let target = tempfile::Builder::new().prefix("sd").tempdir_in("/var/tmp").unwrap();
    let kernel = "Disk(pattern: Write, block: \"1MiB\", depth: 4, direct: false, size: \"64MiB\", time: \"2 s\")";
    let plan = plan(&[format!("(name: \"disk\", kernel: {kernel}, iterations: 20)")], "");
    let place = Place::new();
    let Some(session) = loading(&place, &plan, target.path()) else {
        return skip("a_killed_runner_leaves_no_file_and_no_space_behind", "the node is held by another session");
    };
    let (_, worker) = session.agent_and_worker();
    assert!(until("the file under load", PATIENCE, || open_below(worker, target.path())), "it is without a name");
    send(session.started.pid(), Signal::KILL);
    place.is_deserted(GONE);
    session.started.finish(PATIENCE);
    assert_eq!(std::fs::read_dir(target.path()).unwrap().count(), 0, "no file is left");
    // A file without a name holds its space only as long as a process has it open.
    let still = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    assert_eq!(still.filter_map(|pid| open_below(pid, target.path())).count(), 0, "nobody holds its space");
}

/// Starts a session that loads the node, when no other session holds it for good.
fn loading(place: &Place, plan: &str, target: &Path) -> Option<Session> {
    for attempt in 0..20 {
        let mut session = place.session(&format!("disk{attempt}"), plan, &["--target", target.to_str().unwrap()]);
        let worked = until("work or an end", PATIENCE, || {
            let works = |r: &Record| matches!(&r.event, Event::Progress(p) if p.done.iter().any(|n| *n > 0));
            if read(&session.file).0.iter().any(works) {
                Some(true)
            } else {
                session.started.has_ended().then_some(false)
            }
        });
        if worked {
            return Some(session);
        }
        let finished = session.started.finish(PATIENCE);
        let held = finished.err.contains("under test already") || finished.out.contains("held by");
        assert!(held, "{finished:?}");
    }
    None
}

/// Whether a process has a file below `directory` open, and whether that file has no name any more.
fn open_below(pid: i32, directory: &Path) -> Option<bool> {
    let links = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
    let open = links
        .filter_map(|link| std::fs::read_link(link.path()).ok())
        .find(|p| p.starts_with(directory) && p != directory)?;
    Some(open.to_string_lossy().ends_with("(deleted)"))
}

#[test]
fn two_nodes_of_one_session_are_told_apart() {
    let place = Place::new();
    let checks = "(of: \"r.mb_per_s\", at_least: Absolute(\"50 MB/s\"), decide: Point)";
    let plan = plan(&[synthetic("r", "600 ms", "Level", "")], checks);
    let (finished, records) = place.session("two", &plan, &["--node", "a", "--node", "b"]).finish(PATIENCE);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    for record in &records {
        let of_runner = matches!(
            record.event,
            Event::SessionOpened(_) | Event::Tick | Event::SessionClosed { .. } | Event::Noted(_)
        );
        assert_eq!(record.node.is_runner(), of_runner, "{record:?}");
        assert!(of_runner || matches!(&*record.node.0, "a" | "b"), "{record:?}");
    }
    let state = fold(&records);
    for node in ["a", "b"] {
        let run = state.run(&node.into(), &"r".into()).unwrap();
        assert_eq!(run.status, Status::Ended(Outcome::Sound));
        assert!((run.done[0].figures[0].value / 100.0 - 1.0).abs() < 0.1, "{:?}", run.done);
        let lines = state.verdict.as_ref().unwrap().lines.iter().filter(|l| l.node == node).count();
        assert_eq!(lines, 2, "soundness and the check");
        assert!(finished.out.contains(&format!("+ PASS       {node} ")), "{}", finished.out);
    }
}

#[test]
fn a_session_goes_on_when_nobody_reads_its_output_any_more() {
    for more in [&[][..], &["--json"]] {
        let place = Place::new();
        let plan = plan(&[synthetic("r", "1 s", "Level", "")], "");
        let (preset, file) = (place.preset("piped", &plan), place.path("piped.jsonl"));
        let arguments = ["run", &preset, "--headless", "--session", file.to_str().unwrap()];
        let mut child = place.command(PROGRAM, &[&arguments, more].concat()).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.starts_with(if more.is_empty() { "file " } else { "{\"seq\":1," }), "{first}");
        let status = until("end of the session", PATIENCE, || child.try_wait().unwrap());
        let records = common::records(&file);
        assert_eq!((status.code(), ends(&records)), (Some(0), vec![("r".to_owned(), Outcome::Sound)]));
        assert!(is_closed(&records));
    }
}

#[test]
fn a_session_file_is_never_written_over() {
    let place = Place::new();
    let file = place.path("precious.jsonl");
    std::fs::write(&file, "precious\n").unwrap();
    let finished = place.session("precious", &long_then_short(), &[]).started.finish(PATIENCE);
    assert_eq!(finished.code, Some(3), "{}", finished.out);
    assert!(finished.err.contains("exists already") && finished.err.lines().count() == 1, "{}", finished.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious\n");
}

#[test]
fn a_full_disk_under_the_session_file_is_said_and_stops_nothing() {
    let name = "a_full_disk_under_the_session_file_is_said_and_stops_nothing";
    let place = Place::new();
    let small = place.path("small");
    std::fs::create_dir(&small).unwrap();
    let mount = format!("mount -t tmpfs -o size=16k none {} && exec \"$0\" \"$@\"", small.display());
    let probe = place.start("unshare", &["--mount", "sh", "-c", &mount, "true"]).finish(PATIENCE);
    if probe.code != Some(0) {
        return skip(name, &format!("a small file system cannot be mounted: {}", probe.err.trim()));
    }
    let preset = place.preset("full", &plan(&[synthetic("r", "2 s", "Level", "")], ""));
    let file = small.join("full.jsonl").display().to_string();
    let arguments = ["--mount", "sh", "-c", &mount, PROGRAM, "run", &preset, "--headless", "--session", &file];
    let finished = place.start("unshare", &arguments).finish(PATIENCE);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    assert!(finished.out.contains("the session file cannot be written: No space left"), "{}", finished.out);
    assert!(finished.out.contains("VERDICT: PASS"), "{}", finished.out);
    assert!(finished.err.contains("the session file is not complete: No space left"), "{}", finished.err);
}
