//! OpenAI's Responses API, as Codex CLI uses it: `POST /responses`, streamed.

use serde_json::{Value, json};

use super::{Answer, Asked, Call, new_id};

/// Returns what is asked. Requests without tools are made beside the conversation, for a title.
pub(super) fn asked(path: &str, body: &Value) -> Option<Asked> {
    let has_tools = body["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty());
    let input = body["input"].as_array()?;
    let is_answer = |item: &&Value| {
        item["role"] == "assistant"
            || item["type"]
                .as_str()
                .is_some_and(|it| it.ends_with("_call"))
    };
    let begins = input
        .iter()
        .take_while(|item| !is_answer(item))
        .map(Value::to_string)
        .collect();
    (path.ends_with("/responses") && has_tools).then(|| Asked {
        begins,
        holds: body["input"].to_string(),
    })
}

/// Returns whether a summary of the conversation is asked for, to go on with in its place.
pub(super) fn compacts(body: &Value) -> bool {
    let last = body["input"].as_array().and_then(|input| input.last());
    last.is_some_and(|last| {
        last.to_string()
            .contains("You are performing a CONTEXT CHECKPOINT COMPACTION")
    })
}

/// Returns the events that the answer is streamed in.
pub(super) fn speak(answer: &Answer) -> Vec<Value> {
    let items: Vec<Value> = match answer {
        Answer::Says(text) => {
            let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
            vec![
                json!({ "type": "message", "id": new_id("msg_"), "role": "assistant", "content": content }),
            ]
        }
        Answer::Calls(calls) => calls.iter().map(item).collect(),
    };
    let id = new_id("resp_");
    let mut stream = vec![json!({ "type": "response.created", "response": { "id": id } })];
    for (index, item) in items.iter().enumerate() {
        stream.push(
            json!({ "type": "response.output_item.added", "output_index": index, "item": item }),
        );
        stream.push(
            json!({ "type": "response.output_item.done", "output_index": index, "item": item }),
        );
    }
    let usage = json!({ "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 });
    stream.push(json!({ "type": "response.completed", "response": { "id": id, "output": items, "usage": usage } }));
    stream
}

fn item(call: &Call) -> Value {
    let function = |name: &str, arguments: Value| {
        let arguments = arguments.to_string();
        json!({ "type": "function_call", "id": new_id("fc_"), "call_id": new_id("call_"), "name": name, "arguments": arguments })
    };
    let patch = |text: String| {
        let patch = format!("*** Begin Patch\n{text}*** End Patch\n");
        let id = new_id("call_");
        json!({ "type": "custom_tool_call", "id": new_id("ctc_"), "call_id": id, "name": "apply_patch", "input": patch })
    };
    match call {
        Call::Shell(command) => function("exec_command", json!({ "cmd": command })),
        Call::Write(path, content) => {
            let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
            patch(format!("*** Add File: {path}\n{lines}"))
        }
        Call::Edit(path, old, new) => {
            patch(format!("*** Update File: {path}\n@@\n-{old}\n+{new}\n"))
        }
        Call::Delegate(task) => in_team(function(
            "spawn_agent",
            json!({ "task_name": "part", "message": task, "fork_turns": "none" }),
        )),
        Call::Wait => in_team(function("wait_agent", json!({ "timeout_ms": 60_000 }))),
    }
}

/// Names the group of tools that those for subagents belong to.
fn in_team(mut call: Value) -> Value {
    call["namespace"] = json!("collaboration");
    call
}
