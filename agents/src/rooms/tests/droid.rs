//! Tests with recordings of the real agent: hook calls, tools, transcripts.

use journal::{Agent, ToolKind};
use serde_json::json;

use crate::tools::tests::{described, ended_by_hook};
use crate::transcript::tests::{shown, written};

const AGENT: Agent = Agent::Droid;

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "Execute",
            json!({"command": "echo hi", "summary": "run", "riskLevel": "low"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("Read", json!({"file_path": "/a"}), Read, None, "/a"),
        (
            "Edit",
            json!({"file_path": "/a", "old_str": "x", "new_str": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "Create",
            json!({"file_path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        ("Task", json!({"prompt": "run the tests"}), Other, None, ""),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    for (payload, expected) in [
        (
            json!({"tool_response": "hi\n\n\n[Process exited with code 0]"}),
            "ok",
        ),
        // A program may print what looks like the end of another one.
        (
            json!({"tool_response": "[Process exited with code 1]"}),
            "ok",
        ),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}

#[test]
fn h_stop_block_once() {
    insta::assert_snapshot!(shown(AGENT, "h-stop-block-once.transcripts/25b85e3c-b4e1-41b5-95af-845b88e6fe5a.jsonl"), @r#"
    - - - -
    user: Own 12:29:36.265 "[TeleClaude Checkpoint] - Before you stop:\n\n1. run the tests\n2. say what you did"
    real: User 12:29:35.284 "improve"
    says: "debrief-done"
      e66ef Read Read `-` ["/home/user/project/src/x.py"] ok 12:29:35.459 89ms ""
      6b62d Edit Edit `-` ["/home/user/project/src/x.py"] ok 12:29:35.611 78ms ""
      4588b Execute Shell `echo hi; false` [] failed 12:29:35.765 148ms "Exit code 1\nError: Command failed (exit code: 1)\nhi\n\n\n[Process exited with code 1]"
      01f6f Create Write `-` ["/home/user/project/notes.txt"] ok 12:29:35.986 85ms ""
      3df27 Execute Shell `echo tests ok` [] ok 12:29:36.326 134ms ""
    "#);
}

#[test]
fn a_search_that_found_nothing_has_not_failed_and_a_command_has() {
    let message = |role: &str, content: &str| {
        format!(
            r#"{{"type":"message","id":"i","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"{role}","content":[{content}]}}}}"#
        )
    };
    for (command, failed) in [("grep -q x a", false), ("make", true)] {
        let call = format!(
            r#"{{"type":"tool_use","id":"c","name":"Execute","input":{{"command":"{command}"}}}}"#
        );
        let result = r#"{"type":"tool_result","tool_use_id":"c","is_error":true,"content":"Error: Command failed (exit code: 1)\n\n\n[Process exited with code 1]"}"#;
        let facts = written(
            AGENT,
            &[
                &message("user", r#"{"type":"text","text":"go"}"#),
                &message("assistant", &call),
                &message("user", result),
            ],
        );
        assert_eq!((facts.calls.len(), facts.calls[0].is_error), (1, failed));
    }
}

/// As it was seen when all processors were busy. An earlier turn's calls stay there, and so does one that was interrupted.
#[test]
fn a_message_that_is_written_after_the_turns_first_calls_comes_before_them() {
    let line = |second: u32, role: &str, content: &str| {
        format!(
            r#"{{"type":"message","id":"i","timestamp":"2026-01-01T00:00:{second:02}Z","message":{{"role":"{role}","content":[{content}]}}}}"#
        )
    };
    let call = |second, id: &str| {
        let input = r#"{"command":"make"}"#;
        let call = format!(r#"{{"type":"tool_use","id":"{id}","name":"Execute","input":{input}}}"#);
        line(second, "assistant", &call)
    };
    let result = |second, id: &str| {
        let result = format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}"#);
        line(second, "user", &result)
    };
    let said = |second, text: &str| {
        line(
            second,
            "user",
            &format!(r#"{{"type":"text","text":"{text}"}}"#),
        )
    };
    let before = [
        said(1, "go"),
        call(2, "a"),
        result(3, "a"),
        call(4, "interrupted"),
    ];
    let turn = [
        call(6, "b"),
        call(7, "c"),
        said(8, "on"),
        result(9, "b"),
        result(9, "c"),
        call(10, "d"),
    ];
    for before in [&before[..], &[]] {
        let lines: Vec<&str> = before.iter().chain(&turn).map(String::as_str).collect();
        let facts = written(AGENT, &lines);
        let calls: Vec<_> = facts.calls.iter().map(|call| call.id.as_deref()).collect();
        assert_eq!(calls, [Some("b"), Some("c"), Some("d")]);
        assert!(facts.calls[0].finished && facts.is_whole);
        let began = facts.began.map(|at| at.to_string());
        assert_eq!(began.as_deref(), Some("2026-01-01T00:00:06.000000Z"));
        assert_eq!(facts.last_real_user.map(|user| user.at), facts.began);
    }
}
