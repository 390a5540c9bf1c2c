//! Anthropic's Messages API, as Claude Code uses it: `POST /v1/messages`, streamed.

use std::path::Path;

use serde_json::{Value, json};

use super::{Answer, Asked, Call, new_id};

/// Returns what is asked. Requests without tools are made beside the conversation, for example for a title.
pub(super) fn asked(path: &str, body: &Value) -> Option<Asked> {
    let has_tools = body["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty());
    let messages = body["messages"].as_array()?;
    let begins = messages
        .iter()
        .take_while(|message| message["role"] != "assistant")
        .map(Value::to_string)
        .collect();
    (path == "/v1/messages" && has_tools).then(|| Asked {
        begins,
        holds: body["messages"].to_string(),
    })
}

/// Returns whether a summary of the conversation is asked for, to go on with in its place.
pub(super) fn compacts(body: &Value) -> bool {
    let last = body["messages"]
        .as_array()
        .and_then(|messages| messages.last());
    last.is_some_and(|last| {
        last.to_string()
            .contains("an <analysis> block followed by a <summary> block")
    })
}

/// Returns the events that the answer is streamed in.
pub(super) fn speak(project: &Path, answer: &Answer) -> Vec<Value> {
    let message = json!({
        "id": new_id("msg_"), "type": "message", "role": "assistant", "model": "claude-scripted", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 1, "output_tokens": 1 },
    });
    let mut stream = vec![json!({ "type": "message_start", "message": message })];
    let mut block = |index: usize, block: Value, delta: Value| {
        stream
            .push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        stream.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        stream.push(json!({ "type": "content_block_stop", "index": index }));
    };
    let reason = match answer {
        Answer::Says(text) => {
            block(
                0,
                json!({ "type": "text", "text": "" }),
                json!({ "type": "text_delta", "text": text }),
            );
            "end_turn"
        }
        Answer::Calls(calls) => {
            for (index, call) in calls.iter().enumerate() {
                let (name, input) = tool(project, call);
                let begin = json!({ "type": "tool_use", "id": new_id("toolu_"), "name": name, "input": {} });
                block(
                    index,
                    begin,
                    json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
                );
            }
            "tool_use"
        }
    };
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    stream
        .push(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 1 } }));
    stream.push(json!({ "type": "message_stop" }));
    stream
}

fn tool(project: &Path, call: &Call) -> (&'static str, Value) {
    match call {
        Call::Shell(command) => (
            "Bash",
            json!({ "command": command, "description": "Do a part of the task" }),
        ),
        Call::Write(path, content) => (
            "Write",
            json!({ "file_path": project.join(path), "content": content }),
        ),
        Call::Edit(path, old, new) => (
            "Edit",
            json!({ "file_path": project.join(path), "old_string": old, "new_string": new }),
        ),
        Call::Delegate(task) => {
            let kind = "general-purpose";
            let input = json!({ "description": "A part", "prompt": task, "subagent_type": kind, "run_in_background": true });
            ("Agent", input)
        }
        Call::Wait => unreachable!("it is told when a subagent has ended"),
    }
}
