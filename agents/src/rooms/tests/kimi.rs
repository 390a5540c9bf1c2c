//! Tests with recordings of the real agent: hook calls, tools, transcripts.

use journal::{Agent, ToolKind};
use serde_json::json;

use crate::hooks::tests::called;
use crate::tools::tests::{described, ended_by_hook};
use crate::transcript::tests::shown;

const AGENT: Agent = Agent::Kimi;

#[test]
fn a_turn_goes_on_once() {
    for (flag, expected) in [
        (json!(false), true),
        (json!(null), true),
        (json!(true), false),
    ] {
        let stop =
            json!({ "session_id": "s", "hook_event_name": "Stop", "stop_hook_active": flag });
        let stop = called(AGENT, None, &stop);
        assert_eq!(stop.may_continue, expected, "{flag}");
    }
}

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "Bash",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("Read", json!({"path": "/a"}), Read, None, "/a"),
        (
            "Edit",
            json!({"path": "/a", "old_string": "x", "new_string": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "Write",
            json!({"path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        ("Agent", json!({"prompt": "run the tests"}), Other, None, ""),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let failed =
        |text: &str| json!({"error": {"code": "internal", "message": text, "retryable": false}});
    for (payload, expected) in [
        (json!({"tool_response": "hi\n"}), "ok"),
        // A program may print what looks like the end of another one.
        (
            json!({"tool_response": "Command failed with exit code: 1."}),
            "ok",
        ),
        (failed("hi\nCommand failed with exit code: 1."), "err"),
        (failed("\"/a\" does not exist."), "err"),
        (failed("Aborted by the user"), "no"),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}

#[test]
fn h_stop_block_once() {
    insta::assert_snapshot!(shown(AGENT, "h-stop-block-once.transcripts/wire.jsonl"), @r#"
    - - - -
    user: Own 12:39:40.061 "[TeleClaude Checkpoint] - Before you stop:\n\n1. run the tests\n2. say what you did"
    real: User 12:39:39.526 "improve"
    says: "debrief-done"
      e812c Read Read `-` ["/home/user/project/src/x.py"] ok 12:39:39.663 5ms ""
      5d051 Edit Edit `-` ["/home/user/project/src/x.py"] ok 12:39:39.755 4ms ""
      7fca3 Bash Shell `echo hi; env | grep -i KIMI; false` [] failed 12:39:39.864 51ms "Exit code 1\nhi\nCommand failed with exit code: 1."
      cab08 Write Write `-` ["/home/user/project/notes.txt"] ok 12:39:39.997 1ms ""
      4bbce Bash Shell `echo tests ok` [] ok 12:39:40.112 12ms ""
    "#);
}
