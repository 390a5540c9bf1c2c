//! Claude Code: one JSON object a line, in `~/.claude/projects/<folder>/<session>.jsonl`.
//!
//! Each content block of a message has a line of its own. Lines of subagents (`isSidechain`) are not the session's.
//! `origin` and `promptSource` say who wrote a user-role line; in versions before those, its text does.

use std::borrow::Cow;

use journal::{PromptOrigin, Timestamp};
use serde_json::value::RawValue;

use super::tools::{TOOLS, tagged, task_end};
use crate::prompts::Authors;
use crate::tools::{Reported, ResultText};
use crate::transcript::forward::{Read, Reader};
use crate::transcript::json::{self, Object};
use crate::transcript::normal::Entry;
use crate::transcript::outputs::TaskEnd;

/// The path of the file that was read is within this many bytes of a result.
const PATH_BYTES: usize = 1_024;

/// How the note begins that a person stopped the agent.
const INTERRUPTED: &str = "[Request interrupted by user";

/// Reads from a report how many tools the subagent used: `<tool_uses>3</tool_uses>`, or a line of its own.
fn tool_uses(text: &str) -> Option<u64> {
    let usage = tagged(text, "usage")?;
    let mut lines = usage.lines();
    let line = || lines.find_map(|line| line.trim().strip_prefix("tool_uses:"));
    let count = tagged(usage, "tool_uses").or_else(line)?;
    count.trim().parse().ok()
}

pub(super) fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    read(text, reader, false)
}

/// Reads a line of a subagent's own transcript.
pub(super) fn subagent_line<'a>(
    text: &'a str,
    reader: &mut Reader<'a, '_>,
) -> serde_json::Result<Read> {
    read(text, reader, true)
}

fn read<'a>(
    text: &'a str,
    reader: &mut Reader<'a, '_>,
    is_subagents: bool,
) -> serde_json::Result<Read> {
    let line = Object::read(text)?;
    let kind = line.word("type");
    let content = line.object("message").get("content");
    // Qwen Code's lines are like these, with parts instead of a text or a list of blocks.
    let is_own = match content {
        Some(content) => content.get().starts_with(['"', '[']),
        None => line.get("message").is_none(),
    };
    if !matches!(&*kind, "user" | "assistant" | "attachment")
        || line.word("sessionId").is_empty()
        || !is_own
    {
        return Ok(Read::Nothing);
    }
    reader.place(&line);
    reader.facts.headless |= line.word("entrypoint") == "sdk-cli";
    // What a person types while the agent works is attached to the turn (spec EVID-15).
    let may_begin = kind == "user";
    if line.is_true("isSidechain") == is_subagents {
        let (authors, entries) = (reader.authors, &mut reader.entries);
        match &*kind {
            "assistant" => add_assistant(content, line.time("timestamp"), entries),
            "user" => add_user(&line, content, authors, entries),
            _ => add_attachment(&line, authors, entries),
        }
    }
    Ok(Read::Own { may_begin })
}

fn add_assistant<'a>(content: Option<&'a RawValue>, at: Timestamp, entries: &mut Vec<Entry<'a>>) {
    let Some(blocks) = json::part::<Vec<Object<'_>>>(content) else {
        let text = content.map(|_| json::plain(content));
        return entries.extend(Entry::said(text, at));
    };
    entries.extend(
        blocks
            .iter()
            .filter_map(|block| match &*block.word("type") {
                "text" => Entry::said(block.text("text"), at),
                "tool_use" => Some(Entry::call(&TOOLS, block, ["id", "name", "input"], at)),
                _ => None,
            }),
    );
}

fn add_user<'a>(
    line: &Object<'a>,
    content: Option<&'a RawValue>,
    authors: &Authors<'_>,
    entries: &mut Vec<Entry<'a>>,
) {
    let at = line.time("timestamp");
    let is_result = |block: &Object<'_>| block.word("type") == "tool_result";
    let text = match json::part::<Vec<Object<'_>>>(content) {
        _ if content.is_none() => return,
        None => json::plain(content),
        Some(blocks) if blocks.iter().any(is_result) => {
            return entries.extend(blocks.iter().filter_map(|block| result(line, block)));
        }
        Some(blocks) => {
            // An editor puts its open files before the words of its user.
            let texts: Vec<_> = blocks.iter().map(|block| block.word("text")).collect();
            let (hosts, own): (Vec<_>, Vec<_>) =
                texts.iter().partition(|text| authors.is_host(text));
            let said = if own.is_empty() { hosts } else { own }.into_iter();
            let said: Vec<&str> = said.map(|text| &**text).collect();
            said.join("\n").into()
        }
    };
    let origin = origin(line, &text, authors);
    if text.starts_with(INTERRUPTED) {
        entries.push(Entry::Interrupted { at });
    }
    entries.extend(task_ended(&text).filter(|_| origin == PromptOrigin::Host));
    if let Some(id) = line.text("sourceToolUseID") {
        let text = text.clone();
        entries.push(Entry::Printed { id, text });
    }
    entries.push(Entry::User { text, at, origin });
}

/// Says who wrote a user-role line.
fn origin(line: &Object<'_>, text: &str, authors: &Authors<'_>) -> PromptOrigin {
    let by_text = authors.origin(text, false);
    if by_text == PromptOrigin::Own || text.starts_with(INTERRUPTED) {
        return by_text;
    }
    if line.is_true("isMeta") || line.is_true("isCompactSummary") {
        return PromptOrigin::Host;
    }
    let said = line.object("origin").word("kind");
    match (&*said, &*line.word("promptSource")) {
        ("human", _) | ("", "typed" | "sdk") => PromptOrigin::User,
        ("", "") => by_text,
        ("", "system") => PromptOrigin::Host,
        ("", _) => by_text,
        (_, _) => PromptOrigin::Host,
    }
}

fn result<'a>(line: &Object<'a>, block: &Object<'a>) -> Option<Entry<'a>> {
    let told = line.get("toolUseResult").map_or("", RawValue::get);
    let failed = block.is_true("is_error");
    // The text of a file that was read or edited is not needed, and may be long.
    let head = |bytes: usize| told.get(..bytes).unwrap_or(told);
    // The file with the output of a command in the background is not a file of the project.
    let is_file = head(64).contains("\"filePath\"") && !head(PATH_BYTES).contains(".output\"");
    let text = if failed || !is_file {
        block.plain("content")
    } else {
        Cow::Borrowed("")
    };
    let task = line.object("toolUseResult");
    let subagent = task.owned("agentId").map(|id| Reported {
        id: Some(id.into()),
        calls: task.count("totalToolUseCount").or_else(|| tool_uses(&text)),
        continues: task.is_true("isAsync"),
    });
    let result = ResultText {
        subagent,
        is_error: block.flag("is_error"),
        refused: !line.word("toolDenialKind").is_empty(),
        running: told.contains("\"backgroundTaskId\":"),
        task: task.owned("backgroundTaskId").map(Cow::Owned),
        text,
        ..ResultText::default()
    };
    Entry::result(block.text("tool_use_id"), result, line.time("timestamp"))
}

/// Reads the notice that something in the background ended: a command, or a subagent with its report.
fn task_ended<'a>(text: &str) -> Option<Entry<'a>> {
    let notice = text.trim_start().strip_prefix("<task-notification>")?;
    let (head, rest) = notice.split_once("<result>").unwrap_or((notice, ""));
    let (report, usage) = rest.rsplit_once("</result>").unwrap_or((rest, notice));
    let of_head = |tag| tagged(head, tag).map(|text| Cow::Owned(text.to_owned()));
    Some(Entry::TaskEnded(TaskEnd {
        task: of_head("task-id")?,
        call: of_head("tool-use-id"),
        failed: task_end(notice),
        report: Cow::Owned(report.to_owned()),
        calls: tool_uses(usage),
    }))
}

/// Text that a hook adds, and prompts that the agent handled while it was working, are attachments.
fn add_attachment<'a>(line: &Object<'a>, authors: &Authors<'_>, entries: &mut Vec<Entry<'a>>) {
    let attachment = line.object("attachment");
    let at = line.time("timestamp");
    match (&*attachment.word("type"), &*attachment.word("commandMode")) {
        ("hook_additional_context", _) => {
            let texts: Vec<String> = attachment.part("content").unwrap_or_default();
            let own = texts.into_iter().find(|text| authors.is_own(text));
            entries.extend(own.map(|text| Entry::User {
                text: text.into(),
                at,
                origin: PromptOrigin::Own,
            }));
        }
        ("queued_command", "task-notification") => {
            entries.extend(task_ended(&attachment.plain("prompt")));
        }
        ("queued_command", "" | "prompt") => {
            let text = attachment.plain("prompt");
            if !text.is_empty() {
                entries.push(Entry::user(text, at, authors));
            }
        }
        _ => {}
    }
}
