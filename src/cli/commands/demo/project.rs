//! The project in which a recorded agent works.

use std::path::Path;

/// A small project for a recorded agent to work on.
pub(super) struct Project {
    pub(super) name: &'static str,
    /// The files in it before the agent starts.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The file that the agent writes. It is code here; the recorded one was a text.
    pub(super) written: &'static str,
}

/// Writes a file and creates missing folders.
pub(super) fn write(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
    std::fs::write(path, text)
}
