//! What a rollout says about runs: items, and events of older rollouts.

use std::borrow::Cow;

use journal::{PromptOrigin, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::tools::TOOLS;
use crate::prompts::Authors;
use crate::tools::ResultText;
use crate::transcript::json::{self as read_json, Scalar};
use crate::transcript::normal::{self, Entry};

/// What was run: an item, or an event of an older rollout.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    id: Scalar<'a>,
    call_id: Scalar<'a>,
    content: Option<&'a RawValue>,
    fragments: Option<&'a RawValue>,
    command: Option<&'a RawValue>,
    source: Scalar<'a>,
    status: Scalar<'a>,
    exit_code: Scalar<'a>,
    success: Scalar<'a>,
    aggregated_output: Option<&'a RawValue>,
    stderr: Option<&'a RawValue>,
    duration: Option<&'a RawValue>,
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
            entries.push(said(text, at, authors, PromptOrigin::User));
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
            entries.push(said(text.into(), at, authors, PromptOrigin::Host));
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

/// Returns a message that is ours by its text, or of its known author.
fn said<'a>(
    text: Cow<'a, str>,
    at: Timestamp,
    authors: &Authors<'_>,
    author: PromptOrigin,
) -> Entry<'a> {
    let origin = match authors.is_own(&text) {
        true => PromptOrigin::Own,
        false => author,
    };
    Entry::User { text, at, origin }
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
    let id = match item.call_id.text() {
        "" => item.id,
        _ => item.call_id,
    };
    let id = id.into_text().unwrap_or_default();
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
        is_error: exit_code.is_none().then_some(failed),
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

/// Writes the headers of a patch that makes these changes.
fn patch_of(changes: Option<&RawValue>) -> String {
    let changes: serde_json::Map<String, Value> = read_json::part(changes).unwrap_or_default();
    let headers = changes.iter().map(|(path, change)| {
        let adds =
            change.get("type").is_some_and(|kind| kind == "add") || change.get("add").is_some();
        format!("*** {} File: {path}\n", if adds { "Add" } else { "Update" })
    });
    headers.collect()
}

fn milliseconds(duration: Option<&RawValue>) -> Option<u64> {
    #[derive(Deserialize)]
    struct Parts {
        secs: u64,
        nanos: u64,
    }
    let Parts { secs, nanos } = read_json::part(duration)?;
    Some(secs.saturating_mul(1_000).saturating_add(nanos / 1_000_000))
}
