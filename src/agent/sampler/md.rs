//! Software RAID arrays: members that are missing and work in the background, from `/proc/mdstat`
//! (`Documentation/admin-guide/md.rst`).

use std::io;
use std::path::Path;

use super::{Reading, Sink};
use crate::agent::host::Source;
use crate::agent::mdstat::arrays;
use crate::vocab::event::SampleKind::Gauge;
use crate::vocab::unit::Unit;

pub(super) struct Sampler {
    file: Source,
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        Self { file: Source::new(root, "proc/mdstat") }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "md"
    }

    fn every(&self) -> u32 {
        2
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let Some(lines) = self.file.read()? else { return Ok(()) };
        for array in arrays(lines) {
            let mut readings: Vec<Reading> = vec![("failed", Gauge, Unit::Count, f64::from(array.failed))];
            if let Some((all, working)) = array.members {
                readings.push(("degraded", Gauge, Unit::Count, f64::from(all.saturating_sub(working))));
            }
            // An array that is at rest is in step.
            let percent = array.action.map_or(100.0, |(_, percent)| percent);
            readings.push(("sync_percent", Gauge, Unit::Percent, percent));
            into.put(&array.name, &readings);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const STAT: &str = "Personalities : [raid1]\nmd0 : active raid1 sdb1[1](F) sda1[0]\n      9 blocks [2/1] [U_]\n\
                        \x20     [=>...]  recovery =  8.5% (1/9) finish=1.0min\nmd1 : active raid0 sdc[0]\n      9 blocks\n\
                        unused devices: <none>\n";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn missing_members_and_progress_are_told() {
        let root = fake::root(&[("proc/mdstat", STAT)]);
        let expected =
            ["md0 failed 1", "md0 degraded 1", "md0 sync_percent 8.5", "md1 failed 0", "md1 sync_percent 100"];
        assert_eq!(read(root.path()), expected);
    }

    #[test]
    fn cut_damaged_and_missing_files_give_nothing_wrong() {
        fake::mangle("proc/mdstat", STAT, read);
        assert_eq!(read(Path::new("/proc/self/no-such-root")), Vec::<String>::new());
    }
}
