//! OpenAI's Chat Completions API, as agents for models of any vendor use it: `POST ../chat/completions`, streamed.

use std::path::Path;

use serde_json::{Value, json};

use super::{Answer, Asked, Call, new_id};
use crate::agent::Agent;

/// Returns what is asked. Requests without tools are made beside the conversation.
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
    // Qwen Code asks beside the conversation what its user might say next.
    let suggests = messages
        .last()
        .is_some_and(|last| last.to_string().contains("[SUGGESTION MODE:"));
    (path.ends_with("/chat/completions") && has_tools && !suggests).then(|| Asked {
        begins,
        holds: body["messages"].to_string(),
    })
}

/// Returns whether a summary of the conversation is asked for, to go on with in its place. opencode asks for a title, too.
pub(super) fn compacts(agent: Agent, body: &Value) -> bool {
    let has_tools = body["tools"].as_array().is_some_and(|it| !it.is_empty());
    let is_asked = || body["messages"].to_string().contains("<state_snapshot>");
    !has_tools && (agent == Agent::OpenCode || is_asked())
}

/// Returns the events that the answer is streamed in.
pub(super) fn speak(agent: Agent, project: &Path, answer: &Answer) -> Vec<Value> {
    let (delta, reason) = match answer {
        Answer::Says(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        Answer::Calls(calls) => {
            let calls: Vec<Value> = calls
                .iter()
                .enumerate()
                .map(|(index, call)| {
                    let (name, arguments) = tool(agent, project, call);
                    json!({ "index": index, "id": new_id("call_"), "type": "function",
                        "function": { "name": name, "arguments": arguments.to_string() } })
                })
                .collect();
            (
                json!({ "role": "assistant", "content": null, "tool_calls": calls }),
                "tool_calls",
            )
        }
    };
    let id = new_id("chatcmpl-");
    let chunk = |choices: Value| json!({ "id": id, "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": choices });
    // So many that a compressed history is shorter.
    let usage = json!({ "prompt_tokens": 20_000, "completion_tokens": 1, "total_tokens": 20_001 });
    let mut last = chunk(json!([]));
    last["usage"] = usage;
    vec![
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }])),
        chunk(json!([{ "index": 0, "delta": {}, "finish_reason": reason }])),
        last,
    ]
}

/// Returns the same answer as it is given whole.
pub(super) fn whole(events: &[Value]) -> Value {
    let mut whole = events[0].clone();
    whole["object"] = json!("chat.completion");
    let choice = &events[0]["choices"][0];
    whole["choices"] = json!([{ "index": 0, "message": choice["delta"],
        "finish_reason": events[1]["choices"][0]["finish_reason"] }]);
    whole["usage"] = events[2]["usage"].clone();
    whole
}

fn tool(agent: Agent, project: &Path, call: &Call) -> (&'static str, Value) {
    match (agent, call) {
        (Agent::Copilot, Call::Shell(command)) => (
            "bash",
            json!({ "command": command, "description": "Do a part" }),
        ),
        (Agent::Copilot, Call::Write(path, content)) => (
            "create",
            json!({ "path": project.join(path), "file_text": content }),
        ),
        (Agent::Copilot, Call::Delegate(task)) => (
            "task",
            json!({ "description": "A part", "prompt": task, "agent_type": "general-purpose", "name": "part" }),
        ),
        (Agent::OpenCode, Call::Shell(command)) => (
            "bash",
            json!({ "command": command, "description": "Do a part" }),
        ),
        (Agent::OpenCode, Call::Write(path, content)) => (
            "write",
            json!({ "filePath": project.join(path), "content": content }),
        ),
        (Agent::OpenCode, Call::Delegate(task)) => (
            "task",
            json!({ "description": "A part", "prompt": task, "subagent_type": "general" }),
        ),
        (Agent::Droid, Call::Shell(command)) => (
            "Execute",
            json!({ "command": command, "summary": "Do a part", "riskLevel": "low", "riskLevelReason": "none" }),
        ),
        (Agent::Droid, Call::Write(path, content)) => (
            "Create",
            json!({ "file_path": project.join(path), "content": content }),
        ),
        (Agent::Kimi, Call::Shell(command)) => ("Bash", json!({ "command": command })),
        (Agent::Kimi, Call::Write(path, content)) => (
            "Write",
            json!({ "path": project.join(path), "content": content }),
        ),
        (Agent::Vibe, Call::Shell(command)) => ("bash", json!({ "command": command })),
        (Agent::Vibe, Call::Write(path, content)) => (
            "write_file",
            json!({ "path": project.join(path), "content": content }),
        ),
        (Agent::Pi, Call::Shell(command)) => ("bash", json!({ "command": command })),
        (Agent::Pi, Call::Write(path, content)) => {
            ("write", json!({ "path": path, "content": content }))
        }
        (_, Call::Shell(command)) => (
            "run_shell_command",
            json!({ "command": command, "description": "Do a part", "is_background": false }),
        ),
        (_, Call::Write(path, content)) => (
            "write_file",
            json!({ "file_path": project.join(path), "content": content }),
        ),
        (_, Call::Delegate(task)) => (
            "agent",
            json!({ "description": "A part", "prompt": task, "subagent_type": "general-purpose" }),
        ),
        (_, Call::Wait) => unreachable!("it waits by itself"),
    }
}
