//! Tests with recordings of the real agent: hook calls and tools.

use journal::{Agent, ToolKind};
use serde_json::{Value, json};

use crate::tools::tests::{described, ended_by_hook};

const AGENT: Agent = Agent::Dsh;

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "bash",
            json!({"command": "echo hi", "description": "Say"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("read", json!({"file_path": "/a"}), Read, None, "/a"),
        (
            "edit",
            json!({"file_path": "/a", "old_string": "x", "new_string": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "write",
            json!({"file_path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        ("subagent", json!({"prompt": "x"}), Other, None, ""),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |rest: &Value| {
        let mut response = json!({"content": [{"type": "text", "text": "hi"}], "isError": false});
        let fields = response.as_object_mut().expect("an object");
        fields.extend(rest.as_object().expect("an object").clone());
        json!({"tool_response": response})
    };
    for (payload, expected) in [
        (after(&json!({"kind": "foreground", "exitCode": 0})), "ok"),
        (after(&json!({"kind": "foreground", "exitCode": 3})), "err"),
        // A signal ended it.
        (
            after(&json!({"kind": "foreground", "exitCode": null})),
            "err",
        ),
        (after(&json!({"kind": "background"})), "run"),
        (after(&json!({"isError": true})), "err"),
        (after(&json!({})), "ok"),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}
