//! Where the files of a turn were edited.

use std::collections::HashMap;

use journal::ToolKind;

use super::paths::PathRef;
use super::proof::Edit;
use super::turn::Turn;

/// The edits of a turn, by the last part of the path.
pub(super) struct Edits(HashMap<String, Vec<(Edit, PathRef)>>);

impl Edits {
    pub(super) fn new(turn: &Turn<'_>) -> Self {
        let mut edits: HashMap<String, Vec<(Edit, PathRef)>> = HashMap::new();
        let mut note = |path: &str, edit: Edit| {
            let path = PathRef::written(path, turn.project);
            let known = edits.entry(path.file_name().to_owned()).or_default();
            known.push((edit, path));
        };
        let calls = turn.evidence.timeline.calls.iter().enumerate();
        for (index, call) in calls.filter(|(_, call)| !call.refused) {
            match call.kind {
                ToolKind::Edit | ToolKind::Write if !call.is_error => {
                    let edit = Edit {
                        call: index,
                        at: usize::MAX,
                    };
                    call.paths.iter().for_each(|path| note(path, edit));
                }
                // A line that failed may still have written files.
                ToolKind::Shell => {
                    let line = call.command.as_deref().unwrap_or_default();
                    for path in &turn.lines[index].writes {
                        let at = line.find(path).unwrap_or(usize::MAX);
                        note(path, Edit { call: index, at });
                    }
                }
                _ => {}
            }
        }
        Self(edits)
    }

    pub(super) fn last(&self, file: &PathRef) -> Option<Edit> {
        let edits = self.0.get(file.file_name())?.iter();
        let edits = edits.filter(|(_, path)| file.same(path));
        edits.map(|(edit, _)| *edit).max()
    }
}
