//! Whether a command ran that a rule asks for (spec EVID-10).

use journal::ToolKind;
use serde::{Deserialize, Serialize};

use super::turn::{Edit, Turn, shorten};
use crate::policy::EvidenceRule;
use crate::rules::RuleAction;
use crate::shell;

/// A position in a turn: the call, and the command within its line.
pub(super) type Position = (usize, usize);

/// A call that resembles an action's evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedCall {
    /// Its position in the timeline, from 0.
    pub call: usize,
    /// The command line, shortened.
    pub command: String,
    /// Whether it counts, or why it does not.
    pub outcome: Outcome,
}

/// Whether a call counts as evidence, or why it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was refused, its result is unknown, it was a dry run, or it may not have run.
    NotRun,
    /// The line hides how it ended, and its output does not say.
    Unclear,
    /// It failed.
    Failed,
    /// The action that has to come first was not observed before it.
    TooEarly,
    /// A file that it covers was edited after it.
    BeforeEdit,
    /// It shows that the action was done.
    Counts,
}

/// The result of the search for an action.
#[derive(Debug, Default)]
pub(super) struct Proof {
    /// The first call that counts.
    pub(super) done: Option<Position>,
    pub(super) found: Vec<TracedCall>,
}

impl Proof {
    /// Returns whether no call counts, and none hides whether it would.
    pub(super) fn is_certainly_missing(&self) -> bool {
        self.done.is_none() && self.best() != Some(Outcome::Unclear)
    }

    /// Returns the best outcome of these calls.
    pub(super) fn best(&self) -> Option<Outcome> {
        self.found.iter().map(|seen| seen.outcome).max()
    }
}

/// The action that calls are searched for.
pub(super) struct Sought<'a> {
    /// The commands that show that it was done.
    pub(super) evidence: &'a [String],
    /// Whether the call must succeed even with `evidence: substring` (only a restart).
    pub(super) must_succeed: bool,
    /// Whether it is the reading of something, which is done however it ends.
    pub(super) looks: bool,
    /// The last edit that it has to follow.
    pub(super) after_edit: Option<Edit>,
    /// The position of the action that has to come first; `Some(None)` when that was not done.
    pub(super) after: Option<Option<Position>>,
}

/// Searches for an action among the turn's calls.
pub(super) fn find(turn: &Turn<'_>, wanted: &Sought<'_>) -> Proof {
    let mut proof = Proof::default();
    for (index, call) in turn.calls().iter().enumerate() {
        let Some(line) = call
            .command
            .as_deref()
            .filter(|_| call.kind == ToolKind::Shell)
        else {
            continue;
        };
        let mentioned = || mentioned(turn, line, index, wanted);
        let seen = match turn.policy.evidence {
            EvidenceRule::Substring => mentioned(),
            EvidenceRule::Command => None,
        };
        // Text never mentions all commands of a purpose.
        let by_purpose = |text: &String| RuleAction::stands_for(text).is_some();
        let is_read =
            turn.policy.evidence == EvidenceRule::Command || wanted.evidence.iter().any(by_purpose);
        let seen = seen.or_else(|| is_read.then(|| executed(turn, index, wanted))?);
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

/// The text occurs in the command; a restart also has to have succeeded.
fn mentioned(
    turn: &Turn<'_>,
    line: &str,
    index: usize,
    wanted: &Sought<'_>,
) -> Option<(Position, Outcome)> {
    let at = wanted
        .evidence
        .iter()
        .filter_map(|evidence| text_position(line, evidence))
        .max()?;
    let is_early = |before: Option<Position>| before.is_none_or(|before| before >= (index, at));
    let outcome = if wanted.must_succeed && turn.calls()[index].is_error {
        Outcome::Failed
    } else if wanted.after.is_some_and(is_early) {
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

/// The command was executed, did not fail, and came after the edits and actions that it has to follow.
fn executed(turn: &Turn<'_>, index: usize, wanted: &Sought<'_>) -> Option<(Position, Outcome)> {
    let commands = turn.lines.get(index)?.commands.iter().enumerate();
    // A text that is looked for in lines is not a command.
    let is_text = turn.policy.evidence == EvidenceRule::Substring;
    let fits = |simple: &shell::Simple| {
        let mut texts = wanted
            .evidence
            .iter()
            .filter(|text| !is_text || RuleAction::stands_for(text).is_some());
        texts.any(|text| turn.rules.fits(text, simple, &turn.catalogue))
    };
    commands
        .filter(|(_, simple)| fits(simple))
        .map(|(place, simple)| {
            let position = (index, place);
            let outcome = if turn.policy.is_letter() {
                by_status(turn, index, simple)
            } else {
                by_line(turn, index, simple, wanted.looks)
            };
            (position, in_time(turn, position, outcome, wanted))
        })
        .max_by_key(|(position, outcome)| (*outcome, *position))
}

/// How a command ended by the status of its call, whatever the line hides (spec LETTER-3).
fn by_status(turn: &Turn<'_>, index: usize, simple: &shell::Simple) -> Outcome {
    let call = &turn.calls()[index];
    if call.refused || !simple.certain || shell::is_dry(simple) {
        Outcome::NotRun
    } else if !call.finished {
        Outcome::Unclear
    } else if call.is_error {
        Outcome::Failed
    } else {
        Outcome::Counts
    }
}

/// How a command ended by the status of its call, unless the line hides it.
fn by_line(turn: &Turn<'_>, index: usize, simple: &shell::Simple, looks: bool) -> Outcome {
    let call = &turn.calls()[index];
    if call.refused || shell::is_dry(simple) || !simple.certain {
        Outcome::NotRun
    } else if looks {
        Outcome::Counts
    } else if call.is_error {
        Outcome::Failed
    } else if simple.decides && call.finished {
        Outcome::Counts
    } else {
        Outcome::Unclear
    }
}

/// Weighs when a command ran that counts otherwise (spec EVID-4, RULE-8).
fn in_time(turn: &Turn<'_>, position: Position, outcome: Outcome, wanted: &Sought<'_>) -> Outcome {
    let (index, place) = position;
    let line = turn.calls()[index].command.as_deref().unwrap_or_default();
    let program = turn.lines[index].commands[place]
        .words
        .first()
        .map_or("", String::as_str);
    let is_early = |before: Option<Position>| before.is_none_or(|before| before >= position);
    if outcome != Outcome::Counts {
        outcome
    } else if wanted.after.is_some_and(is_early) {
        Outcome::TooEarly
    } else if wanted
        .after_edit
        .is_some_and(|edit| edit.follows(index, line, program))
    {
        Outcome::BeforeEdit
    } else {
        Outcome::Counts
    }
}
