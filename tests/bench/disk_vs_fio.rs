//! The disk kernel beside fio: the same device, sizes, depths and kind of content, one after the other in pairs whose order
//! alternates. On `raw` both use the same blocks of one zram device; on `zram` (ext4 on such a device) and `var-tmp` each has a file of
//! its own, and where these lie in memory or on the disk is chance, which a ratio there includes. Prints the median of the paired ratios (this program to fio) with a distribution-free interval.
//!
//! `cargo bench --bench disk_vs_fio -- [CASE] [pairs=9] [seconds=3] [engine=io_uring-fixed]`; `CASE` is a part of a case's name,
//! `engine` one of fio's, also `io_uring`, `libaio` or `threads`. Needs fio, and root for the zram device.
//!
//! What is set on both sides: direct access, a file laid out before, random content that is new in every block
//! (`--refill_buffers`), random blocks with repetition (`--norandommap`), no ramp. `io_uring-fixed` is fio with
//! `--fixedbufs --registerfiles`, as this program always registers them; `io_uring` is fio as most people call it.
//!
//! CPU per I/O is user and system time: of the whole process (fio's start, measured by a run of one I/O, is taken off; ours is that
//! of an iteration, reading the meters ten times a second included), and of the load threads alone. Latency is from just before
//! submission to completion: fio's `lat`, as its `clat` begins after a submission, in which a device in memory is done already.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench"
)]

#[allow(dead_code, reason = "the other bench needs all of it")]
mod pairs;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use shakedown::agent::kernel::{self, Stop};
use shakedown::agent::meter::Meter;
use shakedown::agent::resources::Resources;
use shakedown::agent::voice::Voice;
use shakedown::clock::now;
use shakedown::vocab::event::Event;
use shakedown::vocab::plan::Run;
use shakedown::vocab::ronfile::parse;

const SIZE: &str = "512MiB";

/// Name, pattern here and in fio, block, depth.
const CASES: [(&str, &str, &str, &str, u32); 6] = [
    ("4k-randread-qd1", "RandomRead", "randread", "4KiB", 1),
    ("4k-randread-qd32", "RandomRead", "randread", "4KiB", 32),
    ("4k-randwrite-qd1", "RandomWrite", "randwrite", "4KiB", 1),
    ("4k-randwrite-qd32", "RandomWrite", "randwrite", "4KiB", 32),
    ("1m-read-qd8", "Read", "read", "1MiB", 8),
    ("1m-write-qd8", "Write", "write", "1MiB", 8),
];

/// What one side did in one turn.
#[derive(Clone, Debug, Default)]
struct Turn {
    iops: f64,
    mb: f64,
    /// CPU time in microseconds an I/O: of the process, and of the load threads.
    process: f64,
    threads: f64,
    p50: f64,
    p99: f64,
}

struct Options {
    case: String,
    pairs: usize,
    seconds: u64,
    engine: String,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [mark, directory, load] = &words[..]
        && mark == "--side"
    {
        return side(Path::new(directory), load);
    }
    let given =
        |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('=').map(str::to_owned));
    let options = Options {
        case: words.iter().find(|word| !word.contains('=')).cloned().unwrap_or_default(),
        pairs: given("pairs").map_or(9, |n| n.parse().expect("pairs")),
        seconds: given("seconds").map_or(3, |n| n.parse().expect("seconds")),
        engine: given("engine").unwrap_or_else(|| "io_uring-fixed".to_owned()),
    };
    let Ok(version) = Command::new("fio").arg("--version").output() else {
        return println!("SKIPPED: disk_vs_fio: fio is not installed");
    };
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    println!("{}, Linux {}", String::from_utf8_lossy(&version.stdout).trim(), kernel.trim());
    println!("{} pairs of {} s, files of {SIZE}; ratios are shakedown to fio", options.pairs, options.seconds);
    println!(
        "{:<26} {:>19} {:>19} {:>19} {:>19} {:>6} {:>6}  {:<28} conditions",
        "case", "IOPS", "MB/s", "CPU/IO process", "CPU/IO threads", "p50", "p99", "medians: shakedown | fio"
    );
    match Zram::new() {
        Ok(zram) => {
            compare("raw", Path::new(&zram.raw), &options);
            compare("zram", &zram.directory, &options);
        }
        Err(why) => println!("SKIPPED: zram: {why}"),
    }
    let ext4 = tempfile::Builder::new().prefix("shakedown-bench").tempdir_in("/var/tmp").unwrap();
    compare("var-tmp", ext4.path(), &options);
}

fn compare(place: &str, directory: &Path, options: &Options) {
    for (name, ours, theirs, block, depth) in CASES {
        let case = format!("{place}/{name}");
        if !case.contains(&options.case) {
            continue;
        }
        let choice = match options.engine.as_str() {
            "io_uring" | "io_uring-fixed" => "Uring",
            "libaio" => "Aio",
            _ => "Threads",
        };
        let device = match (place == "raw", ours.ends_with("Read")) {
            (false, _) => String::new(),
            (true, true) => ", readonly: true".to_owned(),
            (true, false) => format!(", destroy: Some(\"{}\")", directory.display()),
        };
        let load = format!(
            "(name: \"r\", kernel: Disk(pattern: {ours}, block: \"{block}\", depth: {depth}, size: \"{SIZE}\", ramp: \"0 s\", \
             time: \"{} s\", engine: {choice}){device})",
            options.seconds
        );
        let mut us = Side::start(directory, &load);
        let fio = Fio::new(directory, theirs, block, depth, options);
        let before = Conditions::now();
        let turns = pairs::turns(options.pairs, || Some(us.turn()), || Some(fio.turn()));
        print(&case, &turns, &before.since());
    }
}

fn print(case: &str, turns: &[(Turn, Turn)], conditions: &str) {
    let ratio = |of: fn(&Turn) -> f64| pairs::ratio(&turns.iter().map(|(a, b)| (of(a), of(b))).collect::<Vec<_>>());
    let middle = |of: &dyn Fn(&(Turn, Turn)) -> f64| {
        let mut values: Vec<f64> = turns.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        pairs::median(&values)
    };
    let levels = format!(
        "{:.0} IOPS {:.2} us | {:.0} {:.2}",
        middle(&|t| t.0.iops),
        middle(&|t| t.0.process),
        middle(&|t| t.1.iops),
        middle(&|t| t.1.process)
    );
    println!(
        "{case:<26} {:>19} {:>19} {:>19} {:>19} {:>6.3} {:>6.3}  {levels:<28} {conditions}",
        ratio(|t| t.iops).to_string(),
        ratio(|t| t.mb).to_string(),
        ratio(|t| t.process).to_string(),
        ratio(|t| t.threads).to_string(),
        ratio(|t| t.p50).median,
        ratio(|t| t.p99).median,
    );
}

/// A process of ours that has laid out its file and does an iteration for each line.
struct Side {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Side {
    fn start(directory: &Path, load: &str) -> Self {
        // fio's jobs are sessions of their own, to which the scheduler gives a share of their own on a busy machine.
        let mut child = Command::new("setsid")
            .arg(std::env::current_exe().unwrap())
            .args(["--side", &directory.display().to_string(), load])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut ready = String::new();
        from.read_line(&mut ready).unwrap();
        assert_eq!(ready.trim(), "ready");
        Self { child, to, from }
    }

    fn turn(&mut self) -> Turn {
        self.to.write_all(b"go\n").unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let value = |name: &str| told[name].as_f64().unwrap();
        Turn {
            iops: value("iops"),
            mb: value("mb_per_s"),
            process: value("process"),
            threads: value("cpu_us_per_io"),
            p50: value("lat_p50_us"),
            p99: value("lat_p99_us"),
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The other end of a [`Side`]: as the worker does it, with meters read ten times a second.
fn side(directory: &Path, load: &str) {
    let run: Run = parse("load", load).unwrap();
    let mut kernel = kernel::build(&run, directory, &Resources::here(Path::new("/"))).unwrap();
    let description = kernel.describe();
    let (voice, _thread) = Voice::into_writer(std::io::sink());
    let meter = Arc::new(Meter::new(run.name.clone(), description.meters.len(), description.lanes, voice.clone()));
    let stop = Stop::default();
    kernel.prepare(&meter, &stop).unwrap();
    println!("ready");
    for _line in std::io::stdin().lines() {
        let operations = description.meters.iter().position(|m| m.name == "iops").unwrap();
        let done = |meter: &Meter| meter.read(now(), false).done[operations];
        let (over, reading) = (Arc::new(AtomicBool::new(false)), Arc::clone(&meter));
        let (told, voice) = (Arc::clone(&over), voice.clone());
        let (before, cpu) = (done(&meter), process_time());
        let reader = std::thread::spawn(move || {
            for turn in 0_u32.. {
                if told.load(Relaxed) {
                    return;
                }
                voice.say(Event::Progress(reading.read(now(), turn.is_multiple_of(10))));
                std::thread::park_timeout(Duration::from_millis(100));
            }
        });
        meter.next_iteration();
        let measured = kernel.iterate(&meter, &stop).unwrap();
        over.store(true, Relaxed);
        reader.thread().unpark();
        reader.join().unwrap();
        let process = (process_time() - cpu) * 1e6 / (done(&meter) - before) as f64;
        let mut told: serde_json::Map<String, Value> =
            measured.figures.iter().map(|f| (f.name.clone(), f.value.into())).collect();
        told.insert("process".to_owned(), process.into());
        println!("{}", Value::Object(told));
    }
}

/// CPU time of this process in seconds.
fn process_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// fio on a file that it has laid out.
struct Fio {
    words: Vec<String>,
    /// To be taken away at the end.
    file: Option<PathBuf>,
    /// CPU seconds of its start.
    start: f64,
}

impl Fio {
    fn new(directory: &Path, pattern: &str, block: &str, depth: u32, options: &Options) -> Self {
        let is_device = !directory.is_dir();
        let file = if is_device { directory.to_owned() } else { directory.join("fio.file") };
        let engine = match options.engine.as_str() {
            "threads" => format!("--ioengine=psync --thread=1 --numjobs={depth}"),
            "io_uring-fixed" => format!("--ioengine=io_uring --fixedbufs=1 --registerfiles=1 --iodepth={depth}"),
            other => format!("--ioengine={other} --iodepth={depth}"),
        };
        let shown = file.display().to_string();
        // To fio a KiB is 1000 bytes, unless it is told otherwise.
        let (block, size) = (block.replace("iB", ""), SIZE.replace("iB", ""));
        let common = format!(
            "--name=b --filename={shown} --size={size} --direct=1 --refill_buffers=1 --norandommap=1 --group_reporting=1 \
             --lat_percentiles=1 --output-format=json"
        );
        let split = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        let laid = [split(&common), split("--rw=write --bs=1M --ioengine=psync --end_fsync=1")].concat();
        run(&laid);
        let load = split(&format!("--rw={pattern} --bs={block} {engine}"));
        let one = [split(&common), load.clone(), split("--io_size=4k")].concat();
        let start = (0..5).map(|_| run(&one).1).sum::<f64>() / 5.0;
        let time = split(&format!("--time_based=1 --runtime={}s", options.seconds));
        Self { words: [split(&common), load, time].concat(), file: (!is_device).then_some(file), start }
    }

    fn turn(&self) -> Turn {
        let (told, cpu) = run(&self.words);
        let job = &told["jobs"][0];
        let number = |value: &Value| value.as_f64().unwrap();
        let side = if number(&job["read"]["total_ios"]) > 0.0 { &job["read"] } else { &job["write"] };
        let operations = number(&side["total_ios"]);
        let percent = number(&job["usr_cpu"]) + number(&job["sys_cpu"]);
        let at = |quantile: &str| number(&side["lat_ns"]["percentile"][quantile]) / 1e3;
        Turn {
            iops: number(&side["iops"]),
            mb: number(&side["bw_bytes"]) / 1e6,
            process: (cpu - self.start) * 1e6 / operations,
            threads: percent / 100.0 * number(&job["job_runtime"]) * 1e3 / operations,
            p50: at("50.000000"),
            p99: at("99.000000"),
        }
    }
}

impl Drop for Fio {
    fn drop(&mut self) {
        let _ = self.file.as_ref().map(std::fs::remove_file);
    }
}

/// What fio said, and the CPU seconds that it took.
fn run(words: &[String]) -> (Value, f64) {
    let before = children_time();
    let output = Command::new("fio").args(words).output().unwrap();
    let cpu = children_time() - before;
    let text = String::from_utf8_lossy(&output.stdout);
    let begin = text.find('{').unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    (serde_json::from_str(&text[begin..]).unwrap(), cpu)
}

/// CPU seconds of the children that have ended, in whole clock ticks (`cutime` and `cstime` of `proc(5)`).
fn children_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks = |n: usize| fields[n].parse::<f64>().unwrap();
    (ticks(13) + ticks(14)) / rustix::param::clock_ticks_per_second() as f64
}

/// What the machine was doing.
struct Conditions(Vec<f64>);

impl Conditions {
    fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/stat").unwrap();
        let fields = stat.lines().next().unwrap().split_whitespace().skip(1);
        Self(fields.map(|field| field.parse().unwrap()).collect())
    }

    fn since(&self) -> String {
        let gained: Vec<f64> = Self::now().0.iter().zip(&self.0).map(|(now, then)| now - then).collect();
        let steal = 100.0 * gained[7] / gained.iter().take(8).sum::<f64>();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap();
        format!("load {} steal {steal:.1} %", load.split(' ').next().unwrap())
    }
}

/// Compressed disks in memory of our own: one with ext4, and one as it is.
struct Zram {
    numbers: Vec<String>,
    directory: PathBuf,
    raw: String,
    _root: tempfile::TempDir,
}

impl Zram {
    fn new() -> Result<Self, String> {
        let say = |e: std::io::Error| e.to_string();
        let root = tempfile::tempdir_in("/var/tmp").map_err(say)?;
        let directory = root.path().join("mnt");
        let mut this = Self { numbers: Vec::new(), directory, raw: String::new(), _root: root };
        std::fs::create_dir(&this.directory).map_err(say)?;
        let device = this.add("2560M").map_err(say)?;
        this.raw = this.add("512M").map_err(say)?;
        let place = this.directory.display().to_string();
        for words in [&["mkfs.ext4", "-q", "-m", "0", &device][..], &["mount", &device, &place]] {
            let status = Command::new(words[0]).args(&words[1..]).stdout(Stdio::null()).status().map_err(say)?;
            if !status.success() {
                return Err(format!("{} failed", words[0]));
            }
        }
        Ok(this)
    }

    fn add(&mut self, size: &str) -> std::io::Result<String> {
        let number = std::fs::read_to_string("/sys/class/zram-control/hot_add")?.trim().to_owned();
        self.numbers.push(number.clone());
        std::fs::write(format!("/sys/block/zram{number}/disksize"), size)?;
        Ok(format!("/dev/zram{number}"))
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // A ring lets go of its files a little after its process has ended.
        for _ in 0..50 {
            let done = Command::new("umount").arg(&self.directory).stderr(Stdio::null()).status();
            if done.is_ok_and(|status| status.success()) {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        for number in &self.numbers {
            let _ = std::fs::write("/sys/class/zram-control/hot_remove", number);
        }
    }
}
