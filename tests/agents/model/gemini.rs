//! Google's Gemini API, as Gemini CLI uses it: `POST ..:streamGenerateContent`.

use std::path::Path;

use serde_json::{Value, json};

use super::{Answer, Asked, Call};

/// Returns what is asked. Requests without tools are made beside the conversation.
pub(super) fn asked(path: &str, body: &Value) -> Option<Asked> {
    let contents = body["contents"].as_array()?;
    let begins = contents
        .iter()
        .take_while(|content| content["role"] != "model")
        .map(Value::to_string)
        .collect();
    let is_asked = path.ends_with(":streamGenerateContent") && body["tools"].is_array();
    is_asked.then(|| Asked {
        begins,
        holds: body["contents"].to_string(),
    })
}

/// Returns whether a summary of the conversation is asked for, to go on with in its place.
pub(super) fn compacts(body: &Value) -> bool {
    let last = body["contents"]
        .as_array()
        .and_then(|contents| contents.last());
    last.is_some_and(|last| last.to_string().contains("<state_snapshot>"))
}

/// Returns the events that the answer is streamed in.
pub(super) fn speak(project: &Path, body: &Value, answer: &Answer) -> Vec<Value> {
    let parts: Vec<Value> = match answer {
        // A subagent ends its work by a tool call.
        Answer::Says(text) if body["tools"].to_string().contains(r#""complete_task""#) => {
            vec![
                json!({ "functionCall": { "name": "complete_task", "args": { "result": { "response": text } } } }),
            ]
        }
        Answer::Says(text) => vec![json!({ "text": text })],
        Answer::Calls(calls) => calls
            .iter()
            .map(|call| json!({ "functionCall": tool(project, call) }))
            .collect(),
    };
    let candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts }, "finishReason": "STOP" });
    // So many that a compressed history is shorter, and far too few for compressing it unasked.
    let usage =
        json!({ "promptTokenCount": 20_000, "candidatesTokenCount": 1, "totalTokenCount": 20_001 });
    vec![json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted" })]
}

fn tool(project: &Path, call: &Call) -> Value {
    match call {
        Call::Shell(command) => {
            json!({ "name": "run_shell_command", "args": { "command": command, "description": "Do a part" } })
        }
        Call::Write(path, content) => {
            json!({ "name": "write_file", "args": { "file_path": project.join(path), "content": content } })
        }
        Call::Edit(path, old, new) => {
            json!({ "name": "replace", "args": { "file_path": project.join(path), "old_string": old, "new_string": new,
                "instruction": "Do a part" } })
        }
        Call::Delegate(task) => {
            json!({ "name": "invoke_agent", "args": { "agent_name": "generalist", "prompt": task } })
        }
        Call::Wait => unreachable!("it waits by itself"),
    }
}
