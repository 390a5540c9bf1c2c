//! Which events came from an import. What they say is no reason to write or type anything outside the journal
//! (spec ENV-5).
//!
//! The file `imported` in the journal's folder has one line for each import: the first and the last sequence number. A
//! line without a last number belongs to an import that may still run; the next opening of the journal completes it.

use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::{intake, named_file};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImportedEvents(Vec<RangeInclusive<u64>>);

impl ImportedEvents {
    /// Reads which events were imported, `last_seq` being the last event of the journal.
    pub(crate) fn load(dir: &Path, last_seq: u64) -> Self {
        let text = match named_file::own_text(&path(dir)) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::default(),
            // It is unknown which events were imported, so all count as imported.
            Err(_) => return Self(vec![1..=last_seq]),
        };
        let line = |line: &str| {
            let (first, last) = line.split_once(' ').unwrap_or((line, ""));
            let last = if last.is_empty() {
                Some(last_seq)
            } else {
                last.parse().ok()
            };
            Some(first.parse().ok()?..=last?)
        };
        let ranges: Option<Vec<_>> = text.lines().map(line).collect();
        let imported = Self(ranges.unwrap_or_else(|| vec![1..=last_seq]));
        let is_open = text.lines().any(|line| !line.contains(' '));
        if is_open && let Err(error) = imported.store(dir, None) {
            tracing::warn!(%error, "Cannot complete the list of imported events.");
        }
        imported
    }

    /// Marks all events from `first` on as imported, durably.
    pub(crate) fn mark_from(&mut self, dir: &Path, first: u64) -> Result<()> {
        self.store(dir, Some(first))?;
        self.0.push(first..=u64::MAX);
        Ok(())
    }

    pub(crate) fn has(&self, seq: u64) -> bool {
        self.0.iter().any(|range| range.contains(&seq))
    }

    fn store(&self, dir: &Path, open: Option<u64>) -> Result<()> {
        let complete = self.0.iter().filter(|range| !range.is_empty());
        let lines = complete
            .map(|range| format!("{} {}\n", range.start(), range.end()))
            .chain(open.map(|first| format!("{first}\n")));
        let text: String = lines.collect();
        intake::replace(&path(dir), text.as_bytes())
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("imported")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_ends_where_the_journal_ended_when_it_is_opened_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let marks = |last_seq| {
            let imported = ImportedEvents::load(dir.path(), last_seq);
            (1..=12)
                .filter(|seq| imported.has(*seq))
                .collect::<Vec<_>>()
        };
        assert_eq!(marks(3), Vec::<u64>::new());
        let mut imported = ImportedEvents::load(dir.path(), 3);
        imported.mark_from(dir.path(), 4).expect("written");
        assert!(!imported.has(3) && imported.has(4) && imported.has(900));
        // The import appended two events; then the journal was opened again and went on.
        assert_eq!(marks(5), [4, 5]);
        assert_eq!(marks(12), [4, 5]);
        // An import that was refused at its first line marks nothing.
        ImportedEvents::load(dir.path(), 7)
            .mark_from(dir.path(), 8)
            .expect("written");
        assert_eq!(marks(7), [4, 5]);
        assert_eq!(marks(12), [4, 5]);
        std::fs::write(path(dir.path()), "4 x\n").expect("written");
        assert_eq!(
            marks(5),
            [1, 2, 3, 4, 5],
            "a damaged list: no event is relied on"
        );
    }
}
