//! What a rollout says about runs: items, and events of older rollouts.

use std::borrow::Cow;

use journal::{PromptOrigin, Timestamp};
use serde_json::{Value, json};

use super::tools::TOOLS;
use crate::prompts::Authors;
use crate::tools::ResultText;
use crate::transcript::json::Object;
use crate::transcript::normal::{self, Entry};

/// Adds what an item says, or an event of an older rollout.
pub(super) fn add_item<'a>(
    item: &Object<'a>,
    at: Timestamp,
    authors: &Authors<'_>,
    entries: &mut Vec<Entry<'a>>,
) {
    match &*item.word("type") {
        "UserMessage" => {
            let text = item.plain("content");
            entries.push(said(text, at, authors, PromptOrigin::User));
        }
        "HookPrompt" => {
            // As the model gets it.
            let fragments = item.objects("fragments").into_iter();
            let texts = fragments.filter_map(|fragment| fragment.text("text"));
            let texts = texts.map(|text| format!("<hook_prompt>{text}</hook_prompt>"));
            let text = texts.collect::<Vec<_>>().join("\n");
            entries.push(said(text.into(), at, authors, PromptOrigin::Host));
        }
        "AgentMessage" => entries.extend(Entry::said(Some(item.plain("content")), at)),
        "CommandExecution" | "exec_command_end" => add_run(item, true, at, entries),
        "FileChange" | "patch_apply_end" => add_run(item, false, at, entries),
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

/// Adds a command or a patch that was run, and its end.
fn add_run<'a>(item: &Object<'a>, is_command: bool, at: Timestamp, entries: &mut Vec<Entry<'a>>) {
    let source = item.word("source");
    // A person's own `!` command is not the agent's.
    if source == "user_shell" {
        return;
    }
    let duration_ms = milliseconds(&item.object("duration"));
    let id = item.text("call_id").filter(|id| !id.is_empty());
    let id = id.unwrap_or_else(|| item.word("id"));
    let (tool, input) = if is_command {
        ("exec_command", json!({ "command": item.value("command") }))
    } else {
        ("apply_patch", Value::from(patch_of(&item.value("changes"))))
    };
    // A second check of a running command is not a second command.
    if source != "unified_exec_interaction" {
        let began = at.minus(std::time::Duration::from_millis(duration_ms.unwrap_or(0)));
        entries.push(Entry::Call {
            call: normal::begun(&TOOLS, &id, tool, &input, began),
            is_echo: true,
            task: None,
        });
    }
    entries.push(Entry::Result {
        id,
        result: ended(item, is_command),
        at,
        duration_ms,
    });
}

fn ended<'a>(item: &Object<'a>, is_command: bool) -> ResultText<'a> {
    let status = item.word("status");
    let exit_code = item.number("exit_code").filter(|_| is_command);
    let failed = status == "failed" || item.flag("success") == Some(false);
    ResultText {
        is_error: exit_code.is_none().then_some(failed),
        exit_code,
        refused: status == "declined",
        running: status == "in_progress",
        // The text of successful edits is not needed, and may be long.
        text: match (is_command, failed) {
            (true, _) => item.plain("aggregated_output"),
            (false, true) => item.plain("stderr"),
            (false, false) => Cow::Borrowed(""),
        },
        ..ResultText::default()
    }
}

/// Writes the headers of a patch that makes these changes.
fn patch_of(changes: &Value) -> String {
    let changes = changes.as_object().into_iter().flatten();
    let headers = changes.map(|(path, change)| {
        let adds =
            change.get("type").is_some_and(|kind| kind == "add") || change.get("add").is_some();
        format!("*** {} File: {path}\n", if adds { "Add" } else { "Update" })
    });
    headers.collect()
}

fn milliseconds(duration: &Object<'_>) -> Option<u64> {
    let (secs, nanos) = (duration.count("secs")?, duration.count("nanos")?);
    Some(secs.saturating_mul(1_000).saturating_add(nanos / 1_000_000))
}
