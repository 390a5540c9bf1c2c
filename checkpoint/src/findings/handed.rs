//! Failures that the agent hands over to the person: its last message names them (spec HYG-13).

use std::sync::LazyLock;

use journal::{CallOutcome, Evidence, SummaryVerdict, ToolCall, ToolKind};
use regex::Regex;

use super::messages::{commands, holds, ignoring_case, sentences, words_of};
use super::turn::Turn;
use super::verify::kinds;
use super::{messages, missing, older, outcomes, settled, told};
use crate::policy::HandedOver;
use crate::shell;
use crate::transcript::Said;

/// Maximum number of failed calls of one turn that are searched for in a message.
const CALLS_MAX: usize = 64;

/// How an agent says that it gives up what it was asked to do.
static GIVES_UP: LazyLock<Regex> = LazyLock::new(|| {
    ignoring_case(concat!(
        r"\b(?:(?:i|we) (?:can ?not|can['’]t|could not|couldn['’]t|(?:am|are|was|were) (?:unable to|not able to)|",
        r"(?:aren|wasn|weren)['’]t able to)|(?:i['’]m|we['’]re) (?:unable to|not able to)) (?:currently )?",
        r"(?:complete|finish|proceed|continue|go on|go further|carry (?:it |this )?out|fulfil|do (?:this|that|it|so)\b)",
    ))
});

/// Notes in the facts what the agent's messages say of failures: the last one, and those before it.
pub fn note_words(
    evidence: &mut Evidence,
    message: &str,
    mut said: Vec<Said>,
    outcomes: &[CallOutcome],
) {
    let calls = &evidence.timeline.calls;
    // The hook of the stop may know words that the transcript does not have yet.
    said.push(Said {
        calls: calls.len(),
        text: message.to_owned(),
    });
    let told = told::told_failures(calls, outcomes, &said);
    evidence.facts.older_failures = older::names_older(message);
    evidence.facts.named_failures = named_failures(calls, message);
    evidence.facts.told_failures = told;
}

/// Returns the positions of the failed calls that the agent's last message names as such: all of them if it says that it
/// gives up and the turn edited nothing.
fn named_failures(calls: &[ToolCall], message: &str) -> Vec<usize> {
    if message.trim().is_empty() {
        return Vec::new();
    }
    let said = sentences(message);
    let told = commands(message);
    let failed = calls
        .iter()
        .enumerate()
        .filter(|(_, call)| call.is_error && !call.refused)
        .rev()
        .take(CALLS_MAX);
    let is_named = |call: &ToolCall| {
        let line = shell::read(call.command.as_deref().unwrap_or_default());
        told.iter()
            .any(|told| settled::is_same(&line.commands, &told.commands))
            || {
                let words = words_of(call, &line, &call.output);
                said.iter()
                    .any(|sentence| words.iter().any(|word| holds(sentence, word)))
            }
    };
    let gives_up = GIVES_UP.is_match(message) && !calls.iter().any(edits);
    let mut named: Vec<usize> = failed
        .filter(|(_, call)| gives_up || is_named(call))
        .map(|(at, _)| at)
        .collect();
    named.reverse();
    named
}

fn edits(call: &ToolCall) -> bool {
    matches!(call.kind, ToolKind::Edit | ToolKind::Write) && !call.is_error && !call.refused
}

/// How an output says what would help: a hint, or an option.
static REMEDY: LazyLock<Regex> = LazyLock::new(|| {
    ignoring_case(
        r"(?m)^\s*(?:hint|help|tip|suggestion)s?:|\b(?:use|pass|add|try|run|specify)(?: the)? ['`]?--?[a-z]",
    )
});

/// Returns whether the agent told the person of a failure, and this is enough: what failed leaves nothing due, and does not
/// itself say what would help.
pub(super) fn is_told(turn: &Turn<'_>, index: usize) -> bool {
    let call = &turn.evidence.timeline.calls[index];
    turn.is_reported(index) && (is_outside(turn, index, call) || !REMEDY.is_match(&call.output))
}

/// Returns whether the agent handed a failure over: it told the person of it; or its last message names it, and either its
/// cause lies outside the project, or the turn changed nothing, so that the failure is what it found out.
///
/// `is_due` says that an action is due which the failed call was to do. The agent is asked for it anyway. Of tests that could
/// not even begin, that is enough.
pub(super) fn is_over(turn: &Turn<'_>, index: usize, is_due: bool) -> bool {
    let is_enough =
        || turn.policy.hygiene.handed_over == HandedOver::Reported && began_no_tests(turn, index);
    if (!is_due || is_enough()) && is_told(turn, index) {
        return true;
    }
    if turn.policy.hygiene.handed_over == HandedOver::Errors
        || !turn.evidence.facts.named_failures.contains(&index)
    {
        return false;
    }
    let call = &turn.evidence.timeline.calls[index];
    is_outside(turn, index, call) || changed_nothing(turn)
}

fn is_outside(turn: &Turn<'_>, index: usize, call: &ToolCall) -> bool {
    // What tests say of themselves is about the project.
    !tests_failed(turn, index)
        && (missing::is_tool(call, &turn.lines[index]) || messages::is_outside(&call.output))
}

/// Returns whether a call was to run tests, and its output says nothing of any.
fn began_no_tests(turn: &Turn<'_>, index: usize) -> bool {
    let outcomes = turn.outcomes.as_ref();
    let is_silent = outcomes.is_some_and(|outcomes| outcomes.any_tests(index).is_none());
    is_silent && turn.lines[index].commands.iter().any(kinds::is_tests)
}

fn tests_failed(turn: &Turn<'_>, index: usize) -> bool {
    let outcomes = turn.outcomes.as_ref();
    let tests = outcomes.and_then(|outcomes| outcomes.any_tests(index));
    tests == Some(SummaryVerdict::Failed)
}

fn changed_nothing(turn: &Turn<'_>) -> bool {
    let calls = turn.evidence.timeline.calls.iter().enumerate();
    let writes = |(at, call): (usize, &ToolCall)| match call.kind {
        ToolKind::Edit | ToolKind::Write => edits(call),
        ToolKind::Shell => {
            let line = &turn.lines[at];
            outcomes::executes(line) && !line.writes.is_empty() && !call.refused
        }
        ToolKind::Read | ToolKind::Other => false,
    };
    (turn.files.is_empty() || turn.evidence.facts.untouched) && !calls.into_iter().any(writes)
}
