//! Tests with recordings of the real agent: hook calls, tools, transcripts.

use journal::{Agent, Event, PromptOrigin, ToolKind};
use serde_json::{Value, json};

use crate::hooks::Normal;
use crate::hooks::tests::called;
use crate::tools::tests::{described, ended_by_hook};
use crate::transcript::tests::shown;

const AGENT: Agent = Agent::OpenCode;

fn normal(payload: &Value) -> Normal {
    called(AGENT, None, payload)
}

fn told(hook: &str, mut fields: Value) -> Value {
    fields["hook_event_name"] = json!(hook);
    fields["session_id"] = json!("ses_1");
    fields
}

#[test]
fn our_text_comes_back_as_a_prompt_and_stays_ours() {
    for (fields, expected) in [
        (json!({"prompt": "go"}), PromptOrigin::User),
        (
            json!({"prompt": "[TeleClaude Checkpoint] - run it"}),
            PromptOrigin::Own,
        ),
        (
            json!({"prompt": "a part", "agent_id": "ses_2"}),
            PromptOrigin::Subagent,
        ),
    ] {
        let Event::PromptSubmitted { origin, .. } =
            normal(&told("UserPromptSubmit", fields)).draft.event
        else {
            panic!("no prompt");
        };
        assert_eq!(origin, expected);
    }
}

#[test]
fn a_stop_with_which_the_program_ends_is_one_that_nobody_answers() {
    for (fields, expected) in [
        (json!({"can_continue": false}), false),
        (json!({"can_continue": true}), true),
        (json!({}), true),
    ] {
        let stop = normal(&told("Stop", fields));
        assert!(matches!(stop.draft.event, Event::AgentStopped { .. }));
        assert_eq!(stop.may_continue, expected);
    }
}

#[test]
fn what_a_subagent_does_ends_no_turn() {
    for hook in ["Stop", "Interrupt"] {
        let event = |fields| normal(&told(hook, fields)).draft.event;
        assert!(matches!(
            event(json!({"agent_id": "ses_2"})),
            Event::OtherHook { .. }
        ));
        assert!(!matches!(event(json!({})), Event::OtherHook { .. }));
    }
}

#[test]
fn an_abort_is_told_from_an_error() {
    for (told_cause, expected) in [
        ("user", "user"),
        ("api_error", "api_error"),
        ("?", "api_error"),
    ] {
        let told = told("Interrupt", json!({"cause": told_cause}));
        let Event::Interrupted { cause, .. } = normal(&told).draft.event else {
            panic!("no interrupt");
        };
        assert_eq!(cause, expected);
    }
}

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "bash",
            json!({"command": "echo hi", "description": "Run"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("read", json!({"filePath": "/a"}), Read, None, "/a"),
        (
            "edit",
            json!({"filePath": "/a", "oldString": "x", "newString": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "write",
            json!({"filePath": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        (
            "apply_patch",
            json!({"patchText": "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch"}),
            Edit,
            None,
            "a",
        ),
        ("task", json!({"prompt": "run the tests"}), Other, None, ""),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after =
        |exit: serde_json::Value| json!({"tool_response": {"output": "hi\n", "exit": exit}});
    for (payload, expected) in [
        (after(json!(0)), "ok"),
        (after(json!(1)), "err"),
        // Other tools have no exit code.
        (after(json!(null)), "ok"),
        (json!({"error": "File not found: /a"}), "err"),
        (
            json!({"error": "The user rejected permission to use this specific tool call."}),
            "no",
        ),
        (json!({"error": "Tool execution aborted"}), "no"),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}

#[test]
fn t_idle_prompt() {
    insta::assert_snapshot!(shown(AGENT, "t-idle-prompt.transcripts/ses_dfb653c47ffeu4odleO73tEWl7.jsonl"), @r#"
    ses_dfb653c47ffeu4odleO73tEWl7 1.18.33 - /home/user/project
    user: User 18:53:16.100 "[script:quick] from the daemon"
    real: User 18:53:16.100 "[script:quick] from the daemon"
    says: "quick-done"
    "#);
}
