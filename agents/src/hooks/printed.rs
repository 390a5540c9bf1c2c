//! What a tool call printed, read from the payload of the hook call that reported its end.

use journal::{Agent, Summary, SummaryVerdict, ToolCall, ToolKind};
use serde_json::Value;

use super::Described;
use crate::rooms;
use crate::tools::{ResultText, code_in, plain, printed_in};
use reading::outcome::{self, report};
use reading::text;

/// What a call printed, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// What its output reports on.
    pub summaries: Vec<Summary>,
    /// How it ended, if its output has a field for that: tools that are not the agent's own, and no shell.
    pub ended: Option<SummaryVerdict>,
}

/// Reads what a call printed from a payload as it was kept (spec EVID-11).
pub fn printed(agent: Agent, described: &dyn Described, call: &ToolCall, payload: &str) -> Printed {
    let (Some(adapter), Ok(mut payload)) = (rooms::adapter(agent), serde_json::from_str(payload))
    else {
        return Printed::default();
    };
    if let Some(end) = cut_end(&payload) {
        let summaries = match call.kind {
            ToolKind::Shell => outcome::read(&end),
            _ => Vec::new(),
        };
        return Printed {
            summaries,
            ended: None,
        };
    }
    described.translate(agent, &mut payload);
    super::rename(&mut payload, &(adapter.tools.known)().renames);
    let given = |key| payload.get(key).filter(|value| !value.is_null());
    let tools = adapter.tools;
    let (result, response) = match (given("error"), given("tool_response")) {
        (Some(error), _) => {
            let text = plain(error);
            (ResultText::of(None, text), error)
        }
        (None, Some(response)) => ((tools.response)(call.kind, response), response),
        (None, None) => return Printed::default(),
    };
    if result.refused {
        return Printed::default();
    }
    let text = printed_in(response).unwrap_or_else(|| {
        let result = match result.text.is_empty() {
            true => ResultText {
                text: plain(response),
                ..ResultText::default()
            },
            false => result,
        };
        tools.body(&tools.program_text(&result)).to_owned()
    });
    match call.kind {
        ToolKind::Shell => Printed {
            summaries: outcome::read(&text),
            ended: None,
        },
        _ => of_tool(call, response, &text),
    }
}

/// Reads the answer of a tool that is no shell: its text may be JSON with what a program printed and its exit code.
fn of_tool(call: &ToolCall, response: &Value, text: &str) -> Printed {
    let held = serde_json::from_str::<Value>(text).ok();
    let held = held.filter(Value::is_object);
    let inner = held.as_ref().and_then(printed_in);
    let text = inner.as_deref().unwrap_or(text);
    let mut summaries = outcome::read(text);
    if summaries.is_empty() {
        summaries.extend(report::of_tool(&call.tool, text));
    }
    let code = held.as_ref().and_then(code_in);
    let code = code.or_else(|| code_in(response));
    let ended = code.map(|code| match code {
        0 => SummaryVerdict::Passed,
        _ => SummaryVerdict::Failed,
    });
    Printed { summaries, ended }
}

/// Returns the end of a payload that was too large to be kept whole, as the lines that it held.
fn cut_end(payload: &Value) -> Option<String> {
    let tail = payload.pointer("/checkpointd_cut/tail")?.as_str()?;
    let tail = text::tail(tail, 2 * outcome::TAIL_BYTES);
    Some(tail.replace("\\n", "\n").replace("\\r", "\r"))
}
