//! Tests with recordings of the real agent: hook calls, tools.

use journal::{Agent, Event, PromptOrigin, ToolKind};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::adapter::Adapter;
use crate::hooks::Normal;
use crate::hooks::tests::called_as;
use crate::rooms::adapter;
use crate::tools::tests::{described, ended_by_hook};

const AGENT: Agent = Agent::OpenHands;

/// A call as it is made: all fields are there in each.
fn call(hook: &str, fields: &Value) -> Value {
    let mut payload = json!({"event_type": hook, "tool_name": null, "tool_input": null, "tool_response": null,
        "message": null, "session_id": "s", "working_dir": "/p", "metadata": {}});
    for (name, value) in fields.as_object().expect("fields") {
        payload[name] = value.clone();
    }
    payload
}

fn called(hook: &str, fields: &Value, id: u128) -> Normal {
    called_as(Uuid::from_u128(id), AGENT, None, &call(hook, fields))
}

#[test]
fn its_own_fields_are_read() {
    let Event::PromptSubmitted {
        host, text, origin, ..
    } = called("UserPromptSubmit", &json!({"message": "go"}), 1)
        .draft
        .event
    else {
        panic!("no prompt");
    };
    assert_eq!(
        (text.as_str(), origin, host.place.expect("a place").cwd),
        ("go", PromptOrigin::User, "/p".to_owned())
    );
}

#[test]
fn two_stops_in_the_same_words_are_two() {
    let stop = |id| {
        called(
            "Stop",
            &json!({"metadata": {"reason": "agent_finished"}}),
            id,
        )
    };
    assert!(matches!(
        stop(1).draft.event,
        Event::AgentStopped {
            can_reply: true,
            ..
        }
    ));
    assert_ne!(stop(1).content, stop(2).content);
}

#[test]
fn a_text_of_several_lines_is_sent_by_another_key() {
    let submit = adapter(AGENT).map(|Adapter { submit, .. }| submit);
    let submit = submit.expect("an adapter");
    assert_eq!([submit("one\n"), submit("one\ntwo")], ["Enter", "C-j"]);
}

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    let editor = |command: &str| json!({"command": command, "path": "/a"});
    for (tool, input, kind, command, paths) in [
        (
            "terminal",
            json!({"command": "echo hi", "is_input": false}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("file_editor", editor("view"), Read, None, "/a"),
        ("file_editor", editor("str_replace"), Edit, None, "/a"),
        ("file_editor", editor("insert"), Edit, None, "/a"),
        ("file_editor", editor("create"), Write, None, "/a"),
        ("finish", json!({"message": "done"}), Other, None, ""),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let ran = |code: i64| json!({"tool_response": {"content": [{"type": "text", "text": "hi"}], "is_error": false, "exit_code": code}});
    for (payload, expected) in [
        (ran(0), "ok"),
        (ran(3), "err"),
        // It goes on after its time limit.
        (ran(-1), "run"),
        (
            json!({"tool_response": {"content": [{"type": "text", "text": "Invalid `path` parameter"}], "is_error": true}}),
            "err",
        ),
        (json!({"tool_input": {}, "tool_response": null}), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}
