//! A record as one line of JSON that proves itself.
//!
//! The last member of every line is `"crc"`: CRC-32C (Castagnoli, RFC 3720 B.4) in eight lower-case hex digits of the bytes
//! before `,"crc"`. The line stays plain JSON for `jq`, `DuckDB` or pandas, and a torn or damaged one is recognised by itself.

use std::fmt::Write as _;

use thiserror::Error;

use super::event::Record;

const TAIL: &str = ",\"crc\":\"";
/// `,"crc":"` + 8 digits + `"}`.
const TAIL_LENGTH: usize = TAIL.len() + 8 + 2;

/// Why a line is no record. Each message is what the reader of a session is told about the line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LineError {
    /// The line does not end in a checksum: cut off, or not ours.
    #[error("torn: the line does not end in a checksum")]
    Torn,
    /// The bytes are not those that were written.
    #[error("damaged: checksum {found:08x}, written {written:08x}")]
    Damaged {
        /// Of the bytes that are there.
        found: u32,
        /// As the line says.
        written: u32,
    },
    /// Longer than any record, so that it is not read at all.
    #[error("longer than {0} bytes, which no record is")]
    Long(u64),
    /// Whole, but no record of this format.
    #[error("not understood: {0}")]
    Unknown(String),
}

/// The checksum of a line's bytes before `,"crc"`.
#[must_use]
pub fn checksum(body: &[u8]) -> u32 {
    crc32c::crc32c(body)
}

/// The record as one line, newline included.
///
/// # Errors
/// [`LineError::Unknown`] when the record cannot be put into JSON; no record built from this crate's types is such.
pub fn encode(record: &Record) -> Result<String, LineError> {
    let mut line = serde_json::to_string(record).map_err(|e| LineError::Unknown(e.to_string()))?;
    line.pop();
    let crc = checksum(line.as_bytes());
    line.push_str(TAIL);
    let _ = writeln!(line, "{crc:08x}\"}}");
    Ok(line)
}

/// Reads one line; a trailing newline is allowed.
pub fn decode(line: &[u8]) -> Result<Record, LineError> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let body = line.len().checked_sub(TAIL_LENGTH).ok_or(LineError::Torn)?;
    let (body, tail) = line.split_at(body);
    let written = read_tail(tail).ok_or(LineError::Torn)?;
    let found = checksum(body);
    if found != written {
        return Err(LineError::Damaged { found, written });
    }
    let mut whole = body.to_vec();
    whole.push(b'}');
    serde_json::from_slice(&whole).map_err(|e| LineError::Unknown(e.to_string()))
}

fn read_tail(tail: &[u8]) -> Option<u32> {
    let digits = tail.strip_prefix(TAIL.as_bytes())?.strip_suffix(b"\"}")?;
    let lower = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
    if !digits.iter().all(lower) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::event::{Event, Sample};
    use crate::vocab::moment::Moment;

    fn record() -> Record {
        Record {
            seq: 7,
            at: Moment(1_000_001),
            node: "n1".into(),
            event: Event::Sampled { of: vec![], values: vec![Sample(3, 1200.0), Sample(4, 0.1)] },
        }
    }

    #[test]
    fn a_line_is_plain_json_with_its_checksum_last() {
        let line = encode(&record()).unwrap();
        assert!(
            line.starts_with(
                r#"{"seq":7,"at":1000001,"node":"n1","event":{"Sampled":{"values":[[3,1200],[4,0.1]]}},"crc":""#
            ),
            "{line}"
        );
        let json: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(json["crc"].as_str().unwrap().len(), 8);
        assert_eq!(decode(line.as_bytes()).unwrap(), record());
    }

    #[test]
    fn any_single_damaged_byte_is_noticed() {
        let line = encode(&record()).unwrap().trim_end().to_owned();
        for place in 0..line.len() {
            let mut bytes = line.clone().into_bytes();
            bytes[place] ^= 0x01;
            assert!(decode(&bytes).is_err(), "byte {place}");
            assert!(decode(&line.as_bytes()[..place]).is_err(), "cut at {place}");
        }
    }
}
