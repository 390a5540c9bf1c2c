//! Which submodules have changed files. `git status` does not enter submodules: it would start a git in each, with the
//! filters that the submodule's own configuration defines. Each is asked on its own instead.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

use super::command::{Failure, Git, Output, words};
use super::parse;
use super::view::{Closed, View};

/// Maximum number of submodules of one repository that are examined.
const SUBMODULES_MAX: usize = 100;
/// How deep nested submodules are examined.
pub(super) const DEPTH_MAX: usize = 4;

/// Returns the paths, relative to `top`, of the submodules in which a tracked file differs from their last commit.
/// Submodules that `.gitmodules` does not name, whose `ignore` setting says so, or that are nested deeper than `depth`, are left
/// out.
pub(super) fn dirty(
    git: &Git,
    view: &View,
    deadline: Instant,
    depth: usize,
) -> Result<Vec<Vec<u8>>, Closed> {
    let top = &view.found.top;
    let is_file = std::fs::symlink_metadata(top.join(".gitmodules")).is_ok_and(|it| it.is_file());
    if depth == 0 || !is_file {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for path in named(view, deadline)? {
        let folder = top.join(OsStr::from_bytes(&path));
        if !folder.join(".git").exists() {
            continue;
        }
        let status = words(
            "status --porcelain=v2 --branch --no-ahead-behind -z --untracked-files=no --no-renames \
             --ignore-submodules=dirty",
        );
        let inner = match View::open(&git.at_top(), &folder, deadline) {
            Err(Closed::Refused { .. }) => continue,
            opened => opened?,
        };
        let outputs = inner.run(&[status], deadline)?;
        let is_changed =
            |output: &Output| output.is_good() && !parse::status(&output.stdout).paths.is_empty();
        if outputs.iter().any(is_changed) || !dirty(git, &inner, deadline, depth - 1)?.is_empty() {
            found.push(path);
        }
    }
    Ok(found)
}

/// Returns the paths of the submodules that are in the index, that `.gitmodules` names, and that are not ignored.
fn named(view: &View, deadline: Instant) -> Result<Vec<Vec<u8>>, Failure> {
    let calls = [
        words(r"config -f .gitmodules -z --get-regexp ^submodule\..*\.(path|ignore)$"),
        words(r"config -z --get-regexp ^(submodule\..*\.ignore|diff\.ignoresubmodules)$"),
    ];
    let outputs = view.run(&calls, deadline)?;
    let mut paths = BTreeMap::new();
    let mut ignored = BTreeMap::new();
    for (name, key, value) in outputs.iter().flat_map(|it| parse::submodules(&it.stdout)) {
        let of = if key == b"path" {
            &mut paths
        } else {
            &mut ignored
        };
        of.insert(name, value);
    }
    let is_ignored = |name: &[u8]| {
        let how = ignored.get(name).or_else(|| ignored.get(&b""[..]));
        matches!(how, Some(&(b"dirty" | b"all")))
    };
    let mut call = words("--literal-pathspecs ls-files --stage -z --");
    let asked = paths.iter().filter(|(name, _)| !is_ignored(name));
    call.extend(
        asked
            .filter_map(|(_, path)| Some(std::str::from_utf8(path).ok()?.to_owned()))
            .take(SUBMODULES_MAX),
    );
    if call.last().is_some_and(|last| last == "--") {
        return Ok(Vec::new());
    }
    let outputs = view.run(&[call], deadline)?;
    Ok(outputs
        .iter()
        .flat_map(|output| parse::gitlinks(&output.stdout))
        .map(<[u8]>::to_vec)
        .collect())
}
