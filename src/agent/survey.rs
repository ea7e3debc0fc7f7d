//! What a preflight must know before anything is loaded: the places that would be written, what each run would take, and what
//! else is at work on the node.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{Access, StatVfs, access, statvfs};

use super::kernel::{self, Takes};
use super::mount::Mounts;
use super::resources::Resources;
use super::{block, cgroup, hold, host, inventory, raw, sizes};
use crate::vocab::moment::Span;
use crate::vocab::plan::{Load, Plan, Run};
use crate::vocab::survey::{Needs, Raw, Survey, Target};
use crate::vocab::text::neutral;

pub use super::mount::device_of;

/// The directory of a run that names none: on disk on every distribution, where `/tmp` may be memory.
pub const DEFAULT_TARGET: &str = "/var/tmp";

/// A file system that takes longer to answer than this is not used.
const PATIENCE: Duration = Duration::from_secs(2);
/// Why a directory that does not let a file be made in time is not used.
const FROZEN: &str = "no file could be made there within 2 s: it is frozen (fsfreeze), or its device hangs";
/// How long the CPUs are looked at; long enough for ten ticks of two CPUs, short enough to go unnoticed before the first frame.
const LOOK: Duration = Duration::from_millis(60);

/// Beginnings of process names whose owners load a node; the kernel cuts names after 15 bytes.
const NEIGHBOURS: [&str; 9] =
    ["qemu-system", "qemu-kvm", "ceph-osd", "ceph-mon", "fio", "stress-ng", "sysbench", "xhpl", "memtester"];

/// What `md` does to its disks by itself.
const REBUILDS: [&str; 4] = ["resync", "recovery", "check", "reshape"];

/// Surveys the node for a plan; loads nothing. `root` stands for `/` in what is read of `/proc` and `/sys`, while the target
/// directories are those of this machine.
#[must_use]
pub fn take(plan: &Plan, root: &Path, node: &Resources) -> Survey {
    let mut targets: Vec<(PathBuf, &Run)> = Vec::new();
    let mut dead: Vec<PathBuf> = Vec::new();
    let mut needs: Vec<Needs> = Vec::new();
    // Those that take what others leave are asked when that is known.
    let beside = |run: &&Run| sizes::takes_what_there_is(run) && plan.group_of(&run.name).len() > 1;
    let (last, first): (Vec<&Run>, Vec<&Run>) = plan.runs.iter().partition(beside);
    for run in first.into_iter().chain(last) {
        let shares = sizes::shares(plan, &needs, node.memory);
        let memory = shares.get(&run.name).copied().unwrap_or(node.memory);
        let Looked { need, directory, answers } = need(run, &Resources { memory, ..node.clone() }, &dead);
        needs.push(need);
        if !answers {
            dead.extend(directory.clone());
        }
        targets.extend(directory.filter(|it| targets.iter().all(|(known, _)| known != it)).map(|it| (it, run)));
    }
    needs.sort_by_key(|need| plan.runs.iter().position(|run| run.name == need.run));
    let mounts = Mounts::read(root);
    let look = |(path, run): (PathBuf, &Run)| {
        let is_dead = dead.contains(&path);
        let looked = if run.is_raw() { device(&path, run, root) } else { target(path, root, &mounts) };
        let why = looked.unusable.clone().or_else(|| is_dead.then(|| FROZEN.to_owned()));
        Target { unusable: why, ..looked }
    };
    Survey {
        targets: targets.into_iter().map(look).collect(),
        needs,
        memory_available: node.memory,
        memory: node.total,
        controller_cache: node.controller_cache,
        raid_controllers: inventory::raid_controllers(root),
        cpus: u32::try_from(node.cpus.len()).unwrap_or(u32::MAX),
        cpus_online: inventory::online(root),
        cpu_quota: cgroup::limit(root, "cpu", cgroup::cpu_quota).filter(|quota| quota.is_finite()),
        load: load(root),
        busy_percent: busy_percent(root),
        root: rustix::process::geteuid().is_root(),
        page: node.page as u64,
        held_by: hold::holder(),
        neighbours: neighbours(root),
    }
}

/// What was learned of a run.
struct Looked {
    need: Needs,
    /// Where it would write, or what it would read.
    directory: Option<PathBuf>,
    /// Whether a file could be made there, or not, within the time for it.
    answers: bool,
}

/// What a run takes, and the directory it would write to. A run that this node cannot do counts as one that loads it, since it
/// may come to be possible until its turn, and its directory is looked at when the plan names one, as that may be the reason.
/// A directory that is known not to answer is not asked again.
fn need(run: &Run, node: &Resources, dead: &[PathBuf]) -> Looked {
    let directory = run.target.clone().unwrap_or_else(|| DEFAULT_TARGET.into());
    let loads = Takes { loads: true, ..Takes::default() };
    let settled = match sizes::settle(run, node) {
        Ok((run, _)) => run,
        Err(why) => {
            let need = Needs { open: Some(neutral(&why)), ..in_all(run, &loads) };
            return Looked { need, directory: run.target.clone(), answers: true };
        }
    };
    let asked = if dead.contains(&directory) { None } else { asked(&settled, &directory, node) };
    let answers = asked.is_some();
    let (need, directory) = match asked.unwrap_or_else(|| Err(format!("{} does not answer", directory.display()))) {
        Ok(takes) => {
            let writes_there = takes.disk > 0 || run.is_raw();
            (in_all(&settled, &takes), writes_there.then_some(directory))
        }
        Err(why) => (Needs { impossible: Some(neutral(&why)), ..in_all(&settled, &loads) }, run.target.clone()),
    };
    Looked { need, directory, answers }
}

/// What the kernel of a run says that it takes; none when it says nothing in time, as its target may hang.
fn asked(run: &Run, directory: &Path, node: &Resources) -> Option<Result<Takes, String>> {
    let (run, place, node) = (run.clone(), directory.to_owned(), node.clone());
    match in_time(move || kernel::build(&run, &place, &node).map(|k| k.takes()).map_err(|e| e.to_string())) {
        Ok(said) => Some(said),
        Err(Unanswered::Late) => None,
        Err(Unanswered::Panicked) => Some(Err("its kernel panicked".to_owned())),
        Err(Unanswered::NoThread(why)) => Some(Err(format!("cannot be asked: {why}"))),
    }
}

/// Why there is no answer.
enum Unanswered {
    Late,
    Panicked,
    NoThread(std::io::Error),
}

/// What work gives that may hang in the kernel: it has a thread of its own, which is left behind when it does not answer in time.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Unanswered> {
    let (say, heard) = mpsc::channel();
    std::thread::Builder::new().spawn(move || drop(say.send(work()))).map_err(Unanswered::NoThread)?;
    heard.recv_timeout(PATIENCE).map_err(|why| match why {
        mpsc::RecvTimeoutError::Timeout => Unanswered::Late,
        mpsc::RecvTimeoutError::Disconnected => Unanswered::Panicked,
    })
}

/// What an iteration takes, for all iterations of the run, those begun in the time of one that lasts so long; memory and disk are given back after each.
fn in_all(run: &Run, takes: &Takes) -> Needs {
    let times = run.expected(takes.time);
    let time = takes.time.0.saturating_mul(u64::from(run.iterations));
    // The last iteration is begun within that time, and ends after it.
    let lasting = run.lasting.map_or(0, |lasting| lasting.0.saturating_add(takes.time.0));
    Needs {
        run: run.name.clone(),
        memory: takes.memory,
        disk: takes.disk,
        writes: takes.writes.saturating_mul(times).saturating_add(takes.laid_out),
        time: Span(time.max(lasting)),
        loads: takes.loads,
        impossible: None,
        open: None,
        file: match &run.kernel {
            Load::Disk(load) => Some(load.size.0).filter(|size| *size > 0),
            _ => None,
        },
    }
}

/// A device that is a target itself.
fn device(path: &Path, run: &Run, root: &Path) -> Target {
    let mut target = blank(path.to_owned());
    let device = match raw::find(path, root) {
        Ok(device) => device,
        Err(why) => return Target { unusable: Some(neutral(&why)), ..target },
    };
    (target.free, target.total) = (device.size, device.size);
    target.device = block::whole(root, &device.name);
    target.stack = device.memory().map(|stack| neutral(&stack)).unwrap_or_default();
    target.in_memory = !target.stack.is_empty();
    if let Some(given) = &run.destroy {
        target.unusable = device.is_meant(given).and_then(|()| device.is_free()).err().map(|why| neutral(&why));
    }
    target.raw = Some(Raw { line: neutral(&device.line()), destroyed: run.destroy.is_some() });
    target
}

/// A target of which nothing is known yet.
fn blank(path: PathBuf) -> Target {
    Target {
        path,
        file_system: String::new(),
        device: String::new(),
        free: 0,
        total: 0,
        in_memory: false,
        stack: String::new(),
        unusable: None,
        raw: None,
    }
}

/// The whole disk below the target of a run, by its kernel name; none for remote file systems and those without one device.
#[must_use]
pub(super) fn device_below(run: &Run, target: &Path, root: &Path) -> Option<String> {
    if run.is_raw() {
        raw::find(target, root).ok().map(|it| block::whole(root, &it.name))
    } else {
        device_of(target, root)
    }
}

fn target(path: PathBuf, root: &Path, mounts: &Mounts) -> Target {
    let file_system = mounts.over(&path).map(|mount| neutral(&mount.kind)).unwrap_or_default();
    let why = Some("the file system does not answer".to_owned());
    let unknown = Target { file_system, unusable: why, ..blank(path.clone()) };
    let (root, mounts) = (root.to_owned(), mounts.clone());
    match in_time(move || examined(path, &root, &mounts)) {
        Ok(target) => target,
        Err(Unanswered::NoThread(why)) => Target { unusable: Some(format!("cannot be looked at: {why}")), ..unknown },
        Err(_) => unknown,
    }
}

fn examined(path: PathBuf, root: &Path, mounts: &Mounts) -> Target {
    let resolved = mounts.resolve(&path);
    let mount = mounts.over(&resolved);
    let stack = mount.and_then(|mount| mount.memory(root, mounts));
    let mut target = Target {
        file_system: mount.map(|mount| neutral(&mount.kind)).unwrap_or_default(),
        device: mount.and_then(|mount| mount.device(root)).map(|name| neutral(&name)).unwrap_or_default(),
        in_memory: stack.is_some(),
        stack: stack.map(|stack| neutral(&stack)).unwrap_or_default(),
        ..blank(path)
    };
    if mount.is_some_and(super::mount::Mount::is_remote) {
        let why = format!("on a remote file system ({}); not asked for its free space", target.file_system);
        target.unusable = Some(why);
        return target;
    }
    if let Ok(space) = statvfs(&resolved) {
        (target.free, target.total) = space_of(&space);
    }
    target.unusable = unusable(&resolved, mount.is_some_and(|mount| mount.read_only));
    target
}

/// Bytes free for this user, and bytes in all.
fn space_of(space: &StatVfs) -> (u64, u64) {
    (space.f_bavail.saturating_mul(space.f_frsize), space.f_blocks.saturating_mul(space.f_frsize))
}

fn unusable(path: &Path, read_only: bool) -> Option<String> {
    match std::fs::metadata(path) {
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Some("missing".to_owned()),
        Err(why) => return Some(why.to_string()),
        Ok(meta) if !meta.is_dir() => {
            let kind = raw::kind(path).unwrap_or("something else");
            let device = kind == "a block device";
            let how =
                if device { "; only --destroy-data DEVICE writes over one, and --readonly reads one" } else { "" };
            return Some(format!("{kind}, not a directory{how}"));
        }
        Ok(_) => {}
    }
    if read_only {
        return Some("on a read-only file system".to_owned());
    }
    match access(path, Access::WRITE_OK | Access::EXEC_OK) {
        Err(rustix::io::Errno::ROFS) => Some("on a read-only file system".to_owned()),
        Err(why) => Some(format!("not writable: {why}")),
        Ok(()) => hold::is_held(path).then(|| "held by another session".to_owned()),
    }
}

fn load(root: &Path) -> f64 {
    let line = host::value(&root.join("proc/loadavg")).unwrap_or_default();
    let first = line.split_ascii_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    first.filter(|load| load.is_finite()).unwrap_or(0.0)
}

/// How busy the CPUs are while nothing of ours is at work: two looks at `/proc/stat`.
fn busy_percent(root: &Path) -> f64 {
    let times = || -> Option<(f64, f64)> {
        let text = std::fs::read_to_string(root.join("proc/stat")).ok()?;
        let columns: Vec<f64> =
            text.lines().next()?.split_ascii_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal; guest time is inside user.
        Some((columns.iter().take(8).sum(), columns.get(3)? + columns.get(4).copied().unwrap_or(0.0)))
    };
    let before = times();
    std::thread::sleep(LOOK);
    match (before, times()) {
        (Some((all, idle)), Some((all_now, idle_now))) if all_now > all => {
            (100.0 * (1.0 - (idle_now - idle).max(0.0) / (all_now - all))).clamp(0.0, 100.0)
        }
        _ => 0.0,
    }
}

fn neighbours(root: &Path) -> Vec<String> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let proc = root.join("proc");
    for entry in host::names(&proc).iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit())) {
        let Some(name) = host::value(&proc.join(entry).join("comm")) else { continue };
        let Some(known) = NEIGHBOURS.iter().find(|known| is_neighbour(&name, known)) else { continue };
        // A stressor calls itself after what it does; its name is that of the whole.
        let name = if name.starts_with("stress-ng") { (*known).to_owned() } else { name };
        *counts.entry(name).or_default() += 1;
    }
    let counted = |(name, count): (String, u32)| if count > 1 { format!("{name} ({count})") } else { name };
    let mut found: Vec<String> = counts.into_iter().map(counted).collect();
    let mdstat = host::text(&root.join("proc/mdstat")).unwrap_or_default();
    let running = |work: &&&str| mdstat.lines().any(|line| line.contains('%') && line.contains(&format!("{work} =")));
    found.extend(REBUILDS.iter().filter(running).map(|work| format!("md {work}")));
    found
}

/// Whether a process of this name is one of that kind: the name itself, or one that goes on after a dash.
fn is_neighbour(name: &str, known: &str) -> bool {
    name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;
    use crate::vocab::plan::{Disk, Load, Pattern, Rest, Shape, Synthetic};
    use crate::vocab::size::ByteSize;
    use crate::vocab::unit::{Quantity, Unit};

    fn node() -> Resources {
        Resources { cpus: vec![0, 1], ..Resources::faked() }
    }

    fn mountinfo(point: &Path, rest: &str) -> String {
        format!("1 1 0:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:9 / {} {rest}\n", point.display())
    }

    /// The target `directory` on a machine where it is mounted like that.
    fn mounted(directory: &Path, rest: &str) -> Target {
        let root = fake::root(&[("proc/self/mountinfo", &mountinfo(directory, rest))]);
        let mounts = Mounts::read(root.path());
        target(directory.to_owned(), root.path(), &mounts)
    }

    fn directory() -> (tempfile::TempDir, PathBuf) {
        let keep = tempfile::tempdir().unwrap();
        let path = std::fs::canonicalize(keep.path()).unwrap();
        (keep, path)
    }

    #[test]
    fn a_local_directory_is_asked_for_its_space() {
        let (_keep, path) = directory();
        let got = mounted(&path, "rw - ext4 /dev/sda1 rw");
        assert_eq!((got.file_system.as_str(), got.in_memory, got.unusable), ("ext4", false, None));
        assert!(got.total > 0 && got.free <= got.total);
        assert!(mounted(&path, "rw - tmpfs tmpfs rw").in_memory);
    }

    #[test]
    fn a_remote_directory_is_not_asked_for_anything() {
        let (_keep, path) = directory();
        for kind in ["nfs", "nfs4", "cifs", "smb3", "autofs", "fuse.sshfs", "9p"] {
            let got = mounted(&path, &format!("rw - {kind} x rw"));
            let why = format!("on a remote file system ({kind}); not asked for its free space");
            assert_eq!((got.free, got.total, got.unusable), (0, 0, Some(why)));
        }
    }

    #[test]
    fn what_cannot_be_written_is_unusable() {
        let (_keep, path) = directory();
        let why = |path: &Path, rest: &str| mounted(path, rest).unusable.unwrap_or_default();
        assert_eq!(why(&path.join("missing"), "rw - ext4 x rw"), "missing");
        std::fs::write(path.join("file"), "").unwrap();
        assert_eq!(why(&path.join("file"), "rw - ext4 x rw"), "a file, not a directory");
        assert_eq!(why(&path, "ro - ext4 x rw"), "on a read-only file system");
        assert_eq!(why(&path, "rw - ext4 x ro"), "on a read-only file system");
        let lock = std::fs::File::open(&path).unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(why(&path, "rw - ext4 x rw"), "held by another session");
    }

    #[test]
    fn a_link_leads_to_the_file_system_behind_it() {
        let (_keep, path) = directory();
        std::fs::create_dir(path.join("there")).unwrap();
        std::os::unix::fs::symlink("there", path.join("here")).unwrap();
        let root = fake::root(&[("proc/self/mountinfo", &mountinfo(&path.join("there"), "rw - nfs server:/ rw"))]);
        let got = target(path.join("here"), root.path(), &Mounts::read(root.path()));
        assert_eq!((got.path, got.file_system.as_str()), (path.join("here"), "nfs"));
    }

    fn run(name: &str) -> Run {
        let rate = Quantity::new(1.0, Unit::EventsPerSecond);
        let load = Synthetic { rate, time: Span::seconds(1), shape: Shape::Level, noise: 0.0 };
        Run { iterations: 2, seed: 1, ..Run::new(name, Load::Synthetic(load)) }
    }

    fn plan(runs: Vec<Run>) -> Plan {
        Plan {
            name: String::new(),
            title: String::new(),
            about: String::new(),
            smoke: false,
            runs,
            checks: vec![],
            roofs: BTreeMap::new(),
            references: BTreeMap::new(),
            ordered: None,
        }
    }

    #[test]
    fn time_and_writes_add_up_over_the_iterations() {
        let takes = Takes { memory: 1, disk: 2, laid_out: 5, writes: 3, time: Span(4), loads: true };
        let need = in_all(&run("a"), &takes);
        assert_eq!((need.memory, need.disk, need.writes, need.time, need.loads), (1, 2, 11, Span(8), true));
        assert_eq!(in_all(&run("a"), &Takes { writes: u64::MAX, ..takes }).writes, u64::MAX);
    }

    #[test]
    fn a_run_that_goes_on_by_time_needs_what_its_iterations_come_to() {
        let rest = Rest { after: Span(50), lasting: Span(50) };
        let lasting = Run { lasting: Some(Span(1000)), rest: Some(rest), ..run("a") };
        let need = in_all(&lasting, &Takes { writes: 3, time: Span(10), ..Takes::default() });
        assert_eq!(
            (need.writes, need.time),
            (150, Span(1010)),
            "fifty iterations in the half of the time, the last one too late"
        );
    }

    #[test]
    fn a_directory_two_runs_share_is_one_target() {
        let (_keep, path) = directory();
        let disk = Disk::new(Pattern::Read, ByteSize(4096), ByteSize(1 << 20), Span::seconds(1));
        let disk = Disk { direct: Some(false), ..disk };
        let run = |name: &str| Run { kernel: Load::Disk(disk.clone()), target: Some(path.clone()), ..run(name) };
        let got = take(&plan(vec![run("a"), run("b")]), Path::new("/"), &node());
        let paths: Vec<&PathBuf> = got.targets.iter().map(|target| &target.path).collect();
        assert_eq!(paths, [&path]);
    }

    #[test]
    fn a_plan_is_surveyed_run_by_run() {
        let plan = plan(vec![run("a"), run("b")]);
        let root = fake::root(&[("proc/loadavg", "1.25 0.5 0.1 1/200 7\n")]);
        let got = take(&plan, root.path(), &node());
        assert_eq!((got.load, got.cpus, got.page, got.memory_available), (1.25, 2, 4096, 1 << 30));
        let names: Vec<&str> = got.needs.iter().map(|need| &*need.run.0).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(got.targets, []);
    }

    #[test]
    fn neighbours_are_counted_by_name() {
        let md = "md0 : active raid1\n      [==>..]  recovery = 12.6% (1/8) finish=1min\n";
        let root = fake::root(&[
            ("proc/12/comm", "qemu-system-x86\n"),
            ("proc/13/comm", "qemu-system-x86\n"),
            ("proc/14/comm", "ceph-osd\n"),
            ("proc/15/comm", "stress-ng-cpu\n"),
            ("proc/16/comm", "stress-ng\n"),
            ("proc/17/comm", "fiona\n"),
            ("proc/x/comm", "fio\n"),
            ("proc/mdstat", md),
        ]);
        assert_eq!(neighbours(root.path()), ["ceph-osd", "qemu-system-x86 (2)", "stress-ng (2)", "md recovery"]);
        for end in 0..md.len() {
            fake::put(root.path(), "proc/mdstat", &md[..end]);
            neighbours(root.path());
        }
        let waiting = fake::root(&[("proc/mdstat", "md1 : active raid1\n        resync=DELAYED\n")]);
        assert_eq!(neighbours(waiting.path()), Vec::<String>::new());
    }

    #[test]
    fn a_node_whose_counters_stand_still_is_not_busy() {
        assert_eq!(busy_percent(fake::root(&[("proc/stat", "cpu  5 0 5 90 0 0 0 0 0 0\n")]).path()), 0.0);
        assert_eq!(busy_percent(fake::root(&[("proc/stat", "cpu")]).path()), 0.0);
    }

    #[test]
    fn a_load_that_is_no_number_is_none() {
        for text in ["", "x", "NaN 1 1", "inf"] {
            assert_eq!(load(fake::root(&[("proc/loadavg", text)]).path()), 0.0);
        }
    }
}
