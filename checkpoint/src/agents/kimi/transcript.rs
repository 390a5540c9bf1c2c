//! Kimi Code: one JSON object a line, in `~/.kimi-code/sessions/<folder>/<session>/agents/main/wire.jsonl`. Messages are
//! `context.append_message`, what the model says and does `context.append_loop_event`; the lines around them repeat it.

use journal::{PromptOrigin, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::tools::TOOLS;
use crate::prompts::Authors;
use crate::tools::ResultText;
use crate::transcript::facts::Facts;
use crate::transcript::forward::Read;
use crate::transcript::json::{self, Scalar};
use crate::transcript::normal::{self, Entry};

const MESSAGE: &str = "context.append_message";
const STEP: &str = "context.append_loop_event";

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    time: Scalar<'a>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    event: Option<Step<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Scalar<'a>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    origin: Option<Origin<'a>>,
}

#[derive(Deserialize)]
struct Origin<'a> {
    #[serde(borrow, default)]
    kind: Scalar<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    part: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call_id: Scalar<'a>,
    #[serde(borrow, default)]
    name: Scalar<'a>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ended<'a> {
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_error: Scalar<'a>,
    #[serde(borrow, default)]
    duration_ms: Scalar<'a>,
}

pub(super) fn line<'a>(
    text: &'a str,
    authors: &Authors<'_>,
    _: &mut Facts,
    entries: &mut Vec<Entry<'a>>,
) -> Read {
    if ![MESSAGE, STEP].iter().any(|mark| text.contains(mark)) {
        return Read::Nothing;
    }
    let Ok(line) = serde_json::from_str::<Line<'_>>(text) else {
        return Read::Broken;
    };
    let millis = line.time.number().unwrap_or_default();
    let at = Timestamp::from_micros(millis.saturating_mul(1000));
    match (line.kind.text(), line.message, line.event) {
        (MESSAGE, Some(message), _) if message.role.text() == "user" => {
            let text = json::plain(message.content);
            let is_persons = message
                .origin
                .is_some_and(|origin| origin.kind.text() == "user");
            let origin = match authors.origin(&text, false) {
                PromptOrigin::User if !is_persons => PromptOrigin::Host,
                by_text => by_text,
            };
            entries.push(Entry::User { text, at, origin });
            Read::Own { may_begin: true }
        }
        (STEP, _, Some(step)) => match entry(step, at) {
            Some(entry) => {
                entries.push(entry);
                Read::Own { may_begin: false }
            }
            None => Read::Nothing,
        },
        _ => Read::Nothing,
    }
}

fn entry(step: Step<'_>, at: Timestamp) -> Option<Entry<'_>> {
    match (step.kind.text(), step.tool_call_id) {
        ("content.part", _) => Some(Entry::Assistant {
            text: json::plain(step.part),
            at,
        }),
        ("tool.call", id) => {
            let input = json::value(step.args);
            Some(Entry::Call {
                call: normal::begun(&TOOLS, id.text(), step.name.text(), &input, at),
                is_echo: false,
                task: None,
            })
        }
        ("tool.result", Scalar::Text(id)) => {
            let ended: Ended<'_> = json::part(step.result)?;
            Some(Entry::Result {
                id,
                result: ResultText {
                    is_error: Some(ended.is_error.is_true()),
                    text: json::plain(ended.output),
                    ..ResultText::default()
                },
                at,
                duration_ms: ended
                    .duration_ms
                    .number()
                    .and_then(|took| u64::try_from(took).ok()),
            })
        }
        _ => None,
    }
}
