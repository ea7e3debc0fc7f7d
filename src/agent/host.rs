//! Files of the host: small texts that are read once, and line files that are read again and again into the same buffer.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::vocab::text::neutral;

/// Most bytes taken of one file, far above what any of them holds, so that a root with a device in it ends as well.
const MOST: u64 = 16 << 20;

/// Most bytes taken of a file that is read line by line: 4096 CPUs with 2000 interrupts each print 90 MB.
const MOST_LINES: u64 = 256 << 20;

/// The bytes of a file as text, what is no UTF-8 replaced; at most `most` bytes, for files that are dear to read to their end.
pub(super) fn beginning(path: &Path, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The whole file as text, what is no UTF-8 replaced.
pub(super) fn text(path: &Path) -> io::Result<String> {
    beginning(path, MOST)
}

/// The first line of a file without the blanks around it, safe to print; device trees end theirs with a NUL. Nothing for an
/// empty line.
pub(super) fn word(path: &Path) -> io::Result<Option<String>> {
    let text = text(path)?;
    let line = text.lines().next().unwrap_or_default();
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    Ok((!line.is_empty()).then(|| neutral(line)))
}

/// [`word`], where it does not matter why there is none.
pub(super) fn value(path: &Path) -> Option<String> {
    word(path).ok().flatten()
}

/// The choice in brackets of a file such as `[none] mq-deadline kyber`; the whole line when nothing is in brackets.
pub(super) fn chosen(path: &Path) -> Option<String> {
    let line = value(path)?;
    let chosen = line.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(chosen, _)| chosen.to_owned());
    Some(chosen.unwrap_or(line))
}

/// The names in a directory, in order; none when it cannot be read.
pub(super) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// A file of sysfs that holds one number; nothing when it is absent, refused or holds anything else.
pub(super) fn number(path: &Path) -> Option<i64> {
    // One read into a small buffer: there are hundreds of these files, and each call counts.
    let mut buffer = [0; 64];
    let read = File::open(path).and_then(|mut file| file.read(&mut buffer)).ok()?;
    str::from_utf8(buffer.get(..read)?).ok()?.trim().parse().ok()
}

/// Whether the kernel counts in machine words of 32 bits.
pub(super) fn narrow(root: &Path) -> bool {
    // The file is newer than Linux 6.0; `uname` may be told to lie (`setarch`).
    let machine = value(&root.join("proc/sys/kernel/arch"))
        .unwrap_or_else(|| rustix::system::uname().machine().to_string_lossy().into_owned());
    let machine = machine.as_str();
    let of_the_nineties = |m: &str| m.len() == 4 && m.starts_with('i') && m.ends_with("86");
    of_the_nineties(machine)
        || ["armv5", "armv6", "armv7"].iter().any(|arm| machine.starts_with(arm))
        || ["arm", "mips", "ppc", "riscv32"].contains(&machine)
}

/// Things that a directory search found; searched anew now and then, as things come and go.
#[derive(Debug)]
pub(super) struct Census<T> {
    found: Vec<T>,
    asked: u32,
}

/// Readings that may go by before a new search.
const CENSUS_EVERY: u32 = 16;

impl<T> Census<T> {
    pub(super) fn new() -> Self {
        Self { found: Vec::new(), asked: 0 }
    }

    /// What there is, as the last search found it.
    pub(super) fn of(&mut self, search: impl FnOnce() -> Vec<T>) -> &[T] {
        if self.asked.is_multiple_of(CENSUS_EVERY) {
            self.found = search();
        }
        self.asked = self.asked.wrapping_add(1);
        &self.found
    }
}

/// Speed of a link in Mb/s: the driver's −1, 0, 4294967295 and refusals are no speed.
pub(super) fn link_speed(interface: &Path) -> Option<u32> {
    value(&interface.join("speed"))?.parse().ok().filter(|speed| (1..=10_000_000).contains(speed))
}

/// A file that is read again and again.
pub(super) struct Source {
    path: PathBuf,
    buffer: Vec<u8>,
    torn: bool,
}

impl Source {
    pub(super) fn new(root: &Path, path: &str) -> Self {
        Self { path: root.join(path), buffer: Vec::new(), torn: false }
    }

    /// Reads the file; nothing when there is no such file. A last line without its end was cut short: a number in it may lack
    /// digits, so it is left out, as is a line that is no UTF-8.
    pub(super) fn read(&mut self) -> io::Result<Option<impl Iterator<Item = &str>>> {
        self.buffer.clear();
        self.torn = false;
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(error),
        };
        file.take(MOST).read_to_end(&mut self.buffer)?;
        let whole = self.buffer.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        self.torn = self.buffer.last().is_some_and(|last| *last != b'\n');
        let lines = self.buffer.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
        Ok(Some(lines.filter_map(|line| str::from_utf8(line).ok())))
    }

    /// Whether the last reading ended in the middle of a line.
    pub(super) fn torn(&self) -> bool {
        self.torn
    }

    /// Hands the lines out one by one as bytes, for files of many megabytes that no buffer should hold. Says whether there was such
    /// a file and it was whole; a last line without its end is left out.
    pub(super) fn each_line(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<bool> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(false),
            Err(error) => return Err(error),
        };
        let mut lines = BufReader::with_capacity(1 << 16, file).take(MOST_LINES);
        loop {
            self.buffer.clear();
            if lines.read_until(b'\n', &mut self.buffer)? == 0 {
                return Ok(true);
            }
            match self.buffer.strip_suffix(b"\n") {
                Some(line) => take(line),
                None => return Ok(false),
            }
        }
    }
}

/// The first columns of a line as numbers, and how many were found before the end or the first word that is no number. A number
/// below zero, as a race in the kernel may print, takes its place as NaN.
pub(super) fn columns<const N: usize>(text: &str) -> ([f64; N], usize) {
    let mut columns = [f64::NAN; N];
    let mut found = 0;
    for (column, word) in columns.iter_mut().zip(text.split_ascii_whitespace()) {
        match word.parse::<u64>() {
            Ok(number) => *column = number as f64,
            Err(_) if word.parse::<i64>().is_ok() => {}
            Err(_) => break,
        }
        found += 1;
    }
    (columns, found)
}

/// The test machines of this room: a directory with the files of a host, written by the test.
#[cfg(test)]
pub(super) mod fake {
    use std::path::Path;

    use crate::agent::sampler::{Sampler, Sink};

    /// A root that holds these files.
    pub(crate) fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            put(root.path(), path, text);
        }
        root
    }

    pub(crate) fn put(root: &Path, path: &str, text: impl AsRef<[u8]>) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Every reading of a sampler as `device field value`.
    pub(crate) fn readings(sampler: &mut dyn Sampler) -> Vec<String> {
        let mut sink = Sink::default();
        sink.turn_to(sampler.source(), None);
        sampler.sample(&mut sink).unwrap();
        let (known, got) = sink.take();
        let name = |id: u32| known.iter().find(|d| d.id == id).unwrap();
        got.iter().map(|s| format!("{} {} {}", name(s.0).device, name(s.0).field, s.1)).collect()
    }

    /// Feeds a reader every beginning of a file, the file with a byte damaged at each place, and its lines in other orders: nothing
    /// may panic, and no cut may make a reading that the whole file does not have.
    pub(crate) fn cut_anywhere(path: &str, text: &str, mut read: impl FnMut(&Path) -> Vec<String>) {
        let root = root(&[(path, text)]);
        let whole = read(root.path());
        for end in 0..text.len() {
            put(root.path(), path, &text.as_bytes()[..end]);
            let cut = read(root.path());
            assert!(cut.iter().all(|r| whole.contains(r)), "{end}: {cut:?}");
        }
        mangle(path, text, read);
    }

    /// As [`cut_anywhere`], for readers whose values may depend on what the file does not hold: nothing may panic.
    pub(crate) fn mangle(path: &str, text: &str, mut read: impl FnMut(&Path) -> Vec<String>) {
        let root = root(&[(path, text)]);
        let mut feed = |bytes: &[u8]| {
            put(root.path(), path, bytes);
            read(root.path());
        };
        (0..text.len()).for_each(|end| feed(&text.as_bytes()[..end]));
        let noise = [0, b' ', b'\n', b'-', b':', 0xff, b'9', b'f', b'='];
        for (at, byte) in (0..text.len()).zip(noise.into_iter().cycle()) {
            for damage in [byte, text.as_bytes()[at] ^ (1 << (at % 8))] {
                let mut damaged = text.as_bytes().to_vec();
                damaged[at] = damage;
                feed(&damaged);
            }
        }
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for step in 1..lines.len().min(32) {
            let (tail, head) = (lines[..step].concat(), lines[step..].concat());
            feed(format!("{head}{tail}").as_bytes());
            feed(format!("{text}{tail}").as_bytes());
            // Every other line, and every line with the end of another.
            feed(lines.iter().step_by(step + 1).copied().collect::<String>().as_bytes());
            let halves = (0..lines.len()).flat_map(|n| {
                let (one, other) = (lines[n], lines[(n + step) % lines.len()]);
                [&one[..one.len() / 2], &other[other.len() / 2..]]
            });
            let mixed: String = halves.collect();
            feed(mixed.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bracketed_choice_is_taken() {
        let root =
            fake::root(&[("a", "always [madvise] never\n"), ("b", "none\n"), ("c", "\n"), ("d", "x\u{1b}[2J\0")]);
        let read = |name: &str| chosen(&root.path().join(name));
        assert_eq!(read("a").as_deref(), Some("madvise"));
        assert_eq!(read("b").as_deref(), Some("none"));
        assert_eq!((read("c"), read("e")), (None, None));
        assert_eq!(value(&root.path().join("d")).as_deref(), Some("x?[2J"));
    }

    #[test]
    fn a_speed_the_driver_does_not_know_is_none() {
        for (text, speed) in
            [("-1\n", None), ("0\n", None), ("4294967295\n", None), ("", None), ("25000\n", Some(25_000))]
        {
            let root = fake::root(&[("speed", text)]);
            assert_eq!(link_speed(root.path()), speed, "{text}");
        }
        assert_eq!(link_speed(Path::new("/proc/self/no-such")), None);
    }

    #[test]
    fn a_file_with_one_number_is_read_and_any_other_is_not() {
        for (text, number) in [("-1\n", Some(-1)), (" 42 \n", Some(42)), ("", None), ("4x\n", None), ("\u{e4}", None)] {
            let root = fake::root(&[("n", text)]);
            assert_eq!(super::number(&root.path().join("n")), number, "{text}");
        }
        assert_eq!(super::number(Path::new("/proc/self/no-such")), None);
    }

    #[test]
    fn machines_of_32_bits_are_known_by_name() {
        for (machine, expected) in [
            ("i686", true),
            ("armv7l", true),
            ("mips", true),
            ("ppc", true),
            ("mips64", false),
            ("ppc64le", false),
            ("armv8l", false),
            ("aarch64", false),
            ("x86_64", false),
        ] {
            let root = fake::root(&[("proc/sys/kernel/arch", machine)]);
            assert_eq!(narrow(root.path()), expected, "{machine}");
        }
    }

    #[test]
    fn lines_are_handed_out_whole_or_not_at_all() {
        let root = fake::root(&[("whole", "a\n\nb\n"), ("torn", "a\nb")]);
        let read = |name: &str| {
            let mut got = Vec::new();
            let whole = Source::new(root.path(), name).each_line(|line| got.push(line.to_vec())).unwrap();
            (whole, got)
        };
        assert_eq!(read("whole"), (true, vec![b"a".to_vec(), vec![], b"b".to_vec()]));
        assert_eq!(read("torn"), (false, vec![b"a".to_vec()]));
        assert_eq!(read("none"), (false, vec![]));
    }

    #[test]
    fn columns_end_at_the_first_word_that_is_no_number() {
        assert_eq!(columns::<4>(" 1  2 x 4").1, 2);
        let (values, found) = columns::<3>("7 -1 18446744073709551615 9");
        assert_eq!((values[0], values[1].is_nan(), values[2], found), (7.0, true, 18_446_744_073_709_551_615.0, 3));
    }
}
