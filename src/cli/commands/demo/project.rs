//! The project in which a recorded agent works.

use std::path::Path;

/// A small project for a recorded agent to work on.
pub(super) struct Project {
    /// Its folder's name.
    pub(super) name: &'static str,
    /// What is in it before the agent comes.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The file that the agent writes: code, where the recorded one was a text.
    pub(super) written: &'static str,
}

/// Puts a file where its folders may be missing.
///
/// # Errors
///
/// When the disk refuses.
pub(super) fn write(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
    std::fs::write(path, text)
}
