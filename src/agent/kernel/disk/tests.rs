use std::path::Path;

use super::super::Kernel as _;
use super::*;
use crate::agent::voice::Voice;
use crate::clock::now;
use crate::vocab::plan::{Content, EngineChoice, Layout as Found};
use crate::vocab::size::ByteSize;

const SIZE: u64 = 3 << 20;

fn load(pattern: Pattern, block: u64) -> Disk {
    // Long enough for a disk that others are using as well.
    let (time, ramp) = (Span::milliseconds(200), Some(Span::ZERO));
    Disk { depth: 4, direct: Some(false), ramp, ..Disk::new(pattern, ByteSize(block), ByteSize(SIZE + 5), time) }
}

fn kernel(load: &Disk, directory: &Path) -> Kernel {
    Kernel::new(load, 11, directory, &Resources::here(Path::new("/"))).unwrap()
}

fn ready(kernel: &mut Kernel) -> Meter {
    let meter = Meter::new("r".into(), 2, kernel.describe().lanes, Voice::silent());
    // The reserve would refuse a small file system on which tests run.
    kernel.lay_out(&meter, &Stop::default()).unwrap();
    meter.next_iteration();
    meter
}

fn value(measured: &Measured, name: &str) -> Option<f64> {
    measured.figures.iter().find(|f| f.name == name).map(|f| f.value)
}

/// An iteration of a load, and what the meters stood at after it.
fn check(load: &Disk) -> (Measured, crate::vocab::event::Progress) {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let mut kernel = kernel(load, directory.path());
    let meter = ready(&mut kernel);
    assert_eq!(meter.read(now(), false).done, vec![0, 0], "a layout is not counted");
    let measured = kernel.iterate(&meter, &Stop::default()).unwrap();
    let read = meter.read(now(), true);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "a name is left while running");
    let value = |name: &str| value(&measured, name);
    assert!(value("mb_per_s").unwrap() > 0.0 && value("iops").unwrap() > 0.0, "{measured:?}");
    assert!(value("lat_p50_us").unwrap() <= value("lat_max_us").unwrap());
    let writes = kernel.access.writes();
    assert_eq!((value("drain_s").is_some(), value("with_fsync_mb_per_s").is_some()), (writes, writes));
    let cpu = value("generator_cpu_percent").unwrap();
    assert!(cpu > 0.0 && cpu <= 100.0 && value("cpu_us_per_io").unwrap() > 0.0, "{measured:?}");
    assert!(measured.latency.is_some());
    let (bytes, operations) = kernel.access.meters();
    assert_eq!((read.in_flight, read.done[bytes]), (0, read.done[operations] * load.block.0));
    let counted: u64 = read.latency.as_ref().unwrap().0.iter().map(|(_, n)| n).sum();
    assert_eq!(counted, read.done[operations]);
    (measured, read)
}

const ENGINES: [EngineChoice; 3] = [EngineChoice::Uring, EngineChoice::Aio, EngineChoice::Threads];
const MIXED: Pattern = Pattern::Mixed { reads: 70, random: true };

#[test]
fn every_pattern_on_every_engine_in_every_path() {
    for engine in ENGINES {
        for pattern in [Pattern::Read, Pattern::Write, Pattern::RandomRead, Pattern::RandomWrite, MIXED, Pattern::Copy]
        {
            for direct in [false, true] {
                let wanted = Disk { engine, jobs: 2, direct: Some(direct), ..load(pattern, 16 << 10) };
                let refused = |e: &KernelError| matches!(e, KernelError::Unavailable(_));
                let probe = Kernel::new(&wanted, 1, Path::new("/var/tmp"), &Resources::here(Path::new("/")));
                match probe.err() {
                    None => drop(check(&wanted)),
                    // A container may forbid io_uring, a file system O_DIRECT.
                    Some(error) => assert!(refused(&error), "{error}"),
                }
            }
        }
    }
}

#[test]
fn blocks_of_any_length_go_through_the_page_cache() {
    for engine in [EngineChoice::Auto, EngineChoice::Threads] {
        check(&Disk { engine, ..load(Pattern::RandomWrite, 1000) });
    }
}

#[test]
fn a_mixed_load_has_figures_of_each_direction() {
    let (measured, _) = check(&load(MIXED, 4096));
    let value = |name: &str| value(&measured, name).unwrap();
    assert!((value("read_iops") + value("write_iops") - value("iops")).abs() < 1e-6 * value("iops"));
    let share = value("read_iops") / value("iops");
    assert!((0.6..0.8).contains(&share), "{share}");
    assert!(value("read_lat_p99_us") > 0.0 && value("write_lat_p50_us") > 0.0 && value("write_mb_per_s") > 0.0);
}

#[test]
fn a_bound_ends_an_iteration_and_its_figures_are_of_the_time_it_took() {
    for (bound, bytes) in [(Bound::Size, 2 * SIZE), (Bound::Bytes(ByteSize(1 << 20)), 1 << 20)] {
        let whole = Disk { bound, jobs: 2, time: Span::seconds(60), ..load(Pattern::Write, 16 << 10) };
        let (measured, read) = check(&whole);
        assert_eq!(read.done[0], bytes, "{bound:?}");
        assert!(value(&measured, "mb_per_s").unwrap() > 0.5, "{measured:?}");
    }
    let directory = tempfile::tempdir().unwrap();
    let short = Disk { bound: Bound::Size, ramp: Some(Span::seconds(30)), ..load(Pattern::Read, 16 << 10) };
    let mut kernel = kernel(&short, directory.path());
    let meter = ready(&mut kernel);
    let ended = kernel.iterate(&meter, &Stop::default());
    assert!(matches!(&ended, Err(KernelError::Broken(why)) if why.contains("ramp")), "{ended:?}");
}

#[test]
fn a_rate_is_not_exceeded_on_any_engine() {
    for engine in [EngineChoice::Auto, EngineChoice::Aio, EngineChoice::Threads] {
        let rate = Some("400 IOPS".parse().unwrap());
        let paced = Disk { rate, engine, time: Span::milliseconds(1000), jobs: 2, ..load(Pattern::RandomRead, 4096) };
        let (measured, _) = check(&paced);
        let iops = value(&measured, "iops").unwrap();
        // What was missed within the slack is caught up with. How near it comes is the machine's affair; a tenth is no pace.
        assert!((40.0..425.0).contains(&iops), "{engine:?}: {iops}");
    }
}

#[test]
fn flushes_between_writes_are_timed() {
    for engine in [EngineChoice::Auto, EngineChoice::Aio, EngineChoice::Threads] {
        let synced =
            Disk { fdatasync_every: 4, fsync_every: 9, engine, dsync: true, ..load(Pattern::RandomWrite, 4096) };
        let (measured, _) = check(&Disk { time: Span::milliseconds(300), ..synced });
        assert!(value(&measured, "syncs_per_s").unwrap() > 0.0 && value(&measured, "sync_lat_p99_us").unwrap() > 0.0);
    }
}

#[test]
fn what_was_written_is_read_back() {
    for (pattern, layout) in [
        (Pattern::Write, Found::FirstWrite),
        (Pattern::RandomWrite, Found::Overwrite),
        (MIXED, Found::Overwrite),
        (Pattern::Copy, Found::FirstWrite),
    ] {
        let (measured, _) = check(&Disk { verify: true, layout, jobs: 2, ..load(pattern, 4096) });
        assert!(value(&measured, "verified_blocks").unwrap() > 10.0, "{measured:?}");
    }
}

#[test]
fn a_block_that_is_not_what_was_written_is_corrupt_and_its_offset_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let kernel = kernel(&Disk { verify: true, ..load(Pattern::Write, 4096) }, directory.path());
    let meter = Meter::new("r".into(), 2, kernel.describe().lanes, Voice::silent());
    kernel.lay_out(&meter, &Stop::default()).unwrap();
    let stamps = vec![kernel.stamps(0, 0)];
    let (file, written) = (&kernel.files[0].target.file, stamps[0].as_ref().unwrap());
    (0..SIZE).step_by(4096).for_each(|offset| written.note(offset));
    let all = kernel.verify(&stamps, &meter, &Stop::default()).unwrap().unwrap();
    assert_eq!(all.value, (SIZE / 4096) as f64);
    std::os::unix::fs::FileExt::write_all_at(&**file, b"!", 40_960 + 777).unwrap();
    let found = kernel.verify(&stamps, &meter, &Stop::default());
    assert!(matches!(&found, Err(KernelError::Corrupt(why)) if why.contains("at offset 40960 ")), "{found:?}");
    let older = kernel.verify(&[kernel.stamps(0, 7)], &meter, &Stop::default()).unwrap().unwrap();
    assert_eq!(older.value, 0.0, "nothing was written in that iteration");
}

#[test]
fn a_first_write_begins_with_holes_each_time_and_ends_with_the_file() {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let first = Disk { layout: Found::FirstWrite, time: Span::seconds(60), ..load(Pattern::Write, 16 << 10) };
    let mut kernel = kernel(&first, directory.path());
    let meter = ready(&mut kernel);
    assert_eq!(kernel.targets().next().unwrap().file.metadata().unwrap().len(), 0);
    for done in [SIZE, 2 * SIZE] {
        let measured = kernel.iterate(&meter, &Stop::default()).unwrap();
        assert_eq!(meter.read(now(), false).done[0], done);
        assert!(value(&measured, "allocated_percent").is_some_and(|percent| percent > 90.0), "{measured:?}");
    }
    let labels = kernel.describe().labels;
    assert_eq!((labels["layout"].as_str(), labels["path"].as_str()), ("first write", "buffered"));
}

#[test]
fn zeros_are_written_where_they_are_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let zeros = Disk { content: Content::Zero, ..load(Pattern::RandomWrite, 4096) };
    let mut kernel = kernel(&zeros, directory.path());
    let meter = ready(&mut kernel);
    kernel.iterate(&meter, &Stop::default()).unwrap();
    let mut content = vec![1; SIZE as usize];
    std::os::unix::fs::FileExt::read_exact_at(&*kernel.files[0].target.file, &mut content, 0).unwrap();
    assert!(content.iter().all(|byte| *byte == 0));
}

#[test]
fn direct_access_needs_whole_sectors() {
    let here = Resources::here(Path::new("/"));
    let odd = Disk { direct: Some(true), ..load(Pattern::Write, 1000) };
    let refused = Kernel::new(&odd, 1, Path::new("/var/tmp"), &here).err();
    assert!(
        matches!(&refused, Some(KernelError::Unavailable(why)) if why.contains("multiples") || why.contains("O_DIRECT")),
        "{refused:?}"
    );
}

#[test]
fn a_layout_leaves_no_hole_and_nothing_to_compress() {
    let directory = tempfile::tempdir().unwrap();
    let mut kernel = kernel(&load(Pattern::Read, 1000), directory.path());
    ready(&mut kernel);
    let mut content = vec![0; kernel.size as usize];
    std::os::unix::fs::FileExt::read_exact_at(&*kernel.files[0].target.file, &mut content, 0).unwrap();
    assert_eq!(
        (kernel.size, kernel.files[0].target.file.metadata().unwrap().len()),
        (SIZE / 1000 * 1000, SIZE / 1000 * 1000)
    );
    let mut words: Vec<&[u8]> = content.chunks_exact(8).collect();
    let all = words.len();
    words.sort_unstable();
    words.dedup();
    assert!(words.len() + all / 100 > all, "{} different words of {all}", words.len());
}

#[test]
fn a_lost_file_is_an_error_of_the_device() {
    let directory = tempfile::tempdir().unwrap();
    for engine in [EngineChoice::Auto, EngineChoice::Aio, EngineChoice::Threads] {
        let mut kernel = kernel(&Disk { engine, ..load(Pattern::Read, 4096) }, directory.path());
        let meter = ready(&mut kernel);
        kernel.files[0].target.file.set_len(SIZE / 2).unwrap();
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
    assert_eq!(kernel.lay_out(&meter, &stop), Err(KernelError::Stopped));
}

#[test]
fn nonsense_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |load: Disk| Kernel::new(&load, 1, directory.path(), &Resources::here(Path::new("/"))).is_err();
    assert!(refused(Disk { depth: 0, ..load(Pattern::Read, 4096) }));
    assert!(refused(load(Pattern::Read, 0)));
    assert!(refused(load(Pattern::Read, SIZE * 2)));
    assert!(refused(Disk { jobs: 0, ..load(Pattern::Read, 4096) }));
    assert!(refused(Disk { jobs: 5000, ..load(Pattern::Read, 4096) }));
    assert!(refused(Disk { verify: true, ..load(Pattern::Read, 4096) }));
    assert!(refused(Disk { verify: true, ..load(Pattern::Write, 16) }));
    assert!(refused(Disk { layout: Found::FirstWrite, ..load(MIXED, 4096) }));
    assert!(refused(load(Pattern::Mixed { reads: 100, random: true }, 4096)));
    assert!(refused(Disk { rate: Some("5 s".parse().unwrap()), ..load(Pattern::Read, 4096) }));
}

#[test]
fn what_a_run_takes_is_known_beforehand() {
    let directory = tempfile::tempdir().unwrap();
    let takes = |load: Disk| kernel(&load, directory.path()).takes();
    let plain = takes(load(Pattern::RandomWrite, 4096));
    assert_eq!((plain.disk, plain.laid_out, plain.writes, plain.loads), (SIZE, SIZE, 400_000_000, true));
    let paced = takes(Disk {
        rate: Some("2 IOPS".parse().unwrap()),
        ramp: Some(Span::ZERO),
        ..load(Pattern::RandomWrite, 4096)
    });
    assert_eq!(paced.writes, (8192.0 * load(Pattern::Read, 1).time.as_seconds()).ceil() as u64);
    let copy = takes(Disk { jobs: 2, bound: Bound::Size, ..load(Pattern::Copy, 4096) });
    assert_eq!((copy.disk, copy.laid_out, copy.writes), (4 * SIZE, 4 * SIZE, 2 * SIZE));
}
