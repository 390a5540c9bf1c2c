//! Hygiene of edits: files that were not read first, and changes that spread widely
//! (spec HYG-4, HYG-5).

use std::collections::BTreeSet;

use journal::{ChangedFile, Evidence, ToolKind};

use super::known::{Known, reference};
use super::paths::PathRef;
use super::turn::Turn;
use crate::policy::{ReadBeforeEdit, Wide};
use crate::shell::CommandLine;

pub(super) const NOT_READ: &str =
    "Files were edited without being read first — verify changes are correct";
pub(super) const NOT_READ_IN_TURN: &str =
    "Files were edited without being read first this turn — verify changes are correct";

/// Asks for verification and not for a commit (spec HYG-5, MSG-5).
pub(super) const WIDE: &str = "Changes span multiple subsystems — verify each of them on its own";

/// Changes in more top-level folders, or in more packages, than this are wide.
const PARTS_MAX: usize = 3;

/// Returns the observation that a file was edited before its text was known.
pub(super) fn edits_without_read(turn: &Turn<'_>) -> Option<String> {
    let sentence = match turn.policy.hygiene.read {
        ReadBeforeEdit::Off => None,
        ReadBeforeEdit::Turn => unread_in_turn(turn).then_some(NOT_READ_IN_TURN),
        ReadBeforeEdit::Session => {
            let unread = unread(turn.evidence, turn.files, &turn.lines, turn.project);
            (!unread.is_empty()).then_some(NOT_READ)
        }
    };
    sentence.map(str::to_owned)
}

/// Returns the edited files of the project whose text the agent did not have, according to the turn and the facts.
///
/// Files that are no longer changed, or are missing, do not count; nor do those outside the project, which are never
/// among the changed ones.
pub(super) fn unread<'a>(
    evidence: &'a Evidence,
    files: &[ChangedFile],
    lines: &[CommandLine],
    project: &str,
) -> Vec<&'a str> {
    let changed: Vec<PathRef> = files
        .iter()
        .filter(|file| file.hash.is_some())
        .map(|file| PathRef::changed(&file.path))
        .collect();
    let before: Vec<PathRef> = evidence
        .facts
        .known_files
        .iter()
        .map(|path| reference(path, project))
        .collect();
    let mut known = Known::default();
    let mut unread = Vec::new();
    for (call, line) in evidence.timeline.calls.iter().zip(lines) {
        if call.kind == ToolKind::Edit && !call.refused && !call.is_error {
            unread.extend(call.paths.iter().map(String::as_str).filter(|path| {
                let edited = reference(path, project);
                changed.iter().any(|file| file.same(&edited))
                    && !before.iter().any(|file| file.same(&edited))
                    && !known.has(&edited)
            }));
        }
        known.take(call, line, project);
    }
    unread
}

/// Returns whether a file was edited that this turn had neither read nor written before.
fn unread_in_turn(turn: &Turn<'_>) -> bool {
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
                    return true;
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
    false
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
