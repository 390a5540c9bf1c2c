//! The findings of each rule, in the words that the terminal and the page show.

use checkpoint::judging::{self, Answer, Findings, Outcome, TracedCall, Verified};
use checkpoint::rules::RuleAction;
use checkpoint::text;
use journal::{Action, Timeline, TimelineSource};
use serde::{Deserialize, Serialize};

/// The most expected commands that are named; the others are counted.
const NAMED_MAX: usize = 4;
/// The most of a command line that is shown.
const COMMAND_CHARS_MAX: usize = 90;

/// What the rules found in a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RulesView {
    pub(crate) categories: Vec<String>,
    pub(crate) actions: Vec<Action>,
    pub(crate) observations: Vec<String>,
    pub(crate) all_clear: bool,
    pub(crate) docs_only: bool,
    pub(crate) generic: bool,
    pub(crate) unresolved: bool,
    pub(crate) trace: Vec<RuleTrace>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuleTrace {
    pub(crate) rule: String,
    pub(crate) pack: String,
    /// The changed files that triggered it; empty for a rule that applies to every stop.
    pub(crate) files: Vec<String>,
    pub(crate) actions: Vec<ActionTrace>,
}

/// The findings about one action, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ActionTrace {
    #[serde(flatten)]
    pub(crate) action: judging::ActionTrace,
    /// The calls that would satisfy the action.
    pub(crate) looked: String,
    /// One line for each similar call, or one line that says why there is none.
    pub(crate) seen: Vec<String>,
}

impl RulesView {
    pub(crate) fn new(findings: Findings, timeline: &Timeline) -> Self {
        let rule = |rule: judging::RuleTrace| RuleTrace {
            rule: rule.rule,
            pack: rule.pack,
            files: rule.files,
            actions: rule
                .actions
                .into_iter()
                .map(|action| ActionTrace {
                    looked: looked(&action.looked_for),
                    seen: seen(&action, timeline),
                    action,
                })
                .collect(),
        };
        Self {
            categories: findings.categories,
            actions: findings.actions,
            observations: findings.observations,
            all_clear: findings.all_clear,
            docs_only: findings.docs_only,
            generic: findings.generic,
            unresolved: findings.unresolved,
            trace: findings.trace.into_iter().map(rule).collect(),
        }
    }
}

fn looked(commands: &[String]) -> String {
    if commands.is_empty() {
        return "nothing: no command shows that it was done".into();
    }
    let commands: Vec<String> = commands.iter().map(|command| in_words(command)).collect();
    let named = commands[..commands.len().min(NAMED_MAX)].join(", ");
    match commands.len().saturating_sub(NAMED_MAX) {
        0 => named,
        // `and 1 more` would be as long as the command itself.
        1 => commands.join(", "),
        more => format!("{named} and {more} more"),
    }
}

/// A command, or `any Rust tests` for all commands that the catalogue knows as such.
fn in_words(command: &str) -> String {
    RuleAction::stands_for(command).map_or_else(
        || command.to_owned(),
        |_| format!("any {}", command.trim_matches(['{', '}'])),
    )
}

fn seen(action: &judging::ActionTrace, timeline: &Timeline) -> Vec<String> {
    if !action.answers.is_empty() {
        return action.answers.iter().map(answer).collect();
    }
    if !action.found.is_empty() {
        return action.found.iter().map(call).collect();
    }
    let nothing = match timeline.calls.len() {
        _ if action.looked_for.is_empty() => return Vec::new(),
        _ if timeline.source == TimelineSource::None => {
            "nothing: the agent's calls are unknown".into()
        }
        0 => "nothing: the agent called no tool".into(),
        calls => format!("nothing like it in {}", text::count(calls, "call", "calls")),
    };
    vec![nothing]
}

/// `open (nothing ran, EVID-3): src/a.py, nothing that could show a mistake ran after the last change`.
fn answer(answer: &Answer) -> String {
    let verified = match answer.verified {
        Verified::Done => "done",
        Verified::Open => "open",
        Verified::Unknown => "unknown",
    };
    format!(
        "{verified} ({}, {}): {}, {}",
        answer.row, answer.spec, answer.file, answer.why
    )
}

fn call(seen: &TracedCall) -> String {
    let outcome = match seen.outcome {
        Outcome::Counts => "counts",
        Outcome::NotRun => "was not certainly run",
        Outcome::Unclear => "hides how it ended",
        Outcome::Failed => "failed",
        Outcome::TooEarly => "came before what it has to follow",
        Outcome::BeforeEdit => "came before the last edit",
    };
    format!(
        "call {} `{}`: {outcome}",
        seen.call + 1,
        crate::render::cut(&seen.command, COMMAND_CHARS_MAX)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_short() {
        let looked = |commands: &str| {
            looked(
                &commands
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(looked("a b c d"), "a, b, c, d");
        assert_eq!(looked("a b c d e"), "a, b, c, d, e");
        assert_eq!(looked("a b c d e f"), "a, b, c, d and 2 more");
        assert_eq!(looked(""), "nothing: no command shows that it was done");
    }
}
