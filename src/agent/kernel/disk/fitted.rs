//! A disk load as this node and this target can do it: what a plan may leave to the node is settled here, before any file is made.

use std::collections::BTreeMap;
use std::path::Path;

use rustix::fs::Advice;
use rustix::process::{Resource, getrlimit};

use super::file::{Place, Target};
use super::resident::resident;
use crate::agent::kernel::{self, Description, Kernel, KernelError, Measured, Stop, Takes};
use crate::agent::meter::Meter;
use crate::agent::raw;
use crate::agent::resources::Resources;
use crate::vocab::plan::{Disk, Pattern, Run};
use crate::vocab::size::ByteSize;

/// The kernel of a disk load for the target of a run.
pub(in crate::agent::kernel) fn build(
    load: &Disk,
    run: &Run,
    target: &Path,
    node: &Resources,
) -> Result<Box<dyn Kernel>, KernelError> {
    let place = Place::of(run, target);
    let (mut load, mut labels) = (load.clone(), BTreeMap::new());
    if let Some((_, of)) = load.size.times() {
        return Err(KernelError::Unavailable(format!("the size {} waits for the node to know its {of:?}", load.size)));
    }
    if run.is_raw() {
        labels.insert("target_is".to_owned(), fit_to_device(&mut load, run, target)?);
    } else {
        may_have(load.size.0)?;
    }
    if load.or_buffered && load.is_direct() && Target::refuses_direct(place, node)? {
        load.direct = Some(false);
        let why =
            format!("buffered, as O_DIRECT is refused in {}; no baseline of direct access compares", target.display());
        labels.insert("fallback".to_owned(), why);
    }
    // What was asked for has been decided.
    load.or_buffered = false;
    let inner = super::Kernel::new(&load, run.seed, place, node)?;
    Ok(Box::new(Fitted { inner, labels, raw: run.is_raw(), readonly: run.readonly, page: node.page, told: false }))
}

/// Cuts a load to the size of a device that is its target, and refuses one that does what the plan does not allow there.
fn fit_to_device(load: &mut Disk, run: &Run, target: &Path) -> Result<String, KernelError> {
    let unavailable = |why: String| KernelError::Unavailable(format!("{}: {why}", target.display()));
    if run.readonly && load.pattern.writes() {
        let why = "it is read only in this session; --destroy-data DEVICE is what writes over a device";
        return Err(unavailable(why.to_owned()));
    }
    if load.pattern == Pattern::Copy || load.jobs > 1 {
        return Err(unavailable("a device is one file; copies and several jobs need a directory".to_owned()));
    }
    let device = raw::find(target, Path::new("/")).map_err(unavailable)?;
    if device.size < load.block.0 {
        return Err(unavailable(format!("{} B are less than a block", device.size)));
    }
    if load.size.0 > device.size {
        load.size = ByteSize(device.size / load.block.0 * load.block.0).into();
    }
    Ok(if run.readonly { "a device, read and never written" } else { "a device, its data destroyed" }.to_owned())
}

/// fio's command line for a device in place of a file in a directory.
fn on_device(command: &str, readonly: bool) -> String {
    let command = command.replace(" --filename=shakedown.0.fio", "").replace("--directory=", "--filename=");
    let command = command.replace(" --unlink=1", "");
    if readonly { format!("{command} --readonly") } else { command }
}

/// A file beyond the limit of the process would be cut off by a signal; it is refused before it is begun.
fn may_have(size: u64) -> Result<(), KernelError> {
    match getrlimit(Resource::Fsize).current {
        Some(most) if most < size => Err(KernelError::Unavailable(format!(
            "files may have {} here and the run needs {}: raise the limit (ulimit -f, RLIMIT_FSIZE), or give a smaller size",
            ByteSize(most),
            ByteSize(size)
        ))),
        _ => Ok(()),
    }
}

/// The kernel with what was settled for it.
struct Fitted {
    inner: super::Kernel,
    labels: BTreeMap<String, String>,
    raw: bool,
    readonly: bool,
    page: usize,
    /// It was said already that the page cache keeps what is read.
    told: bool,
}

/// Percent of a file that may stay in the page cache unsaid: a few pages are always under way.
const STAYS: f64 = 2.0;

impl Fitted {
    /// Drops the files that are read from the page cache, looks whether they are gone, and says so when they are not.
    fn says_what_stays(&self, meter: &Meter) -> bool {
        let read = self.inner.files.iter().map(|files| files.source.as_ref().unwrap_or(&files.target));
        let (mut stays, mut all) = (0, 0);
        for target in read {
            let _ = rustix::fs::fadvise(&target.file, 0, None, Advice::DontNeed);
            stays += resident(&target.file, self.inner.size, self.page).unwrap_or(0);
            all += self.inner.size;
        }
        let share = 100.0 * stays as f64 / all.max(1) as f64;
        if share <= STAYS {
            return false;
        }
        meter.note(format!(
            "{share:.0} % of what is read stays in the page cache in spite of the advice to drop it: the figures may be those of memory"
        ));
        true
    }
}

impl kernel::Kernel for Fitted {
    fn takes(&self) -> Takes {
        let mut takes = self.inner.takes();
        // A device gives no space of a file system, and what is only read is not laid out.
        if self.raw {
            takes.disk = 0;
        }
        if self.readonly {
            (takes.laid_out, takes.writes) = (0, 0);
        }
        takes
    }

    fn describe(&self) -> Description {
        let mut description = self.inner.describe();
        description.labels.extend(self.labels.clone());
        if self.raw {
            description.command = on_device(&description.command, self.readonly);
        }
        description
    }

    fn prepare(&mut self, meter: &Meter, stop: &Stop) -> Result<(), KernelError> {
        if self.readonly { Ok(()) } else { self.inner.prepare(meter, stop) }
    }

    fn iterate(&mut self, meter: &Meter, stop: &Stop) -> Result<Measured, KernelError> {
        if !self.told && !self.inner.load.is_direct() && self.inner.load.pattern.reads() {
            self.told = self.says_what_stays(meter);
        }
        self.inner.iterate(meter, stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::moment::Span;
    use crate::vocab::plan::Load;

    fn run(direct: bool, size: u64) -> Run {
        let load = Disk::new(Pattern::RandomRead, ByteSize(4096), ByteSize(size), Span::milliseconds(50));
        Run::new("r", Load::Disk(Disk { direct: Some(direct), or_buffered: direct, ..load }))
    }

    fn built(run: &Run, target: &Path) -> Result<Box<dyn Kernel>, KernelError> {
        let Load::Disk(load) = &run.kernel else { panic!("{run:?}") };
        build(load, run, target, &Resources::faked())
    }

    #[test]
    fn the_command_for_a_device_names_the_device() {
        let file = "fio --rw=read --group_reporting=1 --unlink=1 --ioengine=psync --directory=/dev/x --filename=shakedown.0.fio";
        let expected = "fio --rw=read --group_reporting=1 --ioengine=psync --filename=/dev/x --readonly";
        assert_eq!(on_device(file, true), expected);
    }

    #[test]
    fn what_the_target_is_decides_what_can_be_done() {
        let keep = tempfile::tempdir().unwrap();
        let why = |run: &Run, path: &Path| built(run, path).map(|_| ()).unwrap_err().to_string();
        let readonly = Run { readonly: true, ..run(false, 1 << 20) };
        assert!(
            why(&readonly, keep.path()).contains("a directory, and no block device"),
            "{}",
            why(&readonly, keep.path())
        );
        let mut writes = readonly.clone();
        if let Load::Disk(load) = &mut writes.kernel {
            load.pattern = Pattern::Write;
        }
        assert!(why(&writes, Path::new("/dev/null")).contains("it is read only in this session"));
        let destroys = Run { destroy: Some("/dev/null".to_owned()), ..run(false, 1 << 20) };
        assert!(why(&destroys, Path::new("/dev/null")).contains("a character device, and no block device"));
        let unsettled = Run::new(
            "r",
            Load::Disk(Disk {
                size: "4xCache".parse().unwrap(),
                ..match run(false, 1).kernel {
                    Load::Disk(load) => load,
                    _ => panic!(),
                }
            }),
        );
        assert!(why(&unsettled, keep.path()).contains("4xCache waits"));
    }

    #[test]
    fn a_load_falls_back_only_where_direct_access_is_refused() {
        let keep = tempfile::tempdir_in("/var/tmp").unwrap();
        let kernel = built(&run(true, 1 << 20), keep.path()).unwrap();
        let labels = kernel.describe().labels;
        assert_eq!(labels.contains_key("fallback"), labels["path"] == "buffered", "{labels:?}");
        assert!(!built(&run(false, 1 << 20), keep.path()).unwrap().describe().labels.contains_key("fallback"));
    }
}
