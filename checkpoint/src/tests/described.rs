//! Hook calls of agents that a configuration describes.

use journal::{Agent, Event, Timestamp, ToolKind};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::config::{Config, DescribedAgents};
use crate::hooks::{HookCall, Normal, Reading, normalize};

const DESCRIBED: &str = "agents:\n  - name: buddy\n    settings: ~/.buddy/hooks.json\n    \
    fields: {session_id: sessionId, cwd: working_dir, prompt: message}\n    \
    tools: {shell: [run_it], edit: [change], write: [create], read: [look]}\n";

fn normal(agent: Agent, event: &str, payload: &Value, agents: &DescribedAgents) -> Normal {
    let payload = payload.to_string();
    let call = HookCall {
        agent,
        event: Some(event),
        payload: payload.as_bytes(),
        at: Timestamp::default(),
        id: Uuid::nil(),
        env: Vec::new(),
        truncated: false,
    };
    let reading = Reading {
        prefix: "",
        payload_bytes_max: 1024,
        redactor: crate::redact::built_in(),
        agents,
    };
    normalize(&call, reading).expect("a good payload")
}

/// The agent's own names become the usual ones, and its payload is kept as it was sent.
#[test]
fn names_are_translated() {
    let config = Config::load(Some(("config.yml", DESCRIBED))).expect("a good file");
    let agents = &config.settings.agents;
    let agent = agents.named("buddy").expect("described");
    let payload = json!({ "sessionId": "s", "working_dir": "/p", "message": "go" });
    let prompt = normal(agent, "UserPromptSubmit", &payload, agents);
    assert_eq!(prompt.draft.stream.agent, agent);
    assert_eq!(prompt.draft.stream.native(), "s");
    assert_eq!(prompt.draft.payload, Some(payload.to_string()));
    let Event::PromptSubmitted { text, host, .. } = prompt.draft.event else {
        panic!("no prompt");
    };
    assert_eq!(text, "go");
    assert_eq!(host.place.expect("a place").cwd, "/p");
    for (own, usual, kind) in [
        ("run_it", "Bash", ToolKind::Shell),
        ("look", "Read", ToolKind::Read),
        ("change", "Edit", ToolKind::Edit),
        ("create", "Write", ToolKind::Write),
        ("fetch", "fetch", ToolKind::Other),
    ] {
        let payload = json!({ "sessionId": "s", "tool_name": own, "tool_input": {} });
        let tool = normal(agent, "PreToolUse", &payload, agents).draft.event;
        let Event::ToolStarted { call, .. } = tool else {
            panic!("no call");
        };
        assert_eq!((call.tool.as_str(), call.kind), (usual, kind), "{own}");
    }
}

#[test]
fn a_result_that_says_that_it_failed_is_a_failure() {
    let config = Config::load(Some(("config.yml", DESCRIBED))).expect("a good file");
    let agents = &config.settings.agents;
    let agent = agents.named("buddy").expect("described");
    for (response, expected) in [
        (json!("done"), false),
        (json!({ "output": "2 failed", "exit_code": 1 }), true),
        (json!({ "output": "ok", "exitCode": 0 }), false),
        (json!({ "output": "no such file", "success": false }), true),
        (json!({ "content": "no", "is_error": true }), true),
        (json!("Exit code 2\nno such file"), true),
    ] {
        let payload = json!({
            "sessionId": "s", "tool_name": "run_it", "tool_input": { "command": "make" },
            "tool_response": response,
        });
        let tool = normal(agent, "PostToolUse", &payload, agents).draft.event;
        let Event::ToolFinished { call, .. } = tool else {
            panic!("no call");
        };
        assert_eq!(call.is_error, expected, "{response}");
    }
}
