//! What a stop's evidence says: what is still to be done, and what was noticed. Deterministic, no I/O (002 R2-R8).
//!
//! Every heuristic looks for positive evidence first and keeps quiet when it finds it; where evidence is missing or
//! ambiguous it speaks (002 R8). The order of everything is fixed, so equal evidence gives an equal checkpoint.

mod actions;
mod errors;
mod hygiene;
mod paths;
mod proof;
mod slug;
#[cfg(test)]
mod tests;

use journal::{Action, ChangedFile, Evidence, TimelineSource};
use serde::Serialize;

use crate::policy::Policy;
use crate::rules::{Kind, RuleSet};
use crate::{digest, shell};

pub use slug::plan_files;

/// What a stop's evidence says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Categories of the changed files, in the order of the rules (002 R2).
    pub categories: Vec<String>,
    /// What is still to be done, in order (002 R9).
    pub actions: Vec<Action>,
    /// What was noticed, one sentence each: verification gaps, errors, hygiene, drift.
    pub observations: Vec<String>,
    /// All that was expected has been seen.
    pub all_clear: bool,
    /// Nothing that is code changed.
    pub docs_only: bool,
    /// The changes are not known, so only the general message is possible (001 inv 13).
    pub generic: bool,
    /// A failed call of this turn was not followed up (002 R5).
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    pub found: Vec<Seen>,
}

/// A call that looked like an action's evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// Its position in the timeline, from 0.
    pub call: usize,
    /// The command line, shortened.
    pub command: String,
    /// Whether it counts, or why it does not.
    pub outcome: Outcome,
}

/// Whether a call counts as evidence, or why it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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

/// The evidence in the form that every heuristic looks at.
pub(crate) struct Turn<'a> {
    evidence: &'a Evidence,
    files: &'a [ChangedFile],
    project: &'a str,
    policy: &'a Policy,
    elapsed_ms: Option<u64>,
    rules: RuleSet<'a>,
    /// What each shell call does, by its position; nothing for other calls.
    lines: Vec<shell::CommandLine>,
}

impl Turn<'_> {
    /// Returns whether the turn's calls are known at all.
    fn has_timeline(&self) -> bool {
        self.evidence.timeline.source != TimelineSource::None
    }
}

/// Returns what the evidence of a stop says.
///
/// `project` is the top of the work tree, empty where it is not known.
pub fn find(
    evidence: &Evidence,
    elapsed_ms: Option<u64>,
    project: &str,
    policy: &Policy,
) -> Findings {
    let Some(files) = evidence.changes.files() else {
        // Without the changes there is nothing to go by; the general message says what always holds (001 inv 13).
        return Findings {
            generic: true,
            ..Findings::default()
        };
    };
    let lines = evidence.timeline.calls.iter().map(|call| {
        let line = call
            .command
            .as_deref()
            .filter(|_| call.kind == journal::ToolKind::Shell);
        line.map(shell::read).unwrap_or_default()
    });
    let rules = RuleSet::new(&policy.rules);
    let turn = Turn {
        evidence,
        files,
        project,
        policy,
        elapsed_ms,
        rules,
        lines: lines.collect(),
    };
    let claims = actions::Claims::new(&turn);
    let mut findings = actions::find(&turn, &claims);
    if turn.has_timeline() {
        let errors = errors::find(&turn);
        findings.unresolved = !errors.is_empty();
        findings.observations.extend(errors);
        findings
            .observations
            .extend(hygiene::edits_without_read(&turn));
    }
    findings
        .observations
        .extend(hygiene::wide_blast_radius(files));
    findings.observations.extend(slug::drift(&turn));
    findings.docs_only = !claims.any_of(|kind| kind != Kind::Docs);
    findings.all_clear =
        !findings.docs_only && findings.actions.is_empty() && findings.observations.is_empty();
    findings
}

/// Returns what identifies a demand: purposes, and the contents of the files behind them.
fn demand(purposes: &[&str], files: &[&ChangedFile]) -> Option<u64> {
    if purposes.is_empty() {
        return None;
    }
    let mut text = purposes.join("\n");
    for file in files {
        text.push_str(&format!("\n{}\0{:?}", file.path, file.hash));
    }
    Some(digest::of_text(&text))
}
