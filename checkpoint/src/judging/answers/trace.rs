//! The findings of a stop, and the trace that explains them.

use journal::{Action, ChangedFile};
use serde::{Deserialize, Serialize};

use super::{Answer, FAILED, TESTS, Verified};
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

/// One thing that a stop left open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenItem {
    /// What is missing, in a few words: `tests not run`, `tests failed`, or the instruction.
    pub what: String,
    /// The files that it is about, relative to the project; empty if it is about none.
    pub files: Vec<String>,
}

impl OpenItem {
    /// Returns it in one line: `tests not run: cart.py, 2 more`.
    pub fn line(&self) -> String {
        let mut line = self.what.clone();
        if let Some(first) = self.files.first() {
            line.push_str(": ");
            line.push_str(first.rsplit('/').next().unwrap_or(first));
        }
        if self.files.len() > 1 {
            line.push_str(&format!(", {} more", self.files.len() - 1));
        }
        line
    }
}

impl Findings {
    /// Keeps the demands for what is certainly open in these files (spec DECIDE-25).
    pub fn keep_open(&mut self, is_meant: impl Fn(&str) -> bool) {
        let traced = self.trace.iter().flat_map(|rule| &rule.actions);
        let is_open = |answer: &Answer| answer.verified == Verified::Open && is_meant(&answer.file);
        let open = traced.filter(|traced| traced.stands && traced.answers.iter().any(is_open));
        let open: Vec<&str> = open.map(|traced| traced.text.as_str()).collect();
        self.actions
            .retain(|action| open.contains(&action.text.as_str()));
        self.gaps.clear();
        self.observations.clear();
    }

    /// Returns what is open, in the order of the message.
    pub fn open(&self) -> Vec<OpenItem> {
        let actions = self.actions.iter().map(|action| self.item(action));
        let observations = self.observations.iter().map(|text| OpenItem {
            what: text.clone(),
            files: Vec::new(),
        });
        actions.chain(observations).collect()
    }

    fn item(&self, action: &Action) -> OpenItem {
        let traced = self
            .trace
            .iter()
            .flat_map(|rule| &rule.actions)
            .find(|traced| traced.stands && traced.text == action.text);
        let open = traced.into_iter().flat_map(|traced| &traced.answers);
        let open: Vec<&Answer> = open
            .filter(|answer| answer.verified == Verified::Open)
            .collect();
        let what = if traced.is_none_or(|traced| traced.purpose != TESTS) {
            action.text.clone()
        } else if !open.is_empty() && open.iter().all(|answer| answer.row == FAILED) {
            "tests failed".to_owned()
        } else {
            "tests not run".to_owned()
        };
        OpenItem {
            what,
            files: open.iter().map(|answer| answer.file.clone()).collect(),
        }
    }
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
