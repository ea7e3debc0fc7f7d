//! Files of the host: small texts that are read once, and line files that are read again and again into the same buffer.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::vocab::text::neutral;

/// Most bytes taken of one file, far above what any of them holds, so that a root with a device in it ends as well.
const MOST: u64 = 16 << 20;

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

/// Speed of a link in Mb/s: the driver's −1, 0, 4294967295 and refusals are no speed.
pub(super) fn link_speed(interface: &Path) -> Option<u32> {
    value(&interface.join("speed"))?.parse().ok().filter(|speed| (1..=10_000_000).contains(speed))
}

/// A file that is read again and again.
pub(super) struct Source {
    path: PathBuf,
    buffer: Vec<u8>,
}

impl Source {
    pub(super) fn new(root: &Path, path: &str) -> Self {
        Self { path: root.join(path), buffer: Vec::new() }
    }

    /// Reads the file; nothing when there is no such file. A last line without its end was cut short: a number in it may lack
    /// digits, so it is left out, as is a line that is no UTF-8.
    pub(super) fn read(&mut self) -> io::Result<Option<impl Iterator<Item = &str>>> {
        self.buffer.clear();
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(error),
        };
        file.take(MOST).read_to_end(&mut self.buffer)?;
        let whole = self.buffer.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let lines = self.buffer.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
        Ok(Some(lines.filter_map(|line| str::from_utf8(line).ok())))
    }
}

/// The first columns of a line as numbers, and how many were found before the end or the first word that is no number. A number
/// below zero, as a race in the kernel may print, takes its place as NaN.
pub(super) fn columns<const N: usize>(text: &str) -> ([f64; N], usize) {
    let mut columns = [f64::NAN; N];
    let mut found = 0;
    for (column, word) in columns.iter_mut().zip(text.split_ascii_whitespace()) {
        match (word.parse::<u64>(), word.parse::<i64>()) {
            (Ok(number), _) => *column = number as f64,
            (Err(_), Ok(_)) => {}
            (Err(_), Err(_)) => break,
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

    /// Feeds every beginning of a file, and the file with a byte damaged at each place, to a reader: nothing may panic, and no cut may make
    /// a reading that the whole file does not have.
    pub(crate) fn cut_anywhere(path: &str, text: &str, mut read: impl FnMut(&Path) -> Vec<String>) {
        let root = root(&[(path, text)]);
        let whole = read(root.path());
        for end in 0..text.len() {
            put(root.path(), path, &text.as_bytes()[..end]);
            let cut = read(root.path());
            assert!(cut.iter().all(|r| whole.contains(r)), "{end}: {cut:?}");
        }
        let noise = [0, b' ', b'\n', b'-', b':', 0xff, b'9'];
        for (at, byte) in (0..text.len()).zip(noise.into_iter().cycle()) {
            let mut damaged = text.as_bytes().to_vec();
            damaged[at] = byte;
            put(root.path(), path, &damaged);
            read(root.path());
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
    fn columns_end_at_the_first_word_that_is_no_number() {
        assert_eq!(columns::<4>(" 1  2 x 4").1, 2);
        let (values, found) = columns::<3>("7 -1 18446744073709551615 9");
        assert_eq!((values[0], values[1].is_nan(), values[2], found), (7.0, true, 18_446_744_073_709_551_615.0, 3));
    }
}
