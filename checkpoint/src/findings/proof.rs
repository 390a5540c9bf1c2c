//! The proof that an action was done, from the calls of a turn (spec EVID-6).

use journal::{ToolCall, ToolKind};

use super::paths::PathRef;
use super::trace::{Outcome, TracedCall};
use super::turn::Turn;
use crate::policy::EvidenceRule;
use crate::shell;

/// The longest command that a trace shows.
const COMMAND_CHARS_MAX: usize = 160;

/// A position in a turn: the call, and the command within its line.
pub(super) type Position = (usize, usize);

/// Where a file was edited: the call, and the approximate offset in its line; the end for calls
/// that only edit.
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

/// The result of the search for an action.
#[derive(Debug, Default)]
pub(super) struct Proof {
    /// The first call that counts.
    pub(super) done: Option<Position>,
    /// All calls that resemble the action.
    pub(super) found: Vec<TracedCall>,
}

impl Proof {
    /// Returns the best outcome of these calls.
    pub(super) fn best(&self) -> Option<Outcome> {
        self.found.iter().map(|seen| seen.outcome).max()
    }
}

/// The action to look for.
pub(super) struct Wanted<'a> {
    /// The commands that show that it was done.
    pub(super) evidence: &'a [String],
    /// Whether the call must succeed even with `evidence: substring`
    /// (spec EVID-12: only a restart).
    pub(super) must_succeed: bool,
    /// The last edit that it has to follow.
    pub(super) after_edit: Option<Edit>,
    /// The position of the action that has to come first; `Some(None)` when that was not done.
    pub(super) after: Option<Option<Position>>,
}

/// Looks for an action among the turn's calls.
pub(super) fn find_proof(turn: &Turn<'_>, wanted: &Wanted<'_>) -> Proof {
    let mut proof = Proof::default();
    let patterns: Vec<_> = wanted
        .evidence
        .iter()
        .filter_map(|text| turn.rules.pattern(text))
        .collect();
    for (index, call) in turn.evidence.timeline.calls.iter().enumerate() {
        if call.kind != ToolKind::Shell {
            continue;
        }
        let Some(line) = call.command.as_deref() else {
            continue;
        };
        let seen = match turn.policy.evidence {
            EvidenceRule::Substring => mentioned(call, line, index, wanted),
            EvidenceRule::Command => executed(
                call,
                line,
                &turn.lines[index].commands,
                index,
                &patterns,
                wanted,
            ),
        };
        let Some((position, outcome)) = seen else {
            continue;
        };
        if outcome == Outcome::Counts && proof.done.is_none() {
            proof.done = Some(position);
        }
        proof.found.push(TracedCall {
            call: index,
            command: shorten(call),
            outcome,
        });
    }
    proof
}

/// spec EVID-12: the text occurs in the command; a restart also has to have succeeded.
fn mentioned(
    call: &ToolCall,
    line: &str,
    index: usize,
    wanted: &Wanted<'_>,
) -> Option<(Position, Outcome)> {
    let at = wanted
        .evidence
        .iter()
        .filter_map(|evidence| text_position(line, evidence))
        .max()?;
    let outcome = if wanted.must_succeed && call.is_error {
        Outcome::Failed
    } else if wanted
        .after
        .is_some_and(|before| before.is_none_or(|before| before >= (index, at)))
    {
        Outcome::TooEarly
    } else {
        Outcome::Counts
    };
    Some(((index, at), outcome))
}

/// Returns the last offset of an evidence text in a line; `*` matches anything between its parts.
fn text_position(line: &str, evidence: &str) -> Option<usize> {
    let mut parts = evidence.split('*').map(str::trim_end);
    let first = parts.next().unwrap_or_default();
    let at = line.rfind(first)?;
    let mut rest = &line[at + first.len()..];
    for part in parts {
        rest = &rest[rest.find(part)? + part.len()..];
    }
    Some(at)
}

/// The command was executed, did not fail, and came after the edits and actions that it has to
/// follow.
fn executed(
    call: &ToolCall,
    line: &str,
    commands: &[shell::Simple],
    index: usize,
    patterns: &[&shell::Pattern],
    wanted: &Wanted<'_>,
) -> Option<(Position, Outcome)> {
    let fits = |simple: &shell::Simple| patterns.iter().any(|pattern| pattern.fits(simple));
    let candidates = commands
        .iter()
        .enumerate()
        .filter(|(_, simple)| fits(simple));
    candidates
        .map(|(place, simple)| {
            let position = (index, place);
            let too_early = || {
                wanted
                    .after
                    .is_some_and(|before| before.is_none_or(|before| before >= position))
            };
            let before_edit = || {
                let program = simple.words.first().map_or("", String::as_str);
                wanted
                    .after_edit
                    .is_some_and(|edit| edit.follows(index, line, program))
            };
            let outcome = match by_status(call, simple) {
                Outcome::Counts if too_early() => Outcome::TooEarly,
                Outcome::Counts if before_edit() => Outcome::BeforeEdit,
                outcome => outcome,
            };
            (position, outcome)
        })
        .max_by_key(|(position, outcome)| (*outcome, *position))
}

/// Returns how a command of a call ended, if it is taken by itself.
pub(super) fn by_status(call: &ToolCall, simple: &shell::Simple) -> Outcome {
    if !call.finished || call.refused || !simple.certain || shell::is_dry(simple) {
        Outcome::NotRun
    } else if call.is_error {
        // Another command of the line may have failed, but that cannot be known (spec EVID-1).
        Outcome::Failed
    } else {
        Outcome::Counts
    }
}

/// Returns a command line as a trace shows it.
pub(super) fn shorten(call: &ToolCall) -> String {
    let line = call.command.as_deref().unwrap_or(&call.tool);
    line.chars().take(COMMAND_CHARS_MAX).collect()
}

/// Returns where the turn last edited any of `files`.
pub(super) fn last_edit(turn: &Turn<'_>, files: &[PathRef]) -> Option<Edit> {
    let touches = |path: &str| {
        let path_ref = PathRef::written(path, turn.project);
        files.iter().any(|file| file.same(&path_ref))
    };
    let calls = turn.evidence.timeline.calls.iter().enumerate().rev();
    calls
        .filter(|(_, call)| !call.refused)
        .find_map(|(index, call)| match call.kind {
            ToolKind::Edit | ToolKind::Write => {
                let touched = !call.is_error && call.paths.iter().any(|path| touches(path));
                touched.then_some(Edit {
                    call: index,
                    at: usize::MAX,
                })
            }
            // A line that failed may still have written files.
            ToolKind::Shell => {
                let line = call.command.as_deref().unwrap_or_default();
                let written = turn.lines[index].writes.iter().filter(|path| touches(path));
                written
                    .map(|path| line.find(path).unwrap_or(usize::MAX))
                    .max()
                    .map(|at| Edit { call: index, at })
            }
            ToolKind::Read | ToolKind::Other => None,
        })
}
