//! Tests with recordings of the real agent: hook calls, tools, transcripts.

use journal::{Agent, Event, Host, PromptOrigin, Timestamp, ToolKind};
use serde_json::{Value, json};

use crate::hooks::payload::Payload;
use crate::rooms::{adapter, authors};
use crate::tools::tests::{described, ended_by_hook};
use crate::transcript::tests::{shown, written};

const AGENT: Agent = Agent::Qwen;

#[test]
fn it_asks_before_every_call_of_the_model_and_a_prompt_is_what_a_person_sent() {
    let qwen = adapter(AGENT).expect("an adapter");
    let authors = authors("[TeleClaude Checkpoint] - ");
    for (payload, expected) in [
        (
            json!({"prompt": "go", "submitted_prompt": "go"}),
            Some(PromptOrigin::User),
        ),
        (
            json!({"prompt": "[TeleClaude Checkpoint] - run it"}),
            Some(PromptOrigin::Own),
        ),
        (
            json!({"prompt": "what another hook said"}),
            Some(PromptOrigin::Host),
        ),
        // A person may type our text too; it stays ours.
        (
            json!({"prompt": "[TeleClaude Checkpoint] - x", "submitted_prompt": "x"}),
            Some(PromptOrigin::Own),
        ),
        (json!({"prompt": ""}), None),
        (json!({}), None),
    ] {
        let read = Payload::new(&payload, Timestamp::default(), &authors);
        let origin = match (qwen.event)("UserPromptSubmit", Host::default(), &read, qwen.tools) {
            Event::PromptSubmitted { origin, .. } => Some(origin),
            Event::ModelStepped { .. } => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(origin, expected, "{payload}");
    }
}

#[test]
fn every_running_task_brings_another_stop() {
    let returning = |payload: &Value| adapter(AGENT)?.returning_tasks(payload);
    let task = |status: &str| json!({"id": "a", "status": status, "agent_type": "general-purpose"});
    for (tasks, expected) in [
        (json!([]), Some(0)),
        (json!([task("running"), task("completed")]), Some(1)),
    ] {
        assert_eq!(returning(&json!({"background_tasks": tasks})), expected);
    }
    assert_eq!(returning(&json!({})), None);
}

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "run_shell_command",
            json!({"command": "echo hi", "description": "Run", "is_background": false}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("read_file", json!({"file_path": "/a"}), Read, None, "/a"),
        (
            "edit",
            json!({"file_path": "/a", "old_string": "x", "new_string": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "write_file",
            json!({"file_path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        (
            "notebook_edit",
            json!({"notebook_path": "/a.ipynb"}),
            Edit,
            None,
            "/a.ipynb",
        ),
        ("agent", json!({"prompt": "run the tests"}), Other, None, ""),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let text = |code: &str| {
        format!(
            "Command: make\nDirectory: (root)\nOutput: hi\nError: (none)\nExit Code: {code}\nSignal: (none)\nProcess Group PGID: (none)"
        )
    };
    for (payload, expected) in [
        (
            json!({"tool_response": {"llmContent": text("0"), "returnDisplay": "hi"}}),
            "ok",
        ),
        // A program may print what looks like the end of another one.
        (
            json!({"tool_response": {"llmContent": "Exit Code: 2", "returnDisplay": "Exit Code: 2"}}),
            "ok",
        ),
        (json!({"error": text("1"), "is_interrupt": false}), "err"),
        (
            json!({"error": "File not found: /a", "is_interrupt": false}),
            "err",
        ),
        (json!({"error": text("130"), "is_interrupt": true}), "no"),
        (
            json!({"tool_response": {"llmContent": "Background shell started.\nid: bg_1\npid: 7"}}),
            "run",
        ),
        (
            json!({"tool_response": {"llmContent": "Background command started. PID: 7 (Use kill <pid> to stop)"}}),
            "run",
        ),
        (
            json!({"tool_response": {"llmContent": "Command timed out after 1000ms before it could complete. There was no output before it timed out."}}),
            "err",
        ),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}

#[test]
fn h_stop_block_once() {
    insta::assert_snapshot!(shown(AGENT, "h-stop-block-once.transcripts/20569a46-76ed-42bb-bd4a-bcec55c27485.jsonl"), @r#"
    20569a46-76ed-42bb-bd4a-bcec55c27485 0.24.4 main /home/user/project
    user: User 18:26:36.275 "[script:main] improve x"
    real: User 18:26:36.275 "[script:main] improve x"
    says: "debrief-done"
      00002 read_file Read `-` ["/home/user/project/src/x.py"] ok 18:26:37.048 233ms ""
      00005 edit Edit `-` ["/home/user/project/src/x.py"] ok 18:26:37.373 158ms ""
      00008 run_shell_command Shell `echo hi; false` [] failed 18:26:37.597 389ms "Exit code 1\nhi"
      00011 write_file Write `-` ["/home/user/project/notes.txt"] ok 18:26:38.073 174ms ""
      00016 run_shell_command Shell `echo tests ok` [] ok 18:26:38.459 235ms ""
    "#);
}

#[test]
fn only_a_line_of_a_person_begins_a_turn() {
    let line = |kind: &str, rest: &str, text: &str| {
        format!(
            r#"{{"uuid":"u","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","type":"{kind}",{rest}"message":{{"role":"user","parts":[{{"text":"{text}"}}]}}}}"#
        )
    };
    let said = line("assistant", "", "I begin");
    for (rest, real) in [
        (r#""provenance":"real_user","#, "and this"),
        ("", "and this"),
        (r#""provenance":"system","subtype":"notification","#, "go"),
        (r#""provenance":"system","subtype":"cron","#, "go"),
        (r#""provenance":"goal_runtime","#, "go"),
    ] {
        let facts = written(
            AGENT,
            &[
                &line("user", "", "go"),
                &said,
                &line("user", rest, "and this"),
            ],
        );
        assert_eq!(facts.last_real_user.expect("one").text, real, "{rest}");
    }
    // What is typed while it works belongs to the turn.
    let steered = r#""provenance":"real_user","subtype":"mid_turn_user_message","#;
    let facts = written(
        AGENT,
        &[
            &line("user", "", "go"),
            &said,
            &line("user", steered, "and this"),
        ],
    );
    assert_eq!(facts.prompts, ["go", "and this"]);
}
