//! Claude Code: one JSON object a line, in `~/.claude/projects/<folder>/<session>.jsonl`.
//!
//! Each content block of a message has a line of its own. Lines of subagents (`isSidechain`) are not the session's.
//! `origin` and `promptSource` say who wrote a user-role line; in versions before those, its text does.

use std::borrow::Cow;
use std::fmt;

use journal::PromptOrigin;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::tools::{TOOLS, tagged, task_end};
use crate::prompts::Authors;
use crate::tools::{Reported, ResultText};
use crate::transcript::forward::{Read, Reader};
use crate::transcript::json::{self, Block, Scalar};
use crate::transcript::normal::{self, Entry};
use crate::transcript::outputs::{TaskEnd, task_in};

/// The path of the file that was read is within this many bytes of a result.
const PATH_BYTES: usize = 1_024;

/// How the note begins that a person stopped the agent.
const INTERRUPTED: &str = "[Request interrupted by user";

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    timestamp: Scalar<'a>,
    session_id: Scalar<'a>,
    cwd: Scalar<'a>,
    git_branch: Scalar<'a>,
    version: Scalar<'a>,
    entrypoint: Scalar<'a>,
    is_sidechain: Scalar<'a>,
    is_meta: Scalar<'a>,
    is_compact_summary: Scalar<'a>,
    prompt_source: Scalar<'a>,
    tool_denial_kind: Scalar<'a>,
    #[serde(rename = "sourceToolUseID")]
    source_tool_use_id: Scalar<'a>,
    origin: Option<&'a RawValue>,
    tool_use_result: Option<&'a RawValue>,
    attachment: Option<&'a RawValue>,
    message: Option<Message<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Content<'a>,
}

impl Message<'_> {
    /// Returns whether the message has neither a text nor blocks: Qwen Code's lines are like these, with parts.
    fn is_foreign(&self) -> bool {
        matches!(self.content, Content::Nothing)
    }
}

/// The content of a message: a text, or a list of blocks.
#[derive(Default)]
enum Content<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Task<'a> {
    #[serde(borrow)]
    background_task_id: Scalar<'a>,
    agent_id: Scalar<'a>,
    is_async: Scalar<'a>,
    total_tool_use_count: Scalar<'a>,
}

impl<'a> Task<'a> {
    /// Returns what it says of a subagent; `text` is the result as the model got it.
    fn subagent(&self, text: &str) -> Option<Reported<'a>> {
        let id = self.agent_id.owned()?;
        Some(Reported {
            id: Some(Cow::Owned(id)),
            calls: self
                .total_tool_use_count
                .count()
                .or_else(|| tool_uses(text)),
            continues: self.is_async.is_true(),
        })
    }
}

/// Reads from a report how many tools the subagent used: `<tool_uses>3</tool_uses>`, or a line of its own.
fn tool_uses(text: &str) -> Option<u64> {
    let usage = tagged(text, "usage")?;
    let line = || {
        usage
            .lines()
            .find_map(|line| line.trim().strip_prefix("tool_uses:"))
    };
    tagged(usage, "tool_uses")
        .or_else(line)?
        .trim()
        .parse()
        .ok()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Kinded<'a> {
    #[serde(borrow)]
    kind: Scalar<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    content: Option<&'a RawValue>,
    prompt: Option<&'a RawValue>,
    command_mode: Scalar<'a>,
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
    let line: Line<'_> = serde_json::from_str(text)?;
    if !matches!(line.kind.text(), "user" | "assistant" | "attachment")
        || line.session_id.text().is_empty()
        || line.message.as_ref().is_some_and(Message::is_foreign)
    {
        return Ok(Read::Nothing);
    }
    reader.place([&line.session_id, &line.cwd, &line.git_branch, &line.version]);
    reader.facts.headless |= line.entrypoint.text() == "sdk-cli";
    // What a person types while the agent works is attached to the turn (spec EVID-15).
    let may_begin = line.kind.text() == "user";
    if line.is_sidechain.is_true() == is_subagents {
        add_entries(line, reader.authors, &mut reader.entries);
    }
    Ok(Read::Own { may_begin })
}

fn add_entries<'a>(mut line: Line<'a>, authors: &Authors<'_>, entries: &mut Vec<Entry<'a>>) {
    let content = line
        .message
        .take()
        .map(|message| message.content)
        .unwrap_or_default();
    match line.kind.text() {
        "assistant" => add_assistant(&line, content, entries),
        "user" => add_user(&line, content, authors, entries),
        _ => add_attachment(&line, authors, entries),
    }
}

fn add_assistant<'a>(line: &Line<'a>, content: Content<'a>, entries: &mut Vec<Entry<'a>>) {
    let at = line.timestamp.time();
    let blocks = match content {
        Content::Blocks(blocks) => blocks,
        Content::Text(text) => return entries.push(Entry::Assistant { text, at }),
        Content::Nothing => return,
    };
    for block in blocks {
        match (block.kind.text(), block.text) {
            ("text", Scalar::Text(text)) => entries.push(Entry::Assistant { text, at }),
            ("tool_use", _) => {
                let input = json::value(block.input);
                let (id, tool) = (block.id.text(), block.name.text());
                entries.push(Entry::Call {
                    call: normal::begun(&TOOLS, id, tool, &input, at),
                    is_echo: false,
                    task: task_in(&input),
                });
            }
            _ => {}
        }
    }
}

fn add_user<'a>(
    line: &Line<'a>,
    content: Content<'a>,
    authors: &Authors<'_>,
    entries: &mut Vec<Entry<'a>>,
) {
    let at = line.timestamp.time();
    let text = match content {
        Content::Nothing => return,
        Content::Text(text) => text,
        Content::Blocks(blocks)
            if blocks
                .iter()
                .any(|block| block.kind.text() == "tool_result") =>
        {
            return entries.extend(blocks.into_iter().filter_map(|block| result(line, block)));
        }
        Content::Blocks(blocks) => {
            // An editor puts its open files before the words of its user.
            let texts = blocks.iter().map(|block| block.text.text());
            let own: Vec<&str> = texts
                .clone()
                .filter(|text| !authors.is_host(text))
                .collect();
            Cow::Owned(
                if own.is_empty() {
                    texts.collect::<Vec<_>>()
                } else {
                    own
                }
                .join("\n"),
            )
        }
    };
    let origin = origin(line, &text, authors);
    if text.starts_with(INTERRUPTED) {
        entries.push(Entry::Interrupted { at });
    }
    entries.extend(task_ended(&text).filter(|_| origin == PromptOrigin::Host));
    if let Scalar::Text(id) = &line.source_tool_use_id {
        let (id, text) = (id.clone(), text.clone());
        entries.push(Entry::Printed { id, text });
    }
    entries.push(Entry::User { text, at, origin });
}

/// Says who wrote a user-role line.
fn origin(line: &Line<'_>, text: &str, authors: &Authors<'_>) -> PromptOrigin {
    let by_text = authors.origin(text, false);
    if by_text == PromptOrigin::Own || text.starts_with(INTERRUPTED) {
        return by_text;
    }
    if line.is_meta.is_true() || line.is_compact_summary.is_true() {
        return PromptOrigin::Host;
    }
    let said = json::part::<Kinded<'_>>(line.origin);
    match (
        said.as_ref().map_or("", |said| said.kind.text()),
        line.prompt_source.text(),
    ) {
        ("human", _) | ("", "typed" | "sdk") => PromptOrigin::User,
        ("", "") => by_text,
        ("", "system") => PromptOrigin::Host,
        ("", _) => by_text,
        (_, _) => PromptOrigin::Host,
    }
}

fn result<'a>(line: &Line<'a>, block: Block<'a>) -> Option<Entry<'a>> {
    let id = block.tool_use_id;
    let failed = block.is_error.is_true();
    // The text of a file that was read or edited is not needed, and may be long.
    let is_file = line.tool_use_result.is_some_and(|result| {
        let head = |bytes: usize| result.get().get(..bytes).unwrap_or(result.get());
        // The file with the output of a command in the background is not a file of the project.
        head(64).contains("\"filePath\"") && !head(PATH_BYTES).contains(".output\"")
    });
    let text = if failed || !is_file {
        json::plain(block.content)
    } else {
        Cow::Borrowed("")
    };
    let task = json::part::<Task<'_>>(line.tool_use_result);
    let result = ResultText {
        subagent: task.as_ref().and_then(|task| task.subagent(&text)),
        is_error: block.is_error.flag(),
        refused: !line.tool_denial_kind.text().is_empty(),
        running: line
            .tool_use_result
            .is_some_and(|result| result.get().contains("\"backgroundTaskId\":")),
        task: task
            .and_then(|task| task.background_task_id.owned())
            .map(Cow::Owned),
        text,
        ..ResultText::default()
    };
    Entry::result(id, result, line.timestamp.time())
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
fn add_attachment<'a>(line: &Line<'a>, authors: &Authors<'_>, entries: &mut Vec<Entry<'a>>) {
    let Some(attachment) = json::part::<Attachment<'_>>(line.attachment) else {
        return;
    };
    let at = line.timestamp.time();
    match attachment.kind.text() {
        "hook_additional_context" => {
            let texts: Vec<String> = json::part(attachment.content).unwrap_or_default();
            let own = texts.into_iter().find(|text| authors.is_own(text));
            entries.extend(own.map(|text| Entry::User {
                text: text.into(),
                at,
                origin: PromptOrigin::Own,
            }));
        }
        "queued_command" if attachment.command_mode.text() == "task-notification" => {
            entries.extend(task_ended(&json::plain(attachment.prompt)));
        }
        "queued_command" if matches!(attachment.command_mode.text(), "" | "prompt") => {
            let text = json::plain(attachment.prompt);
            if !text.is_empty() {
                entries.push(Entry::user(text, at, authors));
            }
        }
        _ => {}
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = list.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::Nothing)
    }
}
