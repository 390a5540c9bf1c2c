//! The branches that are checked out in projects.
//!
//! Two small files are read for each; git itself would be a process for each project at every look.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use actors::{bounded_io, named_file};
use journal::Journal;

/// `.git` files and `HEAD` are one line each.
const GIT_FILE_BYTES_MAX: u64 = 4_096;
/// Maximum number of folders above a project that are searched for its repository.
const ABOVE_MAX: usize = 32;
/// No further project is examined after this time: a file system may not answer.
const LOOK_WITHIN: Duration = Duration::from_millis(500);

/// Returns the branches of projects that could be read in time. A collector's projects are on other machines: a folder of
/// the same path here is another one.
pub(crate) fn branches<'a>(
    journal: &Journal,
    projects: impl Iterator<Item = &'a str>,
) -> HashMap<String, String> {
    if journal.is_collector() {
        return HashMap::new();
    }
    let projects: BTreeSet<&str> = projects.collect();
    let until = Instant::now() + LOOK_WITHIN;
    let in_time = projects.into_iter().take_while(|_| Instant::now() < until);
    in_time
        .filter_map(|project| {
            let folder = PathBuf::from(project);
            let branch = bounded_io::briefly(project, move || branch(&folder))??;
            Some((project.to_owned(), branch))
        })
        .collect()
}

/// Returns the branch that is checked out in the repository around a folder, if one is.
fn branch(folder: &Path) -> Option<String> {
    if !folder.is_absolute() {
        return None;
    }
    let git = folder
        .ancestors()
        .take(ABOVE_MAX)
        .map(|above| above.join(".git"))
        .find(|git| git.exists())?;
    let git = if git.is_dir() {
        git
    } else {
        // A linked work tree names its folder in the repository.
        let named = PathBuf::from(line_of(&git)?.strip_prefix("gitdir: ")?);
        git.parent()?.join(named)
    };
    line_of(&git.join("HEAD"))?
        .strip_prefix("ref: refs/heads/")
        .map(str::to_owned)
}

fn line_of(path: &Path) -> Option<String> {
    let bytes = named_file::beginning(path, GIT_FILE_BYTES_MAX).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    Some(text.lines().next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_read_from_the_repository_around_a_folder_and_from_a_linked_work_tree() {
        let top = tempfile::tempdir().expect("a folder");
        let repository = top.path().join("repository");
        let tree = repository.join(".git/worktrees/tree");
        std::fs::create_dir_all(&tree).expect("folders");
        std::fs::create_dir_all(repository.join("src/deep")).expect("folders");
        std::fs::write(repository.join(".git/HEAD"), "ref: refs/heads/topic/x\n").expect("writes");
        std::fs::write(tree.join("HEAD"), "ref: refs/heads/other\n").expect("writes");
        let linked = top.path().join("linked");
        std::fs::create_dir(&linked).expect("a folder");
        std::fs::write(
            linked.join(".git"),
            "gitdir: ../repository/.git/worktrees/tree\n",
        )
        .expect("writes");

        assert_eq!(
            branch(&repository.join("src/deep")).as_deref(),
            Some("topic/x")
        );
        assert_eq!(branch(&linked).as_deref(), Some("other"));
        std::fs::write(repository.join(".git/HEAD"), "8f2c0e5d\n").expect("writes");
        assert_eq!(branch(&repository), None, "a detached head");
        assert_eq!(branch(Path::new("relative")), None);
    }
}
