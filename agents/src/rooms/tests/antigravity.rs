//! Hook calls in the form of Antigravity's documentation, and transcripts as its users published them.

use journal::{Agent, Event, ToolKind};
use serde_json::{Value, json};

use crate::hooks::Normal;
use crate::hooks::tests::called;
use crate::tools::tests::described;
use crate::transcript::tests::{shown, written};

const AGENT: Agent = Agent::Antigravity;

fn normal(event: &str, fields: Value) -> Normal {
    let mut payload = json!({
        "conversationId": "6b1d5c1e", "workspacePaths": ["/home/dev/project", "/home/dev/other"],
        "transcriptPath": "/home/dev/t/transcript_full.jsonl", "artifactDirectoryPath": "/home/dev/t",
    });
    let Value::Object(fields) = fields else {
        panic!("no fields");
    };
    payload.as_object_mut().expect("an object").extend(fields);
    called(AGENT, Some(event), &payload)
}

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    let target = json!({"TargetFile": "/a", "TargetContent": "x", "ReplacementContent": "y"});
    for (tool, input, kind, command, paths) in [
        (
            "run_command",
            json!({"CommandLine": "make", "Cwd": "/p"}),
            Shell,
            Some("make"),
            "",
        ),
        (
            "view_file",
            json!({"AbsolutePath": "/a", "StartLine": 1}),
            Read,
            None,
            "/a",
        ),
        ("replace_file_content", target, Edit, None, "/a"),
        (
            "write_to_file",
            json!({"TargetFile": "/a", "CodeContent": "x"}),
            Write,
            None,
            "/a",
        ),
        ("grep_search", json!({"Query": "x"}), Other, None, ""),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn a_hook_says_what_ran_and_only_an_error_how_it_ended() {
    let tool = json!({ "name": "run_command", "args": { "CommandLine": "make test" } });
    for (error, expected) in [("", false), ("no such program", true)] {
        let told = normal(
            "PostToolUse",
            json!({ "toolCall": tool, "stepIdx": 3, "error": error }),
        );
        assert_eq!(told.draft.stream.native(), "6b1d5c1e");
        let (Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. }) = told.draft.event
        else {
            panic!("no call");
        };
        assert_eq!(
            (call.tool.as_str(), call.kind),
            ("run_command", ToolKind::Shell)
        );
        assert_eq!(call.command.as_deref(), Some("make test"));
        assert_eq!(
            (call.finished, call.is_error, call.output.as_str()),
            (expected, expected, error)
        );
    }
}

#[test]
fn a_stop_can_be_answered_unless_something_else_ended_the_turn() {
    for (reason, error, idle, expected) in [
        ("model_stop", "", true, Some(0)),
        ("NO_TOOL_CALL", "", true, Some(0)),
        ("model_stop", "", false, Some(1)),
        ("error", "", true, None),
        ("model_stop", "quota", true, None),
        ("max_steps_exceeded", "", true, None),
    ] {
        let fields = json!({
            "executionNum": 1, "terminationReason": reason, "error": error, "fullyIdle": idle,
        });
        let event = normal("Stop", fields).draft.event;
        let place = event
            .host()
            .and_then(|host| host.place.as_ref())
            .expect("a place");
        assert_eq!(place.cwd, "/home/dev/project");
        assert_eq!(
            place.transcript.as_deref(),
            Some("/home/dev/t/transcript_full.jsonl")
        );
        let tasks = match event {
            Event::AgentStopped {
                background_tasks, ..
            } => Some(background_tasks),
            _ => None,
        };
        assert_eq!(tasks, expected, "{reason} {error} {idle}");
    }
}

#[test]
fn documented() {
    insta::assert_snapshot!(shown(AGENT, "documented.transcripts/transcript_full.jsonl"), @r#"
    - - - -
    user: User 10:00:00.000 "improve x"
    real: User 10:00:00.000 "improve x"
    says: "It is tested."
      3 view_file Read `-` ["/home/user/project/src/x.py"] ok 10:00:00.000 1000ms ""
      5 write_to_file Write `-` ["/home/user/project/src/x.py"] ok 10:00:01.000 1000ms ""
      7 run_command Shell `false` [] failed 10:00:02.000 1000ms "Exit code 1\n"
      10 run_command Shell `pytest -q` [] ok 10:00:04.000 1000ms ""
    "#);
}

#[test]
fn results_follow_in_the_order_of_the_calls_and_what_a_command_prints_is_no_result() {
    let step = |number: u32, kind: &str, more: &str| {
        format!(
            r#"{{"step_index":{number},"source":"MODEL","type":"{kind}","status":"DONE","created_at":"2026-01-01T00:00:00Z",{more}}}"#
        )
    };
    let run =
        |command: &str| format!(r#"{{"name":"run_command","args":{{"CommandLine":"{command}"}}}}"#);
    let facts = written(
        AGENT,
        &[
            r#"{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","created_at":"2026-01-01T00:00:00Z","content":"go"}"#,
            &step(
                1,
                "PLANNER_RESPONSE",
                &format!(r#""tool_calls":[{},{},{}]"#, run("a"), run("b"), run("c")),
            ),
            &step(
                2,
                "RUN_COMMAND",
                r#""content":"The command completed successfully.\nOutput:\nThe command failed with exit code: 1""#,
            ),
            &step(
                3,
                "GENERIC",
                r#""content":"Created At: x\n\nThe command failed with exit code: 2\nOutput:\nbad""#,
            ),
            // No step has such a number.
            r#"{"step_index":9223372036854775807,"source":"MODEL","type":"PLANNER_RESPONSE","tool_calls":[{"name":"run_command"}]}"#,
        ],
    );
    let ends = facts.calls.iter().map(|call| {
        (
            call.command.as_deref().unwrap_or(""),
            call.finished,
            call.is_error,
        )
    });
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [("a", true, false), ("b", true, true), ("c", false, false)]
    );
}
