//! Findings, and the trace that explains them.

use journal::Action;
use serde::{Deserialize, Serialize};

/// The findings of a stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Categories of the changed files, in the order of the rules (spec RULE-1).
    pub categories: Vec<String>,
    /// Actions that are due, in order (spec RULE-7).
    pub actions: Vec<Action>,
    /// Observations, one sentence each: verification gaps, errors, hygiene, drift.
    pub observations: Vec<String>,
    /// All expected actions were observed.
    pub all_clear: bool,
    /// Only documentation changed, or nothing.
    pub docs_only: bool,
    /// The changes are not known, so only the general message is possible (spec FILES-6).
    pub generic: bool,
    /// A failed call of this turn is unresolved (spec HYG-1).
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
    /// The commands that count as evidence.
    pub looked_for: Vec<String>,
    /// The calls that resemble these commands.
    pub found: Vec<TracedCall>,
}

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
    /// It verified other code (spec EVID-23).
    Elsewhere,
    /// A file that it covers was edited after it.
    BeforeEdit,
    /// It shows that the action was done.
    Counts,
}
