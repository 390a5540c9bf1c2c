//! Reads what a project's own files say about verifying a change. Bounded in files and bytes, and only when a decision
//! needs it.

use std::collections::HashSet;
use std::path::Path;

use checkpoint::policy::Policy;
use checkpoint::project::{self, ProjectFile, Sources};
use journal::{ChangedFile, Workspace};

use crate::git::Listing;
use crate::named_file;
use crate::rust_tests;

/// Larger task files are not read.
const FILE_BYTES_MAX: u64 = 128 * 1024;
/// Limit for all task files together.
const TOTAL_BYTES_MAX: usize = 1024 * 1024;
/// The most names of a folder that are read at once.
const NAMES_MAX: usize = 1000;
/// How much of a test is read to see what it imports.
const BEGINNING_BYTES_MAX: u64 = 8 * 1024;
/// Tasks that are files of their own.
const SCRIPTS_MAX: usize = 40;
/// How much of such a file is read.
const SCRIPT_BYTES_MAX: u64 = 4 * 1024;
/// Workflows of CI that are read.
const WORKFLOWS_MAX: usize = 8;
/// Larger workflows are not read.
const WORKFLOW_BYTES_MAX: u64 = 32 * 1024;

/// Returns whether decisions by a policy need these facts.
pub fn wanted(policy: &Policy) -> bool {
    !policy.is_letter()
}

/// Reads the facts about `changed`, whose paths start at `top`.
pub fn read(top: &Path, changed: &[ChangedFile], listing: &Listing) -> Workspace {
    let files = files(top, changed, &listing.paths);
    let sources = Sources {
        listed: &listing.paths,
        complete: listing.complete,
        beginning: &|path| beginning(top, path, BEGINNING_BYTES_MAX),
        rust_tests_in: &|folder| rust_tests::any(top, folder, changed),
    };
    project::workspace(&files, changed, &sources)
}

/// Reads what a project's files say today about verifying files that changed in the past, but for the tests that cover
/// them: see [`cover`].
pub fn for_past(top: &Path, changed: &[ChangedFile]) -> Workspace {
    let sources = Sources {
        listed: &[],
        complete: true,
        beginning: &|_| None,
        rust_tests_in: &|_| false,
    };
    project::workspace(&files(top, changed, &[]), changed, &sources)
}

/// Adds the tests that would cover the changed files today. What they import is not read.
pub fn cover(
    workspace: &mut Workspace,
    changed: &[ChangedFile],
    listing: &Listing,
    rust_tests_in: &dyn Fn(&str) -> bool,
) {
    let sources = Sources {
        listed: &listing.paths,
        complete: listing.complete,
        beginning: &|_| None,
        rust_tests_in,
    };
    // It is unknown whether a file existed at the end of the turn. A file without a hash would count as deleted.
    let present: Vec<ChangedFile> = changed
        .iter()
        .map(|file| ChangedFile {
            hash: Some(file.hash.unwrap_or_default()),
            ..file.clone()
        })
        .collect();
    (workspace.covered, workspace.tests_unknown) =
        project::covered(&present, &workspace.packages, &sources);
}

/// Returns whether a Rust file of the package in `folder` has tests within it; true if the package is too large to tell.
pub fn has_rust_tests(top: &Path, folder: &str) -> bool {
    rust_tests::any(top, folder, &[])
}

fn files(top: &Path, changed: &[ChangedFile], listed: &[String]) -> Vec<ProjectFile> {
    let mut files: Vec<ProjectFile> = Vec::new();
    let mut bytes_left = TOTAL_BYTES_MAX;
    for folder in project::folders(changed) {
        let place = |name: &str| project::join(&folder, name);
        let there = names(&top.join(&folder));
        let is_there = |name: &&str| {
            let first = name.split('/').next().unwrap_or(name);
            there.as_ref().is_none_or(|there| there.contains(first))
        };
        for name in project::read_files().filter(is_there) {
            let path = place(name);
            let text = named_file::text(&top.join(&path), FILE_BYTES_MAX).ok();
            if let Some(text) = text.filter(|text| text.len() <= bytes_left) {
                bytes_left -= text.len();
                files.push(ProjectFile { path, text });
            }
        }
        let seen = project::seen().into_iter().filter(is_there).map(place);
        let seen = seen.filter(|path| std::fs::symlink_metadata(top.join(path)).is_ok());
        files.extend(seen.map(|path| ProjectFile {
            path,
            text: String::new(),
        }));
    }
    let is_script = |path: &&String| path.contains("mise-tasks/") || path.contains(".mise/tasks/");
    for path in listed.iter().filter(is_script).take(SCRIPTS_MAX) {
        files.extend(
            beginning(top, path, SCRIPT_BYTES_MAX).map(|text| ProjectFile {
                path: path.clone(),
                text,
            }),
        );
    }
    let workflows = listed.iter().filter(|path| project::is_workflow(path));
    for path in workflows.take(WORKFLOWS_MAX) {
        let text = named_file::text(&top.join(path), WORKFLOW_BYTES_MAX).ok();
        files.extend(text.map(|text| ProjectFile {
            path: path.clone(),
            text,
        }));
    }
    files
}

/// Returns the names in a folder; `None` if they are too many, or not known. Reading them once is far cheaper than asking
/// for each file that may be there.
fn names(folder: &Path) -> Option<HashSet<String>> {
    let entries = std::fs::read_dir(folder).ok()?.take(NAMES_MAX + 1);
    let names: Result<HashSet<String>, _> = entries
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect();
    names.ok().filter(|names| names.len() <= NAMES_MAX)
}

fn beginning(top: &Path, path: &str, bytes_max: u64) -> Option<String> {
    let bytes = named_file::beginning(&top.join(path), bytes_max).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_files_of_the_right_folders_are_read() {
        let top = tempfile::tempdir().expect("a folder");
        let put = |path: &str, text: &str| {
            let path = top.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        put("package.json", r#"{"scripts": {"test": "vitest"}}"#);
        put("pnpm-lock.yaml", "");
        put(
            "web/package.json",
            r#"{"name": "web", "scripts": {"build": "vite build"}}"#,
        );
        put("api/Makefile", "test:\n\tgo test ./...\n");
        put("web/Makefile", &"x".repeat(200 * 1024));
        std::os::unix::fs::symlink("/etc/passwd", top.path().join("justfile")).expect("linked");
        put("web/cart.test.ts", "import { total } from './cart'\n");
        let changed = [ChangedFile {
            path: "web/src/cart.ts".into(),
            hash: Some(1),
        }];
        let listing = Listing {
            paths: vec!["web/cart.test.ts".into()],
            complete: true,
        };
        let found = read(top.path(), &changed, &listing);
        let tasks: Vec<_> = found
            .tasks
            .iter()
            .map(|task| (&*task.folder, &*task.runner, &*task.name))
            .collect();
        assert_eq!(tasks, [("", "pnpm", "test"), ("web", "pnpm", "build")]);
        let packages: Vec<_> = found
            .packages
            .iter()
            .map(|package| (&*package.folder, &*package.name))
            .collect();
        assert_eq!(packages, [("", ""), ("web", "web")]);
        assert_eq!(
            found.covered,
            [(
                "web/src/cart.ts".to_owned(),
                vec!["web/cart.test.ts".to_owned()]
            )]
        );
    }
}
