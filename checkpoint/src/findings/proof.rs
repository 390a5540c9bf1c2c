//! The proof that an action was done, from the calls of a turn (spec EVID-6).

use journal::{CommandEnd, SummaryVerdict, ToolCall, ToolKind};

use super::outcomes::{Outcomes, last_executed, may_fail_elsewhere, tests_of, was_stopped};
use super::paths::PathRef;
use super::trace::{Outcome, TracedCall};
use super::turn::Turn;
use crate::outcome::sums_up;
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
    pub(super) found: Vec<TracedCall>,
}

impl Proof {
    /// Returns the best outcome of these calls.
    pub(super) fn best(&self) -> Option<Outcome> {
        self.found.iter().map(|seen| seen.outcome).max()
    }
}

/// The action that calls are searched for.
pub(super) struct Wanted<'a> {
    /// The commands that show that it was done.
    pub(super) evidence: &'a [String],
    /// What the action is for; only tests can be seen in an output whatever started them.
    pub(super) purpose: &'a str,
    /// The packs whose rules ask for it.
    pub(super) packs: &'a [&'a str],
    /// Whether it is the reading of something, which is done however it ends.
    pub(super) looks: bool,
    /// Whether the call must succeed even with `evidence: substring`
    /// (spec EVID-12: only a restart).
    pub(super) must_succeed: bool,
    /// The last edit that it has to follow.
    pub(super) after_edit: Option<Edit>,
    /// The position of the action that has to come first; `Some(None)` when that was not done.
    pub(super) after: Option<Option<Position>>,
}

/// The question that a command may answer.
pub(super) struct Asked<'a> {
    pub(super) tests: bool,
    /// The packs of the code that it is about.
    pub(super) packs: &'a [&'a str],
    /// Whether it is the reading of something, which is done however it ends.
    pub(super) looks: bool,
}

impl Wanted<'_> {
    fn asked(&self) -> Asked<'_> {
        Asked {
            tests: self.purpose == "tests",
            packs: self.packs,
            looks: self.looks,
        }
    }
}

/// Searches for an action among the turn's calls.
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
            EvidenceRule::Command => executed(turn, call, index, &patterns, wanted)
                .or_else(|| shown(turn, call, index, wanted)),
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
    turn: &Turn<'_>,
    call: &ToolCall,
    index: usize,
    patterns: &[&shell::Pattern],
    wanted: &Wanted<'_>,
) -> Option<(Position, Outcome)> {
    let line = turn.lines.get(index)?;
    let fits = |simple: &shell::Simple| patterns.iter().any(|pattern| pattern.fits(simple));
    let candidates = line
        .commands
        .iter()
        .enumerate()
        .filter(|(_, simple)| fits(simple));
    candidates
        .map(|(place, simple)| {
            let position = (index, place);
            let outcome = match &turn.outcomes {
                Some(outcomes) => by_output(turn, outcomes, position, &wanted.asked()),
                None => by_status(call, simple),
            };
            (position, in_time(turn, position, outcome, wanted))
        })
        .max_by_key(|(position, outcome)| (*outcome, *position))
}

/// How a command ended by the status of its call, whatever the line hides (spec EVID-10).
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

/// How a command ended by its output, else by the status of its call unless the line hides it (spec EVID-17).
pub(super) fn by_output(
    turn: &Turn<'_>,
    outcomes: &Outcomes,
    (index, place): Position,
    asked: &Asked<'_>,
) -> Outcome {
    let call = &turn.evidence.timeline.calls[index];
    let commands = &turn.lines[index].commands;
    let simple = &commands[place];
    if call.refused || shell::is_dry(simple) {
        return Outcome::NotRun;
    }
    let ended = turn
        .evidence
        .facts
        .outcome(index)
        .and_then(|said| said.ended);
    let failed = call.is_error || ended == Some(SummaryVerdict::Failed);
    let end = printed(turn, (index, place));
    let printed = end.and_then(|end| end.verdict);
    let own = end.map_or(&[][..], |end| &end.summaries);
    // Of several runs in one line, each has its own part of the output.
    let tests = asked.tests.then(|| match tests_of(own, asked.packs) {
        Some(verdict) => Some(verdict),
        None => outcomes.tests(index, asked.packs),
    });
    let others = || outcomes.others(index);
    match tests.flatten() {
        Some(SummaryVerdict::Failed) => return Outcome::Failed,
        Some(SummaryVerdict::RanNothing) => return Outcome::NotRun,
        _ if printed == Some(SummaryVerdict::Failed) && !asked.looks => return Outcome::Failed,
        // Of a line that failed, a later command may have.
        Some(SummaryVerdict::Passed)
            if !failed || may_fail_elsewhere(commands, place) || was_stopped(call) =>
        {
            return Outcome::Counts;
        }
        _ => {}
    }
    match printed {
        Some(SummaryVerdict::Passed) => return Outcome::Counts,
        Some(SummaryVerdict::Failed) => return Outcome::Failed,
        Some(SummaryVerdict::RanNothing) => return Outcome::NotRun,
        None => {}
    }
    let is_over = call.finished || ended.is_some() || asked.looks;
    if !simple.certain || (!is_over && others().is_none()) {
        return Outcome::NotRun;
    }
    if failed {
        return Outcome::Failed;
    }
    if (simple.decides && is_over) || asked.looks {
        return Outcome::Counts;
    }
    match others() {
        Some(SummaryVerdict::Failed) => Outcome::Failed,
        Some(SummaryVerdict::Passed) => Outcome::Counts,
        // The agent saw the output, and it reports no failure. A summary of the tests would have reported one.
        None if turn.wants_shown()
            && end.is_some_and(|end| end.unread)
            && !(asked.tests && sums_up(&simple.words[0])) =>
        {
            Outcome::Counts
        }
        Some(SummaryVerdict::RanNothing) | None => Outcome::Unclear,
    }
}

/// Returns what the line printed about one of its commands (spec EVID-18).
pub(super) fn printed<'a>(turn: &Turn<'a>, (index, place): Position) -> Option<&'a CommandEnd> {
    let said = turn.evidence.facts.outcome(index)?;
    let words = &turn.lines.get(index)?.commands.get(place)?.words;
    let is_it = |end: &&CommandEnd| end.place == place && words.first() == Some(&end.program);
    said.ends.iter().find(is_it)
}

/// Tests that the output of any other command shows: of a wrapper, a task, a hook (spec EVID-17).
fn shown(
    turn: &Turn<'_>,
    call: &ToolCall,
    index: usize,
    wanted: &Wanted<'_>,
) -> Option<(Position, Outcome)> {
    let outcomes = turn.outcomes.as_ref()?;
    if wanted.purpose != "tests" || call.refused {
        return None;
    }
    let commands = &turn.lines.get(index)?.commands;
    let place = last_executed(commands)?;
    let outcome = shows(call, &commands[place], outcomes.tests(index, wanted.packs)?)?;
    let position = (index, place);
    Some((position, in_time(turn, position, outcome, wanted)))
}

/// Returns how the tests ended that a command ran by itself; none if it ran nothing.
pub(super) fn shows(
    call: &ToolCall,
    simple: &shell::Simple,
    verdict: SummaryVerdict,
) -> Option<Outcome> {
    let is_git = simple.words.first().is_some_and(|program| program == "git");
    match verdict {
        SummaryVerdict::RanNothing => None,
        // What a hook ran is not what made a push fail, if it passed.
        SummaryVerdict::Passed if !call.is_error || is_git => Some(Outcome::Counts),
        SummaryVerdict::Passed | SummaryVerdict::Failed => Some(Outcome::Failed),
    }
}

/// Weighs when a command ran that counts otherwise (spec EVID-8, RULE-8).
fn in_time(turn: &Turn<'_>, position: Position, outcome: Outcome, wanted: &Wanted<'_>) -> Outcome {
    let (index, place) = position;
    let line = turn.evidence.timeline.calls[index].command.as_deref();
    let program = turn.lines[index].commands[place].words.first();
    let follows = |edit: Edit| {
        edit.follows(
            index,
            line.unwrap_or_default(),
            program.map_or("", String::as_str),
        )
    };
    if outcome != Outcome::Counts {
        outcome
    } else if wanted
        .after
        .is_some_and(|before| before.is_none_or(|before| before >= position))
    {
        Outcome::TooEarly
    } else if wanted.after_edit.is_some_and(follows) {
        Outcome::BeforeEdit
    } else {
        Outcome::Counts
    }
}

/// Returns a command line as a trace shows it.
pub(super) fn shorten(call: &ToolCall) -> String {
    let line = call.command.as_deref().unwrap_or(&call.tool);
    line.chars().take(COMMAND_CHARS_MAX).collect()
}

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
