//! What the heuristics found, and how they came to it.

use journal::Action;
use serde::{Deserialize, Serialize};

/// What a stop's evidence says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Categories of the changed files, in the order of the rules (spec RULE-1).
    pub categories: Vec<String>,
    /// What is still to be done, in order (spec RULE-7).
    pub actions: Vec<Action>,
    /// What was noticed, one sentence each: verification gaps, errors, hygiene, drift.
    pub observations: Vec<String>,
    /// All that was expected has been seen.
    pub all_clear: bool,
    /// Nothing that is code changed.
    pub docs_only: bool,
    /// The changes are not known, so only the general message is possible (spec FILES-6).
    pub generic: bool,
    /// A failed call of this turn was not followed up (spec HYG-1).
    pub unresolved: bool,
    /// Identifies the demand: what is asked for, and the contents of the files behind it. None when nothing is.
    pub demand: Option<u64>,
    /// How each rule came to what it asks for, for `preview` and `explain`.
    pub trace: Vec<RuleTrace>,
}

/// How one rule came to what it asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleTrace {
    /// Its name.
    pub rule: String,
    /// Its pack.
    pub pack: String,
    /// The changed files that it took.
    pub files: Vec<String>,
    /// What it asks for and what was found about that; empty where another rule of these files speaks for it.
    pub actions: Vec<ActionTrace>,
}

/// What was found about one action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionTrace {
    /// What it is for.
    pub purpose: String,
    /// The instruction.
    pub text: String,
    /// Whether it is still to be done.
    pub stands: bool,
    /// The commands that would have shown that it was done.
    pub looked_for: Vec<String>,
    /// The calls that looked like it.
    pub found: Vec<TracedCall>,
}

/// A call that looked like an action's evidence.
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
    /// Nobody let it run, its result was never seen, it was a dry run, or it is not certain that it ran.
    NotRun,
    /// It failed.
    Failed,
    /// What has to come before it was not seen before it.
    TooEarly,
    /// A file that it covers was edited after it.
    BeforeEdit,
    /// It shows that the action was done.
    Counts,
}
