//! Two captures of a made-up machine through the real samplers, held against what `mpstat -P ALL` and `iostat -x -m` print of them
//! by their manuals' formulas, worked out by hand.

use std::path::Path;

use shakedown::agent::sampler::{Sampler, Sink, all};
use shakedown::analysis::state::{Host, State};
use shakedown::vocab::event::{Event, Record};
use shakedown::vocab::moment::Moment;

/// Reads a root with the real samplers into a fold.
pub(crate) struct Reading {
    samplers: Vec<Box<dyn Sampler>>,
    sink: Sink,
    state: State,
}

impl Reading {
    pub(crate) fn new(root: &Path) -> Self {
        Self { samplers: all(root), sink: Sink::default(), state: State::default() }
    }

    pub(crate) fn read(&mut self, at: Moment) {
        for sampler in &mut self.samplers {
            self.sink.turn_to(sampler.source(), None);
            let _ = sampler.sample(&mut self.sink);
        }
        let (described, values) = self.sink.take();
        for event in [Event::Described(described), Event::Sampled { of: vec![], values }] {
            self.state.apply(&Record { seq: 1, at, node: "n".into(), event });
        }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.state.nodes[&"n".into()].host
    }

    /// The latest value of a row.
    pub(crate) fn latest(&self, device: &str, row: &str) -> Option<f64> {
        self.host().latest(device, row)
    }
}

const BEFORE: [(&str, &str); 3] = [
    (
        "proc/stat",
        "cpu  10000 200 3000 90000 800 0 100 400 500 20\n\
         cpu0 5000 100 1500 45000 400 0 50 200 500 20\n\
         cpu1 5000 100 1500 45000 400 0 50 200 0 0\nintr 1 2\n",
    ),
    (
        "proc/diskstats",
        "   8       0 sda 1000 50 80000 4000 2000 300 512000 60000 2 30000 64000 0 0 0 0 7 8\n\
         \x20  8       1 sda1 990 50 79000 3900 2000 300 512000 60000 0 30000 63900\n\
         \x20253       0 dm-0 1000 0 80000 4100 2300 0 512000 61000 0 30100 65100\n\
         \x20259       0 nvme0n1 500 0 40000 100 0 0 0 0 0 90 100\n",
    ),
    (
        "proc/net/dev",
        "Inter-|   Receive                                                |  Transmit\n \
         face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n\
         \x20 eth0:1000000 1000 0 5 0 0 0 0 2000000 900 0 0 0 0 0 0\n",
    ),
];

/// Two seconds later: 400 ticks on two CPUs.
const AFTER: [(&str, &str); 3] = [
    (
        "proc/stat",
        "cpu  10100 200 3040 90170 795 0 110 485 540 20\n\
         cpu0 5100 100 1520 45010 395 0 55 265 540 20\n\
         cpu1 5000 100 1520 45160 400 0 55 220 0 0\nintr 1 2\n",
    ),
    (
        "proc/diskstats",
        "   8       0 sda 1100 50 85120 4500 2400 320 928000 84000 32 32080 126000 0 0 0 0 7 8\n\
         \x20  8       1 sda1 1090 50 84120 4400 2400 320 928000 84000 0 32080 125900\n\
         \x20253       0 dm-0 1100 0 85120 4600 2720 0 928000 85000 0 32180 127100\n\
         \x20259       0 nvme0n1 500 0 40000 100 0 0 0 0 0 90 100\n",
    ),
    (
        "proc/net/dev",
        "Inter-|   Receive                                                |  Transmit\n \
         face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n\
         \x20 eth0:201000000 150000 0 25 0 0 0 0 6000000 3900 0 0 0 0 0 0\n",
    ),
];

fn put(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn near(shown: Option<f64>, expected: f64, what: &str) {
    let shown = shown.unwrap_or_else(|| panic!("{what} is not there"));
    assert!((shown - expected).abs() <= 0.02 * expected.abs() + 1e-9, "{what}: {shown} and not {expected}");
}

#[test]
fn two_captures_give_the_figures_of_mpstat_and_iostat() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), &BEFORE);
    let mut reading = Reading::new(root.path());
    reading.read(Moment(5_000_000));
    put(root.path(), &AFTER);
    reading.read(Moment(7_000_000));
    // mpstat: user 100, system 40, softirq 10, idle 170, steal 85, iowait fell by 5 and took nothing: 405 ticks.
    let cpu = [
        ("busy", 100.0 * 150.0 / 405.0),
        ("iowait", 0.0),
        ("steal", 100.0 * 85.0 / 405.0),
        ("system", 100.0 * 50.0 / 405.0),
        ("user", 100.0 * 60.0 / 405.0),
        ("guest", 100.0 * 40.0 / 405.0),
        ("idle", 100.0 * 170.0 / 405.0),
    ];
    for (row, expected) in cpu {
        near(reading.latest("cpu/", row), expected, row);
    }
    near(reading.latest("cpu/0", "busy"), 100.0 * 125.0 / 200.0, "cpu0");
    near(reading.latest("cpu/1", "busy"), 100.0 * 25.0 / 205.0, "cpu1");
    // iostat -x over 2 s: 100 reads of 5120 sectors in 500 ms, 400 writes of 416000 sectors in 24000 ms, 2080 ms busy, queue 62000 ms.
    let disk = [
        ("r/s", 50.0),
        ("w/s", 200.0),
        ("read", 5_120.0 * 512.0 / 2e6),
        ("write", 416_000.0 * 512.0 / 2e6),
        ("r_await", 5.0),
        ("w_await", 60.0),
        ("await", 24_500.0 / 500.0),
        ("queue", 31.0),
        ("util", 100.0),
        ("rareq-sz", 51.2 * 512.0),
        ("wareq-sz", 1_040.0 * 512.0),
    ];
    for (row, expected) in disk {
        near(reading.latest("disk/sda", row), expected, row);
    }
    for row in ["r/s", "w/s", "read", "write", "queue", "w_await"] {
        near(reading.latest("disk/*", row), reading.latest("disk/sda", row).unwrap(), "the only leaf that moved");
    }
    assert_eq!(reading.host().total_of("disk"), ["nvme0n1", "sda"]);
    near(reading.latest("net/eth0", "rx"), 100.0, "rx");
    near(reading.latest("net/eth0", "tx"), 2.0, "tx");
    near(reading.latest("net/eth0", "drops"), 10.0, "drops");
}
