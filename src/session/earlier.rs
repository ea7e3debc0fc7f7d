//! A session file that is read as a whole, to be amended: what it holds, and what shows later that it is that very file.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::reader::{Item, Reader};
use crate::vocab::event::Record;
use crate::vocab::line::LineError;

/// What a file came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Its length in bytes.
    pub bytes: u64,
    /// CRC-32C of these, in eight lower-case hex digits.
    pub crc: String,
    /// How many records it holds.
    pub records: u64,
}

/// Hands every record of a session file to `each`, in order. A last line that is cut off is left out, as of a session whose runner
/// was killed.
///
/// # Errors
/// One line: it is no session, or a line in it is damaged; on such a record nothing is built.
pub fn read(path: &Path, mut each: impl FnMut(Record)) -> Result<Whole, String> {
    let shown = path.display();
    let reader = Reader::open(path).map_err(|error| error.to_string())?;
    let mut records = 0;
    let mut torn: Option<(u64, LineError)> = None;
    for item in reader {
        if let Some((number, error)) = torn {
            return Err(format!("{shown}:{number}: {error}; a record with damaged lines is not amended"));
        }
        match item {
            Item::Record(record) => {
                records += 1;
                each(*record);
            }
            Item::Damaged(number, error) => torn = Some((number, error)),
        }
    }
    if let Some((number, error)) = torn.filter(|(_, error)| *error != LineError::Torn) {
        return Err(format!("{shown}:{number}: {error}; a record with damaged lines is not amended"));
    }
    let (bytes, crc) = checksum(path).map_err(|error| format!("{shown}: {error}"))?;
    Ok(Whole { bytes, crc: format!("{crc:08x}"), records })
}

/// Length and CRC-32C of a file.
fn checksum(path: &Path) -> std::io::Result<(u64, u32)> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let (mut bytes, mut crc) = (0, 0);
    loop {
        let piece = file.fill_buf()?;
        if piece.is_empty() {
            return Ok((bytes, crc));
        }
        crc = crc32c::crc32c_append(crc, piece);
        let read = piece.len();
        bytes += read as u64;
        file.consume(read);
    }
}
