//! The lines of what machines sent.

use std::io::BufRead;

use super::problem::{Result, refuse};

/// The longest line: an event with a payload of the largest size.
const LINE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The lines of a file, counted.
pub(super) struct Lines<R> {
    file: R,
    /// How many were read.
    pub(super) number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(file: R) -> Self {
        Self { file, number: 0 }
    }

    pub(super) fn next(&mut self) -> Result<Option<String>> {
        let mut line = String::new();
        let mut limited = std::io::Read::take(&mut self.file, LINE_BYTES_MAX);
        let read = limited
            .read_line(&mut line)
            .map_err(|error| refuse(format!("cannot read it: {error}")))?;
        self.number += 1;
        if read == 0 {
            return Ok(None);
        }
        if line.ends_with('\n') {
            line.pop();
        } else if read as u64 == LINE_BYTES_MAX {
            return Err(refuse("it is too long"));
        }
        Ok(Some(line))
    }
}
