//! What the rules ask for after some changes and commands, for the examples beside rules (spec RULE-21).

use journal::{
    ChangedFile, Changes, Evidence, Timeline, TimelineSource, ToolCall, ToolKind, Workspace,
};

use crate::digest;
use crate::policy::Policy;

/// A turn that never was.
#[derive(Clone, Copy, Debug, Default)]
pub struct Imagined<'a> {
    /// The files that it changes, relative to the top of the work tree.
    pub changed: &'a [String],
    /// Then the commands that it runs, which succeed.
    pub ran: &'a [String],
    /// And then those that fail.
    pub failed: &'a [String],
}

/// Returns what would be asked for after a turn, in order.
pub fn asked_after(
    turn: Imagined<'_>,
    workspace: Option<Workspace>,
    policy: &Policy,
) -> Vec<String> {
    let changed = turn.changed.iter().map(|path| ChangedFile {
        path: path.clone(),
        hash: Some(digest::of_text(path)),
    });
    let edit = ToolCall {
        kind: ToolKind::Edit,
        paths: turn.changed.to_vec(),
        finished: true,
        ..ToolCall::default()
    };
    let run = |line: &String, is_error: bool| ToolCall {
        kind: ToolKind::Shell,
        command: Some(line.clone()),
        finished: true,
        is_error,
        ..ToolCall::default()
    };
    let ran = turn.ran.iter().map(|line| run(line, false));
    let failed = turn.failed.iter().map(|line| run(line, true));
    let mut evidence = Evidence {
        changes: Changes::Known(changed.collect()),
        timeline: Timeline {
            source: TimelineSource::Transcript,
            calls: std::iter::once(edit).chain(ran).chain(failed).collect(),
        },
        ..Evidence::default()
    };
    evidence.facts.workspace = workspace;
    let found = super::find(&evidence, None, "", policy);
    found
        .actions
        .into_iter()
        .map(|action| action.text)
        .collect()
}
