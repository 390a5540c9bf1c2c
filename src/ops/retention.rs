//! The daemon's part in keeping the journal: backups through the socket, compaction when asked, and once a day by itself.

use std::fs;
use std::path::{Path, PathBuf};

use checkpoint::config::Config;
use journal::{Compacted, Journal, Retention, Timestamp};

/// Returns how long payloads are kept.
pub(crate) fn retention(config: &Config) -> Retention {
    let retention = &config.settings.journal.retention;
    Retention {
        payloads: retention.payloads.period(),
        kinds: retention
            .kinds
            .iter()
            .map(|(kind, keep)| (kind.0.clone(), keep.period()))
            .collect(),
    }
}

/// Compacts a journal as the configuration says, and remembers when.
///
/// # Errors
///
/// As [`Journal::compact`].
pub(crate) fn compact(
    journal: &Journal,
    folder: &Path,
    config: &Config,
    dry_run: bool,
    progress: impl FnMut(u64, u64),
) -> journal::Result<Compacted> {
    let done = journal.compact(&retention(config), Timestamp::now(), dry_run, progress)?;
    if !dry_run {
        // Its time is the time of the last compaction. Without it the next one merely comes sooner.
        let _ = fs::write(marker(folder), b"");
    }
    Ok(done)
}

pub(crate) fn marker(journal: &Path) -> PathBuf {
    journal.join("compacted")
}
