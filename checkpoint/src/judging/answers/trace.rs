//! The findings of a stop, and the trace that explains them.

use journal::{Action, ChangedFile};
use serde::{Deserialize, Serialize};

use super::Answer;
use crate::digest;
use crate::judging::required::TracedCall;

/// The findings of a stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Categories of the changed files, in the order of the rules (spec RULE-1).
    pub categories: Vec<String>,
    /// Actions that are due, in order (spec RULE-7).
    pub actions: Vec<Action>,
    /// What was not observed of each action, in the words of the seeds (spec LETTER-2).
    pub gaps: Vec<String>,
    /// Observations, one sentence each.
    pub observations: Vec<String>,
    /// Nothing is due.
    pub all_clear: bool,
    /// Of some code it is not known whether it was verified, and that is not asked for.
    pub unknown: bool,
    /// Only documentation changed, or nothing.
    pub docs_only: bool,
    /// The changes are not known, so only the general message is possible (spec FILES-6).
    pub generic: bool,
    /// A failure of this turn is unresolved (spec HYG-1).
    pub unresolved: bool,
    /// Nothing changed in the turn and nothing failed (spec DECIDE-20).
    pub unchanged: bool,
    /// Something is due besides what a rule asks for at every stop (spec DECIDE-20).
    pub due_by_turn: bool,
    /// Hash of the demand: its actions and the contents of the files behind them. `None` without
    /// actions.
    pub demand: Option<u64>,
    /// The trace of each rule, for `preview` and `explain`.
    pub trace: Vec<RuleTrace>,
}

/// The trace of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleTrace {
    /// Its name.
    pub rule: String,
    /// Its pack.
    pub pack: String,
    /// The changed files that it claimed.
    pub files: Vec<String>,
    /// Its actions and the evidence for each; empty when another rule of these files gives them.
    pub actions: Vec<ActionTrace>,
}

/// The trace of one action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionTrace {
    /// Its purpose.
    pub purpose: String,
    /// The instruction.
    pub text: String,
    /// Whether it is due.
    pub stands: bool,
    /// The answer for each file, if the answer table judges the action.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// The commands that count as evidence.
    pub looked_for: Vec<String>,
    /// The calls that resemble these commands.
    pub found: Vec<TracedCall>,
}

/// Returns the hash of a demand: its purposes and the contents of the files behind them.
pub(in crate::judging) fn demand(purposes: &[String], files: &[&ChangedFile]) -> Option<u64> {
    if purposes.is_empty() {
        return None;
    }
    let mut text = purposes.join("\n");
    for file in files {
        text.push_str(&format!("\n{}\0{:?}", file.path, file.hash));
    }
    Some(digest::of_text(&text))
}
