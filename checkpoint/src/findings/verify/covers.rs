//! Whether a test, or a folder of tests, is about a file (spec EVID-23).

use journal::Workspace;

use super::kind::Kind;
use crate::project::covering::{Family, family, is_test_folder, package_of, within};
use crate::project::{file_name, folder, is_test};

/// Returns whether what verifies a folder verifies a file.
pub(super) fn covers_folder(
    place: &str,
    path: &str,
    kind: Kind,
    of: Family,
    workspace: &Workspace,
) -> bool {
    if within(path, place) {
        return true;
    }
    if kind == Kind::Tests {
        // A folder of tests is about the code around it.
        let mut code = place;
        while is_test_folder(file_name(code)) && !code.is_empty() {
            code = folder(code);
        }
        return (code != place && within(path, code))
            || covering(path, workspace).any(|test| within(test, place));
    }
    // A Go program is built with the packages that it imports, but not with other programs.
    let is_program = |path: &str| path.split('/').any(|part| part == "cmd");
    of == Family::Go
        && family(path) == Family::Go
        && !is_program(path)
        && package_of(&workspace.packages, path) == package_of(&workspace.packages, place)
        && !place.starts_with('\0')
}

/// Returns whether a test that was run, given by its path or a part of its name, is a file or covers it.
pub(super) fn covers_by_file(named: &str, path: &str, workspace: &Workspace) -> bool {
    let same = |path: &str| {
        path == named
            || path
                .strip_suffix(named)
                .is_some_and(|rest| rest.ends_with('/'))
            || named.ends_with(&format!("/{path}"))
    };
    if same(path) || covering(path, workspace).any(same) {
        return true;
    }
    let is_file = file_name(named).contains('.');
    !is_file && (path.contains(named) || covering(path, workspace).any(|test| test.contains(named)))
}

/// Returns whether a folder of tests has the names that a folder of code ends with.
pub(super) fn mirrors(tests: &str, code: &str) -> bool {
    let parts: Vec<&str> = tests.split('/').collect();
    let Some(at) = parts.iter().rposition(|part| is_test_folder(part)) else {
        return false;
    };
    let below = &parts[at + 1..];
    !below.is_empty() && code.split('/').collect::<Vec<_>>().ends_with(below)
}

/// Returns whether a test is beside a file.
pub(super) fn is_near(named: &str, path: &str) -> bool {
    let beside = folder(path);
    let near =
        |folder: &str| folder == beside || named.starts_with(&format!("{beside}/__tests__/"));
    !beside.is_empty() && is_test(named) && near(folder(named))
}

/// The tests that cover a file.
pub(super) fn covering<'a>(path: &str, workspace: &'a Workspace) -> impl Iterator<Item = &'a str> {
    let tests = workspace
        .covered
        .iter()
        .find(|(file, _)| file == path)
        .map(|(_, tests)| tests.as_slice());
    tests.unwrap_or_default().iter().map(String::as_str)
}
