//! What the outputs of a turn's calls say, each with the call whose commands printed it (spec EVID-11).

use journal::{Summary, ToolKind};

use crate::catalogue::Purpose;
use crate::judging::paths::PathRef;
use crate::judging::turn::Turn;
use crate::outcome::is_log;
use crate::shell::{CommandLine, Simple, canonical_name, is_dry, read};

/// Returns what the outputs say, by the call whose commands printed it. An output that was only shown belongs to the call
/// that wrote the file.
pub(in crate::judging) fn said(turn: &Turn<'_>) -> Vec<Vec<Summary>> {
    let calls = turn.calls();
    let mut by_call: Vec<Vec<Summary>> = vec![Vec::new(); calls.len()];
    let writes = |at: usize, path: &str| {
        let shown = PathRef::written(path, turn.project);
        let written = |path: &String| PathRef::written(path, turn.project).same(&shown);
        turn.lines[at].writes.iter().any(written)
    };
    for outcome in &turn.evidence.facts.outcomes {
        let at = outcome.call;
        let (Some(call), Some(line)) = (calls.get(at), turn.lines.get(at)) else {
            continue;
        };
        let read = (call.kind == ToolKind::Read).then_some(call.paths.as_slice());
        let shown = line.reads.iter().chain(read.unwrap_or_default());
        let mut shown = shown.map(String::as_str).filter(|path| is_log(path));
        let owner = if call.kind == ToolKind::Other
            || (call.kind == ToolKind::Shell && executes(turn, line))
        {
            shown.all(|path| writes(at, path)).then_some(at)
        } else {
            let writer = |path| (0..at).rev().find(|before| writes(*before, path));
            shown
                .filter_map(writer)
                .max()
                .filter(|before| executes(turn, &turn.lines[*before]))
        };
        if let Some(owner) = owner {
            by_call[owner].extend(outcome.summaries.iter().cloned());
        }
    }
    by_call
}

/// Returns what a command does, if its program is known. One that only hands on a command line that shows something (`ssh`)
/// shows it.
pub(super) fn does(turn: &Turn<'_>, simple: &Simple) -> Option<Option<Purpose>> {
    let does = turn.catalogue.command(&simple.words)?.does;
    let line = simple.words.last().filter(|word| word.contains(' '));
    if does == Some(Purpose::Run)
        && let Some(inner) = line.map(|line| read(line).commands)
        && !inner.is_empty()
        && !inner.iter().any(|simple| runs_code(turn, simple))
    {
        return Some(Some(Purpose::Show));
    }
    Some(does)
}

/// Returns whether a command does more than show something or prepare for others.
pub(in crate::judging) fn runs_code(turn: &Turn<'_>, simple: &Simple) -> bool {
    does(turn, simple).is_none_or(|does| does.is_none_or(|does| does > Purpose::SetUp))
}

/// Returns whether a line runs code, or something of version control that may, and does not only pretend to.
pub(in crate::judging) fn executes(turn: &Turn<'_>, line: &CommandLine) -> bool {
    let is_git = |simple: &Simple| {
        simple
            .words
            .first()
            .is_some_and(|word| canonical_name(word) == "git")
    };
    line.commands
        .iter()
        .any(|simple| (is_git(simple) || runs_code(turn, simple)) && !is_dry(simple))
}
