//! What the disk kernel counts, held against what the block device counts (`/proc/diskstats`).

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use shakedown::agent::kernel::{self, Stop};
use shakedown::agent::meter::Meter;
use shakedown::agent::resources::Resources;
use shakedown::agent::voice::Voice;
use shakedown::clock::now;
use shakedown::vocab::plan::Run;
use shakedown::vocab::ronfile::parse;

use crate::common::device::{Disk, Mounted, Zram};
use crate::common::undo::{Bench, Room};
use crate::{program, say};

/// How far both may be apart: the file system's own blocks, and what is in flight at the end.
const APART: f64 = 0.01;

/// Bytes read from and written to a device since it is there.
fn sectors(device: &str) -> [f64; 2] {
    let number = fs::metadata(device).unwrap().rdev();
    let (major, minor) = (rustix::fs::major(number).to_string(), rustix::fs::minor(number).to_string());
    let stats = fs::read_to_string("/proc/diskstats").unwrap();
    let line = stats.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let fields = line.into_iter().find(|fields| fields[..2] == [&major[..], &minor[..]]).expect("the device");
    [5, 9].map(|field| 512.0 * fields[field].parse::<f64>().unwrap())
}

/// One iteration of direct access on a device: figures, meter and device agree.
fn agree(place: &str, device: &str, directory: &Path) {
    for (pattern, block, direction) in
        [("Write", "128KiB", 1), ("Read", "128KiB", 0), ("RandomWrite", "4KiB", 1), ("RandomRead", "4KiB", 0)]
    {
        let load = format!(
            "(name: \"r\", kernel: Disk(pattern: {pattern}, block: \"{block}\", depth: 4, size: \"256MiB\", ramp: \"0 s\", \
             time: \"3 s\"))"
        );
        let run: Run = parse("load", &load).unwrap();
        let mut kernel = kernel::build(&run, directory, &Resources::here(Path::new("/"))).unwrap();
        let description = kernel.describe();
        let meter = Meter::new("r".into(), description.meters.len(), description.lanes, Voice::silent());
        let bytes = description.meters.iter().position(|meter| meter.name == "mb_per_s").unwrap();
        kernel.prepare(&meter, &Stop::default()).unwrap();
        meter.next_iteration();
        let before = sectors(device)[direction];
        let measured = kernel.iterate(&meter, &Stop::default()).unwrap();
        let counted = sectors(device)[direction] - before;
        let own = meter.read(now(), false).done[bytes] as f64;
        let rate = measured.figures.iter().find(|figure| figure.name == "mb_per_s").unwrap().value;
        say(&format!(
            "rig counted: {place} {pattern}: meter {own} B, device {counted} B, figure {rate:.1} MB/s, device {:.1} MB/s",
            counted / 3e6
        ));
        assert!((own / counted - 1.0).abs() < APART, "{place} {pattern}: {own} B here, {counted} B on the device");
        let apart = (rate / (counted / 3e6) - 1.0).abs();
        assert!(apart < APART, "{place} {pattern}: {rate} MB/s here, {} on the device", counted / 3e6);
    }
}

#[test]
fn the_meter_and_the_device_count_the_same_on_a_loop_device() {
    let disk = match Bench::take().and_then(|bench| Ok((Disk::of(2048, 512, "rw")?, bench))) {
        Ok(disk) => disk,
        Err(why) => return program::skip("counted on a loop device", &why),
    };
    agree("loop", &disk.0.device.path, disk.0.path());
}

#[test]
fn the_meter_and_the_device_count_the_same_on_a_disk_in_memory() {
    let made = Bench::take().and_then(|bench| {
        let (room, zram) = (Room::new()?, Zram::new(2048)?);
        let mounted = Mounted::ext4(&room, &zram.path, "rw")?;
        Ok((bench, room, zram, mounted))
    });
    match made {
        // Taken down from the last to the first.
        Ok((_bench, _room, zram, mounted)) => agree("zram", &zram.path, &mounted.path),
        Err(why) => program::skip("counted on zram", &why),
    }
}
