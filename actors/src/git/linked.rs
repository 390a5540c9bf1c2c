//! Linked work trees within the work tree: `git status` lists them as untracked, but they are not its code.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::private::{SMALL_BYTES_MAX, common_dir};
use crate::named_file;

/// The most linked work trees of a repository that are looked at.
const TREES_MAX: usize = 256;

/// Returns the linked work trees below `top`, relative to it. The list is that of `git worktree list`.
pub(super) fn below(git_dir: &Path, top: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(common_dir(git_dir).join("worktrees")) else {
        return Vec::new();
    };
    let trees = entries.flatten().take(TREES_MAX);
    let below = |tree: PathBuf| {
        let below = tree.strip_prefix(top).ok()?.as_os_str().as_bytes();
        (!below.is_empty()).then(|| below.to_vec())
    };
    trees
        .filter_map(|entry| below(tree(&entry.path())?))
        .collect()
}

/// Returns where a linked work tree is, whose part of the repository is in `folder`.
fn tree(folder: &Path) -> Option<PathBuf> {
    let bytes = named_file::bytes(&folder.join("gitdir"), SMALL_BYTES_MAX).ok()?;
    let link = folder.join(OsStr::from_bytes(bytes.trim_ascii_end()));
    link.parent()?.canonicalize().ok()
}

/// Returns whether a path is in one of the work trees, or is one.
pub(super) fn holds(trees: &[Vec<u8>], path: &[u8]) -> bool {
    trees.iter().any(|tree| {
        let below = path.strip_prefix(tree.as_slice());
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    })
}
