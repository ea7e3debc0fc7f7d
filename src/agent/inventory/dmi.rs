//! The SMBIOS table as the firmware left it: structures of numbers, each followed by its texts.
//!
//! Firmware is careless: lengths lie, texts are missing, the table is cut. What cannot be followed ends the table; a field
//! beyond the end of its structure is absent.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::vocab::text::neutral;

/// Structures take less than 64 KiB in version 2; no machine is known to need a megabyte.
const MOST: u64 = 1 << 20;

/// Marks the end of the table.
const END: u8 = 127;

/// One structure of the table.
pub(super) struct Structure<'a> {
    pub(super) kind: u8,
    pub(super) handle: u16,
    fields: &'a [u8],
    texts: &'a [u8],
}

impl Structure<'_> {
    /// The byte at an offset; none in tables of an older version, whose structure is shorter.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.fields.get(at).copied()
    }

    /// Two bytes.
    pub(super) fn word(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.fields.get(at..)?.first_chunk().copied()?))
    }

    /// Four bytes.
    pub(super) fn double(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.fields.get(at..)?.first_chunk().copied()?))
    }

    /// The text whose number is at an offset, safe to print; none when it is empty or missing.
    pub(super) fn text(&self, at: usize) -> Option<String> {
        let number = usize::from(self.byte(at)?).checked_sub(1)?;
        let text = self.texts.split(|byte| *byte == 0).nth(number)?;
        let text = String::from_utf8_lossy(text);
        let text = text.trim();
        (!text.is_empty()).then(|| neutral(text))
    }
}

/// The table below `root`, cut to the length that its entry point tells.
pub(super) fn table(root: &Path) -> io::Result<Vec<u8>> {
    let directory = root.join("sys/firmware/dmi/tables");
    let mut table = bytes(&directory.join("DMI"))?;
    let length = bytes(&directory.join("smbios_entry_point")).ok().and_then(|entry| length(&entry));
    if let Some(length) = length.filter(|length| *length > 0) {
        table.truncate(length);
    }
    Ok(table)
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Bytes of the table by its entry point: of version 3, of version 2, or the even older one that stands in the latter.
fn length(entry: &[u8]) -> Option<usize> {
    let two = |at: usize| Some(usize::from(u16::from_le_bytes(entry.get(at..)?.first_chunk().copied()?)));
    if entry.starts_with(b"_SM3_") {
        let length = u32::from_le_bytes(entry.get(12..)?.first_chunk().copied()?);
        usize::try_from(length).ok()
    } else if entry.starts_with(b"_SM_") {
        two(22)
    } else if entry.starts_with(b"_DMI_") {
        two(6)
    } else {
        None
    }
}

/// The structures up to the end mark, or to where the table cannot be followed.
pub(super) fn structures(mut table: &[u8]) -> Vec<Structure<'_>> {
    let mut found = Vec::new();
    while let Some([kind, length, low, high]) = table.first_chunk().copied() {
        let (Some(fields), Some(rest)) = (table.get(..usize::from(length)), table.get(usize::from(length)..)) else {
            break;
        };
        // Shorter than its own head: what follows cannot be found.
        if length < 4 {
            break;
        }
        // Two zeros end the texts; where there are none the two zeros stand alone.
        let Some(end) = rest.windows(2).position(|pair| pair == [0, 0]) else {
            found.push(Structure { kind, handle: u16::from_le_bytes([low, high]), fields, texts: rest });
            break;
        };
        found.push(Structure { kind, handle: u16::from_le_bytes([low, high]), fields, texts: &rest[..end] });
        if kind == END {
            break;
        }
        table = &rest[end + 2..];
    }
    found
}

/// A table for tests: structures of these kinds with these fields behind the head, and these texts.
#[cfg(test)]
pub(super) fn made(structures: &[(u8, u16, &[u8], &[&str])]) -> Vec<u8> {
    let mut table = Vec::new();
    for (kind, handle, fields, texts) in structures {
        table.extend([*kind, u8::try_from(fields.len() + 4).unwrap()]);
        table.extend(handle.to_le_bytes());
        table.extend(*fields);
        for text in *texts {
            table.extend(text.as_bytes());
            table.push(0);
        }
        table.extend(if texts.is_empty() { &[0, 0][..] } else { &[0] });
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn structures_have_numbers_and_texts() {
        let table = made(&[
            (1, 7, &[1, 2, 3, 4, 5], &["Maker", " R1\u{1b} "]),
            (2, 8, &[], &[]),
            (127, 9, &[], &[]),
            (1, 1, &[], &[]),
        ]);
        let found = structures(&table);
        assert_eq!(found.iter().map(|s| (s.kind, s.handle)).collect::<Vec<_>>(), [(1, 7), (2, 8), (127, 9)]);
        let first = &found[0];
        assert_eq!((first.byte(4), first.word(5), first.double(5)), (Some(1), Some(0x0302), Some(0x0504_0302)));
        assert_eq!((first.byte(9), first.word(8), first.double(6)), (None, None, None));
        assert_eq!(
            (first.text(4).as_deref(), first.text(5).as_deref(), first.text(6)),
            (Some("Maker"), Some("R1?"), None)
        );
    }

    #[test]
    fn the_entry_point_tells_the_length() {
        let table = made(&[(1, 1, &[0; 20], &[]), (2, 2, &[], &[])]);
        let first = 26_u8;
        for entry in [
            [&b"_SM3_"[..], &[0; 7], &[first, 0, 0, 0]].concat(),
            [&b"_SM_"[..], &[0; 18], &[first, 0]].concat(),
            [&b"_DMI_"[..], &[0; 1], &[first, 0]].concat(),
        ] {
            let root = fake::root(&[]);
            fake::put(root.path(), "sys/firmware/dmi/tables/DMI", &table);
            fake::put(root.path(), "sys/firmware/dmi/tables/smbios_entry_point", &entry);
            let read = super::table(root.path()).unwrap();
            assert_eq!(structures(&read).len(), 1);
        }
        assert_eq!((length(b"_SM3_"), length(b""), length(b"_SM_\0")), (None, None, None));
    }

    #[test]
    fn no_cut_and_no_damage_stops_the_reader() {
        let table = made(&[(17, 1, &[1, 2, 3, 4, 5, 6], &["a", "b"]), (16, 2, &[9; 9], &[]), (127, 3, &[], &[])]);
        let walk = |table: &[u8]| {
            for structure in structures(table) {
                for at in 0..12 {
                    let _ = (structure.byte(at), structure.word(at), structure.double(at), structure.text(at));
                }
            }
        };
        for end in 0..table.len() {
            walk(&table[..end]);
        }
        for at in 0..table.len() {
            for byte in [0, 1, 3, 4, 127, 128, 255] {
                let mut damaged = table.clone();
                damaged[at] = byte;
                walk(&damaged);
            }
        }
    }
}
