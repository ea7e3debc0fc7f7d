//! Time lost waiting for CPU, memory and I/O, from `/proc/pressure` (`Documentation/accounting/psi.rst`).

use std::io;
use std::path::Path;

use super::Sink;
use crate::agent::host::Source;
use crate::vocab::event::SampleKind::Counter;
use crate::vocab::unit::Unit;

struct Resource {
    name: &'static str,
    file: Source,
    /// Not there, or refused as on a kernel that booted with `psi=0`: neither changes before the next boot.
    refused: bool,
}

pub(super) struct Sampler {
    resources: [Resource; 3],
}

impl Sampler {
    pub(super) fn new(root: &Path) -> Self {
        let resources = [("cpu", "proc/pressure/cpu"), ("memory", "proc/pressure/memory"), ("io", "proc/pressure/io")];
        Self {
            resources: resources.map(|(name, path)| Resource { name, file: Source::new(root, path), refused: false }),
        }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        "pressure"
    }

    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        for resource in self.resources.iter_mut().filter(|r| !r.refused) {
            if !into.wants(resource.name) {
                continue;
            }
            let Ok(Some(lines)) = resource.file.read() else {
                resource.refused = true;
                continue;
            };
            for line in lines {
                let mut words = line.split_ascii_whitespace();
                let field = match words.next() {
                    Some("some") => "some_us",
                    Some("full") => "full_us",
                    _ => continue,
                };
                let total = words.find_map(|word| word.strip_prefix("total=")).and_then(|n| n.parse::<u64>().ok());
                if let Some(total) = total {
                    into.put(resource.name, &[(field, Counter, Unit::Microseconds, total as f64)]);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const IO: &str = "some avg10=0.18 avg60=0.34 avg300=0.10 total=159886802\n\
                      full avg10=0.18 avg60=0.34 avg300=0.10 total=159229614\n";

    fn read(root: &Path) -> Vec<String> {
        fake::readings(&mut Sampler::new(root))
    }

    #[test]
    fn totals_are_read_and_a_missing_line_is_no_reading() {
        let only_some = "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        let root =
            fake::root(&[("proc/pressure/io", IO), ("proc/pressure/cpu", only_some), ("proc/pressure/memory", "")]);
        assert_eq!(read(root.path()), ["cpu some_us 7", "io some_us 159886802", "io full_us 159229614"]);
    }

    #[test]
    fn a_refusal_is_no_error_and_is_remembered() {
        // A directory opens and refuses to be read, as the files do under `psi=0`.
        let root = fake::root(&[("proc/pressure/io/x", ""), ("proc/pressure/memory", IO)]);
        let mut sampler = Sampler::new(root.path());
        assert_eq!(fake::readings(&mut sampler).len(), 2);
        std::fs::remove_dir_all(root.path().join("proc/pressure/io")).unwrap();
        fake::put(root.path(), "proc/pressure/io", IO);
        assert_eq!(fake::readings(&mut sampler).len(), 2);
        assert_eq!(read(root.path()).len(), 4);
    }

    #[test]
    fn cut_and_damaged_files_give_nothing_wrong() {
        fake::cut_anywhere("proc/pressure/io", IO, read);
        fake::cut_anywhere("proc/pressure/cpu", "some\nfull\nsome total\n", read);
    }
}
