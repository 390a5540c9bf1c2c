//! How a tool call ended, in the same terms for all agents.
//!
//! What counts is the agent's own flag, or an exit code in the agent's own framing: before the output (Claude, Codex) or
//! after it (Gemini). What a program prints never counts, however much it looks like an error.

use std::borrow::Cow;

use journal::ToolKind;
use serde_json::Value;

use super::search;
use super::table::{Frame, ResultText, Tools};
use crate::known::Known;

/// How a tool call ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it failed. A search that found nothing has not, and a refused call has not either.
    pub is_error: bool,
    /// Whether it was refused or cancelled.
    pub refused: bool,
    /// Whether it has ended: false if it runs in the background, or if there is no result yet.
    pub finished: bool,
    /// The result's whole text of a failed call; empty otherwise.
    pub output: String,
}

impl Tools {
    /// The tools of an agent whose failing calls have an event of their own, and whose results have no framing.
    pub(crate) const PLAIN: Self = Self {
        known: Known::nothing,
        response: |_, response| ResultText::of(Some(false), plain(response)),
        frame: |_| Frame::default(),
        task_end: |_| None,
    };

    /// Judges the result of a tool call.
    pub fn outcome(
        &self,
        kind: ToolKind,
        command: Option<&str>,
        result: &ResultText<'_>,
    ) -> Outcome {
        // With a field for the exit code, the text is the program's own.
        let known = (self.known)();
        let is_framed = result.exit_code.is_none();
        let frame = if is_framed {
            (self.frame)(result)
        } else {
            Frame::default()
        };
        let goes_on = kind == ToolKind::Shell && begins_with(&result.text, &known.running);
        if result.running || frame.running || (is_framed && goes_on) {
            return Outcome::default();
        }
        let code = result.exit_code.or(frame.code);
        let by_code = frame.failed || code.is_some_and(|code| code != 0);
        let failed = result.is_error.unwrap_or(by_code)
            || (is_framed && begins_with(&result.text, &known.failures));
        let is_refusal = || begins_with(&result.text, &known.refusals);
        if result.refused || (failed && code.is_none() && is_refusal()) {
            return Outcome {
                refused: true,
                finished: true,
                ..Outcome::default()
            };
        }
        let answered_no = kind == ToolKind::Shell
            && command.zip(code).is_some_and(|(command, code)| {
                search::answered_no(command, code, &self.program_text(result))
            });
        let is_error = failed && !answered_no;
        let output = match code {
            _ if !is_error => String::new(),
            // The same words for every agent that has a status.
            Some(code) if !is_framed || !states_code(&result.text) => {
                format!("Exit code {code}\n{}", result.text)
            }
            _ => result.text.to_string(),
        };
        Outcome {
            is_error,
            refused: false,
            finished: true,
            output,
        }
    }

    /// Reads the answer of a tool of another program that says in JSON how a command ended: `{"exitCode": 1, "stdout": ..}`.
    /// What a command of the agent's own tools prints stays its output.
    pub(crate) fn of_foreign<'r>(&self, tool: &str, result: ResultText<'r>) -> ResultText<'r> {
        let is_json = result.text.trim_start().starts_with('{');
        if !is_json || result.exit_code.is_some() || self.kind(tool).is_some() {
            return result;
        }
        let Some((code, text)) = answered(&result.text) else {
            return result;
        };
        ResultText {
            is_error: if code == 0 {
                result.is_error
            } else {
                Some(true)
            },
            exit_code: Some(code),
            text: Cow::Owned(text),
            ..result
        }
    }

    /// Returns what the program printed, without the framing as far as it could hide a line.
    pub fn program_text<'r>(&self, result: &'r ResultText<'_>) -> Cow<'r, str> {
        let text = result.text.as_ref();
        if text.starts_with("{\"output\":") {
            let framed = serde_json::from_str::<Value>(text).ok();
            let output = framed.as_ref().and_then(|framed| framed.get("output"));
            if let Some(output) = output.and_then(Value::as_str) {
                return Cow::Owned(output.to_owned());
            }
        }
        let text = text.strip_prefix("<untrusted_context>\n").unwrap_or(text);
        Cow::Borrowed(text.strip_prefix("Output: ").unwrap_or(text))
    }

    /// Returns the text of a program without the lines that a host puts before it.
    pub fn body<'t>(&self, text: &'t str) -> &'t str {
        let heads = [
            "Exit code: ",
            "Chunk ID: ",
            "Wall time",
            "Process ",
            "Original token count: ",
            "Total output lines: ",
        ];
        let mut rest = text;
        while let Some((line, more)) = rest.split_once('\n') {
            if line == "Output:" {
                return more;
            }
            if !heads.iter().any(|head| line.starts_with(head)) {
                break;
            }
            rest = more;
        }
        // Without the line before the output, the others are the program's own.
        let (line, more) = text.split_once('\n').unwrap_or((text, ""));
        match line.strip_prefix("Exit code ") {
            Some(code) if code != "0" && code.parse::<u8>().is_ok() => more,
            _ => text,
        }
    }

    /// Judges the result in the payload of a hook that follows a tool call; none if it has none.
    pub fn hook_outcome(
        &self,
        kind: ToolKind,
        command: Option<&str>,
        payload: &Value,
    ) -> Option<Outcome> {
        let given = |key| payload.get(key).filter(|value| !value.is_null());
        let result = match (given("tool_response"), given("error")) {
            (None, None) => return None,
            (_, Some(error)) => ResultText {
                is_error: Some(true),
                refused: payload.get("is_interrupt").and_then(Value::as_bool) == Some(true),
                text: plain(error),
                ..ResultText::default()
            },
            (Some(response), None) => (self.response)(kind, response),
        };
        let tool = payload.get("tool_name").and_then(Value::as_str);
        let result = self.of_foreign(tool.unwrap_or_default(), result);
        Some(self.outcome(kind, command, &result))
    }
}

/// Returns whether a line of a result begins as those with which Claude, Codex and Gemini state an exit code.
fn states_code(text: &str) -> bool {
    let begins = |line: &str| {
        let line = line.to_ascii_lowercase();
        let line = line.strip_prefix("error: ").unwrap_or(&line);
        line.starts_with("exit code") || line.starts_with("process exited with code ")
    };
    text.lines().any(begins)
}

/// Fields for the exit code of a command, in the answers of other programs' tools.
const CODES: [&str; 7] = [
    "exitCode",
    "exit_code",
    "returncode",
    "return_code",
    "exitStatus",
    "exit_status",
    "exit",
];

/// Returns the exit code of a command in an answer.
pub(crate) fn code_in(answer: &Value) -> Option<i64> {
    CODES.iter().find_map(|field| answer.get(*field)?.as_i64())
}

/// Returns what a program printed, if an answer has fields for it.
pub(crate) fn printed_in(answer: &Value) -> Option<String> {
    let fields = ["stdout", "stderr", "output"].into_iter();
    let texts = fields.filter_map(|field| answer.get(field)?.as_str());
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Reads the exit code and the output of a command from a tool's answer.
fn answered(text: &str) -> Option<(i64, String)> {
    let answer: Value = serde_json::from_str(text).ok()?;
    let inner = answer.get("result").filter(|inner| inner.is_object());
    let answer = inner.unwrap_or(&answer);
    Some((code_in(answer)?, printed_in(answer).unwrap_or_default()))
}

/// Returns the agent's own flag of a `tool_response`.
pub(crate) fn flag(response: &Value) -> Option<bool> {
    let mut keys = ["is_error", "isError"].into_iter();
    keys.find_map(|key| response.get(key))?.as_bool()
}

/// Returns the words of a result: a string, the texts of a list of parts, or the text in an object.
pub(crate) fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(parts) => Cow::Owned(parts.iter().map(plain).collect::<Vec<_>>().join("\n")),
        Value::Object(fields) => {
            let mut keys = ["text", "message", "error", "output", "content"].into_iter();
            let said = keys.find_map(|key| fields.get(key));
            said.map_or("".into(), plain)
        }
        _ => Cow::Borrowed(""),
    }
}

/// Returns whether a result begins with one of the openings.
pub(crate) fn begins_with(text: &str, openings: &[String]) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    openings.iter().any(|opening| text.starts_with(opening))
}
