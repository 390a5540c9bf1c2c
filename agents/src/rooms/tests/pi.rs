//! Tests with recordings of the real agent: hook calls, tools, transcripts.

use journal::{Agent, ToolKind};
use serde_json::json;

use crate::tools::tests::{described, ended_by_hook};
use crate::transcript::tests::shown;

const AGENT: Agent = Agent::Pi;

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "bash",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("read", json!({"path": "a"}), Read, None, "a"),
        (
            "edit",
            json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
            Edit,
            None,
            "a",
        ),
        (
            "write",
            json!({"path": "a", "content": "x"}),
            Write,
            None,
            "a",
        ),
        ("ls", json!({}), Other, None, ""),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |is_error: bool, text: &str| json!({"tool_response": {"content": [{"type": "text", "text": text}], "isError": is_error}});
    for (payload, expected) in [
        (after(false, "hi\n"), "ok"),
        (after(true, "hi\n\n\nCommand exited with code 1"), "err"),
        // A program may print what looks like the end of another one.
        (after(false, "Command exited with code 1"), "ok"),
        (after(true, "Command aborted"), "no"),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}

#[test]
fn h_stop_block_once() {
    insta::assert_snapshot!(shown(AGENT, "h-stop-block-once.transcripts/2026-11-23T13-05-19-008Z_01a20882-ca9f-77d2-884b-e7acdf26fbc8.jsonl"), @r#"
    - - - -
    user: Own 13:05:20.384 "[TeleClaude Checkpoint] - Before you stop:\n\n1. run the tests\n2. say what you did"
    real: User 13:05:19.438 "improve"
    says: "debrief-done"
      77d4b read Read `-` ["src/x.py"] ok 13:05:19.681 98ms ""
      d905a edit Edit `-` ["src/x.py"] ok 13:05:19.801 104ms ""
      28737 bash Shell `echo hi; false` [] failed 13:05:19.913 162ms "Exit code 1\nhi\n\n\nCommand exited with code 1"
      4e6b3 write Write `-` ["notes.txt"] ok 13:05:20.117 123ms ""
      c8aeb bash Shell `echo tests ok` [] ok 13:05:20.424 99ms ""
    "#);
}
