//! Copilot: one JSON object a line, `{type, data, id, timestamp, parentId}`, in
//! `~/.copilot/session-state/<session>/events.jsonl`. Lines with `parentToolCallId` are a subagent's.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::tools::TOOLS;
use crate::prompts::Authors;
use crate::tools::ResultText;
use crate::transcript::facts::Facts;
use crate::transcript::forward::Read;
use crate::transcript::json::{self, Scalar};
use crate::transcript::normal::{self, Entry};

/// Only lines with one of these can hold anything of interest.
const MARKS: [&str; 5] = [
    "\"session.start\"",
    "\"user.message\"",
    "\"assistant.message\"",
    "\"tool.execution_complete\"",
    "\"abort\"",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    timestamp: Scalar<'a>,
    #[serde(borrow, default)]
    data: Option<Data<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow, default)]
    session_id: Scalar<'a>,
    #[serde(borrow, default)]
    copilot_version: Scalar<'a>,
    #[serde(borrow, default)]
    context: Option<&'a RawValue>,
    #[serde(borrow, default)]
    parent_tool_call_id: Scalar<'a>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_requests: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call_id: Scalar<'a>,
    #[serde(borrow, default)]
    success: Scalar<'a>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    shell_execution: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Context<'a> {
    #[serde(borrow, default)]
    cwd: Scalar<'a>,
    #[serde(borrow, default)]
    branch: Scalar<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow, default)]
    tool_call_id: Scalar<'a>,
    #[serde(borrow, default)]
    name: Scalar<'a>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// The result of a call.
#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow, default)]
    content: Scalar<'a>,
    #[serde(borrow, default)]
    message: Scalar<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Execution<'a> {
    #[serde(borrow, default)]
    exit_code: Scalar<'a>,
}

pub(super) fn line<'a>(
    text: &'a str,
    authors: &Authors<'_>,
    facts: &mut Facts,
    entries: &mut Vec<Entry<'a>>,
) -> Read {
    if !MARKS.iter().any(|mark| text.contains(mark)) {
        return Read::Nothing;
    }
    let Ok(line) = serde_json::from_str::<Line<'_>>(text) else {
        return Read::Broken;
    };
    let at = line.timestamp.time();
    let Some(data) = line.data.filter(|_| !line.id.text().is_empty()) else {
        return Read::Nothing;
    };
    if !data.parent_tool_call_id.text().is_empty() {
        return Read::Nothing;
    }
    match line.kind.text() {
        "session.start" => note_place(&data, facts),
        "user.message" => {
            let text = json::plain(data.content);
            let origin = authors.origin(&text, false);
            entries.push(Entry::User { text, at, origin });
            return Read::Own { may_begin: true };
        }
        "assistant.message" => {
            entries.push(Entry::Assistant {
                text: json::plain(data.content),
                at,
            });
            let requests: Vec<Request<'_>> = json::part(data.tool_requests).unwrap_or_default();
            entries.extend(requests.iter().map(|request| {
                let input = json::value(request.arguments);
                let (id, tool) = (request.tool_call_id.text(), request.name.text());
                Entry::Call {
                    call: normal::begun(&TOOLS, id, tool, &input, at),
                    is_echo: false,
                    task: None,
                }
            }));
        }
        "tool.execution_complete" => {
            let result = result(&data);
            if let Scalar::Text(id) = data.tool_call_id {
                entries.push(Entry::Result {
                    id,
                    result,
                    at,
                    duration_ms: None,
                });
            }
        }
        "abort" => entries.push(Entry::Interrupted { at }),
        _ => return Read::Nothing,
    }
    Read::Own { may_begin: false }
}

fn note_place(data: &Data<'_>, facts: &mut Facts) {
    let context: Option<Context<'_>> = json::part(data.context);
    let (cwd, branch) = context
        .map(|context| (context.cwd.owned(), context.branch.owned()))
        .unwrap_or_default();
    facts.session = data.session_id.owned();
    facts.host_version = data.copilot_version.owned();
    facts.cwd = cwd;
    facts.branch = branch;
}

fn result<'a>(data: &Data<'a>) -> ResultText<'a> {
    let exit_code = json::part::<Execution<'_>>(data.shell_execution)
        .and_then(|execution| execution.exit_code.number());
    let said: Option<Said<'_>> = json::part(data.result).or_else(|| json::part(data.error));
    let text = match said {
        Some(Said {
            content: Scalar::Text(text),
            ..
        }) => text,
        Some(Said {
            message: Scalar::Text(text),
            ..
        }) => text,
        _ => Cow::Borrowed(""),
    };
    ResultText {
        // A command that failed is a success.
        is_error: (data.success.flag() == Some(false)).then_some(true),
        exit_code,
        text,
        ..ResultText::default()
    }
}
