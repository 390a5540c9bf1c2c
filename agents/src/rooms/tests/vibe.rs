//! Tests with recordings of the real agent: hook calls, tools, transcripts.

use journal::{Agent, Event, Place, ToolKind};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::adapter::HeadlessSign;
use crate::hooks::Normal;
use crate::hooks::tests::called_as;
use crate::rooms::adapter;
use crate::tools::tests::{described, ended_by_hook};
use crate::transcript::tests::shown;

const AGENT: Agent = Agent::Vibe;

fn normal(payload: &Value) -> Normal {
    called(payload, Uuid::nil())
}

fn called(payload: &Value, id: Uuid) -> Normal {
    called_as(id, AGENT, None, payload)
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

#[test]
fn only_a_turn_that_no_queue_gave_is_without_a_person() {
    let headless = adapter(AGENT).map(|it| (it.headless)(&Place::default()));
    let Some(HeadlessSign::Transcript(is_headless)) = headless else {
        panic!("no sign");
    };
    for (line, expected) in [
        (
            r#"{"payload":{"abandon_on_restart":true,"client_command_id":"turn-8a","method":"turn/start"}}"#,
            true,
        ),
        (
            r#"{"payload":{"abandon_on_restart":true,"client_command_id":"queue-8a","method":"turn/start"}}"#,
            false,
        ),
        // The remains of the turn before.
        (
            "{\"payload\":{\"delta\":[]}}\n{\"payload\":{\"client_command_id\":\"turn-8a\"",
            true,
        ),
        ("", false),
        ("{\"payload\":{\"client_command_id\":\"", false),
    ] {
        assert_eq!(is_headless(line.as_bytes()), expected, "{line}");
    }
}

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "file_system.bash",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        (
            "file_system.read_file",
            json!({"file_path": "a"}),
            Read,
            None,
            "a",
        ),
        // In the form of its journal.
        (
            "file_system.read_file",
            json!({"path": "a"}),
            Read,
            None,
            "a",
        ),
        (
            "file_system.search_replace",
            json!({"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": false}),
            Edit,
            None,
            "/a",
        ),
        (
            "file_system.write_file",
            json!({"file_path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        ("vibe.todo", json!({"action": "read"}), Other, None, ""),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let ran = |code: i64| json!({"tool_response": {"command": "x", "returncode": code, "stderr": "", "stdout": "hi\n"}, "error": null});
    for (payload, expected) in [
        (ran(0), "ok"),
        (ran(1), "err"),
        (ran(-9), "err"),
        (
            json!({"tool_response": null, "error": "File not found at: /a"}),
            "err",
        ),
        (
            json!({"tool_response": null, "error": "Tool execution denied by approval callback"}),
            "no",
        ),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}

#[test]
fn h_stop_block_once() {
    insta::assert_snapshot!(shown(AGENT, "h-stop-block-once.transcripts/0000000000000001.jsonl"), @r#"
    e04d47d6-3b98-2d9c-e396-d3e8b8b35362 - - -
    user: Own 15:37:41.265 "[TeleClaude Checkpoint] - Before you stop:\n\n1. run the tests\n2. say what you did"
    real: User 15:37:38.707 "improve"
    says: "debrief-done"
      00060 file_system.read_file Read `-` ["src/x.py"] ok 15:37:39.182 11ms ""
      00050 file_system.search_replace Edit `-` ["src/x.py"] ok 15:37:39.585 56ms ""
      00040 file_system.bash Shell `echo hi; false` [] failed 15:37:40.061 103ms "Exit code 1\nhi\n"
      00030 file_system.write_file Write `-` ["notes.txt"] ok 15:37:40.690 59ms ""
      00010 file_system.bash Shell `echo tests ok` [] ok 15:37:41.587 74ms ""
    "#);
}

#[test]
fn h_readmiss() {
    insta::assert_snapshot!(shown(AGENT, "h-readmiss.transcripts/0000000000000131.jsonl"), @r#"
    e04d47d6-3b98-2d9c-e396-d3e8b8b35362 - - -
    user: User 15:38:29.119 "go on"
    real: User 15:38:29.119 "go on"
    says: "over"
      16dea file_system.search_replace Edit `-` ["src/x.py"] failed 15:38:29.383 14ms "block 0: old_str not found in /home/user/project/src/x.py; read the file again and copy old_str exactly"
      12fe6 file_system.read_file Read `-` ["missing.py"] failed 15:38:29.413 11ms "File not found at: /home/user/project/missing.py"
      51c6d file_system.bash Shell `sleep 2` [] failed 15:38:29.469 1067ms "Exit code -9\n\n[The command timed out after 1s and was stopped. The output above is what it printed until then.]"
      ool:0 file_system.bash Shell `echo from ts; exit 3` [] failed 15:38:30.792 13ms "Exit code 3\nfrom ts\n"
      734d3 vibe.todo Other `-` [] ok 15:38:31.039 11ms ""
    "#);
}
