//! Hook calls in the form of Cursor's documentation.

use journal::{Agent, Event, PromptOrigin, ToolKind};
use serde_json::{Value, json};

use crate::hooks::Normal;
use crate::hooks::tests::called;

const AGENT: Agent = Agent::Cursor;

fn normal(event: &str, fields: Value) -> Normal {
    let mut payload = json!({
        "conversation_id": "668320d2-2fd8-4888-b33c-2a466fec86e7",
        "generation_id": "490b90b7-a2ce-4c2c-bb76-cb77b125df2f",
        "hook_event_name": event,
        "cursor_version": "3.7.21",
        "workspace_roots": ["/home/dev/project"],
        "transcript_path": "/home/dev/.cursor/a.txt",
    });
    let Value::Object(fields) = fields else {
        panic!("no fields");
    };
    payload.as_object_mut().expect("an object").extend(fields);
    called(AGENT, None, &payload)
}

#[test]
fn a_prompt_says_where_the_agent_works_and_ours_stays_ours() {
    for (prompt, expected) in [
        ("go", PromptOrigin::User),
        ("[TeleClaude Checkpoint] - run it", PromptOrigin::Own),
    ] {
        let prompt = normal("beforeSubmitPrompt", json!({ "prompt": prompt }));
        assert_eq!(
            prompt.draft.stream.native(),
            "668320d2-2fd8-4888-b33c-2a466fec86e7"
        );
        let Event::PromptSubmitted { host, origin, .. } = prompt.draft.event else {
            panic!("no prompt");
        };
        assert_eq!(origin, expected);
        let place = host.place.expect("a place");
        assert_eq!(
            (place.cwd.as_str(), place.transcript),
            ("/home/dev/project", None)
        );
    }
}

#[test]
fn a_command_failed_by_its_exit_code_or_by_its_own_hook() {
    let tool = json!({ "tool_name": "Shell", "tool_input": { "command": "make test" } });
    for (output, expected) in [
        (r#"{"exitCode":0,"stdout":"ok"}"#, None),
        (
            r#"{"exitCode":1,"stdout":"2 failed","stderr":"oh"}"#,
            Some("Exit code 1\n2 failed\noh"),
        ),
        (
            r#"{"exitCode":2,"output":"no rule"}"#,
            Some("Exit code 2\nno rule"),
        ),
        ("no JSON", None),
    ] {
        let mut tool = tool.clone();
        tool["tool_output"] = output.into();
        let Event::ToolFinished { call, .. } = normal("postToolUse", tool).draft.event else {
            panic!("no call");
        };
        assert_eq!(
            (call.kind, call.is_error, call.output.as_str()),
            (
                ToolKind::Shell,
                expected.is_some(),
                expected.unwrap_or_default()
            )
        );
    }
    for (cause, refused) in [("timeout", false), ("permission_denied", true)] {
        let mut tool = tool.clone();
        tool["error_message"] = "no".into();
        tool["failure_type"] = cause.into();
        let Event::ToolFailed { call, .. } = normal("postToolUseFailure", tool).draft.event else {
            panic!("no failure");
        };
        assert_eq!((call.refused, call.is_error), (refused, !refused));
    }
}

#[test]
fn a_subagent_is_told_of_as_it_begins_and_ends() {
    let fields = json!({ "subagent_id": "a1", "subagent_type": "explore", "tool_call_count": 0 });
    for hook in ["subagentStart", "subagentStop"] {
        let event = normal(hook, fields.clone()).draft.event;
        assert_eq!(
            event.host().and_then(|host| host.subagent.as_deref()),
            Some("a1")
        );
        let (Event::SubagentStarted { subagent_type, .. }
        | Event::SubagentStopped { subagent_type, .. }) = event
        else {
            panic!("no subagent");
        };
        assert_eq!(subagent_type, "explore");
    }
}

#[test]
fn a_completed_turn_is_answered_until_cursor_submits_no_more() {
    for (status, count, expected) in [
        ("completed", 0, Some((false, true))),
        ("completed", 4, Some((true, true))),
        ("completed", 5, Some((true, false))),
        ("aborted", 0, None),
        ("error", 0, None),
    ] {
        let stop = normal("stop", json!({ "status": status, "loop_count": count }));
        let stopped = match stop.draft.event {
            Event::AgentStopped { reentry, .. } => Some((reentry, stop.may_continue)),
            _ => None,
        };
        assert_eq!(stopped, expected, "{status} {count}");
    }
}
