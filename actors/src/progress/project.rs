//! The present state of a project's files.

use std::path::Path;
use std::time::{Duration, Instant};

use checkpoint::config::Config;
use checkpoint::progress::GitState;
use journal::ChangedFile;

use crate::git;

/// The longest that reading git and files may take for a document.
pub(super) const READ_WITHIN: Duration = Duration::from_secs(10);
/// Lock files of dependencies that a document names.
const LOCK_FILES_MAX: usize = 32;

/// The present state of a project's files.
pub(super) struct ProjectState {
    pub(super) git: Result<GitState, String>,
    pub(super) lock_files: Vec<ChangedFile>,
}

pub(super) fn read_project(config: &Config, project: &str, deadline: Instant) -> ProjectState {
    let top = Path::new(project);
    let mut git = git::snapshot(top, deadline);
    if let Ok(git) = &mut git {
        // checkpointd's own files do not count as work.
        let path = &config.settings.progress.path.0;
        let stem = path.strip_suffix(".md").unwrap_or(path);
        git.uncommitted
            .retain(|(_, changed)| changed != path && !changed.starts_with(&format!("{stem}-")));
    }
    let names = std::fs::read_dir(top).into_iter().flatten().flatten();
    let mut locks: Vec<String> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| checkpoint::manifest::is_lock(name))
        .take(LOCK_FILES_MAX)
        .collect();
    locks.sort_unstable();
    let mut lock_files = git::held(top, locks.iter().map(String::as_str), deadline);
    lock_files.retain(|file| file.hash.is_some());
    ProjectState { git, lock_files }
}
