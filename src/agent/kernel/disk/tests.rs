use std::path::Path;

use super::super::Kernel as _;
use super::*;
use crate::agent::voice::Voice;
use crate::clock::now;
use crate::vocab::size::ByteSize;

const SIZE: u64 = 3 << 20;

fn load(pattern: Pattern, block: u64) -> Disk {
    let time = Span::milliseconds(60);
    Disk { depth: 4, direct: Some(false), ..Disk::new(pattern, ByteSize(block), ByteSize(SIZE + 5), time) }
}

fn kernel(load: &Disk, directory: &Path) -> Kernel {
    Kernel::new(load, 11, directory, &Resources::here(Path::new("/"))).unwrap()
}

fn ready(kernel: &mut Kernel) -> Meter {
    let meter = Meter::new("r".into(), 2, kernel.describe().lanes, Voice::silent());
    // The reserve would refuse a small file system on which tests run.
    kernel.lay_out(&Stop::default()).unwrap();
    meter
}

fn check(load: &Disk, engine: impl Fn(&mut Kernel)) {
    let directory = tempfile::tempdir().unwrap();
    let mut kernel = kernel(load, directory.path());
    engine(&mut kernel);
    let meter = ready(&mut kernel);
    assert_eq!(meter.read(now(), false).done, vec![0, 0], "a layout is not counted");
    let measured = kernel.iterate(&meter, &Stop::default()).unwrap();
    let read = meter.read(now(), true);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "a name is left while running");
    let value = |name: &str| measured.figures.iter().find(|f| f.name == name).map(|f| f.value);
    assert!(value("mb_per_s").unwrap() > 0.0 && value("iops").unwrap() > 0.0, "{measured:?}");
    assert!(value("lat_p50_us").unwrap() <= value("lat_max_us").unwrap());
    assert_eq!(value("drain_s").is_some(), kernel.access.write);
    let cpu = value("generator_cpu_percent").unwrap();
    assert!(cpu > 0.0 && cpu <= 100.0 && value("cpu_us_per_io").unwrap() > 0.0, "{measured:?}");
    assert!(measured.latency.is_some());
    let (bytes, operations) = kernel.access.meters();
    assert_eq!((read.in_flight, read.done[bytes]), (0, read.done[operations] * load.block.0));
    let counted: u64 = read.latency.unwrap().0.iter().map(|(_, n)| n).sum();
    assert_eq!(counted, read.done[operations]);
}

#[test]
fn every_pattern_on_the_best_engine() {
    for pattern in [Pattern::Read, Pattern::Write, Pattern::RandomRead, Pattern::RandomWrite] {
        check(&load(pattern, 16 << 10), |_| {});
    }
}

#[test]
fn the_threads_engine_does_the_same() {
    for pattern in [Pattern::Read, Pattern::RandomWrite] {
        check(&load(pattern, 1000), |kernel| kernel.engine = Engine::Threads("test".to_owned()));
    }
}

#[test]
fn direct_access_where_the_file_system_has_it() {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let wanted = Disk { direct: Some(true), ..load(Pattern::RandomWrite, 64 << 10) };
    match Kernel::new(&wanted, 1, directory.path(), &Resources::here(Path::new("/"))) {
        Ok(_) => {
            check(&wanted, |_| {});
            let odd = Disk { direct: Some(true), ..load(Pattern::Write, 1000) };
            let refused = Kernel::new(&odd, 1, directory.path(), &Resources::here(Path::new("/")));
            assert!(matches!(refused, Err(KernelError::Unavailable(why)) if why.contains("multiples")));
        }
        Err(error) => assert!(matches!(error, KernelError::Unavailable(why) if why.contains("O_DIRECT"))),
    }
}

#[test]
fn a_layout_leaves_no_hole_and_nothing_to_compress() {
    let directory = tempfile::tempdir().unwrap();
    let mut kernel = kernel(&load(Pattern::Read, 1000), directory.path());
    ready(&mut kernel);
    let mut content = vec![0; kernel.size as usize];
    std::os::unix::fs::FileExt::read_exact_at(&*kernel.target.file, &mut content, 0).unwrap();
    assert_eq!((kernel.size, kernel.target.file.metadata().unwrap().len()), (SIZE / 1000 * 1000, SIZE / 1000 * 1000));
    let mut words: Vec<&[u8]> = content.chunks_exact(8).collect();
    let all = words.len();
    words.sort_unstable();
    words.dedup();
    assert!(words.len() + all / 100 > all, "{} different words of {all}", words.len());
}

#[test]
fn a_lost_file_is_an_error_of_the_device() {
    let directory = tempfile::tempdir().unwrap();
    for threads in [false, true] {
        let mut kernel = kernel(&load(Pattern::Read, 4096), directory.path());
        if threads {
            kernel.engine = Engine::Threads("test".to_owned());
        }
        let meter = ready(&mut kernel);
        kernel.target.file.set_len(SIZE / 2).unwrap();
        let result = kernel.iterate(&meter, &Stop::default());
        let Err(KernelError::Corrupt(why)) = &result else { panic!("{result:?}") };
        let offset =
            why.strip_prefix("I/O error ENODATA at offset ").and_then(|w| w.split(' ').next()?.parse::<u64>().ok());
        // Several operations are in flight, and the first to fail need not be the first that is lost.
        assert!(offset.is_some_and(|offset| offset >= SIZE / 2), "{why}");
        assert_eq!(meter.read(now(), false).in_flight, 0);
    }
}

#[test]
fn a_stop_is_heeded_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let long = Disk { time: Span::seconds(60), ..load(Pattern::RandomWrite, 4096) };
    let mut kernel = kernel(&long, directory.path());
    let meter = ready(&mut kernel);
    let stop = Stop::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            stop.ask();
        });
        assert_eq!(kernel.iterate(&meter, &stop), Err(KernelError::Stopped));
    });
    assert_eq!(kernel.lay_out(&stop), Err(KernelError::Stopped));
}

#[test]
fn nonsense_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |load: Disk| Kernel::new(&load, 1, directory.path(), &Resources::here(Path::new("/"))).is_err();
    assert!(refused(Disk { depth: 0, ..load(Pattern::Read, 4096) }));
    assert!(refused(load(Pattern::Read, 0)));
    assert!(refused(load(Pattern::Read, SIZE * 2)));
}

#[test]
fn the_command_of_a_known_tool_is_given() {
    let directory = tempfile::tempdir().unwrap();
    let kernel = kernel(&load(Pattern::RandomWrite, 4096), directory.path());
    let command = kernel.describe().command;
    assert!(command.contains("--rw=randwrite --bs=4096") && command.contains("--direct=0 --size=3145728"), "{command}");
    let takes = kernel.takes();
    assert_eq!((takes.disk, takes.writes, takes.loads), (SIZE, SIZE + 120_000_000, true));
}
