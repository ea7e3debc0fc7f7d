//! Lines that hold something, with their numbers: blank lines and comments are passed over, a quoted line break is none.

use std::io::BufRead;

use super::Fault;
use super::cells::Quotes;

/// The longest row that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// A text being read, row by row.
#[derive(Debug)]
pub struct Lines<R> {
    from: R,
    bytes: Vec<u8>,
    /// The line that was read last.
    read: u64,
    /// The line at which the present row begins.
    line: u64,
    kept: bool,
}

impl<R: BufRead> Lines<R> {
    /// A text of which nothing has been read.
    pub fn new(from: R) -> Self {
        Self { from, bytes: Vec::new(), read: 0, line: 0, kept: false }
    }

    /// The number of the line at which the present row begins, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Whether the present row ends with a line break; one that is cut off does not.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.bytes.ends_with(b"\n")
    }

    /// The next call of [`Lines::advance`] gives the present row once more.
    pub fn keep(&mut self) {
        self.kept = true;
    }

    /// Goes to the next row that holds something; false at the end.
    ///
    /// # Errors
    /// A row that is too long, or cannot be read.
    pub fn advance(&mut self) -> Result<bool, Fault> {
        if std::mem::take(&mut self.kept) {
            return Ok(true);
        }
        loop {
            self.bytes.clear();
            self.line = self.read + 1;
            if !self.take_line()? {
                return Ok(false);
            }
            let text = self.bytes.trim_ascii();
            if text.is_empty() || text.starts_with(b"#") {
                continue;
            }
            // A quote that is open at the end of the line goes on in the next.
            let mut quotes = Quotes::of_any();
            let mut open = quotes.opens(&self.bytes);
            while open {
                let before = self.bytes.len();
                if !self.take_line()? {
                    return Err(Fault::at(self.line, "a quote is opened here and never closed"));
                }
                open = quotes.opens(&self.bytes[before..]);
            }
            return Ok(true);
        }
    }

    /// The present row without its line break.
    ///
    /// # Errors
    /// Bytes that are no UTF-8.
    pub fn text(&self) -> Result<&str, Fault> {
        let text = std::str::from_utf8(&self.bytes);
        let text = text.map_err(|_| Fault::at(self.line, "this is no UTF-8 text; save the file as UTF-8"))?;
        Ok(text.trim_end_matches(['\r', '\n']))
    }

    fn take_line(&mut self) -> Result<bool, Fault> {
        let before = self.bytes.len();
        let most = (LONGEST + 1 - before) as u64;
        let read = std::io::Read::take(&mut self.from, most).read_until(b'\n', &mut self.bytes);
        let read = read.map_err(|error| Fault::at(self.read + 1, format!("cannot be read: {error}")))?;
        if self.bytes.len() > LONGEST {
            return Err(Fault::at(self.line, format!("a row of more than {LONGEST} bytes; this is no table")));
        }
        if self.read == 0 && self.bytes.starts_with(b"\xef\xbb\xbf") {
            self.bytes.drain(..3);
        }
        if self.read == 0 && (self.bytes.starts_with(b"\xff\xfe") || self.bytes.starts_with(b"\xfe\xff")) {
            return Err(Fault::at(1, "this is UTF-16 text; save the file as UTF-8"));
        }
        self.read += u64::from(read > 0);
        Ok(read > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_the_numbers_of_their_lines() {
        let mut lines = Lines::new(&b"\xef\xbb\xbf# a\r\n\r\na,b\r\n \n1,\"x\ny\"\n# z\n2,3"[..]);
        let mut rows = Vec::new();
        while lines.advance().unwrap() {
            rows.push((lines.line(), lines.text().unwrap().to_owned(), lines.is_whole()));
        }
        let row = |line, text: &str, whole| (line, text.to_owned(), whole);
        assert_eq!(rows, [row(3, "a,b", true), row(5, "1,\"x\ny\"", true), row(8, "2,3", false)]);
    }

    #[test]
    fn a_quote_within_a_cell_opens_nothing() {
        let mut lines = Lines::new(&b"4.1,8 x 2.5\" SSD\n4.2,2 x 3.5\" HDD\n5,\"a \"\"b\"\", c\nd\",e\n"[..]);
        let mut rows = Vec::new();
        while lines.advance().unwrap() {
            rows.push(lines.text().unwrap().to_owned());
        }
        assert_eq!(rows, ["4.1,8 x 2.5\" SSD", "4.2,2 x 3.5\" HDD", "5,\"a \"\"b\"\", c\nd\",e"]);
        let mut cells = Vec::new();
        let mut texts = |row: &str| {
            crate::log::cells::split(row, ',', &mut cells);
            cells.iter().map(|cell| row[cell.clone()].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&rows[0]), ["4.1", "8 x 2.5\" SSD"]);
        assert_eq!(texts(&rows[2]), ["5", "a \"\"b\"\", c\nd", "e"]);
    }

    #[test]
    fn what_is_no_text_is_said() {
        let fault = |bytes: &[u8]| {
            let mut lines = Lines::new(bytes);
            lines.advance().and_then(|_| lines.text().map(|_| ())).unwrap_err().to_string()
        };
        assert_eq!(fault(b"\xff\xfea\0"), "line 1: this is UTF-16 text; save the file as UTF-8");
        assert_eq!(fault(b"\n\xc3\x28\n"), "line 2: this is no UTF-8 text; save the file as UTF-8");
        assert_eq!(fault(b"a,\"b\n1,2\n"), "line 1: a quote is opened here and never closed");
        assert!(fault(&vec![b'a'; LONGEST + 9]).contains("bytes; this is no table"));
    }
}
