//! The findings of a stop: actions that are due, and observations. Deterministic, no I/O
//! (spec EVID-1).
//!
//! Every heuristic searches for positive evidence first and reports nothing when it finds it; when
//! evidence is missing or ambiguous it reports (spec EVID-1). The order of everything is fixed, so
//! equal evidence gives an equal checkpoint.

mod actions;
mod answers;
mod aside;
mod concern;
mod contents;
mod edits;
mod ending;
mod errors;
mod example;
mod handed;
mod hygiene;
mod known;
mod line_words;
mod messages;
mod missing;
mod narrower;
mod older;
mod outcomes;
mod own_script;
mod paths;
mod proof;
mod questions;
mod reached;
mod server;
mod settled;
mod slug;
#[cfg(test)]
mod tests;
mod told;
mod trace;
mod turn;
mod verify;
mod went_on;

use std::collections::HashSet;

use journal::{Evidence, ToolCall, ToolKind};

use crate::policy::Policy;
use crate::rules::Kind;
use crate::shell;

pub use ending::{Ending, ending};
pub use example::{Imagined, asked_after};
pub use handed::note_words;
pub use known::known_files;
pub use slug::plan_files;
pub use trace::{ActionTrace, Findings, Outcome, RuleTrace, TracedCall};

use turn::Turn;

/// Returns the name of the check that made an observation; `None` for the observation about a missing action.
pub(crate) fn rule_of(observation: &str) -> Option<&'static str> {
    if actions::is_gap(observation) {
        None
    } else if observation == hygiene::NOT_READ || observation == hygiene::NOT_READ_IN_TURN {
        Some("edit without a read")
    } else if observation == hygiene::WIDE {
        Some("wide change")
    } else if observation.starts_with(slug::DRIFT) {
        Some("drift")
    } else {
        Some("unresolved error")
    }
}

/// Returns the findings of a stop.
///
/// `project` is the top of the work tree, empty when it is not known.
pub fn find(
    evidence: &Evidence,
    elapsed_ms: Option<u64>,
    project: &str,
    policy: &Policy,
) -> Findings {
    let Some(turn) = Turn::new(evidence, elapsed_ms, project, policy) else {
        // Without the changes only the general message is possible: it says what always holds (spec FILES-6).
        return Findings {
            generic: true,
            ..Findings::default()
        };
    };
    let claims = actions::Claims::new(&turn);
    let mut findings = actions::find(&turn, &claims);
    let gaps = findings.observations.len();
    if turn.has_timeline() {
        let errors = errors::find(&turn, &calls_for_due(&findings));
        findings.unresolved = !errors.is_empty();
        findings.observations.extend(errors);
        findings
            .observations
            .extend(hygiene::edits_without_read(&turn));
    }
    findings.observations.extend(hygiene::wide_change(&turn));
    findings.observations.extend(slug::drift(&turn));
    findings.due_by_turn |= findings.observations.len() > gaps;
    findings.unchanged =
        (turn.files.is_empty() || evidence.facts.untouched) && !findings.unresolved;
    findings.docs_only = !claims.any_of(Kind::is_work);
    findings.all_clear =
        !findings.docs_only && findings.actions.is_empty() && findings.observations.is_empty();
    findings
}

/// Returns the calls that were to do what is due.
fn calls_for_due(findings: &Findings) -> HashSet<usize> {
    let actions = findings.trace.iter().flat_map(|rule| &rule.actions);
    let due = actions.filter(|action| action.stands);
    due.flat_map(|action| &action.found)
        .map(|seen| seen.call)
        .collect()
}

/// Returns whether a call failed in a way that says that something is broken, and not only that a question was answered
/// (spec HYG-1).
pub fn is_breakage(call: &ToolCall, project: &str) -> bool {
    // Most calls succeed, and their commands need not be read.
    if !call.is_error || call.refused {
        return false;
    }
    let shell = call
        .command
        .as_deref()
        .filter(|_| call.kind == ToolKind::Shell);
    let line = shell.map(shell::read).unwrap_or_default();
    !answers::is_answer(call, &line, project)
}

/// Returns the edited files whose text the agent did not have, as far as the evidence says, as the agent wrote their
/// paths (spec HYG-4).
pub fn unread_files(evidence: &Evidence, project: &str) -> Vec<String> {
    let mut unread: Vec<String> = Vec::new();
    let files = evidence.changes.files().unwrap_or_default();
    let mut edits = evidence.timeline.calls.iter();
    // Without an edit, nothing has to be searched for, and no command has to be read.
    if files.is_empty() || !edits.any(|call| call.kind == ToolKind::Edit) {
        return unread;
    }
    let lines = turn::lines(&evidence.timeline.calls);
    for path in hygiene::unread(evidence, files, &lines, project) {
        if !unread.iter().any(|known| known == path) {
            unread.push(path.to_owned());
        }
    }
    unread
}
