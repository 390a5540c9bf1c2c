//! How a tool call ended, in the same terms for all three hosts.
//!
//! What counts is the host's own flag, or an exit code that stands where the host writes it: before the output (Claude,
//! Codex) or after it (Gemini). What a program prints never counts, however much it looks like an error.

use std::borrow::Cow;

use journal::{Agent, ToolKind};
use serde_json::Value;

use super::search;

/// What a host says about the end of a tool call, before it is judged.
#[derive(Clone, Debug, Default)]
pub struct ResultText<'a> {
    /// The host's own flag, where it has one that can be believed.
    pub is_error: Option<bool>,
    /// The exit code, where the host has a field for it.
    pub exit_code: Option<i64>,
    /// The host says that the call was refused or cancelled.
    pub refused: bool,
    /// The host says that the call goes on in the background.
    pub running: bool,
    /// The result as the model got it, the host's framing included.
    pub text: Cow<'a, str>,
    /// The result as a person saw it, without the framing (Gemini).
    pub display: Option<Cow<'a, str>>,
}

/// How a tool call ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it failed. A search that found nothing has not, and a refused call has not either.
    pub is_error: bool,
    /// Whether it was refused or cancelled.
    pub refused: bool,
    /// Whether it has ended at all: false where it goes on in the background, or where there is no result yet.
    pub finished: bool,
    /// The result's whole text of a failed call; empty otherwise.
    pub output: String,
}

/// Judges the result of a tool call.
pub fn outcome(
    agent: Agent,
    kind: ToolKind,
    command: Option<&str>,
    result: &ResultText<'_>,
) -> Outcome {
    // Where there is a field for the exit code, the text is the program's own.
    let frame = if result.exit_code.is_some() {
        Frame::default()
    } else {
        frame(agent, result)
    };
    if result.running || frame.running {
        return Outcome::default();
    }
    let code = result.exit_code.or(frame.code);
    let failed = result
        .is_error
        .unwrap_or(frame.failed || code.is_some_and(|code| code != 0));
    if result.refused || (failed && code.is_none() && is_refusal(&result.text)) {
        return Outcome {
            refused: true,
            finished: true,
            ..Outcome::default()
        };
    }
    let answered_no = kind == ToolKind::Shell
        && command
            .zip(code)
            .is_some_and(|(command, code)| search::found_nothing(command, code));
    let is_error = failed && !answered_no;
    let output = if is_error {
        result.text.to_string()
    } else {
        String::new()
    };
    Outcome {
        is_error,
        refused: false,
        finished: true,
        output,
    }
}

/// Judges the result that a hook payload carries; unfinished where it carries none.
///
/// `payload` is the whole of what the host sent: Claude's `PostToolUse` and `PostToolUseFailure`, Codex's `PostToolUse`,
/// Gemini's `AfterTool`. Codex does not tell its hooks how a shell command ended, so that is no error here; its
/// transcript knows.
pub fn hook_outcome(
    agent: Agent,
    kind: ToolKind,
    command: Option<&str>,
    payload: &Value,
) -> Outcome {
    let response = payload
        .get("tool_response")
        .filter(|response| !response.is_null());
    let error = payload.get("error").filter(|error| !error.is_null());
    let result = match (response, error) {
        (None, None) => return Outcome::default(),
        (_, Some(error)) => ResultText {
            is_error: Some(true),
            refused: truthy(payload, "is_interrupt"),
            text: plain(error),
            ..ResultText::default()
        },
        (Some(response), None) => of_response(agent, kind, response),
    };
    outcome(agent, kind, command, &result)
}

/// Reads a hook's `tool_response`.
fn of_response(agent: Agent, kind: ToolKind, response: &Value) -> ResultText<'_> {
    let flag = ["is_error", "isError"]
        .iter()
        .find_map(|key| response.get(*key))
        .and_then(Value::as_bool);
    match agent {
        Agent::Gemini => {
            let error = response.get("error").filter(|error| !error.is_null());
            ResultText {
                is_error: error.map(|_| true).or(flag),
                text: plain(
                    error
                        .or_else(|| response.get("llmContent"))
                        .unwrap_or(response),
                ),
                display: response
                    .get("returnDisplay")
                    .and_then(Value::as_str)
                    .map(Cow::Borrowed),
                ..ResultText::default()
            }
        }
        Agent::Codex => ResultText {
            is_error: flag,
            exit_code: response
                .get("exit_code")
                .or_else(|| response.pointer("/metadata/exit_code"))
                .and_then(Value::as_i64),
            // For a shell call this is what the program printed and nothing else.
            text: if kind == ToolKind::Shell {
                Cow::Borrowed("")
            } else {
                plain(response)
            },
            ..ResultText::default()
        },
        Agent::Claude | Agent::Daemon => ResultText {
            // A failing call has an event of its own.
            is_error: flag.or(Some(false)),
            refused: truthy(response, "interrupted"),
            running: response
                .get("backgroundTaskId")
                .is_some_and(Value::is_string),
            text: plain(response),
            ..ResultText::default()
        },
    }
}

fn truthy(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// Returns the words of a result: a string, the texts of a list of parts, or the text in an object.
fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(parts) => Cow::Owned(parts.iter().map(plain).collect::<Vec<_>>().join("\n")),
        Value::Object(fields) => ["text", "message", "error", "output", "content"]
            .iter()
            .find_map(|key| fields.get(*key))
            .map_or("".into(), plain),
        _ => Cow::Borrowed(""),
    }
}

/// What the host's framing of a result says.
#[derive(Default)]
struct Frame {
    code: Option<i64>,
    running: bool,
    failed: bool,
}

fn frame(agent: Agent, result: &ResultText<'_>) -> Frame {
    match agent {
        Agent::Claude | Agent::Daemon => claude_frame(&result.text),
        Agent::Codex => codex_frame(&result.text),
        Agent::Gemini => gemini_frame(result),
    }
}

/// The first line is `Exit code N` where a command failed.
fn claude_frame(text: &str) -> Frame {
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("Error: ").unwrap_or(line);
    Frame {
        code: line
            .strip_prefix("Exit code ")
            .and_then(|code| code.trim().parse().ok()),
        ..Frame::default()
    }
}

/// What Codex answers instead of a result when a call could not be made at all.
const CODEX_FAILURES: [&str; 8] = [
    "apply_patch verification failed",
    "exec_command failed",
    "write_stdin failed",
    "failed to parse function arguments",
    "failed to parse exec arguments",
    "unsupported call",
    "unsupported custom tool call",
    "execution error",
];

/// A few `Key: value` lines come before `Output:`; older versions write a JSON object instead.
fn codex_frame(text: &str) -> Frame {
    let mut frame = Frame::default();
    if text.starts_with('{') {
        let code = serde_json::from_str::<Value>(text).ok();
        frame.code =
            code.and_then(|value| value.pointer("/metadata/exit_code").and_then(Value::as_i64));
        return frame;
    }
    for line in text.lines().take_while(|line| *line != "Output:").take(8) {
        let code = line
            .strip_prefix("Exit code: ")
            .or_else(|| line.strip_prefix("Process exited with code "));
        if let Some(code) = code {
            frame.code = code.trim().parse().ok();
        } else if line.starts_with("Process running with session ID ") {
            frame.running = true;
        } else if ![
            "Chunk ID: ",
            "Wall time: ",
            "Original token count: ",
            "Total output lines: ",
        ]
        .iter()
        .any(|key| line.starts_with(key))
        {
            // Not a header, so the host has framed nothing.
            break;
        }
    }
    frame.failed = CODEX_FAILURES
        .iter()
        .any(|opening| text.starts_with(opening))
        || (frame.code.is_none() && is_refusal(text));
    frame
}

/// Lines with `Exit Code: N` or `Signal: N` come after the output, which `display` holds alone.
fn gemini_frame(result: &ResultText<'_>) -> Frame {
    let text = result.text.trim_end();
    let text = text.strip_suffix("</untrusted_context>").unwrap_or(text);
    let body = text.strip_prefix("<untrusted_context>\n").unwrap_or(text);
    let after_output = result
        .display
        .as_deref()
        .filter(|display| !display.is_empty())
        .and_then(|display| {
            body.strip_prefix("Output: ")?
                .strip_prefix(display)
                .filter(|rest| rest.starts_with('\n'))
        });
    let keys = [
        "Process Group PGID: ",
        "Background PIDs: ",
        "Signal: ",
        "Exit Code: ",
        "Error: ",
    ];
    let mut frame = Frame::default();
    for line in after_output
        .unwrap_or(body)
        .lines()
        .rev()
        .filter(|line| !line.is_empty())
    {
        if let Some(code) = line.strip_prefix("Exit Code: ") {
            frame.code = code.trim().parse().ok();
            break;
        }
        if let Some(signal) = line.strip_prefix("Signal: ") {
            frame.failed |= !signal.starts_with("(none)");
        } else if !keys.iter().any(|key| line.starts_with(key)) {
            break;
        }
    }
    frame
}

/// What the hosts say of a call that a person, a policy or a hook did not let run. They begin their result with it.
const REFUSALS: [&str; 16] = [
    "PreToolUse:",
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "Permission to use ",
    "Claude requested permissions to ",
    "[Request interrupted by user",
    "Interrupted by user",
    "Command blocked by PreToolUse hook",
    "Tool call blocked by PreToolUse hook",
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
    "aborted by user",
    "Tool execution blocked:",
    "Tool execution denied",
    "[Operation Cancelled]",
];

fn is_refusal(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    REFUSALS.iter().any(|opening| text.starts_with(opening))
}

#[cfg(test)]
mod tests;
