//! Vibe's calls, and those of its subagents.

use journal::{Agent, Event};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::config::DescribedAgents;
use crate::hooks::Normal;
use crate::hooks::tests::called_as;

fn normal(payload: &Value) -> Normal {
    called(payload, Uuid::nil())
}

fn called(payload: &Value, id: Uuid) -> Normal {
    called_as(id, Agent::Vibe, None, payload, DescribedAgents::NONE)
}

fn call(hook: &str, parent: Value) -> Value {
    json!({"session_id": "s", "parent_session_id": parent, "hook_event_name": hook, "cwd": "/p", "transcript_path": "/t/s"})
}

#[test]
fn a_subagents_calls_are_of_its_parents_session_and_its_stop_is_not_the_agents() {
    let own = normal(&call("post_agent", Value::Null)).draft;
    assert_eq!(own.stream.native(), "s");
    assert!(matches!(
        own.event,
        Event::AgentStopped {
            can_reply: true,
            ..
        }
    ));
    let part = normal(&call("post_agent", json!("p"))).draft;
    assert_eq!(part.stream.native(), "p");
    let Event::SubagentStopped { host, .. } = part.event else {
        panic!("{:?}", part.event);
    };
    assert_eq!((host.subagent.as_deref(), host.place), (Some("s"), None));
}

#[test]
fn two_stops_in_the_same_words_are_two() {
    let stop = call("post_agent", Value::Null);
    let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
    assert_ne!(called(&stop, one).content, called(&stop, other).content);
    assert_eq!(called(&stop, one).content, called(&stop, one).content);
    let before = call("pre_tool", Value::Null);
    assert_eq!(called(&before, one).content, called(&before, other).content);
}

#[test]
fn a_call_that_did_not_succeed_has_failed() {
    let mut payload = call("post_tool", Value::Null);
    payload["tool_name"] = json!("file_system.read_file");
    payload["tool_call_id"] = json!("c1");
    payload["tool_status"] = json!("success");
    payload["tool_output"] = json!({"content": "x"});
    payload["tool_error"] = Value::Null;
    let Event::ToolFinished { call, .. } = normal(&payload).draft.event else {
        panic!("it succeeded");
    };
    assert_eq!((call.id.as_deref(), call.is_error), (Some("c1"), false));
    for status in ["failure", "cancelled"] {
        payload["tool_status"] = json!(status);
        payload["tool_output"] = Value::Null;
        payload["tool_error"] = json!("File not found at: /a");
        let Event::ToolFailed { call, .. } = normal(&payload).draft.event else {
            panic!("it failed");
        };
        assert!(call.is_error);
    }
}
