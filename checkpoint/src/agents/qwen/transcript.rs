//! Qwen Code: one JSON object a line, in `~/.qwen/projects/<folder>/chats/<session>.jsonl`.
//!
//! `provenance` says who wrote a line; in lines without it, the text does. The text of a stop hook is not written.

use std::borrow::Cow;

use journal::PromptOrigin;
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
const MARKS: [&str; 3] = ["\"user\"", "\"assistant\"", "\"tool_result\""];
/// The mark of a line that a person typed while the agent worked.
const MID_TURN: &str = "mid_turn_user_message";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    subtype: Scalar<'a>,
    #[serde(borrow, default)]
    provenance: Scalar<'a>,
    #[serde(borrow, default)]
    uuid: Scalar<'a>,
    #[serde(borrow, default)]
    session_id: Scalar<'a>,
    #[serde(borrow, default)]
    timestamp: Scalar<'a>,
    #[serde(borrow, default)]
    cwd: Scalar<'a>,
    #[serde(borrow, default)]
    git_branch: Scalar<'a>,
    #[serde(borrow, default)]
    version: Scalar<'a>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    tool_call_result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Scalar<'a>,
    #[serde(borrow, default)]
    thought: Scalar<'a>,
    #[serde(borrow, default)]
    function_call: Option<Use<'a>>,
    #[serde(borrow, default)]
    function_response: Option<Response<'a>>,
}

#[derive(Deserialize)]
struct Use<'a> {
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    name: Scalar<'a>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    output: Scalar<'a>,
    #[serde(borrow, default)]
    error: Scalar<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow, default)]
    status: Scalar<'a>,
    #[serde(borrow, default)]
    result_display: Option<&'a RawValue>,
}

/// How a command ended.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Display<'a> {
    #[serde(borrow, default)]
    exit_code: Scalar<'a>,
    #[serde(borrow, default)]
    output: Scalar<'a>,
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
    // Claude Code's lines have no parts.
    let is_own = matches!(line.kind.text(), "user" | "assistant" | "tool_result")
        && !line.session_id.text().is_empty()
        && !line.uuid.text().is_empty()
        && line.message.as_ref().is_some_and(|it| !it.parts.is_empty());
    if !is_own {
        return Read::Nothing;
    }
    for (known, said) in [
        (&mut facts.session, &line.session_id),
        (&mut facts.cwd, &line.cwd),
        (&mut facts.branch, &line.git_branch),
        (&mut facts.host_version, &line.version),
    ] {
        if known.is_none() {
            *known = said.owned();
        }
    }
    let may_begin = line.kind.text() == "user" && line.subtype.text() != MID_TURN;
    add_entries(line, authors, entries);
    Read::Own { may_begin }
}

fn add_entries<'a>(mut line: Line<'a>, authors: &Authors<'_>, entries: &mut Vec<Entry<'a>>) {
    let at = line.timestamp.time();
    let parts = line.message.take().map(|it| it.parts).unwrap_or_default();
    match line.kind.text() {
        "user" => {
            let texts: Vec<&str> = parts.iter().map(|part| part.text.text()).collect();
            let text: Cow<'_, str> = Cow::Owned(texts.join("\n"));
            let origin = origin(&line, &text, authors);
            entries.push(Entry::User { text, at, origin });
        }
        "assistant" => {
            for part in parts {
                match (part.function_call, part.text) {
                    (Some(call), _) => {
                        let input = json::value(call.args);
                        let (id, tool) = (call.id.text(), call.name.text());
                        entries.push(Entry::Call {
                            call: normal::begun(&TOOLS, id, tool, &input, at),
                            is_echo: false,
                            task: None,
                        });
                    }
                    (None, Scalar::Text(text)) if !part.thought.is_true() => {
                        entries.push(Entry::Assistant { text, at });
                    }
                    _ => {}
                }
            }
        }
        _ => {
            let ended: CallResult<'_> = json::part(line.tool_call_result).unwrap_or_default();
            let responses = parts.into_iter().filter_map(|part| part.function_response);
            entries.extend(responses.filter_map(|response| {
                let Scalar::Text(id) = response.id else {
                    return None;
                };
                Some(Entry::Result {
                    id,
                    result: result(&ended, response.response),
                    at,
                    duration_ms: None,
                })
            }));
        }
    }
}

fn origin(line: &Line<'_>, text: &str, authors: &Authors<'_>) -> PromptOrigin {
    match (authors.origin(text, false), line.provenance.text()) {
        (PromptOrigin::User, "" | "real_user") => PromptOrigin::User,
        (PromptOrigin::User, _) => PromptOrigin::Host,
        (by_text, _) => by_text,
    }
}

fn result<'a>(ended: &CallResult<'a>, response: Option<&'a RawValue>) -> ResultText<'a> {
    let display: Option<Display<'_>> = json::part(ended.result_display);
    let exit_code = display.as_ref().and_then(|it| it.exit_code.number());
    let (failed, text) = match json::part(response) {
        Some(Answer {
            error: Scalar::Text(text),
            ..
        }) => (true, text),
        Some(Answer {
            output: Scalar::Text(text),
            ..
        }) => (false, text),
        _ => (false, Cow::Borrowed("")),
    };
    // With a code of its own, a command's text is what the command printed.
    let text = match (exit_code, display.map(|it| it.output)) {
        (Some(_), Some(Scalar::Text(output))) => output,
        _ => text,
    };
    ResultText {
        is_error: match ended.status.text() {
            "success" => Some(false),
            "error" => Some(true),
            _ => Some(failed),
        },
        refused: ended.status.text() == "cancelled",
        exit_code,
        text,
        ..ResultText::default()
    }
}
