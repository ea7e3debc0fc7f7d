//! The command line of fio, or of dd for a copy, that does the same.

use std::path::Path;

use super::engine::Engine;
use crate::vocab::plan::{Bound, Content, Disk, Pattern};
use crate::vocab::unit::Unit;

/// The command for a load of files of `size` bytes a job in this directory; to be typed as it stands.
pub(super) fn command(load: &Disk, engine: &Engine, size: u64, directory: &Path) -> String {
    if load.pattern == Pattern::Copy {
        return copy(load, size, directory);
    }
    let mut words = vec!["fio".to_owned()];
    let mut say = |word: String| words.push(word);
    say(format!("--rw={}", pattern(load.pattern)));
    if let Pattern::Mixed { reads, .. } = load.pattern {
        say(format!("--rwmixread={reads}"));
    }
    say(format!("--bs={} --size={size} --direct={}", load.block.0, u8::from(load.is_direct())));
    for word in [flushes(load), bounds(load, size), rates(load), content(load)].into_iter().flatten() {
        say(word);
    }
    if load.pattern.is_random() {
        say("--norandommap=1".to_owned());
    }
    if load.pattern.writes() {
        // Native preallocation would make a first write of blocks that the file system has already found.
        say(if load.is_first_write() { "--fallocate=none".to_owned() } else { "--overwrite=1".to_owned() });
    }
    say("--group_reporting=1 --unlink=1".to_owned());
    words.push(jobs(load, engine, directory));
    words.join(" ")
}

fn pattern(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Read => "read",
        Pattern::Write | Pattern::Copy => "write",
        Pattern::RandomRead => "randread",
        Pattern::RandomWrite => "randwrite",
        Pattern::Mixed { random: true, .. } => "randrw",
        Pattern::Mixed { random: false, .. } => "rw",
    }
}

fn flushes(load: &Disk) -> Vec<String> {
    if !load.pattern.writes() {
        return Vec::new();
    }
    let every = [("fsync", load.fsync_every), ("fdatasync", load.fdatasync_every)];
    let mut words: Vec<String> =
        every.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("--{name}={n}")).collect();
    if load.dsync {
        words.push("--sync=dsync".to_owned());
    }
    words.push("--end_fsync=1".to_owned());
    words
}

/// Milliseconds throughout, as fio cuts fractions of a second off.
fn bounds(load: &Disk, size: u64) -> Vec<String> {
    let mut words = vec![format!("--runtime={}ms", (load.time.0 / 1000).max(1))];
    if load.ramp().0 > 0 {
        words.push(format!("--ramp_time={}ms", (load.ramp().0 / 1000).max(1)));
    }
    match load.bound {
        Bound::Time if load.is_first_write() => {}
        Bound::Time => words.push("--time_based=1".to_owned()),
        Bound::Size => words.push(format!("--io_size={size}")),
        Bound::Bytes(bytes) => words.push(format!("--io_size={}", (bytes.0 / u64::from(load.jobs.max(1))).max(1))),
    }
    words
}

/// fio's limits are those of one job, and of each direction.
fn rates(load: &Disk) -> Vec<String> {
    let Some(rate) = load.rate else { return Vec::new() };
    let name = if rate.unit == Unit::Iops { "rate_iops" } else { "rate" };
    let job = rate.value * rate.unit.things() / f64::from(load.jobs.max(1));
    let of = |percent: u32| (job * f64::from(percent) / 100.0).round().max(1.0);
    vec![match load.pattern {
        Pattern::Mixed { reads, .. } => format!("--{name}={},{}", of(reads), of(100_u32.saturating_sub(reads))),
        _ => format!("--{name}={}", of(100)),
    }]
}

fn content(load: &Disk) -> Vec<String> {
    if !load.pattern.writes() {
        return Vec::new();
    }
    let mut words = vec![
        match load.content {
            Content::Fresh => "--refill_buffers=1",
            Content::Zero => "--zero_buffers=1",
            Content::Repeated => "--scramble_buffers=0",
        }
        .to_owned(),
    ];
    if load.verify {
        words.push("--verify=crc32c --verify_fatal=1".to_owned());
    }
    words
}

/// The engine, and a file for each job; threads in place of a depth share their job's file.
fn jobs(load: &Disk, engine: &Engine, directory: &Path) -> String {
    let (jobs, depth) = (load.jobs, load.depth);
    let place = quoted(&directory.display().to_string());
    let name = match engine {
        Engine::Ring(_) => "io_uring --fixedbufs=1 --registerfiles=1",
        Engine::Aio(_) => "libaio",
        Engine::Threads(_) => {
            let file = |job: u32| {
                format!("--name=job{job} --directory={place} --filename=shakedown.{job}.fio --numjobs={depth}")
            };
            let files: Vec<String> = (0..jobs).map(file).collect();
            return format!("--ioengine=psync --thread=1 {}", files.join(" "));
        }
    };
    format!("--ioengine={name} --iodepth={depth} --numjobs={jobs} --name=shakedown --directory={place}")
}

fn copy(load: &Disk, size: u64, directory: &Path) -> String {
    let place = |name: &str| quoted(&directory.join(name).display().to_string());
    let direct = if load.is_direct() { " iflag=direct oflag=direct" } else { "" };
    let (from, to, block) = (place("shakedown.from"), place("shakedown.to"), load.block.0.max(1));
    format!("dd if={from} of={to} bs={block} count={}{direct} conv=notrunc,fsync", size / block)
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::moment::Span;
    use crate::vocab::plan::{EngineChoice, Layout};
    use crate::vocab::size::ByteSize;

    fn plain(pattern: Pattern) -> Disk {
        Disk::new(pattern, ByteSize(4096), ByteSize(1 << 30), Span::milliseconds(1500))
    }

    fn of(load: &Disk, engine: &Engine) -> String {
        command(load, engine, 1 << 30, Path::new("/var/tmp"))
    }

    fn loads() -> Vec<Disk> {
        let rate = |text: &str| Some(text.parse().unwrap());
        let write = plain(Pattern::RandomWrite);
        vec![
            plain(Pattern::Read),
            Disk { direct: Some(false), ramp: Some(Span::seconds(2)), ..plain(Pattern::RandomRead) },
            Disk { jobs: 3, depth: 32, fsync_every: 8, fdatasync_every: 2, dsync: true, ..write.clone() },
            Disk { layout: Layout::FirstWrite, content: Content::Zero, ..plain(Pattern::Write) },
            Disk { bound: Bound::Size, verify: true, content: Content::Repeated, ..write.clone() },
            Disk { bound: Bound::Bytes(ByteSize(1 << 20)), rate: rate("10 MB/s"), jobs: 2, ..write },
            Disk { rate: rate("1000 IOPS"), ..plain(Pattern::Mixed { reads: 70, random: true }) },
            Disk { engine: EngineChoice::Aio, ..plain(Pattern::Mixed { reads: 30, random: false }) },
        ]
    }

    fn engines() -> [Engine; 3] {
        [Engine::Ring(String::new()), Engine::Aio(String::new()), Engine::Threads(String::new())]
    }

    #[test]
    fn the_command_says_what_the_plan_does() {
        let loads = loads();
        let [ring, _, threads] = engines();
        let has = |load: &Disk, engine: &Engine, words: &[&str]| {
            let command = of(load, engine);
            let missing: Vec<&&str> = words.iter().filter(|word| !command.split(' ').any(|w| w == **word)).collect();
            assert!(missing.is_empty(), "no {missing:?} in {command}");
        };
        let basic = ["--rw=read", "--bs=4096", "--size=1073741824", "--direct=1", "--runtime=1500ms", "--time_based=1"];
        has(&loads[0], &ring, &basic);
        has(&loads[0], &ring, &["--ramp_time=500ms", "--ioengine=io_uring", "--iodepth=1", "--numjobs=1"]);
        has(&loads[1], &ring, &["--direct=0", "--ramp_time=2000ms", "--norandommap=1"]);
        has(
            &loads[2],
            &ring,
            &["--numjobs=3", "--iodepth=32", "--fsync=8", "--fdatasync=2", "--sync=dsync", "--overwrite=1"],
        );
        has(&loads[2], &threads, &["--ioengine=psync", "--thread=1", "--numjobs=32", "--filename=shakedown.2.fio"]);
        has(&loads[3], &ring, &["--zero_buffers=1", "--fallocate=none", "--end_fsync=1"]);
        assert!(!of(&loads[3], &ring).contains("time_based") && !of(&loads[3], &ring).contains("ramp_time"));
        has(&loads[4], &ring, &["--io_size=1073741824", "--verify=crc32c", "--scramble_buffers=0"]);
        has(&loads[5], &ring, &["--io_size=524288", "--rate=5000000", "--refill_buffers=1"]);
        has(&loads[6], &ring, &["--rw=randrw", "--rwmixread=70", "--rate_iops=700,300"]);
        has(&loads[7], &engines()[1], &["--rw=rw", "--ioengine=libaio"]);
    }

    #[test]
    fn a_copy_is_that_of_dd_and_a_path_is_quoted() {
        let copy = command(&plain(Pattern::Copy), &engines()[0], 1 << 30, Path::new("/a b/it's"));
        assert_eq!(
            copy,
            r"dd if='/a b/it'\''s/shakedown.from' of='/a b/it'\''s/shakedown.to' bs=4096 count=262144 conv=notrunc,fsync"
        );
    }

    #[test]
    fn fio_takes_every_command() {
        use std::io::Write as _;
        if std::process::Command::new("fio").arg("--version").output().is_err() {
            let line = "SKIPPED: fio_takes_every_command: fio is not installed\n";
            return std::io::stderr().write_all(line.as_bytes()).unwrap();
        }
        for (load, engine) in loads().iter().flat_map(|load| engines().map(|engine| (load.clone(), engine))) {
            let command = of(&load, &engine);
            let words = command.split(' ').skip(1).chain(["--parse-only"]);
            let output = std::process::Command::new("fio").args(words).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.is_empty(), "{command}\n{said}");
        }
    }
}
