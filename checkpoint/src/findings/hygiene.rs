//! Hygiene of edits: files that were not read first, and changes that spread widely
//! (spec HYG-4, HYG-5).

use std::collections::BTreeSet;

use journal::ToolKind;

use super::paths::PathRef;
use super::turn::Turn;
use crate::policy::Wide;

pub(super) const NOT_READ: &str =
    "Files were edited without being read first this turn — verify changes are correct";

/// Asks for verification and not for a commit (spec HYG-5, MSG-5).
pub(super) const WIDE: &str = "Changes span multiple subsystems — verify each of them on its own";

/// Changes in more top-level folders, or in more packages, than this are wide.
const PARTS_MAX: usize = 3;

/// Returns the observation that a file was edited that this turn had neither read nor written
/// before.
pub(super) fn edits_without_read(turn: &Turn<'_>) -> Option<String> {
    let path_ref = |path: &String| PathRef::written(path, turn.project);
    let mut known: Vec<PathRef> = Vec::new();
    for (call, line) in turn.evidence.timeline.calls.iter().zip(&turn.lines) {
        // A call that failed or was refused neither showed nor changed anything.
        if call.refused || (call.is_error && call.kind != ToolKind::Shell) {
            continue;
        }
        match call.kind {
            ToolKind::Edit => {
                if call
                    .paths
                    .iter()
                    .map(path_ref)
                    .any(|edited| !known.iter().any(|read| read.same(&edited)))
                {
                    return Some(NOT_READ.to_owned());
                }
            }
            // A file that this turn wrote counts as read, and a new one cannot be read first.
            ToolKind::Read | ToolKind::Write => known.extend(call.paths.iter().map(path_ref)),
            ToolKind::Shell => {
                known.extend(
                    line.reads
                        .iter()
                        .chain(&line.writes)
                        .chain(&call.paths)
                        .map(path_ref),
                );
            }
            ToolKind::Other => {}
        }
    }
    None
}

/// Returns the observation that the changes span many parts of the project.
pub(super) fn wide_change(turn: &Turn<'_>) -> Option<String> {
    let parts = match turn.policy.hygiene.wide {
        Wide::Off => 0,
        Wide::Packages => turn.evidence.facts.packages.len(),
        Wide::Folders => {
            let folders = turn
                .files
                .iter()
                .filter_map(|file| file.path.split_once('/'));
            folders
                .map(|(folder, _)| folder)
                .collect::<BTreeSet<_>>()
                .len()
        }
    };
    (parts > PARTS_MAX).then(|| WIDE.to_owned())
}
