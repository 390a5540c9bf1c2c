//! What a rollout says about runs: items, and events of older rollouts.

use std::borrow::Cow;

use journal::{PromptOrigin, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::tools::TOOLS;
use super::values::{milliseconds, patch_of, text};
use crate::prompts::Authors;
use crate::tools::ResultText;
use crate::transcript::json::{self as read_json, Scalar};
use crate::transcript::normal::{self, Entry};

/// What was run: an item, or an event of an older rollout.
#[derive(Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    call_id: Scalar<'a>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    fragments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    command: Option<&'a RawValue>,
    #[serde(borrow, default)]
    source: Scalar<'a>,
    #[serde(borrow, default)]
    status: Scalar<'a>,
    #[serde(borrow, default)]
    exit_code: Scalar<'a>,
    #[serde(borrow, default)]
    success: Scalar<'a>,
    #[serde(borrow, default)]
    aggregated_output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stderr: Option<&'a RawValue>,
    #[serde(borrow, default)]
    duration: Option<&'a RawValue>,
    #[serde(borrow, default)]
    changes: Option<&'a RawValue>,
}

pub(super) fn add_item<'a>(
    item: Item<'a>,
    at: Timestamp,
    authors: &Authors<'_>,
    entries: &mut Vec<Entry<'a>>,
) {
    match item.kind.text() {
        "UserMessage" => {
            let text = read_json::plain(item.content);
            let is_own = authors.is_own(&text);
            let origin = if is_own {
                PromptOrigin::Own
            } else {
                PromptOrigin::User
            };
            entries.push(Entry::User { text, at, origin });
        }
        "HookPrompt" => {
            // As the model gets it.
            let fragments: Vec<Value> = read_json::part(item.fragments).unwrap_or_default();
            let texts = fragments
                .iter()
                .filter_map(|fragment| fragment.get("text")?.as_str());
            let text = texts
                .map(|text| format!("<hook_prompt>{text}</hook_prompt>"))
                .collect::<Vec<_>>()
                .join("\n");
            let is_own = authors.is_own(&text);
            let origin = if is_own {
                PromptOrigin::Own
            } else {
                PromptOrigin::Host
            };
            entries.push(Entry::User {
                text: text.into(),
                at,
                origin,
            });
        }
        "AgentMessage" => entries.push(Entry::Assistant {
            text: read_json::plain(item.content),
            at,
        }),
        "CommandExecution" | "exec_command_end" | "FileChange" | "patch_apply_end" => {
            add_run(item, at, entries)
        }
        _ => {}
    }
}

/// Adds a command that was run, and its end.
fn add_run<'a>(item: Item<'a>, at: Timestamp, entries: &mut Vec<Entry<'a>>) {
    // A person's own `!` command is not the agent's.
    if item.source.text() == "user_shell" {
        return;
    }
    let is_command = matches!(item.kind.text(), "CommandExecution" | "exec_command_end");
    let duration_ms = milliseconds(item.duration);
    let ended = ended(&item, is_command);
    let id = text(if item.call_id.text().is_empty() {
        item.id
    } else {
        item.call_id
    });
    let (tool, input) = if is_command {
        (
            "exec_command",
            json!({ "command": read_json::value(item.command) }),
        )
    } else {
        ("apply_patch", Value::from(patch_of(item.changes)))
    };
    // A second check of a running command is not a second command.
    if item.source.text() != "unified_exec_interaction" {
        let began = at.minus(std::time::Duration::from_millis(duration_ms.unwrap_or(0)));
        entries.push(Entry::Call {
            call: normal::begun(&TOOLS, &id, tool, &input, began),
            is_echo: true,
            task: None,
        });
    }
    entries.push(Entry::Result {
        id,
        result: ended,
        at,
        duration_ms,
    });
}

fn ended<'a>(item: &Item<'a>, is_command: bool) -> ResultText<'a> {
    let status = item.status.text();
    let exit_code = item.exit_code.number().filter(|_| is_command);
    let failed = status == "failed" || item.success.flag() == Some(false);
    let raw = if is_command {
        item.aggregated_output
    } else {
        item.stderr
    };
    ResultText {
        is_error: if exit_code.is_some() {
            None
        } else {
            Some(failed)
        },
        exit_code,
        refused: status == "declined",
        running: status == "in_progress",
        // The text of successful edits is not needed, and may be long.
        text: if is_command || failed {
            read_json::plain(raw)
        } else {
            Cow::Borrowed("")
        },
        ..ResultText::default()
    }
}
