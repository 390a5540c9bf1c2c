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
    // Qwen Code asks beside the conversation what its user might say next, and whether a call is safe. Without an answer
    // it suggests nothing, and asks its user.
    let last = messages.last().map(Value::to_string).unwrap_or_default();
    let is_beside = ["[SUGGESTION MODE:", "should be ALLOWED or BLOCKED"]
        .iter()
        .any(|mark| last.contains(mark));
    // Grok has one tool for the title of a session.
    let is_beside = is_beside || body["tools"][0]["function"]["name"] == "session_title";
    (path.ends_with("/chat/completions") && has_tools && !is_beside).then(|| Asked {
        begins,
        holds: body["messages"].to_string(),
    })
}

/// Returns whether a summary of the conversation is asked for, to go on with in its place. opencode asks for a title, too.
pub(super) fn compacts(agent: Agent, body: &Value) -> bool {
    let has_tools = body["tools"].as_array().is_some_and(|it| !it.is_empty());
    let is_asked = || body["messages"].to_string().contains("<state_snapshot>");
    !has_tools && (agent.is_opencode() || is_asked())
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
                    let (name, mut arguments) = tool(agent, project, call);
                    if agent == Agent::OpenHands {
                        rate(call, &mut arguments);
                    }
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

/// Adds what OpenHands requires: how risky a call is, and what its one tool for files is to do.
fn rate(call: &Call, arguments: &mut Value) {
    arguments["security_risk"] = json!("LOW");
    match call {
        Call::Write(..) => arguments["command"] = json!("create"),
        Call::Edit(..) => arguments["command"] = json!("str_replace"),
        _ => {}
    }
}

/// The names of an agent's tools, and of their fields.
struct Names {
    shell: &'static str,
    write: &'static str,
    edit: &'static str,
    path: &'static str,
    content: &'static str,
    texts: [&'static str; 2],
}

fn names(agent: Agent) -> Names {
    let usual = Names {
        shell: "bash",
        write: "write_file",
        edit: "edit",
        path: "file_path",
        content: "content",
        texts: ["old_string", "new_string"],
    };
    match agent {
        Agent::Copilot => Names {
            write: "create",
            path: "path",
            content: "file_text",
            texts: ["old_str", "new_str"],
            ..usual
        },
        Agent::OpenCode | Agent::Kilo => Names {
            write: "write",
            path: "filePath",
            texts: ["oldString", "newString"],
            ..usual
        },
        Agent::Droid => Names {
            shell: "Execute",
            write: "Create",
            edit: "Edit",
            texts: ["old_str", "new_str"],
            ..usual
        },
        Agent::Kimi => Names {
            shell: "Bash",
            write: "Write",
            edit: "Edit",
            path: "path",
            ..usual
        },
        Agent::Pi => Names {
            write: "write",
            path: "path",
            texts: ["oldText", "newText"],
            ..usual
        },
        Agent::Vibe => usual,
        Agent::OpenHands => Names {
            shell: "terminal",
            write: "file_editor",
            edit: "file_editor",
            path: "path",
            content: "file_text",
            texts: ["old_str", "new_str"],
        },
        Agent::Dsh => Names {
            write: "write",
            ..usual
        },
        Agent::Grok => Names {
            shell: "run_terminal_command",
            write: "write",
            edit: "search_replace",
            ..usual
        },
        _ => Names {
            shell: "run_shell_command",
            ..usual
        },
    }
}

/// Returns a tool's name and its arguments.
fn tool(agent: Agent, project: &Path, call: &Call) -> (&'static str, Value) {
    let names = names(agent);
    let place = |path: &str| match agent {
        Agent::Pi => json!(path),
        _ => json!(project.join(path)),
    };
    match call {
        Call::Shell(command) if agent == Agent::Droid => (
            names.shell,
            json!({ "command": command, "summary": "Do a part", "riskLevel": "low", "riskLevelReason": "none" }),
        ),
        Call::Shell(command)
            if matches!(
                agent,
                Agent::Kimi | Agent::Pi | Agent::Vibe | Agent::OpenHands
            ) =>
        {
            (names.shell, json!({ "command": command }))
        }
        Call::Shell(command) if agent == Agent::Qwen => (
            names.shell,
            json!({ "command": command, "description": "Do a part", "is_background": false }),
        ),
        Call::Shell(command) => (
            names.shell,
            json!({ "command": command, "description": "Do a part" }),
        ),
        Call::Write(path, content) => {
            let field = if agent == Agent::Vibe {
                "path"
            } else {
                names.path
            };
            (
                names.write,
                json!({ field: place(path), names.content: content }),
            )
        }
        Call::Edit(path, old, new) => {
            let [before, after] = names.texts;
            let change = json!({ before: old, after: new });
            let mut input = if agent == Agent::Pi {
                json!({ "edits": [change] })
            } else {
                change
            };
            input[names.path] = place(path);
            (names.edit, input)
        }
        Call::Delegate(task) => match agent {
            Agent::Copilot => (
                "task",
                json!({ "description": "A part", "prompt": task, "agent_type": "general-purpose", "name": "part" }),
            ),
            Agent::Grok => (
                "spawn_subagent",
                json!({ "description": "A part", "prompt": task, "subagent_type": "general-purpose", "background": false }),
            ),
            Agent::OpenCode | Agent::Kilo => (
                "task",
                json!({ "description": "A part", "prompt": task, "subagent_type": "general" }),
            ),
            _ => (
                "agent",
                json!({ "description": "A part", "prompt": task, "subagent_type": "general-purpose" }),
            ),
        },
        Call::Wait => unreachable!("it waits by itself"),
    }
}
