//! Reading a file of lines from its end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use checkpoint::transcript::Part;

use super::{Links, open};

/// A file that is read part by part, the last part first. Each part holds whole lines.
#[derive(Debug)]
pub(crate) struct Backward {
    file: File,
    length: u64,
    /// Where the bytes that were read begin.
    from: u64,
    /// The end of a line that began before them.
    torn: Vec<u8>,
    /// The file that precedes this one and is read next.
    before: Option<Box<Self>>,
    /// The number of bytes that were read of the files after it.
    taken: u64,
}

impl Backward {
    /// Opens a regular file, without ever waiting.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let (file, length) = open(path, Links::Follow)?;
        Ok(Self {
            file,
            length,
            from: length,
            torn: Vec::new(),
            before: None,
            taken: 0,
        })
    }

    /// Has another file read after the beginning of this one.
    pub(crate) fn before(&mut self, file: Self) {
        match &mut self.before {
            Some(before) => before.before(file),
            None => self.before = Some(Box::new(file)),
        }
    }

    /// Returns how many bytes were read.
    pub(crate) fn taken(&self) -> u64 {
        self.taken + self.length - self.from
    }

    /// Returns whether the beginning was reached.
    pub(crate) fn is_at_start(&self) -> bool {
        self.from == 0 && self.before.is_none()
    }

    /// Reads at most `bytes_max` more. Returns the lines that are whole now, which may be none; `None` at the file's
    /// beginning.
    pub(crate) fn part(&mut self, bytes_max: u64) -> io::Result<Option<Part<'static>>> {
        if self.from == 0 {
            let Some(before) = self.before.take() else {
                return Ok(None);
            };
            let taken = self.taken();
            *self = Self { taken, ..*before };
        }
        let from = self.from.saturating_sub(bytes_max.max(1));
        let length = usize::try_from(self.from - from).map_err(io::Error::other)?;
        self.file.seek(SeekFrom::Start(from))?;
        let mut part = BufReader::new(&mut self.file).take(self.from - from);
        // Read apart from the whole lines, which may be many megabytes: those are not moved again.
        let mut torn = Vec::new();
        if from > 0 {
            part.read_until(b'\n', &mut torn)?;
        }
        let mut whole = Vec::with_capacity(length.saturating_sub(torn.len()) + self.torn.len());
        part.read_to_end(&mut whole)?;
        self.from = from;
        // Without the end of a line, all of it belongs to one that began before.
        let is_within_line = whole.is_empty() && from > 0;
        let end = if is_within_line {
            &mut torn
        } else {
            &mut whole
        };
        end.append(&mut self.torn);
        self.torn = torn;
        let text = String::from_utf8(whole)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(Some(Part {
            text: text.into(),
            from_start: self.is_at_start(),
        }))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_given_once_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        for text in [
            "",
            "\n",
            "{é1}",
            "{1}\n{222é222}\n\n{3}\r\n{444444444}\n{5",
            "{1}\n{2}\n",
        ] {
            std::fs::write(&path, text).unwrap();
            for bytes in 1..=text.len() as u64 + 1 {
                let mut file = Backward::open(&path).unwrap();
                let mut texts = Vec::new();
                while let Some(part) = file.part(bytes).unwrap() {
                    assert!(
                        part.from_start
                            || part.text.is_empty()
                            || part.text.contains('\n')
                            || texts.is_empty()
                    );
                    texts.push(part.text.into_owned());
                }
                assert!(file.is_at_start());
                assert_eq!(file.taken(), text.len() as u64);
                texts.reverse();
                assert_eq!(texts.concat(), text, "{bytes} bytes at once");
            }
        }
    }
}
