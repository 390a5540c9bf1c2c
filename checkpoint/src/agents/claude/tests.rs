//! Tests with recordings of the real agent.

mod composer;
mod formats;
mod recordings;
mod tools;

use journal::{Agent, Event, ToolKind};
use serde_json::json;

use super::hooks::returning_tasks;
use super::takes_context;
use crate::hooks::tests::called;

#[test]
fn a_command_in_a_skill_is_a_call() {
    let payload = json!({"session_id": "s", "hook_event_name": "PreSkillShellCommand", "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"}, "tool_use_id": "t1:preamble-0", "command_name": "check"});
    let Event::ToolStarted { call, .. } = called(Agent::Claude, None, &payload).draft.event else {
        panic!("no call");
    };
    let known = (call.kind, call.command.as_deref(), call.id.as_deref());
    assert_eq!(
        known,
        (ToolKind::Shell, Some("pytest -q"), Some("t1:preamble-0"))
    );
}

#[test]
fn only_a_version_that_is_known_to_take_context_gets_it() {
    for (version, expected) in [
        (Some("2.1.330"), true),
        (Some("2.1.163"), true),
        (Some("2.1.162"), false),
        (Some("2.2.0"), true),
        (Some("1.9.999"), false),
        (Some("3.0.0-beta.1"), true),
        (Some("latest"), false),
        (None, false),
    ] {
        assert_eq!(takes_context(version), expected, "{version:?}");
    }
}

#[test]
fn a_shell_in_the_background_brings_no_other_stop() {
    let task = |kind: &str, status: &str| json!({"id": "b1", "type": kind, "status": status, "description": "", "command": "npm run dev"});
    for (tasks, expected) in [
        (json!([]), Some(0)),
        (json!([task("shell", "running")]), Some(0)),
        (json!([task("monitor", "running")]), Some(0)),
        (
            json!([task("shell", "running"), task("subagent", "running")]),
            Some(1),
        ),
        (json!([task("subagent", "completed")]), Some(0)),
        (json!([{"id": "b1", "status": "running"}]), None),
    ] {
        let payload = json!({"background_tasks": tasks});
        assert_eq!(returning_tasks(&payload), expected, "{payload}");
    }
    assert_eq!(returning_tasks(&json!({})), None);
}
