//! The evidence of a stop in the form that every judgment reads: its calls, their command lines, and where files were edited.

use std::borrow::Cow;
use std::collections::HashMap;

use journal::{ChangedFile, Evidence, Task, TimelineSource, ToolCall, ToolKind};

use super::paths::PathRef;
use crate::catalogue::Catalogue;
use crate::policy::Policy;
use crate::rules::RuleSet;
use crate::shell;

/// The evidence of a stop, prepared.
pub(super) struct Turn<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) files: &'a [ChangedFile],
    pub(super) project: &'a str,
    pub(super) policy: &'a Policy,
    pub(super) elapsed_ms: Option<u64>,
    pub(super) rules: RuleSet<'a>,
    pub(super) catalogue: Cow<'static, Catalogue>,
    /// The command line of each shell call, by position; empty for other calls.
    pub(super) lines: Vec<shell::CommandLine>,
    /// The edits, by the last part of the path.
    edits: HashMap<String, Vec<(Edit, PathRef)>>,
}

/// Where a file was edited: the call, and the approximate offset in its line; the end for calls that only edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edit {
    pub(super) call: usize,
    pub(super) at: usize,
}

impl Edit {
    /// Returns whether a command of a call may have run before the edit.
    pub(super) fn follows(self, call: usize, line: &str, program: &str) -> bool {
        let ran_at = || line.rfind(program).unwrap_or_default();
        self.call > call || (self.call == call && self.at >= ran_at())
    }
}

impl<'a> Turn<'a> {
    /// Prepares the evidence; `None` when the changed files are not known.
    pub(super) fn new(
        evidence: &'a Evidence,
        elapsed_ms: Option<u64>,
        project: &'a str,
        policy: &'a Policy,
    ) -> Option<Self> {
        let catalogue = if policy.programs.is_empty() {
            Cow::Borrowed(Catalogue::built_in())
        } else {
            Cow::Owned(Catalogue::with(&policy.programs))
        };
        let mut turn = Self {
            evidence,
            files: evidence.changes.files()?,
            project,
            policy,
            elapsed_ms,
            rules: RuleSet::new(&policy.rules),
            catalogue,
            lines: lines(&evidence.timeline.calls),
            edits: HashMap::new(),
        };
        turn.note_edits();
        Some(turn)
    }

    fn note_edits(&mut self) {
        let mut found = Vec::new();
        let calls = self.evidence.timeline.calls.iter().enumerate();
        for (call, tool) in calls.filter(|(_, tool)| !tool.refused) {
            match tool.kind {
                ToolKind::Edit | ToolKind::Write if !tool.is_error => {
                    let edit = Edit {
                        call,
                        at: usize::MAX,
                    };
                    found.extend(tool.paths.iter().map(|path| (path.as_str(), edit)));
                }
                // A line that failed may still have written files.
                ToolKind::Shell => {
                    let line = tool.command.as_deref().unwrap_or_default();
                    for path in &self.lines[call].writes {
                        let at = line.find(path.as_str()).unwrap_or(usize::MAX);
                        found.push((path.as_str(), Edit { call, at }));
                    }
                }
                _ => {}
            }
        }
        for (path, edit) in found {
            let path = PathRef::written(path, self.project);
            let name = path.file_name().to_owned();
            self.edits.entry(name).or_default().push((edit, path));
        }
    }

    /// Returns where a file was edited last, if a call of the turn is known to have edited it.
    pub(super) fn last_edit(&self, path: &str) -> Option<Edit> {
        let file = PathRef::changed(path);
        let edits = self.edits.get(file.file_name())?.iter();
        edits
            .filter(|(_, path)| file.same(path))
            .map(|(edit, _)| *edit)
            .max()
    }

    /// Returns whether an edit or write call names a file.
    pub(super) fn is_by_hand(&self, path: &str) -> bool {
        let file = PathRef::changed(path);
        let edits = self.edits.get(file.file_name());
        edits
            .into_iter()
            .flatten()
            .any(|(edit, path)| self.calls()[edit.call].kind != ToolKind::Shell && file.same(path))
    }

    /// Returns the turn's calls.
    pub(super) fn calls(&self) -> &'a [ToolCall] {
        &self.evidence.timeline.calls
    }

    /// Returns the project's tasks, as far as they are known.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &'a Task> {
        let workspace = self.evidence.facts.workspace.iter();
        workspace.flat_map(|known| &known.tasks)
    }

    /// Returns the language of a file by its name; empty if it is not known.
    pub(super) fn language(&self, path: &str) -> &str {
        let language = self.catalogue.language(path);
        language.map_or("", |language| language.language.as_str())
    }

    /// Returns whether the turn's calls are known.
    pub(super) fn has_timeline(&self) -> bool {
        self.evidence.timeline.source != TimelineSource::None
    }

    /// Returns whether a command ran on the content that a file has at the stop: by what was recorded when it ended, else
    /// by the order of calls and edits (spec EVID-4).
    pub(super) fn ran_on(&self, call: usize, program: &str, path: &str) -> bool {
        self.recorded(call, path).unwrap_or_else(|| {
            let line = self.calls()[call].command.as_deref().unwrap_or_default();
            self.last_edit(path)
                .is_none_or(|edit| !edit.follows(call, line, program))
        })
    }

    /// Returns whether a file had the content of the stop when a call ended; `None` if that was not recorded.
    pub(super) fn recorded(&self, call: usize, path: &str) -> Option<bool> {
        let has = |list: &[String]| list.iter().any(|known| known == path);
        let mut seen = self.evidence.facts.seen.iter();
        let seen = seen.find(|seen| seen.call == call)?;
        has(&seen.same)
            .then_some(true)
            .or_else(|| has(&seen.other).then_some(false))
    }

    /// Returns whether a call's only command wrote a file: the call was examined, and the file was written while it ran.
    pub(super) fn wrote(&self, call: usize, path: &str) -> bool {
        let is_examined = self
            .evidence
            .facts
            .seen
            .iter()
            .any(|seen| seen.call == call);
        let commands = self.lines[call].commands.iter();
        let more = commands.filter(|simple| simple.words[0] != "cd").nth(1);
        is_examined && more.is_none() && self.recorded(call, path).is_none()
    }
}

/// Reads the command line of each shell call; empty for other calls.
pub(super) fn lines(calls: &[ToolCall]) -> Vec<shell::CommandLine> {
    let line = |call: &ToolCall| {
        let line = call
            .command
            .as_deref()
            .filter(|_| call.kind == ToolKind::Shell);
        line.map(shell::read).unwrap_or_default()
    };
    calls.iter().map(line).collect()
}

/// Returns a call as a trace shows it.
pub fn shorten(call: &ToolCall) -> String {
    const CHARS_MAX: usize = 160;
    let line = call.command.as_deref().unwrap_or(&call.tool);
    line.chars().take(CHARS_MAX).collect()
}
