//! Whether the code of a Rust package has tests within it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use checkpoint::project::holds_rust_tests;
use journal::ChangedFile;

use crate::named_file;

/// Larger files are not read.
const FILE_BYTES_MAX: u64 = 512 * 1024;
/// A package with more files is not looked through.
const FILES_MAX: usize = 200;
/// The most files of a folder that are read before the other folders are listed: most packages have tests in one of the
/// first files, or far too many files.
const FIRST_FILES: usize = 8;
/// Maximum number of folders that are examined.
const FOLDERS_MAX: usize = 400;

/// Returns whether a Rust file of the package in `folder` has tests within it; true if a package is too large to tell.
///
/// The changed files are examined first. Packages below the folder have tests of their own.
pub(crate) fn any(top: &Path, folder: &str, changed: &[ChangedFile]) -> bool {
    let package = top.join(folder);
    let changed = changed.iter().map(|file| top.join(&file.path));
    let mut changed = changed.filter(|path| is_rust(path) && path.starts_with(&package));
    if changed
        .by_ref()
        .take(FILES_MAX)
        .any(|path| has_tests(&path))
        || changed.next().is_some()
    {
        return true;
    }
    let mut folders = VecDeque::from([package]);
    let (mut folders_left, mut files_left) = (FOLDERS_MAX, FILES_MAX);
    let mut later = Vec::new();
    while let Some(folder) = folders.pop_front() {
        let (inner, mut files) = entries(&folder);
        if folders_left == 0 || files.len() > files_left {
            return true;
        }
        (folders_left, files_left) = (folders_left - 1, files_left - files.len());
        later.extend(files.split_off(files.len().min(FIRST_FILES)));
        if files.iter().any(|path| has_tests(path)) {
            return true;
        }
        folders.extend(inner);
    }
    later.iter().any(|path| has_tests(path))
}

/// Returns the folders within a folder that belong to the same package, and its Rust files.
fn entries(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let is_own = || {
            !name.as_encoded_bytes().starts_with(b".")
                && !["target", "node_modules"]
                    .iter()
                    .any(|other| name == *other)
                && std::fs::symlink_metadata(path.join("Cargo.toml")).is_err()
        };
        if kind.is_file() && is_rust(&path) {
            files.push(path);
        } else if kind.is_dir() && is_own() {
            folders.push(path);
        }
    }
    (folders, files)
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "rs")
}

fn has_tests(path: &Path) -> bool {
    named_file::text(path, FILE_BYTES_MAX).is_ok_and(|text| holds_rust_tests(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_of_a_file_is_looked_through() {
        let place = tempfile::tempdir().expect("a folder");
        let top = place.path();
        let put = |path: &str, text: &str| {
            let path = top.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        put("Cargo.toml", "");
        put("api/Cargo.toml", "");
        put("api/src/lib.rs", "mod a;\n");
        put("api/src/deep/a.rs", "#[cfg(test)]\nmod tests;\n");
        put("api/target/x.rs", "#[test]\nfn t() {}\n");
        put("web/src/a.rs", "fn a() {}\n");
        put("web/target/x.rs", "#[test]\nfn t() {}\n");
        put("web/Cargo.toml", "");
        put("web/inner/Cargo.toml", "");
        put("web/inner/a.rs", "#[test]\nfn t() {}\n");
        put("many/Cargo.toml", "");
        (0..=FILES_MAX).for_each(|number| put(&format!("many/{number}.rs"), "fn a() {}\n"));
        // Files that are read late count too, and so do files of all folders.
        (0..40).for_each(|number| put(&format!("late/{number}.rs"), "fn a() {}\n"));
        put("late/a/b.rs", "fn a() {}\n");
        (0..250).for_each(|number| put(&format!("wide/{}/{number}.rs", number % 50), ""));
        let none: [ChangedFile; 0] = [];
        let folders = ["api", "web", "web/inner", "many", "gone", "late", "wide"];
        let answers = folders.map(|folder| any(top, folder, &none));
        assert_eq!(answers, [true, false, true, true, false, false, true]);
        for number in 0..40 {
            put(&format!("late/{number}.rs"), "#[test]\nfn t() {}\n");
            assert!(any(top, "late", &none), "{number}");
            put(&format!("late/{number}.rs"), "fn a() {}\n");
        }
        let changed = [ChangedFile {
            path: "web/target/x.rs".into(),
            hash: None,
        }];
        assert!(any(top, "web", &changed));
    }
}
